//! A limit was reached: who goes on.

use std::collections::BTreeMap;

use rejoin::{
    Agent, AgentConfig, Config, Decision, Event, FailureClass, Handovers, Helper, Outcome, Permissions,
    Reason, TurnBuilder, TurnOutcome,
};

use super::{Place, executable};

const WORDS: &str = "You've hit your usage limit. Try again in 9 days 5 minutes.";

/// A home in which the limit of the first demo agent is reached.
fn limited(words: &str, change: impl FnOnce(&mut Config)) -> Option<Place> {
    let Some(helper) = executable() else {
        eprintln!("skipped: no rejoin executable beside the tests; build it or set REJOIN_HELPER");
        return None;
    };
    let env = BTreeMap::from([("REJOIN_DEMO_LIMIT".to_owned(), words.to_owned())]);
    let mut config = Config { handover: Handovers::Allow, ..Config::default() };
    config.agents.insert("demo".to_owned(), AgentConfig { env, ..AgentConfig::default() });
    change(&mut config);
    Some(Place::with(config, Helper::Executable(helper)))
}

fn second() -> Agent {
    Agent::named("demo2")
}

/// The same home once its agents have no limits any more.
fn unlimited(place: &Place) -> rejoin::Rejoin {
    place.rejoin.with_config(Config { handover: Handovers::Allow, ..Config::default() })
}

/// What a turn told of a fallback, and its outcome.
#[track_caller]
fn run(turn: TurnBuilder<'_>) -> (TurnOutcome, Vec<String>) {
    let mut told = Vec::new();
    let done = turn.run(|event| match event {
        Event::Warning { code, text } if code == "fallback" => told.push(text.clone()),
        _ => {}
    });
    (done.unwrap(), told)
}

#[track_caller]
fn is_limited(done: &TurnOutcome) {
    assert!(
        matches!(done.outcome(), Outcome::Failed { class: FailureClass::Quota, .. }),
        "{:?}",
        done.outcome()
    );
}

#[test]
fn the_next_agent_goes_on_with_the_same_prompt_and_all_that_was_said() {
    let Some(place) = limited("", |_| {}) else { return };
    let first = place.turn("hello MARK-a").run(|_| {}).unwrap();
    let Some(limits) = limited(WORDS, |_| {}) else { return };
    let rejoin = place.rejoin.with_config(limits.rejoin.config().clone());
    let (mut inits, mut results, mut told) = (Vec::new(), 0, Vec::new());
    let turn = rejoin.project(place.project()).continue_latest().prompt("more MARK-b").fallback([second()]);
    let done = turn.run(|event| match event {
        Event::Init { agent, .. } => inits.push(agent.to_string()),
        Event::Result { .. } => results += 1,
        Event::Warning { text, .. } => told.push(text.clone()),
        _ => {}
    });
    let done = done.unwrap();
    assert_eq!((inits.as_slice(), results), (&["demo".to_owned(), "demo2".to_owned()][..], 1));
    assert!(done.text().contains("MARK-a") && done.text().contains("MARK-b"), "{}", done.text());
    let receipt = done.receipt();
    assert_eq!(receipt.conversation, first.receipt().conversation);
    assert!(matches!(receipt.plan, Decision::Fresh { why: Reason::NoSession, replayed: 2 }), "{receipt:?}");
    let instead = receipt.stands_in.as_ref().unwrap();
    assert_eq!(instead.instead_of, Agent::Demo);
    assert_eq!((told.len(), &receipt.warnings), (1, &told));
    assert!(told[0].starts_with("demo: limit reached, resets on "), "{told:?}");
    assert!(told[0].ends_with(" (in 9 days); demo2 goes on"), "{told:?}");
    let view = rejoin.view(&place.project(), "@").unwrap();
    let path = view.path();
    assert_eq!(path.len(), 3, "the turn that was cut off stays");
    let cut = path[1].receipt.as_ref().unwrap();
    assert_eq!((&instead.resets, instead.turn), (&cut.resets, cut.turn));
    assert!(cut.resets.is_some());
}

#[test]
fn the_stand_in_goes_on_until_the_limit_is_over() {
    let Some(place) = limited(WORDS, |_| {}) else { return };
    run(place.turn("hello MARK-a").fallback([second()]));
    let rejoin = unlimited(&place);
    let next = || rejoin.project(place.project()).continue_latest().prompt("and now");
    let done = next().run(|_| {}).unwrap();
    assert_eq!(done.receipt().agent, second(), "before its limit is over");
    assert!(done.receipt().stands_in.is_some());
    // Who is named does it, and it is his from then on.
    assert!(next().agent(second()).run(|_| {}).unwrap().receipt().stands_in.is_none());
    assert_eq!(next().run(|_| {}).unwrap().receipt().agent, second());
}

#[test]
fn after_its_reset_the_first_agent_is_preferred_and_told_what_it_missed() {
    let soon = "try again in 1 second";
    let Some(place) = limited(soon, |_| {}) else { return };
    let (done, _) = run(place.turn("hello MARK-a").fallback([second()]));
    assert_eq!(done.receipt().agent, second());
    assert!(done.receipt().stands_in.as_ref().unwrap().resets.is_some());
    std::thread::sleep(std::time::Duration::from_secs(2));
    let rejoin = unlimited(&place);
    let mut told = Vec::new();
    let done = rejoin.project(place.project()).continue_latest().prompt("more MARK-b").run(|event| {
        if let Event::Warning { code, text } = event {
            told.push(format!("{code}: {text}"));
        }
    });
    let done = done.unwrap();
    assert_eq!(done.receipt().agent, Agent::Demo);
    assert_eq!(told, ["limit_over: demo goes on again instead of demo2: its limit was reset"]);
    assert!(matches!(done.receipt().plan, Decision::Resume { catch_up: 2, .. }), "{:?}", done.receipt().plan);
    assert!(done.text().contains("MARK-a") && done.text().contains("MARK-b"), "{}", done.text());
}

#[test]
fn without_leave_nothing_goes_back_to_the_first_agent_and_that_is_said_once() {
    let Some(place) = limited("try again in 1 second", |_| {}) else { return };
    run(place.turn("hello MARK-a").fallback([second()]));
    std::thread::sleep(std::time::Duration::from_secs(2));
    let config = |handover| Config { handover, ..Config::default() };
    let next = |handover, answer: Option<bool>| {
        let rejoin = place.rejoin.with_config(config(handover));
        let (mut told, mut asked) = (Vec::new(), Vec::new());
        let turn = rejoin.project(place.project()).continue_latest().prompt("more MARK-b");
        let turn = if answer.is_some() {
            turn.on_handover(|handover| {
                asked.push((handover.to.clone(), handover.back));
                answer == Some(true)
            })
        } else {
            turn
        };
        let done = turn.run(|event| match event {
            Event::Warning { code, text } if code == "limit_over" => told.push(text.clone()),
            _ => {}
        });
        (done.unwrap().receipt().clone(), told, asked)
    };
    let (receipt, told, _) = next(Handovers::Never, Some(true));
    assert_eq!(receipt.agent, second());
    assert_eq!(receipt.stands_in.unwrap().instead_of, Agent::Demo);
    assert!(told[0].starts_with("demo2 still goes on instead of demo"), "{told:?}");
    assert!(told[0].contains("handover = \"never\""), "{told:?}");
    let (receipt, told, asked) = next(Handovers::Never, Some(true));
    assert_eq!((receipt.agent, told.len(), asked.len()), (second(), 0, 0), "said once");
    let (receipt, told, _) = next(Handovers::Ask, None);
    assert_eq!(receipt.agent, second());
    assert!(told[0].contains("nobody is there to be asked"), "{told:?}");
    let (receipt, _, asked) = next(Handovers::Ask, Some(true));
    assert_eq!((receipt.agent, asked), (Agent::Demo, vec![(Agent::Demo, true)]));
}

#[test]
fn the_level_holds_though_the_stand_in_was_killed() {
    let level = |permissions| AgentConfig { permissions: Some(permissions), ..AgentConfig::default() };
    let as_agent = |config: &mut Config| {
        config.agents.get_mut("demo").unwrap().permissions = Some(Permissions::Edit);
        config.agents.insert("demo2".to_owned(), level(Permissions::Full));
    };
    let Some(place) = limited(WORDS, as_agent) else { return };
    let (done, _) = run(place.turn("hello").fallback([second()]));
    let id = done.receipt().conversation.unwrap();
    let mut projects = std::fs::read_dir(place.rejoin.home().join("projects")).unwrap();
    let journal = projects.find_map(|at| {
        let journal = at.unwrap().path().join(format!("{id}.jsonl"));
        journal.is_file().then_some(journal)
    });
    let journal = journal.unwrap();
    let text = std::fs::read_to_string(&journal).unwrap();
    let receipt = text.rfind("\"subtype\":\"receipt\"").unwrap();
    let cut = text[..receipt].rfind('\n').unwrap() + 1;
    std::fs::write(&journal, &text[..cut]).unwrap();
    let next = place.rejoin.project(place.project()).continue_latest().prompt("and now").run(|_| {}).unwrap();
    assert_eq!((&next.receipt().agent, next.permissions()), (&second(), Permissions::Edit));
    assert_eq!(next.receipt().stands_in, done.receipt().stands_in);
}

#[test]
fn nothing_is_done_twice_unless_the_user_says_so() {
    let Some(place) = limited(WORDS, |_| {}) else { return };
    let (done, told) = run(place.turn("TOOL-RUN [true]").fallback([second()]));
    is_limited(&done);
    assert!(told[0].contains("demo had begun to work"), "{told:?}");
    let (done, _) = run(place.turn("TOOL-RUN [true]").fallback([second()]).fallback_after_work());
    assert_eq!((&done.receipt().agent, done.outcome()), (&second(), &Outcome::Completed));
}

#[test]
fn a_history_goes_to_another_vendor_only_if_somebody_said_so_once() {
    let Some(place) = limited(WORDS, |config| config.handover = Handovers::Ask) else { return };
    let turn = || place.turn("hello").fallback([second()]);
    let (done, told) = run(turn());
    is_limited(&done);
    assert!(told[0].contains("nobody is there to be asked"), "{told:?}");
    assert!(told[0].contains("rejoin config set handover allow"), "{told:?}");
    let mut asked = Vec::new();
    let (done, _) = run(turn().on_handover(|handover| {
        asked.push((handover.from_vendor.clone(), handover.to_vendor.clone()));
        true
    }));
    assert_eq!(done.receipt().agent, second());
    assert_eq!(asked, [("Demo agent".to_owned(), "Second demo agent".to_owned())]);
    let (done, _) = run(turn().on_handover(|_| panic!("it was answered")));
    assert_eq!(done.receipt().agent, second());
    assert_eq!(run(turn()).0.receipt().agent, second(), "also where nobody is there");
}

#[test]
fn a_no_is_remembered_and_never_means_never() {
    let Some(place) = limited(WORDS, |config| config.handover = Handovers::Ask) else { return };
    let turn = || place.turn("hello").fallback([second()]);
    is_limited(&run(turn().on_handover(|_| false)).0);
    let (done, told) = run(turn().on_handover(|_| true));
    is_limited(&done);
    assert!(told[0].contains("you said that no history may go"), "{told:?}");
    let config = Config { handover: Handovers::Never, ..place.rejoin.config().clone() };
    let rejoin = place.rejoin.with_config(config);
    let turn = rejoin.project(place.project()).agent(Agent::Demo).prompt("hello").fallback([second()]);
    let (done, told) = run(turn.on_handover(|_| true));
    is_limited(&done);
    assert!(told[0].contains("handover = \"never\""), "{told:?}");
}

#[test]
fn whoever_stands_in_may_do_no_more_and_who_cannot_be_kept_to_that_is_passed_over() {
    let as_agent = |config: &mut Config| {
        let level = |config: &mut Config, agent: &str, level| {
            config.agents.entry(agent.to_owned()).or_default().permissions = Some(level);
        };
        level(config, "demo", Permissions::Edit);
        level(config, "demo2", Permissions::Full);
    };
    let Some(place) = limited(WORDS, as_agent) else { return };
    let (done, told) = run(place.turn("hello").fallback([Agent::OpenAi, second()]));
    assert_eq!((&done.receipt().agent, done.permissions()), (&second(), Permissions::Edit));
    assert!(told[0].starts_with("not handed over to openai: "), "{told:?}");
    // That stays so while it stands in.
    let next = place.rejoin.project(place.project()).continue_latest().prompt("and now").run(|_| {}).unwrap();
    assert_eq!((&next.receipt().agent, next.permissions()), (&second(), Permissions::Edit));
    let incomparable = place.turn("hello").permissions(Permissions::Edit).fallback([Agent::Pi]);
    let (done, told) = run(incomparable);
    is_limited(&done);
    assert_eq!(told.len(), 1, "{told:?}");
}

#[test]
fn a_turn_that_is_not_kept_goes_on_likewise() {
    let Some(place) = limited(WORDS, |_| {}) else { return };
    let (done, _) = run(place.turn("hello MARK-a").ephemeral().fallback([second()]));
    assert_eq!((&done.receipt().agent, done.receipt().conversation), (&second(), None));
    assert!(done.text().contains("MARK-a"), "{}", done.text());
}

#[test]
fn a_failure_of_another_kind_is_no_limit() {
    let Some(place) = limited("", |_| {}) else { return };
    let (done, told) = run(place.turn("FAIL rate_limit slow down").fallback([second()]));
    assert_eq!(done.outcome(), &Outcome::failed(FailureClass::RateLimit, "slow down"));
    assert!(told.is_empty(), "{told:?}");
}

#[test]
fn an_agent_that_nobody_knows_is_said_before_anything_is_run() {
    let Some(place) = limited(WORDS, |_| {}) else { return };
    let error = place.turn("hello").fallback([Agent::named("codxe")]).run(|_| {}).err().unwrap();
    assert!(error.to_string().contains("did you mean \"codex\"?"), "{error}");
}
