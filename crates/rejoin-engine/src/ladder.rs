//! Limits, and the ladder by which an agent is stopped: interrupt, TERM, KILL, each racing the
//! agent's exit against a grace period while its output is still being read.

use std::time::{Duration, Instant};

use rejoin_core::{Event, FailureClass, Outcome};

use crate::harvest::Verdict;
use crate::pump::Pump;
use crate::supervisor::Command;

/// Where the stop ladder stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(crate) enum Rung {
    Interrupted,
    Terminated,
    Killed,
}

impl Pump<'_> {
    pub(crate) fn on_cancel(&mut self) {
        for _ in 0..self.around.cancel.requests() {
            self.got.cancelled = true;
            match &self.stopping {
                None => self.stop(Rung::Interrupted, Verdict::Ended(Outcome::Cancelled)),
                Some(_) => self.climb(Rung::Killed),
            }
        }
    }

    /// Begins to stop the agent.
    pub(crate) fn stop(&mut self, rung: Rung, verdict: Verdict) {
        // A wrong session is one even if its agent was too fast to be stopped.
        let matters = self.exited.is_none() || matches!(verdict, Verdict::Rejected(_));
        if self.stopping.is_none() && matters {
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
        if self.desk.is_broken() {
            // What cannot be written down must not go on happening.
            let words = "the journal could not be written";
            self.stop(Rung::Killed, Verdict::Ended(Outcome::failed(FailureClass::Other, words)));
        }
        if let Some((rung, since, _)) = &self.stopping {
            if since.elapsed() >= limits.grace && *rung < Rung::Killed {
                let next = if *rung == Rung::Interrupted { Rung::Terminated } else { Rung::Killed };
                self.climb(next);
            }
        } else if let Some(over) = self.over {
            if self.exit_limit().is_some_and(|(since, limit)| since.elapsed() >= limit) {
                let words = format!(
                    "the agent had not exited {} s after its turn ended and was stopped",
                    over.elapsed().as_secs()
                );
                self.got.warnings.push(words.clone());
                self.desk.emit(Event::Warning { code: "lingering".into(), text: words });
                self.stop(Rung::Terminated, Verdict::Ended(Outcome::Completed));
            }
        } else if let Some(limit) = limits.turn.filter(|limit| self.around.started.elapsed() >= *limit) {
            let message = format!("the turn took longer than {}", crate::text::seconds(limit));
            self.stop(Rung::Interrupted, Verdict::Ended(Outcome::Timeout { message }));
        } else if let Some(limit) = self.idle_limit().filter(|limit| self.alive.elapsed() >= *limit) {
            let message = format!("nothing came from the agent for {}", crate::text::seconds(limit));
            self.stop(Rung::Interrupted, Verdict::Ended(Outcome::Timeout { message }));
        }
    }

    fn idle_limit(&self) -> Option<Duration> {
        self.around.limits.idle.filter(|_| self.open_tools.is_empty() && self.open_questions.is_empty())
    }

    /// Since when, and how long, the agent may run on after its turn ended.
    fn exit_limit(&self) -> Option<(Instant, Duration)> {
        let limits = self.around.limits;
        match self.over? {
            _ if self.compacting => limits.idle.map(|idle| (self.alive, idle)),
            over => Some((over, limits.exit)),
        }
    }

    /// How long nothing may happen before the clock must be looked at again.
    pub(crate) fn patience(&self) -> Duration {
        if self.desk.is_full() {
            return Duration::from_millis(5);
        }
        if self.exited.is_some() {
            return Duration::from_millis(20);
        }
        let limits = self.around.limits;
        let left = |since: Instant, limit: Duration| limit.saturating_sub(since.elapsed());
        let turn = limits.turn.map(|limit| left(self.around.started, limit));
        let idle = self.idle_limit().map(|limit| left(self.alive, limit));
        let ladder = self.stopping.as_ref().map(|(_, since, _)| left(*since, limits.grace));
        let exit = self.exit_limit().map(|(since, limit)| left(since, limit));
        let next = [turn, idle, ladder, exit].into_iter().flatten().min();
        next.unwrap_or(Duration::from_mins(1)) + Duration::from_millis(1)
    }
}
