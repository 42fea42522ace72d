//! Conversations as files: moved with their project, checked, repaired.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use rejoin_core::{ConversationId, Kind, Origin, SaidHere, System};
use rejoin_journal::{Noted, Problem, Writer, load, load_anew};

use crate::{Error, Rejoin};

/// What a check of a journal found.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The conversation.
    pub id: ConversationId,
    /// Turns that could be read.
    pub turns: usize,
    /// What is wrong, each with its line.
    pub problems: Vec<Noted>,
    /// How many problems there are; only the first hundred are kept.
    pub count: u64,
    /// As it stands now, repaired or not, nothing that was ever acknowledged is lost, and its end is
    /// whole.
    pub sound: bool,
    /// What was appended to repair it.
    pub repaired: Vec<&'static str>,
}

impl Rejoin {
    /// Tells that a directory was moved: the conversations of the projects in it go along. Gives
    /// those that did.
    pub fn move_project(&self, from: &Path, to: &Path) -> Result<Vec<ConversationId>, Error> {
        let to = crate::builder::existing_dir(to)?;
        let from = former(from)
            .map_err(|error| Error::usage(format!("cannot make out {}: {error}", from.display())))?;
        if from.exists() && from.canonicalize().ok().as_deref() != Some(&to) {
            return Err(Error::usage(format!(
                "{} is still there; move it first, then tell rejoin (a copy keeps its conversations where they are)",
                from.display()
            )));
        }
        let store = self.engine.store();
        let elsewhere = |path: &str| {
            let below = Path::new(path).strip_prefix(&from).ok()?;
            // What a journal from elsewhere says may lead out of it again.
            if !below.components().all(|part| matches!(part, Component::Normal(_))) {
                return None;
            }
            // Joining nothing would leave a slash at the end.
            Some(if below.as_os_str().is_empty() { to.clone() } else { to.join(below) })
        };
        let mut moved = Vec::new();
        for listed in store.list(None)? {
            let Some(info) = listed.info.filter(|info| elsewhere(&info.project).is_some()) else { continue };
            let _hold = self.engine.hold(listed.id, "moving it")?;
            let conversation = load(store, listed.id)?.conversation;
            let info = conversation.info.clone().unwrap_or(info);
            // It may have been moved while we came here.
            let Some(project) = elsewhere(&info.project).map(|to| text(&to)) else { continue };
            let place = |path: &str| elsewhere(path).map_or_else(|| path.into(), |to| text(&to));
            if let Origin::Elsewhere(said) = self.engine.origin(listed.id, &conversation)? {
                // Where it lies below is its own word, and nothing that was said here.
                let dir = Some(said.dir.as_deref().map_or_else(|| text(&to), place));
                self.engine.origins().note_elsewhere(listed.id, &SaidHere { dir, ..said })?;
            }
            let dir = place(&info.dir);
            self.engine.relocate(listed.id, &info, &project, &dir)?;
            moved.push(listed.id);
        }
        if moved.is_empty() {
            return Err(Error::not_found(format!(
                "no conversation belongs to {} or a directory in it; `rejoin ls --all-projects` shows where they live",
                from.display()
            )));
        }
        Ok(moved)
    }

    /// Reads every record of a conversation, and repairs what appending can repair.
    pub fn check(&self, id: ConversationId, repair: bool) -> Result<Checked, Error> {
        let store = self.engine.store();
        let loaded = load_anew(store, id)?;
        let mut problems = loaded.problems;
        let mut prompts = HashSet::new();
        store.read(id, 0, &mut |entry| {
            let Ok(envelope) = entry.content else { return };
            if envelope.kind == Kind::User && !prompts.insert(envelope.uuid) {
                let message = envelope.uuid;
                problems.note(Some(entry.place), entry.line, Problem::Repeated { message });
            }
        })?;
        let conversation = &loaded.conversation;
        let mut lost = conversation.info.is_none() || conversation.info_is_derived;
        let first = |noted: &Noted| noted.problem == Problem::FirstRecordLost;
        let damaged = problems.losses > u64::from(problems.noted.iter().any(first));
        if loaded.end == 0 && problems.is_empty() {
            problems.note(None, None, Problem::Empty);
        } else if conversation.info.is_none() {
            problems.note(None, None, Problem::NotARecord { why: "the first record is lost".into() });
        }
        let mut torn_end = problems.noted.iter().any(|noted| noted.place == Some(loaded.end));
        let mut repaired = Vec::new();
        if repair && !problems.is_empty() {
            let _hold = self.engine.hold(id, "repairing it")?;
            if store.appender(id, Writer::Label)?.seal()? {
                torn_end = false;
                repaired.push("an unfinished last line was ended");
            }
            if let Some(info) = conversation.info.as_ref().filter(|_| lost) {
                self.engine.note(id, info, &[System::Conversation(info.clone())])?;
                lost = false;
                repaired.push("what the conversation is was written anew, from where its turns ran");
            }
        }
        let turns = loaded.conversation.tree.turns().len();
        let sound = !(torn_end || lost || damaged);
        Ok(Checked { id, turns, sound, count: problems.count, problems: problems.noted, repaired })
    }
}

/// The real path of a directory that may be gone: of what is left of it, at least.
fn former(path: &Path) -> std::io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    match (path.parent().map(Path::canonicalize), path.file_name()) {
        (Some(Ok(parent)), Some(name)) => Ok(parent.join(name)),
        _ => Ok(path),
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
