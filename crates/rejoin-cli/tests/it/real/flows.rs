//! Flows on the real agents: the second step goes on in the first one's own session.

use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;

use serde_json::Value;

use super::running::Running;
use super::stage::Stage;
use super::who::Who;

on_all!(the_second_step_resumes_the_first: ["flow"], parallel_steps_keep_their_own_sessions: []);
on_both!(a_killed_run_goes_on_in_the_same_session);

/// Runs a flow to its good end; gives what the steps came to.
#[track_caller]
fn run(stage: &Stage, yaml: &str) -> Value {
    let yaml = yaml.replace("AGENT", stage.who.name());
    fs::write(stage.lab.project().join("test.flow.yaml"), yaml).expect("a flow");
    stage.ask(["flow", "run", "test.flow.yaml", "-o", "json"])
}

#[track_caller]
fn receipt<'a>(run: &'a Value, step: &str) -> &'a Value {
    let results = run["results"].as_array().expect("results");
    &results.iter().find(|ended| ended["step"] == step).expect("the step")["receipt"]
}

fn the_second_step_resumes_the_first(stage: &Stage) {
    let run = run(
        stage,
        "
steps:
  diagnose: { agent: AGENT, prompt: first MARK-one }
  fix: { continue_from: diagnose, prompt: second MARK-two }
",
    );
    let (first, second) = (receipt(&run, "diagnose"), receipt(&run, "fix"));
    assert!(first["session"].is_string(), "{first}");
    assert_eq!(second["plan"]["decision"], "resume", "{second}");
    assert_eq!(second["plan"]["session"], first["session"]);
    assert_eq!((&second["asked"], &second["session"]), (&first["session"], &first["session"]));
    assert_eq!(second["bytes"], "second MARK-two".len(), "the user's words and nothing else");
    let calls = stage.lab.model().calls();
    assert_eq!(calls.last().expect("a call").marks, ["MARK-one", "MARK-two"]);
    assert_eq!(stage.stored_sessions(stage.who).len(), 1, "one session for both steps");
}

/// What rejoin tells users of Gemini to do: its clean-up may delete a session while another gemini starts beside it.
fn keep_sessions_of_gemini(stage: &Stage) {
    let file = stage.store(Who::Gemini).join("settings.json");
    let mut settings: Value =
        serde_json::from_slice(&fs::read(&file).expect("settings")).expect("settings as JSON");
    settings["general"]["sessionRetention"]["enabled"] = false.into();
    fs::write(&file, settings.to_string()).expect("settings to write");
}

fn parallel_steps_keep_their_own_sessions(stage: &Stage) {
    keep_sessions_of_gemini(stage);
    let run = run(
        stage,
        "
steps:
  both:
    parallel:
      left: { agent: AGENT, prompt: left MARK-left }
      right: { agent: AGENT, prompt: right MARK-right }
  more_left: { continue_from: left, prompt: more MARK-more }
  more_right: { continue_from: right, prompt: other MARK-other }
",
    );
    let sessions: BTreeSet<&str> =
        ["left", "right"].into_iter().filter_map(|step| receipt(&run, step)["session"].as_str()).collect();
    assert_eq!(sessions.len(), 2, "{run:#}");
    for (begun, more) in [("left", "more_left"), ("right", "more_right")] {
        assert_eq!(receipt(&run, more)["plan"]["decision"], "resume", "{run:#}");
        assert_eq!(receipt(&run, more)["session"], receipt(&run, begun)["session"]);
    }
    let calls = stage.lab.model().calls();
    let last: Vec<Vec<String>> = calls.iter().rev().take(2).map(|call| call.marks.clone()).collect();
    assert_eq!(last, [["MARK-right", "MARK-other"], ["MARK-left", "MARK-more"]]);
}

fn a_killed_run_goes_on_in_the_same_session(stage: &Stage) {
    let yaml = "
steps:
  diagnose: { agent: AGENT, prompt: first MARK-one }
  fix: { continue_from: diagnose, prompt: second MARK-two SLOW }
  check: { continue_from: fix, prompt: third MARK-three }
";
    let yaml = yaml.replace("AGENT", stage.who.name());
    fs::write(stage.lab.project().join("test.flow.yaml"), yaml).expect("a flow");
    let mut command = stage.rejoin();
    command.args(["flow", "run", "test.flow.yaml", "-o", "stream-json"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // The second call of the model is that of the second step.
    Running::start(stage, 1, &mut command, "").until_the_model_is_asked().kill();
    let before = stage.lab.model().calls().len();
    let run = stage.ask(["flow", "resume", "@", "-o", "json"]);
    let session = &receipt(&run, "diagnose")["session"];
    for step in ["fix", "check"] {
        assert_eq!(receipt(&run, step)["plan"]["decision"], "resume", "{run:#}");
        assert_eq!(&receipt(&run, step)["session"], session, "{run:#}");
    }
    let calls = stage.lab.model().calls();
    assert_eq!(calls.len(), before + 2, "the first step is not paid for again");
    assert_eq!(calls.last().expect("a call").marks, ["MARK-one", "MARK-two", "MARK-three"]);
    assert_eq!(stage.ask(["ls", "--json"]).as_array().map(Vec::len), Some(1), "one conversation");
}

mod opencode_without_an_id_is_found_by_our_title {
    #[test]
    fn opencode() {
        crate::real::stage::play(crate::real::who::Who::OpenCode, super::unnamed_sessions_are_found);
    }
}

/// The program's events lose the session's id: it is found in the list of sessions, never taken for the last one.
fn unnamed_sessions_are_found(stage: &Stage) {
    let bin = stage.lab.root().join("bin");
    fs::create_dir(&bin).expect("a directory");
    let wrapper = bin.join("opencode");
    let real = stage.lab.command("opencode").get_program().to_owned();
    let script = format!(
        "#!/bin/sh\ncase \"$1 $*\" in\nrun*--help*) ;;\nrun*) echo \"$@\" >> {}/runs; {} \"$@\" | sed 's/\"sessionID\":\"[^\"]*\",*//g'; exit ;;\nesac\nexec {} \"$@\"\n",
        bin.display(),
        real.display(),
        real.display(),
    );
    rejoin_testkit::write_program(&wrapper, &script).expect("a wrapper");
    let config = stage.lab.root().join("config.toml");
    fs::write(&config, format!("[agents.opencode]\ncommand = \"{}\"\n", wrapper.display())).expect("a file");
    let yaml = "
steps:
  one: { agent: opencode, prompt: first MARK-one }
  two: { continue_from: one, prompt: second MARK-two }
";
    fs::write(stage.lab.project().join("test.flow.yaml"), yaml).expect("a flow");
    let mut command = stage.rejoin();
    command.args(["flow", "run", "test.flow.yaml", "-o", "json"]).env("REJOIN_CONFIG", &config);
    let outcome = stage.lab.run(&mut command, "").assert_success();
    let run: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let (first, second) = (receipt(&run, "one"), receipt(&run, "two"));
    let session = first["session"].as_str().expect("a session");
    assert_eq!(second["plan"]["decision"], "resume", "{second}");
    assert_eq!(second["asked"], session);
    let runs = fs::read_to_string(bin.join("runs")).expect("the arguments");
    assert!(runs.lines().nth(1).is_some_and(|args| args.contains(session)), "{runs}");
    assert!(!runs.contains(" -c") && !runs.contains("--continue"), "{runs}");
    let calls = stage.lab.model().calls();
    assert_eq!(calls.last().expect("a call").marks, ["MARK-one", "MARK-two"]);
}
