//! From a run that is next to a turn that stands, or to why it cannot be.

use std::path::PathBuf;
use std::sync::Arc;

use rejoin::{
    AsyncTurn, ConversationId, JournalError, Rejoin, TurnError, TurnId, TurnRequest, WantedConversation,
    WantedPlace,
};
use rejoin_journal::LeaseName;

use super::ask::allowed_directory;
use super::entry::Asked;
use super::surroundings::rights_now;
use crate::app::App;
use crate::caller::{Caller, TokenScope};
use crate::problem::{Code, Problem};

/// What came of beginning a run.
pub(super) enum Beginning {
    /// It is on its way.
    Begun(Box<AsyncTurn>),
    /// Its turn stands already: the daemon was killed before it noted that.
    Stands(ConversationId),
    /// Somebody else is at the conversation, and goes first.
    NotYet,
    /// It cannot be.
    Refused(Problem),
}

/// Begins a run with the rights its token has now.
pub(super) async fn begin(app: &App, conversation: ConversationId, asked: Arc<Asked>) -> Beginning {
    let rejoin = app.rejoin();
    let run = asked.run();
    let (caller, roots) = (rights_now(app, &asked.token), app.roots.clone());
    let prepared = tokio::task::spawn_blocking({
        let rejoin = Arc::clone(&rejoin);
        move || prepare(&rejoin, conversation, &asked, caller.as_ref(), &roots)
    });
    let request = match prepared.await {
        Ok(Ok(Prepared::Start(request))) => *request,
        Ok(Ok(Prepared::Stands)) => return Beginning::Stands(conversation),
        Ok(Ok(Prepared::InUse)) => return Beginning::NotYet,
        Ok(Err(problem)) => return Beginning::Refused(problem),
        Err(error) => return Beginning::Refused(Problem::lost(&error)),
    };
    match AsyncTurn::start(&rejoin, request).await {
        Ok(turn) => Beginning::Begun(Box::new(turn)),
        Err(error) => refused(error, run),
    }
}

fn refused(error: rejoin::Error, run: TurnId) -> Beginning {
    match &error {
        rejoin::Error::Turn(
            TurnError::Busy { .. }
            | TurnError::Changed { .. }
            | TurnError::TooMany { .. }
            | TurnError::Cancelled { .. },
        ) => Beginning::NotYet,
        // A key of a run is its id, whatever became different since.
        rejoin::Error::Turn(
            TurnError::AlreadyAsked { conversation, turn, .. }
            | TurnError::KeyReused { conversation, turn, .. },
        ) if *turn == run => Beginning::Stands(*conversation),
        _ => Beginning::Refused(error.into()),
    }
}

/// What is to be done with a run.
enum Prepared {
    Start(Box<TurnRequest>),
    Stands,
    InUse,
}

fn prepare(
    rejoin: &Rejoin,
    conversation: ConversationId,
    asked: &Asked,
    caller: Option<&Caller>,
    roots: &[PathBuf],
) -> Result<Prepared, Problem> {
    let Asked { request, name, project, .. } = asked;
    let mut request = request.clone();
    if matches!(rejoin.leases().holder(&LeaseName::conversation(conversation)), Ok(Some(_))) {
        return Ok(Prepared::InUse);
    }
    let exists = match rejoin.open_conversation(conversation) {
        Ok(view) if view.conversation().tree.turn(request.turn).is_some() => return Ok(Prepared::Stands),
        Ok(view) => {
            // Of several that were to begin it, each may say how.
            request.scope = request.scope.filter(|scope| view.info().is_none_or(|info| info.scope != *scope));
            true
        }
        Err(rejoin::Error::Turn(TurnError::Journal(JournalError::NotFound { .. }))) => false,
        Err(error) => return Err(error.into()),
    };
    let Some(caller) = caller else {
        return Err(Problem::new(
            Code::NotAllowed,
            "the token this was asked for with was revoked before it began",
        )
        .hint("ask for it again with a token that is good"));
    };
    caller.require(TokenScope::Prompt)?;
    if !caller.sees(project.as_ref()) {
        return Err(Problem::new(Code::NotAllowed, format!("the token may not go into {project} any more")));
    }
    // Who had it queued, or asked for it again, need not be who asked first.
    for dir in [Some(&request.dir), request.cwd.as_ref()].into_iter().flatten() {
        allowed_directory(roots, caller, "the directory", &dir.to_string_lossy())?;
    }
    if exists {
        request.conversation = Some(WantedConversation::Id(conversation));
    } else if request.conversation.is_none() {
        request.new_conversation = conversation;
        request.conversation = name.clone().map(WantedConversation::Named);
    }
    if matches!(request.place, Some(WantedPlace::Again(_))) {
        request.prompt.clear();
    }
    request.ceiling = caller.ceiling;
    request.idempotency_key = Some(request.turn.to_string());
    Ok(Prepared::Start(Box::new(request)))
}

#[cfg(test)]
mod tests {
    use rejoin::{Config, Cursor, Helper, Permissions};

    use super::*;

    fn caller(scopes: &[TokenScope], projects: Option<&str>) -> Caller {
        let projects = projects.map(|project| vec![project.into()]);
        Caller { token: "phone".into(), scopes: scopes.to_vec(), ceiling: Some(Permissions::Edit), projects }
    }

    fn prepared(caller: Option<&Caller>) -> Result<TurnRequest, Problem> {
        let home = tempfile::tempdir().unwrap();
        let rejoin = Rejoin::open_with(home.path(), Config::default(), Helper::Thread).unwrap();
        let (request, time) = (TurnRequest::new("/", "hello"), String::new());
        let (token, digest, cursor) = ("phone".into(), String::new(), Cursor::BEGINNING);
        let name = Some("release".to_owned());
        let asked = Asked { token, digest, request, project: "/".into(), name, cursor, time };
        let conversation = asked.request.new_conversation;
        match prepare(&rejoin, conversation, &asked, caller, &[])? {
            Prepared::Start(request) => Ok(*request),
            Prepared::Stands | Prepared::InUse => unreachable!(),
        }
    }

    #[test]
    fn a_run_has_the_rights_its_token_has_when_it_begins() {
        let code = |caller: Option<&Caller>| prepared(caller).unwrap_err().code();
        assert_eq!(code(None), Code::NotAllowed, "revoked");
        assert_eq!(code(Some(&caller(&[TokenScope::Read], None))), Code::ScopeMissing);
        assert_eq!(code(Some(&caller(&[TokenScope::Prompt], Some("/elsewhere")))), Code::NotAllowed);
        let request = prepared(Some(&caller(&[TokenScope::Prompt], Some("/")))).unwrap();
        assert_eq!(request.ceiling, Some(Permissions::Edit));
        assert_eq!(request.permissions, None, "the conversation's own level stays what it is");
    }

    #[test]
    fn a_run_is_told_from_others_by_its_id_and_begins_what_is_not_there() {
        let request = prepared(Some(&caller(&[TokenScope::Prompt], None))).unwrap();
        assert_eq!(request.idempotency_key, Some(request.turn.to_string()));
        assert_eq!(request.conversation, Some(WantedConversation::Named("release".into())));
    }

    #[test]
    fn who_finds_the_conversation_in_use_waits_and_who_finds_his_own_turn_goes_on_with_it() {
        let run = TurnId::new(uuid::Uuid::from_u128(1));
        let conversation = ConversationId::new(uuid::Uuid::from_u128(2));
        let busy = TurnError::Busy { what: "it".into(), owner: None };
        assert!(matches!(refused(busy.into(), run), Beginning::NotYet));
        let asked = |turn| TurnError::AlreadyAsked { key: "k".into(), conversation, turn };
        assert!(
            matches!(refused(asked(run).into(), run), Beginning::Stands(stands) if stands == conversation)
        );
        let other = TurnId::new(uuid::Uuid::from_u128(3));
        assert!(matches!(refused(asked(other).into(), run), Beginning::Refused(_)));
    }
}
