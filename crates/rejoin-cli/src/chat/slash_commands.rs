//! What can be typed instead of a prompt.

use super::{file_mentions, path_words};

/// A command at the prompt.
pub(super) struct Slash {
    pub(super) name: &'static str,
    pub(super) usage: &'static str,
    pub(super) about: &'static str,
    /// What its first argument is, for completion.
    pub(super) takes: Takes,
}

/// What can be completed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    Agent,
    /// A branch or a turn, by its number.
    Message,
    /// The same, by its id: a number would mean something else.
    Id,
    /// A file.
    File,
    /// A level of permissions.
    Level,
    /// A conversation of this project.
    Conversation,
}

const fn slash(name: &'static str, usage: &'static str, about: &'static str, takes: Takes) -> Slash {
    Slash { name, usage, about, takes }
}

/// All of them, in the order in which help lists them.
pub(super) const COMMANDS: &[Slash] = &[
    slash("new", "[PROMPT]", "begin another conversation; this one is kept", Takes::Nothing),
    slash("ls", "[CONVERSATION]", "pick another conversation of this project", Takes::Conversation),
    slash("agent", "[NAME]", "who does the next turns", Takes::Agent),
    slash("model", "[NAME]", "with which model, in the agent's own terms", Takes::Nothing),
    slash("permissions", "[LEVEL]", "what the agent may do: read, edit, full, agent", Takes::Level),
    slash("attach", "[FILE… | -]", "send files along with the next prompt; - takes them back", Takes::File),
    slash("fresh", "", "begin a new session with the next turn, told the history", Takes::Nothing),
    slash("branch", "[MESSAGE [NAME]]", "go on from there; alone, draw all branches", Takes::Message),
    slash("tree", "", "draw all branches", Takes::Nothing),
    slash("rewind", "[TURNS | MESSAGE]", "take back turns; nothing is deleted", Takes::Id),
    slash("edit", "[MESSAGE] [--from-here]", "change what was said, in place or as a branch", Takes::Message),
    slash("retry", "[MESSAGE]", "run a turn again", Takes::Message),
    slash("answer", "", "answer what an agent asks in this conversation elsewhere", Takes::Nothing),
    slash("why", "[AGENT]", "would the next turn resume? each guard with its values", Takes::Agent),
    slash("show", "[--tree] [--ids] [-n TURNS]", "what was said and done, all of it", Takes::Nothing),
    slash("cost", "", "tokens, dollars and time so far", Takes::Nothing),
    slash("copy", "[MESSAGE]", "the last answer, or that of a turn, into the clipboard", Takes::Message),
    slash("export", "[FILE] [--redact]", "write it to a file: .md, .html, .json, .jsonl", Takes::File),
    slash("name", "NAME", "name the conversation", Takes::Nothing),
    slash("help", "", "this list", Takes::Nothing),
    slash("quit", "", "leave, as Ctrl-D does", Takes::Nothing),
];

/// What a person typed.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Typed<'a> {
    Nothing,
    Prompt(&'a str),
    Command(&'static str, &'a str),
    /// A command of the shell; with `keep`, what it prints goes to the agent.
    Shell {
        command: &'a str,
        keep: bool,
    },
    Unknown(&'a str),
}

/// Tells commands from prompts. A path is no command, and a blank in front makes anything a prompt.
pub(super) fn read(line: &str) -> Typed<'_> {
    if line.trim().is_empty() {
        return Typed::Nothing;
    }
    if let Some(prompt) = line.strip_prefix(' ').filter(|rest| rest.starts_with(['/', '!'])) {
        return Typed::Prompt(prompt);
    }
    if let Some(command) = line.strip_prefix('!') {
        let (command, keep) = command.strip_prefix('!').map_or((command, false), |command| (command, true));
        return Typed::Shell { command: command.trim(), keep };
    }
    let Some(command) = line.strip_prefix('/') else { return Typed::Prompt(line) };
    let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    if name.contains('/') {
        return Typed::Prompt(line);
    }
    let name = if name == "exit" { "quit" } else { name };
    match COMMANDS.iter().find(|known| known.name == name) {
        Some(known) => Typed::Command(known.name, rest.trim()),
        None => Typed::Unknown(name),
    }
}

/// The arguments of the command of the shell that does the same, conversation left out.
pub(super) fn arguments(name: &str, rest: &str) -> Vec<String> {
    let mut words: Vec<String> = rest.split_whitespace().map(str::to_owned).collect();
    let flag = |flag: &str, word: String| vec![flag.to_owned(), word];
    let bare = words.first().is_some_and(|word| !word.starts_with('-'));
    match name {
        "name" => vec![rest.to_owned()],
        "branch" if bare => {
            let mut arguments = flag("--at", words.remove(0));
            if !words.is_empty() {
                arguments.extend(flag("--name", words.join(" ")));
            }
            arguments
        }
        "rewind" if bare && words[0].parse::<usize>().is_err() => {
            [flag("--to", words.remove(0)), words].concat()
        }
        "retry" if bare => [flag("--at", words.remove(0)), words].concat(),
        "why" if bare => [flag("--agent", words.remove(0)), words].concat(),
        "export" => export_arguments(rest),
        "edit" if !bare => [vec!["@".to_owned()], words].concat(),
        _ => words,
    }
}

/// A bare word is the file, whose ending says what it looks like.
fn export_arguments(rest: &str) -> Vec<String> {
    let mut arguments = path_words::words(rest);
    let named = |flag: &str| arguments.iter().any(|word| word.split('=').next() == Some(flag));
    let (has_format, has_file) = (named("--format"), named("--to"));
    let file = arguments.first().filter(|word| !word.starts_with('-') && !has_file).cloned();
    let Some(file) = file else { return arguments };
    arguments.remove(0);
    let format = match file.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "html" | "htm" => "html",
        "json" => "json",
        "jsonl" => "jsonl",
        "rejoin" => "bundle",
        _ => "md",
    };
    let file = file_mentions::from_home(&file).to_string_lossy().into_owned();
    arguments.extend(["--to".to_owned(), file]);
    if !has_format {
        arguments.extend(["--format".to_owned(), format.to_owned()]);
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_what_a_blank_stands_before_are_prompts() {
        assert_eq!(read("/agent demo2 "), Typed::Command("agent", "demo2"));
        assert_eq!(read("/exit"), Typed::Command("quit", ""));
        assert_eq!(read("/agnet"), Typed::Unknown("agnet"));
        assert_eq!(read("/etc/hosts is wrong"), Typed::Prompt("/etc/hosts is wrong"));
        assert_eq!(read(" /agent is a word"), Typed::Prompt("/agent is a word"));
        assert_eq!(read("  two blanks"), Typed::Prompt("  two blanks"));
        assert_eq!(read(" \n"), Typed::Nothing);
        assert_eq!(read("!ls -l"), Typed::Shell { command: "ls -l", keep: false });
        assert_eq!(read("!! make"), Typed::Shell { command: "make", keep: true });
        assert_eq!(read(" !important"), Typed::Prompt("!important"));
    }

    #[test]
    fn arguments_are_those_of_the_shell() {
        assert_eq!(arguments("branch", "@~2 other way"), ["--at", "@~2", "--name", "other way"]);
        assert_eq!(arguments("branch", "--at 3"), ["--at", "3"]);
        assert_eq!(arguments("rewind", "2"), ["2"]);
        assert_eq!(arguments("rewind", "4f1c"), ["--to", "4f1c"]);
        assert_eq!(arguments("edit", "--from-here"), ["@", "--from-here"]);
        assert_eq!(arguments("edit", "2"), ["2"]);
        assert_eq!(arguments("name", "a name"), ["a name"]);
        assert_eq!(arguments("why", ""), [""; 0]);
        assert_eq!(
            arguments("export", "'a b.html' --redact"),
            ["--redact", "--to", "a b.html", "--format", "html"]
        );
        assert_eq!(arguments("export", "--format json --to x"), ["--format", "json", "--to", "x"]);
    }
}
