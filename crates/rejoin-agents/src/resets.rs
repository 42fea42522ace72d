//! When a limit resets, by the words in which agents and the services behind them tell it.

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};

use crate::failures::{Words, says};

/// What is told, and how it is written.
type Row = (&'static str, Written);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Written {
    /// Seconds since 1970.
    Epoch,
    /// Seconds from now, as a number.
    Seconds,
    /// A time from now: `4h28m20s`, `2 days 17 hours 14 minutes`, `231 min`.
    Span,
    /// A time of the clock, perhaps with a day before it and a zone behind it: `3:40pm (Asia/Tokyo)`,
    /// `Nov 21, 3pm (UTC)`, `Jul 5th, 2026 8:19 PM`. Without a day it is the next such time, without a zone a local one.
    Clock,
}

use Written::{Clock, Epoch, Seconds, Span as For};

/// The first of these whose words stand there, in lower case, and are followed by a time, tells it. Agents hand on each
/// other's services' words, so there is one table for all of them. To add a wording, add a row, and to the test below
/// what was seen.
const TABLE: &[Row] = &[
    // The service of Codex, handed on whole by Pi 0.73 and by proxies.
    ("\"resets_at\":", Epoch),
    ("\"resets_in_seconds\":", Seconds),
    // Claude Code 1.0: `Claude AI usage limit reached|1749924000`.
    ("limit reached|", Epoch),
    // Gemini CLI 0.8 to 0.61: `Your quota will reset after 8h44m7s.`
    ("reset after ", For),
    // OpenCode 1.18: `5 hour usage limit reached. It will reset in 2 hours 5 minutes.`
    ("will reset in ", For),
    // Pi 0.74: `Try again in ~231 min.`
    ("try again in ~", For),
    // Codex 0.39: `or try again in 5 days 22 hours 11 minutes.`
    ("try again in ", For),
    // Codex 0.125 to 0.166: `or try again at 3:05 PM.`, `or try again at Jul 5th, 2026 8:19 PM.`
    ("try again at ", Clock),
    // Gemini CLI 0.61, in its own interface.
    ("access resets at ", Clock),
    // Claude Code 1.0: `Your limit will reset at 1pm (Etc/GMT+5).`
    ("will reset at ", Clock),
    // Claude Code 2.0 to 2.1.226: `You've hit your session limit · resets 3:40pm (Asia/Tokyo)`.
    ("resets at ", Clock),
    ("resets ", Clock),
];

/// Words of an attempt that will be repeated because of a limit, whichever agent tells of it.
const LIMITED: Words = "429 | rate limit | rate_limit | ratelimit | too many requests | quota | usage limit | \
                        usage_limit | exhausted | throttl";

/// Whether an attempt that is about to be repeated failed at a limit, and not for another reason.
pub fn tells_of_limit(words: &str) -> bool {
    says(words, LIMITED)
}

/// No limit that people wait for is longer.
const LONGEST_DAYS: i64 = 62;

/// When the limit that these words are about resets; `None` if they do not tell. Local times are those of `now`.
pub fn reset_time(words: &str, now: &Zoned) -> Option<Timestamp> {
    // Words are looked for without case, and places in both texts are the same.
    let lower = words.to_ascii_lowercase();
    let told = |(key, written): &Row| {
        let mut rests = lower.match_indices(key).map(|(at, key)| lower[at + key.len()..].trim_start());
        rests.find_map(|rest| read(rest, *written, words, now))
    };
    let (earliest, latest) = (now.timestamp() - Span::new().minutes(1), now.timestamp() + days(LONGEST_DAYS));
    TABLE.iter().find_map(told).filter(|at| (earliest..=latest).contains(at))
}

fn days(days: i64) -> jiff::SignedDuration {
    jiff::SignedDuration::from_hours(24 * days)
}

fn read(rest: &str, written: Written, words: &str, now: &Zoned) -> Option<Timestamp> {
    match written {
        Epoch => Timestamp::from_second(number(rest)?.0).ok(),
        Seconds => after(now, number(rest)?.0),
        For => after(now, span(rest)?),
        Clock => clock(rest, words, now),
    }
}

fn after(now: &Zoned, seconds: i64) -> Option<Timestamp> {
    now.timestamp().checked_add(jiff::SignedDuration::from_secs(seconds)).ok()
}

/// The whole number a text begins with, and what follows.
fn number(text: &str) -> Option<(i64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// The seconds of `4h28m20s`, `2 days 17 hours 14 minutes`.
fn span(text: &str) -> Option<i64> {
    let (mut seconds, mut rest) = (0_i64, text);
    let mut any = false;
    while let Some((count, behind)) = number(rest) {
        // `12.5s`: parts of seconds do not matter.
        let behind = match behind.strip_prefix('.').and_then(number) {
            Some((_, behind)) => behind,
            None => behind,
        };
        let behind = behind.trim_start();
        let end = behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len());
        let unit = match &behind[..end] {
            "d" | "day" | "days" => 86_400,
            "h" | "hr" | "hrs" | "hour" | "hours" => 3600,
            "m" | "min" | "mins" | "minute" | "minutes" => 60,
            "s" | "sec" | "secs" | "second" | "seconds" => 1,
            _ => break,
        };
        seconds = seconds.checked_add(count.checked_mul(unit)?)?;
        any = true;
        rest = behind[end..].trim_start_matches([' ', ',']);
        rest = rest.strip_prefix("and ").unwrap_or(rest);
    }
    any.then_some(seconds)
}

/// A time of the clock; `words` has the zone's name as it is written.
fn clock(rest: &str, words: &str, now: &Zoned) -> Option<Timestamp> {
    let (date, behind) = day(rest, now).map_or((None, rest), |(date, behind)| (Some(date), behind));
    let (time, behind) = time(behind)?;
    let zone = zone(behind, words).unwrap_or_else(|| now.time_zone().clone());
    let there = now.with_time_zone(zone.clone());
    let on = |date: Date| date.to_datetime(time).to_zoned(zone.clone()).ok();
    if let Some(date) = date {
        return on(date).map(|at| at.timestamp());
    }
    // A clock is read to the minute.
    let today = on(there.date()).filter(|at| at.timestamp() + Span::new().minutes(1) >= now.timestamp());
    today.or_else(|| on(there.date().tomorrow().ok()?)).map(|at| at.timestamp())
}

/// `nov 21, `, `jul 5th, 2026 `, `nov 21 at `; without a year it is the next such day.
fn day<'a>(text: &'a str, now: &Zoned) -> Option<(Date, &'a str)> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let month = 1 + MONTHS.iter().position(|name| text.starts_with(name))?;
    let behind = text.trim_start_matches(|c: char| c.is_ascii_alphabetic()).trim_start_matches(['.', ' ']);
    let (day, behind) = number(behind)?;
    let behind = ["st", "nd", "rd", "th"].iter().find_map(|end| behind.strip_prefix(end)).unwrap_or(behind);
    let behind = behind.trim_start_matches([',', ' ']);
    let with_year = number(behind).filter(|(year, _)| *year > 999);
    let (year, behind) = match with_year {
        Some((year, behind)) => (i16::try_from(year).ok()?, behind),
        None => (now.year(), behind),
    };
    let behind = behind.trim_start_matches([',', ' ']);
    let behind = behind.strip_prefix("at ").unwrap_or(behind);
    let date = Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()?;
    let is_past = with_year.is_none() && date < now.date().yesterday().ok()?;
    let date = if is_past { Date::new(year.checked_add(1)?, date.month(), date.day()).ok()? } else { date };
    Some((date, behind))
}

/// `3pm`, `3:40pm`, `8:19 PM`, `15:40`.
fn time(text: &str) -> Option<(Time, &str)> {
    let (hour, behind) = number(text)?;
    let (minute, behind) = match behind.strip_prefix(':').and_then(number) {
        Some((minute, behind)) => (Some(minute), behind),
        None => (None, behind),
    };
    // Between them may be a narrow space.
    let half = behind.trim_start();
    let (hour, behind) = match (half.strip_prefix("am"), half.strip_prefix("pm")) {
        (Some(behind), _) => (if hour == 12 { 0 } else { hour }, behind),
        (_, Some(behind)) => (if hour == 12 { 12 } else { hour.checked_add(12)? }, behind),
        // A number alone is no time.
        _ => (minute.map(|_| hour)?, behind),
    };
    let time = Time::new(i8::try_from(hour).ok()?, i8::try_from(minute.unwrap_or(0)).ok()?, 0, 0).ok()?;
    Some((time, behind))
}

/// `(Europe/Berlin)`, and `UTC` without more.
fn zone(behind: &str, words: &str) -> Option<TimeZone> {
    let behind = behind.trim_start();
    if behind.starts_with("utc") {
        return Some(TimeZone::UTC);
    }
    let name = behind.strip_prefix('(')?.split_once(')')?.0;
    let at = words.len() - behind.len() + 1;
    TimeZone::get(words.get(at..at + name.len())?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Zoned {
        "2026-11-18T15:58:03+01:00[Europe/Berlin]".parse().unwrap()
    }

    #[track_caller]
    fn resets(words: &str) -> String {
        reset_time(words, &now()).map_or_else(|| "not told".to_owned(), |at| at.to_string())
    }

    #[test]
    fn observed_wordings_tell_the_time() {
        for (words, at) in [
            // Claude Code 2.1.197 to 2.1.226; the older ones are of 1.0 and 2.0.
            ("You've hit your session limit · resets 6pm (Europe/Berlin)", "2026-11-18T17:00:00Z"),
            ("You've hit your session limit · resets 10:30pm (Asia/Tokyo)", "2026-11-19T13:30:00Z"),
            ("You've hit your session limit · resets 12:50am (America/Los_Angeles)", "2026-11-19T08:50:00Z"),
            ("You've hit your weekly limit · resets Nov 21, 3pm (America/Bogota)", "2026-11-21T20:00:00Z"),
            ("You've hit your Opus limit · resets Jan 2, 2027, 3:30pm (UTC)", "2027-01-02T15:30:00Z"),
            ("You've hit your weekly limit · resets Jan 2 at 3pm (UTC)", "2027-01-02T15:00:00Z"),
            ("Weekly limit reached · resets 10am (Asia/Seoul) · /upgrade to Max", "2026-11-19T01:00:00Z"),
            ("Claude usage limit reached. Your limit will reset at 1pm (Etc/GMT+5).", "2026-11-18T18:00:00Z"),
            ("Claude AI usage limit reached|1795021200", "2026-11-18T17:00:00Z"),
            // Codex 0.125 to 0.166, then 0.39.
            ("You've hit your usage limit. Upgrade to Pro or try again at 6:05 PM.", "2026-11-18T17:05:00Z"),
            ("You’ve hit your usage limit. Try again at 3:05 PM.", "2026-11-19T14:05:00Z"),
            ("… to continue, or try again at Nov 23rd, 2026 8:19 PM.", "2026-11-23T19:19:00Z"),
            ("or try again in 2 days 17 hours 14 minutes.", "2026-11-21T08:12:03Z"),
            ("or try again in 5 minutes.", "2026-11-18T15:03:03Z"),
            // Gemini CLI.
            (
                "You have exhausted your capacity on this model. Your quota will reset after 4h28m20s.",
                "2026-11-18T19:26:23Z",
            ),
            ("Access resets at 6:00 PM UTC.", "2026-11-18T18:00:00Z"),
            // Pi, by itself and with the whole answer of the service.
            (
                "You have hit your ChatGPT usage limit (plus plan). Try again in ~231 min.",
                "2026-11-18T18:49:03Z",
            ),
            (
                r#"Codex error: {"type":"usage_limit_reached","resets_at":1795021200,"resets_in_seconds":7317}"#,
                "2026-11-18T17:00:00Z",
            ),
            (r#"{"type":"usage_limit_reached","resets_in_seconds":60}"#, "2026-11-18T14:59:03Z"),
            // OpenCode.
            (
                "5 hour usage limit reached. It will reset in 2 hours 5 minutes. To continue",
                "2026-11-18T17:03:03Z",
            ),
        ] {
            assert_eq!(resets(words), at, "{words}");
        }
    }

    #[test]
    fn a_limit_without_a_time_has_none() {
        for words in [
            "Credit balance is too low",
            "Quota exceeded. Check your plan and billing details.",
            "resets soon",
            "resets 3",
            "resets 99:99pm",
            "resets 9223372036854775807pm",
            "resets 9223372036854775807:9223372036854775807 pm",
            "resets Nov 9223372036854775807, 3pm",
            "try again at Jul 5th, 32767 8:19 PM",
            "\"resets_at\":9223372036854775807",
            "\"resets_in_seconds\":9223372036854775807",
            "try again in 9223372036854775807 days",
            "try again in 9223372036854775807 s 9223372036854775807 s",
            "try again at the beginning",
            "try again in a while",
            "limit reached|",
            "limit reached|99999999999999999999",
            // Long ago, and far away.
            "Claude AI usage limit reached|1749924000",
            "try again in 9999 days",
            "resets Feb 31, 3pm",
            "",
        ] {
            assert_eq!(resets(words), "not told", "{words}");
        }
    }

    #[test]
    fn a_time_that_is_just_over_is_no_time_of_tomorrow() {
        assert_eq!(resets("resets 3:58pm (Europe/Berlin)"), "2026-11-18T14:58:00Z");
        assert_eq!(resets("resets 3:50pm (Europe/Berlin)"), "2026-11-19T14:50:00Z");
    }

    #[test]
    fn an_attempt_that_is_repeated_tells_of_a_limit_or_of_something_else() {
        for words in [
            "the model's service failed (rate_limit 429); attempt 3 of 10",
            "Attempt 1 failed with status 429. Retrying with backoff",
            "Attempt 1 failed: You have exhausted your capacity on this model",
            "429 mock 429; attempt 1 of 3",
        ] {
            assert!(tells_of_limit(words), "{words}");
        }
        for words in ["the model's service failed (server_error 500); attempt 1 of 10", "Reconnecting... 1/5"]
        {
            assert!(!tells_of_limit(words), "{words}");
        }
    }
}
