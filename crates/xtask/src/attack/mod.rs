//! `cargo xtask attack`: kills and faults at every system call, and what must hold all the same.
//!
//! Two forms. *Faults*: each command is run again and again, with a fault at each of its system calls in turn.
//! *Rounds*: commands chosen at random on worlds that go on living, each with a fault at a random call. Everything is
//! chosen from the seed; which call is the n-th may still differ a little from run to run, because threads and
//! processes race, so a find may need a few tries to come again.

mod acts;
mod fault;
mod judge;
mod memory;
mod power;
mod random;
mod report;
mod state;
mod tracer;
mod world;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use self::acts::{ACTS, Act, Attempt, Marks};
use self::fault::Fault;
use self::judge::{Round, judge};
use self::random::Random;
use self::report::Op;
use self::state::State;
use self::tracer::Tracer;
use self::world::World;
use crate::workspace;

const ROUNDS: usize = 2000;
/// Rounds in one world, before a new one is made.
const ROUNDS_OF_A_WORLD: usize = 10;
/// How long the short form begins new things.
const SHORT: Duration = Duration::from_secs(45);
/// After so many finds there is enough to look at.
const ENOUGH: usize = 20;

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let mut options = Options::parse(arguments)?;
    options.rejoin = build(options.debug)?;
    let campaign = Campaign::new(options)?;
    campaign.faults()?;
    campaign.rounds()?;
    campaign.end()
}

/// The form for `cargo xtask test`: a few rounds, and all faults of the commands that write most.
pub(crate) fn short() -> Result<()> {
    let options = Options {
        rounds: 100,
        faults: Some(vec![Act::Resumed, Act::ImportLonger]),
        budget: Some(SHORT),
        rejoin: build(true)?,
        ..Options::default()
    };
    let campaign = Campaign::new(options)?;
    campaign.faults()?;
    campaign.rounds()?;
    campaign.end()
}

struct Options {
    rounds: usize,
    seed: u64,
    /// Only this world.
    world: Option<usize>,
    /// The commands whose every call is hit; all of them without a list.
    faults: Option<Vec<Act>>,
    /// Nothing is begun after this long.
    budget: Option<Duration>,
    debug: bool,
    rejoin: PathBuf,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            rounds: ROUNDS,
            seed: 1,
            world: None,
            faults: None,
            budget: None,
            debug: false,
            rejoin: PathBuf::new(),
        }
    }
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut words = arguments.iter();
        let mut only_rounds = false;
        while let Some(word) = words.next() {
            let mut number = || -> Result<u64> {
                let value = words.next().with_context(|| format!("{word} needs a number"))?;
                value.parse().with_context(|| format!("{word} needs a number, not {value:?}"))
            };
            match word.as_str() {
                "--rounds" => options.rounds = number()? as usize,
                "--seed" => options.seed = number()?,
                "--world" => options.world = Some(number()? as usize),
                "--no-faults" => only_rounds = true,
                "--debug" => options.debug = true,
                "--faults" => {
                    let name = words.next().context("--faults needs the name of a command")?;
                    let act = ACTS.iter().find(|act| act_name(**act) == *name);
                    let act = act.with_context(|| {
                        let known: Vec<String> = ACTS.iter().map(|act| act_name(*act)).collect();
                        format!("there is no {name:?}; there are {}", known.join(", "))
                    })?;
                    options.faults.get_or_insert_default().push(*act);
                    options.rounds = 0;
                }
                other => bail!("unexpected {other:?}"),
            }
        }
        if only_rounds || options.world.is_some() {
            options.faults = Some(Vec::new());
        }
        Ok(options)
    }
}

/// `ImportLonger` is `import-longer`.
fn act_name(act: Act) -> String {
    let mut name = String::new();
    for c in format!("{act:?}").chars() {
        if c.is_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

fn build(debug: bool) -> Result<PathBuf> {
    let mut cargo = workspace::cargo();
    cargo.args(["build", "--quiet", "--package=rejoin-cli"]);
    if !debug {
        eprintln!("building in release mode …");
        cargo.arg("--release");
    }
    workspace::run(&mut cargo)?;
    Ok(workspace::target().join(if debug { "debug" } else { "release" }).join("rejoin"))
}

struct Campaign {
    options: Options,
    tracer: Tracer,
    begun: Instant,
    usual: Mutex<HashMap<Act, Vec<Op>>>,
    finds: AtomicUsize,
    faults: AtomicUsize,
    rounds: AtomicUsize,
    hits: AtomicUsize,
}

impl Campaign {
    fn new(options: Options) -> Result<Self> {
        Ok(Self {
            tracer: Tracer::build()?,
            options,
            begun: Instant::now(),
            usual: Mutex::default(),
            finds: AtomicUsize::new(0),
            faults: AtomicUsize::new(0),
            rounds: AtomicUsize::new(0),
            hits: AtomicUsize::new(0),
        })
    }

    /// A fault at every call of every command.
    fn faults(&self) -> Result<()> {
        let acts: Vec<Act> = match &self.options.faults {
            Some(acts) => acts.clone(),
            None => ACTS.into_iter().filter(|act| *act != Act::LongTool).collect(),
        };
        self.work(acts.len(), |at| self.every_fault(acts[at]))
    }

    /// Random faults in random commands.
    fn rounds(&self) -> Result<()> {
        let worlds = self.options.rounds.div_ceil(ROUNDS_OF_A_WORLD);
        if worlds == 0 && self.options.world.is_none() {
            return Ok(());
        }
        let counted: Vec<Act> = ACTS.into_iter().filter(|act| *act != Act::LongTool).collect();
        self.work(counted.len(), |at| self.count(counted[at]))?;
        match self.options.world {
            Some(world) => self.world(world),
            None => self.work(worlds, |world| self.world(world)),
        }
    }

    /// Does numbered pieces of work on all processors.
    fn work(&self, pieces: usize, work: impl Fn(usize) -> Result<()> + Sync) -> Result<()> {
        let next = AtomicUsize::new(0);
        let workers = thread::available_parallelism().map_or(2, usize::from).min(pieces);
        thread::scope(|scope| {
            let one = || -> Result<()> {
                loop {
                    let piece = next.fetch_add(1, Ordering::Relaxed);
                    if piece >= pieces || self.is_over() {
                        return Ok(());
                    }
                    work(piece)?;
                }
            };
            let running: Vec<_> = (0..workers).map(|_| scope.spawn(one)).collect();
            running.into_iter().try_for_each(|worker| match worker.join() {
                Ok(result) => result,
                Err(_) => bail!("a worker panicked"),
            })
        })
    }

    fn every_fault(&self, act: Act) -> Result<()> {
        let mut world = World::new(&self.options.rejoin)?;
        let (attempt, mut marks, mut random) = self.begin(act, &mut world)?;
        let before = State::of(&world)?;
        world.save()?;
        let counted = world.traced(&self.tracer, &attempt.call, None)?;
        let round = Round { before: &before, attempt: &attempt, fault: None, mark: None };
        let verdict = judge(&world, &round, &counted, &mut marks, &mut random);
        self.note(
            &world,
            &attempt,
            None,
            &counted,
            &verdict.complaints,
            &format!("--faults {}", act_name(act)),
        )?;
        let (faults, begun) = (fault::every(&counted.report.ops), Instant::now());
        for fault in &faults {
            if self.is_over() {
                return Ok(());
            }
            world.restore()?;
            let traced = world.traced(&self.tracer, &attempt.call, Some(fault))?;
            let round = Round { fault: Some(fault), mark: None, ..round };
            let verdict = judge(&world, &round, &traced, &mut marks, &mut random);
            self.faults.fetch_add(1, Ordering::Relaxed);
            self.hits.fetch_add(usize::from(traced.report.hit.is_some()), Ordering::Relaxed);
            let place = format!("--faults {}", act_name(act));
            self.note(&world, &attempt, Some(fault), &traced, &verdict.complaints, &place)?;
        }
        eprintln!("   {}: {} faults, {:.0} s", act_name(act), faults.len(), begun.elapsed().as_secs_f64());
        Ok(())
    }

    /// One world: commands one after the other, each with a fault.
    fn world(&self, number: usize) -> Result<()> {
        let mut world = World::new(&self.options.rejoin)?;
        let mut marks = Marks::default();
        let mut random = Random::new(self.options.seed, number as u64);
        acts::found(&world, &mut marks)?;
        let mut state = State::of(&world)?;
        for number_of_round in 0..ROUNDS_OF_A_WORLD {
            if self.is_over() {
                return Ok(());
            }
            let act = random.pick(&ACTS).copied().unwrap_or(Act::Resumed);
            let attempt = acts::prepare(act, &mut world, &state, &mut marks, &mut random)?;
            let Some(attempt) = attempt else { continue };
            // What was prepared may have changed something.
            state = State::of(&world)?;
            let other = attempt.meanwhile(&mut marks, &mut random).filter(|_| random.once_in(6));
            let fault = match &other {
                Some(_) => fault::meanwhile(&self.usual(act), &mut random),
                None => self.random_fault(act, &mut random),
            };
            let (call, mark) = other.unzip();
            let traced = world.traced_with(&self.tracer, &attempt.call, fault.as_ref(), call.as_ref())?;
            let round =
                Round { before: &state, attempt: &attempt, fault: fault.as_ref(), mark: mark.flatten() };
            let verdict = judge(&world, &round, &traced, &mut marks, &mut random);
            self.rounds.fetch_add(1, Ordering::Relaxed);
            self.hits.fetch_add(usize::from(traced.report.hit.is_some()), Ordering::Relaxed);
            let place = format!("--seed {} --world {number}", self.options.seed);
            let place = format!("{place} (round {number_of_round})");
            self.note(&world, &attempt, fault.as_ref(), &traced, &verdict.complaints, &place)?;
            if !verdict.complaints.is_empty() {
                // What follows would be found again in every round.
                return Ok(());
            }
            state = verdict.state;
        }
        Ok(())
    }

    /// A fault at a call that the command makes when nothing is wrong. It may make fewer this time, and not meet it.
    fn random_fault(&self, act: Act, random: &mut Random) -> Option<Fault> {
        if act == Act::LongTool {
            let action = if random.once_in(2) { "kill-before" } else { "kill-after" };
            let who = random.pick(&["rejoin", "supervisor", "agent", "all"]).copied().unwrap_or("rejoin");
            return Some(Fault {
                class: "marker".to_owned(),
                number: 1,
                action,
                who,
                hold: false,
                power: false,
            });
        }
        fault::random(&self.usual(act), random)
    }

    /// The calls that a command makes when nothing is wrong.
    fn usual(&self, act: Act) -> Vec<Op> {
        self.usual.lock().unwrap_or_else(PoisonError::into_inner).get(&act).cloned().unwrap_or_default()
    }

    /// Counts the calls of a command.
    fn count(&self, act: Act) -> Result<()> {
        let mut world = World::new(&self.options.rejoin)?;
        let (attempt, _, _) = self.begin(act, &mut world)?;
        let counted = world.traced(&self.tracer, &attempt.call, None)?;
        self.usual.lock().unwrap_or_else(PoisonError::into_inner).insert(act, counted.report.ops);
        Ok(())
    }

    /// A command that is about to be given in a new world.
    fn begin(&self, act: Act, world: &mut World) -> Result<(Attempt, Marks, Random)> {
        let mut marks = Marks::default();
        let mut random = Random::new(self.options.seed, u64::MAX);
        acts::found(world, &mut marks)?;
        let state = State::of(world)?;
        let attempt = acts::prepare(act, world, &state, &mut marks, &mut random)?;
        let attempt = attempt.with_context(|| format!("there is nothing to do {act:?} on"))?;
        Ok((attempt, marks, random))
    }

    fn note(
        &self,
        world: &World,
        attempt: &Attempt,
        fault: Option<&Fault>,
        traced: &world::Traced,
        complaints: &[String],
        place: &str,
    ) -> Result<()> {
        use std::fmt::Write as _;

        if complaints.is_empty() {
            return Ok(());
        }
        let number = 1 + self.finds.fetch_add(1, Ordering::Relaxed);
        let kept = workspace::target().join("attack/finds").join(format!("{number:03}"));
        world.keep(&kept)?;
        let mut text = String::new();
        for complaint in complaints {
            let _ = writeln!(text, "   ✗ {complaint}");
        }
        let _ = writeln!(text, "     rejoin {}", attempt.call.args.join(" "));
        let spec = fault.map_or_else(|| "no fault".to_owned(), ToString::to_string);
        let hit = traced.report.hit.as_ref().map_or("not met", |hit| hit.shown.as_str());
        let _ = writeln!(text, "     {spec}: {hit}; ended with {:?}", traced.report.ended);
        let _ = writeln!(text, "     again: cargo xtask attack {place}; kept in {}", kept.display());
        std::fs::write(kept.join("find.txt"), format!("{text}\n{}\n{}", traced.stdout, traced.stderr))?;
        eprint!("{text}");
        Ok(())
    }

    fn is_over(&self) -> bool {
        let late = self.options.budget.is_some_and(|budget| self.begun.elapsed() > budget);
        late || self.found() >= ENOUGH
    }

    fn found(&self) -> usize {
        self.finds.load(Ordering::Relaxed)
    }

    fn end(&self) -> Result<()> {
        let count = |number: &AtomicUsize| number.load(Ordering::Relaxed);
        eprintln!(
            "   {} faults at single calls and {} random rounds (seed {}), {} of them met: {} violations, {:.0} s",
            count(&self.faults),
            count(&self.rounds),
            self.options.seed,
            count(&self.hits),
            self.found(),
            self.begun.elapsed().as_secs_f64(),
        );
        if self.found() > 0 {
            bail!("{} violations", self.found());
        }
        Ok(())
    }
}
