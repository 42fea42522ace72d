//! What `POST /runs` is told, and what of it becomes a run: where it goes is looked up, and what may not be is refused.

use std::path::{Path, PathBuf};

use rejoin::{
    Agent, ConversationId, Cursor, JournalError, Permissions, Rejoin, Scope, TurnError, TurnId, TurnRequest,
    WantedConversation, WantedPlace, check_name, parse_duration,
};
use rustix::fs::Access;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

use super::entry::Asked;
use super::surroundings::is_watched;
use super::{derived_ids, now, uploads};
use crate::app::App;
use crate::caller::Caller;
use crate::problem::{Code, Problem};

/// The longest prompt, in bytes.
const LONGEST_PROMPT: usize = 4 << 20;

/// So many files may go along with one prompt.
const MOST_ATTACHMENTS: usize = 20;

/// A run that is wanted.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Wanted {
    /// A directory of the project, as an absolute path. Without `name`, a new conversation begins there.
    pub(crate) project: Option<String>,
    /// The conversation of this name in the project, which is begun if there is none.
    pub(crate) name: Option<String>,
    /// The conversation to go on with, by its id.
    pub(crate) conversation: Option<String>,
    /// The conversation that has this session, by the agent's own id.
    pub(crate) session: Option<String>,
    /// Who does it; else the conversation's last agent, the configured one, the first that is installed.
    pub(crate) agent: Option<String>,
    /// The user's words.
    #[schema(required = true)]
    pub(crate) prompt: String,
    /// Is added to the agent's system prompt.
    pub(crate) instructions: Option<String>,
    /// Files that go along, by their ids from `POST /uploads`.
    pub(crate) attachments: Vec<String>,
    /// Where to run, if not in the conversation's own directory.
    pub(crate) cwd: Option<String>,
    /// The model, in the agent's own terms.
    pub(crate) model: Option<String>,
    /// What the agent may do, from this turn on: `read`, `edit`, `full` or `agent`.
    #[schema(value_type = Option<String>)]
    pub(crate) permissions: Option<Permissions>,
    /// Which turns agents should know, `shared` or `own`; only when a conversation begins.
    #[schema(value_type = Option<String>)]
    pub(crate) scope: Option<Scope>,
    /// The message to go on from, instead of the head that stands when the run begins.
    pub(crate) checkpoint: Option<String>,
    /// The message of a turn that this one stands beside: it goes on from where that one did.
    // Left out of the digest where it is not given: keys that were taken before there was this field stay good.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) instead_of: Option<String>,
    /// A new session that is told the history.
    pub(crate) force_fresh_session: bool,
    /// Nothing is kept: no key, no queue, no cursor, no questions.
    pub(crate) ephemeral: bool,
    /// Whether somebody answers the agent's questions; by default, whether somebody watches, never if it is ephemeral.
    pub(crate) interactive: Option<bool>,
    /// A limit for the whole turn.
    pub(crate) timeout: Option<WantedTime>,
    /// The id the run will have, chosen by the caller: instead of an `Idempotency-Key`.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub(crate) turn: Option<TurnId>,
}

/// Seconds, or a text such as `10m`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum WantedTime {
    Seconds(u64),
    Text(String),
}

/// A run, and where it goes.
pub(crate) struct Resolved {
    pub(crate) conversation: ConversationId,
    pub(crate) asked: Asked,
}

/// Where a run goes.
struct Place {
    conversation: ConversationId,
    /// It is there; else it is yet to begin.
    exists: bool,
    name: Option<String>,
    dir: PathBuf,
    project: String,
    cursor: Cursor,
}

/// Looks things up for one caller.
struct Lookup<'a> {
    app: &'a App,
    rejoin: &'a Rejoin,
    caller: &'a Caller,
}

impl Wanted {
    /// By what it is told from other requests of the same key.
    pub(crate) fn digest(&self) -> String {
        hash(&serde_json::to_vec(self).unwrap_or_default())
    }

    /// The run's id: the caller's own, or by his key, or a new one.
    pub(crate) fn run(&self, caller: &Caller, key: Option<&str>) -> Result<TurnId, Problem> {
        match (self.turn, key) {
            (Some(_), Some(_)) => {
                Err(Problem::bad_request("an Idempotency-Key and `turn` both name the request")
                    .hint("leave one of them out"))
            }
            (Some(turn), None) => Ok(turn),
            (None, Some(key)) => Ok(derived_ids::turn(&caller.token, key)),
            (None, None) => Ok(TurnId::new(uuid::Uuid::new_v4())),
        }
    }

    /// Refuses what is wrong by itself.
    pub(crate) fn check(&self, key: Option<&str>) -> Result<(), Problem> {
        check_prompt(&self.prompt)?;
        if self.attachments.len() > MOST_ATTACHMENTS {
            let text = format!("{} files are attached, {MOST_ATTACHMENTS} are taken", self.attachments.len());
            return Err(Problem::new(Code::TooMany, text).hint("leave some out"));
        }
        if self.ephemeral && (key.is_some() || self.turn.is_some()) {
            let text = "an ephemeral run is not kept, so nobody could tell that it was asked for already";
            return Err(Problem::bad_request(text).hint("leave the Idempotency-Key, or `turn`, out"));
        }
        if self.ephemeral && self.interactive == Some(true) {
            let text =
                "an ephemeral run has no journal, in which questions of its agent are found and answered";
            return Err(Problem::new(Code::Refused, text)
                .hint("leave `interactive` out: what the agent asks is declined; or leave `ephemeral` out"));
        }
        if self.checkpoint.is_some() && self.instead_of.is_some() {
            return Err(Problem::bad_request("`checkpoint` and `insteadOf` both say where the turn goes")
                .hint("give `checkpoint` to go on from a turn, `insteadOf` to stand beside one"));
        }
        let places = [self.project.is_some(), self.conversation.is_some(), self.session.is_some()];
        match places.iter().filter(|given| **given).count() {
            0 => Err(Problem::bad_request("nothing says where")
                .hint("give `project` (an absolute path), `conversation` or `session`")),
            1 if self.name.is_some() && self.project.is_none() => {
                Err(Problem::bad_request("`name` needs the `project` it is looked for in"))
            }
            1 => Ok(()),
            _ => Err(Problem::bad_request("`project`, `conversation` and `session` exclude each other")),
        }
    }

    fn place(&self) -> Option<WantedPlace> {
        let beside = self.instead_of.as_ref().map(|message| WantedPlace::InsteadOf(message.into()));
        beside.or_else(|| self.checkpoint.as_ref().map(|message| WantedPlace::After(message.into())))
    }

    /// Looks up where it goes, for this caller. To be called under [`super::Queue::naming`] if it has a name.
    pub(crate) fn resolve(
        &self,
        app: &App,
        rejoin: &Rejoin,
        caller: &Caller,
        run: TurnId,
        key: Option<&str>,
    ) -> Result<Resolved, Problem> {
        let lookup = Lookup { app, rejoin, caller };
        let place = lookup.place(self, run, key)?;
        if place.exists && app.queue.look(run).is_none() && stands(rejoin, place.conversation, run)? {
            let text = format!(
                "turn {run} stands already, and what it was asked for with is not remembered any more"
            );
            return Err(Problem::new(Code::KeyReused, text)
                .hint("look at it as a run; for another one, give another key or id")
                .with("run", run)
                .with("conversation", place.conversation));
        }
        // At once; when it begins, it is looked at again.
        caller.level(self.permissions)?;
        let mut request = TurnRequest::new(&place.dir, self.prompt.clone());
        request.turn = run;
        request.new_conversation = place.conversation;
        request.conversation = place.exists.then_some(WantedConversation::Id(place.conversation));
        request.place = self.place();
        request.agent = self.agent.clone().map(Agent::named);
        request.append_system_prompt.clone_from(&self.instructions);
        let attachments = self.attachments.iter().map(|id| uploads::attachment(rejoin, id));
        request.attach_kept = attachments.collect::<Result<_, _>>()?;
        request.cwd = self.cwd.as_deref().map(|cwd| lookup.directory("cwd", cwd)).transpose()?;
        request.model.clone_from(&self.model);
        request.permissions = self.permissions;
        request.scope = self.scope;
        request.fresh = self.force_fresh_session;
        request.ephemeral = self.ephemeral;
        // What an ephemeral run asks stands nowhere, so nobody can answer it.
        request.interactive =
            !self.ephemeral && self.interactive.unwrap_or_else(|| is_watched(app, place.conversation));
        if let Some(time) = &self.timeout {
            request.limits.turn = Some(time.duration()?);
        }
        let Place { conversation, name, project, cursor, .. } = place;
        let (token, digest) = (caller.token.clone(), self.digest());
        Ok(Resolved {
            conversation,
            asked: Asked { token, digest, request, project, name, cursor, time: now() },
        })
    }
}

impl WantedTime {
    fn duration(&self) -> Result<std::time::Duration, Problem> {
        let time = match self {
            Self::Seconds(seconds) => std::time::Duration::from_secs(*seconds),
            Self::Text(text) => parse_duration(text).map_err(Problem::bad_request)?,
        };
        if time.is_zero() {
            Err(Problem::bad_request("a timeout of nothing leaves no time"))
        } else {
            Ok(time)
        }
    }
}

impl Lookup<'_> {
    fn place(&self, wanted: &Wanted, run: TurnId, key: Option<&str>) -> Result<Place, Problem> {
        if let Some(text) = &wanted.conversation {
            let id = text.parse().map_err(|_| no_conversation(text))?;
            return self.conversation(id);
        }
        if let Some(session) = &wanted.session {
            let found = rejoin_journal::find_by_session(self.rejoin.store(), session)?;
            let seen = found.into_iter().find_map(|id| self.conversation(id).ok());
            return seen
                .ok_or_else(|| Problem::not_found(format!("no conversation has a session {session:?}")));
        }
        let dir = self.directory("project", wanted.project.as_deref().unwrap_or_default())?;
        let project = rejoin_engine::project_of(&dir).to_string_lossy().into_owned();
        let new = key.map_or_else(
            || ConversationId::new(uuid::Uuid::new_v4()),
            |key| derived_ids::conversation(&self.caller.token, key),
        );
        let new =
            wanted.turn.map_or(new, |_| derived_ids::conversation(&self.caller.token, &run.to_string()));
        let mut conversation = new;
        if let Some(name) = &wanted.name {
            check_name(name).map_err(|error| Problem::bad_request(error.to_string()))?;
            if let Some(id) = self.rejoin.named(&dir, name)? {
                return self.conversation(id);
            }
            conversation = self.app.queue.awaited_name(&project, name).unwrap_or(new);
        }
        let exists = exists(self.rejoin, conversation)?;
        Ok(Place { conversation, exists, name: wanted.name.clone(), dir, project, cursor: Cursor::BEGINNING })
    }

    /// A conversation this caller sees.
    fn conversation(&self, id: ConversationId) -> Result<Place, Problem> {
        let view = match self.rejoin.open_conversation(id) {
            Ok(view) => view,
            Err(error) if is_not_found(&error) => return self.awaited(id),
            Err(error) => return Err(error.into()),
        };
        let info = view.info().filter(|info| self.caller.sees(Path::new(&info.project)));
        let info = info.ok_or_else(|| no_conversation(&id.to_string()))?;
        let dir = self.directory("the conversation's directory", &info.dir)?;
        let cursor = self.rejoin.end_of(id)?;
        Ok(Place { conversation: id, exists: true, name: None, dir, project: info.project.clone(), cursor })
    }

    /// One that is yet to begin: somebody waits to begin it.
    fn awaited(&self, id: ConversationId) -> Result<Place, Problem> {
        let first = self.app.queue.first_waiting(id).filter(|asked| self.caller.sees(asked.project.as_ref()));
        let asked = first.ok_or_else(|| no_conversation(&id.to_string()))?;
        let (name, dir, project) = (asked.name.clone(), asked.request.dir.clone(), asked.project.clone());
        Ok(Place { conversation: id, exists: false, name, dir, project, cursor: Cursor::BEGINNING })
    }

    fn directory(&self, what: &str, text: &str) -> Result<PathBuf, Problem> {
        allowed_directory(&self.app.roots, self.caller, what, text)
    }
}

/// A directory in which this caller may have agents run.
pub(super) fn allowed_directory(
    roots: &[PathBuf],
    caller: &Caller,
    what: &str,
    text: &str,
) -> Result<PathBuf, Problem> {
    let given = Path::new(text);
    if !given.is_absolute() {
        return Err(Problem::bad_request(format!("{what} must be an absolute path, {text:?} is none")));
    }
    let not_allowed = |why: &str| Problem::new(Code::NotAllowed, format!("{text}: {why}"));
    let dir = given.canonicalize().map_err(|error| match error.kind() {
        std::io::ErrorKind::PermissionDenied => not_allowed("the daemon's user may not enter it"),
        _ => Problem::not_found(format!("the directory {text} does not exist")),
    })?;
    if !dir.is_dir() {
        return Err(Problem::not_found(format!("{text} is no directory")));
    }
    if !roots.is_empty() {
        let within = |root: &PathBuf| root.canonicalize().is_ok_and(|root| dir.starts_with(root));
        if !roots.iter().any(within) {
            return Err(not_allowed("it lies outside of what the daemon was started for (--project)"));
        }
    }
    if !caller.sees(&rejoin_engine::project_of(&dir)) {
        return Err(not_allowed("the token is not good for this project"));
    }
    rustix::fs::access(&dir, Access::EXEC_OK | Access::READ_OK)
        .map_err(|_| not_allowed("the daemon's user may not enter it"))?;
    Ok(dir)
}

/// Refuses a prompt that is none, or too long.
pub(crate) fn check_prompt(prompt: &str) -> Result<(), Problem> {
    if prompt.len() > LONGEST_PROMPT {
        let text = format!("the prompt has {} bytes, {LONGEST_PROMPT} are taken", prompt.len());
        return Err(Problem::new(Code::TooLarge, text)
            .hint("put what is long into a file: upload it, or name it so that the agent opens it itself"));
    }
    if prompt.trim().is_empty() {
        return Err(Problem::bad_request("the prompt is empty"));
    }
    Ok(())
}

fn no_conversation(text: &str) -> Problem {
    Problem::not_found(format!("there is no conversation {text:?}"))
        .hint("GET /api/v1/conversations lists them; it is named by its whole id")
}

fn is_not_found(error: &rejoin::Error) -> bool {
    matches!(error, rejoin::Error::Turn(TurnError::Journal(JournalError::NotFound { .. })))
}

fn exists(rejoin: &Rejoin, conversation: ConversationId) -> Result<bool, Problem> {
    match rejoin.open_conversation(conversation) {
        Ok(_) => Ok(true),
        Err(error) if is_not_found(&error) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Whether a turn stands in a conversation.
fn stands(rejoin: &Rejoin, conversation: ConversationId, turn: TurnId) -> Result<bool, Problem> {
    Ok(rejoin.open_conversation(conversation)?.conversation().tree.turn(turn).is_some())
}

/// A digest, for comparing.
fn hash(bytes: &[u8]) -> String {
    let first: [u8; 16] = Sha256::digest(bytes).first_chunk().copied().unwrap_or_default();
    format!("{:032x}", u128::from_be_bytes(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_is_added_leaves_the_digests_of_requests_without_it() {
        let wanted = Wanted { project: Some("/p".into()), prompt: "hello".into(), ..Wanted::default() };
        assert_eq!(wanted.digest(), "b8e5cc5355a2ad5a8dfeb9e716f26321");
        let beside = Wanted { instead_of: Some("2".into()), ..wanted.clone() };
        assert_ne!(beside.digest(), wanted.digest());
    }

    #[test]
    fn agents_run_only_where_the_daemon_and_the_token_allow_it() {
        let all = tempfile::tempdir().unwrap();
        let root = all.path().canonicalize().unwrap();
        let dir = |name: &str| {
            let path = root.join(name);
            std::fs::create_dir_all(&path).unwrap();
            path
        };
        let (inside, outside) = (dir("work/app"), dir("private"));
        std::os::unix::fs::symlink(&outside, root.join("work/link")).unwrap();
        let everybody = Caller { token: "t".into(), scopes: Vec::new(), ceiling: None, projects: None };
        let some = Caller { projects: Some(vec![inside.clone()]), ..everybody.clone() };
        let roots = [root.join("work")];
        let allowed = |roots: &[PathBuf], caller: &Caller, path: &Path| {
            allowed_directory(roots, caller, "project", path.to_str().unwrap())
                .map_err(|problem| problem.code())
        };
        assert_eq!(allowed(&[], &everybody, &outside), Ok(outside.clone()));
        assert_eq!(allowed(&roots, &everybody, &inside), Ok(inside.clone()));
        assert_eq!(allowed(&roots, &everybody, &outside), Err(Code::NotAllowed));
        assert_eq!(
            allowed(&roots, &everybody, &root.join("work/link")),
            Err(Code::NotAllowed),
            "a link leads out"
        );
        assert_eq!(allowed(&roots, &everybody, &root.join("work/../private")), Err(Code::NotAllowed));
        assert_eq!(allowed(&[], &some, &inside), Ok(inside));
        assert_eq!(allowed(&[], &some, &outside), Err(Code::NotAllowed));
        assert_eq!(allowed(&[], &everybody, &root.join("nothing")), Err(Code::NotFound));
        assert_eq!(allowed(&[], &everybody, Path::new("work")), Err(Code::BadRequest));
    }
}
