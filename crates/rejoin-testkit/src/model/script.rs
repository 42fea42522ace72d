//! The rule of answering and the words of the prompt that change it. Pure: text in, decision out.

use serde_json::Value;

const MARK: &str = "MARK-";

/// What the words of a prompt ask for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Script {
    /// Answer with this failure instead.
    pub(super) failure: Option<Failure>,
    /// Those who speak this protocol have used up their allowance, whatever else is asked for.
    pub(super) limit_of: Option<String>,
    /// The failure is for the first time only.
    pub(super) once: bool,
    /// Call this tool before answering.
    pub(super) tool: Option<ToolCall>,
    /// Say something that was never said before.
    pub(super) news: bool,
    /// How the answer is delivered.
    pub(super) manner: Manner,
}

/// A failure by HTTP status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
    Server,
    Overloaded,
    RateLimited,
    Unauthorized,
    BadRequest,
    /// The allowance is used up, told as the service itself tells it.
    UsageLimit,
}

/// A tool the model would like the agent to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ToolCall {
    Run(String),
    Echo(String),
    Sleep(u32),
    Write(String),
    Ask,
}

impl ToolCall {
    /// The call as a shell command, for agents whose only tool is a shell.
    pub(super) fn command(&self) -> Option<String> {
        match self {
            Self::Run(command) => Some(command.clone()),
            Self::Echo(word) => Some(format!("echo {word}")),
            Self::Sleep(seconds) => Some(format!("sleep {seconds}; echo slept")),
            Self::Write(path) => Some(format!("echo written > {path}")),
            Self::Ask => None,
        }
    }
}

/// How an answer is delivered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Manner {
    #[default]
    Plain,
    Slow,
    Hang,
    FailMidway,
    Cut,
}

impl Script {
    /// What to answer with instead, to somebody who speaks this protocol.
    pub(super) fn failure_in(&self, protocol: &str) -> Option<Failure> {
        let is_limited = self.limit_of.as_deref() == Some(protocol);
        self.failure.or(is_limited.then_some(Failure::UsageLimit))
    }

    /// Reads the words of the newest prompt. Only those after its last mark count: words quoted from earlier
    /// turns (a replay, a catch-up) must not act again.
    pub(super) fn of(prompt: &str) -> Self {
        let text = prompt.rfind(MARK).map_or(prompt, |at| &prompt[at..]);
        let has = |word| has_word(text, word);
        let once = has("ONCE500") || has("ONCE429");
        let failure = if has("FAIL500") || has("ONCE500") {
            Some(Failure::Server)
        } else if has("OVERLOAD") {
            Some(Failure::Overloaded)
        } else if has("RATE429") || has("ONCE429") {
            Some(Failure::RateLimited)
        } else if has("AUTH401") {
            Some(Failure::Unauthorized)
        } else if has("BAD400") {
            Some(Failure::BadRequest)
        } else {
            None
        };
        let tool = None
            .or_else(|| bracketed_after(text, "TOOL-RUN [").map(ToolCall::Run))
            .or_else(|| word_after(text, "TOOL-WRITE ").map(ToolCall::Write))
            .or_else(|| word_after(text, "TOOL-ECHO ").map(ToolCall::Echo))
            .or_else(|| number_after(text, "TOOL-SLEEP ").map(ToolCall::Sleep))
            .or_else(|| has("ASKUSER").then_some(ToolCall::Ask));
        let manner = if has("HANG") {
            Manner::Hang
        } else if has("MIDFAIL") {
            Manner::FailMidway
        } else if has("CUT") {
            Manner::Cut
        } else if has("SLOW") {
            Manner::Slow
        } else {
            Manner::Plain
        };
        let limit_of = word_after(text, "LIMIT-OF ");
        let once = once && !has("FAIL500") && !has("RATE429");
        Self { failure, limit_of, once, tool, news: has("NEWS"), manner }
    }
}

/// The answer that proves what the model was sent.
pub(super) fn seen(items: &[Value], users: &[String]) -> String {
    let marked = users.iter().filter(|text| !marks_in(text).is_empty()).count();
    format!("SEEN n={marked} marks={}", marks(items).join(","))
}

/// Every distinct mark in these documents, in order of appearance.
pub(super) fn marks(items: &[Value]) -> Vec<String> {
    let mut found = Vec::new();
    for item in items {
        collect_marks(item, &mut found);
    }
    found
}

fn collect_marks(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            for mark in marks_in(text) {
                if !found.contains(&mark) {
                    found.push(mark);
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|v| collect_marks(v, found)),
        Value::Object(fields) => fields.values().for_each(|v| collect_marks(v, found)),
        _ => {}
    }
}

fn marks_in(text: &str) -> Vec<String> {
    text.match_indices(MARK)
        .filter_map(|(at, _)| {
            let name: String = text[at + MARK.len()..]
                .chars()
                .take_while(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
                .collect();
            (!name.is_empty()).then(|| format!("{MARK}{name}"))
        })
        .collect()
}

/// Whether a block of text was added by the agent itself and is nobody's prompt.
pub(super) fn is_reminder(text: &str) -> bool {
    const OPENINGS: [&str; 7] = [
        "<system-reminder",
        "<session_context",
        "<environment_context",
        "<user_instructions",
        "<permissions",
        "<skills",
        "<INSTRUCTIONS",
    ];
    let text = text.trim_start();
    OPENINGS.iter().any(|opening| text.starts_with(opening))
}

fn has_word(text: &str, word: &str) -> bool {
    let joins = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word).any(|(at, _)| {
        !joins(text[..at].chars().next_back()) && !joins(text[at + word.len()..].chars().next())
    })
}

fn word_after(text: &str, key: &str) -> Option<String> {
    let rest = &text[text.find(key)? + key.len()..];
    let word = rest.split_whitespace().next()?;
    rest.starts_with(word).then(|| word.to_owned())
}

fn number_after(text: &str, key: &str) -> Option<u32> {
    let rest = &text[text.find(key)? + key.len()..];
    rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()
}

fn bracketed_after(text: &str, key: &str) -> Option<String> {
    let rest = &text[text.find(key)? + key.len()..];
    rest.find(']').map(|end| rest[..end].to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_are_counted_and_marks_are_listed_once_in_order() {
        let items =
            [json!({"content": "MARK-one, MARK-two"}), json!({"content": [{"text": "MARK-one"}]}), json!({})];
        let users = ["MARK-one, MARK-two".to_owned(), "MARK-one".to_owned(), "MARK-".to_owned()];
        assert_eq!(seen(&items, &users), "SEEN n=2 marks=MARK-one,MARK-two");
        assert_eq!(seen(&[], &[]), "SEEN n=0 marks=");
    }

    #[test]
    fn words_before_the_last_mark_do_not_act() {
        assert_eq!(Script::of("MARK-a FAIL500 then MARK-b"), Script::default());
        assert_eq!(Script::of("MARK-a MARK-b FAIL500").failure, Some(Failure::Server));
        assert_eq!(Script::of("no mark: SLOW").manner, Manner::Slow);
    }

    #[test]
    fn only_whole_words_act() {
        assert_eq!(Script::of("SLOWLY CUTTING XHANG"), Script::default());
        assert_eq!(Script::of("please CUT.").manner, Manner::Cut);
    }

    #[test]
    fn tools_carry_their_arguments() {
        let tool = |text| Script::of(text).tool;
        assert_eq!(tool("TOOL-ECHO hello there"), Some(ToolCall::Echo("hello".into())));
        assert_eq!(tool("TOOL-RUN [ls -l | wc -l] now"), Some(ToolCall::Run("ls -l | wc -l".into())));
        assert_eq!(tool("TOOL-SLEEP 30"), Some(ToolCall::Sleep(30)));
        assert_eq!(tool("TOOL-WRITE /a/b.txt"), Some(ToolCall::Write("/a/b.txt".into())));
        assert_eq!(tool("ASKUSER"), Some(ToolCall::Ask));
        assert_eq!(tool("TOOL-ECHO"), None);
    }

    #[test]
    fn a_limit_is_one_vendors() {
        let script = Script::of("MARK-a LIMIT-OF anthropic");
        assert_eq!(script.failure_in("anthropic"), Some(Failure::UsageLimit));
        assert_eq!(script.failure_in("responses"), None);
    }

    #[test]
    fn a_failure_for_once_says_so() {
        assert!(Script::of("ONCE500").once);
        assert!(!Script::of("ONCE500 FAIL500").once);
        let limited = Script::of("ONCE429");
        assert!(limited.once && limited.failure == Some(Failure::RateLimited));
        assert!(!Script::of("ONCE429 RATE429").once);
    }
}
