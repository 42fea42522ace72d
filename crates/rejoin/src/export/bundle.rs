//! A bundle: a line that says what follows, a journal byte for byte, and a line with its length and
//! hash. It round-trips to the byte. The pins in it are history: a pin names the home that made it, and
//! no other home resumes it.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use rejoin_core::{ConversationId, ConversationInfo, Origin, SaidHere, System};
use rejoin_engine::Engine;
use rejoin_journal::{Adopted, JournalError, LONGEST_LINE, RawRecord};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Pen, put};
use crate::error::cannot;
use crate::move_project::says_moved;
use crate::resolve::existing_dir;
use crate::{ConversationView, Error, Rejoin};

const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Head {
    rejoin_bundle: u32,
    conversation: ConversationId,
}

#[derive(Serialize, Deserialize)]
struct Foot {
    bytes: u64,
    sha256: String,
}

/// A conversation that was taken in.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Imported {
    /// Which.
    pub id: ConversationId,
    /// The project it belongs to.
    pub project: String,
    /// What became of it.
    pub outcome: ImportOutcome,
}

/// What became of a conversation that was to be taken in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ImportOutcome {
    /// It is new here.
    New,
    /// It was here, and goes on with what was added elsewhere.
    Longer,
    /// It was here already, with all of it.
    Known,
}

pub(super) fn write(view: &ConversationView<'_>, pen: Pen<'_>) -> Result<(), Error> {
    let Pen { redactor, out } = pen;
    let head = Head { rejoin_bundle: VERSION, conversation: view.id };
    let line = |text: Result<String, serde_json::Error>| {
        text.map_err(|error| cannot("write the export")(error.into()))
    };
    let head = line(serde_json::to_string(&head))? + "\n";
    put(out, head.as_bytes())?;
    let (mut bytes, mut hash) = (0, Sha256::new());
    view.lines(redactor, &mut |line| {
        bytes += line.len() as u64;
        hash.update(line);
        put(out, line)
    })?;
    let foot = Foot { bytes, sha256: hex(&hash.finalize()) };
    let foot = format!("\n{}\n", line(serde_json::to_string(&foot))?);
    put(out, foot.as_bytes())
}

impl Rejoin {
    /// Takes in a bundle, or a journal as it stands. Nothing is written unless all of it is sound.
    /// With a project, the conversation belongs to that one from now on, and lives in that directory.
    /// Otherwise, what it says of where it lives, of levels, models and directories for sessions, counts
    /// only as far as it narrows, until the user says it here.
    pub fn import(&self, file: &Path, project: Option<&Path>) -> Result<Imported, Error> {
        self.take_in(open(file)?, &file.display().to_string(), project)
    }

    /// The same from a stream; `name` is what errors call it. It is kept in a temporary file until all of it was
    /// looked at.
    pub fn import_from(
        &self,
        stream: &mut dyn Read,
        name: &str,
        project: Option<&Path>,
    ) -> Result<Imported, Error> {
        let mut file = tempfile::tempfile().map_err(cannot("make a temporary file"))?;
        std::io::copy(stream, &mut file).map_err(cannot("read what is to be imported"))?;
        self.take_in(file, name, project)
    }

    fn take_in(&self, mut source: File, name: &str, project: Option<&Path>) -> Result<Imported, Error> {
        let dir = project.map(existing_dir).transpose()?;
        let (begin, length) = journal_in(&mut source, name)?;
        let (id, first) = first_record(&mut part(&mut source, begin, length)?, name)?;
        self.engine.make_home()?;
        let hold = self.engine.hold(id, "importing it")?;
        let (store, origins) = (self.engine.store(), self.engine.origins());
        let before = self.said_before(id)?;
        let is_new = before.is_none();
        let (mut said, is_ours) = before.unwrap_or_else(|| (self.engine.unknown_home(), false));
        let moved_to = dir.map(|dir| {
            let project = rejoin_engine::project_of(&dir).to_string_lossy().into_owned();
            (project, dir.to_string_lossy().into_owned())
        });
        if let Some((_, dir)) = &moved_to {
            said.dir = Some(dir.clone());
        }
        // What is new here comes in one piece, with the record of its move in it: it is never half moved.
        let move_in = match &moved_to {
            Some((project, dir)) if is_new => {
                let seal = if ends_a_line(&mut source, begin, length)? { "" } else { "\n" };
                let moved = Engine::record(id, &first, &says_moved(project, dir));
                format!("{seal}{}\n", serde_json::to_string(&moved).unwrap_or_default())
            }
            _ => String::new(),
        };
        let mut bytes = part(&mut source, begin, length)?.chain(move_in.as_bytes());
        let taken = store.adopt(id, &first, &mut bytes, &mut |_| origins.note_elsewhere(id, &said))?;
        if taken == Adopted::Known && moved_to.is_some() && !is_ours {
            origins.note_elsewhere(id, &said)?;
        }
        let mut info = rejoin_journal::load(store, id)?.conversation.info.unwrap_or(first.clone());
        match moved_to {
            // It is where it says that it belongs.
            _ if taken == Adopted::New => {}
            Some((project, dir)) => {
                self.relocate(&hold, &info, &project, &dir)?;
                (info.project, info.dir) = (project, dir);
            }
            // It says so already.
            None if info.project != first.project => {
                store.files()?.relocate(id, &info.project, &mut || Ok(()))?;
            }
            None => {}
        }
        let outcome = match taken {
            Adopted::New => ImportOutcome::New,
            Adopted::Longer(_) => ImportOutcome::Longer,
            Adopted::Known => ImportOutcome::Known,
        };
        Ok(Imported { id, project: info.project, outcome })
    }

    /// What counts of a conversation before something is added to it, and whether it was begun here; `None` if
    /// it is not here. To be asked under its lease.
    fn said_before(&self, id: ConversationId) -> Result<Option<(SaidHere, bool)>, Error> {
        let conversation = match rejoin_journal::load(self.engine.store(), id) {
            Ok(loaded) => loaded.conversation,
            Err(JournalError::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let origin = self.engine.origin(id, &conversation)?;
        let home = self.engine.unknown_home().home;
        Ok(Some((SaidHere::before_more(&conversation, &origin, home), origin == Origin::Here)))
    }
}

/// Opens what is to be imported; it is read more than once, so it has to be a file.
fn open(file: &Path) -> Result<File, Error> {
    let cannot = |error: std::io::Error| {
        let text = format!("cannot read {}: {error}", file.display());
        if error.kind() == ErrorKind::NotFound { Error::not_found(text) } else { Error::usage(text) }
    };
    // Asked before it is opened: opening a pipe would wait for somebody to write.
    if !file.metadata().map_err(cannot)?.is_file() {
        return Err(cannot(std::io::Error::other("it is not a file")));
    }
    File::open(file).map_err(cannot)
}

/// A part of a file, from its beginning.
fn part(source: &mut File, begin: u64, length: u64) -> Result<impl BufRead, Error> {
    source.seek(SeekFrom::Start(begin)).map_err(cannot("read the file"))?;
    Ok(BufReader::new(source.take(length)))
}

/// Whether a part of a file ends with a whole line.
fn ends_a_line(source: &mut File, begin: u64, length: u64) -> Result<bool, Error> {
    let mut last = [b'\n'];
    if length > 0 {
        source.seek(SeekFrom::Start(begin + length - 1)).map_err(cannot("read the file"))?;
        source.read_exact(&mut last).map_err(cannot("read the file"))?;
    }
    Ok(last == *b"\n")
}

/// Where the journal stands in a file: a bundle's, after its hash was checked, or all of it.
fn journal_in(source: &mut File, name: &str) -> Result<(u64, u64), Error> {
    let read = || cannot("read the file");
    let whole = source.seek(SeekFrom::End(0)).map_err(read())?;
    source.rewind().map_err(read())?;
    let mut first = Vec::new();
    let mut lines = BufReader::new(Read::by_ref(source).take(LONGEST_LINE as u64));
    lines.read_until(b'\n', &mut first).map_err(read())?;
    let Ok(head) = serde_json::from_slice::<Head>(&first) else { return Ok((0, whole)) };
    if head.rejoin_bundle > VERSION {
        return Err(Error::usage(format!(
            "{} is a bundle of version {}, made by a newer rejoin; update rejoin to read it",
            name, head.rejoin_bundle
        )));
    }
    let damaged = |what: &str| Error::usage(format!("{name} is a damaged bundle ({what}); export it again"));
    let begin = first.len() as u64;
    source.seek(SeekFrom::Start(whole.saturating_sub(LAST_LINE).max(begin))).map_err(read())?;
    let mut last = Vec::new();
    Read::by_ref(source).take(LAST_LINE).read_to_end(&mut last).map_err(read())?;
    let text = last.trim_ascii_end();
    let at = text.iter().rposition(|byte| *byte == b'\n').ok_or_else(|| damaged("its end is missing"))?;
    let foot: Foot = serde_json::from_slice(&text[at..]).map_err(|_| damaged("its end is missing"))?;
    let rest = (last.len() - at) as u64;
    if begin.checked_add(foot.bytes).and_then(|end| end.checked_add(rest)) != Some(whole) {
        return Err(damaged("its length is another one"));
    }
    source.seek(SeekFrom::Start(begin)).map_err(read())?;
    let mut hash = Sha256::new();
    let mut journal = BufReader::new(Read::by_ref(source).take(foot.bytes));
    loop {
        let bytes = journal.fill_buf().map_err(read())?;
        if bytes.is_empty() {
            break;
        }
        hash.update(bytes);
        let count = bytes.len();
        journal.consume(count);
    }
    if hex(&hash.finalize()) != foot.sha256 {
        return Err(damaged("its hash is another one"));
    }
    Ok((begin, foot.bytes))
}

/// The last line of a bundle is shorter than this.
const LAST_LINE: u64 = 4096;

/// The conversation a journal says it is.
fn first_record(journal: &mut dyn BufRead, name: &str) -> Result<(ConversationId, ConversationInfo), Error> {
    let none = || {
        Error::usage(format!(
            "{name} is neither a bundle nor a journal of rejoin: its first record does not say which conversation it is"
        ))
    };
    let mut line = Vec::new();
    journal.take(1 << 20).read_until(b'\n', &mut line).map_err(cannot("read the file"))?;
    let text = std::str::from_utf8(&line).map_err(|_| none())?;
    let raw = RawRecord { json: text.trim() };
    let record = raw.record().map_err(|_| none())?;
    match raw.envelope().map_err(|_| none())?.system() {
        Some(System::Conversation(info)) => Ok((record.session_id, info)),
        _ => Err(none()),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}
