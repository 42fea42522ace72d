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
    screen::say_line(Style::YELLOW.when(colour()), line);
}

/// An error, with all it has to say.
pub(crate) fn error(error: &anyhow::Error) {
    let mut out = Painted::default();
    out.style(Style::RED.when(colour()), "rejoin:");
    out.text(&format!(" {}\n", screen::set_off(&format!("{error:#}"))));
    screen::say(&out);
}

/// `18 bytes`, `18 KB`, `2.4 MB`.
pub(crate) fn bytes(count: usize) -> String {
    match count {
        1 => "1 byte".into(),
        0..1000 => format!("{count} bytes"),
        1000..10_000 => format!("{:.1} KB", count as f64 / 1e3),
        10_000..1_000_000 => format!("{} KB", count / 1000),
        _ => format!("{:.1} MB", count as f64 / 1e6),
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

/// `3 minutes ago`.
pub(crate) fn age(then: SystemTime) -> String {
    let seconds = SystemTime::now().duration_since(then).unwrap_or(Duration::ZERO).as_secs();
    let (count, unit) = match seconds {
        0..60 => return "just now".into(),
        60..3600 => (seconds / 60, "minute"),
        3600..86_400 => (seconds / 3600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" })
}

/// The age of a time as journals write it; the text itself if it is none.
pub(crate) fn since(timestamp: &str) -> String {
    match timestamp.parse::<jiff::Timestamp>() {
        Ok(then) => age(then.into()),
        Err(_) => timestamp.to_owned(),
    }
}

/// `now`, `3m`, `5h`, `12d`.
pub(crate) fn short_age(then: SystemTime) -> String {
    let seconds = SystemTime::now().duration_since(then).unwrap_or(Duration::ZERO).as_secs();
    match seconds {
        0..60 => "now".into(),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// `950`, `18k`, `2.4M`.
pub(crate) fn count(count: u64) -> String {
    match count {
        0..1000 => count.to_string(),
        1000..10_000 => format!("{:.1}k", count as f64 / 1e3),
        10_000..1_000_000 => format!("{}k", count / 1000),
        _ => format!("{:.1}M", count as f64 / 1e6),
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
        assert_eq!([elapsed(340), elapsed(12_400), elapsed(200_000)], ["0.34 s", "12.4 s", "3 min 20 s"]);
    }
}
