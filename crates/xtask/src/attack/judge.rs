//! Whether what rejoin said, what it holds and what it left behind fit together after a command that met a fault.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use serde_json::Value;

use super::acts::{Attempt, Expected, Marks, Output};
use super::fault::Fault;
use super::memory;
use super::random::Random;
use super::report::Ended;
use super::state::{Conversation, State, Turn, json};
use super::world::{Call, Said, Traced, World};

/// What a command may end with.
const EXIT_CODES: [i32; 9] = [0, 1, 2, 3, 4, 5, 6, 7, 130];

/// What was found out about one round.
pub(crate) struct Verdict {
    pub(crate) complaints: Vec<String>,
    /// What rejoin holds now.
    pub(crate) state: State,
}

/// One command and what happened to it.
pub(crate) struct Round<'a> {
    /// What rejoin held before.
    pub(crate) before: &'a State,
    pub(crate) attempt: &'a Attempt,
    pub(crate) fault: Option<&'a Fault>,
    /// The mark of the turn that was taken in the middle of it.
    pub(crate) mark: Option<String>,
}

impl Round<'_> {
    fn is(&self, action: &str) -> bool {
        self.fault.is_some_and(|fault| fault.action.contains(action))
    }

    fn loses_power(&self) -> bool {
        self.fault.is_some_and(|fault| fault.power)
    }
}

/// Looks at everything, lets the user go on, and looks again.
pub(crate) fn judge(
    world: &World,
    round: &Round<'_>,
    traced: &Traced,
    marks: &mut Marks,
    random: &mut Random,
) -> Verdict {
    let mut complaints = outer(round, traced);
    let mut state = State::default();
    if let Err(error) = inner(world, round, traced, marks, random, &mut complaints, &mut state) {
        complaints.push(format!("{error:#}"));
    }
    Verdict { complaints, state }
}

/// What can be told from outside: how it ended, what it printed, who is left.
fn outer(round: &Round<'_>, traced: &Traced) -> Vec<String> {
    let mut complaints = Vec::new();
    let attempt = round.attempt;
    let kills = round.is("kill");
    match traced.report.ended {
        Ended::Exit(code) if EXIT_CODES.contains(&code) => {}
        Ended::Exit(code) => complaints.push(format!("exit code {code} means nothing")),
        Ended::Signal(9) if kills => {}
        Ended::Signal(signal) => complaints.push(format!("rejoin died of signal {signal}")),
        Ended::Stuck => complaints.push("rejoin did not end".to_owned()),
    }
    for orphan in &traced.report.orphans {
        complaints.push(format!("a process was left running: {orphan}"));
    }
    if [&traced.stdout, &traced.stderr].iter().any(|text| text.contains("panicked at")) {
        complaints.push("rejoin panicked".to_owned());
    }
    let hit = traced.report.hit.as_ref().map(|hit| &hit.op);
    let failed_sync = hit.filter(|op| {
        op.class == "sync"
            && op.who == "rejoin"
            && ["/projects", "/flows"].iter().any(|dir| op.path.contains(dir))
    });
    // A chat goes on after a turn that failed, and ends well.
    let succeeded = match &attempt.expected {
        Expected::Turns { marks, .. } => ticks(traced) == marks.len(),
        _ => traced.succeeded(),
    };
    if let Some(op) = failed_sync
        && !kills
        && !round.is("meanwhile")
        && succeeded
    {
        complaints.push(format!("exit 0 although {} could not be brought to the disk", op.path));
    }
    if let Expected::Turn { output: Output::Stream, .. } = attempt.expected
        && matches!(traced.report.ended, Ended::Exit(_))
    {
        let types: Vec<String> = events(&traced.stdout)
            .iter()
            .filter_map(|event| event["type"].as_str().map(str::to_owned))
            .collect();
        if types.first().is_some_and(|kind| kind == "init")
            && types.last().is_none_or(|kind| kind != "result")
        {
            complaints.push(format!("the stream ends with {:?} instead of a result", types.last()));
        }
    }
    complaints
}

/// What rejoin holds, before and after the user went on.
fn inner(
    world: &World,
    round: &Round<'_>,
    traced: &Traced,
    marks: &mut Marks,
    random: &mut Random,
    complaints: &mut Vec<String>,
    state: &mut State,
) -> Result<()> {
    let (before, attempt) = (round.before, round.attempt);
    let mut after = State::of(world)?;
    // Whoever was killed, and who ends what it left, takes a moment to be gone.
    for _ in 0..20 {
        if !after.is_running() {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
        after = State::of(world)?;
    }
    unlisted(world, &after, complaints);
    preserved(before, &after, &attempt.expected, complaints);
    for conversation in after.conversations.values() {
        if conversation.is_running() {
            complaints.push(format!("{} is running, and nobody is there", conversation.id));
        }
    }
    done(world, round, &after, traced, complaints)?;
    meanwhile(round, &after, traced, complaints);
    finish(world, attempt, complaints)?;
    // A run of a flow that went on to its end took turns of its own.
    let after = if matches!(attempt.expected, Expected::Flow { .. }) { State::of(world)? } else { after };
    let next = go_on(world, &after, attempt, marks, random)?;
    fsck(world, complaints)?;
    leftovers(&world.home(), complaints);
    leftovers(&world.temporary(), complaints);
    *state = State::of(world)?;
    preserved(&after, state, &attempt.expected, complaints);
    went_on(&after, state, attempt, &next, complaints);
    if let Expected::Flow { marks, .. } = &attempt.expected {
        flow(world, before, state, marks, complaints)?;
    }
    Ok(())
}

/// A journal with a whole line in it is listed.
fn unlisted(world: &World, state: &State, complaints: &mut Vec<String>) {
    for project in entries(&world.home().join("projects")) {
        for journal in entries(&project) {
            let id = journal.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let whole = fs::read(&journal).is_ok_and(|bytes| bytes.contains(&b'\n'));
            let is_journal = journal.extension().is_some_and(|extension| extension == "jsonl");
            if is_journal && whole && !state.conversations.contains_key(&id) {
                complaints.push(format!("{id} has a journal and is not listed"));
            }
        }
    }
}

/// Whatever rejoin once told is told again.
fn preserved(before: &State, after: &State, expected: &Expected, complaints: &mut Vec<String>) {
    for (id, old) in &before.conversations {
        let Some(new) = after.conversations.get(id) else {
            if !matches!(expected, Expected::Gone { conversations } if conversations.contains(id)) {
                complaints.push(format!("conversation {id} is lost"));
            }
            continue;
        };
        for (turn, old) in &old.turns {
            match new.turns.get(turn) {
                None => complaints.push(format!("turn {turn} of {id} is lost ({:?})", old.prompt)),
                Some(new) => changed(old, new, expected, complaints),
            }
        }
        let renamed = matches!(expected, Expected::Name { conversation, .. } if conversation == id);
        if old.name != new.name && !renamed {
            complaints.push(format!("the name of {id} was {:?} and is {:?}", old.name, new.name));
        }
        if old.tags.iter().any(|tag| !new.tags.contains(tag)) {
            complaints.push(format!("a label of {id} is lost: {:?}, now {:?}", old.tags, new.tags));
        }
    }
}

fn changed(old: &Turn, new: &Turn, expected: &Expected, complaints: &mut Vec<String>) {
    let id = &old.id;
    let edited = matches!(expected, Expected::Edit { turn, .. } if turn == id);
    if old.prompt != new.prompt && !edited {
        complaints.push(format!("the prompt of turn {id} was {:?} and is {:?}", old.prompt, new.prompt));
    }
    if old.answer != new.answer || old.calls != new.calls || old.results != new.results {
        complaints.push(format!("what turn {id} answered was {:?} and is {:?}", old.answer, new.answer));
    }
    if old.parent != new.parent {
        complaints.push(format!("turn {id} hangs on {:?} instead of {:?}", new.parent, old.parent));
    }
    if old.receipt.is_some() && old.receipt != new.receipt {
        complaints.push(format!("the receipt of turn {id} is lost or changed"));
    }
}

/// If it said that it is done, it is; if not, it is done or not, and nothing else.
fn done(
    world: &World,
    round: &Round<'_>,
    after: &State,
    traced: &Traced,
    complaints: &mut Vec<String>,
) -> Result<()> {
    let (before, attempt) = (round.before, round.attempt);
    let acknowledged = traced.succeeded();
    let mut unless = |holds: bool, acceptable: bool, what: String| {
        if acknowledged && !holds {
            complaints.push(format!("exit 0, and {what}"));
        } else if !holds && !acceptable {
            complaints.push(format!("halfway: {what}"));
        }
    };
    match &attempt.expected {
        Expected::Turn { conversation, parent, mark, output } => {
            let mut told = told(traced, *output);
            if round.loses_power() {
                // What was shown of a turn that runs survives a kill; only its beginning and its end are synced.
                told.calls.clear();
                told.results.clear();
            }
            turn(round, after, conversation.as_deref(), parent.as_deref(), mark, &told, complaints);
        }
        Expected::Turns { conversation, marks } => {
            turns(after, conversation.as_deref(), marks, ticks(traced), complaints);
        }
        Expected::Name { conversation, name } => {
            let now = after.conversations.get(conversation).and_then(|on| on.name.clone());
            let was = before.conversations.get(conversation).and_then(|on| on.name.clone());
            unless(
                now.as_ref() == Some(name),
                now == was,
                format!("the name is {now:?} instead of {name:?}"),
            );
        }
        Expected::Tag { conversation, tag } => {
            let now = after.conversations.get(conversation).map(|on| on.tags.clone()).unwrap_or_default();
            unless(now.contains(tag), true, format!("the label {tag} is not among {now:?}"));
        }
        // A turn that was taken meanwhile has a head of its own.
        Expected::Head { .. } if round.mark.is_some() => {}
        Expected::Head { conversation, to } => {
            let now = after.conversations.get(conversation).and_then(|on| on.head.clone());
            let was = before.conversations.get(conversation).and_then(|on| on.head.clone());
            unless(now == *to, now == was, format!("the head is {now:?} instead of {to:?}"));
        }
        Expected::Edit { conversation, turn, mark } => {
            let find = |state: &State| state.conversations.get(conversation)?.turns.get(turn).cloned();
            let (was, now) = (find(before), find(after));
            let holds = now.as_ref().is_some_and(|now| now.prompt.contains(mark.as_str()));
            unless(holds, now == was, format!("turn {turn} says {:?}", now.map(|now| now.prompt)));
        }
        Expected::Gone { conversations } => {
            let left: Vec<&String> =
                conversations.iter().filter(|id| after.conversations.contains_key(*id)).collect();
            unless(left.is_empty(), true, format!("{left:?} are still there"));
        }
        Expected::Moved { to, .. } => {
            let elsewhere: Vec<&str> = before
                .conversations
                .keys()
                .filter_map(|id| after.conversations.get(id))
                .filter(|conversation| conversation.project != *to)
                .map(|conversation| conversation.project.as_str())
                .collect();
            unless(elsewhere.is_empty(), true, format!("conversations are still in {elsewhere:?}"));
        }
        Expected::Taken { conversation, turns, before: had, .. } => {
            let taken = after.conversations.get(conversation);
            let now: BTreeSet<String> =
                taken.map(|taken| taken.turns.keys().cloned().collect()).unwrap_or_default();
            let unfinished =
                taken.and_then(|taken| taken.turns.values().find(|turn| turn.state != "completed"));
            let nothing = taken.is_none() && had.is_empty();
            unless(
                now == *turns && unfinished.is_none(),
                nothing || (now == *had && !had.is_empty() && unfinished.is_none()),
                format!("{} of {} turns came in, {} were there", now.len(), turns.len(), had.len()),
            );
        }
        Expected::Exported { file } => {
            let back = world.elsewhere("third", &Call::new(&["import", file]))?;
            // What is not whole must not be taken for whole; no file at all is fine.
            unless(
                back.code == Some(0),
                back.code.is_some_and(|code| code != 0),
                format!("the export cannot be taken in: {}", back.stderr.trim()),
            );
        }
        Expected::Nothing { printed } => {
            let missing: Vec<&String> =
                printed.iter().filter(|word| !traced.stdout.contains(word.as_str())).collect();
            unless(missing.is_empty(), true, format!("{missing:?} is not printed"));
        }
        Expected::Flow { .. } => {
            let runs = runs(world)?;
            let newest = runs.first().map(|(_, standing)| standing.as_str());
            unless(newest == Some("done"), true, format!("the newest run is {newest:?}"));
            for (id, standing) in &runs {
                if standing == "running" {
                    complaints.push(format!("run {id} is running, and nobody is there"));
                }
            }
        }
    }
    Ok(())
}

/// How many turns a chat has shown as done.
fn ticks(traced: &Traced) -> usize {
    traced.stdout.matches("✓ ").count()
}

/// What the other command said it did is done as well.
fn meanwhile(round: &Round<'_>, after: &State, traced: &Traced, complaints: &mut Vec<String>) {
    let Some(said) = &traced.meanwhile else { return };
    if said.code.is_some_and(|code| code != 137 && !EXIT_CODES.contains(&code))
        || said.stderr.contains("panicked at")
    {
        complaints.push(format!("meanwhile: {:?} {}", said.code, said.stderr.trim()));
    }
    let Some(mark) = round.mark.as_ref().filter(|_| said.code == Some(0)) else { return };
    let found =
        after.conversations.values().flat_map(|on| on.marked(mark).into_iter().map(move |turn| (on, turn)));
    let edits = matches!(round.attempt.expected, Expected::Edit { .. });
    match found.collect::<Vec<_>>().as_slice() {
        // What it remembers may have been edited after it.
        [(_, turn)] if edits && turn.state == "completed" => {}
        [(on, turn)] => finished(on, turn, complaints),
        other => complaints.push(format!("meanwhile exit 0, and {} turns with {mark}", other.len())),
    }
}

/// What the user was told about a turn.
#[derive(Default)]
struct Told {
    /// It has begun: the prompt is kept.
    begun: bool,
    /// It is done, with this answer where the whole of it was printed.
    done: bool,
    answer: Option<String>,
    calls: Vec<String>,
    results: Vec<String>,
}

fn told(traced: &Traced, output: Output) -> Told {
    let mut told = Told { done: traced.succeeded(), ..Told::default() };
    match output {
        Output::Text => {
            told.begun = ["○ ", "● "].iter().any(|sign| traced.stderr.contains(sign));
            told.done |= traced.stderr.contains("✓ ");
        }
        Output::Json => {
            if let Ok(result) = serde_json::from_str::<Value>(&traced.stdout) {
                told.done |= result["outcome"] == "completed";
                told.answer = result["text"].as_str().map(str::to_owned);
            }
        }
        Output::Stream => {
            for event in events(&traced.stdout) {
                let id = || event["id"].as_str().map(str::to_owned);
                match event["type"].as_str() {
                    Some("init") => told.begun = true,
                    Some("tool_use") => told.calls.extend(id()),
                    Some("tool_result") => told.results.extend(id()),
                    Some("result") if event["outcome"] == "completed" => {
                        told.done = true;
                        told.answer = event["text"].as_str().map(str::to_owned);
                    }
                    _ => {}
                }
            }
        }
    }
    told
}

/// Lines of JSON; the last one may be cut.
fn events(text: &str) -> Vec<Value> {
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn turn(
    round: &Round<'_>,
    after: &State,
    conversation: Option<&str>,
    parent: Option<&str>,
    mark: &str,
    told: &Told,
    complaints: &mut Vec<String>,
) {
    let others = |turn: &Turn| round.mark.as_ref().is_some_and(|mark| turn.prompt.contains(mark.as_str()));
    let is_new = |on: &Conversation, turn: &Turn| {
        let old = round.before.conversations.get(&on.id);
        old.is_none_or(|old| !old.turns.contains_key(&turn.id)) && !others(turn)
    };
    let new: Vec<(&Conversation, &Turn)> = after
        .conversations
        .values()
        .flat_map(|on| on.turns.values().map(move |turn| (on, turn)))
        .filter(|(on, turn)| is_new(on, turn))
        .collect();
    if new.len() > 1 {
        complaints.push(format!("one turn was asked for, {} came", new.len()));
    }
    let Some(&(on, turn)) = new.first() else {
        if told.done {
            complaints.push("exit 0 or ✓ without the turn".to_owned());
        } else if told.begun {
            complaints.push("the turn was shown as begun, and its prompt is lost".to_owned());
        }
        return;
    };
    if !turn.prompt.contains(mark) || conversation.is_some_and(|id| id != on.id) {
        complaints.push(format!("turn {} of {} says {:?}", turn.id, on.id, turn.prompt));
    }
    let alone = round.mark.is_none();
    if alone && (turn.parent.as_deref() != parent || on.head.as_ref() != Some(&turn.id)) {
        complaints
            .push(format!("turn {} hangs on {:?}, not {parent:?}, or is not the head", turn.id, turn.parent));
    }
    for (shown, kept) in [(&told.calls, &turn.calls), (&told.results, &turn.results)] {
        if let Some(lost) = shown.iter().find(|id| !kept.contains(id)) {
            complaints.push(format!("what the tool call {lost} did was shown and is lost"));
        }
    }
    if told.done {
        finished(on, turn, complaints);
        if let Some(answer) = &told.answer
            && !turn.answer.ends_with(answer.as_str())
        {
            complaints.push(format!("the answer was {answer:?}, kept is {:?}", turn.answer));
        }
    }
}

/// A turn that was acknowledged: receipt, answer, and the right memory in it.
fn finished(on: &Conversation, turn: &Turn, complaints: &mut Vec<String>) {
    let outcome = turn.receipt.as_ref().and_then(|receipt| receipt["outcome"].as_str());
    if outcome != Some("completed") || turn.state != "completed" {
        complaints.push(format!("exit 0 or ✓, and turn {} is {} ({outcome:?})", turn.id, turn.state));
    } else if let Some(wrong) = memory::wrong(on, &turn.id, &turn.answer) {
        complaints.push(format!("wrong memory: {wrong}"));
    }
}

/// As many turns are done as were ticked off; a chat goes on after one that failed.
fn turns(
    after: &State,
    conversation: Option<&str>,
    marks: &[String],
    ticks: usize,
    complaints: &mut Vec<String>,
) {
    let mut done = 0;
    for mark in marks {
        let all = after.conversations.values().filter(|on| conversation.is_none_or(|id| id == on.id));
        for (on, turn) in all.flat_map(|on| on.marked(mark).into_iter().map(move |turn| (on, turn))) {
            if turn.state == "completed" {
                done += 1;
                finished(on, turn, complaints);
            }
        }
    }
    if done < ticks {
        complaints.push(format!("{ticks} turns were ticked off, {done} are done"));
    }
}

/// What the user does to have it done: the same again.
fn finish(world: &World, attempt: &Attempt, complaints: &mut Vec<String>) -> Result<()> {
    let again = |said: &Said, fine: &[i32]| said.code.is_some_and(|code| fine.contains(&code));
    match &attempt.expected {
        Expected::Moved { from, to } => {
            let said = world.rejoin(&Call::new(&["mv", from, to]))?;
            if !again(&said, &[0, 4]) {
                complaints.push(format!("mv again: {:?} {}", said.code, said.stderr.trim()));
            }
        }
        Expected::Taken { file, .. } => {
            let said = world.rejoin(&Call::new(&["import", file]))?;
            if !again(&said, &[0]) {
                complaints.push(format!("import again: {:?} {}", said.code, said.stderr.trim()));
            }
        }
        Expected::Flow { begun, .. } => {
            let runs = runs(world)?;
            if *begun && runs.is_empty() {
                complaints.push("the run is lost".to_owned());
            }
            for (id, standing) in runs {
                if standing == "done" {
                    continue;
                }
                let said = world.rejoin(&Call::new(&["flow", "resume", &id]))?;
                if !again(&said, &[0]) {
                    complaints.push(format!("flow resume: {:?} {}", said.code, said.stderr.trim()));
                }
            }
        }
        _ => {}
    }
    Ok(())
}

/// Every step's turn was done once, and every conversation belongs to the run.
fn flow(
    world: &World,
    before: &State,
    state: &State,
    marks: &[String],
    complaints: &mut Vec<String>,
) -> Result<()> {
    let begun = !runs(world)?.is_empty();
    let logs: Vec<String> = entries(&world.home().join("flows"))
        .iter()
        .filter_map(|log| fs::read(log).ok())
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .collect();
    for mark in marks {
        let done: BTreeSet<&str> = state
            .conversations
            .values()
            .flat_map(|on| on.marked(mark))
            .filter(|turn| turn.state == "completed")
            .map(|turn| turn.id.as_str())
            .collect();
        if done.len() > 1 || (begun && logs.iter().any(|log| log.contains(mark.as_str())) && done.is_empty())
        {
            complaints.push(format!("the step of {mark} was done {} times", done.len()));
        }
    }
    for id in state.conversations.keys().filter(|id| !before.conversations.contains_key(*id)) {
        let carries = state.conversations[id]
            .turns
            .values()
            .any(|turn| marks.iter().any(|mark| turn.prompt.contains(mark)));
        if carries && !logs.iter().any(|log| log.contains(id.as_str())) {
            complaints.push(format!("conversation {id} belongs to no run"));
        }
    }
    Ok(())
}

/// The runs of flows, newest first, with what they are.
fn runs(world: &World) -> Result<Vec<(String, String)>> {
    let runs = json(world, &["flow", "ls", "--json"])?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Ok(runs.as_array().into_iter().flatten().map(|run| (text(&run["id"]), text(&run["standing"]))).collect())
}

/// The user goes on at once.
fn go_on(
    world: &World,
    after: &State,
    attempt: &Attempt,
    marks: &mut Marks,
    random: &mut Random,
) -> Result<Said> {
    let about = match &attempt.expected {
        Expected::Turn { conversation, mark, .. } => conversation.clone().or_else(|| with_mark(after, mark)),
        Expected::Turns { conversation, marks } => {
            conversation.clone().or_else(|| marks.iter().find_map(|mark| with_mark(after, mark)))
        }
        Expected::Name { conversation, .. }
        | Expected::Tag { conversation, .. }
        | Expected::Head { conversation, .. }
        | Expected::Edit { conversation, .. }
        | Expected::Taken { conversation, .. } => Some(conversation.clone()),
        _ => None,
    };
    let here = world.project().display().to_string();
    let about = about.filter(|id| {
        after.conversations.contains_key(id) || matches!(attempt.expected, Expected::Taken { .. })
    });
    let about = about.or_else(|| after.in_project(&here).first().map(|on| on.id.clone()));
    let prompt = format!("and {}", marks.next());
    let agent = if random.once_in(4) { "demo2" } else { "demo" };
    let mut args = vec!["run", "-a", agent, "-o", "json"];
    if let Some(id) = &about {
        args.extend(["-r", id]);
    }
    args.push(&prompt);
    world.rejoin(&Call::new(&args))
}

/// The next turn was taken, where the user stood, by an agent that remembers what it should.
fn went_on(after: &State, now: &State, attempt: &Attempt, next: &Said, complaints: &mut Vec<String>) {
    let result = serde_json::from_str::<Value>(&next.stdout).unwrap_or_default();
    let text = |name: &str| result[name].as_str().unwrap_or_default().to_owned();
    let (id, turn) = (text("conversation"), text("turn"));
    if next.code != Some(0) {
        complaints.push(format!("the next turn fails: {:?} {}", next.code, next.stderr.trim()));
        return;
    }
    let Some(on) = now.conversations.get(&id) else {
        complaints.push(format!("the next turn of {id} is not there"));
        return;
    };
    if let Some(wrong) = memory::wrong(on, &turn, &text("text")) {
        complaints.push(format!("wrong memory in the next turn ({}): {wrong}", result["plan"]));
    }
    let path = |on: &Conversation| on.path().iter().map(|turn| turn.id.clone()).collect::<Vec<_>>();
    let old = after.conversations.get(&id).map(path).unwrap_or_default();
    let new = path(on);
    let behind = new.strip_suffix(std::slice::from_ref(&turn)).is_some_and(|path| path == old);
    // What is taken in may bring a head of its own.
    if !behind && !matches!(attempt.expected, Expected::Taken { .. }) {
        complaints.push(format!("the next turn does not hang on the head: {old:?}, then {new:?}"));
    }
}

fn with_mark(state: &State, mark: &str) -> Option<String> {
    state.conversations.values().find(|on| !on.marked(mark).is_empty()).map(|on| on.id.clone())
}

/// Sound, but for lines that were cut and never acknowledged.
fn fsck(world: &World, complaints: &mut Vec<String>) -> Result<()> {
    let said = world.rejoin(&Call::new(&["fsck", "--all", "--json"]))?;
    let Ok(checked) = serde_json::from_str::<Value>(&said.stdout) else {
        complaints.push(format!("fsck fails: {:?} {}", said.code, said.stderr.trim()));
        return Ok(());
    };
    let mut cut = false;
    for conversation in checked.as_array().into_iter().flatten() {
        for problem in conversation["problems"].as_array().into_iter().flatten() {
            let words = problem["problem"].as_str().unwrap_or_default();
            cut = true;
            if !words.contains("unfinished record") {
                complaints.push(format!("fsck of {}: {problem}", conversation["id"]));
            }
        }
    }
    if said.code != Some(0) && !cut {
        complaints.push(format!("fsck ends with {:?} and names no problem", said.code));
    }
    Ok(())
}

/// Drafts and the like are gone when the user went on.
fn leftovers(dir: &Path, complaints: &mut Vec<String>) {
    for path in entries(dir) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !path.is_symlink() {
            leftovers(&path, complaints);
        }
        let draft = ["tmp", "draft", "part"].iter().any(|word| name.ends_with(&format!(".{word}")));
        if draft || ["ephemeral-", "attached-"].iter().any(|begin| name.starts_with(begin)) {
            complaints.push(format!("{} was left behind", path.display()));
        }
    }
}

fn entries(dir: &Path) -> Vec<std::path::PathBuf> {
    let mut entries: Vec<_> =
        fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    entries
}
