//! Full text over everything that was ever said or done.

use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::time::{SystemTime, UNIX_EPOCH};

use rejoin_core::{Agent, ConversationId, MessageId, TurnId};
use rejoin_journal::{JournalError, JournalState, Store};

use crate::database::{Database, Document};
use crate::facts::{Facts, Summary};
use crate::failure::Failure;
use crate::fulltext::match_turn::{Matcher, TurnMatch};
use crate::fulltext::query::Query;
use crate::fulltext::segments::unite;
use crate::fulltext::turn_texts::{TextSource, texts};
use crate::fulltext::word_block::Postings;
use crate::index::{Compared, Index};
use crate::last_use::{last_use, time_of};

/// Which hits are wanted.
#[derive(Clone, Debug)]
pub struct Search<'a> {
    /// What is looked for.
    pub query: &'a Query,
    /// Only in this project.
    pub project: Option<&'a str>,
    /// And in these, whatever their project is.
    pub also: &'a BTreeSet<ConversationId>,
    /// Only turns of this agent.
    pub agent: Option<&'a Agent>,
    /// Only in conversations with all of these labels.
    pub tags: &'a [String],
    /// At most so many.
    pub limit: usize,
}

/// A turn in which all words were found.
#[derive(Clone, PartialEq, Debug)]
pub struct Hit {
    /// The conversation.
    pub conversation: ConversationId,
    /// What a list shows of it.
    pub summary: Summary,
    /// The turn; `None` if the conversation's name was found.
    pub turn: Option<TurnId>,
    /// Which turn of the conversation it is, counted from 1.
    pub number: Option<usize>,
    /// The message in it.
    pub message: Option<MessageId>,
    /// The agent of the turn.
    pub agent: Option<Agent>,
    /// When the turn began, in milliseconds since 1970; else when the conversation was last used.
    pub time: i64,
    /// Who said it, or what it came from.
    pub source: TextSource,
    /// All words were said, not done.
    pub said: bool,
    /// They stand side by side.
    pub adjacent: bool,
    /// The text around it, on one line.
    pub snippet: String,
    /// The words in it that were looked for.
    pub marks: Vec<Range<usize>>,
}

/// What a search found.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Hits {
    /// The best ones, best first.
    pub hits: Vec<Hit>,
    /// There may be more.
    pub more: bool,
}

impl Index<'_> {
    /// Searches. What was said comes before what was done, words side by side before scattered
    /// ones, newer before older; the best are chosen among twice as many of the newest. With the
    /// cache or without, the answer is the same (`tests/it/same_answer.rs`).
    pub fn search(&mut self, search: &Search<'_>) -> Result<Hits, JournalError> {
        let mut standings = self.store.look(search.project)?;
        if search.project.is_some() {
            for id in search.also {
                standings.extend(self.store.look_at(*id)?);
            }
            standings.sort_unstable_by_key(|standing| standing.id);
            standings.dedup_by_key(|standing| standing.id);
        }
        let compared = self.refresh(&standings, true);
        let mut run = SearchRun::new(search, self.store);
        let (indexed, others): (Vec<Compared>, Vec<Compared>) =
            compared.into_iter().partition(|compared| compared.known.is_some());
        // What the cache does not have yet is newer than most it has.
        self.read_through(&mut run, &others);
        if self.ask(|database| run.indexed(database, &indexed)).is_none() {
            // The cache failed in the middle: the journals tell all of it.
            self.read_through(&mut run, &indexed);
        }
        if search.project.is_none() {
            self.forget_all_but(&standings);
        }
        Ok(run.finish())
    }

    /// Searches journals themselves, the one that was used last first.
    fn read_through(&mut self, run: &mut SearchRun<'_>, journals: &[Compared]) {
        let used = |compared: &Compared| {
            let standing = &compared.standing;
            milliseconds(time_of(last_use(self.store, standing.id), standing))
        };
        let mut newest: Vec<(i64, &Compared)> =
            journals.iter().map(|compared| (used(compared), compared)).collect();
        newest.sort_by_key(|(used, compared)| (Reverse(*used), compared.standing.id));
        for (used, compared) in newest {
            if run.has_enough_said(used) {
                break;
            }
            if let Some(facts) = self.fold(&compared.standing) {
                run.whole(&compared.standing, &facts);
            }
        }
    }
}

fn milliseconds(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as i64
}

/// A search under way.
struct SearchRun<'a> {
    search: &'a Search<'a>,
    store: &'a dyn Store,
    matcher: Matcher<'a>,
    /// What was found, each with the time it counts as: a turn is never newer than its conversation.
    hits: Vec<(i64, Hit)>,
    /// How many of them were said.
    said: usize,
    /// Turns that were looked through; `None` is the name.
    seen: HashSet<(ConversationId, Option<usize>)>,
    /// The best are chosen among so many: more than are shown.
    enough: usize,
}

impl<'a> SearchRun<'a> {
    fn new(search: &'a Search<'a>, store: &'a dyn Store) -> Self {
        Self {
            search,
            store,
            matcher: Matcher::new(search.query),
            hits: Vec::new(),
            said: 0,
            seen: HashSet::new(),
            enough: search.limit.saturating_mul(2),
        }
    }

    /// Nothing that is no newer than this can be among those that are chosen from.
    fn has_enough_said(&self, newest: i64) -> bool {
        let newer = |(time, hit): &&(i64, Hit)| hit.said && *time > newest;
        self.said >= self.enough && self.hits.iter().filter(newer).count() >= self.enough
    }

    /// The same, once all that was said is known.
    fn has_enough(&self, newest: i64) -> bool {
        let better = |(time, hit): &&(i64, Hit)| hit.said || *time > newest;
        self.hits.len() >= self.enough && self.hits.iter().filter(better).count() >= self.enough
    }

    /// Searches journals the cache knows all of: it names the turns that are worth a look.
    fn indexed(&mut self, database: &Database, journals: &[Compared]) -> Result<(), Failure> {
        let known =
            journals.iter().filter_map(|compared| Some((compared.known.as_ref()?, compared.standing)));
        let known = known.filter(|(known, standing)| self.in_project(standing.id, known.project.as_deref()));
        let journals: HashMap<i64, JournalState> =
            known.clone().map(|(known, standing)| (known.key, standing)).collect();
        for (known, standing) in known.collect::<Vec<_>>() {
            if let Some(name) = &known.name
                && self.matches_name(name)
            {
                let facts = database.facts(known.key)?;
                self.name(&standing, &facts);
            }
        }
        let mut cached = HashMap::new();
        let candidates = candidates(database, self.search.query)?;
        let keys: Vec<i64> = candidates.iter().map(|(key, _)| key.cast_signed()).collect();
        let documents =
            database.documents_of(&keys)?.into_iter().zip(candidates.iter().map(|(_, said)| *said));
        let mut documents: Vec<(Document, bool)> =
            documents.filter(|(document, _)| journals.contains_key(&document.journal)).collect();
        documents.sort_by_key(|(document, _)| Reverse((document.newest, document.key)));
        for said in [true, false] {
            for (document, _) in documents.iter().filter(|document| document.1 == said) {
                let newest = document.newest;
                if if said { self.has_enough_said(newest) } else { self.has_enough(newest) } {
                    break;
                }
                self.document(database, document, &journals, &mut cached)?;
            }
            if self.said >= self.enough {
                break;
            }
        }
        Ok(())
    }

    fn document(
        &mut self,
        database: &Database,
        document: &Document,
        journals: &HashMap<i64, JournalState>,
        cached: &mut HashMap<i64, Facts>,
    ) -> Result<(), Failure> {
        let Some(standing) = journals.get(&document.journal) else { return Ok(()) };
        let facts = match cached.entry(document.journal) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(database.facts(document.journal)?),
        };
        for at in document.first..=document.last {
            self.turn(standing, facts, at);
        }
        Ok(())
    }

    /// Looks through a whole journal.
    fn whole(&mut self, standing: &JournalState, facts: &Facts) {
        if !self.in_project(standing.id, facts.summary.project.as_deref()) {
            return;
        }
        if facts.summary.name.as_ref().is_some_and(|name| self.matches_name(name)) {
            self.name(standing, facts);
        }
        for at in (0..facts.turns.len()).rev() {
            self.turn(standing, facts, at);
        }
    }

    fn in_project(&self, id: ConversationId, project: Option<&str>) -> bool {
        // A journal whose first line is lost belongs to whoever finds it.
        let wanted = self.search.project;
        project.is_none() || wanted.is_none() || wanted == project || self.search.also.contains(&id)
    }

    fn matches_name(&mut self, name: &str) -> bool {
        self.matcher.look_at(None, TextSource::Name, name);
        self.matcher.take().is_some()
    }

    fn has_tags(&self, facts: &Facts) -> bool {
        self.search.tags.iter().all(|tag| facts.summary.tags.contains(tag))
    }

    fn name(&mut self, standing: &JournalState, facts: &Facts) {
        let agents = &facts.summary.agents;
        let its = self.search.agent.is_none_or(|agent| agents.contains(agent)) && self.has_tags(facts);
        if its && self.seen.insert((standing.id, None)) {
            self.matcher.look_at(None, TextSource::Name, facts.summary.name.as_deref().unwrap_or_default());
            if let Some(found) = self.matcher.take() {
                self.hit(standing, facts, None, found);
            }
        }
    }

    fn turn(&mut self, standing: &JournalState, facts: &Facts, at: usize) {
        let Some(turn) = facts.turn(at) else { return };
        let its =
            self.search.agent.is_none_or(|agent| turn.agent.as_ref() == Some(agent)) && self.has_tags(facts);
        if !its || !self.seen.insert((standing.id, Some(at))) {
            return;
        }
        // A journal that was deleted since has no hits any more.
        let _ = texts(self.store, standing.id, &turn, &mut |text| self.matcher.look(&text));
        if let Some(found) = self.matcher.take() {
            self.hit(standing, facts, Some(at), found);
        }
    }

    fn hit(&mut self, standing: &JournalState, facts: &Facts, at: Option<usize>, found: TurnMatch) {
        let turn = at.and_then(|at| facts.turns.get(at));
        let used = milliseconds(time_of(facts.summary.used, standing));
        let time = turn.and_then(|turn| turn.started).unwrap_or(used);
        self.said += usize::from(found.said);
        let hit = Hit {
            conversation: standing.id,
            summary: facts.summary.clone(),
            turn: turn.map(|turn| turn.id),
            number: at.map(|at| at + 1),
            message: found.message,
            agent: turn.and_then(|turn| turn.agent.clone()),
            time,
            source: found.source,
            said: found.said,
            adjacent: found.adjacent,
            snippet: found.snippet,
            marks: found.marks,
        };
        self.hits.push((time.min(used), hit));
    }

    fn finish(mut self) -> Hits {
        // The newest of those that were said, then of the others.
        let order = |hit: &Hit| (hit.conversation, Reverse(hit.number));
        self.hits.sort_by_key(|(time, hit)| (Reverse((hit.said, *time)), order(hit)));
        self.hits.truncate(self.enough);
        self.hits.sort_by_key(|(time, hit)| (Reverse((hit.said, hit.adjacent, *time)), order(hit)));
        let more = self.hits.len() > self.search.limit;
        self.hits.truncate(self.search.limit);
        Hits { hits: self.hits.into_iter().map(|(_, hit)| hit).collect(), more }
    }
}

/// Documents that hold all words, ascending, each with whether it holds them as said. Of a turn so
/// large that its words stand in several documents, the first stands for all.
fn candidates(database: &Database, query: &Query) -> Result<Postings, Failure> {
    let catalog = database.catalog()?;
    let divided = catalog.divided();
    let mut common: Option<Postings> = None;
    for (word, open) in query.words() {
        let mut places = database.places(&catalog.segments, word, open)?;
        if !divided.is_empty() {
            for (document, _) in &mut places {
                *document = divided.get(document).copied().unwrap_or(*document);
            }
            unite(&mut places);
        }
        common = Some(match common {
            None => places,
            Some(common) => both(&common, &places),
        });
    }
    Ok(common.unwrap_or_default())
}

/// What two lists have in common.
fn both(one: &Postings, other: &Postings) -> Postings {
    let mut found = Postings::new();
    let mut rest = other.iter().peekable();
    for (document, said) in one {
        while rest.next_if(|(next, _)| next < document).is_some() {}
        if let Some((_, too)) = rest.next_if(|(next, _)| next == document) {
            found.push((*document, *said && *too));
        }
    }
    found
}
