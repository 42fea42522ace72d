//! What rejoin says it holds: every conversation with every turn, as its own commands tell it.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::world::{Call, World};

/// All conversations, by their ids.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct State {
    pub(crate) conversations: BTreeMap<String, Conversation>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Conversation {
    pub(crate) id: String,
    pub(crate) name: Option<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) head: Option<String>,
    pub(crate) project: String,
    /// `idle`, `running`, `interrupted`, `failed`.
    pub(crate) standing: String,
    pub(crate) turns: BTreeMap<String, Turn>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Turn {
    pub(crate) id: String,
    pub(crate) parent: Option<String>,
    /// What the user said.
    pub(crate) prompt: String,
    /// What the agent said.
    pub(crate) answer: String,
    /// The ids of tool calls, and of their results.
    pub(crate) calls: Vec<String>,
    pub(crate) results: Vec<String>,
    pub(crate) state: String,
    pub(crate) receipt: Option<Value>,
    pub(crate) revision: u64,
}

impl State {
    /// Somebody is at work in some conversation.
    pub(crate) fn is_running(&self) -> bool {
        self.conversations.values().any(Conversation::is_running)
    }

    /// Asks rejoin. A journal that has not changed since it was last asked for is not shown again.
    pub(crate) fn of(world: &World) -> Result<Self> {
        let mut state = Self::default();
        let journals = journals(world);
        for listed in list(world)? {
            let id = text(&listed["id"]).context("a conversation without an id")?;
            let stamp = journals.get(&id).copied();
            let mut conversation = match world.shown(&id, stamp) {
                Some(known) => known,
                None => Conversation::of(&json(world, &["show", &id, "--json", "--tree"])?, &id)?,
            };
            world.note_shown(&conversation, stamp);
            conversation.project = text(&listed["project"]).unwrap_or_default();
            conversation.standing = text(&listed["state"]).unwrap_or_default();
            state.conversations.insert(id, conversation);
        }
        Ok(state)
    }

    /// Those of a project, the ones with most turns first, so that choices do not depend on random ids.
    pub(crate) fn in_project(&self, project: &str) -> Vec<&Conversation> {
        let mut all: Vec<&Conversation> =
            self.conversations.values().filter(|conversation| conversation.project == project).collect();
        all.sort_by_key(|conversation| {
            let first = conversation.turns.values().map(|turn| turn.prompt.clone()).min();
            (usize::MAX - conversation.turns.len(), first)
        });
        all
    }
}

/// `rejoin ls --json` of all projects.
pub(crate) fn list(world: &World) -> Result<Vec<Value>> {
    let listed = json(world, &["ls", "--all-projects", "--json"])?;
    Ok(listed.as_array().cloned().unwrap_or_default())
}

/// What a command prints as JSON; it must succeed.
pub(crate) fn json(world: &World, args: &[&str]) -> Result<Value> {
    let said = world.rejoin(&Call::new(args))?;
    if said.code != Some(0) {
        bail!("`rejoin {}` ends with {:?}: {}", args.join(" "), said.code, said.stderr.trim());
    }
    serde_json::from_str(&said.stdout).with_context(|| format!("`rejoin {}` prints no JSON", args.join(" ")))
}

/// What tells one state of a journal from another: its length and when it was written.
pub(crate) type Stamp = (u64, SystemTime);

/// Every journal, by the id of its conversation.
fn journals(world: &World) -> HashMap<String, Stamp> {
    let list = |dir: &Path| fs::read_dir(dir).into_iter().flatten().flatten();
    let projects = list(&world.home().join("projects"));
    let files = projects.flat_map(|project| list(&project.path()));
    let stamped = files.filter_map(|file| {
        let id = file.path().file_stem()?.to_string_lossy().into_owned();
        let metadata = file.metadata().ok()?;
        Some((id, (metadata.len(), metadata.modified().ok()?)))
    });
    stamped.collect()
}

impl Conversation {
    pub(crate) fn is_running(&self) -> bool {
        self.standing == "running" || self.turns.values().any(|turn| turn.state == "running")
    }

    fn of(shown: &Value, id: &str) -> Result<Self> {
        let turns = shown["turns"].as_array().map(Vec::as_slice).unwrap_or_default();
        let turns = turns.iter().map(|turn| {
            let turn = Turn::of(turn)?;
            Ok((turn.id.clone(), turn))
        });
        Ok(Self {
            id: id.to_owned(),
            name: text(&shown["name"]),
            tags: texts(&shown["tags"]),
            head: text(&shown["head"]),
            project: String::new(),
            standing: String::new(),
            turns: turns.collect::<Result<_>>()?,
        })
    }

    /// The turns from the root to the head.
    pub(crate) fn path(&self) -> Vec<&Turn> {
        self.path_to(self.head.as_deref())
    }

    /// The turns from the root to one of them.
    pub(crate) fn path_to(&self, turn: Option<&str>) -> Vec<&Turn> {
        let mut path = Vec::new();
        let mut at = turn.and_then(|id| self.turns.get(id));
        while let Some(turn) = at
            && path.len() < self.turns.len()
        {
            path.push(turn);
            at = turn.parent.as_ref().and_then(|parent| self.turns.get(parent));
        }
        path.reverse();
        path
    }

    /// The turns whose prompt has this mark.
    pub(crate) fn marked(&self, mark: &str) -> Vec<&Turn> {
        self.turns.values().filter(|turn| marks(&turn.prompt).contains(&mark.to_owned())).collect()
    }
}

impl Turn {
    fn of(turn: &Value) -> Result<Self> {
        let messages = turn["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut made = Self {
            id: text(&turn["id"]).context("a turn without an id")?,
            parent: text(&turn["parent"]),
            prompt: String::new(),
            answer: String::new(),
            calls: Vec::new(),
            results: Vec::new(),
            state: text(&turn["state"]).unwrap_or_default(),
            receipt: Some(turn["receipt"].clone()).filter(|receipt| !receipt.is_null()),
            revision: turn["revision"].as_u64().unwrap_or_default(),
        };
        for message in messages {
            for part in message["parts"].as_array().into_iter().flatten() {
                let said = part["text"].as_str().unwrap_or_default();
                match message["type"].as_str() {
                    Some("user") => made.prompt.push_str(said),
                    _ if part["thought"] == true => {}
                    _ => made.answer.push_str(said),
                }
                made.calls.extend(text(&part["functionCall"]["id"]));
                made.results.extend(text(&part["functionResponse"]["id"]));
            }
        }
        Ok(made)
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(text).collect()
}

/// The marks in a text: what is to be remembered of it.
pub(crate) fn marks(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (at, _) in text.match_indices("MARK-") {
        let name: String = text[at + 5..].chars().take_while(char::is_ascii_alphanumeric).collect();
        let mark = format!("MARK-{name}");
        if !name.is_empty() && !found.contains(&mark) {
            found.push(mark);
        }
    }
    found
}

/// What the demo agent says it remembers, if it says so.
pub(crate) fn seen(answer: &str) -> Option<Vec<String>> {
    let line = answer.lines().rev().find(|line| line.starts_with("SEEN n="))?;
    Some(marks(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_once_and_in_order() {
        assert_eq!(marks("MARK-b2, MARK-, MARK-a1 MARK-b2"), ["MARK-b2", "MARK-a1"]);
        assert_eq!(seen("hello\n\nSEEN n=1 marks=MARK-a").unwrap(), ["MARK-a"]);
        assert_eq!(seen("hello"), None);
    }
}
