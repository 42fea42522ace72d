//! What is attacked: commands as a user gives them, and what each must have done when it says that it is done.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result, bail};

use super::random::Random;
use super::state::{Conversation, State};
use super::world::{Call, World};

/// A command of rejoin's, in one of its uses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Act {
    First,
    Resumed,
    HandOver,
    Fresh,
    Tools,
    /// A turn with a tool that would run for long: for kills while it does.
    LongTool,
    Checkpoint,
    Named,
    Chat,
    FlowRun,
    FlowResume,
    Edit,
    EditFromHere,
    Rewind,
    Branch,
    Retry,
    Name,
    Tag,
    Mv,
    Rm,
    Prune,
    Import,
    ImportLonger,
    Export,
    Ls,
    Search,
}

/// All of them; those that take turns stand there more than once in a campaign.
pub(crate) const ACTS: [Act; 26] = [
    Act::First,
    Act::Resumed,
    Act::HandOver,
    Act::Fresh,
    Act::Tools,
    Act::LongTool,
    Act::Checkpoint,
    Act::Named,
    Act::Chat,
    Act::FlowRun,
    Act::FlowResume,
    Act::Edit,
    Act::EditFromHere,
    Act::Rewind,
    Act::Branch,
    Act::Retry,
    Act::Name,
    Act::Tag,
    Act::Mv,
    Act::Rm,
    Act::Prune,
    Act::Import,
    Act::ImportLonger,
    Act::Export,
    Act::Ls,
    Act::Search,
];

/// How a turn's outcome is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Output {
    Text,
    Json,
    Stream,
}

/// What a command must have done if it says that it is done, and may have done if it does not.
#[derive(Clone, Debug)]
pub(crate) enum Expected {
    /// A turn behind that one, with this mark in its prompt.
    Turn {
        conversation: Option<String>,
        parent: Option<String>,
        mark: String,
        output: Output,
    },
    /// One turn after the other.
    Turns {
        conversation: Option<String>,
        marks: Vec<String>,
    },
    Name {
        conversation: String,
        name: String,
    },
    Tag {
        conversation: String,
        tag: String,
    },
    Head {
        conversation: String,
        to: Option<String>,
    },
    Edit {
        conversation: String,
        turn: String,
        mark: String,
    },
    Gone {
        conversations: Vec<String>,
    },
    Moved {
        from: String,
        to: String,
    },
    /// A conversation comes in; before, this much of it was there.
    Taken {
        conversation: String,
        turns: BTreeSet<String>,
        before: BTreeSet<String>,
        file: String,
    },
    Exported {
        file: String,
    },
    /// Each mark stands for a step; `begun` if the run was there before.
    Flow {
        marks: Vec<String>,
        begun: bool,
    },
    /// Nothing changes, and these words are printed.
    Nothing {
        printed: Vec<String>,
    },
}

/// A command that is about to be given.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) call: Call,
    pub(crate) expected: Expected,
}

/// Marks that are used once in a world.
#[derive(Default)]
pub(crate) struct Marks(usize);

impl Marks {
    pub(crate) fn next(&mut self) -> String {
        self.0 += 1;
        format!("MARK-m{}", self.0)
    }
}

impl Attempt {
    /// Something that the same user does at the same time, elsewhere; and the mark of its turn, if it is one.
    pub(crate) fn meanwhile(&self, marks: &mut Marks, random: &mut Random) -> Option<(Call, Option<String>)> {
        // What stands at the head meanwhile would be run again.
        if self.call.args.first().is_some_and(|command| command == "retry") {
            return None;
        }
        let mark = marks.next();
        let say = format!("meanwhile {mark}");
        match &self.expected {
            Expected::Taken { file, .. } => Some((Call::new(&["import", file]), None)),
            // Deleting what is used at that moment is right or wrong by a hair.
            Expected::Gone { .. } | Expected::Turns { .. } => None,
            Expected::Turn { conversation: Some(id), .. }
            | Expected::Name { conversation: id, .. }
            | Expected::Tag { conversation: id, .. }
            | Expected::Head { conversation: id, .. }
            | Expected::Edit { conversation: id, .. }
                if random.once_in(2) =>
            {
                Some((Call::new(&["run", "-r", id, "-o", "json", &say]), Some(mark)))
            }
            _ => Some((Call::new(&["run", "-c", "-a", "demo", "-o", "json", &say]), Some(mark))),
        }
    }
}

/// A conversation with turns of two agents and one with a single turn, to begin with.
pub(crate) fn found(world: &World, marks: &mut Marks) -> Result<()> {
    for flags in [["-a", "demo"], ["-c", "-o"], ["-c", "-a"], ["-c", "-o"], ["-a", "demo"]] {
        let mut call = Call::new(&["run", flags[0]]);
        match flags[1] {
            "-o" => call.args.extend(["-o", "json"].map(str::to_owned)),
            "-a" => call.args.extend(["-a", "demo2"].map(str::to_owned)),
            agent => call.args.push(agent.to_owned()),
        }
        call.args.push(format!("say {}", marks.next()));
        succeed(world, &call)?;
    }
    Ok(())
}

/// Prepares a command. `None` where there is nothing to do it on.
pub(crate) fn prepare(
    act: Act,
    world: &mut World,
    state: &State,
    marks: &mut Marks,
    random: &mut Random,
) -> Result<Option<Attempt>> {
    let here = world.project().display().to_string();
    let ours = state.in_project(&here);
    let chosen = random.pick(&ours).copied();
    let mark = marks.next();
    let (call, expected) = match act {
        Act::First => {
            let output = some_output(random);
            let call = turn(&["run", "-a", "demo"], output, &format!("say {mark}"));
            (call, Expected::Turn { conversation: None, parent: None, mark, output })
        }
        Act::Named => {
            let output = some_output(random);
            let name = mark.to_lowercase();
            let call = turn(&["run", "-a", "demo", "-s", &name], output, &format!("say {mark}"));
            (call, Expected::Turn { conversation: None, parent: None, mark, output })
        }
        Act::Resumed | Act::HandOver | Act::Fresh | Act::Tools | Act::LongTool => {
            let Some(on) = chosen.cloned() else { return Ok(None) };
            let mut output = some_output(random);
            let other = if last_agent(&on) == "demo" { "demo2" } else { "demo" };
            let mut prompt = format!("say {mark}");
            let mut args = vec!["run", "-r", &on.id];
            match act {
                Act::HandOver => args.extend(["-a", other]),
                Act::Fresh => args.push("--fresh-session"),
                Act::Tools => {
                    output = Output::Stream;
                    prompt = format!("{mark} THINK TOOL-RUN [echo one] SLOW 3 TOOL-RUN [echo two > made]");
                }
                Act::LongTool => {
                    output = if random.once_in(2) { Output::Stream } else { Output::Text };
                    prompt = format!("{mark} TOOL-RUN [{}]", long_tool(random));
                }
                _ => {}
            }
            let call = turn(&args, output, &prompt);
            let (conversation, parent) = (Some(on.id.clone()), on.head.clone());
            (call, Expected::Turn { conversation, parent, mark, output })
        }
        Act::Checkpoint => {
            let Some(on) = chosen.cloned() else { return Ok(None) };
            let Some(from) = some_turn(&on, random) else { return Ok(None) };
            let output = some_output(random);
            let call = turn(&["run", "-r", &on.id, "--checkpoint", &from], output, &format!("say {mark}"));
            (call, Expected::Turn { conversation: Some(on.id), parent: Some(from), mark, output })
        }
        Act::Chat => {
            let said = vec![mark, marks.next(), marks.next()];
            let mut call = match chosen.filter(|_| random.once_in(2)) {
                Some(on) => Call::new(&["chat", "-r", &on.id]),
                None => Call::new(&["chat", "-a", "demo"]),
            };
            let conversation = (call.args[1] == "-r").then(|| call.args[2].clone());
            call.typed = Some(said.iter().map(|mark| format!("say {mark}")).collect());
            (call, Expected::Turns { conversation, marks: said })
        }
        Act::FlowRun | Act::FlowResume => {
            let said: Vec<String> = std::iter::once(mark).chain((0..3).map(|_| marks.next())).collect();
            let flow = flow_text(&said, act == Act::FlowResume);
            fs::write(world.project().join("attack.flow.yaml"), flow).context("cannot write a flow")?;
            let call = Call::new(&["flow", "run", "attack.flow.yaml"]);
            if act == Act::FlowRun {
                (call, Expected::Flow { marks: said, begun: false })
            } else {
                // The step that fails the first time has left everything before it done.
                let failed = world.rejoin(&call)?;
                if failed.code == Some(0) {
                    bail!("the flow was to fail: {}", failed.stderr);
                }
                (Call::new(&["flow", "resume", "@"]), Expected::Flow { marks: said, begun: true })
            }
        }
        Act::Edit => {
            let Some(on) = chosen.cloned() else { return Ok(None) };
            let Some(turn) = some_turn(&on, random) else { return Ok(None) };
            let call = Call::new(&["edit", &on.id, &turn, "-f", "-"]).stdin(&format!("rather {mark}"));
            (call, Expected::Edit { conversation: on.id, turn, mark })
        }
        Act::EditFromHere => {
            let Some(on) = chosen.cloned() else { return Ok(None) };
            let Some(old) = some_turn(&on, random) else { return Ok(None) };
            let parent = on.turns.get(&old).and_then(|turn| turn.parent.clone());
            let call = Call::new(&["edit", &on.id, &old, "--from-here", "-f", "-", "-o", "json"])
                .stdin(&format!("rather {mark}"));
            let output = Output::Json;
            (call, Expected::Turn { conversation: Some(on.id), parent, mark, output })
        }
        Act::Retry => {
            let Some(on) = chosen.cloned() else { return Ok(None) };
            let Some(head) = on.head.as_ref().and_then(|head| on.turns.get(head)) else { return Ok(None) };
            let Some(mark) = super::state::marks(&head.prompt).first().cloned() else { return Ok(None) };
            // A tool that would run for long is not run again.
            if head.prompt.contains("attack-marker") {
                return Ok(None);
            }
            let parent = if head.state == "completed" { head.parent.clone() } else { Some(head.id.clone()) };
            let call = Call::new(&["retry", &on.id, "-o", "json"]);
            let output = Output::Json;
            (call, Expected::Turn { conversation: Some(on.id), parent, mark, output })
        }
        Act::Rewind => {
            let Some(on) = chosen.cloned() else { return Ok(None) };
            let Some(head) = on.path().last().map(|turn| turn.parent.clone()) else { return Ok(None) };
            let call = Call::new(&["rewind", &on.id]);
            (call, Expected::Head { conversation: on.id, to: head })
        }
        Act::Branch => {
            let Some(on) = chosen.cloned() else { return Ok(None) };
            let Some(to) = some_turn(&on, random) else { return Ok(None) };
            let name = mark.to_lowercase();
            let call = Call::new(&["branch", &on.id, "--at", &to, "--name", &name]);
            (call, Expected::Head { conversation: on.id, to: Some(to) })
        }
        Act::Name => {
            let Some(on) = chosen.cloned() else { return Ok(None) };
            let name = mark.to_lowercase();
            let call = Call::new(&["name", &on.id, &name]);
            (call, Expected::Name { conversation: on.id, name })
        }
        Act::Tag => {
            let Some(on) = chosen.cloned() else { return Ok(None) };
            let tag = mark.to_lowercase();
            let call = Call::new(&["tag", &on.id, &format!("+{tag}")]);
            (call, Expected::Tag { conversation: on.id, tag })
        }
        Act::Mv => {
            let (from, to) = world.move_project()?;
            let (from, to) = (from.display().to_string(), to.display().to_string());
            (Call::new(&["mv", &from, &to]), Expected::Moved { from, to })
        }
        Act::Rm => {
            let Some(on) = chosen.cloned() else { return Ok(None) };
            let call = Call::new(&["rm", "-y", &on.id]);
            (call, Expected::Gone { conversations: vec![on.id] })
        }
        Act::Prune => {
            let conversations: Vec<String> =
                ours.iter().filter(|on| on.name.is_none()).map(|on| on.id.clone()).collect();
            if conversations.is_empty() {
                return Ok(None);
            }
            let call = Call::new(&["prune", "--older-than", "0s", "--keep-named", "-y"]);
            (call, Expected::Gone { conversations })
        }
        Act::Import | Act::ImportLonger => return import(act, world, &mark, marks).map(Some),
        Act::Export => {
            let Some(on) = chosen.cloned() else { return Ok(None) };
            let file = world.project().join("exported").display().to_string();
            let call = Call::new(&["export", &on.id, "--format", "bundle", "--to", &file]);
            (call, Expected::Exported { file })
        }
        Act::Ls | Act::Search => {
            let Some(on) = chosen.cloned() else { return Ok(None) };
            if random.once_in(2) {
                let _ = fs::remove_dir_all(world.home().join("cache"));
            }
            let Some(prompt) = on.turns.values().next().map(|turn| turn.prompt.clone()) else {
                return Ok(None);
            };
            let Some(mark) = super::state::marks(&prompt).first().cloned() else { return Ok(None) };
            let (call, printed) = if act == Act::Ls {
                (Call::new(&["ls", "--json"]), ours.iter().map(|on| on.id.clone()).collect())
            } else {
                (Call::new(&["search", &mark, "--json"]), vec![on.id])
            };
            (call, Expected::Nothing { printed })
        }
    };
    Ok(Some(Attempt { call, expected }))
}

/// A conversation of another home, as a bundle that is not here yet, or of which the beginning is.
fn import(act: Act, world: &World, mark: &str, marks: &mut Marks) -> Result<Attempt> {
    let there = |args: &[&str]| -> Result<String> {
        let said = world.elsewhere("other", &Call::new(args))?;
        if said.code != Some(0) {
            bail!("`rejoin {}` failed in the other home: {}", args.join(" "), said.stderr);
        }
        Ok(said.stdout)
    };
    let told: serde_json::Value =
        serde_json::from_str(&there(&["run", "-a", "demo", "-o", "json", &format!("say {mark}")])?)?;
    let id = told["conversation"].as_str().context("no conversation in the other home")?.to_owned();
    let first = told["turn"].as_str().unwrap_or_default().to_owned();
    let mut turns = BTreeSet::from([first.clone()]);
    let mut before = BTreeSet::new();
    let file = world.outside().join(format!("{mark}.rejoin")).display().to_string();
    let export = ["export", &id, "--format", "bundle", "--to", &file];
    if act == Act::ImportLonger {
        there(&export)?;
        succeed(world, &Call::new(&["import", &file]))?;
        before.insert(first);
    }
    for _ in 0..2 {
        let more = there(&["run", "-r", &id, "-o", "json", &format!("say {}", marks.next())])?;
        let more: serde_json::Value = serde_json::from_str(&more)?;
        turns.extend(more["turn"].as_str().map(str::to_owned));
    }
    fs::remove_file(&file).ok();
    there(&export)?;
    let call = Call::new(&["import", &file]);
    Ok(Attempt { call, expected: Expected::Taken { conversation: id, turns, before, file } })
}

fn succeed(world: &World, call: &Call) -> Result<()> {
    let said = world.rejoin(call)?;
    if said.code != Some(0) {
        bail!("`rejoin {}` failed while nothing was wrong: {}", call.args.join(" "), said.stderr);
    }
    Ok(())
}

fn some_output(random: &mut Random) -> Output {
    random.pick(&[Output::Text, Output::Json, Output::Stream]).copied().unwrap_or(Output::Json)
}

fn turn(args: &[&str], output: Output, prompt: &str) -> Call {
    let mut call = Call::new(args);
    let format = match output {
        Output::Text => "text",
        Output::Json => "json",
        Output::Stream => "stream-json",
    };
    call.args.extend(["-o", format, prompt].map(str::to_owned));
    call
}

fn last_agent(conversation: &Conversation) -> String {
    let receipt = conversation.path().last().and_then(|turn| turn.receipt.clone());
    receipt.and_then(|receipt| receipt["agent"].as_str().map(str::to_owned)).unwrap_or_default()
}

/// A turn of the path, told by its place on it, not by its random id.
fn some_turn(conversation: &Conversation, random: &mut Random) -> Option<String> {
    random.pick(&conversation.path()).map(|turn| turn.id.clone())
}

/// Tools that are still there when their turn is over, if nobody ends them; the marker says that they run.
fn long_tool(random: &mut Random) -> &'static str {
    const TOOLS: [&str; 4] = [
        "echo > attack-marker; sleep 30",
        "sleep 30 & echo > attack-marker; wait",
        "setsid sleep 30 & sleep 30 & echo > attack-marker; sleep 30",
        "trap '' TERM INT HUP; (trap '' TERM; echo > attack-marker; sleep 30; true); true",
    ];
    random.pick(&TOOLS).copied().unwrap_or(TOOLS[0])
}

/// Steps that go on from each other, fork, run beside each other; one fails the first time, if that is wanted.
fn flow_text(marks: &[String], fails_first: bool) -> String {
    let gate = if fails_first {
        format!("test -e gate-{0} || {{ touch gate-{0}; exit 1; }}", marks[0])
    } else {
        "echo went".to_owned()
    };
    format!(
        "name: attack\nsteps:\n  \
         one: {{ agent: demo, prompt: \"one {}\" }}\n  \
         gate: {{ run: \"{gate}\", needs: one }}\n  \
         two: {{ continue_from: one, needs: gate, prompt: \"two {}\" }}\n  \
         three: {{ fork_from: two, prompt: \"three {}\" }}\n  \
         both: {{ needs: three, parallel: {{ left: {{ agent: demo, prompt: \"four {}\" }}, right: {{ run: \"true\" }} }} }}\n",
        marks[0], marks[1], marks[2], marks[3]
    )
}
