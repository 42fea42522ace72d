//! Where a conversation came from, and what of its settings counts therefore.
//!
//! A journal can say anything of itself. So what decides stands outside of it, in the home: a
//! conversation that was made here is believed; of one that came from elsewhere, a setting may narrow
//! what an agent does, but widens and moves nothing until the user says it here.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::{Agent, Conversation, Limit, LimitedBy, Permissions, Pin, PinState, SessionId};

/// Where a conversation came from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// It was begun in this home, and nothing was added to it elsewhere.
    Here,
    /// All of it or a part was taken in, or nobody knows.
    Elsewhere(SaidHere),
}

/// What the user said in this home about a conversation from elsewhere.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SaidHere {
    /// The level that was named last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Permissions>,
    /// The directory it lives in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dir: Option<String>,
    /// The model that was named last, per agent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<Agent, String>,
    /// The directory for sessions that was named last, per agent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub session_dirs: BTreeMap<Agent, String>,
    /// The home that pins made here name: a random one, so that no pin that was brought along is taken
    /// for ours. Each time something is taken in it is another one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub home: String,
    /// The pins that counted before something was added that was written elsewhere, under that name: what
    /// comes later may pretend to know better.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pins: Vec<Pin>,
    /// The user was told what does not count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub told: bool,
}

impl SaidHere {
    /// What counts of a conversation so far, kept before something is added to it that was written
    /// elsewhere. `home` is new: what is added cannot know it.
    pub fn before_more(conversation: &Conversation, origin: &Origin, home: String) -> Self {
        let mut pins = pins_that_count(conversation, origin);
        pins.retain(|pin| !matches!(pin.state, PinState::Retired { .. }));
        let newest = pins.split_off(pins.len().saturating_sub(PINS_KEPT));
        let pins = newest.into_iter().map(|pin| Pin { home: home.clone(), ..pin.clone() }).collect();
        match origin {
            Origin::Here => Self {
                permissions: conversation.ceiling,
                dir: conversation.info.as_ref().map(|info| info.dir.clone()),
                models: conversation.models.clone(),
                session_dirs: conversation.session_dirs.clone(),
                home,
                pins,
                told: false,
            },
            // There is something new to tell.
            Origin::Elsewhere(said) => Self { home, pins, told: false, ..said.clone() },
        }
    }
}

/// The newest so many pins are kept beside a conversation from elsewhere.
const PINS_KEPT: usize = 200;

/// The pins of a conversation that were made here, the most recently touched last.
fn pins_that_count<'a>(conversation: &'a Conversation, origin: &'a Origin) -> Vec<&'a Pin> {
    let Origin::Elsewhere(said) = origin else { return conversation.pins.iter().collect() };
    let is_ours = |pin: &&Pin| pin.home == said.home;
    let went_on = |kept: &&Pin| conversation.pins.get(&kept.session).is_some_and(|pin| is_ours(&pin));
    let kept = said.pins.iter().filter(|kept| !went_on(kept));
    kept.chain(conversation.pins.iter().filter(is_ours)).collect()
}

/// The pins of an agent that a decision looks at: those that count, behind those that were brought along,
/// which only tell why they do not.
pub fn pins_to_weigh(conversation: &Conversation, origin: &Origin, agent: &Agent) -> Vec<Pin> {
    let mut pins = pins_that_count(conversation, origin);
    if *origin != Origin::Here {
        let known: HashSet<&SessionId> = pins.iter().map(|pin| &pin.session).collect();
        let brought = conversation.pins.iter().filter(|pin| !known.contains(&pin.session));
        pins = brought.chain(pins.iter().copied()).collect();
    }
    pins.into_iter().filter(|pin| pin.session.agent() == agent).cloned().collect()
}

/// The settings of a conversation that count for a turn of an agent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Settings {
    /// Where it lives.
    pub dir: Option<String>,
    /// How far its agents may go.
    pub limits: Vec<Limit>,
    /// The model.
    pub model: Option<String>,
    /// The directory for the agent's sessions; empty for its own.
    pub session_dir: Option<String>,
}

impl Settings {
    /// The settings that count.
    pub fn of(conversation: &Conversation, origin: &Origin, agent: &Agent) -> Self {
        let limit = |level: Option<Permissions>, by| level.map(|level| Limit { level, by });
        let (ceiling, model) = (conversation.ceiling, conversation.models.get(agent));
        match origin {
            Origin::Here => Self {
                dir: conversation.info.as_ref().map(|info| info.dir.clone()),
                limits: limit(ceiling, LimitedBy::Conversation).into_iter().collect(),
                model: model.cloned(),
                session_dir: conversation.session_dirs.get(agent).cloned(),
            },
            Origin::Elsewhere(said) => {
                let brought = ceiling.filter(|_| ceiling != said.permissions);
                Self {
                    dir: said.dir.clone(),
                    limits: limit(said.permissions, LimitedBy::Conversation)
                        .into_iter()
                        .chain(limit(brought, LimitedBy::Import))
                        .collect(),
                    // One that was refused is no longer the conversation's.
                    model: said.models.get(agent).filter(|said| model == Some(said)).cloned(),
                    session_dir: said.session_dirs.get(agent).cloned(),
                }
            }
        }
    }
}

/// What a conversation brought along and does not count, in a sentence; `None` if all of it does.
/// With an agent, only what a turn of that one would have used.
pub fn not_counted(conversation: &Conversation, origin: &Origin, agent: Option<&Agent>) -> Option<String> {
    let Origin::Elsewhere(said) = origin else { return None };
    let (mut what, mut flags) = (Vec::new(), Vec::new());
    let mut tell = |text: String, flag: &'static str| {
        what.push(text);
        if !flags.contains(&flag) {
            flags.push(flag);
        }
    };
    let dir = conversation.info.as_ref().map(|info| &info.dir);
    if let Some(dir) = dir.filter(|_| said.dir.is_none()) {
        tell(format!("its directory {dir:?}"), "--cwd");
    }
    // Any other level is a limit that counts.
    if conversation.ceiling == Some(Permissions::Full) && said.permissions.is_none() {
        tell("its level full".into(), "--permissions");
    }
    let mine = |(of, _): &(&Agent, &String)| agent.is_none_or(|agent| agent == *of);
    for (of, model) in conversation.models.iter().filter(mine) {
        if !said.models.contains_key(of) {
            tell(format!("its model {model:?} for {:?}", of.as_str()), "--model");
        }
    }
    for (of, dir) in conversation.session_dirs.iter().filter(mine) {
        if !said.session_dirs.contains_key(of) {
            tell(format!("its directory {dir:?} for the sessions of {:?}", of.as_str()), "--session-dir");
        }
    }
    let verb =
        if what.len() == 1 { "comes from another home and does" } else { "come from another home and do" };
    let last = what.pop()?;
    let all = if what.is_empty() { last } else { format!("{} and {last}", what.join(", ")) };
    Some(format!("{all} {verb} not count here; say what should with {}", flags.join(", ")))
}
