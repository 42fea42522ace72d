//! Pieces from a thread, as the body of an answer.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use tokio::sync::mpsc;

/// What comes through a channel, until it is closed or breaks off.
pub(crate) struct ByteStream(pub(crate) mpsc::Receiver<io::Result<Bytes>>);

impl Stream for ByteStream {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context)
    }
}
