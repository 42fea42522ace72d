use std::time::Duration;

/// Reads `90`, `90s`, `5m`, `2h`, `3d`, `2w`, `250ms`.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong(text));
    }
    let milliseconds = match &text[digits.len()..] {
        "ms" => 1,
        "" | "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => DAY,
        "w" => 7 * DAY,
        _ => return Err(wrong(text)),
    };
    let parsed = digits.parse().ok().and_then(|number: u64| number.checked_mul(milliseconds));
    match parsed {
        Some(time) if time <= MOST_DAYS * DAY => Ok(Duration::from_millis(time)),
        _ => Err(format!("{text:?} is too long a time: {MOST_DAYS}d is the most")),
    }
}

/// In milliseconds.
const DAY: u64 = 86_400_000;

/// Longer than anybody waits, and so short that every clock can count it.
const MOST_DAYS: u64 = 99_999;

fn wrong(text: &str) -> String {
    format!("{text:?} is not a time: use seconds, or 250ms, 90s, 5m, 2h, 3d, 2w")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_every_unit() {
        let milliseconds = |text| parse_duration(text).unwrap().as_millis();
        let all = ["250ms", "90", "90s", "5m", "2h", "3d", "2w"].map(milliseconds);
        assert_eq!(all, [250, 90_000, 90_000, 300_000, 7_200_000, 259_200_000, 1_209_600_000]);
        assert_eq!(milliseconds("99999d"), 99_999 * u128::from(DAY));
    }

    #[test]
    fn what_is_no_time_is_told_from_what_is_too_long_a_one() {
        for text in ["", "s", "-5m", "+5m", "5y", "1.5h", " 5m"] {
            assert!(parse_duration(text).unwrap_err().contains("is not a time"), "{text}");
        }
        for text in ["100000d", "99999999999999w", "99999999999999999999999s", "18446744073709551615"] {
            assert!(parse_duration(text).unwrap_err().contains("too long a time: 99999d"), "{text}");
        }
    }
}
