//! A turn as a handle: watched from anywhere, never waited for by its watcher, stopped whatever the disk does.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rejoin_agents::Answer;
use rejoin_core::{AnsweredBy, Event, MessageId, Outcome, QuestionAnswer};
use rejoin_journal::{MemoryStore, birth};

use super::hooked::Hooked;
use super::pumped::eventually;
use super::scripted::Place;
use crate::NextEvent;

/// What a reader knows in the end and in which order: texts as they stood whenever something else happened.
pub(super) fn story(events: impl IntoIterator<Item = Event>) -> Vec<String> {
    let mut texts: BTreeMap<MessageId, String> = BTreeMap::new();
    let mut told = BTreeMap::new();
    let mut story = Vec::new();
    for event in events {
        match event {
            Event::TextDelta { message, offset, text } | Event::Message { message, offset, text, .. } => {
                let known = texts.entry(message).or_default();
                known.truncate(offset);
                assert_eq!(known.len(), offset, "a piece is missing");
                known.push_str(&text);
            }
            other => {
                if told != texts {
                    told.clone_from(&texts);
                    story.push(format!("{told:?}"));
                }
                story.push(format!("{other:?}"));
            }
        }
    }
    story
}

pub(super) const EVENTFUL: &str = "echo session s1; echo say one; echo say two; echo call c1; echo say three; echo result r1; \
                        echo inside i1; echo warn careful; echo junk; echo think hm; echo usage 3; echo ask q1; read answer; \
                        echo say $answer; echo whole four; echo end";

#[test]
fn whoever_reads_the_journal_is_told_what_the_watcher_was_told() {
    let place = Place::new();
    let engine = place.engine();
    let turn = place.start(&engine, EVENTFUL);
    let mut live = Vec::new();
    for event in turn.events() {
        if let Event::Question(question) = &event {
            assert!(turn.answer(&question.id, Answer::Text("tea".into())));
        }
        live.push(event);
    }
    let again: Vec<Event> = turn.events().collect();
    assert!(matches!(live.first(), Some(Event::Init { number: 1, .. })));
    assert!(matches!(live.last(), Some(Event::Result { .. })));
    assert_eq!(story(live), story(again));
    assert_eq!(*turn.join().unwrap().outcome(), Outcome::Completed);
}

#[test]
fn whoever_comes_late_is_told_everything_once() {
    let place = Place::new();
    let engine = place.engine();
    let turn = place.start(
        &engine,
        "echo say one; echo call c1; until [ -e go ]; do sleep 0.01; done; echo say two; echo end",
    );
    let first = turn.events();
    let mut late = turn.events();
    let mut seen = Vec::new();
    loop {
        match late.next_within(Duration::from_millis(50)) {
            NextEvent::Event(event) => seen.push(*event),
            NextEvent::Nothing if seen.iter().any(|event| matches!(event, Event::ToolUse { .. })) => {
                std::fs::write(place.path().join("go"), "").unwrap();
            }
            NextEvent::Nothing => {}
            NextEvent::Over => break,
        }
    }
    assert_eq!(story(seen), story(first));
}

#[test]
fn a_slow_watcher_is_not_waited_for_and_misses_nothing() {
    let place = Place::new();
    let engine = place.engine();
    let written = place.path().join("written");
    // 24 MiB of text in lines of 64 KiB: far more than is kept for him.
    let script = "line=$(head -c 65536 /dev/zero | tr '\\0' x); for i in $(seq 384); do echo \"say $line\"; done; \
                  echo call c1; touch written; echo end";
    let turn = place.start(&engine, script);
    let mut held = false;
    let mut length = 0;
    let mut calls = 0;
    for event in turn.events() {
        match event {
            Event::TextDelta { offset, text, .. } => {
                assert_eq!(offset, length, "each byte once, in order");
                length += text.len();
                if !std::mem::replace(&mut held, true) {
                    eventually("the agent to be done", || written.exists());
                }
            }
            Event::ToolUse { .. } => calls += 1,
            _ => {}
        }
    }
    assert_eq!((length, calls), (384 * 65536, 1));
    assert_eq!(*turn.join().unwrap().outcome(), Outcome::Completed);
}

#[test]
fn a_turn_is_stopped_in_time_while_the_disk_stands_still() {
    let stall = Arc::new(AtomicBool::new(false));
    let stalled = Arc::clone(&stall);
    let hook = Arc::new(move || {
        while stalled.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    });
    let mut place = Place::on(Arc::new(Hooked { store: MemoryStore::new(), hook }));
    place.limits.grace = Duration::from_millis(200);
    let engine = place.engine();
    let script = "trap '' INT; echo $$ > agent; while :; do echo call c; sleep 0.02; done";
    let turns: Vec<_> = (0..8).map(|_| place.start_another(&engine, script)).collect();
    let agent = || std::fs::read_to_string(place.path().join("agent")).ok().filter(|pid| pid.ends_with('\n'));
    eventually("the agents", || agent().is_some());
    stall.store(true, Ordering::SeqCst);
    std::thread::sleep(Duration::from_millis(300));
    let agent: u32 = agent().unwrap().trim().parse().unwrap();
    let asked = Instant::now();
    turns.iter().for_each(crate::TurnHandle::cancel);
    eventually("its end", || birth(agent).is_none());
    assert!(asked.elapsed() < Duration::from_secs(4), "{:?}", asked.elapsed());
    assert!(turns.iter().all(|turn| !turn.is_over()), "nothing is called done that is not on the disk");
    stall.store(false, Ordering::SeqCst);
    for turn in turns {
        assert_eq!(*turn.join().unwrap().outcome(), Outcome::Cancelled);
    }
    eventually("no thread to be left", || engine.writers.threads() == 0);
}

#[test]
fn a_turn_that_was_given_up_before_its_agent_was_started_starts_none() {
    let place = Place::new();
    place.canceller().cancel();
    let ran = place.run("touch started; echo say hello; echo end");
    assert_eq!(*ran.outcome(), Outcome::Cancelled);
    assert!(!place.path().join("started").exists());
}

#[test]
fn another_process_stops_a_turn_by_its_journal() {
    let place = Place::new();
    let (engine, other) = (place.engine(), place.engine());
    let turn = place.start(&engine, "echo say one; sleep 600");
    other.ask_to_cancel(place.id, MessageId::new(uuid::Uuid::new_v4())).unwrap();
    std::thread::sleep(Duration::from_millis(600));
    assert!(!turn.is_over(), "another turn was meant");
    other.ask_to_cancel(place.id, turn.turn()).unwrap();
    assert_eq!(*turn.join().unwrap().outcome(), Outcome::Cancelled);
}

#[test]
fn another_process_answers_a_question_by_the_journal() {
    let place = Place::new();
    let (engine, other) = (place.engine(), place.engine());
    let turn = place.start(&engine, "echo ask q1; read answer; echo say $answer; echo end");
    let mut events = turn.events();
    let asked = events.find(|event| matches!(event, Event::Question(_)));
    assert!(asked.is_some());
    let answer = QuestionAnswer {
        question: "q1".into(),
        by: AnsweredBy::User,
        who: Some("phone".into()),
        option: Some("1".into()),
        options: Vec::new(),
        text: None,
    };
    other.ask_to_answer(place.id, turn.turn(), answer.clone()).unwrap();
    let stands = events.find_map(|event| match event {
        Event::QuestionAnswered(answer) => Some(answer),
        _ => None,
    });
    assert_eq!(stands, Some(answer));
    assert!(!turn.answer("q1", Answer::Text("coffee".into())), "the first answer stands");
    assert_eq!(turn.join().unwrap().text(), "1");
}
