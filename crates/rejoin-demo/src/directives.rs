//! The words of a message that make the agent do something. Pure; `help.txt` describes them.

use std::time::Duration;

use serde::Deserialize;

/// The classes of failure that rejoin tells apart.
const CLASSES: [&str; 9] = [
    "rate_limit",
    "server",
    "network",
    "login",
    "quota",
    "context_overflow",
    "invalid_history",
    "invalid_request",
    "other",
];

/// What a message asks for.
#[derive(PartialEq, Default, Debug)]
pub(crate) struct Script {
    /// Before the prompt is stored.
    pub(crate) early: Option<Early>,
    /// What to do with a resume.
    pub(crate) twist: Option<Twist>,
    /// One after the other.
    pub(crate) steps: Vec<Step>,
    /// How the turn ends.
    pub(crate) ending: Ending,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Early {
    Hang,
    Die,
}

/// A way to resume badly.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Twist {
    Reject,
    Lie,
    Reissue,
}

impl Twist {
    /// The one that the environment asks for.
    pub(crate) fn from_environment() -> Option<Self> {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| value == "1");
        [
            ("REJOIN_DEMO_REJECT", Self::Reject),
            ("REJOIN_DEMO_LIE", Self::Lie),
            ("REJOIN_DEMO_REISSUE", Self::Reissue),
        ]
        .into_iter()
        .find_map(|(name, twist)| set(name).then_some(twist))
    }
}

#[derive(PartialEq, Debug)]
pub(crate) enum Step {
    Think,
    Run(String),
    Write { path: String, text: String },
    Recite(String),
    Slow(u64),
    Clock(u64),
    Sleep(Duration),
    Ask(Question),
    Compact,
    Stderr(String),
    Fail { class: &'static str, message: String },
    Hang,
    Die,
    Exit(i32),
    Garbage,
    Flood { bytes: u64, line: u64, tools: bool },
    BigLine(u64),
    Child { time: Duration, hold: bool },
}

impl Step {
    /// The limit that the environment asks for.
    pub(crate) fn limit_from_environment() -> Option<Self> {
        let message = std::env::var("REJOIN_DEMO_LIMIT").ok().filter(|words| !words.is_empty())?;
        Some(Self::Fail { class: "quota", message })
    }
}

/// What is asked.
#[derive(PartialEq, Debug, Deserialize)]
pub(crate) struct Question {
    pub(crate) text: String,
    pub(crate) choices: Vec<String>,
}

impl Default for Question {
    fn default() -> Self {
        Self { text: "Tea or coffee?".into(), choices: vec!["tea".into(), "coffee".into()] }
    }
}

#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(crate) struct Ending {
    /// How long the end line is made.
    pub(crate) bytes: Option<u64>,
    pub(crate) no_newline: bool,
    pub(crate) linger: Option<Duration>,
}

impl Script {
    /// Reads the user's own words.
    pub(crate) fn of(message: &str) -> Self {
        let mut script = Self::default();
        let mut scan = Scan(message);
        while let Some(word) = scan.word() {
            let step = match word {
                "THINK" => Some(Step::Think),
                "TOOL-RUN" => scan.bracketed().or_else(|| scan.rest_of_line()).map(Step::Run),
                "WRITE" => scan.path_and_text().map(|(path, text)| Step::Write { path, text }),
                "RECITE" => scan.value(|word| Some(word.to_owned())).map(Step::Recite),
                "SLOW" => scan.value(number).map(Step::Slow),
                "CLOCK" => scan.value(number).map(Step::Clock),
                "SLEEP" => scan.value(seconds).map(Step::Sleep),
                "ASK" => Some(Step::Ask(scan.json().unwrap_or_default())),
                "COMPACT" => Some(Step::Compact),
                "STDERR" => scan.rest_of_line().map(Step::Stderr),
                "FAIL" => Some(scan.failure()),
                "HANG" => Some(Step::Hang),
                "DIE" => Some(Step::Die),
                "EXIT" => scan.value(|word| word.parse::<u8>().ok()).map(|code| Step::Exit(code.into())),
                "GARBAGE" => Some(Step::Garbage),
                "FLOOD" => scan.value(size).map(|bytes| Step::Flood {
                    bytes,
                    line: scan.value(size).unwrap_or(4096),
                    tools: scan.value(|word| (word == "tools").then_some(())).is_some(),
                }),
                "BIGLINE" => scan.value(size).map(Step::BigLine),
                "CHILD" => scan.value(seconds).map(|time| Step::Child { time, hold: false }),
                "CHILD-HOLD" => scan.value(seconds).map(|time| Step::Child { time, hold: true }),
                _ => {
                    script.set(word, &mut scan);
                    None
                }
            };
            script.steps.extend(step);
        }
        script
    }

    /// The words that are not steps.
    fn set(&mut self, word: &str, scan: &mut Scan<'_>) {
        match word {
            "HANG-EARLY" => self.early = Some(Early::Hang),
            "DIE-EARLY" => self.early = Some(Early::Die),
            "REJECT" => self.twist = Some(Twist::Reject),
            "LIE" => self.twist = Some(Twist::Lie),
            "REISSUE" => self.twist = Some(Twist::Reissue),
            "NOEOL" => self.ending.no_newline = true,
            "BIGEND" => self.ending.bytes = scan.value(size).or(self.ending.bytes),
            "LINGER" => self.ending.linger = scan.value(seconds).or(self.ending.linger),
            _ => {}
        }
    }
}

/// The rest of a message.
struct Scan<'a>(&'a str);

impl<'a> Scan<'a> {
    fn word(&mut self) -> Option<&'a str> {
        let text = self.0.trim_start();
        let (word, rest) = text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()));
        self.0 = rest;
        (!word.is_empty()).then_some(word)
    }

    /// The next word of the line, if it can be read as what is wanted; else it stays.
    fn value<T>(&mut self, read: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        let mut ahead = Scan(self.line());
        let value = read(ahead.word()?)?;
        self.0 = &self.0[self.line().len() - ahead.0.len()..];
        Some(value)
    }

    fn line(&self) -> &'a str {
        self.0.split('\n').next().unwrap_or_default()
    }

    fn rest_of_line(&mut self) -> Option<String> {
        let line = self.line();
        self.0 = &self.0[line.len()..];
        let text = line.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// `[text]`, with brackets inside as long as they are balanced.
    fn bracketed(&mut self) -> Option<String> {
        let text = self.0.trim_start().strip_prefix('[')?;
        let mut depth = 1;
        for (at, c) in text.char_indices() {
            depth += i32::from(c == '[') - i32::from(c == ']');
            if depth == 0 {
                self.0 = &text[at + 1..];
                return Some(text[..at].to_owned());
            }
        }
        None
    }

    /// A value as JSON, if one stands here.
    fn json<T: serde::de::DeserializeOwned>(&mut self) -> Option<T> {
        let mut values = serde_json::Deserializer::from_str(self.0).into_iter();
        let value = values.next()?.ok()?;
        self.0 = &self.0[values.byte_offset()..];
        Some(value)
    }

    fn path_and_text(&mut self) -> Option<(String, String)> {
        let path = self.value(|word| Some(word.to_owned()))?;
        Some((path, self.rest_of_line().unwrap_or_default()))
    }

    fn failure(&mut self) -> Step {
        let class = self.value(|word| CLASSES.into_iter().find(|class| *class == word)).unwrap_or("other");
        let message =
            self.rest_of_line().unwrap_or_else(|| format!("the demo agent was told to fail ({class})"));
        Step::Fail { class, message }
    }
}

fn number(word: &str) -> Option<u64> {
    word.parse().ok()
}

fn seconds(word: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(word.parse().ok()?).ok()
}

fn size(word: &str) -> Option<u64> {
    let units = [('k', 10), ('m', 20), ('g', 30)];
    for (unit, shift) in units {
        if let Some(count) = word.strip_suffix(unit) {
            return number(count)?.checked_mul(1 << shift);
        }
    }
    number(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_ask_for_nothing() {
        for message in
            ["", "hello", "EXIT the loop", "slow 5", "WRITE", "RECITE", "FLOOD", "SLOW\n5", "TOOL-RUN"]
        {
            assert_eq!(Script::of(message), Script::default(), "{message}");
        }
    }

    #[test]
    fn words_are_read_in_order_with_their_arguments() {
        let script = Script::of(
            "MARK-a THINK SLOW 3 TOOL-RUN [[ -f x ] && echo ä] SLEEP 0.5\nWRITE a/b some text \nEXIT 7",
        );
        assert_eq!(
            script.steps,
            [
                Step::Think,
                Step::Slow(3),
                Step::Run("[ -f x ] && echo ä".into()),
                Step::Sleep(Duration::from_millis(500)),
                Step::Write { path: "a/b".into(), text: "some text".into() },
                Step::Exit(7),
            ]
        );
    }

    #[test]
    fn a_command_without_brackets_is_the_rest_of_the_line() {
        let script = Script::of("TOOL-RUN echo DIE\nTHINK");
        assert_eq!(script.steps, [Step::Run("echo DIE".into()), Step::Think]);
    }

    #[test]
    fn sizes_have_units_and_optional_companions() {
        assert_eq!(Script::of("FLOOD 1k").steps, [Step::Flood { bytes: 1024, line: 4096, tools: false }]);
        assert_eq!(
            Script::of("FLOOD 2m 100 tools").steps,
            [Step::Flood { bytes: 2 << 20, line: 100, tools: true }]
        );
        assert_eq!(
            Script::of("FLOOD 5 tools THINK").steps,
            [Step::Flood { bytes: 5, line: 4096, tools: true }, Step::Think]
        );
    }

    #[test]
    fn failures_have_a_class_and_a_message() {
        let fail = |class, message: &str| Step::Fail { class, message: message.to_owned() };
        assert_eq!(Script::of("FAIL quota no more").steps, [fail("quota", "no more")]);
        assert_eq!(Script::of("FAIL because").steps, [fail("other", "because")]);
    }

    #[test]
    fn endings_and_early_words_are_set_apart() {
        let script = Script::of("LINGER 2 BIGEND 1k NOEOL DIE-EARLY LIE");
        assert_eq!(script.steps, []);
        assert_eq!(script.early, Some(Early::Die));
        assert_eq!(script.twist, Some(Twist::Lie));
        let linger = Some(Duration::from_secs(2));
        assert_eq!(script.ending, Ending { bytes: Some(1024), no_newline: true, linger });
    }
}
