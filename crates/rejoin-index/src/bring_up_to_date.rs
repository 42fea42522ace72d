//! Bringing the cache up to date: some threads read journals, one writes what was found.

use std::sync::mpsc::{Receiver, SendError, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rejoin_core::{ConversationId, Turn};
use rejoin_journal::{JournalError, JournalState, Store};

use crate::database::{Database, JournalRow};
use crate::facts::Facts;
use crate::failure::Failure;
use crate::fulltext::inverted_batch::InvertedBatch;
use crate::fulltext::turn_texts::texts;
use crate::fulltext::word_set::WordSet;

/// Turns are gathered to documents of about this much text: small enough to be looked through in a
/// moment, large enough that their words repeat.
const DOCUMENT: usize = 256 << 10;

/// A set of words of this size is emptied even in the middle of a turn.
const LARGEST_WORD_SET: usize = 16 << 20;

/// What was read since the last commit is lost when somebody interrupts.
const BETWEEN_COMMITS: Duration = Duration::from_secs(10);

/// Documents that wait to be written.
const QUEUE: usize = 8;

/// How many threads read, where there are more bytes to read than this.
const READERS: usize = 2;
const MUCH: u64 = 4 << 20;

/// A journal of which the cache does not hold all.
pub(crate) struct Stale {
    pub(crate) standing: JournalState,
    /// What it holds of this very file.
    pub(crate) before: Option<RowBefore>,
}

/// What the cache holds of a journal that only grew since.
pub(crate) struct RowBefore {
    pub(crate) known: JournalRow,
    /// Its facts, if they still hold.
    pub(crate) facts: Option<Facts>,
    /// Per turn, how many of its records are in the full text.
    pub(crate) worded: Vec<u64>,
    /// Its documents: key, first and last turn.
    pub(crate) documents: Vec<(i64, usize, usize)>,
}

/// For the writer, in this order for each journal.
enum Job {
    /// A journal with its facts, where they are new.
    Journal { standing: JournalState, before: Option<JournalRow>, facts: Option<Box<Facts>> },
    /// A document of it that no longer holds.
    Outdated(i64),
    /// New words of it.
    Document { turns: (usize, usize), newest: i64, part: bool, words: WordSet },
    /// Those were all.
    Worded(Vec<u64>),
    /// There is no more to say about a journal of that size.
    Done(u64),
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

impl From<SendError<(usize, Job)>> for Stop {
    fn from(_: SendError<(usize, Job)>) -> Self {
        Stop::NoWriter
    }
}

/// Reads journals in the given order and stores what was found, with their words if `wording`.
/// `progress` is told the size of each.
pub(crate) fn update(
    database: &Database,
    store: &dyn Store,
    stale: Vec<Stale>,
    wording: bool,
    progress: &mut dyn FnMut(u64),
) -> Result<(), Failure> {
    let much = stale.iter().map(|journal| journal.standing.bytes).sum::<u64>() > MUCH;
    let readers = if much { READERS } else { 1 };
    let (sender, receiver) = sync_channel(QUEUE);
    let stale = Mutex::new(stale.into_iter());
    let emptied = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for number in 0..readers {
            let reader = Reader { number, store, writer: sender.clone(), emptied: &emptied };
            let read = || reader.read_all(&stale, wording);
            match std::thread::Builder::new().spawn_scoped(scope, read) {
                Err(error) if number == 0 => return Err(Failure::Unusable(error.to_string())),
                // Those that are there do it all.
                Err(_) => break,
                Ok(_) => {}
            }
        }
        drop(sender);
        let written = carry_out(database, receiver, &emptied, progress);
        if written.is_err() {
            // What was begun is not to be seen by this process either.
            let _ = database.rollback();
        }
        written
    })
}

/// A thread that reads.
struct Reader<'a> {
    number: usize,
    store: &'a dyn Store,
    writer: SyncSender<(usize, Job)>,
    /// Sets that were emptied come back.
    emptied: &'a Mutex<Vec<WordSet>>,
}

impl Reader<'_> {
    fn read_all(self, stale: &Mutex<std::vec::IntoIter<Stale>>, wording: bool) {
        loop {
            let next = stale.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(journal) = next else { return };
            let bytes = journal.standing.bytes;
            if let Err(Stop::NoWriter) = self.read(journal, wording) {
                return;
            }
            if self.tell(Job::Done(bytes)).is_err() {
                return;
            }
        }
    }

    fn tell(&self, job: Job) -> Result<(), Stop> {
        Ok(self.writer.send((self.number, job))?)
    }

    fn read(&self, journal: Stale, wording: bool) -> Result<(), Stop> {
        let Stale { standing, before } = journal;
        let (known, facts, worded, documents) = match before {
            Some(before) => (Some(before.known), before.facts, before.worded, before.documents),
            None => (None, None, Vec::new(), Vec::new()),
        };
        let (facts, new) = if let Some(facts) = facts {
            (facts, None)
        } else {
            let facts = Facts::read(self.store, standing.id)?;
            (facts.clone(), Some(Box::new(facts)))
        };
        self.tell(Job::Journal { standing, before: known, facts: new })?;
        if !wording {
            return Ok(());
        }
        let (outdated, turns) = changed(&facts, &worded, &documents);
        for key in outdated {
            self.tell(Job::Outdated(key))?;
        }
        self.gather(standing.id, &facts, &turns)?;
        let worded = facts.places.iter().map(|places| places.len() as u64).collect();
        self.tell(Job::Worded(worded))
    }

    /// Gathers the words of some turns to documents.
    fn gather(&self, id: ConversationId, facts: &Facts, turns: &[usize]) -> Result<(), Stop> {
        let mut words = self.empty_set();
        for (first, last) in documents(facts, turns) {
            // Turns that stand side by side are read in one go; one that was amended is merged first.
            let whole = (first..=last).filter_map(|at| facts.turn(at));
            let (amended, plain): (Vec<Turn>, Vec<Turn>) = whole.partition(|turn| turn.revision > 0);
            let together = plain.into_iter().reduce(|mut all, turn| {
                all.records.extend(turn.records);
                all
            });
            let newest = newest(facts, first, last);
            let mut part = false;
            let mut sent = Ok(());
            for turn in amended.iter().chain(&together) {
                texts(self.store, id, turn, &mut |text| {
                    words.add(text.content, text.source.is_said());
                    if words.size() > LARGEST_WORD_SET && sent.is_ok() && first == last {
                        part = true;
                        sent = self.send((first, last), newest, part, &mut words);
                    }
                })?;
            }
            sent?;
            self.send((first, last), newest, part, &mut words)?;
        }
        Ok(())
    }

    fn empty_set(&self) -> WordSet {
        self.emptied.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    fn send(&self, turns: (usize, usize), newest: i64, part: bool, words: &mut WordSet) -> Result<(), Stop> {
        let words = std::mem::replace(words, self.empty_set());
        self.tell(Job::Document { turns, newest, part, words })
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

/// When the newest of some turns began. One that does not tell may count as any time.
fn newest(facts: &Facts, first: usize, last: usize) -> i64 {
    let turns = facts.turns.iter().take(last + 1).skip(first);
    turns.map(|turn| turn.started.unwrap_or(i64::MAX)).max().unwrap_or(i64::MAX)
}

/// Puts turns together to documents: first and last turn of each.
fn documents(facts: &Facts, turns: &[usize]) -> Vec<(usize, usize)> {
    let mut documents: Vec<(usize, usize)> = Vec::new();
    let mut bytes = 0;
    for &at in turns {
        let its = facts.turns.get(at).map_or(0, |turn| turn.bytes);
        match documents.last_mut() {
            Some((_, last)) if *last + 1 == at && bytes + its <= DOCUMENT => *last = at,
            _ => {
                documents.push((at, at));
                bytes = 0;
            }
        }
        bytes += its;
    }
    documents
}

fn carry_out(
    database: &Database,
    jobs: Receiver<(usize, Job)>,
    emptied: &Mutex<Vec<WordSet>>,
    progress: &mut dyn FnMut(u64),
) -> Result<(), Failure> {
    let mut begun: Option<Instant> = None;
    // The journal each reader is at.
    let mut journals = [None; READERS];
    let mut batch = InvertedBatch::default();
    for (reader, job) in jobs {
        // What is only half there is begun again by the next one who comes.
        if begun.is_some_and(|since| since.elapsed() > BETWEEN_COMMITS) {
            database.put_segment(&mut batch)?;
            database.commit()?;
            begun = None;
        }
        if begun.is_none() {
            database.begin()?;
            begun = Some(Instant::now());
        }
        match (job, journals[reader]) {
            (Job::Journal { standing, before, facts }, _) => {
                journals[reader] = put_journal(database, &standing, before.as_ref(), facts.as_deref())?;
            }
            (Job::Done(bytes), _) => progress(bytes),
            // Another process was faster.
            (_, None) => {}
            (Job::Outdated(key), Some(_)) => database.remove_document(key)?,
            (Job::Document { turns, newest, part, mut words }, Some(journal)) => {
                let key = database.put_document(journal, turns, newest, part)?;
                batch.add(key.cast_unsigned(), &words);
                words.clear();
                emptied.lock().unwrap_or_else(PoisonError::into_inner).push(words);
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
    standing: &JournalState,
    before: Option<&JournalRow>,
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
