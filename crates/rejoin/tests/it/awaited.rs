//! Turns that are awaited, on a runtime of one thread.

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use rejoin::{
    Agent, Answer, AsyncTurn, ConversationId, Event, Outcome, Rejoin, TurnId, TurnRequest, TurnStatus,
};

use super::Place;

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().build().unwrap()
}

/// What a turn of the demo agent is described by.
fn request(place: &Place, prompt: &str) -> TurnRequest {
    let mut request = TurnRequest::new(place.project(), prompt);
    request.agent = Some(Agent::Demo);
    request
}

/// A place whose data several tasks can use.
fn shared() -> Option<(Place, Arc<Rejoin>)> {
    let place = Place::new()?;
    let rejoin = Arc::new(place.opened_again());
    Some((place, rejoin))
}

/// Checks that events are those of a whole turn, in order and without a hole, and gives the text in them.
#[track_caller]
fn whole(events: &[Event]) -> String {
    assert!(matches!(events.first(), Some(Event::Init { .. })), "{events:?}");
    let results = events.iter().filter(|event| matches!(event, Event::Result { .. })).count();
    assert_eq!((results, matches!(events.last(), Some(Event::Result { .. }))), (1, true));
    let (mut text, mut lengths) = (String::new(), HashMap::new());
    for event in events {
        if let Event::TextDelta { message, offset, text: piece } = event {
            let length = lengths.entry(*message).or_insert(0);
            assert_eq!(offset, length, "a piece is missing or comes twice");
            *length += piece.len();
            text.push_str(piece);
        }
    }
    text
}

async fn all(turn: &mut AsyncTurn) -> Vec<Event> {
    let mut events = Vec::new();
    while let Some(event) = turn.next().await {
        events.push(event);
    }
    events
}

/// Whether a future is done now; if not, it is dropped.
async fn try_once<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

/// Waits on this thread, so that nothing awaits meanwhile, until a turn is over.
fn wait_until_over(rejoin: &Rejoin, conversation: ConversationId, turn: TurnId) -> TurnStatus {
    let begun = Instant::now();
    loop {
        let view = rejoin.open_conversation(conversation).unwrap();
        let status = view.turn_status(view.conversation().tree.turn(turn).unwrap()).unwrap();
        if !status.is_running() {
            return status;
        }
        assert!(begun.elapsed() < Duration::from_mins(1), "the turn does not end");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn twenty_turns_at_once_tell_everything_in_order_to_one_thread() {
    let Some((place, rejoin)) = shared() else { return };
    runtime().block_on(async {
        let turns: Vec<_> = (0..20)
            .map(|number| {
                let (rejoin, request) =
                    (Arc::clone(&rejoin), request(&place, &format!("MARK-{number} SLOW 30")));
                tokio::spawn(async move {
                    let mut turn = AsyncTurn::start(&rejoin, request).await.unwrap();
                    let events = all(&mut turn).await;
                    (events, turn.join().await.unwrap())
                })
            })
            .collect();
        for (number, turn) in turns.into_iter().enumerate() {
            let (events, outcome) = turn.await.unwrap();
            assert_eq!(outcome.outcome(), &Outcome::Completed);
            let text = whole(&events);
            assert!(text.contains(&format!("MARK-{number}")), "{text}");
        }
    });
}

#[test]
fn whoever_stops_waiting_for_an_event_gets_it_the_next_time() {
    let Some((place, rejoin)) = shared() else { return };
    runtime().block_on(async {
        let mut turn = AsyncTurn::start(&rejoin, request(&place, "SLOW 50")).await.unwrap();
        let (mut events, mut given_up) = (Vec::new(), 0);
        loop {
            match try_once(turn.next()).await {
                Some(Some(event)) => events.push(event),
                Some(None) => break,
                None => given_up += 1,
            }
            tokio::task::yield_now().await;
        }
        assert!(given_up > 0);
        assert!(!whole(&events).is_empty());
        assert!(turn.next().await.is_none(), "after the last one there is none");
    });
}

#[test]
fn whoever_lags_is_served_from_the_journal_and_may_give_up_waiting_for_that() {
    let Some((place, rejoin)) = shared() else { return };
    runtime().block_on(async {
        let mut turn = AsyncTurn::start(&rejoin, request(&place, "FLOOD 12m")).await.unwrap();
        let first = turn.next().await.unwrap();
        let status = wait_until_over(&rejoin, turn.conversation().unwrap(), turn.turn());
        assert_eq!(status, TurnStatus::Completed);
        let (mut events, mut given_up) = (vec![first], 0);
        loop {
            match try_once(turn.next()).await {
                Some(Some(event)) => events.push(event),
                Some(None) => break,
                None => given_up += 1,
            }
            tokio::task::yield_now().await;
        }
        assert!(given_up > 0, "what is read from the disk is not read on this thread");
        assert!(whole(&events).len() > 10 << 20, "more than is kept for a watcher");
        assert_eq!(turn.join().await.unwrap().outcome(), &Outcome::Completed);
    });
}

#[test]
fn an_awaited_turn_can_be_stopped_and_tells_so() {
    let Some((place, rejoin)) = shared() else { return };
    runtime().block_on(async {
        let mut turn = AsyncTurn::start(&rejoin, request(&place, "SLOW 3000")).await.unwrap();
        while !matches!(turn.next().await, Some(Event::TextDelta { .. })) {}
        turn.cancel();
        let events = all(&mut turn).await;
        assert!(matches!(events.last(), Some(Event::Result { .. })), "{events:?}");
        assert_eq!(turn.join().await.unwrap().outcome(), &Outcome::Cancelled);
    });
}

#[test]
fn an_awaited_turn_gets_its_answer() {
    let Some((place, rejoin)) = shared() else { return };
    runtime().block_on(async {
        let mut asks = request(&place, "ASK");
        asks.interactive = true;
        let mut turn = AsyncTurn::start(&rejoin, asks).await.unwrap();
        let question = loop {
            match turn.next().await.unwrap() {
                Event::Question(question) => break question,
                _ => {}
            }
        };
        assert!(turn.answer(&question.id, Answer::Text("coffee".into())));
        let outcome = turn.join().await.unwrap();
        assert!(outcome.text().contains("You answered “coffee”."), "{}", outcome.text());
    });
}

#[test]
fn a_turn_that_nobody_holds_any_more_goes_on() {
    let Some((place, rejoin)) = shared() else { return };
    let (conversation, turn) = runtime().block_on(async {
        let mut turn = AsyncTurn::start(&rejoin, request(&place, "SLOW 30")).await.unwrap();
        turn.next().await;
        (turn.conversation().unwrap(), turn.turn())
    });
    assert_eq!(wait_until_over(&rejoin, conversation, turn), TurnStatus::Completed);
}

#[test]
fn an_ephemeral_turn_does_not_wait_for_whoever_only_joins() {
    let Some((place, rejoin)) = shared() else { return };
    runtime().block_on(async {
        let mut floods = request(&place, "FLOOD 20m");
        floods.ephemeral = true;
        let turn = AsyncTurn::start(&rejoin, floods).await.unwrap();
        assert_eq!(turn.conversation(), None);
        assert_eq!(turn.join().await.unwrap().outcome(), &Outcome::Completed);
    });
}
