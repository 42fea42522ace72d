//! Where else the conversations of a project may be: under the path it had before it was renamed or moved, and in other
//! checkouts of its repository.

use std::collections::{BTreeSet, HashMap};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rejoin_core::{Conversation, ConversationId, Kinship, Origin};
use rejoin_engine::SeenProject;
use rejoin_index::Index;
use rejoin_journal::{JournalState, KnownOrigin, load};

use crate::name::steps_back;
use crate::{Error, Rejoin};

/// So many conversations of a project are asked what it was known by, those written last.
const ASKED: usize = 3;

/// Disks that can be taken out are found here: what is not there now is not gone.
const REMOVABLE: [&str; 4] = ["/mnt", "/media", "/run/media", "/Volumes"];

/// Where else conversations are that may be meant in a project.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct OtherPlaces {
    /// What the project was called before. If there are several, nobody knows which of them.
    pub former: Vec<FormerProject>,
    /// Other checkouts of the same repository. To go on there is to edit other files, so nothing of them is meant
    /// unless it is named.
    pub checkouts: Vec<OtherCheckout>,
}

/// A project that is this one by now: its path is gone, or leads here.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FormerProject {
    /// Where it was.
    pub path: String,
    /// Its conversations that were begun in this home, the one used last first.
    pub conversations: Vec<ConversationId>,
    names: Vec<(String, ConversationId)>,
    used: SystemTime,
}

/// Another checkout of the same repository.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct OtherCheckout {
    /// Where it is, or was.
    pub path: String,
    /// How many conversations it has.
    pub conversations: usize,
    /// It is still there.
    pub is_there: bool,
}

/// What stands under the path of another project.
pub(crate) enum Whereabouts {
    /// A way to this project, to what is there now.
    Here(PathBuf),
    /// Nothing.
    Gone,
    /// Something else, or nobody can tell.
    There,
}

impl Whereabouts {
    pub(crate) fn of(path: &str, here: &str) -> Self {
        let path = Path::new(path);
        match path.metadata() {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                Self::Gone
            }
            Err(_) => Self::There,
            Ok(found) if !found.is_dir() => Self::Gone,
            Ok(_) => match path.canonicalize() {
                Ok(real) if real != path && rejoin_engine::project_of(&real) == Path::new(here) => {
                    Self::Here(real)
                }
                _ => Self::There,
            },
        }
    }
}

impl OtherPlaces {
    /// The project that this one was; refused if it may have been several.
    pub(crate) fn the_former(&self) -> Result<Option<&FormerProject>, Error> {
        match self.former.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(one)),
            many => Err(Error::usage(several(many))),
        }
    }

    /// The conversations that are this project's own by now.
    pub fn conversations(&self) -> BTreeSet<ConversationId> {
        let only = (self.former.len() == 1).then(|| self.former.iter().flat_map(|one| &one.conversations));
        only.into_iter().flatten().copied().collect()
    }

    /// What this project was, in a sentence.
    pub fn told(&self) -> Option<String> {
        match self.former.as_slice() {
            [] => None,
            [one] => Some(format!(
                "this project was {}: {} found, and `rejoin mv` is not needed",
                one.path,
                count(one.conversations.len())
            )),
            many => Some(several(many)),
        }
    }

    /// Where its other checkouts are, in a sentence.
    pub fn told_of_checkouts(&self) -> Option<String> {
        const SHOWN: usize = 3;
        if self.checkouts.is_empty() {
            return None;
        }
        let shown = |one: &OtherCheckout| {
            let gone = if one.is_there { "" } else { ", not there now" };
            format!("{} ({}{gone})", one.path, count(one.conversations))
        };
        let mut list: Vec<String> = self.checkouts.iter().take(SHOWN).map(shown).collect();
        if let more @ 1.. = self.checkouts.len().saturating_sub(SHOWN) {
            list.push(format!("{more} more"));
        }
        let gone = self.checkouts.iter().find(|one| !one.is_there);
        let moved = gone.map(|gone| format!("; if {0} is this one, `rejoin mv {0} .`", gone.path));
        Some(format!(
            "other checkouts of this project have conversations: {}; they go on there, or where one is named by its id (`rejoin ls -A`){}",
            list.join(", "),
            moved.unwrap_or_default()
        ))
    }
}

fn several(many: &[FormerProject]) -> String {
    let list = many.iter().map(|one| format!("\n  {} ({})", one.path, count(one.conversations.len())));
    let ways = many.iter().map(|one| format!("`rejoin mv {} .`", one.path));
    format!(
        "{} projects that are gone may have been this one:{}\nsay which with {}; a run without -c begins a new conversation",
        many.len(),
        list.collect::<String>(),
        ways.collect::<Vec<_>>().join(" or ")
    )
}

pub(crate) fn count(conversations: usize) -> String {
    if conversations == 1 { "1 conversation".into() } else { format!("{conversations} conversations") }
}

impl Rejoin {
    /// Where else conversations are that may be meant in the project a directory is in. Nothing is written but the
    /// index.
    pub fn other_places(&self, dir: &Path) -> Result<OtherPlaces, Error> {
        let project = rejoin_engine::project_of(dir).to_string_lossy().into_owned();
        self.places_besides(&mut self.index(), &project)
    }

    pub(crate) fn places_besides(&self, index: &mut Index<'_>, here: &str) -> Result<OtherPlaces, Error> {
        // Only files are kept by project, and can be moved to another.
        if self.engine.store().files().is_err() {
            return Ok(OtherPlaces::default());
        }
        let mut projects = index.by_project()?;
        projects.remove(here);
        if projects.is_empty() {
            return Ok(OtherPlaces::default());
        }
        let seen = SeenProject::look(Path::new(here));
        let mut certain = Vec::new();
        let mut candidates = Vec::new();
        for (path, journals) in projects {
            match Whereabouts::of(&path, here) {
                Whereabouts::Here(_) => certain.push((path, journals)),
                Whereabouts::Gone => candidates.push((path, journals, false)),
                Whereabouts::There if seen.is_in_git() => candidates.push((path, journals, true)),
                Whereabouts::There => {}
            }
        }
        let asked: Vec<JournalState> =
            candidates.iter().flat_map(|(_, journals, _)| journals.iter().take(ASKED).copied()).collect();
        let marks = index.entries(&asked).into_iter().map(|entry| (entry.id, entry.summary.marks));
        let marks: HashMap<_, _> = marks.collect();
        let mut likely = Vec::new();
        let mut checkouts = Vec::new();
        for (path, journals, is_there) in candidates {
            let related = journals.iter().take(ASKED).filter_map(|journal| {
                let kinship = seen.kinship(marks.get(&journal.id)?.as_ref()?)?;
                // What came from another home never moves by itself.
                Some(if self.is_ours(journal.id) { kinship } else { Kinship::OtherCheckout })
            });
            let Some(kinship) = related.max() else { continue };
            match kinship {
                Kinship::SameDirectory if !is_there => certain.push((path, journals)),
                Kinship::SameRepository if !is_there && !is_removable(&path) => likely.push((path, journals)),
                _ => checkouts.push(OtherCheckout { path, conversations: journals.len(), is_there }),
            }
        }
        let mut former: Vec<FormerProject> = certain
            .iter()
            .filter_map(|(path, journals)| self.former_project(index, path, journals))
            .collect();
        // This very directory was found: clones that are gone were others.
        let likely = likely.into_iter();
        if former.is_empty() {
            former.extend(likely.filter_map(|(path, journals)| self.former_project(index, &path, &journals)));
        } else {
            checkouts.extend(likely.map(|(path, journals)| OtherCheckout {
                path,
                conversations: journals.len(),
                is_there: false,
            }));
        }
        former.sort_by(|one, other| (other.used, &one.path).cmp(&(one.used, &other.path)));
        checkouts.sort_by(|one, other| (!one.is_there, &one.path).cmp(&(!other.is_there, &other.path)));
        // What cannot be read elsewhere is told there.
        index.take_error();
        Ok(OtherPlaces { former, checkouts })
    }

    /// What of another project comes along; `None` if nothing does.
    fn former_project(
        &self,
        index: &mut Index<'_>,
        path: &str,
        journals: &[JournalState],
    ) -> Option<FormerProject> {
        let mut entries = index.entries(journals);
        entries.retain(|entry| self.is_ours(entry.id));
        entries.sort_by(|one, other| (other.used, one.id).cmp(&(one.used, other.id)));
        Some(FormerProject {
            path: path.to_owned(),
            used: entries.first()?.used,
            conversations: entries.iter().map(|entry| entry.id).collect(),
            names: entries.into_iter().filter_map(|entry| Some((entry.summary.name?, entry.id))).collect(),
        })
    }

    /// A conversation was begun in this home, and nothing was added to it elsewhere: what it says of itself is believed.
    pub(crate) fn is_ours(&self, id: ConversationId) -> bool {
        match self.engine.origins().known(id) {
            Ok(KnownOrigin::Noted(origin)) => origin == Origin::Here,
            Ok(KnownOrigin::Before) => {
                let loaded = load(self.engine.store(), id).ok();
                let origin = loaded.and_then(|loaded| self.engine.origin(id, &loaded.conversation).ok());
                origin == Some(Origin::Here)
            }
            Ok(KnownOrigin::Nothing) | Err(_) => false,
        }
    }

    /// The conversation of this project, under its former path, that was used last, or one before it; only where it has
    /// none of its own.
    pub(crate) fn newest_of_former(
        &self,
        index: &mut Index<'_>,
        project: &str,
        before: usize,
    ) -> Result<Option<ConversationId>, Error> {
        if before > 0 && Self::newest(index, project, 0)?.is_some() {
            return Ok(None);
        }
        let places = self.places_besides(index, project)?;
        match (places.the_former()?, places.told_of_checkouts()) {
            (Some(former), _) => Ok(former.conversations.get(before).copied()),
            (None, Some(others)) => {
                Err(Error::not_found(format!("this project has no conversation yet; {others}")))
            }
            (None, None) => Ok(None),
        }
    }

    /// The conversation of that name under a former path of this project.
    pub(crate) fn named_in_former(
        &self,
        index: &mut Index<'_>,
        project: &str,
        name: &str,
    ) -> Result<Option<ConversationId>, Error> {
        if steps_back(name)?.is_some() {
            return Ok(None);
        }
        let places = self.places_besides(index, project)?;
        let names = places.former.iter().flat_map(|former| &former.names);
        let found: Vec<ConversationId> =
            names.filter(|(known, _)| known == name).map(|(_, id)| *id).collect();
        match found.as_slice() {
            [] => Ok(None),
            [one] if places.former.len() == 1 => Ok(Some(*one)),
            many if places.former.len() == 1 => {
                Err(crate::find_conversation::several_called(index, name, many))
            }
            _ => places.the_former().map(|_| None),
        }
    }

    /// How a project that this conversation of it tells of is this one by now; `None` if it is not, or the conversation
    /// may not come along.
    pub(crate) fn was_here(
        &self,
        id: ConversationId,
        conversation: &Conversation,
        here: &str,
    ) -> Result<Option<CameFrom>, Error> {
        let Some(info) = conversation.info.as_ref().filter(|info| info.project != here) else {
            return Ok(None);
        };
        let path = info.project.clone();
        let (base, kinship) = match Whereabouts::of(&path, here) {
            Whereabouts::There => return Ok(None),
            Whereabouts::Here(base) => (base, Some(Kinship::SameDirectory)),
            Whereabouts::Gone => {
                let seen = SeenProject::look(Path::new(here));
                let own = conversation.marks.as_ref().and_then(|marks| seen.kinship(marks));
                let kinship = own.or_else(|| self.kinship_of_others(&seen, &path).ok().flatten());
                (PathBuf::from(here), kinship)
            }
        };
        let Some(kinship) = kinship else { return Ok(None) };
        if self.engine.store().files().is_err() || self.engine.origin(id, conversation)? != Origin::Here {
            return Ok(None);
        }
        Ok(Some(CameFrom { path, base, alone: kinship == Kinship::OtherCheckout }))
    }

    fn kinship_of_others(&self, seen: &SeenProject, path: &str) -> Result<Option<Kinship>, Error> {
        let mut journals = self.engine.store().look(Some(path))?;
        journals.sort_unstable_by_key(|journal| std::cmp::Reverse(journal.modified));
        journals.truncate(ASKED);
        let mut entries = self.index_untouched().entries(&journals);
        entries.retain(|entry| entry.summary.project.as_deref() == Some(path) && self.is_ours(entry.id));
        let kinships = entries.iter().filter_map(|entry| seen.kinship(entry.summary.marks.as_ref()?));
        Ok(kinships.max())
    }
}

/// Where a conversation comes from that belongs to this project by now.
pub(crate) struct CameFrom {
    /// Where the project was.
    pub(crate) path: String,
    /// Where its files are now.
    base: PathBuf,
    /// The others stay: it was only another checkout.
    pub(crate) alone: bool,
}

impl CameFrom {
    /// Where a directory of it is now.
    pub(crate) fn place(&self, dir: &str) -> String {
        match Path::new(dir).strip_prefix(&self.path) {
            Ok(below) if below.as_os_str().is_empty() => self.base.to_string_lossy().into_owned(),
            Ok(below) => self.base.join(below).to_string_lossy().into_owned(),
            Err(_) => dir.to_owned(),
        }
    }
}

fn is_removable(path: &str) -> bool {
    REMOVABLE.iter().any(|place| Path::new(path).starts_with(place))
}
