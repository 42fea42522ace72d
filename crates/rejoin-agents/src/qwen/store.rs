//! Where Qwen (0.15.10) keeps its sessions: one file each, in a directory named after the project's.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use rejoin_core::{SessionId, Usage};
use serde::Deserialize;
use serde_json::Value;

use super::counted;
use crate::loose::{Number, Object, Text};
use crate::transcript::{holds_a_prompt, mangled};
use crate::{Damage, Found, damage, places};

/// Looks for the file of a session that was run in `dir`.
pub(super) fn find(store: &Path, dir: &Path, session: &SessionId) -> Found {
    match in_place(store, dir, session) {
        // Settings may have moved the sessions; a variable outweighs them.
        Found::Nowhere => {
            configured(store, dir).map_or(Found::Nowhere, |place| in_place(&place, dir, session))
        }
        found => found,
    }
}

/// The directory that the project's settings name for sessions and the like, or else the user's.
pub(super) fn configured(store: &Path, dir: &Path) -> Option<PathBuf> {
    let settings = [dir.join(".qwen"), store.to_owned()].map(|place| place.join("settings.json"));
    places::configured(&settings, "/advanced/runtimeOutputDir", dir)
}

fn in_place(store: &Path, dir: &Path, session: &SessionId) -> Found {
    let file = store.join("projects").join(mangled(dir)).join("chats").join(format!("{session}.jsonl"));
    match holds_a_prompt(&file) {
        Ok(true) if is_of_another(&file, dir) => Found::Nowhere,
        Ok(true) => Found::At(file),
        Ok(false) => Found::Nowhere,
        Err(_) => Found::CannotTell,
    }
}

/// Two directories may have one name; Qwen looks at the first line and resumes only its own.
fn is_of_another(file: &Path, dir: &Path) -> bool {
    const LONGEST_LINE: u64 = 16 << 20;
    let mut line = Vec::new();
    let read = File::open(file)
        .and_then(|file| BufReader::new(file.take(LONGEST_LINE)).read_until(b'\n', &mut line));
    let cwd = read.ok().and_then(|_| {
        let first: Value = serde_json::from_slice(&line).ok()?;
        first.get("cwd")?.as_str().map(str::to_owned)
    });
    cwd.is_some_and(|cwd| Path::new(&cwd) != dir)
}

/// What a line of a session says about its place in the tree and about tokens.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct Record<'a> {
    uuid: Text<'a>,
    #[serde(rename = "parentUuid")]
    parent: Text<'a>,
    #[serde(rename = "systemPayload")]
    payload: Object<Payload<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct Payload<'a> {
    #[serde(rename = "uiEvent")]
    event: Object<UiEvent<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct UiEvent<'a> {
    #[serde(rename = "event.name")]
    name: Text<'a>,
    input_token_count: Number,
    cached_content_token_count: Number,
    output_token_count: Number,
    total_token_count: Number,
}

/// The total a resumed session counts on from: all answers on the way from its last line to its
/// first. `None` if the file is too long to be read for that.
pub(super) fn total(file: &Path) -> Option<Usage> {
    const LONGEST: u64 = 256 << 20;
    let file = File::open(file).ok()?;
    if file.metadata().ok()?.len() > LONGEST {
        return None;
    }
    let mut records: HashMap<String, (String, [u64; 4])> = HashMap::new();
    let mut last = None;
    let mut reader = BufReader::new(file.take(LONGEST));
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).ok()? > 0 {
        if let Some((uuid, parent, counts)) = record(&line) {
            records.insert(uuid.clone(), (parent, counts));
            last = Some(uuid);
        }
        line.clear();
    }
    let mut total = [0; 4];
    // Each is taken out, so that no circle is walked twice.
    while let Some((parent, counts)) = last.and_then(|uuid| records.remove(&uuid)) {
        for (sum, count) in total.iter_mut().zip(counts) {
            *sum += count;
        }
        last = Some(parent);
    }
    let [input, cached, output, all] = total;
    Some(counted(input, cached, output, all))
}

/// What is wrong with a session's file. Qwen remembers what leads from its last line to the first, and
/// nothing above a line that cannot be read.
pub(super) fn damage(file: &Path) -> io::Result<Option<Damage>> {
    let link = |line: &[u8]| record(line).map(|(uuid, parent, _)| (uuid, parent));
    Ok(damage::of_lines(file)?.or(damage::of_chain(file, link)?))
}

/// A line's id, the line it follows, and the tokens it tells of.
fn record(line: &[u8]) -> Option<(String, String, [u64; 4])> {
    let record: Record<'_> = serde_json::from_slice(line).ok()?;
    let event = record.payload.0.and_then(|payload| payload.event.0);
    let answered = event.filter(|event| event.name.as_str() == "qwen-code.api_response");
    let counts = answered.map_or([0; 4], |event| {
        [
            event.input_token_count.count(),
            event.cached_content_token_count.count(),
            event.output_token_count.count(),
            event.total_token_count.count(),
        ]
    });
    Some((record.uuid.into_filled()?, record.parent.into_string(), counts))
}
