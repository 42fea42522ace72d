//! What could be meant. Trouble offers nothing.

use std::collections::BTreeSet;

use rejoin::{
    ConversationView, ListFilter, ListedConversation, ListedSession, Message, Rejoin, SessionFilter, Setting,
};
use rejoin_flow::{Overview, RunStart, short_run_id};

use super::words_before;
use crate::{commands, style};

/// So many are offered at most.
const CONVERSATIONS: usize = 100;
const RUNS: usize = 20;
const TURNS: usize = 20;

/// A word, and what is said about it.
pub(super) struct Candidate {
    pub(super) word: String,
    pub(super) about: String,
}

/// The shell shows what is offered, and puts it into its line, as it is.
fn can_be_typed(name: &str) -> bool {
    rejoin::visible_line(name) == name
}

fn candidate(word: impl Into<String>, about: impl Into<String>) -> Candidate {
    Candidate { word: word.into(), about: about.into() }
}

/// The conversations of this project, by name where they have one.
pub(super) fn conversations() -> Vec<Candidate> {
    let list = commands::open().and_then(|rejoin| {
        let project = Some(commands::here()?);
        let filter = ListFilter { project, limit: Some(CONVERSATIONS), ..ListFilter::default() };
        Ok(rejoin.list(&filter)?.conversations)
    });
    let offered = |listed: ListedConversation| {
        let name = listed.name.filter(|name| can_be_typed(name)).unwrap_or_else(|| listed.id.short());
        candidate(name, style::one_line(&listed.title, 60))
    };
    list.unwrap_or_default().into_iter().map(offered).collect()
}

/// The sessions that agents keep of this project, by their numbers, and the agents.
pub(super) fn sessions() -> Vec<Candidate> {
    let list = commands::open().and_then(|rejoin| {
        let here = commands::here()?;
        let filter = SessionFilter { here, limit: Some(CONVERSATIONS), ..SessionFilter::default() };
        Ok(rejoin.agent_sessions(&filter)?.sessions)
    });
    let offered = |listed: ListedSession| {
        let title = listed.title.or(listed.first_prompt).unwrap_or_default();
        Some(candidate(format!("{}:{}", listed.agent, listed.number?), style::one_line(&title, 60)))
    };
    list.unwrap_or_default().into_iter().filter_map(offered).chain(agents()).collect()
}

/// The turns of the conversation that the line is about, by their numbers, and its branches.
pub(super) fn messages() -> Vec<Candidate> {
    let Ok(rejoin) = commands::open() else { return Vec::new() };
    let Some(view) = conversation_of_the_line(&rejoin) else { return Vec::new() };
    let branches = view.conversation().tree.branches().filter(|(name, _)| can_be_typed(name));
    let mut words: Vec<Candidate> = branches.map(|(name, _)| candidate(name, "branch")).collect();
    for (at, turn) in view.path().iter().enumerate().rev().take(TURNS) {
        let said = view.messages(turn, 4096).unwrap_or_default();
        let said = said.first().map(Message::text).unwrap_or_default();
        words.push(candidate((at + 1).to_string(), style::one_line(&said, 60)));
    }
    words
}

/// The first word that names a conversation; without one it is about the newest.
fn conversation_of_the_line(rejoin: &Rejoin) -> Option<ConversationView<'_>> {
    let here = commands::here().ok()?;
    let words: Vec<String> = words_before().map(|word| word.to_string_lossy().into_owned()).collect();
    // The last one is being typed, the first two are the command.
    let before = words.split_last().map(|(_, before)| before).unwrap_or_default();
    let named = before.iter().skip(2).filter(|word| !word.starts_with('-'));
    let mut found = named.filter_map(|word| rejoin.view(&here, &super::meant(word)).ok());
    found.next().or_else(|| rejoin.view(&here, "@").ok())
}

/// The runs of flows in this project, newest first.
pub(super) fn runs() -> Vec<Candidate> {
    let runs = commands::open().and_then(|rejoin| {
        let here = rejoin::project_of(&commands::here()?);
        let starts = RunStart::all(&rejoin)?.into_iter().filter(|start| start.is_of(&here)).take(RUNS);
        Ok(starts.filter_map(|start| start.overview(&rejoin).ok()?).collect::<Vec<Overview>>())
    });
    let about = |run: &Overview| format!("{} · {}", style::cut(&run.flow, 40), run.standing.name());
    runs.unwrap_or_default().iter().map(|run| candidate(short_run_id(run.id), about(run))).collect()
}

pub(super) fn tags() -> Vec<Candidate> {
    known_tags().into_iter().map(|tag| candidate(tag, "")).collect()
}

/// To be put on; what is taken off is typed with its dash.
pub(super) fn labels() -> Vec<Candidate> {
    known_tags().into_iter().map(|tag| candidate(format!("+{tag}"), "")).collect()
}

fn known_tags() -> BTreeSet<String> {
    let tags = commands::open().and_then(|rejoin| Ok(rejoin.tags(Some(commands::here()?))?));
    tags.unwrap_or_default().into_iter().filter(|tag| can_be_typed(tag)).collect()
}

pub(super) fn agents() -> Vec<Candidate> {
    rejoin::known_agents().map(|(agent, title)| candidate(agent.as_str(), title)).collect()
}

/// The settings in force.
pub(super) fn settings() -> Vec<Candidate> {
    let all = commands::here().and_then(|here| Ok(Setting::all(&here)?));
    let offered = |setting: Setting| candidate(setting.key, style::one_line(&setting.value.to_string(), 60));
    all.unwrap_or_default().into_iter().map(offered).collect()
}
