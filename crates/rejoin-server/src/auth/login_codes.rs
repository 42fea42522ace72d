//! Codes that let a browser in, each good once and for five minutes, in `$REJOIN_HOME/login-codes.json`: a command
//! can make one for a daemon that runs already, whatever that listens on. Only their hashes are kept.

use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::browsers::seconds;
use super::secret::{SecretHash, random};
use super::shared_file::SharedFile;

/// How long one is good.
pub(crate) const GOOD_FOR: Duration = Duration::from_mins(5);
/// With more of them, the oldest one is good no more.
const MOST: usize = 32;

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Code {
    sha256: SecretHash,
    /// The id of the token whose rights it gives.
    token: String,
    /// In seconds since 1970.
    made: u64,
}

impl Code {
    /// A clock that was set back makes none good for longer.
    fn is_good(&self, now: SystemTime) -> bool {
        seconds(now).abs_diff(self.made) < GOOD_FOR.as_secs()
    }
}

#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Kept {
    codes: Vec<Code>,
}

/// The codes of one home.
pub(super) struct LoginCodes(SharedFile<Kept>);

impl LoginCodes {
    pub(super) fn of(home: &Path) -> Self {
        Self(SharedFile::expendable_json(home.join("login-codes.json")))
    }

    /// A new one, which gives the rights of a token.
    pub(super) fn create(&self, token: &str, now: SystemTime) -> Result<String, rejoin::Error> {
        let code = random()?;
        let kept = Code { sha256: SecretHash::of(&code), token: token.to_owned(), made: seconds(now) };
        self.0.change(|known| {
            known.codes.retain(|code| code.is_good(now));
            let too_many = (known.codes.len() + 1).saturating_sub(MOST);
            known.codes.drain(..too_many);
            known.codes.push(kept);
            Ok(())
        })?;
        Ok(code)
    }

    /// Uses one up, and gives the id of the token whose rights it gives; `None` for one that is wrong, used or too old.
    pub(super) fn take(&self, code: &str, now: SystemTime) -> Result<Option<String>, rejoin::Error> {
        let given = SecretHash::of(code);
        // A wrong one does not make the disk work.
        let good = |code: &Code| code.sha256.is(&given) & code.is_good(now);
        if !self.0.get()?.codes.iter().fold(false, |found, code| found | good(code)) {
            return Ok(None);
        }
        self.0.change(|known| {
            let taken = known.codes.iter().position(good).map(|place| known.codes.remove(place));
            Ok(taken.map(|code| code.token))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_code_is_good_once_and_for_five_minutes() {
        let home = tempfile::tempdir().unwrap();
        let [ours, theirs] = [(); 2].map(|()| LoginCodes::of(home.path()));
        let now = SystemTime::now();
        let take = |code: &str, when| ours.take(code, when).unwrap();
        let code = theirs.create("main", now).unwrap();
        assert_eq!(take("wrong", now), None);
        assert_eq!(take("", now), None);
        assert_eq!(take(&code, now + 299 * SECOND), Some("main".to_owned()));
        assert_eq!(take(&code, now + 299 * SECOND), None, "it was used");
        let code = theirs.create("main", now).unwrap();
        assert_eq!(take(&code, now + 300 * SECOND), None, "it is too old");
        assert_eq!(take(&code, now - 301 * SECOND), None, "the clock was set back");
        let file = std::fs::read_to_string(home.path().join("login-codes.json")).unwrap();
        assert!(!file.contains(&code), "{file}");
    }

    #[test]
    fn of_many_codes_the_newest_are_good() {
        let home = tempfile::tempdir().unwrap();
        let codes = LoginCodes::of(home.path());
        let now = SystemTime::now();
        let made: Vec<String> = (0..=MOST).map(|_| codes.create("main", now).unwrap()).collect();
        assert_eq!(codes.take(&made[0], now).unwrap(), None);
        assert!(made[1..].iter().all(|code| codes.take(code, now).unwrap().is_some()));
    }
}
