//! The way of one turn, straight.

use std::time::Instant;

use rejoin_agents::Lookup;
use rejoin_core::plan::{Plan, Wish};
use rejoin_core::{
    Content, Event, FailureClass, Intent, Kind, Outcome, Part, Pin, PinState, Reason, Receipt,
    SCHEMA_VERSION, SessionId, System, TurnId,
};
use rejoin_journal::{LONGEST_LINE, Lease, Writer, private};

use crate::answers::AnswerBox;
use crate::attach::write_copies;
use crate::cancel::CancelWatch;
use crate::desk::{Desk, Trouble};
use crate::harvest::{Verdict, Yield};
use crate::lease::Leases;
use crate::probe::Ask;
use crate::pump::{Surroundings, pump};
use crate::ready::{DryRun, LOSSY, Ready, WITHHELD, about, withheld};
use crate::scene::{Scene, environment};
use crate::scratch::{self, Scratch};
use crate::scribe::{Letterhead, Scribe};
use crate::set_up::SetUp;
use crate::settle;
use crate::supervisor::{LaunchSpec, Supervised};
use crate::watch::{OnPanic, Watcher, show};
use crate::{Engine, Order, Target, TurnError, TurnOutcome};

impl Engine {
    /// What a turn would do: decision, command line, words. Nothing is run or written.
    pub fn dry_run(&self, order: &Order) -> Result<DryRun, TurnError> {
        check_prompt(order)?;
        let scene = Scene::read(self, order)?;
        let plan = scene.plan(self, order);
        let ready = Ready::make(self, order, &scene, plan, false)?;
        Ok(ready.describe(self, order, &scene))
    }

    /// Carries out one turn.
    pub fn run(&self, mut order: Order, watcher: Watcher<'_>) -> Result<TurnOutcome, TurnError> {
        let (beginning, lease) = (order.beginning.take(), order.lease.take());
        let order = &order;
        check_prompt(order)?;
        let can_ask = watcher.on_question.is_some();

        // Lock, read the path, plan, compose: everything that can be refused is refused here.
        let mut leases = Leases::new(self, order, &watcher.cancel);
        leases.conversation(lease)?;
        let mut scene = Scene::read(self, order)?;
        let plan = scene.plan(self, order);
        let used_elsewhere = match &plan {
            Plan::Resume { pin, .. } if Scene::was_used_elsewhere(order, pin) => Some((**pin).clone()),
            _ => None,
        };
        let ready = Ready::make(self, order, &scene, plan.clone(), can_ask)?;
        leases.session(ready.composed.session())?;
        leases.new_conversation(&scene)?;
        let (leases, notices) = leases.taken();
        scene.warnings.extend(notices);

        // From here on the turn exists.
        let mut turn = Turn {
            engine: self,
            order,
            scene: &scene,
            plan,
            head: scene.letterhead(),
            id: order.id,
            leases,
            started: Instant::now(),
            can_ask,
            warnings: Vec::new(),
            runs: 0,
        };
        let answers = AnswerBox::new().map_err(TurnError::system("cannot make a socket pair"))?;
        let no_thread = || TurnError::system("cannot start a thread, so nothing was written or run");
        let (mut desk, events) = Desk::new(!turn.ephemeral()).map_err(no_thread())?;
        let Watcher { on_event, on_question, cancel } = watcher;
        let mut diagnostics = Vec::new();
        let result = std::thread::scope(|threads| {
            let carry_out = || {
                let _guard = OnPanic { events: &events, cancel: &cancel };
                if let Some(scribe) = turn.write_down(&ready, used_elsewhere.as_ref())? {
                    desk.keep(scribe);
                }
                drop(beginning);
                turn.warn_beforehand(&mut desk, &ready, used_elsewhere.as_ref());
                let result = turn.carry_out(ready, &mut desk, &cancel, &answers);
                desk.close();
                result
            };
            let working = std::thread::Builder::new().spawn_scoped(threads, carry_out).map_err(no_thread())?;
            let _guard = OnPanic { events: &events, cancel: &cancel };
            show(&events, &answers, on_event, on_question, &mut diagnostics);
            working.join().unwrap_or_else(|_| {
                let cause = std::io::Error::other("a thread of rejoin panicked");
                Err(TurnError::System { what: "the turn was lost, this is a bug in rejoin".into(), cause })
            })
        });
        // Without that, whoever comes next looks for processes of this turn.
        let clean =
            |outcome: &Outcome| !matches!(outcome, Outcome::Failed { class: FailureClass::Supervisor, .. });
        if result.as_ref().is_ok_and(|(.., receipt)| clean(&receipt.outcome)) {
            turn.leases.into_iter().for_each(Lease::give_back);
        }
        result.map(|(text, session, receipt)| TurnOutcome { text, session, receipt, diagnostics })
    }
}

/// A turn on its way.
struct Turn<'a> {
    engine: &'a Engine,
    order: &'a Order,
    scene: &'a Scene,
    /// What the present run carries out.
    plan: Plan,
    head: Letterhead,
    id: TurnId,
    leases: Vec<Lease>,
    started: Instant,
    can_ask: bool,
    warnings: Vec<String>,
    runs: u32,
}

impl Turn<'_> {
    fn ephemeral(&self) -> bool {
        self.order.wish == Wish::Ephemeral
    }

    /// Writes what the user said and what is meant to be done, and waits for the disk.
    fn write_down(
        &mut self,
        ready: &Ready,
        used_elsewhere: Option<&Pin>,
    ) -> Result<Option<Scribe>, TurnError> {
        self.runs = 1;
        if self.ephemeral() {
            return Ok(None);
        }
        let (order, scene) = (self.order, self.scene);
        let mut records = Vec::new();
        if scene.is_new {
            records.push(self.head.system(None, &System::Conversation(scene.info.clone())));
            if let Target::New { name: Some(name), .. } = &order.target {
                records.push(self.head.system(None, &System::Title { name: name.clone() }));
            }
        }
        // Before the prompt it limits: a write that is cut must not lose the limit alone.
        if let Some(ceiling) = order.permissions {
            records.push(self.head.system(Some(self.id), &System::Permissions { ceiling }));
        }
        let mut user = self.head.record(Kind::User, self.id, scene.hang_on);
        let files = about(order).into_iter().map(|attachment| Part::Attachment { attachment });
        let parts = [Part::text(order.prompt.as_str())].into_iter().chain(files).collect();
        user.message = Some(Content::user(parts));
        records.push(user);
        for mut pin in scene.pins_to_retire(order) {
            pin.state = PinState::Retired { why: "a fresh session was asked for".into() };
            records.push(self.head.system(Some(self.id), &System::Pin(Box::new(pin))));
        }
        if let Some(pin) = used_elsewhere {
            let gap = System::Gap {
                agent: pin.session.agent().clone(),
                session: pin.session.as_str().to_owned(),
                text: "the session was used outside rejoin; those turns are not in this journal".into(),
            };
            records.push(self.head.system(Some(self.id), &gap));
        }
        records.push(self.intent(ready));
        if !scene.origin.noted {
            self.engine.origins().note(scene.id, &scene.origin.origin)?;
        }
        let store = &self.engine.store;
        let writer = Writer::holding(&self.leases, scene.id);
        let (journal, records) = if scene.is_new {
            (store.create(scene.id, &scene.info, &records, writer)?, Vec::new())
        } else {
            (store.appender(scene.id, writer)?, records)
        };
        let mut scribe = Scribe::new(journal, self.head.clone(), self.id, order.agent.agent());
        if !records.is_empty() {
            scribe.put_synced(&records)?;
        }
        Ok(Some(scribe))
    }

    fn intent(&self, ready: &Ready) -> rejoin_core::Record {
        let intent = Intent {
            agent: self.order.agent.agent(),
            run: self.runs,
            plan: ready.composed.decision().clone(),
            model: self.order.model.clone(),
            session_dir: self.scene.session_dir.clone(),
            bytes: ready.composed.bytes(),
            pin: self.planned_pin(ready),
        };
        self.head.system(Some(self.id), &System::Intent(Box::new(intent)))
    }

    /// The pin of a run whose session is known beforehand, with `exposed` already moved.
    fn planned_pin(&self, ready: &Ready) -> Option<Pin> {
        let pin = match (ready.composed.pin(), &ready.new_session) {
            (Some(pin), _) => {
                let total = Some(ready.total_before).filter(|total| !total.is_zero());
                Pin { total: total.or(pin.total), ..pin.clone() }
            }
            (None, Some(session)) => self.scene.new_pin(self.engine, session.clone()),
            (None, None) => return None,
        };
        Some(settle::exposed(pin, self.scene, self.id, ready.composed.lossy()))
    }

    /// The pin of the session a run named. One that goes on with a resumed session under another id holds
    /// what that one held.
    fn pin_of(&self, planned: Option<&Pin>, session: &SessionId, lossy: bool) -> Pin {
        match planned {
            Some(pin) if pin.session == *session => pin.clone(),
            Some(pin) if self.plan.session() == Some(&pin.session) => {
                Pin { session: session.clone(), at_least: None, ..pin.clone() }
            }
            _ => {
                let pin = self.scene.new_pin(self.engine, session.clone());
                settle::exposed(pin, self.scene, self.id, lossy)
            }
        }
    }

    fn warn_beforehand(&mut self, desk: &mut Desk, ready: &Ready, used_elsewhere: Option<&Pin>) {
        desk.emit(Event::Init {
            schema: SCHEMA_VERSION,
            version: env!("CARGO_PKG_VERSION").into(),
            conversation: (!self.ephemeral()).then_some(self.scene.id),
            turn: self.id,
            number: self.scene.path.len() + 1,
            agent: self.order.agent.agent(),
            plan: ready.composed.decision().clone(),
            cwd: self.head.cwd.clone(),
            bytes: ready.composed.bytes(),
            attachments: about(self.order),
        });
        for (code, text) in ready.warnings(self.engine, self.order, self.scene, used_elsewhere.is_some()) {
            self.warn(code, text, desk);
        }
    }

    fn warn(&mut self, code: String, text: String, desk: &mut Desk) {
        self.warnings.push(text.clone());
        desk.emit(Event::Warning { code, text });
    }

    /// Runs the agent and settles the turn. There is a second run after a refusal to resume; a
    /// third would not end better.
    fn carry_out(
        &mut self,
        first: Ready,
        desk: &mut Desk,
        cancel: &CancelWatch,
        answers: &AnswerBox,
    ) -> Result<(String, Option<SessionId>, Receipt), TurnError> {
        let asked = first.composed.session().cloned();
        let (mut bytes, mut rejected) = (0, false);
        let mut ready = first;
        let (outcome, got, plan, lossy) = loop {
            let planned = self.planned_pin(&ready);
            let composed = ready.composed.clone();
            let (plan, lossy) = (composed.decision().clone(), composed.lossy());
            let (verdict, got) = match self.run_once(ready, planned.as_ref(), desk, cancel, answers) {
                Ok(ran) => ran,
                Err(error) => break (failed(&error), (Yield::default(), planned), plan, lossy),
            };
            let next = match verdict {
                Verdict::Ended(outcome) => {
                    bytes += composed.bytes();
                    break (outcome, (got, planned), plan, lossy);
                }
                Verdict::Rejected(words) => {
                    bytes += composed.bytes();
                    Self::give_up(composed.pin(), &words, desk);
                    if got.cancelled {
                        break (Outcome::Cancelled, (Yield { session: None, ..got }, None), plan, lossy);
                    }
                    if got.active || composed.session().is_none() || rejected {
                        let words = format!("it could not resume its session: {words}");
                        let outcome = Outcome::failed(FailureClass::Other, words);
                        break (outcome, (Yield { session: None, ..got }, None), plan, lossy);
                    }
                    rejected = true;
                    self.run_fresh(composed.pin(), &words, desk)
                }
            };
            match next {
                Ok(next) => ready = next,
                Err(error @ TurnError::Unrecorded { .. }) => return Err(error),
                Err(error) => {
                    break (failed(&error), (Yield { session: None, ..got }, None), plan, lossy);
                }
            }
        };
        if let Some(trouble) = desk.trouble() {
            return Err(self.unrecorded(trouble));
        }
        let (got, planned) = got;
        let mut receipt = settle::receipt(self.order, self.scene, self.id, plan, outcome);
        receipt.runs = self.runs;
        receipt.asked = asked.map(|session| session.as_str().to_owned());
        receipt.bytes = bytes;
        receipt.lossy = lossy;
        self.settle(receipt, got, planned.as_ref(), desk)
    }

    /// Launches the agent once and sees it through.
    fn run_once(
        &self,
        ready: Ready,
        planned: Option<&Pin>,
        desk: &mut Desk,
        cancel: &CancelWatch,
        answers: &AnswerBox,
    ) -> Result<(Verdict, Yield), TurnError> {
        let (order, scene) = (self.order, self.scene);
        let asked = ready.composed.session().cloned();
        let argv = ready.argv(scene);
        let mut env: Vec<(String, std::ffi::OsString)> = environment(&scene.env, &ready.launch.env)
            .into_iter()
            .map(|(name, value)| (name, value.into()))
            .collect();
        env.push(("PWD".into(), scene.dir.clone().into_os_string()));
        let lookup_env = env.clone();
        let launch = LaunchSpec {
            argv,
            env,
            remove_env: order.agent.foreign_env().iter().map(|name| (*name).to_owned()).collect(),
            dir: &scene.dir,
            locks: self.leases.iter().filter_map(Lease::descriptor).collect(),
            mark: self.id.to_string(),
        };
        scratch::sweep(&self.engine.own_dir(order.agent));
        let _scratch = ready.launch.scratch.clone().map(Scratch::make).transpose()?;
        write_own_files(&ready.launch.files)?;
        let _copies = ready.copies.clone().map(Scratch::make).transpose()?;
        if let Some(dir) = &ready.copies {
            write_copies(dir, &order.attachments)?;
        }
        let tidy = |session: Option<&SessionId>| {
            if let (Some(session), Some(store)) = (session, &scene.store) {
                order.agent.tidy(store, &scene.dir, session);
            }
        };
        tidy(asked.as_ref());
        let lookup = ready.launch.lookup;
        let mut tell = |text| {
            desk.emit(Event::Warning { code: "waiting".into(), text });
            desk.flush();
        };
        let Some(set_up) = SetUp::wait(self.engine, order, scene, cancel, &mut tell)? else {
            return Ok((Verdict::Ended(Outcome::Cancelled), Yield::default()));
        };
        let child = Supervised::start(&self.engine.helper, launch)
            .map_err(TurnError::system("cannot start the supervisor of the agent"))?;
        let ephemeral = self.ephemeral();
        let lossy = ready.composed.lossy();
        let around = Surroundings {
            limits: &order.limits,
            cancel,
            answers,
            can_ask: self.can_ask,
            asked: asked.as_ref(),
            to_session: &|text| order.agent.session_id(text).ok(),
            continues: &|asked, named| {
                scene.store.as_deref().is_some_and(|store| order.agent.continues(store, asked, named))
            },
            on_session: &|session, stored| {
                set_up.is_done();
                if ephemeral {
                    return None;
                }
                let known = planned.filter(|pin| pin.session == *session);
                if known.is_some_and(|pin| !stored || pin.state == PinState::Live) {
                    return None;
                }
                let pin = self.pin_of(planned, session, lossy);
                let state = if stored { PinState::Live } else { PinState::Tentative };
                Some(System::Pin(Box::new(Pin { state, ..pin })))
            },
            started: self.started,
        };
        let (verdict, mut got) = pump(child, ready.launch.driver, &around, desk)
            .map_err(TurnError::system("cannot watch the agent"))?;
        tidy(got.session.as_ref());
        if let (None, Some(lookup), Verdict::Ended(_)) = (&got.session, lookup, &verdict) {
            // The agent did not name its session: find out which one it was.
            got.session = match lookup {
                Lookup::Look(look) => look(),
                Lookup::Ask { args, find } => {
                    let (path, helper) = (&scene.installation.path, &self.engine.helper);
                    let ask = Ask { path, dir: Some(&scene.dir), env: &lookup_env, helper };
                    find(&ask.ask(&args, order.agent.foreign_env()).0.stdout)
                }
            };
            got.stored = got.session.is_some();
        }
        Ok((verdict, got))
    }

    /// A dead id is never kept.
    fn give_up(pin: Option<&Pin>, words: &str, desk: &mut Desk) {
        let Some(pin) = pin else { return };
        let state = PinState::Retired { why: format!("the agent refused to resume it: {words}") };
        desk.write(System::Pin(Box::new(Pin { state, ..pin.clone() })));
    }

    /// After a rejected resume: the whole slice again, in a fresh session.
    fn run_fresh(&mut self, pin: Option<&Pin>, words: &str, desk: &mut Desk) -> Result<Ready, TurnError> {
        let session = pin.map(|pin| pin.session.as_str().to_owned()).unwrap_or_default();
        let why = Reason::SessionRejected { session: session.clone(), why: words.to_owned() };
        self.plan = Plan::fresh(why, &self.scene.slice);
        let ready = self.make_ready()?;
        let agent = self.order.agent.agent();
        desk.emit(Event::ResumeRejected { agent, session, text: words.to_owned() });
        if ready.composed.lossy() {
            self.warn("lossy".into(), LOSSY.into(), desk);
        }
        if let Some(text) = withheld(&ready.composed) {
            self.warn(WITHHELD.into(), text, desk);
        }
        self.next_run(ready, desk)
    }

    fn make_ready(&self) -> Result<Ready, TurnError> {
        Ready::make(self.engine, self.order, self.scene, self.plan.clone(), self.can_ask)
    }

    fn next_run(&mut self, ready: Ready, desk: &mut Desk) -> Result<Ready, TurnError> {
        self.runs += 1;
        desk.next_run();
        if !self.ephemeral() {
            let intent = self.intent(&ready);
            desk.write_synced(vec![intent]).map_err(|trouble| self.unrecorded(trouble))?;
        }
        Ok(ready)
    }

    fn unrecorded(&self, cause: Trouble) -> TurnError {
        TurnError::Unrecorded { conversation: self.scene.id.short(), cause }
    }

    /// Pin and receipt, synced, then the result.
    fn settle(
        &mut self,
        mut receipt: Receipt,
        mut got: Yield,
        planned: Option<&Pin>,
        desk: &mut Desk,
    ) -> Result<(String, Option<SessionId>, Receipt), TurnError> {
        // A failure before the session was named counts for the one that was meant, else it would be
        // resumed, and fail, for ever.
        let meant = planned.filter(|_| receipt.outcome != Outcome::Completed);
        let session = got.session.clone().or_else(|| meant.map(|pin| pin.session.clone()));
        let asked = planned.is_some();
        let pin = session.filter(|_| !self.ephemeral()).map(|session| {
            let pin = self.pin_of(planned, &session, receipt.lossy);
            settle::settled(self.order, self.scene, pin, &mut got, &receipt.outcome)
        });
        let should_have = !self.ephemeral() && self.scene.runtime.can_resume;
        if pin.is_none() && should_have && receipt.outcome == Outcome::Completed {
            let then = if asked { "tells it this one again" } else { "replays the history" };
            let text = format!("the agent did not name its session: the next turn {then}");
            desk.emit(Event::Warning { code: "no_session".into(), text: text.clone() });
            got.warn(&text);
        }
        receipt.session = got.session.as_ref().map(|session| session.as_str().to_owned());
        receipt.warnings = std::mem::take(&mut self.warnings);
        receipt.warnings.extend(got.take_warnings());
        receipt.model = got.model;
        receipt.usage = got.usage;
        receipt.cost = got.cost;
        receipt.exit_code = got.exit_code;
        receipt.diagnostics = got.diagnostics;
        receipt.milliseconds = self.started.elapsed().as_millis() as u64;
        if !self.ephemeral() {
            let pin = pin.map(|pin| self.head.system(Some(self.id), &System::Pin(Box::new(pin))));
            let mut records: Vec<_> = pin.into_iter().collect();
            records.push(self.head.system(Some(self.id), &System::Receipt(Box::new(receipt.clone()))));
            desk.write_synced(records).map_err(|trouble| self.unrecorded(trouble))?;
        }
        let text = got.answer.text;
        desk.emit(Event::Result { text: text.clone(), receipt: Box::new(receipt.clone()) });
        Ok((text, got.session, receipt))
    }
}

/// What a turn came to whose agent could not be run: refused by what it can do, or for a reason of our own.
fn failed(error: &TurnError) -> Outcome {
    let ours = matches!(error, TurnError::Journal(_) | TurnError::System { .. });
    let class = if ours { FailureClass::Internal } else { FailureClass::Launch };
    Outcome::failed(class, error.to_string())
}

/// Puts files of rejoin's own where the agent will look for them.
fn write_own_files(files: &[(std::path::PathBuf, String)]) -> Result<(), TurnError> {
    for (path, text) in files {
        if std::fs::read_to_string(path).is_ok_and(|there| there == *text) {
            continue;
        }
        if let Some(dir) = path.parent() {
            private::create_dir(dir)?;
        }
        private::write_atomically(path, text.as_bytes())?;
    }
    Ok(())
}

/// The longest prompt as it stands in a line of the journal, which holds a few other things.
const LONGEST_PROMPT: usize = LONGEST_LINE - (1 << 20);

fn check_prompt(order: &Order) -> Result<(), TurnError> {
    if order.prompt.trim().is_empty() {
        return Err(TurnError::Usage("the prompt is empty; say what the agent should do".into()));
    }
    if order.prompt.contains('\0') {
        return Err(TurnError::Usage(
            "the prompt contains a NUL byte, which no agent accepts; remove it".into(),
        ));
    }
    // A prompt is one line of the journal and is never shortened. At worst a byte becomes six.
    let long = order.wish != Wish::Ephemeral && order.prompt.len() > LONGEST_PROMPT / 6;
    let written =
        if long { serde_json::to_string(&order.prompt).map_or(usize::MAX, |json| json.len()) } else { 0 };
    if written > LONGEST_PROMPT {
        return Err(TurnError::Usage(format!(
            "the prompt is too long for the history: it takes {written} bytes there (a control character takes six), and {LONGEST_PROMPT} are possible; write it to a file and name that, or send it with --ephemeral, which keeps no history"
        )));
    }
    Ok(())
}
