//! How things look for a person: sizes, times, colours only where they are wanted.

use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use crate::screen::{self, Painted, Style};
use crate::tty;

pub(crate) use rejoin::{cut_to_width as cut, one_line};

/// Whether stderr is a terminal.
pub(crate) fn on_terminal() -> bool {
    static TERMINAL: LazyLock<bool> = LazyLock::new(tty::on_stderr);
    *TERMINAL
}

/// Whether stderr takes colours.
pub(crate) fn colour() -> bool {
    static PLAIN: LazyLock<bool> =
        LazyLock::new(|| std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()));
    on_terminal() && !*PLAIN && !dumb()
}

/// Whether stdout takes colours.
pub(crate) fn stdout_colour() -> bool {
    crate::table::in_colour() && !dumb()
}

/// Whether the terminal only takes lines: nothing can be moved, nothing coloured.
pub(crate) fn dumb() -> bool {
    static DUMB: LazyLock<bool> = LazyLock::new(|| {
        let term = std::env::var_os("TERM").unwrap_or_default();
        ["dumb", "cons25", "emacs"].iter().any(|name| term.eq_ignore_ascii_case(name))
    });
    *DUMB
}

/// A line of talk, dim on a terminal.
pub(crate) fn talk(line: &str) {
    screen::say_line(Style::DIM.when(colour()), line);
}

/// A line that should be seen.
pub(crate) fn loud(line: &str) {
    screen::say_line(Style::WARNING.when(colour()), line);
}

/// What failed, in a line.
pub(crate) fn failure(line: &str) {
    screen::say_line(Style::RED.when(colour()), line);
}

/// An error, with all it has to say.
pub(crate) fn error(error: &anyhow::Error) {
    const NAME: &str = "rejoin:";
    let text = screen::in_rows(&screen::set_off(&format!("{NAME} {error:#}")));
    let mut out = Painted::default();
    out.style(Style::RED.when(colour()), NAME);
    out.text(text.strip_prefix(NAME).unwrap_or(&text));
    out.text("\n");
    screen::say(&out);
}

/// `18 bytes`, `18 KB`, `2.4 MB`.
pub(crate) fn bytes(count: usize) -> String {
    match in_thousands(count as u64, [" KB", " MB"]) {
        None => plural(count, "byte"),
        Some(text) => text,
    }
}

/// `diagram.png · image/png · 12 KB`
pub(crate) fn attachment(attachment: &rejoin::Attachment) -> String {
    let rejoin::Attachment { name, media_type, size, .. } = attachment;
    format!("{} · {} · {}", cut(name, 80), cut(media_type, 40), bytes(*size as usize))
}

/// `1,204`.
pub(crate) fn number(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `12.4 s`, `3 min 20 s`.
pub(crate) fn elapsed(milliseconds: u64) -> String {
    match milliseconds {
        0..10_000 => format!("{:.2} s", milliseconds as f64 / 1e3),
        10_000..100_000 => format!("{:.1} s", milliseconds as f64 / 1e3),
        _ => format!("{} min {} s", milliseconds / 60_000, milliseconds / 1000 % 60),
    }
}

/// `12 s`, `3 min 20 s`: what goes on.
pub(crate) fn whole_seconds(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..100 => format!("{seconds} s"),
        seconds => elapsed(seconds * 1000),
    }
}

/// `3 minutes ago`.
pub(crate) fn age(then: SystemTime) -> String {
    match count_of_units(then) {
        None => "just now".into(),
        Some((count, unit)) => format!("{} ago", plural(count, unit)),
    }
}

/// `now`, `3m`, `5h`, `12d`.
pub(crate) fn short_age(then: SystemTime) -> String {
    match count_of_units(then) {
        None => "now".into(),
        Some((count, unit)) => format!("{count}{}", &unit[..1]),
    }
}

/// How long ago, in the largest unit there is one of; `None` for less than a minute.
fn count_of_units(then: SystemTime) -> Option<(usize, &'static str)> {
    let seconds = SystemTime::now().duration_since(then).unwrap_or(Duration::ZERO).as_secs() as usize;
    match seconds {
        0..60 => None,
        60..3600 => Some((seconds / 60, "minute")),
        3600..86_400 => Some((seconds / 3600, "hour")),
        _ => Some((seconds / 86_400, "day")),
    }
}

/// The age of a time as journals write it; the text itself if it is none.
pub(crate) fn since(timestamp: &str) -> String {
    match timestamp.parse::<jiff::Timestamp>() {
        Ok(then) => age(then.into()),
        Err(_) => timestamp.to_owned(),
    }
}

/// The first characters of an agent's own session id.
pub(crate) fn short_session(session: &str) -> &str {
    session.get(..8).unwrap_or(session)
}

/// `950`, `18k`, `2.4M`.
pub(crate) fn count(count: u64) -> String {
    in_thousands(count, ["k", "M"]).unwrap_or_else(|| count.to_string())
}

/// A number of which only the first digits matter, with what a thousand and a million are called; `None` if it is
/// smaller than that.
fn in_thousands(count: u64, [thousand, million]: [&str; 2]) -> Option<String> {
    match count {
        0..1000 => None,
        1000..10_000 => Some(format!("{:.1}{thousand}", count as f64 / 1e3)),
        10_000..1_000_000 => Some(format!("{}{thousand}", count / 1000)),
        _ => Some(format!("{:.1}{million}", count as f64 / 1e6)),
    }
}

/// `$0.0042`, `$1.20`.
pub(crate) fn dollars(cost: f64) -> String {
    if cost > 0.0 && cost < 0.01 { format!("${cost:.4}") } else { format!("${cost:.2}") }
}

/// The name of a conversation, else how it begins.
pub(crate) fn title(name: Option<&str>, beginning: &str, width: usize) -> String {
    name.map_or_else(|| one_line(beginning, width), |name| cut(name, width))
}

/// A path with the home directory as `~`.
pub(crate) fn home_path(path: &str) -> String {
    match std::env::var("HOME") {
        Ok(home) if !home.is_empty() && path == home => "~".into(),
        Ok(home) if !home.is_empty() => match path.strip_prefix(&format!("{home}/")) {
            Some(rest) => format!("~/{rest}"),
            None => path.to_owned(),
        },
        _ => path.to_owned(),
    }
}

/// `1 turn`, `3 turns`, `2 branches`.
pub(crate) fn plural(count: usize, word: &str) -> String {
    let ending = match word {
        _ if count == 1 => "",
        word if word.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{count} {word}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_as_people_write_them() {
        assert_eq!([number(0), number(1204), number(11_980_000)], ["0", "1,204", "11,980,000"]);
        assert_eq!(
            [bytes(1), bytes(10), bytes(1800), bytes(18_432)],
            ["1 byte", "10 bytes", "1.8 KB", "18 KB"]
        );
        assert_eq!(
            [count(950), count(9_940), count(18_432), count(2_400_000)],
            ["950", "9.9k", "18k", "2.4M"]
        );
        let ago = |seconds| SystemTime::now() - Duration::from_secs(seconds);
        assert_eq!([age(ago(59)), age(ago(61)), age(ago(7200))], ["just now", "1 minute ago", "2 hours ago"]);
        assert_eq!([short_age(ago(59)), short_age(ago(61)), short_age(ago(90_000))], ["now", "1m", "1d"]);
        assert_eq!([elapsed(340), elapsed(12_400), elapsed(200_000)], ["0.34 s", "12.4 s", "3 min 20 s"]);
    }
}
