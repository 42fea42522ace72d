//! What lists and statistics tell of a conversation, folded from its journal.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use rejoin_core::{
    Agent, Calls, Conversation, ConversationId, Decision, Message, MessageId, ProjectMarks, Scope, SessionId,
    Turn, TurnId, TurnState, Usage,
};
use rejoin_journal::{Checksum, JournalError, Store, load, messages};
use serde::{Deserialize, Serialize};

use crate::last_use::last_use;
use crate::message_parts;

/// Longer beginnings are cut: nobody reads them in a list.
const LONGEST_TITLE: usize = 300;

/// How a conversation stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ConversationState {
    /// Its last turn is done.
    Idle,
    /// A turn is running now. No journal says so: a turn without an end is [`Interrupted`](Self::Interrupted)
    /// here, and whoever lists asks the conversation's lease.
    Running,
    /// Its last turn was cut.
    Interrupted,
    /// Its last turn failed.
    Failed,
}

impl ConversationState {
    /// The stable word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Running => "running",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
        }
    }
}

/// A conversation as a list shows it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// Its name, if it got one.
    pub name: Option<String>,
    /// The beginning of what the user said first.
    pub title: String,
    /// The project; `None` if its first record is lost, and no other tells.
    pub project: Option<String>,
    /// The directory it lives in.
    pub dir: Option<String>,
    /// By what its project is known again elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marks: Option<ProjectMarks>,
    /// The git branch its last turn ran on.
    pub git_branch: Option<String>,
    /// The named branch of the conversation the next turn goes on.
    pub branch: Option<String>,
    /// How many branches it has: turns that nothing hangs on.
    pub branches: usize,
    /// Its labels.
    pub tags: BTreeSet<String>,
    /// When it was last used, in milliseconds since 1970; labels do not count. `None` if no record tells.
    pub used: Option<i64>,
    /// The agents that took turns, in the order they came.
    pub agents: Vec<Agent>,
    /// When its first turn began, in milliseconds since 1970.
    pub started: Option<i64>,
    /// How many turns there are, on all branches.
    pub turns: usize,
    /// How many messages there are in them: of the user, of agents, of tools.
    pub messages: usize,
    /// Tokens of all turns.
    pub usage: Usage,
    /// Cost of all turns in US dollars, where agents tell.
    pub cost: Option<f64>,
    /// How it stands.
    pub state: ConversationState,
    /// The agents' sessions that its pins name.
    pub sessions: Vec<SessionId>,
}

/// A turn as statistics see it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TurnFacts {
    /// Its id.
    pub id: TurnId,
    /// Who did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Agent>,
    /// When it began, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<i64>,
    /// How it ended.
    pub state: TurnEnd,
    /// Resumed, or fresh and why; `None` if it was cut before anything is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Planned>,
    /// The model it said it used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Tokens.
    #[serde(default, skip_serializing_if = "Usage::is_zero")]
    pub usage: Usage,
    /// In US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Calls of tools that ended in it.
    #[serde(default)]
    pub calls: Calls,
    /// Bytes sent to the agent.
    pub sent: usize,
    /// Bytes that a fresh session would have been sent instead, where the receipt tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<usize>,
    /// How long it took, in milliseconds.
    #[serde(default)]
    pub milliseconds: u64,
    /// Bytes of the turns before it that its agent should know: what a replay has to tell.
    pub history: usize,
    /// Bytes of what was said and done in it, as stored.
    pub bytes: usize,
    /// How often it was amended.
    #[serde(default)]
    pub revision: u32,
}

/// How a turn ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnEnd {
    /// The agent said it was done.
    Completed,
    /// It failed.
    Failed,
    /// It was stopped, or rejoin was, or it still runs.
    Cut,
}

/// What was decided for a turn.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Planned {
    /// The agent's own session went on.
    Resumed,
    /// A new session, for the reason of that name.
    Fresh(String),
}

/// All that is known of a conversation without its texts.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Facts {
    pub(crate) summary: Summary,
    pub(crate) turns: Vec<TurnFacts>,
    /// Where the records of each turn stand.
    pub(crate) places: Vec<Vec<u64>>,
    /// The last of these records: a journal that still has it there has only grown.
    pub(crate) last: Option<Fingerprint>,
}

/// A record, by its place and its content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fingerprint {
    pub(crate) place: u64,
    pub(crate) hash: u64,
}

impl Fingerprint {
    fn of(place: u64, json: &str) -> Self {
        Fingerprint { place, hash: Checksum::of(json.as_bytes()) }
    }

    /// Whether the record still stands there.
    pub(crate) fn holds(self, store: &dyn Store, id: ConversationId) -> bool {
        let mut holds = false;
        let fetched = store.fetch(id, &[self.place], &mut |place, raw| {
            holds = raw.is_ok_and(|raw| Self::of(place, raw.json) == self);
        });
        fetched.is_ok() && holds
    }
}

impl Facts {
    /// Folds a journal.
    pub(crate) fn read(store: &dyn Store, id: ConversationId) -> Result<Facts, JournalError> {
        let conversation = load(store, id)?.conversation;
        let turns = conversation.tree.turns();
        let glance = Glance::take(store, id, &conversation)?;
        Ok(Facts {
            last: glance.last,
            summary: summarize(&conversation, glance, last_use(store, id)),
            turns: turn_facts(&conversation),
            places: turns.iter().map(|turn| turn.records.clone()).collect(),
        })
    }

    /// A turn as the journal's readers want it.
    pub(crate) fn turn(&self, at: usize) -> Option<Turn> {
        let (facts, places) = (self.turns.get(at)?, self.places.get(at)?);
        Some(Turn {
            id: facts.id,
            parent: None,
            agent: facts.agent.clone(),
            revision: facts.revision,
            receipt: None,
            launch: None,
            end: facts.id,
            started: String::new(),
            bytes: 0,
            tokens: None,
            calls: Calls::default(),
            answered: false,
            open_questions: Vec::new(),
            questions: Vec::new(),
            records: places.clone(),
        })
    }
}

/// What a few records tell that the fold does not keep.
#[derive(Default)]
struct Glance {
    title: String,
    git_branch: Option<String>,
    last: Option<Fingerprint>,
}

impl Glance {
    fn take(
        store: &dyn Store,
        id: ConversationId,
        conversation: &Conversation,
    ) -> Result<Self, JournalError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Branch {
            git_branch: Option<String>,
        }
        let turns = conversation.tree.turns();
        let beginning = |turn: &Turn| turn.records.first().copied();
        let first = turns.first().and_then(beginning);
        let head = conversation.tree.head().and_then(beginning);
        let last = turns.iter().filter_map(|turn| turn.records.iter().max()).max().copied();
        let places: Vec<u64> = [first, head, last].into_iter().flatten().collect();
        let mut glance = Glance::default();
        store.fetch(id, &places, &mut |place, raw| {
            let Ok(raw) = raw else { return };
            if Some(place) == first {
                glance.title = message_parts::text(raw.json);
            }
            if Some(place) == head {
                glance.git_branch =
                    serde_json::from_str::<Branch>(raw.json).ok().and_then(|line| line.git_branch);
            }
            if Some(place) == last {
                glance.last = Some(Fingerprint::of(place, raw.json));
            }
        })?;
        if let Some(turn) = turns.first().filter(|turn| turn.revision > 0) {
            let said = messages(store, id, turn, 4 << 10)?.messages;
            glance.title = said.first().map(Message::text).unwrap_or_default();
        }
        Ok(glance)
    }
}

fn summarize(conversation: &Conversation, glance: Glance, used: Option<i64>) -> Summary {
    let Glance { mut title, git_branch, .. } = glance;
    title.truncate(title.floor_char_boundary(LONGEST_TITLE));
    let turns = conversation.tree.turns();
    let parents: HashSet<TurnId> = turns.iter().filter_map(|turn| turn.parent).collect();
    let mut agents: Vec<Agent> = Vec::new();
    for agent in turns.iter().filter_map(|turn| turn.agent.as_ref()) {
        if !agents.contains(agent) {
            agents.push(agent.clone());
        }
    }
    let costs: Vec<f64> = turns.iter().filter_map(|turn| turn.receipt.as_ref()?.cost).collect();
    let info = conversation.info.as_ref();
    Summary {
        name: conversation.name.clone(),
        title,
        project: info.map(|info| info.project.clone()),
        dir: info.map(|info| info.dir.clone()),
        marks: conversation.marks.clone(),
        git_branch,
        branch: conversation.tree.current_branch().map(str::to_owned),
        branches: turns.iter().filter(|turn| !parents.contains(&turn.id)).count(),
        tags: conversation.tags.clone(),
        used,
        agents,
        started: turns.first().and_then(started),
        turns: turns.len(),
        messages: conversation.tree.messages().len(),
        sessions: conversation.pins.iter().map(|pin| pin.session.clone()).collect(),
        usage: conversation.usage(),
        cost: (!costs.is_empty()).then(|| costs.iter().sum()),
        state: match conversation.tree.head().map(Turn::state) {
            Some(TurnState::Failed) => ConversationState::Failed,
            Some(TurnState::Cut) => ConversationState::Interrupted,
            Some(TurnState::Completed) | None => ConversationState::Idle,
        },
    }
}

fn started(turn: &Turn) -> Option<i64> {
    turn.started.parse().ok().map(jiff::Timestamp::as_millisecond)
}

fn turn_facts(conversation: &Conversation) -> Vec<TurnFacts> {
    let scope = conversation.info.as_ref().map_or(Scope::default(), |info| info.scope);
    let mut histories = Histories::default();
    let facts = conversation.tree.turns().iter().map(|turn| {
        let history = histories.before(conversation, turn, scope);
        let receipt = turn.receipt.as_ref();
        TurnFacts {
            id: turn.id,
            agent: turn.agent.clone(),
            started: started(turn),
            state: match turn.state() {
                TurnState::Completed => TurnEnd::Completed,
                TurnState::Failed => TurnEnd::Failed,
                TurnState::Cut => TurnEnd::Cut,
            },
            plan: receipt.and_then(|receipt| match &receipt.plan {
                Decision::Resume { .. } => Some(Planned::Resumed),
                Decision::Fresh { why, .. } => Some(Planned::Fresh(why.name().to_owned())),
                Decision::Adopted { .. } => None,
            }),
            model: receipt.and_then(|receipt| receipt.model.clone()),
            usage: turn.usage().unwrap_or_default(),
            calls: turn.calls,
            cost: receipt.and_then(|receipt| receipt.cost),
            sent: receipt.map_or(0, |receipt| receipt.bytes),
            replay: receipt.and_then(|receipt| receipt.replay_bytes),
            milliseconds: receipt.map_or(0, |receipt| receipt.milliseconds),
            history,
            bytes: turn.bytes,
            revision: turn.revision,
        }
    });
    facts.collect()
}

/// Bytes said on the path to a turn, per agent.
#[derive(Default)]
struct Histories(BTreeMap<MessageId, BTreeMap<Option<Agent>, usize>>);

impl Histories {
    fn before(&mut self, conversation: &Conversation, turn: &Turn, scope: Scope) -> usize {
        let parent = turn.parent.and_then(|parent| conversation.tree.turn(parent));
        let mut sums = match parent {
            None => BTreeMap::new(),
            Some(parent) => match self.0.get(&parent.id) {
                Some(sums) => sums.clone(),
                // It stands behind its child: the path is walked, once.
                None => self.walk(conversation, parent),
            },
        };
        let its = |agent: &Option<Agent>| agent.is_none() || *agent == turn.agent;
        let known = sums.iter().filter(|(agent, _)| scope == Scope::Shared || its(agent));
        let history = known.map(|(_, bytes)| bytes).sum();
        *sums.entry(turn.agent.clone()).or_default() += turn.bytes;
        self.0.insert(turn.id, sums);
        history
    }

    /// The sums up to a turn, and on the way those of all before it.
    fn walk(&mut self, conversation: &Conversation, to: &Turn) -> BTreeMap<Option<Agent>, usize> {
        let mut sums = BTreeMap::new();
        for turn in conversation.tree.path(Some(to.id)).0 {
            if let Some(known) = self.0.get(&turn.id) {
                sums.clone_from(known);
            } else {
                *sums.entry(turn.agent.clone()).or_default() += turn.bytes;
                self.0.insert(turn.id, sums.clone());
            }
        }
        sums
    }
}
