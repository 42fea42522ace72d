//! What happens in a run of a flow, as it is written down: by this daemon or by whoever else carries it out.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::IntoResponse;
use axum::response::sse::{Event, Sse};
use futures_core::Stream;
use rejoin::Rejoin;
use rejoin_flow::{Record, RunId, RunLines, Written};
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::run_id::NamedRun;
use crate::app::Shared;
use crate::caller::{Caller, TokenScope};
use crate::problem::{Problem, ProblemBody};
use crate::stream::StreamSlot;

/// How often the log is looked at.
const GLANCE: Duration = Duration::from_millis(150);
/// How often somebody is told that we are still there.
const PING: Duration = Duration::from_secs(10);
/// So many lines are read before they are sent: a reader who is slow holds no more of them.
const BATCH: usize = 32;

/// The records of a run, from its first one or from the one after `Last-Event-ID` (the number of its line) on, then
/// as they are written. Each event is named after the `type` of its record: `run`, `resumed`, `step_begun`, `turn`,
/// `asked_to_stop`, `step_ended`, `result`; a line that cannot be read any more is `damaged`. It ends after the `result`,
/// or with `interrupted` where nobody is at the run although it has none. What agents do in a `turn` is told by the
/// stream of its conversation. `ping` comes every ten seconds.
#[utoipa::path(get, path = "/runs/{id}/events", tag = "flows",
    params(
        ("id" = Uuid, Path, description = "The run."),
        ("Last-Event-ID" = Option<u64>, Header, description = "The last event that is known."),
    ),
    responses(
        (status = 200, body = String, content_type = "text/event-stream"),
        (status = "default", body = ProblemBody, content_type = "application/problem+json"),
    ))]
pub(crate) async fn events(
    State(app): State<Shared>,
    caller: Caller,
    named: NamedRun,
    headers: HeaderMap,
) -> Result<impl IntoResponse, Problem> {
    caller.require(TokenScope::Read)?;
    let known = last_event_id(&headers)?;
    let shared = Shared::clone(&app);
    let follow = app
        .blocking(move |rejoin| {
            let id = named.seen_by(&shared, &caller, rejoin)?;
            Ok(Follow { id, lines: RunLines::open(rejoin, id)?, known, is_closed: false, is_over: false })
        })
        .await?;
    let slot = app.hubs.take_slot()?;
    let (send, receive) = mpsc::channel(1);
    tokio::spawn(tell(Shared::clone(&app), follow, send, slot));
    Ok(Sse::new(Sent(receive)))
}

fn last_event_id(headers: &HeaderMap) -> Result<usize, Problem> {
    let Some(id) = headers.get("last-event-id") else { return Ok(0) };
    let id = id.to_str().ok().and_then(|id| id.parse().ok());
    id.ok_or_else(|| {
        Problem::bad_request("Last-Event-ID is none of this stream")
            .hint("send the id of the last event, or leave it out to begin with the first")
    })
}

/// Tells events until the run is over, or nobody listens any more.
async fn tell(app: Shared, mut follow: Follow, send: mpsc::Sender<Event>, _slot: StreamSlot) {
    let mut ping = Instant::now() + PING;
    loop {
        let read = app.blocking(move |rejoin| {
            let events = follow.read(rejoin)?;
            Ok((follow, events))
        });
        let events = match read.await {
            Ok((back, events)) => {
                follow = back;
                events
            }
            Err(problem) => {
                let _ = send.send(named("error", &problem.body())).await;
                break;
            }
        };
        let idle = events.is_empty();
        if !send_all(&send, events).await || follow.is_over || (idle && app.flow_runs.is_draining()) {
            break;
        }
        if Instant::now() >= ping {
            ping = Instant::now() + PING;
            if send.send(named("ping", &json!({}))).await.is_err() {
                break;
            }
        }
        if idle {
            tokio::select! {
                () = tokio::time::sleep(GLANCE) => {}
                () = send.closed() => break,
            }
        }
    }
}

async fn send_all(send: &mpsc::Sender<Event>, events: Vec<Event>) -> bool {
    for event in events {
        if send.send(event).await.is_err() {
            return false;
        }
    }
    true
}

/// An event without an id: it is not in the log.
fn named(name: &str, data: &impl serde::Serialize) -> Event {
    Event::default().event(name).json_data(data).unwrap_or_default()
}

/// A run's log, as far as it was read.
struct Follow {
    id: RunId,
    lines: RunLines,
    /// The number of the line up to which all is known.
    known: usize,
    /// The last record was a result.
    is_closed: bool,
    /// No more will come.
    is_over: bool,
}

impl Follow {
    /// The next events; none if there are none now. Waits for the disk.
    fn read(&mut self, rejoin: &Rejoin) -> Result<Vec<Event>, Problem> {
        // Asked before it is read: whoever is gone by now has written all he will.
        let is_held = rejoin_flow::holder(rejoin, self.id)?.is_some();
        let mut events = Vec::new();
        while events.len() < BATCH {
            let Some((number, written)) = self.lines.next_line()? else {
                if !is_held {
                    self.is_over = true;
                    if !self.is_closed {
                        events.push(named("interrupted", &json!({})));
                    }
                }
                break;
            };
            self.is_closed = match &written {
                Written::Record(record) => matches!(**record, Record::Result { .. }),
                Written::Damaged => false,
            };
            if number > self.known {
                events.push(event(&written).id(number.to_string()));
            }
        }
        Ok(events)
    }
}

fn event(written: &Written) -> Event {
    match written {
        Written::Record(record) => {
            let name = match **record {
                Record::Run(_) => "run",
                Record::Resumed { .. } => "resumed",
                Record::StepBegun { .. } => "step_begun",
                Record::Turn { .. } => "turn",
                Record::AskedToStop { .. } => "asked_to_stop",
                Record::StepEnded(_) => "step_ended",
                Record::Result { .. } => "result",
            };
            named(name, record)
        }
        Written::Damaged => named("damaged", &json!({})),
    }
}

/// What is sent, as it comes.
struct Sent(mpsc::Receiver<Event>);

impl Stream for Sent {
    type Item = Result<Event, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|event| event.map(Ok))
    }
}
