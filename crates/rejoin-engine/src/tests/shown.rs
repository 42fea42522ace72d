//! What is shown, and when it is written.

use std::time::Duration;

use rejoin_agents::Answer;
use rejoin_core::{AnsweredBy, Event, QuestionState, Questions, System};

use super::scripted::Place;

#[test]
fn calls_results_questions_and_warnings_are_written_before_they_are_shown() {
    let place = Place::new();
    let script = "echo say some text; echo call c1; echo result r1; echo inside i1; echo warn w1; echo ask q1; \
                  read answer; echo say $answer; echo end";
    let mut seen = Vec::new();
    let ran = place.watch(
        script,
        |event| {
            let mark = match event {
                Event::ToolUse { id, .. } | Event::ToolResult { id, .. } => format!(r#""id":"{id}""#),
                Event::Warning { text, .. } => format!(r#""text":"{text}""#),
                Event::Question(question) => format!(r#""id":"{}""#, question.id),
                Event::QuestionAnswered(answer) => format!(r#""question":"{}""#, answer.question),
                _ => return,
            };
            assert!(place.journal().contains(&mark), "{mark} was shown and is not written");
            seen.push(mark);
        },
        None,
    );
    ran.completed();
    // One warning more: a thread supervises.
    assert_eq!(seen.len(), 7, "{seen:?}");
}

#[test]
fn an_ordinary_turn_writes_no_more_than_it_did() {
    let place = Place::new();
    place.run("echo say hello; echo call 1; echo result 1; echo end").completed();
    let records = place.journal().lines().count();
    // Conversation, what its project is known by (once), prompt, intent, the warning about the thread; text, call, result; receipt, the warning that
    // it named no session is not given to an agent that cannot resume.
    assert_eq!(records, 9, "{}", place.journal());
}

fn questions(place: &Place) -> Vec<QuestionState> {
    let mut questions = Questions::default();
    place.notes().into_iter().for_each(|note| questions.apply(note));
    questions.finish(false).into_iter().map(|asked| asked.state).collect()
}

#[test]
fn a_question_is_on_record_with_who_answered_what() {
    let place = Place::new();
    let script = "echo ask q1; read answer; echo ask q2; read answer; echo say $answer; echo end";
    let mut answers = ["tea", "water"].into_iter();
    let ran = place.watch(script, |_| {}, Some(&mut |_| Answer::Text(answers.next().unwrap().into())));
    ran.completed();
    let states = questions(&place);
    let [QuestionState::Answered(tea), QuestionState::Answered(water)] = states.as_slice() else {
        panic!("{states:?}");
    };
    assert_eq!((tea.by, tea.option.as_deref(), tea.text.as_deref()), (AnsweredBy::User, Some("1"), None));
    assert_eq!((water.option.as_deref(), water.text.as_deref()), (None, Some("water")));
    let answered = ran.events.iter().filter(|event| matches!(event, Event::QuestionAnswered(_))).count();
    assert_eq!(answered, 2);

    let place = Place::new();
    place.run("echo ask q1; read answer; echo end").completed();
    let states = questions(&place);
    assert!(
        matches!(&states[..], [QuestionState::Answered(answer)] if answer.by == AnsweredBy::Nobody),
        "{states:?}"
    );
}

#[test]
fn a_question_that_is_taken_back_lets_go_of_whoever_is_asked() {
    let place = Place::new();
    // The agent goes on only after it was asked.
    let asked = place.path().join("asked");
    let script = format!(
        "echo ask q1; while ! [ -e '{}' ]; do sleep 0.01; done; echo back q1; echo end",
        asked.display()
    );
    let mut on_question = |question: &crate::OpenQuestion<'_>| {
        std::fs::write(&asked, "").unwrap();
        while question.is_open() {
            std::thread::sleep(Duration::from_millis(5));
        }
        Answer::Text("too late".into())
    };
    let ran = place.watch(&script, |_| {}, Some(&mut on_question));
    ran.completed();
    assert_eq!(questions(&place), [QuestionState::Withdrawn]);
    assert!(ran.events.iter().any(|event| matches!(event, Event::QuestionWithdrawn { .. })));
}

#[test]
fn a_question_is_lost_with_the_turn_and_lets_go_of_whoever_is_asked() {
    let place = Place::new();
    let mut on_question = |question: &crate::OpenQuestion<'_>| {
        while question.is_open() {
            std::thread::sleep(Duration::from_millis(5));
        }
        Answer::Declined
    };
    place.watch("echo ask q1; echo end", |_| {}, Some(&mut on_question)).completed();
    assert_eq!(questions(&place), [QuestionState::Lost]);
}

#[test]
fn a_warning_is_a_record() {
    let place = Place::new();
    place.run("echo warn careful; echo end").completed();
    let warned = System::Warning { code: "test".into(), text: "careful".into() };
    assert!(place.notes().contains(&warned), "{:?}", place.notes());
    assert!(place.receipt().unwrap().warnings.contains(&"careful".to_owned()));
}
