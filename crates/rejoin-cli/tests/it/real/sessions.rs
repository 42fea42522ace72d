//! What the agents themselves keep, listed by `rejoin sessions`.

use serde_json::Value;

use super::stage::Stage;

on_all!(listed: ["listed sessions"]);

fn listed(stage: &Stage) {
    let turn = stage.first("made here MARK-one").go().done();
    stage.next("and again MARK-two").go().done();
    let (session, conversation) = (turn.session(), turn.conversation());
    let list = stage.ask(["sessions", "--json"]);
    let [ours] = sessions(&list)[..] else { panic!("{list:#}") };
    assert_eq!(ours["agent"], stage.who.name(), "{list:#}");
    assert_eq!((&ours["id"], &ours["known"]), (&session.into(), &conversation.into()), "{list:#}");
    assert_eq!(
        (&ours["number"], &ours["first_prompt"]),
        (&1.into(), &"made here MARK-one".into()),
        "{list:#}"
    );
    assert_eq!(ours["dir"], stage.lab.project().to_str().unwrap(), "{list:#}");

    stage.bare_first("made without rejoin MARK-bare");
    let list = stage.ask(["sessions", "--json"]);
    let [bare, known] = sessions(&list)[..] else { panic!("{list:#}") };
    assert_eq!((&bare["number"], &bare["known"]), (&1.into(), &Value::Null), "{list:#}");
    assert_eq!(bare["first_prompt"], "made without rejoin MARK-bare", "{list:#}");
    assert_eq!(bare["dir"], stage.lab.project().to_str().unwrap(), "{list:#}");
    assert_eq!((&known["number"], &known["id"]), (&2.into(), &ours["id"]), "{list:#}");
    assert_eq!(list["not_understood"], Value::Array(Vec::new()), "{list:#}");
}

fn sessions(list: &Value) -> Vec<&Value> {
    list["sessions"].as_array().unwrap().iter().collect()
}
