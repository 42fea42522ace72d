//! An agent that does nothing but try again is past a limit after a while.

use std::time::Instant;

use rejoin_agents::tells_of_limit;
use rejoin_core::{FailureClass, Outcome};

use crate::during::launch_result::Verdict;
use crate::during::pump::Pump;
use crate::during::stop::Rung;

impl Pump<'_, '_> {
    /// It tries again, and says why. Looked at only when it says so: while it is silent, its model may be working.
    pub(crate) fn on_retry(&mut self, words: &str) {
        if !tells_of_limit(words) || self.got.active {
            self.limited_since = None;
            return;
        }
        let since = *self.limited_since.get_or_insert_with(Instant::now);
        let Some(limit) = self.around.limits.until_limit() else { return };
        if since.elapsed() >= limit && self.over.is_none() && self.open_questions.is_empty() {
            let time = crate::during::text::seconds(limit);
            let text = format!("for {time} it was only told to try again later: {words}");
            let past = Verdict::Ended(Outcome::failed(FailureClass::Quota, text));
            self.stop(Rung::Interrupted, Some(past));
        }
    }
}
