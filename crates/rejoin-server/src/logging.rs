//! What the daemon tells of itself: lines on standard error, `RUST_LOG` says how many.

use tracing_subscriber::EnvFilter;

/// From now on, what happens is told on standard error: `info` and above, or as `RUST_LOG` says. Control characters
/// in what is told are written out.
pub fn log_to_stderr() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    // A second time is no use, and no harm.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .with_target(false)
        .try_init();
}
