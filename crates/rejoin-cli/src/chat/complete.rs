//! What Tab offers: commands, agents, messages and branches.

use std::cell::OnceCell;

use rejoin::{ConversationId, Message, Rejoin};
use rustyline::Context;
use rustyline::completion::{Completer, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};

use super::slash_commands::{COMMANDS, Takes};
use crate::screen::label;
use crate::style;

/// Turns that are offered, the newest ones.
const OFFERED: usize = 20;

/// Knows what could be meant.
pub(super) struct ChatCompleter<'a> {
    rejoin: &'a Rejoin,
    /// The conversation, once there is one.
    pub(super) conversation: Option<ConversationId>,
    agents: OnceCell<Vec<(String, bool)>>,
}

impl<'a> ChatCompleter<'a> {
    pub(super) fn new(rejoin: &'a Rejoin) -> Self {
        Self { rejoin, conversation: None, agents: OnceCell::new() }
    }

    /// All agents, and whether they are installed.
    pub(super) fn agents(&self) -> &[(String, bool)] {
        self.agents.get_or_init(|| {
            let reports = self.rejoin.agents().into_iter();
            reports.map(|report| (report.agent.as_str().to_owned(), report.installed)).collect()
        })
    }

    /// Turns and branches, each with what is said about it.
    fn messages(&self, takes: Takes) -> Vec<(String, String)> {
        let Some(view) = self.conversation.and_then(|id| self.rejoin.open_conversation(id).ok()) else {
            return Vec::new();
        };
        let tree = &view.conversation().tree;
        // What is completed stands in the line as it is: a name that cannot be shown so is not offered.
        let mut words: Vec<(String, String)> = tree
            .branches()
            .filter(|(name, _)| label(name) == *name)
            .map(|(name, _)| (name.to_owned(), "branch".to_owned()))
            .collect();
        for (at, turn) in view.path().iter().enumerate().rev().take(OFFERED) {
            let said = view.messages(turn, 4096).unwrap_or_default();
            let said = said.first().map(Message::text).unwrap_or_default();
            let name = if takes == Takes::Id { turn.id.short() } else { (at + 1).to_string() };
            words.push((name, style::one_line(&said, 40)));
        }
        words
    }
}

impl Completer for ChatCompleter<'_> {
    type Candidate = Pair;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let typed = &line[..pos];
        if typed.ends_with('\\') {
            let newline = Pair { display: String::new(), replacement: "\n".into() };
            return Ok((pos - 1, vec![newline]));
        }
        let Some(command) = typed.strip_prefix('/') else { return Ok((pos, Vec::new())) };
        let Some((name, rest)) = command.split_once(' ') else {
            let known = COMMANDS.iter().map(|slash| (format!("/{}", slash.name), slash.about.to_owned()));
            return Ok((0, matching(typed, known)));
        };
        let words: Vec<(String, String)> = match COMMANDS.iter().find(|slash| slash.name == name) {
            _ if rest.contains(' ') => Vec::new(),
            Some(slash) if slash.takes == Takes::Agent => {
                let installed = self.agents().iter().filter(|(_, installed)| *installed);
                installed.map(|(agent, _)| (agent.clone(), String::new())).collect()
            }
            Some(slash) if slash.takes != Takes::Nothing => self.messages(slash.takes),
            _ => Vec::new(),
        };
        Ok((pos - rest.len(), matching(rest, words.into_iter())))
    }
}

/// Those that begin with what is typed, with a blank after them.
fn matching(typed: &str, words: impl Iterator<Item = (String, String)>) -> Vec<Pair> {
    let words = words.filter(|(word, _)| word.starts_with(typed));
    let pair = |(word, about): (String, String)| Pair {
        display: if about.is_empty() { word.clone() } else { format!("{word}  {about}") },
        replacement: format!("{word} "),
    };
    words.map(pair).collect()
}

impl Validator for ChatCompleter<'_> {
    /// Where keys cannot be bound, lines are put together here.
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(if style::dumb() && context.input().ends_with('\\') {
            ValidationResult::Incomplete
        } else {
            ValidationResult::Valid(None)
        })
    }
}

impl Hinter for ChatCompleter<'_> {
    type Hint = String;
}

impl Highlighter for ChatCompleter<'_> {}

impl rustyline::Helper for ChatCompleter<'_> {}
