//! An OpenAI-compatible endpoint: no program of its own, no sessions.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use super::files::files_below;
use super::processes::{alive_in, knowing};
use super::run::Run;
use super::stage::{Stage, play};
use super::turn::Turn;
use super::who::Who;

const KEY: &str = "sk-never-written-down";

/// A scenario of the endpoint, in a laboratory of everybody.
fn tell(scenario: fn(&Stage)) {
    play(Who::Claude, scenario);
}

/// A turn of the one conversation, by the endpoint.
fn by<'a>(stage: &'a Stage, prompt: &str) -> Run<'a> {
    let config = stage.lab.root().join("openai.toml");
    let url = stage.lab.model().url();
    let text =
        format!("[agents.openai]\nbase_url = \"{url}/v1\"\nmodel = \"mock-model\"\nkey_env = \"CHAT_KEY\"\n");
    fs::write(&config, text).unwrap();
    let run = stage.run(prompt).with(["-s", "work", "-a", "openai"]);
    run.env("REJOIN_CONFIG", config.to_str().unwrap()).env("CHAT_KEY", KEY)
}

/// The key stands in no file that rejoin keeps: journals, logs, caches.
#[track_caller]
fn the_key_is_nowhere(stage: &Stage) {
    let files = files_below(&stage.rejoin_home());
    assert!(!files.is_empty());
    for file in files {
        let bytes = fs::read(&file).unwrap();
        let held = String::from_utf8_lossy(&bytes).contains("sk-never");
        assert!(!held, "the key is in {}", file.display());
    }
}

/// The pieces an answer came in.
fn pieces(turn: &Turn) -> Vec<&str> {
    turn.events_of("text_delta").into_iter().filter_map(|event| event["text"].as_str()).collect()
}

/// It keeps no session: the history goes along as messages of their own, every time.
#[test]
fn is_told_everything_as_messages() {
    tell(|stage| {
        by(stage, "first MARK-one").go().done().fresh("first_turn", 0).remembered(1, ["one"]);
        by(stage, "second MARK-two").go().done().fresh("unsupported", 1).remembered(2, ["one", "two"]);
        by(stage, "third MARK-three BAD400").go().failed("invalid_request");
        by(stage, "fourth MARK-four AUTH401").go().failed("login");
        let text = by(stage, "fifth MARK-five").go().done().answer().to_owned();
        assert!(text.contains("MARK-three,MARK-four,MARK-five"), "{text}");
        the_key_is_nowhere(stage);
    });
}

/// What an agent answered is a message of the assistant to the endpoint, and the other way round it is told.
#[test]
fn takes_over_and_hands_over() {
    tell(|stage| {
        let news = |turn: &Turn| turn.answer().split_once("news=").expect("news").1.to_owned();
        let first = stage.run("first MARK-one NEWS").with(["-s", "work"]).by(Who::Claude).go().done();
        let second = by(stage, "second MARK-two NEWS").go().done().fresh("unsupported", 1);
        let messages = second.calls[0].body["messages"].as_array().unwrap();
        let roles: Vec<&str> = messages.iter().filter_map(|message| message["role"].as_str()).collect();
        assert_eq!(roles, ["user", "assistant", "user"], "{second}");
        assert!(messages[1].to_string().contains(&news(&first)), "{messages:?}");
        let third = stage.run("third MARK-three").with(["-s", "work"]).by(Who::Claude).go().done();
        let third = third.resumed(&first.session(), 1).remembered(2, ["one", "two", "three"]);
        assert!(third.prompt_sent().contains(&news(&second)), "the answer is told, too: {third}");
    });
}

/// The endpoint says after how many seconds, and is asked then, not before.
#[test]
fn asks_again_when_the_endpoint_says() {
    tell(|stage| {
        let begun = Instant::now();
        let turn = by(stage, "first MARK-one ONCE429").go().done().remembered(1, ["one"]);
        assert!(begun.elapsed() >= Duration::from_secs(2), "{turn}");
        let verdicts: Vec<&str> = turn.calls.iter().map(|call| call.verdict.as_str()).collect();
        assert_eq!(verdicts, ["http 429", "SEEN n=1 marks=MARK-one"], "{turn}");
        let told = turn.warnings("retry");
        assert!(told.len() == 1 && told[0].contains("429") && told[0].contains("in 2 s"), "{turn}");
    });
}

/// It is asked four times more and no oftener; the failure is told, and the conversation goes on.
#[test]
fn gives_up_on_an_endpoint_that_never_recovers() {
    tell(|stage| {
        let turn = by(stage, "first MARK-one FAIL500").go().failed("server");
        assert_eq!((turn.calls.len(), turn.warnings("retry").len()), (5, 4), "{turn}");
        by(stage, "second MARK-two").go().done().remembered(2, ["one", "two"]);
    });
}

/// What was said before a stream broke is kept, and not asked for a second time.
#[test]
fn streams_its_answer_and_keeps_what_came_of_a_broken_one() {
    tell(|stage| {
        for (word, class) in [("MIDFAIL", "server"), ("CUT", "network")] {
            let turn = by(stage, &format!("first MARK-one {word}")).go().failed(class);
            assert_eq!(pieces(&turn), ["w0 ", "w1 ", "w2 "], "{turn}");
            assert_eq!(turn.calls.len(), 1, "{turn}");
        }
        let next = by(stage, "second MARK-two").go().done().remembered(3, ["one", "two"]);
        let told = next.calls[0].body["messages"].to_string();
        assert_eq!(told.matches("w0 w1 w2").count(), 2, "{told}");
        assert_eq!(pieces(&next).concat(), next.answer());
    });
}

/// Ctrl-C ends the turn and the request; what came so far is kept.
#[test]
fn is_cancelled_in_the_middle_of_an_answer() {
    tell(|stage| {
        let begins = |event: &Value| event["type"] == "text_delta";
        let running = by(stage, "first MARK-one SLOW").start().until(begins).until(begins);
        running.signal(Signal::INT);
        let turn = running.finish().ended(130, "cancelled");
        assert_eq!(pieces(&turn)[..2], ["w0 ", "w1 "], "{turn}");
        stage.nothing_is_left_running();
        let next = by(stage, "second MARK-two").go().done().remembered(2, ["one", "two"]);
        assert!(next.calls[0].body["messages"][1].to_string().contains("w0 w1"), "{next}");
    });
}

/// While it waits to ask again it can be stopped, too.
#[test]
fn is_cancelled_while_it_waits() {
    tell(|stage| {
        let waits = |event: &Value| event["type"] == "warning" && event["code"] == "retry";
        let running = by(stage, "first MARK-one FAIL500").start().until(waits).until(waits);
        running.signal(Signal::INT);
        let turn = running.finish().ended(130, "cancelled");
        assert!(turn.calls.len() <= 3, "{turn}");
    });
}

#[test]
fn tells_what_each_turn_used() {
    tell(|stage| {
        for prompt in ["first MARK-one", "second MARK-two", "third MARK-three ONCE429"] {
            let turn = by(stage, prompt).go().done();
            let spent = turn.calls.last().unwrap().tokens;
            let usage = serde_json::json!({
                "input": spent.input - spent.cached, "cached": spent.cached, "output": spent.output,
            });
            assert_eq!(turn.receipt()["usage"], usage, "{turn}");
            assert_eq!(turn.receipt()["model"], "mock-model", "{turn}");
        }
    });
}

/// The key goes from the user's environment to the process that asks, through rejoin alone. It is on nobody's
/// command line, and in nothing that is printed or kept.
#[test]
fn shows_its_key_to_nobody() {
    tell(|stage| {
        let begins = |event: &Value| event["type"] == "text_delta";
        let running = by(stage, "first MARK-one SLOW").start().until(begins);
        let (all, knowing) = (alive_in(&stage.lab.root()), knowing(&stage.lab.root(), KEY));
        running.signal(Signal::INT);
        let turn = running.finish().ended(130, "cancelled");
        assert!(!all.iter().any(|line| line.contains("sk-never")), "{all:#?}");
        let of_rejoin = |line: &&String| {
            let command = line.split_once(": ").map_or("", |(_, command)| command);
            let mut words = command.split(' ');
            let program = words.next().is_some_and(|program| program.ends_with("/rejoin"));
            program && matches!(words.next(), Some("run" | "__supervise" | "__openai-agent"))
        };
        assert_eq!(knowing.iter().filter(of_rejoin).count(), 3, "{knowing:#?}");
        assert_eq!(knowing.len(), 3, "somebody else has the key: {knowing:#?}");
        let sent = &turn.calls[0].headers["authorization"];
        assert_eq!(*sent, format!("<{} bytes>", "Bearer ".len() + KEY.len()), "the endpoint gets it");
        let wrong = by(stage, "second MARK-two AUTH401").go().failed("login");
        for turn in [&turn, &wrong] {
            assert!(!turn.to_string().contains("sk-never"), "{turn}");
        }
        the_key_is_nowhere(stage);
    });
}
