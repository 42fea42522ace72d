//! Limits, and the ladder by which an agent is stopped: interrupt, TERM, KILL, each racing the
//! agent's exit against a grace period while its output is still being read.

use std::time::{Duration, Instant};

use rejoin_core::{Event, FailureClass, Outcome};

use crate::during::drain::Drain;
use crate::during::launch_result::Verdict;
use crate::during::pump::Pump;
use crate::supervisor::{Command, PATIENCE};

/// Where the stop ladder stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(crate) enum Rung {
    Interrupted,
    Terminated,
    Killed,
}

impl Pump<'_, '_> {
    pub(crate) fn on_cancel(&mut self) {
        for _ in 0..self.around.cancel.requests() {
            self.got.cancelled = true;
            match &self.stopping {
                _ if self.exited.is_some() => self.hurry(),
                None => {
                    // A turn that ended already ended as it did.
                    let ours = self.over.is_none().then_some(Verdict::Ended(Outcome::Cancelled));
                    self.stop(Rung::Interrupted, ours);
                }
                Some((Rung::Killed, ..)) => {}
                Some(_) => self.climb(Rung::Killed),
            }
        }
    }

    /// The agent is gone already, and something it left behind keeps us here.
    fn hurry(&mut self) {
        if let Some(drain) = &mut self.drain {
            drain.hurry();
        }
        if self.over.is_none() && self.stopping.is_none() {
            let ours = Verdict::Ended(Outcome::Cancelled);
            self.stopping = Some((Rung::Killed, Instant::now(), Some(ours)));
        }
    }

    /// Begins to stop the agent. `verdict` is what the turn then counts as, unless that was said.
    pub(crate) fn stop(&mut self, rung: Rung, verdict: Option<Verdict>) {
        // A wrong session is one even if its agent was too fast, or was being stopped already.
        let wrong = matches!(verdict, Some(Verdict::Rejected(_)));
        if wrong || (self.stopping.is_none() && self.exited.is_none()) {
            self.stopping = Some((rung, Instant::now(), verdict));
            self.climb(rung);
        }
    }

    fn climb(&mut self, to: Rung) {
        if let Some((rung, since, _)) = &mut self.stopping {
            (*rung, *since) = (to, Instant::now());
        }
        match to {
            Rung::Interrupted => {
                self.driver.interrupt(&mut self.steps);
                if self.steps.is_empty() {
                    self.child.tell(Command::Interrupt);
                }
                self.act();
            }
            Rung::Terminated => self.child.tell(Command::Terminate),
            Rung::Killed => self.child.tell(Command::Kill),
        }
    }

    pub(crate) fn watch_the_clock(&mut self) {
        if self.exited.is_some() {
            return;
        }
        let limits = self.around.limits;
        if self.outbox.trouble().is_some() {
            // What cannot be written down must not go on happening.
            let words = "the journal could not be written";
            self.stop(Rung::Killed, Some(Verdict::Ended(Outcome::failed(FailureClass::Other, words))));
        }
        if let Some((rung, since, _)) = &self.stopping {
            if *rung == Rung::Killed {
                if since.elapsed() >= PATIENCE {
                    self.child.kill_supervisor();
                }
            } else if since.elapsed() >= limits.grace {
                let next = if *rung == Rung::Interrupted { Rung::Terminated } else { Rung::Killed };
                self.climb(next);
            }
        } else if let Some(over) = self.over {
            if self.left_to_exit() == Some(Duration::ZERO) {
                let words = format!(
                    "the agent had not exited {} s after its turn ended and was stopped",
                    over.elapsed().as_secs()
                );
                self.got.warn(&words);
                self.outbox.emit(Event::Warning { code: "lingering".into(), text: words });
                self.stop(Rung::Terminated, None);
            }
        } else if let Some(limit) = limits.turn.filter(|limit| self.around.started.elapsed() >= *limit) {
            let message = format!("the turn took longer than {}", crate::during::text::seconds(limit));
            self.stop(Rung::Interrupted, Some(Verdict::Ended(Outcome::Timeout { message })));
        } else if let Some(limit) = self.idle_limit().filter(|limit| self.was_silent_for(*limit)) {
            let message = format!("nothing came from the agent for {}", crate::during::text::seconds(limit));
            self.stop(Rung::Interrupted, Some(Verdict::Ended(Outcome::Timeout { message })));
        } else {
            self.decline_unanswered();
        }
    }

    /// What stands in the pipe was said: only after a look into it silence is silence.
    fn was_silent_for(&self, limit: Duration) -> bool {
        self.heard_nothing && self.silence.lasted() >= limit
    }

    fn idle_limit(&self) -> Option<Duration> {
        self.around.limits.idle.filter(|_| self.open_tools.is_empty() && self.open_questions.is_empty())
    }

    /// How long the agent may still run on after its turn ended.
    fn left_to_exit(&self) -> Option<Duration> {
        let limits = self.around.limits;
        let to_exit = left(self.over?, limits.exit);
        if !self.compacting {
            return Some(to_exit);
        }
        let idle = limits.idle.map(|limit| limit.saturating_sub(self.silence.lasted()));
        let turn = limits.turn.map(|limit| left(self.around.started, limit).max(to_exit));
        idle.into_iter().chain(turn).min()
    }

    /// How long nothing may happen before the clock must be looked at again.
    pub(crate) fn patience(&self, reading: bool) -> Duration {
        // Nobody tells when there is room again.
        if !reading {
            return Duration::from_millis(5);
        }
        if self.exited.is_some() {
            return Drain::patience();
        }
        let limits = self.around.limits;
        let next = match &self.stopping {
            // After that its end of the socket tells.
            Some((Rung::Killed, since, _)) => Some(left(*since, PATIENCE)).filter(|left| !left.is_zero()),
            Some((_, since, _)) => Some(left(*since, limits.grace)),
            None if self.over.is_some() => self.left_to_exit(),
            None => {
                let turn = limits.turn.map(|limit| left(self.around.started, limit));
                let idle = self.idle_limit().map(|limit| limit.saturating_sub(self.silence.lasted()));
                turn.into_iter().chain(idle).chain(self.left_to_answer()).min()
            }
        };
        next.unwrap_or(Duration::from_mins(1)) + Duration::from_millis(1)
    }
}

/// What is left of a time.
fn left(since: Instant, limit: Duration) -> Duration {
    limit.saturating_sub(since.elapsed())
}
