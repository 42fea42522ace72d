//! How long an agent has been silent, by our own doing excepted.

use std::time::{Duration, Instant};

use rejoin_agents::Step;
use rejoin_core::Event;

/// A clock that runs while we listen, and begins anew with every sign of life.
pub(crate) struct Silence {
    before: Duration,
    /// Since when we listen without hearing anything.
    listening: Option<Instant>,
}

impl Silence {
    pub(crate) fn begin() -> Self {
        Self { before: Duration::ZERO, listening: Some(Instant::now()) }
    }

    /// A sign of life.
    pub(crate) fn end(&mut self) {
        *self = Self { before: Duration::ZERO, listening: self.listening.map(|_| Instant::now()) };
    }

    /// From now on we read, or do not: what is not read cannot be heard.
    pub(crate) fn listen(&mut self, reading: bool) {
        match (reading, self.listening) {
            (true, None) => self.listening = Some(Instant::now()),
            (false, Some(since)) => *self = Self { before: self.before + since.elapsed(), listening: None },
            _ => {}
        }
    }

    /// How long it has lasted.
    pub(crate) fn lasted(&self) -> Duration {
        self.before + self.listening.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

/// Whether what a driver made of a line is a sign of life: the line was understood, and it is not told to
/// wait (it may retry for ever).
pub(crate) fn shows_life(steps: &[Step]) -> bool {
    steps.is_empty() || steps.iter().any(|step| !is_noise(step))
}

fn is_noise(step: &Step) -> bool {
    match step {
        Step::Waiting | Step::Emit(Event::Diagnostic { .. }) => true,
        Step::Emit(Event::Warning { code, .. }) => code == "retry",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use rejoin_core::Stream;

    use super::*;

    #[test]
    fn only_the_time_in_which_we_listen_counts() {
        let long_ago = |seconds| Instant::now().checked_sub(Duration::from_secs(seconds));
        let mut silence = Silence { before: Duration::ZERO, listening: long_ago(20) };
        silence.listen(false);
        let lasted = silence.lasted();
        assert!(lasted >= Duration::from_secs(20));
        assert_eq!(silence.lasted(), lasted, "nothing is added while we do not read");
        silence.listen(true);
        assert!(silence.lasted() >= lasted);
        silence.listening = long_ago(5);
        assert!(silence.lasted() >= lasted + Duration::from_secs(5), "and it goes on where it stopped");
        silence.end();
        assert!(silence.lasted() < Duration::from_secs(5));
    }

    #[test]
    fn junk_and_being_told_to_wait_are_no_life() {
        let junk = || Step::Emit(Event::Diagnostic { stream: Stream::Stdout, text: "junk".into() });
        let warning = |code: &str| Step::Emit(Event::Warning { code: code.into(), text: String::new() });
        assert!(!shows_life(&[junk()]));
        assert!(!shows_life(&[warning("retry")]));
        assert!(!shows_life(&[Step::Waiting]));
        assert!(shows_life(&[]), "a line that is known and says nothing");
        assert!(shows_life(&[warning("retry"), Step::Stored]), "it waited, and goes on");
        assert!(shows_life(&[warning("model_fallback")]));
    }
}
