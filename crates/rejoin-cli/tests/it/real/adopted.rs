//! A session that was begun in the agent's own command: adopted, resumed, handed on, and gone on with there again.

use serde_json::Value;

use super::stage::Stage;

on_all!(taken_in: ["adopted session"], named_by_its_agent: ["adopted session"]);

fn taken_in(stage: &Stage) {
    let name = stage.who.name();
    stage.bare_first("begun without rejoin MARK-one");
    let session = stage.ask(["sessions", "--json"])["sessions"][0]["id"].as_str().unwrap().to_owned();
    stage.bare(&session, "and on without it MARK-two");

    let latest = format!("{name}:latest");
    let would = stage.ask(["adopt", &latest, "--dry-run", "--json"]);
    assert_eq!((told(&would), &would["dry_run"]), (("new", 2, true), &true.into()), "{would:#}");
    assert!(stage.records().is_empty(), "a dry run writes nothing");
    let adopted = stage.ask(["adopt", &latest, "--json"]);
    assert_eq!(told(&adopted), ("new", 2, true), "{adopted:#}");
    let again = stage.ask(["adopt", name, "--all", "--json"]);
    assert_eq!(told(&again), ("known", 0, true), "{again:#}");
    assert_eq!(prompts(stage), ["begun without rejoin MARK-one", "and on without it MARK-two"]);
    let shown = stage.show();
    for turn in shown["turns"].as_array().unwrap() {
        let (plan, outcome) = (&turn["receipt"]["plan"], &turn["receipt"]["outcome"]);
        assert_eq!(
            (plan["decision"].as_str(), outcome.as_str()),
            (Some("adopted"), Some("completed")),
            "{turn:#}"
        );
        assert!(turn.to_string().contains("SEEN n="), "what was answered is there, too: {turn:#}");
    }

    let third = stage.run("with rejoin MARK-three").with(["-r", &format!("{name}:1")]).go().done();
    let third = third.resumed(&session, 0).remembered(3, ["one", "two", "three"]);
    assert_eq!(third.receipt()["agent"], name, "{third}");
    let fourth = stage.next("you MARK-four").by(stage.who.other()).go().done();
    fourth.fresh("no_session", 3).remembered(1, ["one", "two", "three", "four"]);

    stage.bare(&session, "by hand again MARK-five");
    let sixth = stage.next("back MARK-six").by(stage.who).go().done().resumed(&session, 2);
    let sixth = sixth.remembered(5, ["one", "two", "three", "five", "four", "six"]);
    assert_eq!(sixth.warnings("adopted").len(), 1, "{sixth}");
    let typed = ["begun without rejoin MARK-one", "and on without it MARK-two", "with rejoin MARK-three"];
    let later = ["you MARK-four", "by hand again MARK-five", "back MARK-six"];
    assert_eq!(prompts(stage), [typed, later].concat(), "only what was new came");
    assert!(stage.system_records("gap").is_empty());
    let seventh = stage.next("calm MARK-seven").go().done().resumed(&session, 0);
    assert!(seventh.warnings("adopted").is_empty(), "{seventh}");
    let nothing = stage.ask(["adopt", "@", "--json"]);
    let is_known = |session: &Value| session["outcome"] == "known" && session["turns"] == 0;
    assert!(nothing["sessions"].as_array().unwrap().iter().all(is_known), "{nothing:#}");
}

fn named_by_its_agent(stage: &Stage) {
    let name = stage.who.name();
    let none = stage.run("x MARK-x").with(["-r", &format!("{name}:latest")]).plainly();
    assert_eq!(none.code(), Some(4), "{none:?}");
    stage.bare_first("begun without rejoin MARK-one");
    let session = stage.ask(["sessions", "--json"])["sessions"][0]["id"].as_str().unwrap().to_owned();
    let second = stage.run("go on MARK-two").with(["-r", &session]).go().done().resumed(&session, 0);
    let second = second.remembered(2, ["one", "two"]).verbatim("go on MARK-two");
    assert_eq!(second.warnings("adopted").len(), 1, "{second}");
    assert_eq!(stage.ask(["ls", "--json"]).as_array().unwrap().len(), 1);
}

/// What became of the one session.
fn told(report: &Value) -> (&str, u64, bool) {
    let [session] = report["sessions"].as_array().unwrap().as_slice() else { panic!("{report:#}") };
    let (outcome, turns) = (session["outcome"].as_str().unwrap(), session["turns"].as_u64().unwrap());
    (outcome, turns, session["resumable"].as_bool().unwrap())
}

/// What was typed, on the path to the head.
fn prompts(stage: &Stage) -> Vec<String> {
    let shown = stage.show();
    let text = |turn: &Value| turn["messages"][0]["parts"][0]["text"].as_str().unwrap().to_owned();
    shown["turns"].as_array().unwrap().iter().map(text).collect()
}
