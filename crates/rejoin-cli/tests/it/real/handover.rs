//! Another agent takes over, and the first one comes back.

use super::stage::Stage;
use super::who::Who;

on_all!(from_every_agent: ["hand-over"]);
on_both!(there_and_back, back_and_forth, each_knows_only_its_own);

fn there_and_back(stage: &Stage) {
    let other = stage.who.other();
    let first = stage.first("first MARK-one").go().done();
    let second = stage.next("review that MARK-two").by(other).go().done();
    let second = second.fresh("no_session", 1).remembered(1, ["one", "two"]);
    assert_eq!(second.receipt()["agent"], other.name());
    assert_eq!(second.conversation(), first.conversation());
    let told = second.prompt_sent();
    assert!(told.contains(&format!("agent=\"{}\"", stage.who.name())), "{told}");
    assert!(told.contains("SEEN n=1 marks=MARK-one"), "the answer is told, too: {told}");
    let third = stage.next("go on MARK-three").by(stage.who).go().done();
    let third = third.resumed(&first.session(), 1).remembered(2, ["one", "two", "three"]);
    let told = third.prompt_sent();
    assert!(told.contains("MARK-two") && !told.contains("first MARK-one"), "only what it missed: {told}");
}

/// Each of the others takes a turn, and this one goes on after each of them. What the others make of what they are
/// told is shown by their own tests: here a turn of theirs may fail.
fn from_every_agent(stage: &Stage) {
    let by = |who: Who, prompt: &str| stage.run(prompt).with(["-s", "work"]).by(who);
    let mut marks: Vec<String> = Vec::new();
    // What the model said of itself: no prompt holds it, so it comes from the answers.
    let mut news: Vec<String> = Vec::new();
    let mut session: Option<String> = None;
    for other in Who::ALL.into_iter().filter(|who| *who != stage.who) {
        let (theirs, ours) = (format!("MARK-{}", other.name()), format!("MARK-after{}", other.name()));
        by(other, &format!("from the other one {theirs} NEWS")).plainly();
        let records = stage.records();
        let said = records.iter().any(|record| record.to_string().contains(&theirs));
        marks.extend(said.then_some(theirs));
        news.extend(newest_news(stage).filter(|it| records.iter().any(|r| r.to_string().contains(it))));
        let turn = by(stage.who, &format!("and now you {ours} NEWS")).go().done();
        marks.push(ours);
        assert_eq!(turn.calls.last().unwrap().marks, marks, "{turn}");
        let body = turn.calls.last().unwrap().body.to_string();
        let missing: Vec<&String> = news.iter().filter(|it| !body.contains(it.as_str())).collect();
        assert!(missing.is_empty(), "answers were lost: {missing:?} of {news:?}\n{body}\n{turn}");
        let own = newest_news(stage).expect("an answer with news");
        assert!(turn.answer().ends_with(&format!("marks={} news={own}", marks.join(","))), "{turn}");
        assert!(stage.records().iter().any(|record| record.to_string().contains(&own)), "{turn}");
        news.push(own);
        let told = turn.prompt_sent().contains(&format!("agent=\"{}\"", other.name()));
        assert_eq!(told, said, "{turn}");
        let turn = match &session {
            Some(session) => turn.resumed(session, usize::from(said)),
            None if said => turn.fresh("no_session", 1),
            None => turn.fresh("first_turn", 0),
        };
        session = Some(turn.session());
    }
}

/// What the model said last that nobody had said before.
fn newest_news(stage: &Stage) -> Option<String> {
    let last = stage.lab.model().calls().pop()?;
    last.verdict.split_once("news=").map(|(_, digits)| digits.to_owned())
}

fn back_and_forth(stage: &Stage) {
    let other = stage.who.other();
    let first = stage.first("first MARK-one").go().done();
    let second = stage.next("second MARK-two").by(other).go().done();
    stage.next("third MARK-three").by(stage.who).go().done().resumed(&first.session(), 1);
    let fourth = stage.next("fourth MARK-four").by(other).go().done();
    fourth.resumed(&second.session(), 1).remembered(2, ["one", "two", "three", "four"]);
    // Without a name: whoever had the last turn, and nothing was missed.
    let fifth = stage.next("fifth MARK-five").go().done().resumed(&second.session(), 0);
    let fifth = fifth.verbatim("fifth MARK-five").remembered(3, ["one", "two", "three", "four", "five"]);
    assert_eq!(fifth.receipt()["agent"], other.name());
    let agents = stage.ask(["ls", "--json"])[0]["agents"].clone();
    assert_eq!(agents, serde_json::json!([stage.who.name(), other.name()]));
    for who in [Who::Claude, Who::Codex] {
        assert_eq!(stage.stored_sessions(who).len(), 1, "one session each");
    }
}

fn each_knows_only_its_own(stage: &Stage) {
    let other = stage.who.other();
    let first = stage.first("first MARK-one").with(["--scope", "own"]).go().done();
    let second = stage.next("second MARK-two").by(other).go().done();
    second.fresh("no_session", 0).remembered(1, ["two"]).verbatim("second MARK-two");
    let third = stage.next("third MARK-three").by(stage.who).go().done();
    third.resumed(&first.session(), 0).remembered(2, ["one", "three"]).verbatim("third MARK-three");
}
