//! What can be typed instead of a prompt.

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
}

const fn slash(name: &'static str, usage: &'static str, about: &'static str, takes: Takes) -> Slash {
    Slash { name, usage, about, takes }
}

/// All of them, in the order in which help lists them.
pub(super) const COMMANDS: &[Slash] = &[
    slash("agent", "[NAME]", "who does the next turns", Takes::Agent),
    slash("model", "[NAME]", "with which model, in the agent's own terms", Takes::Nothing),
    slash("fresh", "", "begin a new session with the next turn, told the history", Takes::Nothing),
    slash(
        "branch",
        "[MESSAGE [NAME]]",
        "go on from there; without a message, draw all branches",
        Takes::Message,
    ),
    slash("rewind", "[TURNS | MESSAGE]", "take back turns; nothing is deleted", Takes::Id),
    slash(
        "edit",
        "[MESSAGE] [--from-here]",
        "change what was said, in place or as a branch that is run",
        Takes::Message,
    ),
    slash("retry", "[MESSAGE]", "run a turn again", Takes::Message),
    slash("why", "[AGENT]", "would the next turn resume? each guard with its two values", Takes::Agent),
    slash("show", "[--tree] [--ids] [-n TURNS]", "what was said and done", Takes::Nothing),
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
    Unknown(&'a str),
}

/// Tells commands from prompts. A path is no command, and a blank in front makes anything a prompt.
pub(super) fn read(line: &str) -> Typed<'_> {
    if line.trim().is_empty() {
        return Typed::Nothing;
    }
    if let Some(prompt) = line.strip_prefix(' ').filter(|rest| rest.starts_with('/')) {
        return Typed::Prompt(prompt);
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
        "edit" if !bare => [vec!["@".to_owned()], words].concat(),
        _ => words,
    }
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
    }
}
