//! Connections, from being accepted to their end.

use std::time::Duration;

use axum::Router;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

use crate::auth::Peer;
use crate::listen::Listener;

/// Who connects and then says nothing is let go after this time.
const HEADERS_WITHIN: Duration = Duration::from_secs(10);
/// How long answers that are under way may take when all else has ended.
const LAST_ANSWERS: Duration = Duration::from_millis(500);
/// So many connections at once.
const MOST: usize = 4096;
/// After a failure to accept (no descriptors, say).
const PAUSE: Duration = Duration::from_millis(100);

/// Serves connections until `ending` says so; those that are open then are told to close.
pub(crate) async fn accept(
    listener: Listener,
    tls: Option<TlsAcceptor>,
    router: Router,
    mut ending: watch::Receiver<bool>,
) {
    let open = ending.clone();
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            () = told_to_end(&mut ending) => break,
            Some(_) = connections.join_next() => {}
            accepted = next(&listener) => match accepted {
                Ok((stream, peer)) if connections.len() < MOST => {
                    connections.spawn(serve_one(stream, peer, tls.clone(), router.clone(), open.clone()));
                }
                // Closed at once: who is served already must not suffer.
                Ok(_) => tracing::warn!(open = MOST, "too many connections: one was turned away"),
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(PAUSE).await;
                }
            },
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// Waits for the word, or for the end of whoever would give it.
async fn told_to_end(ending: &mut watch::Receiver<bool>) {
    let _ = ending.wait_for(|ending| *ending).await;
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

async fn serve_one(
    stream: Box<dyn Stream>,
    peer: Peer,
    tls: Option<TlsAcceptor>,
    router: Router,
    mut ending: watch::Receiver<bool>,
) {
    let stream = match tls {
        None => stream,
        Some(tls) => match tokio::time::timeout(HEADERS_WITHIN, tls.accept(stream)).await {
            Ok(Ok(stream)) => Box::new(stream),
            // Who cannot be talked to, or says nothing.
            _ => return,
        },
    };
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
        () = told_to_end(&mut ending) => connection.as_mut().graceful_shutdown(),
    }
    // Streams have no end of their own.
    let _ = tokio::time::timeout(LAST_ANSWERS, connection).await;
}
