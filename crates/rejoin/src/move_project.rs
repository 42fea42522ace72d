//! Conversations that go along with their project.

use std::path::{Component, Path, PathBuf};

use rejoin_core::{ConversationId, ConversationInfo, Origin, SaidHere, System};
use rejoin_journal::load;

use crate::{Error, Rejoin};

impl Rejoin {
    /// Tells that a directory was moved: the conversations of the projects in it go along. Gives
    /// those that did.
    pub fn move_project(&self, from: &Path, to: &Path) -> Result<Vec<ConversationId>, Error> {
        let to = crate::resolve::existing_dir(to)?;
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
            self.relocate(listed.id, &info, &project, &dir)?;
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

    /// Puts a conversation, which is held, among those of another project, and says so in it.
    pub(crate) fn relocate(
        &self,
        id: ConversationId,
        info: &ConversationInfo,
        project: &str,
        dir: &str,
    ) -> Result<(), Error> {
        let moved = [says_moved(project, dir)];
        let mut say_so = || self.engine.note(id, info, &moved);
        Ok(self.engine.store().files()?.relocate(id, project, &mut say_so)?)
    }
}

/// What a conversation says when it belongs elsewhere from now on.
pub(crate) fn says_moved(project: &str, dir: &str) -> System {
    System::Moved { project: project.to_owned(), dir: dir.to_owned() }
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
