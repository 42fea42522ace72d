use std::time::Duration;

use rejoin::{Config, Cursor, Helper, TurnRequest};
use rejoin_journal::LogKind;
use uuid::Uuid;

use super::super::now;
use super::*;

fn home() -> (tempfile::TempDir, Rejoin) {
    let dir = tempfile::tempdir().unwrap();
    let rejoin = Rejoin::open_with(dir.path(), Config::default(), Helper::Thread).unwrap();
    (dir, rejoin)
}

fn conversation(number: u128) -> ConversationId {
    ConversationId::new(Uuid::from_u128(number))
}

fn run(number: u128) -> TurnId {
    TurnId::new(Uuid::from_u128(number))
}

fn asked(number: u128, token: &str) -> Asked {
    let mut request = TurnRequest::new("/p", "hello");
    request.turn = run(number);
    let (digest, project, name, cursor) = ("d".into(), "/p".into(), None, Cursor::BEGINNING);
    Asked { token: token.into(), digest, request, project, name, cursor, time: now() }
}

#[test]
fn a_run_is_one_tokens_and_of_one_body() {
    let (_dir, rejoin) = home();
    let queue = Queue::new(1);
    let submit = |asked| queue.submit(&rejoin, conversation(1), asked);
    assert!(matches!(submit(asked(1, "phone")), Ok(Submitted::New)));
    assert!(matches!(submit(asked(1, "phone")), Ok(Submitted::Before)));
    let code = |asked: Asked| submit(asked).err().map(|problem| problem.code());
    assert_eq!(code(asked(1, "laptop")), Some(Code::KeyReused));
    assert_eq!(code(Asked { digest: "other".into(), ..asked(1, "phone") }), Some(Code::KeyReused));
    assert_eq!(queue.counts().queued, 1);
}

#[test]
fn what_was_taken_is_found_again_as_it_stands_on_the_disk() {
    let (_dir, rejoin) = home();
    let queue = Queue::new(1);
    for number in 1..=3 {
        assert!(queue.submit(&rejoin, conversation(7), asked(number, "phone")).is_ok());
    }
    let ended = Entry::Ended { run: run(2), status: RunEnd::Failed, problem: None, agent: None, time: now() };
    queue.note(&rejoin, conversation(7), ended);
    let (state, lines) = log::load(&rejoin, conversation(7)).unwrap();
    assert_eq!((state.waiting(), lines), ([run(1), run(3)].as_slice(), 4));
    queue.forget_before(&rejoin, "9999");
    assert!(queue.look(run(2)).is_none());
    let (again, lines) = log::load(&rejoin, conversation(7)).unwrap();
    assert_eq!((again.waiting(), again.runs().count(), lines), (state.waiting(), 2, 2), "written anew");
    assert!(!queue.is_idle(conversation(7)));
    queue.forget(&rejoin, conversation(7)).unwrap();
    assert!(queue.is_idle(conversation(7)) && queue.look(run(1)).is_none());
    assert_eq!(rejoin.store().logs().ids(LogKind::Queue).unwrap(), [] as [Uuid; 0]);
}

#[test]
fn one_at_a_time_begins_in_a_conversation_and_who_finds_it_in_use_is_left_alone_for_a_while() {
    let (_dir, rejoin) = home();
    let queue = Queue::new(8);
    for number in 1..=2 {
        assert!(queue.submit(&rejoin, conversation(1), asked(number, "phone")).is_ok());
    }
    assert!(queue.begins_now(run(1)) && !queue.begins_now(run(2)));
    let picked = |queue: &Queue| -> Vec<TurnId> {
        queue.pick(Instant::now()).0.into_iter().map(|candidate| candidate.run).collect()
    };
    assert_eq!(picked(&queue), [run(1)]);
    assert_eq!(picked(&queue), [] as [TurnId; 0], "it is being started");
    assert!(queue.hold(conversation(1), run(1)));
    let (none, again) = queue.pick(Instant::now());
    assert!(none.is_empty() && again.is_some() && !queue.begins_now(run(1)));
    let later = Instant::now() + Duration::from_secs(1);
    assert_eq!(queue.pick(later).0[0].run, run(1));
    assert!(queue.cancel_here(run(1), false));
    assert!(!queue.hold(conversation(1), run(1)), "who was cancelled meanwhile does not wait on");
}
