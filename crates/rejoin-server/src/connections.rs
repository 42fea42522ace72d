//! Connections, from being accepted to their end.

use std::time::Duration;

use axum::Router;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tower::ServiceExt;

use crate::auth::Peer;
use crate::listen::Listener;

/// Who connects and then says nothing is let go after this time.
const HEADERS_WITHIN: Duration = Duration::from_secs(10);
/// After a failure to accept (no descriptors, say).
const PAUSE: Duration = Duration::from_millis(100);

/// Serves connections until `ending` says so; those that are open then are told to close.
pub(crate) async fn accept(listener: &Listener, router: Router, mut ending: watch::Receiver<bool>) {
    let open = ending.clone();
    loop {
        tokio::select! {
            _ = ending.wait_for(|ending| *ending) => return,
            accepted = next(listener) => match accepted {
                Ok((stream, peer)) => {
                    tokio::spawn(serve_one(stream, peer, router.clone(), open.clone()));
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(PAUSE).await;
                }
            },
        }
    }
}

/// What bytes come from and go to.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

async fn next(listener: &Listener) -> std::io::Result<(Box<dyn Stream>, Peer)> {
    match listener {
        Listener::Tcp(listener) => {
            let (stream, theirs) = listener.accept().await?;
            // Events are small, and each should go out at once.
            stream.set_nodelay(true)?;
            let peer = Peer::of_tcp(&stream, theirs)?;
            Ok((Box::new(stream), peer))
        }
        Listener::Unix(listener, _) => {
            let (stream, _) = listener.accept().await?;
            let peer = Peer::of_unix(&stream);
            Ok((Box::new(stream), peer))
        }
    }
}

async fn serve_one(stream: Box<dyn Stream>, peer: Peer, router: Router, mut ending: watch::Receiver<bool>) {
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADERS_WITHIN).max_buf_size(64 << 10);
    let service = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(peer);
        router.clone().oneshot(request)
    });
    let connection = http.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    tokio::select! {
        // A client that went away is no news.
        _ = connection.as_mut() => return,
        _ = ending.wait_for(|ending| *ending) => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}
