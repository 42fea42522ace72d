//! Bringing the cache up to date: one thread reads journals, another writes what was found.

use std::sync::mpsc::{Receiver, SendError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use rejoin_core::ConversationId;
use rejoin_journal::{JournalError, Standing, Store};

use crate::bag::Bag;
use crate::batch::Batch;
use crate::database::{Database, Known};
use crate::facts::Facts;
use crate::failure::Failure;
use crate::texts::texts;

/// Turns are gathered to documents of about this much text: small enough to be looked through in a
/// moment, large enough that their words repeat.
const DOCUMENT: usize = 256 << 10;

/// A bag of this size is emptied even in the middle of a turn.
const LARGEST_BAG: usize = 16 << 20;

/// What was read since the last commit is lost when somebody interrupts.
const BETWEEN_COMMITS: Duration = Duration::from_secs(10);

/// Documents that wait to be written.
const QUEUE: usize = 8;

/// A journal of which the cache does not hold all.
pub(crate) struct Stale {
    pub(crate) standing: Standing,
    /// What it holds of this very file.
    pub(crate) before: Option<Before>,
}

/// What the cache holds of a journal that only grew since.
pub(crate) struct Before {
    pub(crate) known: Known,
    /// Its facts, if they still hold.
    pub(crate) facts: Option<Facts>,
    /// Per turn, how many of its records are in the full text.
    pub(crate) worded: Vec<u64>,
    /// Its documents: key, first and last turn.
    pub(crate) documents: Vec<(i64, usize, usize)>,
}

/// For the writer, in this order.
enum Job {
    /// A journal with its facts, where they are new.
    Journal { standing: Standing, before: Option<Known>, facts: Option<Box<Facts>> },
    /// A document of it that no longer holds.
    Outdated(i64),
    /// New words of it.
    Document { turns: (usize, usize), part: bool, words: Box<Bag> },
    /// Those were all.
    Worded(Vec<u64>),
}

/// Why reading stopped.
enum Stop {
    /// This journal cannot be read; whoever needs it will say so.
    Unreadable,
    /// The writer is gone.
    NoWriter,
}

impl From<JournalError> for Stop {
    fn from(_: JournalError) -> Self {
        Stop::Unreadable
    }
}

impl From<SendError<Job>> for Stop {
    fn from(_: SendError<Job>) -> Self {
        Stop::NoWriter
    }
}

/// Reads journals in the given order and stores what was found, with their words if `wording`.
/// `progress` is told the size of each.
pub(crate) fn update(
    database: &mut Database,
    store: &dyn Store,
    stale: Vec<Stale>,
    wording: bool,
    progress: &mut dyn FnMut(u64),
) -> Result<(), Failure> {
    let (sender, receiver) = sync_channel(QUEUE);
    let (back, bags) = sync_channel(QUEUE);
    std::thread::scope(|scope| {
        let writer = scope.spawn(move || write(database, &receiver, &back));
        let reader = Reader { store, writer: sender, bags };
        for journal in stale {
            let bytes = journal.standing.bytes;
            if let Err(Stop::NoWriter) = reader.read(journal, wording) {
                break;
            }
            progress(bytes);
        }
        drop(reader);
        writer.join().unwrap_or(Err(Failure::Ruined))
    })
}

/// The thread that reads.
struct Reader<'a> {
    store: &'a dyn Store,
    writer: SyncSender<Job>,
    /// Bags that were emptied come back.
    bags: Receiver<Box<Bag>>,
}

impl Reader<'_> {
    fn read(&self, journal: Stale, wording: bool) -> Result<(), Stop> {
        let Stale { standing, before } = journal;
        let (known, facts, worded, documents) = match before {
            Some(before) => (Some(before.known), before.facts, before.worded, before.documents),
            None => (None, None, Vec::new(), Vec::new()),
        };
        let (facts, new) = match facts {
            Some(facts) => (facts, None),
            None => {
                let facts = Facts::read(self.store, standing.id)?;
                (facts.clone(), Some(Box::new(facts)))
            }
        };
        self.writer.send(Job::Journal { standing, before: known, facts: new })?;
        if !wording {
            return Ok(());
        }
        let (outdated, turns) = changed(&facts, &worded, &documents);
        for key in outdated {
            self.writer.send(Job::Outdated(key))?;
        }
        self.gather(standing.id, &facts, &turns)?;
        let worded = facts.places.iter().map(|places| places.len() as u64).collect();
        Ok(self.writer.send(Job::Worded(worded))?)
    }

    /// Gathers the words of some turns to documents.
    fn gather(&self, id: ConversationId, facts: &Facts, turns: &[usize]) -> Result<(), Stop> {
        let mut bag = self.empty_bag();
        let mut begun: Option<(usize, usize)> = None;
        for &at in turns {
            let Some(turn) = facts.turn(at) else { continue };
            let large = facts.turns.get(at).is_some_and(|turn| turn.bytes > DOCUMENT);
            if let Some(turns) = begun
                && (large || bag.taken() >= DOCUMENT || turns.1 + 1 != at)
            {
                self.send(turns, false, &mut bag)?;
                begun = None;
            }
            let turns = (begun.map_or(at, |turns| turns.0), at);
            let mut part = false;
            let mut sent = Ok(());
            texts(self.store, id, &turn, &mut |text| {
                bag.add(text.text, text.source.is_said());
                if bag.size() > LARGEST_BAG && sent.is_ok() {
                    part = true;
                    sent = self.send(turns, part, &mut bag);
                }
            })?;
            sent?;
            begun = Some(turns);
            if part {
                self.send(turns, part, &mut bag)?;
                begun = None;
            }
        }
        match begun {
            Some(turns) => self.send(turns, false, &mut bag),
            None => Ok(()),
        }
    }

    fn empty_bag(&self) -> Box<Bag> {
        self.bags.try_recv().unwrap_or_default()
    }

    fn send(&self, turns: (usize, usize), part: bool, bag: &mut Box<Bag>) -> Result<(), Stop> {
        let words = std::mem::replace(bag, self.empty_bag());
        Ok(self.writer.send(Job::Document { turns, part, words })?)
    }
}

/// Documents that no longer hold, and the turns whose words are wanted.
fn changed(facts: &Facts, worded: &[u64], documents: &[(i64, usize, usize)]) -> (Vec<i64>, Vec<usize>) {
    let mut wanted: Vec<bool> = facts
        .places
        .iter()
        .enumerate()
        .map(|(turn, places)| worded.get(turn) != Some(&(places.len() as u64)))
        .collect();
    let mut outdated = Vec::new();
    let changed = wanted.clone();
    for &(key, first, last) in documents {
        let holds = |turn: usize| changed.get(turn) == Some(&false);
        if !(first..=last).all(holds) {
            outdated.push(key);
            wanted.iter_mut().take(last + 1).skip(first).for_each(|turn| *turn = true);
        }
    }
    (outdated, (0..wanted.len()).filter(|turn| wanted[*turn]).collect())
}

fn write(database: &mut Database, jobs: &Receiver<Job>, bags: &SyncSender<Box<Bag>>) -> Result<(), Failure> {
    let written = carry_out(database, jobs, bags);
    if written.is_err() {
        // What was begun is not to be seen by this process either.
        let _ = database.rollback();
    }
    written
}

fn carry_out(
    database: &mut Database,
    jobs: &Receiver<Job>,
    bags: &SyncSender<Box<Bag>>,
) -> Result<(), Failure> {
    let mut begun: Option<Instant> = None;
    let mut journal = None;
    let mut batch = Batch::default();
    for job in jobs {
        if let (Job::Journal { .. }, Some(since)) = (&job, begun)
            && since.elapsed() > BETWEEN_COMMITS
        {
            database.put_segment(&mut batch)?;
            database.commit()?;
            begun = None;
        }
        if begun.is_none() {
            database.begin()?;
            begun = Some(Instant::now());
        }
        match (job, journal) {
            (Job::Journal { standing, before, facts }, _) => {
                journal = put_journal(database, &standing, before.as_ref(), facts.as_deref())?;
            }
            // Another process was faster.
            (_, None) => {}
            (Job::Outdated(key), Some(_)) => database.remove_document(key)?,
            (Job::Document { turns, part, mut words }, Some(journal)) => {
                let key = database.put_document(journal, turns, part)?;
                batch.add(key.cast_unsigned(), &words);
                words.clear();
                // One too many is thrown away.
                let _ = bags.try_send(words);
                if batch.is_full() {
                    database.put_segment(&mut batch)?;
                }
            }
            (Job::Worded(worded), Some(journal)) => database.put_worded(journal, worded)?,
        }
    }
    if begun.is_some() {
        database.put_segment(&mut batch)?;
        database.merge_segments()?;
        database.commit()?;
    }
    Ok(())
}

/// Stores facts, where they are new, and gives the key; `None` if what was known before the journal
/// was read is no longer what the cache holds.
fn put_journal(
    database: &Database,
    standing: &Standing,
    before: Option<&Known>,
    facts: Option<&Facts>,
) -> Result<Option<i64>, Failure> {
    let now = database.known_of(&[*standing])?.pop();
    match (now, before) {
        (Some(now), Some(before)) if now == *before => {}
        (_, Some(_)) => return Ok(None),
        (Some(now), None) if now.standing == *standing => return Ok(None),
        (Some(now), None) => database.forget(now.key)?,
        (None, None) => {}
    }
    match facts {
        Some(facts) => database.put_facts(before.map(|before| before.key), standing, facts).map(Some),
        None => Ok(before.map(|before| before.key)),
    }
}
