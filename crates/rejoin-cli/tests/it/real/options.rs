//! Options reach the agent on every turn, resumed ones too.

use serde_json::Value;

use super::stage::Stage;
use super::turn::Turn;
use super::who::Who;

on_all!(the_model_on_every_turn: ["model flag"], instructions_on_every_turn: ["instructions"]);
on_both!(arguments_for_the_agent, a_dry_run);

/// One request was made, to this model, and both the journal and the receipt say so.
#[track_caller]
fn asked(stage: &Stage, turn: &Turn, model: &str) {
    let asked: Vec<&str> = turn.calls.iter().map(|call| call.model.as_str()).collect();
    assert_eq!(asked, [model.rsplit('/').next().unwrap()], "{turn}");
    let intents = stage.system_records("intent");
    let named = intents.iter().rev().find_map(|intent| intent["model"].as_str());
    assert_eq!(named, Some(model), "it is remembered for the conversation: {turn}");
    let told = if stage.who.tells_its_model() { model.into() } else { Value::Null };
    assert_eq!(turn.receipt()["model"], told, "{turn}");
}

fn the_model_on_every_turn(stage: &Stage) {
    // Claude forgets a name it does not know unless it is told again, Codex always forgets.
    let (one, two) = (stage.who.model("mock-large"), stage.who.model("mock-small"));
    let first = stage.first("first MARK-one").with(["--model", &one]).go().done();
    asked(stage, &first, &one);
    let second = stage.next("second MARK-two").go().done().resumed(&first.session(), 0);
    asked(stage, &second, &one);
    let third = stage.next("third MARK-three").with(["--model", &two]).go().done();
    let third = third.resumed(&first.session(), 0).remembered(3, ["one", "two", "three"]);
    asked(stage, &third, &two);
    let fourth = stage.next("fourth MARK-four").with(["--fresh-session"]).go().done();
    asked(stage, &fourth, &two);
}

fn instructions_on_every_turn(stage: &Stage) {
    let told = |turn: &Turn, words: &str| turn.calls[0].body.to_string().contains(words);
    let flag = "--append-system-prompt";
    let first = stage.first("first MARK-one").with([flag, "speak like a pirate"]).go().done();
    assert!(told(&first, "speak like a pirate"), "{first}");
    let second = stage.next("second MARK-two").with([flag, "speak like a poet"]).go().done();
    let second = second.resumed(&first.session(), 0).remembered(2, ["one", "two"]);
    assert!(told(&second, "speak like a poet"), "{second}");
    let third = stage.next("third MARK-three").go().done().resumed(&first.session(), 0);
    let third = third.remembered(3, ["one", "two", "three"]).verbatim("third MARK-three");
    let kept = told(&third, "speak like a p");
    assert_eq!(kept, !stage.who.is_instructed_by_flag(), "a flag is for one turn: {third}");
    let fourth = stage.next("fourth MARK-four").with(["--system-prompt", "be a teapot"]).go().done();
    let fourth = fourth.resumed(&first.session(), 0).remembered(4, ["one", "two", "three", "four"]);
    assert!(told(&fourth, "be a teapot"), "{fourth}");
}

fn arguments_for_the_agent(stage: &Stage) {
    let (argument, seen): (&str, fn(&Turn) -> bool) = if stage.who == Who::Claude {
        ("--disallowedTools=Bash", |turn| !turn.calls[0].body["tools"].to_string().contains("\"Bash\""))
    } else {
        ("-cmodel_reasoning_effort=\"high\"", |turn| turn.calls[0].body["reasoning"]["effort"] == "high")
    };
    let first = stage.first("first MARK-one").for_the_agent(argument).go().done();
    assert!(seen(&first), "{}", first.calls[0].body);
    let second = stage.next("second MARK-two").for_the_agent(argument).go().done();
    let second = second.resumed(&first.session(), 0).remembered(2, ["one", "two"]);
    assert!(seen(&second), "{second}");
}

fn a_dry_run(stage: &Stage) {
    let session = stage.first("first MARK-one").go().done().session();
    let (records, asked) = (stage.records(), stage.lab.model().requests().len());
    let plan = stage.next("second MARK-two").with(["--dry-run", "-o", "json"]).plainly().assert_success();
    let plan: Value = serde_json::from_str(&plan.stdout).unwrap();
    assert_eq!(
        (&plan["plan"]["decision"], &plan["plan"]["session"]),
        (&"resume".into(), &session.as_str().into())
    );
    assert_eq!(
        (&plan["bytes"], &plan["prompt"]),
        (&"second MARK-two".len().into(), &"second MARK-two".into())
    );
    let argv: Vec<&str> = plan["argv"].as_array().unwrap().iter().filter_map(|arg| arg.as_str()).collect();
    assert!(argv[0].ends_with(stage.who.name()), "{argv:?}");
    let real_id = if stage.who == Who::Claude {
        argv.contains(&format!("--resume={session}").as_str())
    } else {
        argv.ends_with(&[&session, "-"]) && argv.contains(&"resume")
    };
    assert!(real_id, "{argv:?}");
    assert!(!argv.iter().any(|arg| arg.contains("MARK-two")), "prompts go by stdin: {argv:?}");
    let shown = stage.next("second MARK-two").with(["--dry-run"]).plainly().assert_success();
    assert!(shown.stdout.contains(&format!("decision   would resume {session}")), "{}", shown.stdout);
    assert!(shown.stdout.ends_with("nothing was run\n"), "{}", shown.stdout);
    assert_eq!((stage.records(), stage.lab.model().requests().len()), (records, asked));
    stage.next("second MARK-two").go().done().resumed(&session, 0);
}
