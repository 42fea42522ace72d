//! Browsers that were let in, in `$REJOIN_HOME/browsers.json`. Each has a cookie and a secret that only its page
//! knows, and needs both: a cookie alone goes to every program that listens on this machine.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::secret::{SecretHash, random};
use super::shared_file::SharedFile;

/// A browser that was not used for so long is let in no more.
pub(super) const UNUSED: Duration = Duration::from_hours(30 * 24);
/// Its use is noted so often: noting each would write a file with every request.
const NOTED: Duration = Duration::from_hours(1);
/// With more, the one that was not used for the longest time is out.
const MOST: usize = 64;

/// One browser.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Browser {
    id: Uuid,
    /// The id of the token whose code let it in: it has the rights that one has.
    token: String,
    cookie: SecretHash,
    secret: SecretHash,
    /// When it was used, roughly, in seconds since 1970.
    used: u64,
}

#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Kept {
    browsers: Vec<Browser>,
}

/// The browsers of one home.
pub(super) struct Browsers(SharedFile<Kept>);

/// What a browser is given when it is let in.
pub(crate) struct LetIn {
    /// For the cookie, which its page cannot read.
    pub(crate) cookie: String,
    /// For its page.
    pub(crate) secret: String,
}

/// A browser that asks.
pub(super) struct Known {
    pub(super) id: Uuid,
    /// The token whose rights it has.
    pub(super) token: String,
    /// Whether [`Browsers::note_use`] should be called.
    pub(super) stale: bool,
}

impl Browsers {
    pub(super) fn of(home: &Path) -> Self {
        Self(SharedFile::expendable_json(home.join("browsers.json")))
    }

    /// Lets one in, with the rights of a token.
    pub(super) fn let_in(&self, token: &str, now: SystemTime) -> Result<LetIn, rejoin::Error> {
        let given = LetIn { cookie: random()?, secret: random()? };
        let browser = Browser {
            id: Uuid::new_v4(),
            token: token.to_owned(),
            cookie: SecretHash::of(&given.cookie),
            secret: SecretHash::of(&given.secret),
            used: seconds(now),
        };
        self.0.change(|kept| {
            kept.browsers.retain(|browser| browser.lives(now));
            kept.browsers.sort_by_key(|browser| std::cmp::Reverse(browser.used));
            kept.browsers.truncate(MOST - 1);
            kept.browsers.push(browser);
            Ok(())
        })?;
        Ok(given)
    }

    /// The one with any of these cookies and this secret.
    pub(super) fn find<'a>(
        &self,
        cookies: impl Iterator<Item = &'a str>,
        secret: &str,
        now: SystemTime,
    ) -> Option<Known> {
        let kept = self.0.get().ok()?;
        let secret = SecretHash::of(secret);
        let mut found = None;
        for cookie in cookies {
            let cookie = SecretHash::of(cookie);
            for browser in &kept.browsers {
                // Both are compared, always.
                if browser.cookie.is(&cookie) & browser.secret.is(&secret) && browser.lives(now) {
                    found = Some(browser);
                }
            }
        }
        found.map(|browser| Known {
            id: browser.id,
            token: browser.token.clone(),
            stale: seconds(now).saturating_sub(browser.used) > NOTED.as_secs(),
        })
    }

    /// Notes that one was used.
    pub(super) fn note_use(&self, id: Uuid, now: SystemTime) -> Result<(), rejoin::Error> {
        self.0.change(|kept| {
            for browser in kept.browsers.iter_mut().filter(|browser| browser.id == id) {
                browser.used = browser.used.max(seconds(now));
            }
            Ok(())
        })
    }

    /// Lets one in no more.
    pub(super) fn end(&self, id: Uuid) -> Result<(), rejoin::Error> {
        self.0.change(|kept| {
            kept.browsers.retain(|browser| browser.id != id);
            Ok(())
        })
    }
}

impl Browser {
    fn lives(&self, now: SystemTime) -> bool {
        seconds(now).saturating_sub(self.used) < UNUSED.as_secs()
    }
}

pub(super) fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map(|since| since.as_secs()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_hours(24);

    fn knows(browsers: &Browsers, given: &LetIn, now: SystemTime) -> bool {
        browsers.find([given.cookie.as_str()].into_iter(), &given.secret, now).is_some()
    }

    #[test]
    fn cookie_and_secret_are_needed_both_and_of_the_same_browser() {
        let home = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        let browsers = Browsers::of(home.path());
        let [one, other] = [(); 2].map(|()| browsers.let_in("main", now).unwrap());
        assert!(knows(&browsers, &one, now) && knows(&browsers, &other, now));
        let find = |cookie: &str, secret: &str| browsers.find([cookie].into_iter(), secret, now).is_some();
        assert!(!find(&one.cookie, &other.secret));
        assert!(!find(&one.cookie, "") && !find("", &one.secret) && !find("", ""));
        assert!(!find(&one.secret, &one.cookie));
        let tossed = ["theirs", one.cookie.as_str()].into_iter();
        assert!(browsers.find(tossed, &one.secret, now).is_some(), "another program may have set one, too");
    }

    #[test]
    fn they_outlive_the_daemon_but_not_thirty_days_without_use() {
        let home = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        let given = Browsers::of(home.path()).let_in("main", now).unwrap();
        let browsers = Browsers::of(home.path());
        assert!(knows(&browsers, &given, now + 29 * DAY));
        assert!(!knows(&browsers, &given, now + 30 * DAY));
        let known =
            browsers.find([given.cookie.as_str()].into_iter(), &given.secret, now + 29 * DAY).unwrap();
        assert!(known.stale);
        browsers.note_use(known.id, now + 29 * DAY).unwrap();
        assert!(knows(&browsers, &given, now + 58 * DAY));
        browsers.end(known.id).unwrap();
        assert!(!knows(&browsers, &given, now));
    }

    #[test]
    fn their_number_is_bounded_and_the_one_unused_for_longest_goes() {
        let home = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        let browsers = Browsers::of(home.path());
        let second = Duration::from_secs(1);
        let all: Vec<LetIn> =
            (0..=MOST as u32).map(|n| browsers.let_in("main", now + n * second).unwrap()).collect();
        assert!(!knows(&browsers, &all[0], now));
        assert!(all[1..].iter().all(|given| knows(&browsers, given, now)));
        let file = std::fs::read_to_string(home.path().join("browsers.json")).unwrap();
        assert!(all.iter().all(|given| !file.contains(&given.cookie) && !file.contains(&given.secret)));
    }
}
