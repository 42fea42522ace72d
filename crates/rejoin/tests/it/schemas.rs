//! The schemas of the feature `openapi` describe what is really written.

use jsonschema::Validator;
use rejoin::{
    Agent, AgentCheck, AgentCheckup, Cursor, Decision, Event, Finding, Format, Grouping, ListFilter, Part,
    Query, Question, QuestionAnswer, Rewind, SearchFilter, StatsFilter,
};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::Place;

/// Each kind of event, as rejoin-core writes it.
const EVENTS: &str = include_str!(
    "../../../rejoin-core/tests/it/snapshots/it__records__one_of_each_event_as_the_documentation_shows_it.snap"
);

/// The schema of a type with all it refers to. What it does not name may not be there.
fn schema<T: ToSchema>() -> Validator {
    let mut named = Vec::new();
    T::schemas(&mut named);
    let mut root = serde_json::to_value(T::schema()).unwrap();
    let named: serde_json::Map<String, Value> =
        named.into_iter().map(|(name, schema)| (name, serde_json::to_value(schema).unwrap())).collect();
    root["components"] = json!({ "schemas": named });
    root["unevaluatedProperties"] = false.into();
    jsonschema::draft202012::new(&root).unwrap()
}

#[track_caller]
fn fits_value<T: ToSchema>(value: &Value) {
    if let Err(error) = schema::<T>().validate(value) {
        panic!("{}: {error} at {}\n{value:#}", T::name(), error.instance_path());
    }
}

#[track_caller]
fn fits<T: ToSchema + Serialize>(value: &T) {
    fits_value::<T>(&serde_json::to_value(value).unwrap());
}

#[test]
fn every_kind_of_event_is_described() {
    let lines: Vec<Value> = EVENTS.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert!(lines.len() >= 16, "{}", lines.len());
    for event in &lines {
        fits_value::<Event>(event);
        match event["type"].as_str().unwrap() {
            "init" => fits_value::<Decision>(&event["plan"]),
            "question" => fits_value::<Question>(&without_type(event)),
            "question_answered" => fits_value::<QuestionAnswer>(&without_type(event)),
            _ => {}
        }
    }
}

fn without_type(event: &Value) -> Value {
    let mut inner = event.clone();
    inner.as_object_mut().unwrap().remove("type");
    inner
}

#[test]
fn what_is_not_written_does_not_fit() {
    for (what, wrong) in [
        ("a kind", json!({"type": "no_such", "text": "x"})),
        ("a type", json!({"type": "warning", "code": 1, "text": "x"})),
        ("a field that is missing", json!({"type": "warning", "code": "x"})),
        ("a field too many", json!({"type": "warning", "code": "x", "text": "x", "more": 1})),
    ] {
        assert!(schema::<Event>().validate(&wrong).is_err(), "{what}");
    }
}

#[test]
fn every_part_of_a_message_is_described() {
    for part in [
        json!({"text": "x"}),
        json!({"text": "x", "thought": true}),
        json!({"functionCall": {"id": "1", "name": "Bash", "args": {"command": "ls"}}}),
        json!({"functionResponse": {"id": "1", "name": "Bash", "response": {"output": "x", "error": true}}}),
        json!({"attachment": {"name": "a", "type": "text/plain", "size": 1, "sha256": "00"}}),
    ] {
        let read: Part = serde_json::from_value(part.clone()).unwrap();
        assert!(!matches!(read, Part::Other(_)), "{part}");
        assert_eq!(serde_json::to_value(&read).unwrap(), part);
        fits(&read);
    }
}

#[test]
fn what_a_conversation_comes_to_is_described() {
    let Some(place) = Place::new() else { return };
    let rejoin = &place.rejoin;
    let mut events = Vec::new();
    let note = |event: &Event| events.push(event.clone());
    place.turn("hello ASK TOOL-RUN [echo hi] MARK-a").run(note).unwrap();
    place.turn("more").continue_latest().run(|_| {}).unwrap();
    assert!(events.iter().any(|event| matches!(event, Event::Question(_))));
    events.iter().for_each(fits);
    let list = rejoin.list(&ListFilter::default()).unwrap().conversations;
    assert_eq!(list.len(), 1);
    list.iter().for_each(fits);
    let view = rejoin.open_conversation(list[0].id).unwrap();
    let shown = view.shown(&view.path(), 64 << 10).unwrap();
    fits(&shown);
    assert_eq!((shown.turns.len(), shown.pins.len()), (2, 1));
    shown.turns.iter().for_each(fits);
    shown.turns.iter().for_each(|turn| fits(turn.receipt.as_ref().unwrap()));
    assert_eq!(shown.turns[0].tool_calls.len(), 1);
    shown.turns[0].tool_calls.iter().for_each(fits);
    shown.turns.iter().flat_map(|turn| &turn.messages).for_each(fits);
    shown.pins.iter().for_each(fits);
    fits(shown.info.as_ref().unwrap());
    fits(shown.origin.as_ref().unwrap());
    view.tree_rows().iter().for_each(fits);
    fits(&view.turn_status(view.path()[0]).unwrap());
    fits(&view.rewind(&Rewind::Turns(1)).unwrap());
    fits(&rejoin.watch(view.id(), None).unwrap().next().unwrap().unwrap().turn);
}

#[test]
fn what_is_found_out_about_conversations_and_agents_is_described() {
    let Some(place) = Place::new() else { return };
    let rejoin = &place.rejoin;
    place.turn("hello MARK-a").run(|_| {}).unwrap();
    let why = rejoin.project(place.project()).resume("@").why().unwrap();
    assert!(why.checks.iter().any(|check| check.stored.is_some()));
    fits(&why);
    why.checks.iter().for_each(fits);
    let hits = rejoin.search(&Query::parse(&["hello"]).unwrap(), &SearchFilter::default()).unwrap().hits;
    assert_eq!(hits.len(), 1);
    hits.iter().for_each(fits);
    let filter =
        StatsFilter { by: Some(Grouping::Day), then: Some(Grouping::Agent), ..StatsFilter::default() };
    let stats = rejoin.stats(&filter).unwrap();
    fits(&stats);
    stats.by.as_ref().unwrap().values().for_each(fits);
    fits(&stats.all);
    let agents = rejoin.agents();
    assert!(agents.iter().any(|agent| agent.capabilities.is_some()));
    agents.iter().for_each(fits);
    let check =
        AgentCheck { name: "login", finding: Finding::Note, text: "none".into(), next: "log in".into() };
    fits(&AgentCheckup { agent: Agent::Claude, title: "Claude Code", checks: vec![check] });
    let mut bundle = Vec::new();
    rejoin.view(&place.project(), "@").unwrap().export(Format::Bundle, None, &mut bundle).unwrap();
    fits(&rejoin.import_from(&mut bundle.as_slice(), "the bundle", None).unwrap());
    fits(&Cursor::BEGINNING);
}
