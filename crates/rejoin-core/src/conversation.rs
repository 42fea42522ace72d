use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    Agent, ConversationInfo, Envelope, FailureClass, Kind, Launch, MessageId, Outcome, Permissions, PinState,
    Pins, ProjectMarks, Receipt, System, Tree, Turn, Usage,
};

/// So many directories are remembered, to tell where a conversation belongs that lost its first record.
const DIRECTORIES: usize = 8;

/// A conversation as folded from its records, in the order of the file. The file alone restores it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Conversation {
    /// What it is; `None` if the first record is lost, and nothing else tells.
    pub info: Option<ConversationInfo>,
    /// The first record is lost: what the conversation is was derived from the others.
    pub info_is_derived: bool,
    /// Where its project was said to have moved last.
    moved: Option<(String, String)>,
    /// The directories its records name, in the order they came.
    dirs: Vec<String>,
    /// By what its project is known again elsewhere.
    #[serde(default)]
    pub marks: Option<ProjectMarks>,
    /// Its name, if it got one.
    pub name: Option<String>,
    /// Its labels.
    pub tags: BTreeSet<String>,
    /// The permission level the user named last; the narrowest, if the record of it cannot be read.
    pub ceiling: Option<Permissions>,
    /// The record of the level cannot be read, and no later one names another.
    #[serde(default)]
    pub ceiling_lost: bool,
    /// All turns.
    pub tree: Tree,
    /// The model the user named last, per agent; not one that was refused.
    pub models: BTreeMap<Agent, String>,
    /// The turn that named another model, and the one before it.
    model_before: Option<(MessageId, Agent, Option<String>)>,
    /// The directory for sessions the user named last, per agent; empty for the agent's own.
    pub session_dirs: BTreeMap<Agent, String>,
    /// All pins, the most recently touched last.
    pub pins: Pins,
    /// Records of a newer version, passed over.
    pub unknown: usize,
}

impl Conversation {
    /// Takes in the next record, which stands at `place`.
    pub fn apply(&mut self, envelope: &Envelope<'_>, place: u64) {
        self.note_dir(&envelope.cwd);
        match envelope.kind {
            Kind::User | Kind::Assistant | Kind::ToolResult => self.tree.add(envelope, place),
            Kind::Unknown => {
                self.unknown += 1;
                self.tree.pass_over(envelope);
                if envelope.limits_permissions() {
                    self.lose_ceiling();
                }
            }
            Kind::System => {
                if let Some(system) = envelope.system() {
                    self.apply_system(system, envelope, place);
                } else {
                    self.unknown += 1;
                    self.distrust(envelope);
                    if envelope.limits_permissions() {
                        self.lose_ceiling();
                    }
                }
            }
        }
    }

    /// A record of what agents may do stands there and cannot be read: the narrowest level, until the
    /// user names one.
    pub fn lose_ceiling(&mut self) {
        (self.ceiling, self.ceiling_lost) = (Some(Permissions::Read), true);
    }

    /// A newer version moved a pin in a way this one cannot read: what is known here of that
    /// session is out of date, so it is not resumed.
    fn distrust(&mut self, envelope: &Envelope<'_>) {
        let session = envelope.pinned_session();
        if let Some(mut pin) = session.and_then(|session| self.pins.get(&session).cloned()) {
            pin.state = PinState::Retired { why: "a newer rejoin used it".to_owned() };
            self.pins.put(pin);
        }
    }

    fn note_dir(&mut self, dir: &str) {
        let new =
            !dir.is_empty() && self.dirs.len() < DIRECTORIES && !self.dirs.iter().any(|known| known == dir);
        if new {
            self.dirs.push(dir.to_owned());
        }
    }

    /// Says what the conversation is where its first record is lost: each of the others names the
    /// directory it was written in. `project_of` knows whether a directory lies in the project the
    /// conversation is kept under, and which that is. Says whether something was derived.
    pub fn derive_info(&mut self, project_of: impl Fn(&str) -> Option<String>) -> bool {
        if self.info.is_some() {
            return false;
        }
        let told = self.dirs.iter().find_map(|dir| Some((project_of(dir)?, dir.clone())));
        let outside = || self.dirs.first().map(|dir| (dir.clone(), dir.clone()));
        let Some((project, dir)) = self.moved.clone().or(told).or_else(outside) else { return false };
        let scope = self.pins.iter().last().map(|pin| pin.scope).unwrap_or_default();
        self.info = Some(ConversationInfo { schema: System::SCHEMA, project, dir, scope });
        self.info_is_derived = true;
        true
    }

    fn apply_system(&mut self, system: System, envelope: &Envelope<'_>, place: u64) {
        let turn = envelope.parent_uuid;
        match system {
            System::Conversation(mut info) => {
                if self.info.is_none() {
                    if let Some(moved) = self.moved.clone() {
                        (info.project, info.dir) = moved;
                    }
                    self.info = Some(info);
                }
            }
            // An empty one takes the name away.
            System::Title { name } => self.name = Some(name).filter(|name| !name.is_empty()),
            System::Tags { add, remove } => {
                for tag in &remove {
                    self.tags.remove(tag);
                }
                self.tags.extend(add);
            }
            System::Moved { project, dir } => {
                if let Some(info) = &mut self.info {
                    (info.project, info.dir) = (project.clone(), dir.clone());
                }
                self.moved = Some((project, dir));
            }
            System::Project(marks) => self.marks = Some(*marks),
            System::Permissions { ceiling } => {
                (self.ceiling, self.ceiling_lost) = (Some(ceiling), false);
            }
            System::Intent(intent) => {
                if let Some(model) = intent.model {
                    self.set_model(turn, &intent.agent, model);
                }
                if let Some(dir) = intent.session_dir {
                    self.session_dirs.insert(intent.agent.clone(), dir);
                }
                if let Some(turn) = turn.and_then(|id| self.tree.turn_mut(id)) {
                    turn.agent = Some(intent.agent);
                    turn.launch = Some(Launch { stands_in: intent.stands_in.map(Box::new) });
                }
                if let Some(pin) = intent.pin {
                    self.pins.put(pin);
                }
            }
            System::Pin(pin) => self.pins.put(*pin),
            // Of a turn that rejoin did not launch nothing else tells whose it is until it ends.
            System::Session(session) => {
                if let Some(turn) = turn.and_then(|id| self.tree.turn_mut(id)) {
                    turn.agent.get_or_insert(session.agent);
                }
            }
            System::Receipt(receipt) => {
                self.doubt_model(turn, &receipt.outcome);
                self.set_receipt(turn, *receipt);
            }
            System::Question(_) | System::QuestionAnswered(_) | System::QuestionWithdrawn { .. }
                if self.tree.is_first(envelope.uuid) =>
            {
                if let Some(turn) = turn.and_then(|id| self.tree.turn_mut(id)) {
                    turn.questions.push(place);
                    note_question(turn, system);
                }
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
            | System::Diagnostic { .. }
            | System::Warning { .. }
            | System::Question(_)
            | System::QuestionAnswered(_)
            | System::QuestionWithdrawn { .. }
            | System::Asked(_) => {}
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
        for usage in self.tree.turns().iter().filter_map(Turn::usage) {
            sum += usage;
        }
        sum
    }
}
/// Which questions wait for an answer, and whether one got it. Leave to use a tool is asked for each time anew.
fn note_question(turn: &mut Turn, system: System) {
    match system {
        System::Question(question) if question.tool.is_none() => turn.open_questions.push(question.id),
        System::QuestionAnswered(answer) => {
            let open = turn.open_questions.len();
            turn.open_questions.retain(|id| *id != answer.question);
            turn.answered |= turn.open_questions.len() < open;
        }
        System::QuestionWithdrawn { question } => turn.open_questions.retain(|id| *id != question),
        _ => {}
    }
}
