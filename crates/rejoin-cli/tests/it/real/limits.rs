//! The allowance of an agent is used up, told by its service as the real one tells it: the next agent goes on.

use super::stage::Stage;
use super::who::Who;

on_both!(the_other_one_goes_on, the_next_one_goes_on_who_can, nobody_goes_on_unasked);

impl Who {
    /// The words that make the model tell those who speak this agent's protocol that their allowance is used up.
    fn limit(self) -> &'static str {
        match self {
            Who::Claude => "LIMIT-OF anthropic",
            _ => "LIMIT-OF responses",
        }
    }
}

/// As a person with a subscription has it: only then Claude tells which limit it is and when it resets.
const SUBSCRIPTION: (&str, &str) = ("CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-fake-token-for-tests");

fn configure(stage: &Stage, text: &str) -> String {
    let file = stage.lab.root().join("config.toml");
    std::fs::write(&file, text).unwrap();
    file.display().to_string()
}

fn the_other_one_goes_on(stage: &Stage) {
    let other = stage.who.other();
    let config = configure(stage, "handover = \"allow\"\n");
    let first =
        stage.first("first MARK-one").env(SUBSCRIPTION.0, SUBSCRIPTION.1).env("ANTHROPIC_API_KEY", "");
    let first = first.go().done();
    let prompt = format!("second MARK-two {}", stage.who.limit());
    let limited = stage.next(&prompt).with(["--fallback", other.name(), "-o", "stream-json"]);
    let limited = limited.env("REJOIN_CONFIG", &config).env(SUBSCRIPTION.0, SUBSCRIPTION.1);
    let outcome = limited.env("ANTHROPIC_API_KEY", "").plainly();
    let events = outcome.json_lines();
    let last = events.last().unwrap();
    assert_eq!(
        (outcome.code(), last["outcome"].as_str(), last["agent"].as_str()),
        (Some(0), Some("completed"), Some(other.name())),
        "{outcome:?}"
    );
    let marks = stage.lab.model().calls().pop().unwrap().marks;
    assert_eq!(marks, ["MARK-one", "MARK-two"], "{outcome:?}");
    assert_eq!(last["stands_in"]["for"], stage.who.name());
    let shown = stage.show();
    let turns = shown["turns"].as_array().unwrap();
    assert_eq!(turns.len(), 3, "{shown}");
    let cut = &turns[1]["receipt"];
    assert_eq!((cut["class"].as_str(), cut["outcome"].as_str()), (Some("quota"), Some("failed")), "{cut}");
    assert!(cut["resets"].is_string(), "{cut}");
    assert_eq!(cut["resets"], last["stands_in"]["resets"]);
    let said = last["warnings"][0].as_str().unwrap();
    let begins = format!("{}: limit reached, resets ", stage.who.name());
    assert!(said.starts_with(&begins) && said.ends_with(&format!("; {} goes on", other.name())), "{said}");
    // Before the reset the other one goes on; who is named comes back, resumed and told what it missed.
    let next = stage.next("third MARK-three").go().done();
    assert_eq!(next.receipt()["agent"], other.name(), "{next}");
    let back = stage.next("fourth MARK-four").by(stage.who);
    let back = back.env(SUBSCRIPTION.0, SUBSCRIPTION.1).env("ANTHROPIC_API_KEY", "").go().done();
    let back = back.resumed(&first.session(), 3);
    assert_eq!(
        back.calls.last().unwrap().marks,
        ["MARK-one", "MARK-two", "MARK-three", "MARK-four"],
        "{back}"
    );
}

/// One that cannot keep the level is passed over, and says why.
fn the_next_one_goes_on_who_can(stage: &Stage) {
    let config = configure(stage, "handover = \"allow\"\nfallback = [\"pi\", \"gemini\"]\n");
    let prompt = format!("first MARK-one {}", stage.who.limit());
    let turn = stage.first(&prompt).with(["--permissions", "edit", "-o", "stream-json"]);
    let turn = turn.env("REJOIN_CONFIG", &config).env(SUBSCRIPTION.0, SUBSCRIPTION.1);
    let outcome = turn.env("ANTHROPIC_API_KEY", "").plainly();
    let events = outcome.json_lines();
    let last = events.last().unwrap();
    assert_eq!((outcome.code(), last["agent"].as_str()), (Some(0), Some("gemini")), "{outcome:?}");
    let skipped = events.iter().find(|event| event["code"] == "fallback").unwrap();
    assert!(skipped["text"].as_str().unwrap().starts_with("not handed over to pi: "), "{skipped}");
    assert_eq!(stage.lab.model().calls().pop().unwrap().marks, ["MARK-one"], "{outcome:?}");
}

/// Nobody is there to be asked.
fn nobody_goes_on_unasked(stage: &Stage) {
    let prompt = format!("first MARK-one {}", stage.who.limit());
    let turn = stage.first(&prompt).with(["--fallback", stage.who.other().name()]);
    let turn = turn.env(SUBSCRIPTION.0, SUBSCRIPTION.1).env("ANTHROPIC_API_KEY", "");
    let turn = turn.go().failed("quota");
    assert!(turn.warnings("fallback")[0].contains("nobody is there to be asked"), "{turn}");
    assert!(turn.receipt()["resets"].is_string(), "{turn}");
}
