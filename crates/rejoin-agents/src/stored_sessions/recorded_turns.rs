//! The turns of a session that is kept as a tree of records: what is the same for all agents that do so.

use std::collections::{HashMap, HashSet};

use rejoin_core::Usage;

use super::record_tree::RecordTree;
use super::tree_turns::{Link, OfTools, turns};
use super::{StoredAnswer, StoredOutcome, StoredStep, StoredTurn};

/// What a record of a tree tells.
#[derive(Default)]
pub(crate) struct Entry {
    pub(crate) id: String,
    /// What the user typed, if it is that.
    pub(crate) prompt: Option<String>,
    pub(crate) attached: Vec<String>,
    pub(crate) steps: Vec<StoredStep>,
    /// The request to the model that it answers. An answer may be several records.
    pub(crate) message: Option<usize>,
    pub(crate) model: Option<String>,
    pub(crate) sign: Sign,
    pub(crate) dir: Option<String>,
    pub(crate) branch: Option<String>,
    pub(crate) time_ms: Option<i64>,
}

/// What a record tells of how its turn stands.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) enum Sign {
    /// Nothing.
    #[default]
    None,
    /// There is more to come.
    GoesOn,
    /// The agent has answered.
    Answered,
    /// It is over, however it ended.
    Over,
    /// A command of the agent's program was carried out, for which the model is not asked.
    Ran,
    /// It failed, and perhaps why.
    Failed(String),
    /// The user interrupted it.
    Interrupted,
}

impl Entry {
    fn counts(&self) -> bool {
        self.steps.iter().any(|step| match step {
            StoredStep::Answer(answer) => !answer.text.is_empty(),
            StoredStep::Call { .. } | StoredStep::Result { .. } | StoredStep::Compaction { .. } => true,
        })
    }

    fn calls(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().filter_map(|step| match step {
            StoredStep::Call { id, .. } => Some(id.as_str()),
            _ => None,
        })
    }

    fn results(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().filter_map(|step| match step {
            StoredStep::Result { call, .. } => Some(call.as_str()),
            _ => None,
        })
    }
}

/// The turns of a tree, and the one the current path ends in, of which `head` is the last record. `usage` is what
/// each request used; it is told once, on the current path if it stands there.
pub(crate) fn stored_turns(
    tree: &RecordTree<Entry>,
    head: Option<usize>,
    mut usage: HashMap<usize, Usage>,
) -> (Vec<StoredTurn>, Option<usize>) {
    let entries = tree.records();
    let (found, head) = turns(&tree.parents(), &links(entries), head);
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_by_key(|place| !found[*place].is_current);
    let mut told = vec![StoredTurn::default(); found.len()];
    for place in order {
        let (turn, records) = (&mut told[place], &found[place]);
        let Some(root) = entries.get(records.root) else { continue };
        turn.id = match records.other_end.and_then(|end| entries.get(end)) {
            Some(end) => format!("{}@{}", root.id, end.id),
            None => root.id.clone(),
        };
        turn.parent = records.parent;
        turn.prompt = root.prompt.clone().unwrap_or_default();
        turn.dir.clone_from(&root.dir);
        turn.branch.clone_from(&root.branch);
        turn.started_ms = root.time_ms;
        for entry in records.records.iter().filter_map(|record| entries.get(*record)) {
            take_in(turn, entry, &mut usage);
        }
    }
    (told, head)
}

fn take_in(turn: &mut StoredTurn, entry: &Entry, usage: &mut HashMap<usize, Usage>) {
    turn.ended_ms = turn.ended_ms.max(entry.time_ms);
    turn.attached.extend(entry.attached.iter().cloned());
    let begin = turn.steps.len();
    turn.steps.extend(entry.steps.iter().cloned());
    if let Some(used) = entry.message.and_then(|message| usage.remove(&message)) {
        let answer = turn.steps[begin..].iter_mut().find_map(|step| match step {
            StoredStep::Answer(answer) => Some(answer),
            _ => None,
        });
        match answer {
            Some(answer) => answer.usage = Some(used),
            // It called tools without a word.
            None => turn.steps.insert(
                begin,
                StoredStep::Answer(StoredAnswer {
                    id: entry.id.clone(),
                    model: entry.model.clone(),
                    usage: Some(used),
                    time_ms: entry.time_ms,
                    ..StoredAnswer::default()
                }),
            ),
        }
    }
    let is_open = turn.outcome == StoredOutcome::Open;
    turn.outcome = match &entry.sign {
        Sign::GoesOn => StoredOutcome::Open,
        Sign::Answered => StoredOutcome::Completed,
        Sign::Over if is_open => StoredOutcome::Completed,
        Sign::Ran if is_open && turn.steps.is_empty() => StoredOutcome::Completed,
        Sign::Failed(why) => StoredOutcome::Failed(why.clone()),
        Sign::Interrupted => StoredOutcome::Interrupted,
        Sign::None | Sign::Over | Sign::Ran => return,
    };
}

fn links(entries: &[Entry]) -> Vec<Link> {
    let answered: HashSet<&str> = entries.iter().flat_map(Entry::results).collect();
    let mut messages: HashMap<&str, usize> = HashMap::new();
    for entry in entries {
        if let Some(message) = entry.message {
            messages.extend(entry.calls().map(|call| (call, message)));
        }
    }
    let link = |entry: &Entry| {
        let of_result = || entry.results().find_map(|call| messages.get(call).copied());
        Link {
            is_prompt: entry.prompt.is_some(),
            counts: entry.counts(),
            message: entry.message.or_else(of_result),
            tools: if entry.calls().any(|call| !answered.contains(call)) {
                OfTools::OpenCall
            } else if entry.calls().next().is_some() || entry.results().next().is_some() {
                OfTools::Some
            } else {
                OfTools::Nothing
            },
        }
    };
    entries.iter().map(link).collect()
}
