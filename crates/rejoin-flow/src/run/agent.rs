//! A step that is a turn of an agent.

use std::path::Path;
use std::time::Duration;

use rejoin::{
    Agent, ConversationId, Error, Event, FailureClass, Outcome, TurnBuilder, TurnId, TurnOutcome, TurnState,
};

use super::output;
use super::record::{Ended, Key, Record, State};
use super::stop::Stop;
use super::walk::{Task, Tried, Walk};
use crate::FlowError;
use crate::model::{AgentStep, Failure};

/// How long a conversation is waited for that somebody else is at: a killed run's agent may still be ending.
const WAIT: Duration = Duration::from_secs(30);

/// Where a turn takes place.
#[derive(Clone, Copy)]
enum Place {
    /// In a conversation of its own.
    New,
    /// After that turn.
    After(ConversationId, TurnId),
    /// That turn again, which was cut or failed.
    Again(ConversationId, TurnId),
}

/// The words of a turn, filled in.
struct Words {
    prompt: String,
    agent: Option<String>,
    model: Option<String>,
    system_prompt: Option<String>,
    cwd: Option<String>,
}

impl Walk<'_> {
    pub(super) fn agent(
        &self,
        task: &Task<'_>,
        step: &AgentStep,
        open: Option<(ConversationId, TurnId)>,
        halt: &Stop,
    ) -> Result<Tried, FlowError> {
        let refused = |ended: Box<Ended>| Ok(Tried { ended: *ended, turn: open });
        let words = match self.words(task, step) {
            Ok(words) => words,
            Err(ended) => return refused(ended),
        };
        let place = match open {
            Some((conversation, turn)) => match self.finished(conversation, turn) {
                Some(finished) => return self.settle(task, step, &words, finished, halt),
                None => Place::Again(conversation, turn),
            },
            None => match self.place(task, step) {
                Ok(place) => place,
                Err(ended) => return refused(ended),
            },
        };
        match self.turn(task, step, &words, place, halt)? {
            Ok(outcome) => self.settle(task, step, &words, Finished::from(&outcome), halt),
            Err(error) => Ok(Tried { ended: not_run(task.key, &error), turn: open }),
        }
    }

    fn words(&self, task: &Task<'_>, step: &AgentStep) -> Result<Words, Box<Ended>> {
        let fill = |field: &str, text: Option<&crate::Text>| {
            text.map(|text| self.fill(task, field, &text.text)).transpose()
        };
        Ok(Words {
            prompt: self.fill(task, "prompt", &step.prompt.text)?,
            agent: fill("agent", step.agent.as_ref())?,
            model: fill("model", step.model.as_ref())?,
            system_prompt: fill("system_prompt", step.system_prompt.as_ref())?,
            cwd: fill("cwd", step.how.cwd.as_ref())?,
        })
    }

    /// Where the turn of a step takes place that was not begun yet.
    fn place(&self, task: &Task<'_>, step: &AgentStep) -> Result<Place, Box<Ended>> {
        let Some(from) = step.origin() else { return Ok(Place::New) };
        let field = if step.continue_from.is_some() { "continue_from" } else { "fork_from" };
        let refused = |words: &str| {
            let words = format!("cannot go on from {:?}: {words}", from.text);
            Err(Box::new(self.refused(task, field, &words)))
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
            return Ok(Place::After(conversation, turn));
        }
        match self.rejoin.fork(conversation, turn) {
            Ok(fork) => Ok(Place::After(fork, turn)),
            Err(error) => Err(Box::new(not_run(task.key, &error))),
        }
    }

    /// The turn of a step whose run was cut after the turn itself was done.
    fn finished(&self, conversation: ConversationId, turn: TurnId) -> Option<Finished> {
        let view = self.rejoin.view(Path::new(&self.begun.dir), &conversation.to_string()).ok()?;
        let done = view.conversation().tree.turn(turn).filter(|turn| turn.state() == TurnState::Completed)?;
        let said = view.messages(done, usize::MAX).ok()?;
        let answer = said.iter().rfind(|message| message.kind == rejoin::Kind::Assistant)?;
        Some(Finished { text: answer.text(), receipt: done.receipt.clone()? })
    }

    /// Runs one turn; an error is what the library refused.
    fn turn(
        &self,
        task: &Task<'_>,
        step: &AgentStep,
        words: &Words,
        place: Place,
        halt: &Stop,
    ) -> Result<Result<TurnOutcome, Error>, FlowError> {
        let mut turn = self.described(step, words, place);
        let canceller = match turn.canceller() {
            Ok(canceller) => canceller,
            Err(error) => return Ok(Err(error)),
        };
        let _registered = halt.register(&canceller);
        let mut trouble = None;
        let outcome = turn.run(|event| {
            if let Event::Init { conversation: Some(conversation), turn, .. } = event {
                let record = Record::Turn { key: task.key.clone(), conversation: *conversation, turn: *turn };
                if let Err(error) = self.write(&record) {
                    trouble = Some(error);
                    canceller.cancel();
                }
            }
            self.tell(task.key, event);
        });
        trouble.map_or(Ok(outcome), Err)
    }

    fn described(&self, step: &AgentStep, words: &Words, place: Place) -> TurnBuilder<'_> {
        let mut turn = self.rejoin.project(&self.begun.dir).prompt(&words.prompt).wait(WAIT);
        turn = match place {
            Place::New => turn,
            Place::After(conversation, after) => {
                turn.resume(conversation.to_string()).checkpoint(after.to_string())
            }
            Place::Again(conversation, again) => {
                turn.resume(conversation.to_string()).retry(Some(again.to_string()))
            }
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
            turn = turn.cwd(Path::new(&self.begun.dir).join(dir));
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
        words: &Words,
        finished: Finished,
        halt: &Stop,
    ) -> Result<Tried, FlowError> {
        let tried = judged(task, step, finished);
        let (Some(Failure::Output), Some((conversation, turn))) = (tried.ended.failure, tried.turn) else {
            return Ok(tried);
        };
        let why = tried.ended.error.clone().unwrap_or_default();
        let complaint = Words {
            prompt: output::complaint(&why, step.how.schema.as_ref()),
            agent: tried.ended.receipt.as_ref().map(|receipt| receipt.agent.as_str().to_owned()),
            model: words.model.clone(),
            system_prompt: words.system_prompt.clone(),
            cwd: words.cwd.clone(),
        };
        let again = AgentStep { fresh_session: false, ..step.clone() };
        match self.turn(task, &again, &complaint, Place::After(conversation, turn), halt)? {
            Ok(outcome) => Ok(judged(task, step, Finished::from(&outcome))),
            Err(error) => Ok(Tried { ended: not_run(task.key, &error), turn: tried.turn }),
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

fn judged(task: &Task<'_>, step: &AgentStep, finished: Finished) -> Tried {
    let Finished { text, receipt } = finished;
    let key = task.key;
    let mut ended = match &receipt.outcome {
        Outcome::Completed => match step.how.json.then(|| output::read(&text, step.how.schema.as_ref())) {
            Some(Ok(json)) => Ended { json: Some(json), ..Ended::new(key, State::Done) },
            Some(Err(why)) => Ended::failed(key, Failure::Output, why),
            None => Ended::new(key, State::Done),
        },
        Outcome::Failed { class, message } => {
            let failed = Ended::failed(key, Failure::AgentFailed, format!("{}: {message}", class.words()));
            Ended { code: if *class == FailureClass::Busy { 6 } else { 1 }, ..failed }
        }
        Outcome::Timeout { message } => Ended::failed(key, Failure::Timeout, message),
        Outcome::Cancelled => Ended::new(key, State::Cancelled),
    };
    ended.output = text;
    ended.exit_code = receipt.exit_code;
    ended.receipt = Some(Box::new(receipt));
    let turn = ended.turn();
    Tried { ended, turn }
}

/// A turn that the library refused.
fn not_run(key: &Key, error: &Error) -> Ended {
    match error.exit_code() {
        130 => Ended::new(key, State::Cancelled),
        code => Ended { code, ..Ended::failed(key, Failure::Refused, error.to_string()) },
    }
}
