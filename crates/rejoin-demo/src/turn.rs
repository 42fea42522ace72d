//! One turn, from the arguments to the end event.

use std::io;
use std::time::Duration;

use crate::answer::{Known, answer};
use crate::args::{Options, Which};
use crate::children;
use crate::directives::{Early, Script, Step, Twist};
use crate::flood;
use crate::input::{self, File, Inbox, Interrupted, Prompt};
use crate::output::{End, Event, Out};
use crate::perform::Turn;
use crate::session::{Record, Session, Store, is_id};
use crate::words::words;

/// How long the agent waits for its input to be closed.
const PATIENCE: Duration = Duration::from_secs(2);

/// Why nothing was begun: the exit code and the words.
struct Refusal(i32, String);

/// Why a turn stopped before its answer.
pub(crate) enum Stop {
    Interrupted,
    Failed {
        class: &'static str,
        message: String,
    },
    Exit(i32),
    /// Nobody reads the output any more.
    OutputGone,
}

impl Stop {
    /// The session could not be written.
    pub(crate) fn not_stored(error: &io::Error) -> Self {
        Self::Failed { class: "other", message: format!("cannot store the session: {error}") }
    }
}

impl From<Interrupted> for Stop {
    fn from(Interrupted: Interrupted) -> Self {
        Self::Interrupted
    }
}

/// Only output errors are turned into a stop without a word.
impl From<io::Error> for Stop {
    fn from(_: io::Error) -> Self {
        Self::OutputGone
    }
}

/// Takes a turn; gives the exit code.
pub(crate) fn take(options: &Options) -> i32 {
    let store = Store::new(options.store.as_deref(), options.keep);
    let begun = find(&store, &options.which).and_then(|session| {
        let prompt = input::prompt().map_err(|wrong| Refusal(2, wrong))?;
        let mut script = Script::of(words(&prompt.text).own);
        script.steps.extend(Step::limit_from_environment());
        if script.early == Some(Early::Hang) {
            return Err(Refusal(children::hang(), "hung for an hour".to_owned()));
        }
        let session = bend(&store, &options.which, session, script.twist)?;
        Ok((session, prompt, script))
    });
    match begun {
        Ok((session, prompt, script)) => go(options, session, &prompt, script).unwrap_or_else(|error| {
            // When nobody reads any more there is nobody to tell.
            if error.kind() != io::ErrorKind::BrokenPipe {
                crate::say(&format!("cannot go on: {error}"));
            }
            1
        }),
        Err(Refusal(code, words)) => {
            crate::say(&words);
            code
        }
    }
}

/// Finds the session that is asked for.
fn find(store: &Store<'_>, which: &Which) -> Result<Session, Refusal> {
    match which {
        Which::New(None) => Ok(store.start(uuid::Uuid::new_v4().to_string())),
        Which::New(Some(id)) if !is_id(id) => Err(Refusal(2, format!("not a session id: {id}"))),
        Which::New(Some(id)) if store.holds(id) => Err(Refusal(3, format!("session {id} already exists"))),
        Which::New(Some(id)) => Ok(store.start(id.clone())),
        Which::Resume(id) => match Twist::from_environment() {
            Some(Twist::Reject) => Err(no_session(id)),
            // A liar takes any id.
            Some(Twist::Lie) => Ok(store.start(id.clone())),
            _ => store
                .load(id)
                .map_err(|error| Refusal(1, format!("cannot read session {id}: {error}")))?
                .ok_or_else(|| no_session(id)),
        },
    }
}

/// Resumes badly, if that is wanted.
fn bend(store: &Store<'_>, which: &Which, session: Session, said: Option<Twist>) -> Result<Session, Refusal> {
    let Which::Resume(id) = which else { return Ok(session) };
    match Twist::from_environment().or(said) {
        None => Ok(session),
        Some(Twist::Reject) => Err(no_session(id)),
        Some(Twist::Lie) => Ok(store.start(store.other_id(id))),
        Some(Twist::Reissue) => {
            store.reissue(session).map_err(|error| Refusal(1, format!("cannot copy session {id}: {error}")))
        }
    }
}

fn no_session(id: &str) -> Refusal {
    Refusal(3, format!("no session {id}"))
}

fn go(options: &Options, mut session: Session, prompt: &Prompt, script: Script) -> io::Result<i32> {
    let mut out = Out::open()?;
    let inbox = Inbox::open()?;
    out.event(&Event::Session {
        id: &session.id,
        model: &options.model,
        permissions: options.permissions.name(),
        reissued_from: session.reissued_from.as_deref(),
    })?;
    out.flush()?;
    if script.early == Some(Early::Die) {
        children::die();
    }

    let remembered = session.bytes;
    let new = prompt.text.len() + prompt.instructions.as_ref().map_or(0, String::len);
    let ending = script.ending;
    let mut turn = Turn::new(&mut out, &inbox, &mut session, options.permissions);
    let done = converse(&mut turn, prompt, script);
    let said = turn.said;

    let end = match done {
        Ok(()) => End::ok(),
        Err(Stop::Interrupted) => End::interrupted(),
        Err(Stop::Failed { class, message }) => End::failed(class, message),
        Err(Stop::Exit(code)) => return out.flush().map(|()| code),
        Err(Stop::OutputGone) => return Ok(1),
    };
    if !matches!(end, End::Failed { .. }) {
        out.event(&Event::Usage { input: new as u64 / 4, cached: remembered / 4, output: said / 4 })?;
    }
    let line = end.line()?;
    let newline = if ending.no_newline { "" } else { "\n" };
    match (ending.bytes, ending.linger) {
        (Some(bytes), _) => {
            let opening = line.strip_suffix('}').unwrap_or(&line);
            flood::padded(&mut out, &format!("{opening},\"pad\":\""), &format!("\"}}{newline}"), bytes)?;
        }
        (None, Some(time)) => {
            out.flush()?;
            // Comes back only if there is no shell.
            children::linger(&format!("{line}{newline}"), time);
            out.bytes(format!("{line}{newline}").as_bytes())?;
        }
        (None, None) => out.bytes(format!("{line}{newline}").as_bytes())?,
    }
    out.flush()?;
    if let Some(time) = ending.linger {
        children::linger("", time);
        std::thread::sleep(time);
    }
    inbox.until_closed(PATIENCE);
    Ok(end.exit_code())
}

/// Stores the prompt, does what it says and answers.
fn converse(turn: &mut Turn<'_>, prompt: &Prompt, script: Script) -> Result<(), Stop> {
    let files: Vec<String> = prompt.files.iter().map(File::about).collect();
    turn.session.files.extend_from_slice(&files);
    turn.store(&Record::User { text: prompt.text.as_str().into(), files })?;
    if turn.session.is_kept() {
        turn.out.event(&Event::Stored)?;
        turn.out.flush()?;
    }
    for step in script.steps {
        // Who hangs is deaf, also to what came a moment before.
        if step != Step::Hang {
            turn.inbox.pause(Duration::ZERO)?;
        }
        turn.perform(step)?;
    }
    turn.inbox.pause(Duration::ZERO)?;
    let text = answer(&Known {
        session: &turn.session.id,
        earlier: &turn.session.prompts,
        prompt: &prompt.text,
        instructions: prompt.instructions.as_deref(),
        files: &turn.session.files,
        notes: &turn.notes,
    });
    turn.say(&text)
}
