//! Frames as the body of a response, with a sign of life from time to time.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_core::Stream;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::{Interval, MissedTickBehavior, interval_at};

use super::frame::Frame;
use super::hubs::StreamSlot;

/// How often there is a sign of life.
const PING: Duration = Duration::from_secs(10);

/// Whose ids are told.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Ids {
    /// Cursors: it is one conversation's stream.
    Cursors,
    /// `CONVERSATION@CURSOR`: it tells of several.
    WithConversation,
}

/// A response that goes on. Between the one who tells and the socket there is room for one frame: whoever does not read
/// is not written to.
pub(crate) fn response(frames: mpsc::Receiver<Frame>, ids: Ids, slot: StreamSlot) -> Response {
    let mut ping = interval_at(tokio::time::Instant::now() + PING, PING);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let body = Body::from_stream(Events { frames, ids, ping, parts: VecDeque::new(), _slot: slot });
    let mut response = body.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Proxies that gather answers are asked not to.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

struct Events {
    frames: mpsc::Receiver<Frame>,
    ids: Ids,
    ping: Interval,
    /// The rest of a frame.
    parts: VecDeque<Bytes>,
    _slot: StreamSlot,
}

impl Stream for Events {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(part) = self.parts.pop_front() {
            return Poll::Ready(Some(Ok(part)));
        }
        if self.ping.poll_tick(context).is_ready() {
            return Poll::Ready(Some(Ok(Frame::of_stream(None, "ping", json!({})).among_others())));
        }
        let Poll::Ready(frame) = self.frames.poll_recv(context) else { return Poll::Pending };
        let Some(frame) = frame else { return Poll::Ready(None) };
        if self.ids == Ids::WithConversation {
            return Poll::Ready(Some(Ok(frame.among_others())));
        }
        let (first, rest) = frame.alone();
        self.parts.extend(rest);
        Poll::Ready(Some(Ok(first)))
    }
}
