//! What Tab offers: commands, agents, messages, branches, conversations, and files behind `@`.

use std::cell::OnceCell;
use std::path::Path;

use rejoin::{ConversationId, ListFilter, ListedConversation, Message, Permissions, Rejoin};
use rustyline::Context;
use rustyline::completion::{Completer, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};

use super::path_words;
use super::slash_commands::{COMMANDS, Takes};
use crate::screen::label;
use crate::style;

/// Turns that are offered, the newest ones.
const OFFERED: usize = 20;

/// Knows what could be meant.
pub(super) struct ChatCompleter<'a> {
    rejoin: &'a Rejoin,
    /// Files are looked for from here.
    dir: &'a Path,
    /// The conversation, once there is one.
    pub(super) conversation: Option<ConversationId>,
    agents: OnceCell<Vec<(String, bool)>>,
}

impl<'a> ChatCompleter<'a> {
    pub(super) fn new(rejoin: &'a Rejoin, dir: &'a Path) -> Self {
        Self { rejoin, dir, conversation: None, agents: OnceCell::new() }
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

impl ChatCompleter<'_> {
    /// `@src/ma`: the files it could be. One with blanks in its name stands in quotes.
    fn mention(&self, typed: &str) -> (usize, Vec<Pair>) {
        let nothing = (typed.len(), Vec::new());
        let Some(at) = typed.rfind('@') else { return nothing };
        if typed[..at].chars().next_back().is_some_and(|c| !c.is_whitespace() && c != '(') {
            return nothing;
        }
        let name = &typed[at + 1..];
        let (quoted, name) = name.strip_prefix('"').map_or((false, name), |name| (true, name));
        if name.contains('"') || (name.contains(char::is_whitespace) && !quoted) {
            return nothing;
        }
        let pair = |file: String| {
            let in_quotes = quoted || file.contains(char::is_whitespace);
            // In a directory the quotes are still open.
            let close = if in_quotes && !file.ends_with('/') { "\"" } else { "" };
            let replacement = format!("@{}{file}{close}", if in_quotes { "\"" } else { "" });
            file_pair(&file, replacement)
        };
        (at, path_words::beginning_with(name, self.dir).into_iter().map(pair).collect())
    }

    /// The last word of a command as a file; blanks have a backslash before them.
    fn file(&self, typed: &str) -> (usize, Vec<Pair>) {
        let mut blanks = typed.match_indices(' ').filter(|(at, _)| !typed[..*at].ends_with('\\'));
        let begin = blanks.next_back().map_or(0, |(at, _)| at + 1);
        let name = typed[begin..].replace("\\ ", " ");
        let pair = |file: String| file_pair(&file, file.replace(' ', "\\ "));
        (begin, path_words::beginning_with(&name, self.dir).into_iter().map(pair).collect())
    }

    /// The newest conversations here, by name where they have one.
    fn conversations(&self) -> Vec<(String, String)> {
        let filter =
            ListFilter { project: Some(self.dir.to_owned()), limit: Some(OFFERED), ..ListFilter::default() };
        let Ok(listing) = self.rejoin.list(&filter) else { return Vec::new() };
        let word = |listed: &ListedConversation| {
            let name = listed.name.clone().filter(|name| label(name) == *name);
            (name.unwrap_or_else(|| listed.id.short()), style::one_line(&listed.title, 40))
        };
        listing.conversations.iter().map(word).collect()
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
        let Some(command) = typed.strip_prefix('/') else { return Ok(self.mention(typed)) };
        let Some((name, rest)) = command.split_once(' ') else {
            let known = COMMANDS.iter().map(|slash| (format!("/{}", slash.name), slash.about.to_owned()));
            return Ok((0, matching(typed, known)));
        };
        let takes =
            COMMANDS.iter().find(|slash| slash.name == name).map_or(Takes::Nothing, |slash| slash.takes);
        if takes == Takes::File {
            return Ok(self.file(typed));
        }
        let words: Vec<(String, String)> = match takes {
            _ if rest.contains(' ') => Vec::new(),
            Takes::Nothing | Takes::File => Vec::new(),
            Takes::Agent => {
                let installed = self.agents().iter().filter(|(_, installed)| *installed);
                installed.map(|(agent, _)| (agent.clone(), String::new())).collect()
            }
            Takes::Level => levels().map(|level| (level.name().to_owned(), String::new())).collect(),
            Takes::Conversation => self.conversations(),
            Takes::Message | Takes::Id => self.messages(takes),
        };
        Ok((pos - rest.len(), matching(rest, words.into_iter())))
    }
}

/// All levels of permissions.
pub(super) fn levels() -> impl Iterator<Item = Permissions> {
    [Permissions::Read, Permissions::Edit, Permissions::Full, Permissions::Agent].into_iter()
}

/// A file as it stands in the line; behind a directory, its files follow.
fn file_pair(file: &str, replacement: String) -> Pair {
    let blank = if file.ends_with('/') { "" } else { " " };
    Pair { display: file.to_owned(), replacement: replacement + blank }
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
