//! That a limit was reached, in words.

use jiff::{Timestamp, Zoned};

/// `limit reached, resets at 18:00 (in 2 h)`; `resets` is the time as a receipt has it, `now` tells the time zone.
pub fn limit_words(resets: Option<&str>, now: &Zoned) -> String {
    match resets.and_then(|resets| resets_words(resets, now)) {
        Some(words) => format!("limit reached, {words}"),
        None => "limit reached".to_owned(),
    }
}

/// `resets at 18:00 (in 2 h)`, `resets on Nov 21 at 15:00 (in 3 days)`, `was reset at 18:00`; nothing for what is no
/// time.
pub fn resets_words(resets: &str, now: &Zoned) -> Option<String> {
    let at = resets.parse::<Timestamp>().ok()?.to_zoned(now.time_zone().clone());
    let clock = if at.date() == now.date() {
        at.strftime("at %H:%M").to_string()
    } else {
        at.strftime("on %b %-d at %H:%M").to_string()
    };
    let seconds = at.timestamp().as_second() - now.timestamp().as_second();
    if seconds <= 0 {
        return Some(format!("was reset {clock}"));
    }
    let rounded = |unit: i64| (seconds + unit / 2) / unit;
    let left = match (seconds + 59) / 60 {
        minutes @ ..60 => format!("{minutes} min"),
        minutes @ 60..600 if minutes % 60 >= 10 && minutes % 60 <= 50 => {
            format!("{} h {} min", minutes / 60, minutes % 60)
        }
        60..2880 => format!("{} h", rounded(3600).max(1)),
        _ => format!("{} days", rounded(86_400)),
    };
    Some(format!("resets {clock} (in {left})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reset_is_told_by_the_clock_and_how_long_it_takes() {
        let now: Zoned = "2026-11-18T15:58:03+01:00[Europe/Berlin]".parse().unwrap();
        for (resets, words) in [
            (Some("2026-11-18T17:00:00Z"), "limit reached, resets at 18:00 (in 2 h)"),
            (Some("2026-11-18T16:30:00Z"), "limit reached, resets at 17:30 (in 1 h 32 min)"),
            (Some("2026-11-18T15:10:00Z"), "limit reached, resets at 16:10 (in 12 min)"),
            (Some("2026-11-18T14:58:30Z"), "limit reached, resets at 15:58 (in 1 min)"),
            (Some("2026-11-19T08:50:00Z"), "limit reached, resets on Nov 19 at 09:50 (in 18 h)"),
            (Some("2026-11-21T20:00:00Z"), "limit reached, resets on Nov 21 at 21:00 (in 3 days)"),
            (Some("2026-11-18T14:00:00Z"), "limit reached, was reset at 15:00"),
            (Some("soon"), "limit reached"),
            (None, "limit reached"),
        ] {
            assert_eq!(limit_words(resets, &now), words);
        }
    }
}
