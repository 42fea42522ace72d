use std::time::Duration;

/// Reads `90`, `90s`, `5m`, `2h`, `3d`, `2w`, `250ms`.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits.parse().map_err(|_| wrong(text))?;
    match &text[digits.len()..] {
        "ms" => Ok(Duration::from_millis(number)),
        "" | "s" => Ok(Duration::from_secs(number)),
        "m" => Ok(Duration::from_secs(number.saturating_mul(60))),
        "h" => Ok(Duration::from_secs(number.saturating_mul(3600))),
        "d" => Ok(Duration::from_secs(number.saturating_mul(86_400))),
        "w" => Ok(Duration::from_secs(number.saturating_mul(7 * 86_400))),
        _ => Err(wrong(text)),
    }
}

fn wrong(text: &str) -> String {
    format!("{text:?} is not a time: use seconds, or 250ms, 90s, 5m, 2h, 3d, 2w")
}
