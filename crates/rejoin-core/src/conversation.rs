use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    Agent, ConversationInfo, Envelope, FailureClass, Kind, MessageId, Outcome, Permissions, Pin, PinState,
    Receipt, System, Tree, Usage,
};

/// A conversation as folded from its records, in the order of the file. The file alone restores it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Conversation {
    /// What it is; `None` if the first record is lost.
    pub info: Option<ConversationInfo>,
    /// Its name, if it got one.
    pub name: Option<String>,
    /// Its labels.
    pub tags: BTreeSet<String>,
    /// The permission level the user named last.
    pub ceiling: Option<Permissions>,
    /// All turns.
    pub tree: Tree,
    /// The model the user named last, per agent; not one that was refused.
    pub models: BTreeMap<Agent, String>,
    /// The turn that named another model, and the one before it.
    model_before: Option<(MessageId, Agent, Option<String>)>,
    /// The directory for sessions the user named last, per agent; empty for the agent's own.
    pub session_dirs: BTreeMap<Agent, String>,
    /// All pins, the most recently touched last.
    pub pins: Vec<Pin>,
    /// Records of a newer version, passed over.
    pub unknown: usize,
}

impl Conversation {
    /// Takes in the next record, which stands at `place`.
    pub fn apply(&mut self, envelope: &Envelope<'_>, place: u64) {
        match envelope.kind {
            Kind::User | Kind::Assistant | Kind::ToolResult => self.tree.add(envelope, place),
            Kind::Unknown => {
                self.unknown += 1;
                self.tree.pass_over(envelope);
            }
            Kind::System => {
                if let Some(system) = envelope.system() {
                    self.apply_system(system, envelope, place);
                } else {
                    self.unknown += 1;
                    self.distrust(envelope);
                }
            }
        }
    }

    /// A newer version moved a pin in a way this one cannot read: what is known here of that
    /// session is out of date, so it is not resumed.
    fn distrust(&mut self, envelope: &Envelope<'_>) {
        let session = envelope.pinned_session();
        if let Some(at) = self.pins.iter().position(|pin| Some(&pin.session) == session.as_ref()) {
            let mut pin = self.pins.remove(at);
            pin.state = PinState::Retired { why: "a newer rejoin used it".to_owned() };
            self.pins.push(pin);
        }
    }

    fn apply_system(&mut self, system: System, envelope: &Envelope<'_>, place: u64) {
        let turn = envelope.parent_uuid;
        match system {
            System::Conversation(info) => self.info = self.info.take().or(Some(info)),
            System::Title { name } => self.name = Some(name),
            System::Tags { add, remove } => {
                self.tags.retain(|tag| !remove.contains(tag));
                self.tags.extend(add);
            }
            System::Moved { project, dir } => {
                if let Some(info) = &mut self.info {
                    (info.project, info.dir) = (project, dir);
                }
            }
            System::Permissions { ceiling } => self.ceiling = Some(ceiling),
            System::Intent(intent) => {
                if let Some(model) = intent.model {
                    self.set_model(turn, &intent.agent, model);
                }
                if let Some(dir) = intent.session_dir {
                    self.session_dirs.insert(intent.agent.clone(), dir);
                }
                self.set_agent(turn, intent.agent);
                if let Some(pin) = intent.pin {
                    self.put_pin(pin);
                }
            }
            System::Pin(pin) => self.put_pin(*pin),
            System::Receipt(receipt) => {
                self.doubt_model(turn, &receipt.outcome);
                self.set_receipt(turn, *receipt);
            }
            System::Amendment { target, .. } if self.tree.is_first(envelope.uuid) => {
                self.tree.amend(target, place, &envelope.timestamp);
            }
            System::Head { to, branch } if self.tree.is_first(envelope.uuid) => {
                self.tree.move_head(to, branch);
            }
            System::Amendment { .. }
            | System::Head { .. }
            | System::Forked { .. }
            | System::Compaction { .. }
            | System::Gap { .. }
            | System::Diagnostic { .. } => {}
        }
    }

    fn set_model(&mut self, turn: Option<MessageId>, agent: &Agent, model: String) {
        if self.models.get(agent) == Some(&model) {
            return;
        }
        let before = self.models.insert(agent.clone(), model);
        self.model_before = turn.map(|turn| (turn, agent.clone(), before));
    }

    /// A turn that was refused may have been refused for its model: the next one does not repeat it.
    fn doubt_model(&mut self, turn: Option<MessageId>, outcome: &Outcome) {
        let Some((named, agent, before)) = self.model_before.take() else { return };
        let refused = matches!(
            outcome,
            Outcome::Failed {
                class: FailureClass::InvalidRequest | FailureClass::Setup | FailureClass::Launch,
                ..
            }
        );
        if Some(named) == turn && refused {
            match before {
                Some(model) => self.models.insert(agent, model),
                None => self.models.remove(&agent),
            };
        }
    }

    fn put_pin(&mut self, pin: Pin) {
        self.pins.retain(|known| known.session != pin.session);
        self.pins.push(pin);
    }

    fn set_agent(&mut self, turn: Option<MessageId>, agent: Agent) {
        if let Some(turn) = turn.and_then(|id| self.tree.turn_mut(id)) {
            turn.agent = Some(agent);
        }
    }

    fn set_receipt(&mut self, turn: Option<MessageId>, receipt: Receipt) {
        if let Some(turn) = turn.and_then(|id| self.tree.turn_mut(id)) {
            turn.agent = Some(receipt.agent.clone());
            turn.receipt = Some(receipt);
        }
    }

    /// What to tell about records of a newer version, if there are any.
    pub fn passed_over(&self) -> Option<String> {
        let records =
            if self.unknown == 1 { "1 record".to_owned() } else { format!("{} records", self.unknown) };
        (self.unknown > 0).then(|| {
            format!(
                "{records} of a newer rejoin passed over; nothing is lost, update rejoin to see all of it"
            )
        })
    }

    /// The agent of the newest turn on the path to the head; of the newest at all, if the head stands
    /// before the first.
    pub fn last_agent(&self) -> Option<&Agent> {
        let (path, _) = self.tree.path(self.tree.head().map(|turn| turn.id));
        let on_path = path.into_iter().rev().find_map(|turn| turn.agent.as_ref());
        on_path.or_else(|| self.tree.turns().iter().rev().find_map(|turn| turn.agent.as_ref()))
    }

    /// Tokens of all turns together.
    pub fn usage(&self) -> Usage {
        let mut sum = Usage::default();
        for usage in self.tree.turns().iter().filter_map(|turn| turn.receipt.as_ref()?.usage) {
            sum += usage;
        }
        sum
    }
}
