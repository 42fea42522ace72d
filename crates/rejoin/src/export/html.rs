//! One page that needs nothing else. What an agent said is rendered and never run: every word is escaped, raw
//! HTML is shown as text, nothing is fetched, and the page's own policy forbids what escaping would miss.

mod code;
mod escape;
mod margin;
mod rendered;
mod tool_call;
mod turn;

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rejoin_core::{Turn, TurnId};
use sha2::{Digest, Sha256};

use super::Pen;
use crate::{ConversationView, Error};
use escape::label;

const STYLE: &str = include_str!("html/page.css");

/// Shows one branch and hides the others; in a page only if there are several.
const SCRIPT: &str = include_str!("html/branches.js");

/// All branches as one page, of which the one to the head is shown.
pub(super) fn write(view: &ConversationView<'_>, pen: &mut Pen<'_>) -> Result<(), Error> {
    let tree = Branches::of(view);
    let head = head(view, &tree, pen)?;
    pen.put(&head)?;
    for (at, turn) in tree.turns.iter().enumerate() {
        let section = turn::section(view, &tree, at, turn, pen)?;
        pen.put(&section)?;
    }
    pen.put(
        "</main>\n<footer>Kept by rejoin. What agents and tools said is shown as it was said.</footer>\n",
    )?;
    if tree.are_several() {
        pen.put(&format!("<script>{SCRIPT}</script>\n"))?;
    }
    pen.put("</body>\n</html>\n")
}

/// Which turn follows which.
struct Branches<'a> {
    turns: &'a [Turn],
    /// The turn before each, which always stands before it.
    parents: Vec<Option<usize>>,
    /// What follows each, and at the end what follows none.
    children: Vec<Vec<usize>>,
    /// On the path to the head.
    shown: Vec<bool>,
    /// How many turns there are up to each.
    numbers: Vec<usize>,
}

impl<'a> Branches<'a> {
    fn of(view: &'a ConversationView<'_>) -> Self {
        let turns = view.conversation().tree.turns();
        let places: HashMap<TurnId, usize> =
            turns.iter().enumerate().map(|(at, turn)| (turn.id, at)).collect();
        let parent = |(at, turn): (usize, &Turn)| {
            turn.parent.and_then(|parent| places.get(&parent)).copied().filter(|parent| *parent < at)
        };
        let parents: Vec<Option<usize>> = turns.iter().enumerate().map(parent).collect();
        let mut children = vec![Vec::new(); turns.len() + 1];
        let mut numbers: Vec<usize> = Vec::with_capacity(turns.len());
        for (at, parent) in parents.iter().enumerate() {
            children[parent.unwrap_or(turns.len())].push(at);
            numbers.push(parent.map_or(1, |parent| numbers[parent] + 1));
        }
        let mut shown = vec![false; turns.len()];
        for turn in view.path() {
            if let Some(at) = places.get(&turn.id) {
                shown[*at] = true;
            }
        }
        Self { turns, parents, children, shown, numbers }
    }

    /// Those that follow the same turn.
    fn siblings(&self, at: usize) -> &[usize] {
        &self.children[self.parents[at].unwrap_or(self.turns.len())]
    }

    fn are_several(&self) -> bool {
        self.children.iter().any(|children| children.len() > 1) || self.shown.iter().any(|shown| !shown)
    }
}

fn head(view: &ConversationView<'_>, tree: &Branches<'_>, pen: &mut Pen<'_>) -> Result<String, Error> {
    let title = pen.title(view)?;
    let title = if title.is_empty() { "A conversation".to_owned() } else { label(&title) };
    let scripts = if tree.are_several() { policy(SCRIPT) } else { "'none'".to_owned() };
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src {}; \
         script-src {scripts}; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n<p class=\"facts\">",
        policy(STYLE)
    );
    let mut facts = Vec::new();
    if let Some(info) = view.info() {
        facts.push(format!("<span class=\"path\">{}</span>", label(&pen.clean(&info.dir))));
    }
    let count = tree.turns.len();
    facts.push(if count == 1 { "1 turn".to_owned() } else { format!("{count} turns") });
    let agents = tree.turns.iter().filter_map(|turn| turn.agent.as_ref());
    let agents: BTreeSet<String> = agents.map(|agent| label(&pen.clean(agent.as_str()))).collect();
    if !agents.is_empty() {
        facts.push(agents.into_iter().collect::<Vec<_>>().join(", "));
    }
    facts.extend(margin::period(tree.turns));
    facts.extend(margin::costs(tree.turns));
    facts.push(format!("conversation {}", view.id().short()));
    for fact in facts {
        let _ = write!(out, "<span>{fact}</span>");
    }
    out.push_str("</p>\n");
    if tree.are_several() {
        chooser(view, tree, pen, &mut out);
    }
    out.push_str("</header>\n<main>\n");
    Ok(out)
}

/// Every end of a branch, and every turn that has a name.
fn chooser(view: &ConversationView<'_>, tree: &Branches<'_>, pen: &mut Pen<'_>, out: &mut String) {
    let conversation = &view.conversation().tree;
    let mut names: HashMap<TurnId, Vec<String>> = HashMap::new();
    for (name, turn) in conversation.branches() {
        names.entry(turn.id).or_default().push(pen.clean(name));
    }
    let head = conversation.head().map(|turn| turn.id);
    out.push_str("<p class=\"branches\"><label>Branch <select id=\"branches\">");
    for (at, turn) in tree.turns.iter().enumerate() {
        let here = head == Some(turn.id);
        let name = names.get(&turn.id).map(|names| names.join(", "));
        if !tree.children[at].is_empty() && !here && name.is_none() {
            continue;
        }
        let name = name.unwrap_or_else(|| if here { "current".to_owned() } else { "unnamed".to_owned() });
        let _ = write!(
            out,
            "<option value=\"{at}\"{}>{} · up to turn {} · {}</option>",
            if here { " selected" } else { "" },
            label(&name),
            tree.numbers[at],
            margin::time(&turn.started),
        );
    }
    out.push_str("</select></label></p>\n");
}

/// What lets exactly this text run, and no other.
fn policy(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests;
