//! From a plan to something that can be launched, or shown.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use rejoin_agents::{Process, ProcessRequest, Step, TurnRequest, check_kinds, warnings_beforehand};
use rejoin_core::compose::{Composed, Wording, compose, compose_messages};
use rejoin_core::plan::{Plan, Wish};
use rejoin_core::{Agent, Attachment, Decision, Pin, SessionId, Usage};
use serde::Serialize;

use crate::before::attach::place_for_copies;
use crate::before::context::{TurnContext, environment};
use crate::before::shown_args::shown_args;
use crate::before::stored_session;
use crate::during::record_writer::new_id;
use crate::{Engine, Helper, Order, TurnError};

/// Said whenever a replay had to be shortened.
pub(crate) const LOSSY: &str = "the history did not fit and was shortened; the marks in it say where";

/// A run that can be launched.
pub(crate) struct Prepared {
    pub(crate) composed: Composed,
    /// The id a new session was told to have.
    pub(crate) new_session: Option<SessionId>,
    pub(crate) launch: Process,
    /// What the turn begins with, once the process runs.
    pub(crate) first: Vec<Step>,
    /// The session's total before this turn, for agents that count the whole session.
    pub(crate) total_before: Usage,
    /// Where copies of the attachments go, if the agent reads them itself.
    pub(crate) copies: Option<PathBuf>,
}

impl Prepared {
    /// Composes the words and the command line of a plan. Everything that can be refused is
    /// refused here; nothing was written yet.
    pub(crate) fn make(
        engine: &Engine,
        order: &Order,
        context: &TurnContext,
        plan: Plan,
    ) -> Result<Self, TurnError> {
        let agent = &*order.agent;
        check_kinds(agent, &order.attachments)?;
        let capabilities = &context.installation.capabilities;
        let (told, unread) = context.told(engine, order, &plan.told())?;
        let by_flag = agent.takes_instructions(capabilities);
        let instructions = if by_flag { None } else { joined_instructions(order) };
        let total_before = match &plan {
            Plan::Resume { pin, .. } => total_before(order, context, pin),
            Plan::Fresh { .. } => Usage::default(),
        };
        let wording = Wording {
            told,
            unread,
            prompt: &order.prompt,
            instructions: instructions.as_deref(),
            after_cut: context.after_cut(&plan),
            after_question: context.after_question(&plan),
            budget: context.budget(order),
        };
        let composed = if agent.takes_messages() {
            compose_messages(plan, wording)
        } else {
            compose(plan, &wording, || uuid::Uuid::new_v4().simple().to_string()[..12].to_owned())
        };
        let ephemeral = order.wish == Wish::Ephemeral;
        let new_session = if composed.session().is_none() && !ephemeral {
            agent.choose_session(capabilities, uuid::Uuid::new_v4())
        } else {
            None
        };
        let extra_args: Vec<String> = order.setup.args.iter().chain(&order.extra_args).cloned().collect();
        let own_dir = engine.own_dir(agent);
        let copies = place_for_copies(&own_dir);
        let turn = TurnRequest {
            composed: &composed,
            attachments: &order.attachments,
            copies: &copies,
            model: context.model.as_deref(),
            permissions: context.permissions,
            can_ask: order.interactive,
            total_before,
            ids: Arc::new(new_id),
        };
        let mut launch = agent.process(&ProcessRequest {
            turn: &turn,
            new_session: new_session.as_ref(),
            capabilities,
            system_prompt: order.system_prompt.as_deref().filter(|_| by_flag),
            append_system_prompt: order.append_system_prompt.as_deref().filter(|_| by_flag),
            endpoint: order.setup.endpoint.as_ref(),
            extra_args: &extra_args,
            ephemeral,
            dir: &context.dir,
            store: context.store.as_deref(),
            env: &|name| engine.variable(&context.env, name),
            own_dir: &own_dir,
        })?;
        let mut first = Vec::new();
        launch.driver.begin_turn(&turn, &mut first)?;
        launch.warnings.extend(warnings_beforehand(&mut first));
        let copies = launch.copies.then_some(copies);
        Ok(Self { composed, new_session, launch, first, total_before, copies })
    }

    /// Command and arguments.
    pub(crate) fn argv(&self, context: &TurnContext) -> Vec<OsString> {
        let mut argv = vec![context.installation.path.clone().into_os_string()];
        argv.extend(context.installation.first_args.iter().cloned());
        argv.extend(self.launch.args.iter().cloned());
        argv
    }

    /// What would be done, for `--dry-run`.
    pub(crate) fn describe(&self, engine: &Engine, order: &Order, context: &TurnContext) -> DryRun {
        let used_elsewhere = self.composed.pin().is_some_and(|pin| context.was_used_elsewhere(order, pin));
        DryRun {
            agent: order.agent.agent(),
            conversation: (!context.is_new).then_some(context.id),
            turn_number: context.path.len() + 1,
            plan: self.composed.decision().clone(),
            argv: shown_args(self.argv(context).iter().map(|arg| arg.to_string_lossy().into_owned())),
            env: environment(&context.env, &self.launch.env).into_iter().map(|(name, _)| name).collect(),
            removed_env: order.agent.foreign_env().iter().map(|name| (*name).to_owned()).collect(),
            cwd: context.dir.to_string_lossy().into_owned(),
            bytes: self.composed.bytes(),
            attachments: about(order),
            lossy: self.composed.lossy(),
            prompt: self.composed.prompt().to_owned(),
            warnings: self
                .warnings(engine, order, context, used_elsewhere)
                .into_iter()
                .map(|(_, text)| text)
                .collect(),
        }
    }

    /// What the user should know beforehand: a stable word and a sentence each.
    pub(crate) fn warnings(
        &self,
        engine: &Engine,
        order: &Order,
        context: &TurnContext,
        used_elsewhere: bool,
    ) -> Vec<(String, String)> {
        let mut all = context.warnings.clone();
        let mut warn = |code: &str, text: String| all.push((code.to_owned(), text));
        for text in &self.launch.warnings {
            warn("launch", text.clone());
        }
        if used_elsewhere {
            let agent = order.agent.agent();
            let text = format!(
                "{agent}'s session was used outside rejoin since the last turn; it goes on from there"
            );
            warn("advanced", text);
        }
        if self.composed.lossy() {
            warn("lossy", LOSSY.into());
        }
        if let Some(text) = withheld(&self.composed) {
            warn(WITHHELD, text);
        }
        if matches!(engine.helper, Helper::Thread) {
            let text =
                "no rejoin executable was found to supervise the agent: its children may outlive a crash";
            warn("supervision", text.into());
        }
        all
    }
}

/// The code of that warning.
pub(crate) const WITHHELD: &str = "attachments";

/// What to tell about files of earlier turns that the agent gets only the names of.
pub(crate) fn withheld(composed: &Composed) -> Option<String> {
    let names: Vec<&str> = composed.withheld().iter().map(|attachment| attachment.name.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "attached to earlier turns and named in the history, but not sent again: {}; attach what is still needed",
            names.join(", ")
        )
    })
}

/// The files of a turn, as they are remembered.
pub(crate) fn about(order: &Order) -> Vec<Attachment> {
    order.attachments.iter().map(|attached| attached.about.clone()).collect()
}

/// What `--dry-run` shows: the decision and everything that would be sent.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct DryRun {
    /// Who would do it.
    pub agent: Agent,
    /// The conversation; absent if it would be a new one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<rejoin_core::ConversationId>,
    /// Which turn on its path it would be.
    pub turn_number: usize,
    /// Resume or fresh, and why.
    pub plan: Decision,
    /// Command and arguments, without the values of those that are secrets by their names.
    pub argv: Vec<String>,
    /// Environment additions, by their names: values may be secrets.
    pub env: Vec<String>,
    /// Variables of an outer agent that are taken away, where set.
    pub removed_env: Vec<String>,
    /// The directory.
    pub cwd: String,
    /// Bytes that would be sent.
    pub bytes: usize,
    /// Files that would be sent along.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// The history would be shortened.
    pub lossy: bool,
    /// The text that would be sent.
    pub prompt: String,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// Standing instructions for an agent without flags for them.
fn joined_instructions(order: &Order) -> Option<String> {
    let parts: Vec<&str> = [&order.system_prompt, &order.append_system_prompt]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// The session's running total: what we left, or what is stored if it was used since.
fn total_before(order: &Order, context: &TurnContext, pin: &Pin) -> Usage {
    let remembered = pin.total.unwrap_or_default();
    if pin.witness.is_some() && !context.was_used_elsewhere(order, pin) {
        return remembered;
    }
    stored_session::total(&*order.agent, pin).unwrap_or(remembered)
}
