use proptest::prelude::*;
use rejoin::{Cursor, TurnRequest};
use uuid::Uuid;

use super::super::log::{read_lines, written};
use super::*;

fn id(number: u128) -> TurnId {
    TurnId::new(Uuid::from_u128(number))
}

fn home() -> ConversationId {
    ConversationId::new(Uuid::from_u128(99))
}

fn queued(number: u128) -> Entry {
    let mut request = TurnRequest::new("/p", format!("prompt {number}"));
    request.turn = id(number);
    request.new_conversation = home();
    Entry::Queued(Box::new(Asked {
        token: "t".into(),
        digest: "d".into(),
        request,
        project: "/p".into(),
        name: None,
        cursor: Cursor::BEGINNING,
        time: format!("2026-01-01T00:00:{number:02}Z"),
    }))
}

fn begun(number: u128) -> Entry {
    Entry::Begun { run: id(number), conversation: home(), time: "2026-01-02T00:00:00Z".into() }
}

fn ended(number: u128) -> Entry {
    let time = format!("2026-01-03T00:00:{number:02}Z");
    Entry::Ended { run: id(number), status: RunEnd::Completed, problem: None, agent: None, time }
}

fn folded(entries: impl IntoIterator<Item = Entry>) -> QueueState {
    let mut state = QueueState::default();
    entries.into_iter().for_each(|entry| state.apply(entry));
    state
}

#[test]
fn runs_wait_in_the_order_they_came_until_somebody_orders_them_anew() {
    let mut state = folded((1..=4).map(queued));
    assert_eq!(state.waiting(), [1, 2, 3, 4].map(id));
    state.apply(Entry::Ordered { order: vec![id(3), id(7), id(3), id(1)] });
    assert_eq!(state.waiting(), [3, 1, 2, 4].map(id));
    assert_eq!(state.position(id(2)), Some(3));
    state.apply(begun(3));
    state.apply(ended(1));
    assert_eq!(state.waiting(), [2, 4].map(id));
    assert_eq!((state.position(id(3)), state.position(id(1))), (None, None));
}

#[test]
fn only_what_waits_can_be_edited_and_an_end_is_final() {
    let mut state = folded([queued(1), begun(1), queued(2)]);
    for run in [1, 2] {
        state.apply(Entry::Edited { run: id(run), prompt: "other".into() });
    }
    let prompt = |state: &QueueState, run| state.run(id(run)).unwrap().asked.request.prompt.clone();
    assert_eq!((prompt(&state, 1), prompt(&state, 2)), ("prompt 1".into(), "other".into()));
    state.apply(ended(1));
    let over = state.clone();
    let again = Entry::Ended {
        run: id(1),
        status: RunEnd::Failed,
        problem: None,
        agent: None,
        time: "2026-01-04T00:00:00Z".into(),
    };
    for late in [again, begun(1), queued(1)] {
        state.apply(late);
    }
    assert_eq!(state, over);
}

#[test]
fn a_long_prompt_is_kept_whole_only_as_long_as_no_journal_has_it() {
    let Entry::Queued(mut asked) = queued(1) else { unreachable!() };
    asked.request.prompt = "ä".repeat(5000);
    let mut state = folded([Entry::Queued(asked.clone())]);
    assert_eq!(state.run(id(1)).unwrap().asked.request.prompt.len(), 10_000);
    state.apply(begun(1));
    assert!(state.run(id(1)).unwrap().asked.request.prompt.len() <= SHOWN);
    let refused = folded([Entry::Queued(asked), ended(1)]);
    assert_eq!(refused.run(id(1)).unwrap().asked.request.prompt.len(), 10_000, "to be tried again");
}

#[test]
fn what_ended_long_ago_is_forgotten_and_what_waits_is_not() {
    let mut state = folded([queued(1), begun(1), ended(1), queued(2), begun(2), ended(2), queued(3)]);
    state.forget_before("2026-01-03T00:00:02Z");
    let mut left: Vec<TurnId> = state.runs().map(|(run, _)| run).collect();
    left.sort_unstable();
    assert_eq!(left, [2, 3].map(id));
    state.forget_before("2027");
    assert!(!state.is_empty() && state.waiting() == [id(3)]);
    let paused = folded([Entry::Paused { why: "lunch".into() }]);
    assert!(!paused.is_empty(), "somebody wants what comes to wait");
}

fn any_entry() -> impl Strategy<Value = Entry> {
    let run = 1_u128..6;
    prop_oneof![
        run.clone().prop_map(queued),
        run.clone().prop_map(queued),
        run.clone().prop_map(begun),
        run.clone().prop_map(ended),
        run.clone().prop_map(|run| Entry::Edited { run: id(run), prompt: "other\nwords".into() }),
        prop::collection::vec(run, 0..6)
            .prop_map(|order| Entry::Ordered { order: order.into_iter().map(id).collect() }),
        Just(Entry::Paused { why: "cancelled".into() }),
        Just(Entry::Resumed),
        Just(Entry::Unknown),
    ]
}

fn is_valid(state: &QueueState) -> bool {
    let waits = |run: &Run| run.phase == Phase::Waiting;
    let mut known: Vec<TurnId> = state.runs().filter(|(_, run)| waits(run)).map(|(id, _)| id).collect();
    let mut waiting = state.waiting().to_vec();
    known.sort_unstable();
    waiting.sort_unstable();
    known == waiting && state.runs().all(|(id, run)| run.asked.run() == id)
}

proptest! {
    #[test]
    fn whatever_stands_in_a_log_however_it_was_cut_makes_a_valid_queue(
        entries in prop::collection::vec(any_entry(), 0..24),
        cut in any::<prop::sample::Index>(),
    ) {
        let bytes: Vec<u8> = entries.iter().flat_map(written).collect();
        let cut = cut.index(bytes.len() + 1);
        let whole = bytes[..cut].split(|byte| *byte == b'\n').count() - 1;
        let state = folded(read_lines(&bytes[..cut]));
        prop_assert!(is_valid(&state));
        // What was written whole counts; of a cut line nothing does, unless only its end is missing.
        let exact = folded(entries[..whole].to_vec());
        let one_more = folded(entries[..(whole + 1).min(entries.len())].to_vec());
        prop_assert!(state == exact || state == one_more);
        // The next line after a torn one is not lost with it.
        let mut torn = bytes[..cut].to_vec();
        torn.push(b'\n');
        torn.extend(written(&queued(9)));
        prop_assert_eq!(folded(read_lines(&torn)).position(id(9)).is_some(), true);
    }

    #[test]
    fn the_fewest_lines_make_the_same_queue(entries in prop::collection::vec(any_entry(), 0..24)) {
        let state = folded(entries);
        let fewest = state.entries();
        prop_assert!(is_valid(&state));
        prop_assert_eq!(folded(fewest), state);
    }
}
