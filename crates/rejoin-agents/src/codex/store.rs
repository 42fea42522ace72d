//! Where Codex (0.166.0) keeps its sessions: one file each, under the day it began.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Lines, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use memchr::memmem;
use rejoin_core::{SessionId, Usage};
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::wire::Tokens;
use crate::places::entries;
use crate::session_id::is_lower_case_uuid;
use crate::{Damage, Found, damage};

/// Looks for the file of a session. A rewind begins a further file for it, on whichever day that was:
/// the newest counts.
pub(super) fn find(store: &Path, session: &SessionId) -> Found {
    let sessions = store.join("sessions");
    // The earliest day on which the id can have been made; without one, any day.
    let began = days_of(session).into_iter().min().unwrap_or_default();
    let found = newest_since(&sessions, began, session)
        // Files may be moved.
        .and_then(|found| {
            found.map_or_else(|| newest_since(&sessions, Day::default(), session), |at| Ok(Some(at)))
        });
    match found {
        Ok(Some(file)) => Found::At(file),
        Ok(None) => Found::Nowhere,
        Err(_) => Found::CannotTell,
    }
}

/// Year, month and day.
type Day = (i64, u32, u32);

fn newest_since(sessions: &Path, began: Day, session: &SessionId) -> io::Result<Option<PathBuf>> {
    let mut first = None;
    for (year, of_year) in numbered(sessions)?.into_iter().filter(|(year, _)| i64::from(*year) >= began.0) {
        for (month, of_month) in numbered(&of_year)? {
            for (day, of_day) in numbered(&of_month)? {
                if (i64::from(year), month, day) < began {
                    continue;
                }
                match in_day(&of_day, session)? {
                    Some((file, true)) => return Ok(Some(file)),
                    found => first = first.or(found.map(|(file, _)| file)),
                }
            }
        }
    }
    Ok(first)
}

/// The directories in a directory whose names are numbers, the greatest first.
pub(super) fn numbered(dir: &Path) -> io::Result<Vec<(u32, PathBuf)>> {
    let number = |path: &PathBuf| path.file_name()?.to_str()?.parse().ok();
    let mut numbered: Vec<(u32, PathBuf)> =
        entries(dir)?.into_iter().filter_map(|path| Some((number(&path)?, path))).collect();
    numbered.sort_unstable_by(|a, b| b.cmp(a));
    Ok(numbered)
}

/// A session's file in the directory of a day, and whether it is one that a rewind began: such a name
/// ends in an id of its own that tells the time. Codex does not resume from an empty one.
fn in_day(day: &Path, session: &SessionId) -> io::Result<Option<(PathBuf, bool)>> {
    let marker = format!("-{session}");
    let segment = |path: &PathBuf| {
        let name = path.file_name()?.to_str()?.strip_prefix("rollout-")?;
        let name = name.strip_suffix(".jsonl").or_else(|| name.strip_suffix(".jsonl.zst"))?;
        let (_, rest) = name.split_once(&marker)?;
        let is_ours = rest.is_empty() || rest.strip_prefix('_').is_some_and(is_lower_case_uuid);
        is_ours.then(|| rest.to_owned())
    };
    let files = entries(day)?.into_iter().filter_map(|path| Some((segment(&path)?, path)));
    let Some((segment, file)) = files.max() else {
        return Ok(None);
    };
    Ok((fs::metadata(&file)?.len() > 0).then_some((file, !segment.is_empty())))
}

/// Whether the session `named` holds all that `asked` held: as a copy of its records (with other
/// times, perhaps, and behind a first record of its own), or because it goes on at its end.
pub(super) fn continues(store: &Path, asked: &SessionId, named: &SessionId) -> io::Result<bool> {
    const FARTHEST: u64 = 64 << 20;
    let (Found::At(old), Found::At(new)) = (find(store, asked), find(store, named)) else {
        return Ok(false);
    };
    let size = fs::metadata(&old)?.len();
    if size > FARTHEST || damage(&old)?.is_some() {
        return Ok(false);
    }
    let mut records = Records::of(&new)?;
    let Some(meta) = records.next().filter(Record::is_meta) else {
        return Ok(false);
    };
    let base = &meta.payload["history_base"];
    if base["thread_id"] == asked.as_str() && base["end_byte_offset"] == size {
        return Ok(true);
    }
    let mut held = records.filter(|record| !record.is_meta());
    let mut said = false;
    for record in Records::of(&old)?.filter(|record| !record.is_meta()) {
        if held.next().as_ref() != Some(&record) {
            return Ok(false);
        }
        said = true;
    }
    Ok(said)
}

/// One line of a file, without its time.
#[derive(Deserialize, PartialEq)]
struct Record {
    #[serde(rename = "type")]
    kind: String,
    payload: Value,
}

impl Record {
    fn is_meta(&self) -> bool {
        self.kind == "session_meta"
    }
}

/// The records of a file up to the first that cannot be read.
struct Records(Lines<BufReader<File>>);

impl Records {
    fn of(file: &Path) -> io::Result<Self> {
        Ok(Self(BufReader::new(File::open(file)?).lines()))
    }
}

impl Iterator for Records {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        serde_json::from_str(&self.0.next()?.ok()?).ok()
    }
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

/// The days a session may have begun on: its id tells the time, but not the time zone.
fn days_of(session: &SessionId) -> Vec<Day> {
    let id = Uuid::try_parse(session.as_str()).ok().filter(|id| id.get_version_num() == 7);
    let Some(milliseconds) = id.map(|id| (id.as_u128() >> 80) as i64) else {
        return Vec::new();
    };
    let day = milliseconds.div_euclid(86_400_000);
    [day, day - 1, day + 1].map(date).to_vec()
}

/// Year, month and day of a day counted from 1970.
fn date(days: i64) -> Day {
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
