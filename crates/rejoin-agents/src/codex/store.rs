//! Where Codex keeps its sessions: one file each, under the day it began.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use memchr::memmem;
use rejoin_core::{SessionId, Usage};
use uuid::Uuid;

use super::wire::Tokens;
use crate::{Damage, Found, damage};

/// Looks for the file of a session, on the day its id was made first.
pub(super) fn find(store: &Path, session: &SessionId) -> Found {
    let sessions = store.join("sessions");
    let likely = days_of(session).into_iter().map(|(year, month, day)| {
        sessions.join(format!("{year:04}")).join(format!("{month:02}")).join(format!("{day:02}"))
    });
    let found = likely
        .map(|day| in_day(&day, session))
        .find(|found| !matches!(found, Ok(None)))
        .unwrap_or_else(|| anywhere(&sessions, session));
    match found {
        Ok(Some(file)) => Found::At(file),
        Ok(None) => Found::Nowhere,
        Err(_) => Found::CannotTell,
    }
}

fn anywhere(sessions: &Path, session: &SessionId) -> io::Result<Option<PathBuf>> {
    for year in newest_first(sessions)? {
        for month in newest_first(&year)? {
            for day in newest_first(&month)? {
                if let Some(file) = in_day(&day, session)? {
                    return Ok(Some(file));
                }
            }
        }
    }
    Ok(None)
}

fn newest_first(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = entries(dir)?;
    paths.sort_unstable_by(|a, b| b.cmp(a));
    Ok(paths)
}

/// A session's file in the directory of a day. Codex does not resume from an empty one.
fn in_day(day: &Path, session: &SessionId) -> io::Result<Option<PathBuf>> {
    let ends = [format!("-{session}.jsonl"), format!("-{session}.jsonl.zst")];
    let ours = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("rollout-") && ends.iter().any(|end| name.ends_with(end))
    };
    let Some(file) = entries(day)?.into_iter().find(ours) else {
        return Ok(None);
    };
    Ok((fs::metadata(&file)?.len() > 0).then_some(file))
}

/// What is wrong with a session's file.
pub(super) fn damage(file: &Path) -> io::Result<Option<Damage>> {
    // Files that were not used for long are compressed; of those only the beginning can be looked at.
    const COMPRESSED: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
    if file.extension().is_none_or(|extension| extension != "zst") {
        return damage::of_lines(file);
    }
    let mut beginning = [0; 4];
    let whole = File::open(file)?.read_exact(&mut beginning).is_ok() && beginning == COMPRESSED;
    Ok((!whole).then_some(Damage::Zeroed))
}

fn entries(dir: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(dir) {
        Ok(entries) => entries.map(|entry| entry.map(|entry| entry.path())).collect(),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        Err(error) => Err(error),
    }
}

/// The days a session may have begun on: its id tells the time, but not the time zone.
fn days_of(session: &SessionId) -> Vec<(i64, u32, u32)> {
    let id = Uuid::try_parse(session.as_str()).ok().filter(|id| id.get_version_num() == 7);
    let Some(milliseconds) = id.map(|id| (id.as_u128() >> 80) as i64) else {
        return Vec::new();
    };
    let day = milliseconds.div_euclid(86_400_000);
    [day, day - 1, day + 1].map(date).to_vec()
}

/// Year, month and day of a day counted from 1970.
fn date(days: i64) -> (i64, u32, u32) {
    // Counted from 1 March of year 0, so that the leap day is the last day of a year.
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month as u32, day as u32)
}

/// The session's total as last written, looked for from the end of the file.
pub(super) fn total(file: &Path) -> Option<Usage> {
    const TAILS: [u64; 2] = [256 << 10, 16 << 20];
    let mut file = File::open(file).ok()?;
    let size = file.metadata().ok()?.len();
    for tail in TAILS {
        file.seek(SeekFrom::Start(size.saturating_sub(tail))).ok()?;
        let mut bytes = Vec::new();
        file.by_ref().take(tail).read_to_end(&mut bytes).ok()?;
        let total = last_total(&bytes);
        if total.is_some() || tail >= size {
            return total;
        }
    }
    None
}

fn last_total(bytes: &[u8]) -> Option<Usage> {
    // Inside a text the second quote would be escaped. The `thread_token_usage` of newer versions is
    // not it: that runs ahead when a turn is cut, and a resumed session counts on from this one.
    const KEY: &[u8] = br#""total_token_usage":"#;
    let mut end = bytes.len();
    loop {
        let at = memmem::rfind(&bytes[..end], KEY)?;
        let mut values = serde_json::Deserializer::from_slice(&bytes[at + KEY.len()..]).into_iter::<Tokens>();
        if let Some(Ok(tokens)) = values.next() {
            return Some(tokens.into());
        }
        end = at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_as_the_calendar_does() {
        for (days, expected) in [
            (0, (1970, 1, 1)),
            (59, (1970, 3, 1)),
            (11_016, (2000, 2, 29)),
            (19_782, (2024, 2, 29)),
            (20_772, (2026, 11, 15)),
        ] {
            assert_eq!(date(days), expected, "{days}");
        }
    }

    #[test]
    fn the_last_whole_total_counts() {
        let line = |n: u64| {
            format!(
                r#"{{"info":{{"total_token_usage":{{"input_tokens":{n},"cached_input_tokens":1,"output_tokens":2}}}}}}"#
            )
        };
        let text = format!(
            "{}\n{}\n{{\"x\":\"\\\"total_token_usage\\\":\"}}\n{{\"total_token_usage\":{{\"inp",
            line(5),
            line(9)
        );
        assert_eq!(last_total(text.as_bytes()), Some(Usage { input: 8, cached: 1, output: 2 }));
        assert_eq!(last_total(b""), None);
    }
}
