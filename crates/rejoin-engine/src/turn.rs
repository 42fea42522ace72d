//! The way of one turn, straight.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Instant;

use rejoin_agents::Lookup;
use rejoin_core::plan::{Plan, Wish};
use rejoin_core::{
    Content, Event, FailureClass, Intent, Kind, Outcome, Part, Pin, PinLife, Reason, SCHEMA_VERSION,
    SessionId, System, TurnId,
};
use rejoin_journal::{LONGEST_LINE, Lease, Writer, private};

use crate::after::receipt::receipt;
use crate::before::attach::write_copies;
use crate::before::context::{TurnContext, environment};
use crate::before::first_start::SetUp;
use crate::before::lease::TurnLeases;
use crate::before::prepare::{DryRun, LOSSY, Prepared, WITHHELD, about, withheld};
use crate::before::probe::Ask;
use crate::before::scratch::{self, Scratch};
use crate::during::answers::AnswerBox;
use crate::during::cancel::CancelWatch;
use crate::during::feed::Feed;
use crate::during::follow::Follow;
use crate::during::launch_result::{LINES_KEPT, LaunchResult, Verdict};
use crate::during::outbox::{Outbox, Trouble};
use crate::during::pump::{Surroundings, pump};
use crate::during::record_writer::{RecordHeader, RecordWriter};
use crate::events::Journal;
use crate::supervisor::{LaunchSpec, Supervised};
use crate::{Engine, Order, Target, TurnError, TurnHandle, TurnOutcome};

impl Engine {
    /// What a turn would do: decision, command line, words. Nothing is run or written.
    pub fn dry_run(&self, mut order: Order) -> Result<DryRun, TurnError> {
        let loaded = order.loaded.take();
        self.read_kept_attachments(&mut order)?;
        let order = &order;
        check_prompt(order)?;
        self.check_request(order)?;
        let context = TurnContext::read(self, order, loaded)?;
        let plan = context.plan(self, order);
        let ready = Prepared::make(self, order, &context, plan)?;
        Ok(ready.describe(self, order, &context))
    }

    /// Starts one turn. Everything that can be refused is refused before this returns, and before anything
    /// is written or launched; when it returns, the prompt is on the disk and the turn exists.
    pub fn start(&self, mut order: Order, cancel: CancelWatch) -> Result<TurnHandle, TurnError> {
        let (beginning, lease, loaded) = (order.beginning.take(), order.lease.take(), order.loaded.take());
        check_prompt(&order)?;
        self.check_request(&order)?;
        self.read_kept_attachments(&mut order)?;
        let place = self.room.take()?;

        // Lock, read the path, plan, compose: everything that can be refused is refused here.
        let mut leases = TurnLeases::new(self, &order, &cancel);
        leases.conversation(lease)?;
        self.check_request(&order)?;
        let mut context = TurnContext::read(self, &order, loaded)?;
        let plan = context.plan(self, &order);
        let used_elsewhere = match &plan {
            Plan::Resume { pin, .. } if context.was_used_elsewhere(&order, pin) => Some((**pin).clone()),
            _ => None,
        };
        let prepared = Prepared::make(self, &order, &context, plan.clone())?;
        leases.session(prepared.composed.session())?;
        leases.new_conversation(&context)?;
        let (leases, notices) = leases.taken();
        context.warnings.extend(notices);

        let ephemeral = order.wish == Wish::Ephemeral;
        let (canceller, feed) = (cancel.canceller(), Feed::new(ephemeral));
        let answers = AnswerBox::new(canceller.clone());
        let no_thread = || TurnError::system("cannot start a thread, so nothing was written or run");
        let outbox = Outbox::new(feed.clone(), (!ephemeral).then_some(&self.writers)).map_err(no_thread())?;
        let (written_down, was_written) = channel();
        let (engine, turn_id, conversation) = (self.clone(), order.id, context.id);
        let carry_out = {
            let answers = answers.clone();
            move || {
                let turn = Turn {
                    engine: &engine,
                    order: &order,
                    context: &context,
                    plan,
                    head: context.record_header(),
                    id: order.id,
                    leases,
                    started: Instant::now(),
                    warnings: Vec::new(),
                    lines: Vec::new(),
                    runs: 1,
                    cancel: &cancel,
                    answers: &answers,
                    outbox,
                };
                let result = turn.run(prepared, used_elsewhere.as_ref(), beginning, &written_down);
                drop(place);
                result
            }
        };
        let thread = std::thread::Builder::new().name("rejoin-turn".into()).spawn(carry_out);
        let thread = thread.map_err(no_thread())?;
        let begin = match was_written.recv() {
            Ok(begin) => begin?,
            Err(_) => return Err(TurnError::panicked()),
        };
        let journal = (!ephemeral).then(|| Journal {
            store: Arc::clone(&self.store),
            conversation,
            turn: turn_id,
            begin,
        });
        Ok(TurnHandle { turn: turn_id, journal, canceller, answers, feed, thread: Some(thread) })
    }
}

/// A turn on its way.
pub(crate) struct Turn<'a> {
    engine: &'a Engine,
    pub(crate) order: &'a Order,
    pub(crate) context: &'a TurnContext,
    /// What the present launch carries out.
    plan: Plan,
    pub(crate) head: RecordHeader,
    pub(crate) id: TurnId,
    leases: Vec<Lease>,
    pub(crate) started: Instant,
    pub(crate) warnings: Vec<String>,
    /// The first lines that were not events.
    pub(crate) lines: Vec<String>,
    /// How many times the agent was launched.
    runs: u32,
    pub(crate) cancel: &'a CancelWatch,
    answers: &'a AnswerBox,
    pub(crate) outbox: Outbox,
}

/// What one launch came to.
struct Launched {
    verdict: Verdict,
    result: LaunchResult,
    life: PinLife,
}

impl Turn<'_> {
    pub(crate) fn ephemeral(&self) -> bool {
        self.order.wish == Wish::Ephemeral
    }

    /// Writes down what is meant, tells where that stands, and sees it through. Nothing if it could not
    /// even begin, which is told likewise.
    fn run(
        mut self,
        prepared: Prepared,
        used_elsewhere: Option<&Pin>,
        beginning: Option<Lease>,
        written_down: &Sender<Result<u64, TurnError>>,
    ) -> Option<Result<TurnOutcome, TurnError>> {
        let life = self.pin_life(&prepared);
        match self.write_down(&prepared, &life, used_elsewhere) {
            Err(error) => {
                let _ = written_down.send(Err(error));
                return None;
            }
            Ok(begin) => {
                drop(beginning);
                let _ = written_down.send(Ok(begin));
            }
        }
        self.warn_beforehand(&prepared, used_elsewhere.is_some());
        let result = self.carry_out(prepared, life);
        // Without that, whoever comes next looks for processes of this turn.
        let clean =
            |outcome: &Outcome| !matches!(outcome, Outcome::Failed { class: FailureClass::Supervisor, .. });
        let leases = std::mem::take(&mut self.leases);
        self.outbox.close();
        if result.as_ref().is_ok_and(|outcome| clean(outcome.outcome())) {
            leases.into_iter().for_each(Lease::give_back);
        }
        Some(result)
    }

    /// Writes what the user said and what is meant to be done, and waits for the disk. Where it begins.
    fn write_down(
        &mut self,
        prepared: &Prepared,
        life: &PinLife,
        used_elsewhere: Option<&Pin>,
    ) -> Result<u64, TurnError> {
        if self.ephemeral() {
            return Ok(0);
        }
        let (order, context) = (self.order, self.context);
        let mut records = Vec::new();
        if context.is_new {
            records.push(self.head.system(None, &System::Conversation(context.info.clone())));
            if let Target::New { name: Some(name), .. } = &order.target {
                records.push(self.head.system(None, &System::Title { name: name.clone() }));
            }
        }
        if let Some(marks) = context.new_marks() {
            records.push(self.head.system(Some(self.id), &System::Project(Box::new(marks))));
        }
        // Before the prompt it limits: a write that is cut must not lose the limit alone.
        if let Some(ceiling) = order.permissions {
            records.push(self.head.system(Some(self.id), &System::Permissions { ceiling }));
        }
        let mut user = self.head.record(Kind::User, self.id, context.hang_on);
        let files = about(order).into_iter().map(|attachment| Part::Attachment { attachment });
        let parts = [Part::text(order.prompt.as_str())].into_iter().chain(files).collect();
        user.message = Some(Content::user(parts));
        user.request.clone_from(&order.request);
        records.push(user);
        for pin in context.pins_to_retire(order) {
            records.push(self.pin_record(pin.retired_by_the_user()));
        }
        if let Some(pin) = used_elsewhere {
            let gap = System::Gap {
                agent: pin.session.agent().clone(),
                session: pin.session.as_str().to_owned(),
                text: "the session was used outside rejoin; those turns are not in this journal".into(),
            };
            records.push(self.head.system(Some(self.id), &gap));
        }
        records.push(self.intent(prepared, life));
        if !context.origin.noted {
            self.engine.origins().note(context.id, &context.origin.origin)?;
        }
        let store = &self.engine.store;
        let by = Writer::holding(&self.leases, context.id);
        let (begin, journal, records) = if context.is_new {
            (0, store.create(context.id, &context.info, &records, by)?, Vec::new())
        } else {
            let mut journal = store.appender(context.id, by)?;
            (journal.append(&[])?, journal, records)
        };
        let mut writer = RecordWriter::new(journal, self.head.clone(), self.id, order.agent.agent());
        if !records.is_empty() {
            writer.put_synced(&records)?;
        }
        let follow = Follow {
            store: Arc::clone(store),
            conversation: context.id,
            turn: self.id,
            canceller: self.cancel.canceller(),
            answers: self.answers.clone(),
        };
        self.outbox.keep(writer, follow);
        Ok(begin)
    }

    pub(crate) fn pin_record(&self, pin: Pin) -> rejoin_core::Record {
        self.head.system(Some(self.id), &System::Pin(Box::new(pin)))
    }

    fn intent(&self, prepared: &Prepared, life: &PinLife) -> rejoin_core::Record {
        let intent = Intent {
            agent: self.order.agent.agent(),
            run: self.runs,
            number: self.context.path.len() + 1,
            plan: prepared.composed.decision().clone(),
            model: self.order.model.clone(),
            session_dir: self.context.session_dir.clone(),
            bytes: prepared.composed.bytes(),
            stands_in: self.order.stands_in.clone(),
            pin: life.intended().cloned(),
        };
        self.head.system(Some(self.id), &System::Intent(Box::new(intent)))
    }

    /// What the pin of a launch begins with.
    fn pin_life(&self, prepared: &Prepared) -> PinLife {
        let binding = self.context.pin_binding(self.engine);
        let exposed = self.context.slice.mark().push(self.id, 0);
        let lossy = prepared.composed.lossy();
        match prepared.composed.pin() {
            Some(pin) => {
                let total = Some(prepared.total_before).filter(|total| !total.is_zero());
                PinLife::resumes(binding, pin, total, exposed, lossy)
            }
            None => PinLife::begins(binding, prepared.new_session.clone(), exposed, lossy),
        }
    }

    fn warn_beforehand(&mut self, prepared: &Prepared, used_elsewhere: bool) {
        self.outbox.emit(Event::Init {
            schema: SCHEMA_VERSION,
            version: env!("CARGO_PKG_VERSION").into(),
            conversation: (!self.ephemeral()).then_some(self.context.id),
            turn: self.id,
            number: self.context.path.len() + 1,
            agent: self.order.agent.agent(),
            plan: prepared.composed.decision().clone(),
            cwd: self.head.cwd.clone(),
            bytes: prepared.composed.bytes(),
            attachments: about(self.order),
        });
        for (code, text) in prepared.warnings(self.engine, self.order, self.context, used_elsewhere) {
            self.warn(code, text);
        }
    }

    fn warn(&mut self, code: String, text: String) {
        self.warnings.push(text.clone());
        self.outbox.emit(Event::Warning { code, text });
    }

    /// Runs the agent until the turn has ended and settled. There is a second launch after a refusal to resume; a
    /// third would not end better.
    fn carry_out(&mut self, first: Prepared, life: PinLife) -> Result<TurnOutcome, TurnError> {
        let asked = first.composed.session().cloned();
        let (mut bytes, mut rejected) = (0, false);
        let (mut prepared, mut life) = (first, life);
        let (outcome, result, life, plan, lossy) = loop {
            let composed = prepared.composed.clone();
            let (plan, lossy) = (composed.decision().clone(), composed.lossy());
            let before = life.clone();
            let launched = match self.launch(prepared, life) {
                Ok(launched) => launched,
                Err(error) => break (failed(&error), LaunchResult::default(), Some(before), plan, lossy),
            };
            bytes += composed.bytes();
            let Launched { verdict, result, life: ended } = launched;
            let words = match verdict {
                Verdict::Ended(outcome) => break (outcome, result, Some(ended), plan, lossy),
                Verdict::Rejected(words) => words,
            };
            if let Some(pin) = before.refused(&words) {
                self.outbox.write(System::Pin(Box::new(pin)));
            }
            let unnamed = |result: LaunchResult| LaunchResult { session: None, ..result };
            if result.cancelled {
                break (Outcome::Cancelled, unnamed(result), None, plan, lossy);
            }
            if result.active || composed.session().is_none() || rejected {
                let words = format!("it could not resume its session: {words}");
                let outcome = Outcome::failed(FailureClass::Other, words);
                break (outcome, unnamed(result), None, plan, lossy);
            }
            rejected = true;
            match self.prepare_fresh(composed.pin(), &words) {
                Ok(next) => (prepared, life) = next,
                Err(error @ TurnError::Unrecorded { .. }) => return Err(error),
                Err(error) => break (failed(&error), unnamed(result), None, plan, lossy),
            }
        };
        if let Some(trouble) = self.outbox.trouble() {
            return Err(self.unrecorded(trouble));
        }
        let mut receipt = receipt(self.order, self.context, self.id, plan, outcome);
        receipt.runs = self.runs;
        receipt.asked = asked.map(|session| session.as_str().to_owned());
        receipt.bytes = bytes;
        receipt.replay_bytes = self.context.replay_bytes(self.order, &receipt.plan, bytes);
        receipt.lossy = lossy;
        self.ended(receipt, result, life)
    }

    /// Launches the agent once and sees it through.
    fn launch(&mut self, prepared: Prepared, life: PinLife) -> Result<Launched, TurnError> {
        let (order, context) = (self.order, self.context);
        let asked = prepared.composed.session().cloned();
        let argv = prepared.argv(context);
        let mut env: Vec<(String, std::ffi::OsString)> = environment(&context.env, &prepared.launch.env)
            .into_iter()
            .map(|(name, value)| (name, value.into()))
            .collect();
        env.push(("PWD".into(), context.dir.clone().into_os_string()));
        let lookup_env = env.clone();
        let spec = LaunchSpec {
            argv,
            env,
            remove_env: order.agent.foreign_env().iter().map(|name| (*name).to_owned()).collect(),
            dir: &context.dir,
            leases: self.leases.iter().filter_map(Lease::descriptor).collect(),
            mark: self.id.to_string(),
        };
        scratch::sweep(&self.engine.own_dir(&*order.agent));
        let _scratch = prepared.launch.scratch.clone().map(Scratch::make).transpose()?;
        write_own_files(&prepared.launch.files)?;
        let _copies = prepared.copies.clone().map(Scratch::make).transpose()?;
        if let Some(dir) = &prepared.copies {
            write_copies(dir, &order.attachments)?;
        }
        let tidy = |session: Option<&SessionId>| {
            if let (Some(session), Some(store)) = (session, &context.store) {
                order.agent.tidy(store, &context.dir, session);
            }
        };
        tidy(asked.as_ref());
        let lookup = prepared.launch.lookup;
        let outbox = &mut self.outbox;
        let mut tell = |text| {
            outbox.emit(Event::Warning { code: "waiting".into(), text });
            outbox.flush();
        };
        let set_up = SetUp::wait(self.engine, order, context, self.cancel, &mut tell)?;
        // Who gave up by now has nothing started.
        let Some(set_up) = set_up.filter(|_| self.cancel.requests() == 0) else {
            let (verdict, result) = (Verdict::Ended(Outcome::Cancelled), LaunchResult::default());
            return Ok(Launched { verdict, result, life });
        };
        let child = Supervised::start(&self.engine.helper, spec)
            .map_err(TurnError::system("cannot start the supervisor of the agent"))?;
        let ephemeral = self.ephemeral();
        let mut life = life;
        let mut around = Surroundings {
            limits: &order.limits,
            cancel: self.cancel,
            answers: self.answers,
            can_ask: order.interactive,
            asked: asked.as_ref(),
            to_session: &|text| order.agent.session_id(text).ok(),
            continues: &|asked, named| {
                context.store.as_deref().is_some_and(|store| order.agent.continues(store, asked, named))
            },
            on_session: &mut |session, stored| {
                set_up.is_done();
                if ephemeral {
                    return None;
                }
                let pin = if stored { life.stored() } else { life.named(session) };
                pin.map(|pin| System::Pin(Box::new(pin.clone())))
            },
            started: self.started,
        };
        let (verdict, mut result) =
            pump(child, prepared.launch.driver, prepared.first, &mut around, &mut self.outbox)
                .map_err(TurnError::system("cannot watch the agent"))?;
        let room = LINES_KEPT - self.lines.len().min(LINES_KEPT);
        self.lines.extend(result.lines.drain(..).take(room));
        tidy(result.session.as_ref());
        if let (None, Some(lookup), Verdict::Ended(_)) = (&result.session, lookup, &verdict) {
            // The agent did not name its session: find out which one it was.
            result.session = match lookup {
                Lookup::Look(look) => look(),
                Lookup::Ask { args, find } => {
                    let (path, helper) = (&context.installation.path, &self.engine.helper);
                    let ask = Ask { path, dir: Some(&context.dir), env: &lookup_env, helper };
                    find(&ask.ask(&args, &order.agent.foreign_env()).0.stdout)
                }
            };
            result.stored = result.session.is_some();
        }
        Ok(Launched { verdict, result, life })
    }

    /// After a rejected resume: the whole slice again, in a fresh session.
    fn prepare_fresh(&mut self, pin: Option<&Pin>, words: &str) -> Result<(Prepared, PinLife), TurnError> {
        let session = pin.map(|pin| pin.session.as_str().to_owned()).unwrap_or_default();
        let why = Reason::SessionRejected { session: session.clone(), why: words.to_owned() };
        self.plan = Plan::fresh(why, &self.context.slice);
        let prepared = Prepared::make(self.engine, self.order, self.context, self.plan.clone())?;
        let life = self.pin_life(&prepared);
        self.runs += 1;
        self.outbox.next_run();
        if !self.ephemeral() {
            let intent = self.intent(&prepared, &life);
            self.outbox.write_synced(vec![intent]).map_err(|trouble| self.unrecorded(trouble))?;
        }
        let agent = self.order.agent.agent();
        self.outbox.emit(Event::ResumeRejected { agent, session, text: words.to_owned() });
        if prepared.composed.lossy() {
            self.warn("lossy".into(), LOSSY.into());
        }
        if let Some(text) = withheld(&prepared.composed) {
            self.warn(WITHHELD.into(), text);
        }
        Ok((prepared, life))
    }

    pub(crate) fn unrecorded(&self, cause: Trouble) -> TurnError {
        TurnError::Unrecorded { conversation: self.context.id.short(), cause }
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
