//! A step that is a turn of an agent.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rejoin::{
    Agent, ConversationId, ConversationView, Error, FailureClass, Outcome, TurnBuilder, TurnError, TurnId,
    TurnOutcome, TurnState, exit_code,
};

use super::history::Noted;
use super::output;
use super::record::{Ended, Key, Record, State};
use super::stop::Stop;
use super::turn_places::TakenPlace;
use super::walk::{Task, Walk};
use crate::FlowError;
use crate::model::{AgentStep, Failure, Text};

/// The label of conversations that a flow began: lists show it, and can leave them out.
pub const LABEL: &str = "flow";

/// How long a conversation is waited for that somebody else is at: a killed run's agent may still be ending.
const WAIT: Duration = Duration::from_secs(30);

/// Where a turn takes place.
#[derive(Clone, Copy)]
enum Place {
    /// In a conversation of its own.
    New,
    /// After that turn.
    After(ConversationId, TurnId),
    /// After that turn, in a conversation of its own that begins with it and is not there yet.
    InFork { of: ConversationId, after: TurnId, fork: ConversationId },
    /// That turn again, which was cut or failed.
    Again(ConversationId, TurnId),
}

/// The words of a turn, filled in.
struct Words {
    prompt: String,
    agent: Option<String>,
    model: Option<String>,
    system_prompt: Option<String>,
    cwd: Option<PathBuf>,
    env: BTreeMap<String, String>,
}

impl Walk<'_> {
    pub(super) fn agent(&self, task: &Task<'_>, step: &AgentStep, halt: &Stop) -> Result<Ended, FlowError> {
        let words = match self.words(task, step) {
            Ok(words) => words,
            Err(ended) => return Ok(*ended),
        };
        let (place, sent_back) = match self.last_turn(task.key)? {
            Some((view, noted)) => match finished(&view, noted.turn)? {
                Some(finished) if noted.sent_back => return Ok(judged(task, step, finished)),
                Some(finished) => return self.settle(task, step, words, finished, halt),
                None => (Place::Again(view.id(), noted.turn), noted.sent_back),
            },
            None => match self.place(task, step)? {
                Ok(place) => (place, false),
                Err(ended) => return Ok(*ended),
            },
        };
        match self.turn(task, step, &words, place, sent_back, halt)? {
            Ok(outcome) if sent_back => Ok(judged(task, step, Finished::from(&outcome))),
            Ok(outcome) => self.settle(task, step, words, Finished::from(&outcome), halt),
            Err(error) => Ok(not_run(task.key, &error)),
        }
    }

    fn words(&self, task: &Task<'_>, step: &AgentStep) -> Result<Words, Box<Ended>> {
        let fill = |field: &str, text: &Option<Text>| {
            text.as_ref().map(|text| self.fill(task, field, text)).transpose()
        };
        Ok(Words {
            prompt: self.fill(task, "prompt", &step.prompt)?,
            agent: fill("agent", &step.agent)?,
            model: fill("model", &step.model)?,
            system_prompt: fill("system_prompt", &step.system_prompt)?,
            cwd: step.how.cwd.as_ref().map(|_| self.directory(task, &step.how)).transpose()?,
            env: self.variables(task, &step.how)?,
        })
    }

    /// The newest turn of a step that was begun: turns are noted before they are.
    fn last_turn(&self, key: &Key) -> Result<Option<(ConversationView<'_>, Noted)>, FlowError> {
        let noted = self.known().turns.get(key).cloned().unwrap_or_default();
        for noted in noted.into_iter().rev() {
            if let Some(view) = self.holding(noted.conversation, noted.turn)? {
                return Ok(Some((view, noted)));
            }
        }
        Ok(None)
    }

    /// A conversation, if it is there and has that turn.
    fn holding(
        &self,
        conversation: ConversationId,
        turn: TurnId,
    ) -> Result<Option<ConversationView<'_>>, FlowError> {
        match self.rejoin.open_conversation(conversation) {
            Ok(view) => Ok(Some(view).filter(|view| view.conversation().tree.turn(turn).is_some())),
            Err(error) if error.exit_code() == exit_code::NOT_FOUND => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Where the turn of a step takes place that was not begun yet.
    fn place(&self, task: &Task<'_>, step: &AgentStep) -> Result<Result<Place, Box<Ended>>, FlowError> {
        let Some(from) = step.origin() else { return Ok(Ok(Place::New)) };
        let field = if step.continue_from.is_some() { "continue_from" } else { "fork_from" };
        let refused = |words: &str| {
            let words = format!("cannot go on from {:?}: {words}", from.text);
            Ok(Err(Box::new(self.refused(task, field, from.place, &words))))
        };
        let (conversation, turn) = match self.result(&Key::of(&from.text)) {
            None => return refused("it was not run"),
            Some(ended) if ended.state == State::Failed => return refused("it failed"),
            Some(ended) if ended.state != State::Done => {
                return refused(&format!("it was {}", ended.state.name()));
            }
            Some(ended) => match ended.turn() {
                Some(turn) => turn,
                None => return refused("it has no conversation"),
            },
        };
        if step.continue_from.is_some() {
            return Ok(Ok(Place::After(conversation, turn)));
        }
        // A fork in which nothing was begun is as good as a new one.
        let noted = self.known().turns.get(task.key).and_then(|turns| turns.last().copied());
        if let Some(Noted { conversation: fork, .. }) = noted
            && self.holding(fork, turn)?.is_some()
        {
            return Ok(Ok(Place::After(fork, turn)));
        }
        let fork = ConversationId::new(uuid::Uuid::new_v4());
        Ok(Ok(Place::InFork { of: conversation, after: turn, fork }))
    }

    /// Runs one turn; an error is what the library refused.
    fn turn(
        &self,
        task: &Task<'_>,
        step: &AgentStep,
        words: &Words,
        place: Place,
        sent_back: bool,
        halt: &Stop,
    ) -> Result<Result<TurnOutcome, Error>, FlowError> {
        let mut turn = self.described(step, words, place);
        let canceller = match turn.canceller() {
            Ok(canceller) => canceller,
            Err(error) => return Ok(Err(error)),
        };
        let _registered = halt.register(&canceller);
        let conversation = match place {
            Place::New => turn.new_conversation(),
            Place::After(conversation, _)
            | Place::Again(conversation, _)
            | Place::InFork { fork: conversation, .. } => conversation,
        };
        let dir = Path::new(&self.begun.dir);
        let stopped = || halt.requested();
        let _place =
            self.places.map(|places| TakenPlace::wait(places, (turn.id(), conversation), dir, &stopped));
        if self.places.is_some() && stopped() {
            let what = "a place among the turns that run".to_owned();
            return Ok(Err(TurnError::Cancelled { what }.into()));
        }
        // Noted before it is begun, its fork included: whenever we are killed, it is found again.
        self.write(Record::Turn { key: task.key.clone(), conversation, turn: turn.id(), sent_back })?;
        if let Place::InFork { of, after, fork } = place
            && let Err(error) = self.rejoin.fork_as(fork, of, after)
        {
            return Ok(Err(error));
        }
        // A conversation is there once its first turn tells something.
        let mut is_labelled = matches!(place, Place::After(..));
        let mut labelled = Ok(());
        let done = turn.run(|event| {
            if !std::mem::replace(&mut is_labelled, true) {
                labelled = self.label(conversation);
            }
            self.tell(task.key, event);
        });
        // A journal that cannot be written is no success, whatever was to be written there.
        Ok(labelled.and(done))
    }

    fn label(&self, conversation: ConversationId) -> Result<(), rejoin::Error> {
        let view = self.rejoin.open_conversation(conversation)?;
        if !view.conversation().tags.contains(LABEL) {
            view.tag(&[LABEL.to_owned()], &[])?;
        }
        Ok(())
    }

    fn described(&self, step: &AgentStep, words: &Words, place: Place) -> TurnBuilder<'_> {
        let turn = self.rejoin.project(&self.begun.dir).wait(WAIT);
        let mut turn = match place {
            Place::New => turn.prompt(&words.prompt),
            Place::After(conversation, after) | Place::InFork { fork: conversation, after, .. } => {
                turn.in_conversation(conversation).checkpoint(after).prompt(&words.prompt)
            }
            // With the words it had.
            Place::Again(conversation, again) => turn.in_conversation(conversation).retry(Some(again.into())),
        };
        if let Some(agent) = &words.agent {
            turn = turn.agent(Agent::named(agent));
        }
        if let Some(model) = &words.model {
            turn = turn.model(model);
        }
        if let Some(level) = step.permissions {
            turn = turn.permissions(level);
        }
        if let Some(text) = &words.system_prompt {
            turn = turn.system_prompt(text);
        }
        if let Some(dir) = &words.cwd {
            turn = turn.cwd(dir);
        }
        for (name, value) in &words.env {
            turn = turn.env(name, value);
        }
        if let Some(limit) = step.how.timeout {
            turn = turn.timeout(limit);
        }
        if step.fresh_session { turn.fresh() } else { turn }
    }

    /// What a turn means for its step; an answer that cannot be used is sent back, once.
    fn settle(
        &self,
        task: &Task<'_>,
        step: &AgentStep,
        words: Words,
        finished: Finished,
        halt: &Stop,
    ) -> Result<Ended, FlowError> {
        let ended = judged(task, step, finished);
        let (Some(Failure::Output), Some((conversation, turn))) = (ended.failure, ended.turn()) else {
            return Ok(ended);
        };
        let why = ended.error.clone().unwrap_or_default();
        let complaint = Words {
            prompt: output::complaint(&why, step.how.schema.as_ref()),
            agent: ended.receipt.as_ref().map(|receipt| receipt.agent.as_str().to_owned()),
            ..words
        };
        let again = AgentStep { fresh_session: false, ..step.clone() };
        match self.turn(task, &again, &complaint, Place::After(conversation, turn), true, halt)? {
            Ok(outcome) => Ok(judged(task, step, Finished::from(&outcome))),
            Err(error) => Ok(not_run(task.key, &error)),
        }
    }
}

/// A turn that ran to its end.
struct Finished {
    text: String,
    receipt: rejoin::Receipt,
}

impl From<&TurnOutcome> for Finished {
    fn from(outcome: &TurnOutcome) -> Self {
        Self { text: outcome.text().to_owned(), receipt: outcome.receipt().clone() }
    }
}

/// A turn whose step was cut after the turn itself was done.
fn finished(view: &ConversationView<'_>, turn: TurnId) -> Result<Option<Finished>, Error> {
    let turn = view.conversation().tree.turn(turn).filter(|turn| turn.state() == TurnState::Completed);
    let Some((turn, receipt)) = turn.and_then(|turn| Some((turn, turn.receipt.clone()?))) else {
        return Ok(None);
    };
    let said = view.messages(turn, usize::MAX)?;
    let answer = said.iter().rfind(|message| message.kind == rejoin::Kind::Assistant);
    Ok(Some(Finished { text: answer.map(rejoin::Message::text).unwrap_or_default(), receipt }))
}

fn judged(task: &Task<'_>, step: &AgentStep, finished: Finished) -> Ended {
    let Finished { text, receipt } = finished;
    let key = task.key;
    let code = exit_code::of_outcome(&receipt.outcome);
    let mut ended = match &receipt.outcome {
        Outcome::Completed => match step.how.json.then(|| output::read(&text, step.how.schema.as_ref())) {
            Some(Ok(json)) => Ended { json: Some(json), ..Ended::new(key, State::Done) },
            Some(Err(why)) => Ended::failed(key, Failure::Output, why),
            None => Ended::new(key, State::Done),
        },
        Outcome::Failed { class: FailureClass::Internal, message } => {
            Ended { code, ..Ended::failed(key, Failure::Refused, message) }
        }
        Outcome::Failed { class, message } => {
            let failed = Ended::failed(key, Failure::AgentFailed, format!("{}: {message}", class.words()));
            Ended { code, ..failed }
        }
        Outcome::Timeout { message } => Ended::failed(key, Failure::Timeout, message),
        Outcome::Cancelled => Ended::new(key, State::Cancelled),
    };
    ended.output = text;
    ended.exit_code = receipt.exit_code;
    ended.receipt = Some(Box::new(receipt));
    ended
}

/// A turn that the library refused.
fn not_run(key: &Key, error: &Error) -> Ended {
    match error.exit_code() {
        exit_code::CANCELLED => Ended::new(key, State::Cancelled),
        code => Ended { code, ..Ended::failed(key, Failure::Refused, error.to_string()) },
    }
}
