//! What agents ask, and the answers that are given here. The first answer stands, wherever it was given.

use std::time::{Duration, Instant};

use axum::extract::State;
use axum::{Extension, Json};
use rejoin::{
    AnsweredBy, AskedQuestion, ConversationId, ConversationView, OptionKind, Permissions, Question,
    QuestionAnswer, QuestionState, Rejoin, TurnId,
};
use rejoin_engine::{NotAnswered, TurnError};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use utoipa::{IntoParams, ToSchema};

use super::access::open;
use super::body::{Body, Params, Path};
use super::turns::QuestionBody;
use crate::app::{App, Shared};
use crate::auth::Peer;
use crate::auth::ancestry::{Verdict, runs_below};
use crate::caller::{Caller, TokenScope};
use crate::problem::{Code, Problem};

/// So long is waited for what became of an answer.
const SETTLES_WITHIN: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(15);

/// A question's name in addresses: where it was asked, and which it is there. Agents choose ids of their own, which
/// need not fit into an address.
#[derive(Clone, PartialEq, Eq, Debug)]
struct QuestionName {
    conversation: ConversationId,
    turn: TurnId,
    digest: String,
}

impl QuestionName {
    fn new(conversation: ConversationId, turn: TurnId, question: &str) -> Self {
        let hash = Sha256::digest(question);
        let first = hash.first_chunk().copied().unwrap_or_default();
        Self { conversation, turn, digest: format!("{:016x}", u64::from_be_bytes(first)) }
    }

    fn parse(text: &str) -> Result<Self, Problem> {
        let mut parts = text.split('.');
        let parsed = (|| {
            let (conversation, turn) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
            let digest = parts.next()?.to_owned();
            parts.next().is_none().then_some(Self { conversation, turn, digest })
        })();
        parsed.ok_or_else(|| no_question(text))
    }
}

impl std::fmt::Display for QuestionName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.conversation, self.turn, self.digest)
    }
}

fn no_question(text: &str) -> Problem {
    Problem::not_found(format!("there is no question {text}"))
        .hint("GET /api/v1/questions lists them with their ids")
}

/// Which questions.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct QuestionsParams {
    /// Only those an agent waits for (if nothing is said); `false` for all of the turns that run.
    open: Option<bool>,
    /// Only of this conversation; of it, those of all turns on the path are told.
    conversation: Option<String>,
}

/// Questions, oldest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct QuestionsBody {
    questions: Vec<AskedHere>,
}

/// A question and where it was asked.
#[derive(Serialize, ToSchema)]
pub(crate) struct AskedHere {
    /// Its name: `POST /questions/{id}/answer`.
    id: String,
    conversation: ConversationId,
    /// The run, which is the turn.
    run: TurnId,
    /// The project.
    project: Option<String>,
    /// The question as the agent put it, and what became of it.
    question: QuestionBody,
}

fn asked_in(
    view: &ConversationView<'_>,
    all_turns: bool,
    only_open: bool,
) -> Result<Vec<AskedHere>, Problem> {
    let path = view.path();
    let turns = if all_turns { &path[..] } else { &path[path.len().saturating_sub(1)..] };
    let mut found = Vec::new();
    for turn in turns {
        for asked in view.questions(turn)? {
            if only_open && asked.state != QuestionState::Open {
                continue;
            }
            found.push(AskedHere {
                id: QuestionName::new(view.id(), turn.id, &asked.question.id).to_string(),
                conversation: view.id(),
                run: turn.id,
                project: view.info().map(|info| info.project.clone()),
                question: asked.into(),
            });
        }
    }
    Ok(found)
}

/// Questions of every turn that runs, in whichever process.
#[utoipa::path(
    get, path = "/questions", operation_id = "list_questions", tag = "questions", params(QuestionsParams),
    responses((status = 200, body = QuestionsBody))
)]
pub(crate) async fn list(
    State(app): State<Shared>,
    caller: Caller,
    Params(params): Params<QuestionsParams>,
) -> Result<Json<QuestionsBody>, Problem> {
    caller.require(TokenScope::Read)?;
    let only_open = params.open.unwrap_or(true);
    let one = params.conversation.as_deref().map(super::access::conversation_id).transpose()?;
    let shared = Shared::clone(&app);
    let questions = app
        .blocking(move |rejoin| {
            if let Some(id) = one {
                return asked_in(&open(&shared, rejoin, &caller, id)?, true, only_open);
            }
            let mut found = Vec::new();
            for id in rejoin.running()? {
                // One that ended and was removed meanwhile asks nothing.
                if let Ok(view) = open(&shared, rejoin, &caller, id) {
                    found.extend(asked_in(&view, false, only_open)?);
                }
            }
            Ok(found)
        })
        .await?;
    Ok(Json(QuestionsBody { questions }))
}

/// An answer: some of the options, or words of one's own; with neither, the question is declined.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnswerBody {
    /// The ids of what is chosen.
    #[serde(default)]
    options: Vec<String>,
    /// Words, where the question takes them.
    text: Option<String>,
}

/// The answer that stands.
#[derive(Serialize, ToSchema)]
pub(crate) struct Answered {
    /// As it was recorded.
    answer: QuestionAnswer,
}

/// Answers a question. The first answer stands: a later one is refused with the one that does.
#[utoipa::path(
    post, path = "/questions/{id}/answer", operation_id = "answer_question", tag = "questions", params(("id" = String, Path)),
    request_body = AnswerBody, responses((status = 200, body = Answered))
)]
pub(crate) async fn answer(
    State(app): State<Shared>,
    caller: Caller,
    Extension(peer): Extension<Peer>,
    Path(id): Path<String>,
    Body(body): Body<AnswerBody>,
) -> Result<Json<Answered>, Problem> {
    let name = QuestionName::parse(&id)?;
    give(app, caller, peer, name, body).await.map(Json)
}

/// The answer to a question of a run.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolResultBody {
    /// Which question.
    question: String,
    /// The ids of what is chosen.
    #[serde(default)]
    options: Vec<String>,
    /// Words, where the question takes them.
    text: Option<String>,
}

/// The same as answering a question, by its run.
#[utoipa::path(
    post, path = "/runs/{id}/tool-result", tag = "questions", params(("id" = String, Path)),
    request_body = ToolResultBody, responses((status = 200, body = Answered))
)]
pub(crate) async fn tool_result(
    State(app): State<Shared>,
    caller: Caller,
    Extension(peer): Extension<Peer>,
    Path(run): Path<String>,
    Body(body): Body<ToolResultBody>,
) -> Result<Json<Answered>, Problem> {
    let ToolResultBody { question, options, text } = body;
    let name = QuestionName::parse(&question)?;
    if name.turn.to_string() != run {
        return Err(Problem::not_found(format!("run {run} did not ask that question")));
    }
    give(app, caller, peer, name, AnswerBody { options, text }).await.map(Json)
}

async fn give(
    app: Shared,
    caller: Caller,
    peer: Peer,
    name: QuestionName,
    body: AnswerBody,
) -> Result<Answered, Problem> {
    caller.require(TokenScope::Answer)?;
    let shared = Shared::clone(&app);
    app.blocking(move |rejoin| {
        let asked = find(&shared, rejoin, &caller, &name)?;
        let given = as_recorded(&asked.question, &body, &caller);
        refuse_widening(&caller, &asked.question, &given)?;
        refuse_from_inside(peer, name.turn)?;
        match rejoin.ask_to_answer(name.conversation, name.turn, given.clone()) {
            Ok(()) | Err(rejoin::Error::Turn(TurnError::NotAnswered(NotAnswered::Closed))) => {}
            Err(rejoin::Error::Turn(TurnError::NotAnswered(NotAnswered::Unfit(why)))) => {
                return Err(Problem::new(Code::Refused, why.to_string())
                    .hint("the options and whether words are taken are told with the question"));
            }
            Err(error) => return Err(error.into()),
        }
        settle(&shared, rejoin, &caller, &name, &given)
    })
    .await
}

/// The answer that was sent, as it is recorded.
fn as_recorded(question: &Question, body: &AnswerBody, caller: &Caller) -> QuestionAnswer {
    let mut given = if body.options.is_empty() {
        question.answered(AnsweredBy::User, body.text.as_deref())
    } else {
        question.chosen(AnsweredBy::User, &body.options)
    };
    if !body.options.is_empty() {
        given.text.clone_from(&body.text);
    }
    given.who = Some(caller.token.clone());
    given
}

fn find(app: &App, rejoin: &Rejoin, caller: &Caller, name: &QuestionName) -> Result<AskedQuestion, Problem> {
    let view = open(app, rejoin, caller, name.conversation)?;
    let missing = || no_question(&name.to_string());
    let turn = view.conversation().tree.turn(name.turn).ok_or_else(missing)?;
    let is_it = |question: &Question| QuestionName::new(view.id(), turn.id, &question.id) == *name;
    // An agent may ask by one id several times: the last of them is the one that can be open.
    let asked = view.questions(turn)?.into_iter().rev().find(|asked| is_it(&asked.question));
    asked.ok_or_else(missing)
}

/// An agent does not answer its own question, nor does anything that it started. Where the system can tell who asks,
/// it has to.
fn refuse_from_inside(peer: Peer, turn: TurnId) -> Result<(), Problem> {
    let why = match runs_below(peer, turn) {
        Verdict::Outside => return Ok(()),
        Verdict::Unknown if !cfg!(target_os = "linux") => return Ok(()),
        Verdict::Unknown => "it cannot be told which process answers, and an agent may not answer itself",
        Verdict::Inside => "what a run asks is not answered from inside of it",
    };
    Err(Problem::new(Code::NotAllowed, why).hint("a person, or a program outside of the run, has to answer"))
}

/// With a ceiling below everything, nobody lets an agent do what the level would not.
fn refuse_widening(caller: &Caller, question: &Question, given: &QuestionAnswer) -> Result<(), Problem> {
    let Some(ceiling) = caller.ceiling.filter(|ceiling| *ceiling != Permissions::Full) else { return Ok(()) };
    let chosen = |id: &String| given.option.as_ref() == Some(id) || given.options.contains(id);
    let widens = question
        .options
        .iter()
        .filter(|option| chosen(&option.id))
        .any(|option| matches!(option.kind, OptionKind::AllowOnce | OptionKind::AllowAlways));
    if widens {
        return Err(Problem::new(
            Code::CeilingExceeded,
            format!(
                "the token's ceiling is `{}`: it may refuse what an agent asks leave for, not allow it",
                ceiling.name()
            ),
        ));
    }
    Ok(())
}

/// Waits until it is known which answer stands.
fn settle(
    app: &App,
    rejoin: &Rejoin,
    caller: &Caller,
    name: &QuestionName,
    given: &QuestionAnswer,
) -> Result<Answered, Problem> {
    let until = Instant::now() + SETTLES_WITHIN;
    loop {
        match find(app, rejoin, caller, name)?.state {
            QuestionState::Answered(answer) if answer == *given => return Ok(Answered { answer }),
            QuestionState::Answered(answer) => {
                return Err(
                    Problem::new(Code::NotOpen, "the question was answered already").with("answer", answer)
                );
            }
            QuestionState::Withdrawn => {
                return Err(Problem::new(Code::NotOpen, "the agent took the question back"));
            }
            QuestionState::Lost => {
                return Err(Problem::new(
                    Code::NotOpen,
                    "the turn is over: nobody waits for an answer any more",
                )
                .hint("retry the run to be asked again"));
            }
            QuestionState::Open if Instant::now() > until => {
                return Err(Problem::new(
                    Code::Busy,
                    "the answer was handed over, and its run has not taken it up yet",
                )
                .hint("look at the question again in a moment"));
            }
            QuestionState::Open => std::thread::sleep(LOOK_EVERY),
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_name_is_read_as_it_was_written_and_whatever_the_agent_calls_it_fits_into_an_address() {
        let (conversation, turn) = (ConversationId::new(Uuid::new_v4()), TurnId::new(Uuid::new_v4()));
        for id in ["toolu_01/..%2f", "", "ä b", "q1"] {
            let name = QuestionName::new(conversation, turn, id);
            let text = name.to_string();
            assert!(text.chars().all(|c| c.is_ascii_hexdigit() || c == '-' || c == '.'), "{text}");
            assert_eq!(QuestionName::parse(&text).unwrap(), name);
        }
        for text in ["", "a.b.c", &format!("{conversation}.{turn}"), &format!("{conversation}.{turn}.1.2")] {
            assert_eq!(QuestionName::parse(text).unwrap_err().code(), Code::NotFound, "{text}");
        }
    }
}
