//! Answers to questions: those that are none, whose they are, and those that never come.

use std::time::Duration;

use rejoin_agents::Answer;
use rejoin_core::{AnsweredBy, Asked, Event, Question, QuestionAnswer, System, UnfitAnswer};

use super::scripted::Place;
use crate::{NotAnswered, OpenQuestion, TurnError};

const ASKS: &str = "echo ask q1; read answer; echo say $answer; echo end";

fn answers(events: &[Event]) -> Vec<QuestionAnswer> {
    let answer = |event: &Event| match event {
        Event::QuestionAnswered(answer) => Some(answer.clone()),
        _ => None,
    };
    events.iter().filter_map(answer).collect()
}

fn unanswered(events: &[Event]) -> Vec<&str> {
    let mut texts = Vec::new();
    for event in events {
        if let Event::Warning { code, text } = event
            && code == "unanswered"
        {
            texts.push(text.as_str());
        }
    }
    texts
}

#[test]
fn a_question_that_nobody_answers_in_time_is_declined_and_the_turn_goes_on() {
    let mut place = Place::new();
    place.limits.answer = Some(Duration::from_millis(400));
    // An open question is no silence.
    place.limits.idle = Some(Duration::from_millis(200));
    let engine = place.engine();
    let turn = place.start(&engine, ASKS);
    let events: Vec<Event> = turn.events().collect();
    let again: Vec<Event> = turn.events().collect();
    assert!(!turn.answer("q1", Answer::option("1")), "it is too late");
    let outcome = turn.join().unwrap();
    assert_eq!(outcome.text(), "declined");
    let question = Question { id: "q1".into(), ..Question::default() };
    for told in [&events, &again] {
        assert_eq!(answers(told), [question.answered(AnsweredBy::Nobody, None)]);
        assert_eq!(
            unanswered(told),
            ["nobody answered within 400 ms: Tea or coffee?; the agent was told that nobody is there"]
        );
    }
    let warnings = place.receipt().unwrap().warnings;
    assert_eq!(warnings.last().map(String::as_str), unanswered(&events).pop());
}

#[test]
fn whoever_is_asked_is_let_go_when_his_time_is_over() {
    let mut place = Place::new();
    place.limits.answer = Some(Duration::from_millis(100));
    let mut thinks_it_over = |question: &OpenQuestion<'_>| {
        while question.is_open() {
            std::thread::sleep(Duration::from_millis(5));
        }
        Answer::option("1")
    };
    let ran = place.watch(ASKS, |_| {}, Some(&mut thinks_it_over));
    assert_eq!(ran.completed().result.as_ref().unwrap().text(), "declined");
}

#[test]
fn each_question_has_its_own_time_and_an_answer_in_time_warns_of_nothing() {
    let mut place = Place::new();
    place.limits.answer = Some(Duration::from_secs(2));
    let mut slowly = |_: &OpenQuestion<'_>| {
        std::thread::sleep(Duration::from_millis(1200));
        Answer::option("1")
    };
    let script = "echo ask q1; read one; echo ask q2; read two; echo say $one$two; echo end";
    let ran = place.watch(script, |_| {}, Some(&mut slowly));
    assert_eq!(ran.completed().result.as_ref().unwrap().text(), "11");
    assert!(unanswered(&ran.events).is_empty());
}

#[test]
fn what_was_not_offered_is_refused_and_the_question_stays_open() {
    let place = Place::new();
    let (engine, other) = (place.engine(), place.engine());
    let turn = place.start(&engine, ASKS);
    let mut events = turn.events();
    let question = events.find_map(|event| match event {
        Event::Question(question) => Some(question),
        _ => None,
    });
    let question = question.unwrap();
    let unfit = UnfitAnswer::NotOffered { id: "9".into(), offered: "1".into() };
    let wrong = question.chosen(AnsweredBy::User, &["9".into()]);
    assert_eq!(turn.answer_as(None, "q1", Answer::option("9")), Err(NotAnswered::Unfit(unfit.clone())));
    assert_eq!(turn.answer_as(None, "q2", Answer::option("1")), Err(NotAnswered::Closed));
    let refused = other.ask_to_answer(place.id, turn.turn(), wrong.clone());
    assert!(matches!(refused, Err(TurnError::NotAnswered(NotAnswered::Unfit(why))) if why == unfit));
    let unknown = QuestionAnswer { question: "q2".into(), ..wrong.clone() };
    let refused = other.ask_to_answer(place.id, turn.turn(), unknown);
    assert!(matches!(refused, Err(TurnError::NotAnswered(NotAnswered::Closed))));
    // Somebody who does not ask first.
    let asked = System::Asked(Asked::Answer { turn: turn.turn(), answer: wrong });
    let info = rejoin_journal::load(other.store(), place.id).unwrap().conversation.info.unwrap();
    other.note(place.id, &info, &[asked]).unwrap();
    std::thread::sleep(Duration::from_millis(600));
    assert!(!turn.is_over());
    turn.answer_as(Some("phone"), "q1", Answer::Text("tea".into())).unwrap();
    assert_eq!(turn.answer_as(None, "q1", Answer::option("1")), Err(NotAnswered::Closed), "the first stands");
    let stands = question.chosen(AnsweredBy::User, &["1".into()]);
    let stands = QuestionAnswer { who: Some("phone".into()), ..stands };
    assert_eq!(answers(&events.collect::<Vec<_>>()), [stands]);
    let (id, conversation) = (turn.turn(), place.id);
    assert_eq!(turn.join().unwrap().text(), "1");
    let late = other.ask_to_answer(conversation, id, question.chosen(AnsweredBy::User, &["1".into()]));
    assert!(matches!(late, Err(TurnError::NotAnswered(NotAnswered::Closed))));
}

#[test]
fn a_callback_that_answers_what_was_not_offered_declines() {
    let place = Place::new();
    let ran = place.watch(ASKS, |_| {}, Some(&mut |_: &OpenQuestion<'_>| Answer::option("9")));
    assert_eq!(ran.completed().result.as_ref().unwrap().text(), "declined");
}
