//! Whom the daemon lets in, and with which rights.

use std::path::Path;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use uuid::Uuid;

use super::browsers::{Browsers, LetIn, UNUSED};
use super::failures::Failures;
use super::hosts::Hosts;
use super::login_codes::LoginCodes;
use super::main_token::MainToken;
use super::named_tokens::{NamedToken, NamedTokens};
use super::peer::{Peer, PeerGroup};
use super::secret::SecretHash;
use crate::app::Shared;
use crate::caller::{Caller, TokenScope};
use crate::problem::{Code, Problem};

/// Who may ask.
pub(crate) struct Auth {
    main: MainToken,
    pub(crate) named: NamedTokens,
    browsers: Arc<Browsers>,
    codes: LoginCodes,
    failures: Failures,
    hosts: Hosts,
}

/// What a request brings to show who sends it.
pub(crate) enum Proof<'a> {
    /// A token.
    Bearer(&'a str),
    /// A cookie (or several of that name), and what only the page knows.
    Browser { cookies: Vec<&'a str>, secret: &'a str },
}

/// By what a caller was let in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Via {
    /// A token of its own.
    Bearer,
    /// A browser, by its id.
    Browser(Uuid),
}

/// Somebody who was let in.
pub(super) struct Admitted {
    pub(super) caller: Caller,
    pub(super) via: Via,
}

impl Auth {
    /// Those of a home, which gets a token if it has none, at a daemon with these names.
    pub(crate) fn open(home: &Path, hosts: Hosts) -> Result<Self, rejoin::Error> {
        let main = MainToken::of(home);
        main.read_or_make()?;
        Ok(Self {
            main,
            named: NamedTokens::of(home),
            browsers: Arc::new(Browsers::of(home)),
            codes: LoginCodes::of(home),
            failures: Failures::new(),
            hosts,
        })
    }

    pub(super) fn hosts(&self) -> &Hosts {
        &self.hosts
    }

    /// Who brings this, if anybody.
    pub(super) fn admit(&self, proof: &Proof<'_>) -> Option<Admitted> {
        match proof {
            Proof::Bearer(token) => {
                let given = SecretHash::of(token);
                let main = self.main.hash().filter(|main| main.is(&given)).map(main_caller);
                let caller = main.or_else(|| self.named.with_secret(&given).map(named_caller))?;
                Some(Admitted { caller, via: Via::Bearer })
            }
            Proof::Browser { cookies, secret } => {
                let now = SystemTime::now();
                let known = self.browsers.find(cookies.iter().copied(), secret, now)?;
                // Not those it had when it was let in.
                let caller = self.caller_now(&known.token)?;
                if known.stale {
                    let (browsers, id) = (Arc::clone(&self.browsers), known.id);
                    tokio::task::spawn_blocking(move || {
                        if let Err(error) = browsers.note_use(id, now) {
                            tracing::warn!(%error, "cannot note that a browser was used");
                        }
                    });
                }
                Some(Admitted { caller, via: Via::Browser(known.id) })
            }
        }
    }

    /// The rights that a token has right now, by its id; `None` if it was revoked or replaced. Asked again whenever
    /// something that waited is begun.
    pub(crate) fn caller_now(&self, token_id: &str) -> Option<Caller> {
        match Uuid::try_parse(token_id) {
            Ok(id) => self.named.with_id(id).map(named_caller),
            Err(_) => self.main.hash().map(main_caller).filter(|main| main.token == token_id),
        }
    }

    /// The answer to somebody who brought something wrong: late, and later each time.
    pub(crate) async fn refuse(&self, peer: Option<Peer>, what: &str) -> Problem {
        let verdict = self.failures.note(peer.map_or(PeerGroup::Unix, Peer::group), Instant::now());
        if verdict.log {
            tracing::warn!(?peer, "refused: {what}");
        }
        let waited = self.failures.wait(verdict).await;
        if verdict.too_many || !waited {
            return Problem::new(Code::TooMany, "too many attempts failed")
                .hint("`rejoin token` prints the token that counts, `rejoin serve --url` lets a browser in")
                .retry_after(60);
        }
        Problem::new(Code::Unauthorized, what)
            .hint("`rejoin token` prints the token that counts, `rejoin serve --url` lets a browser in")
    }

    /// A code that lets one browser in, once, within five minutes, as the user himself.
    pub(crate) fn new_code(&self) -> Result<String, rejoin::Error> {
        self.code_for(&main_id(&SecretHash::of(&self.main.read_or_make()?)))
    }

    /// A code that gives a browser the rights of this token.
    pub(crate) fn code_for(&self, token_id: &str) -> Result<String, rejoin::Error> {
        self.codes.create(token_id, SystemTime::now())
    }

    /// Lets a browser in; `None` if the code is wrong, used, too old, or of a token that is no more.
    pub(crate) fn log_in(&self, code: &str) -> Result<Option<LetIn>, rejoin::Error> {
        let now = SystemTime::now();
        let token = self.codes.take(code, now)?.filter(|token| self.caller_now(token).is_some());
        token.map(|token| self.browsers.let_in(&token, now)).transpose()
    }

    /// Ends a browser's cookie and secret.
    pub(crate) fn log_out(&self, browser: Uuid) -> Result<(), rejoin::Error> {
        self.browsers.end(browser)
    }

    /// `Set-Cookie` for what a browser was given.
    pub(crate) fn cookie(&self, value: &str) -> String {
        self.set_cookie(value, UNUSED.as_secs())
    }

    /// `Set-Cookie` that takes it away.
    pub(crate) fn no_cookie(&self) -> String {
        self.set_cookie("", 0)
    }

    fn set_cookie(&self, value: &str, seconds: u64) -> String {
        let secure = if self.hosts.secure { "; Secure" } else { "" };
        let name = self.hosts.cookie();
        format!("{name}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={seconds}{secure}")
    }
}

/// Carries out what changes the files of tokens and browsers on a thread that may wait for the disk.
pub(crate) async fn on_disk<T: Send + 'static>(
    app: &Shared,
    work: impl FnOnce(&Auth) -> Result<T, rejoin::Error> + Send + 'static,
) -> Result<T, Problem> {
    let app = Arc::clone(app);
    let done = tokio::task::spawn_blocking(move || work(&app.auth)).await;
    Ok(done.map_err(|error| Problem::lost(&error))??)
}

/// It changes with the token: what was begun with one that was replaced is not the new one's.
pub(super) fn main_id(hash: &SecretHash) -> String {
    format!("main-{}", hash.short())
}

fn main_caller(hash: SecretHash) -> Caller {
    Caller { token: main_id(&hash), scopes: TokenScope::ALL.to_vec(), ceiling: None, projects: None }
}

fn named_caller(token: NamedToken) -> Caller {
    Caller {
        token: token.id.to_string(),
        scopes: token.scopes,
        ceiling: token.ceiling.map(Into::into),
        projects: token.projects,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Mutex;

    use super::*;
    use crate::auth::{Ceiling, WantedToken};
    use crate::listen::{Listen, Protection};

    fn auth(home: &Path) -> Auth {
        let address = Some("127.0.0.1:7717".parse().unwrap());
        Auth::open(home, Hosts::of(&Listen::Loopback(7717), address, &[])).unwrap()
    }

    fn phone() -> WantedToken {
        let scopes = vec![TokenScope::Read];
        WantedToken { name: "phone".into(), scopes, ceiling: Some(Ceiling::Read), projects: None }
    }

    fn bearer(auth: &Auth, token: &str) -> Option<String> {
        auth.admit(&Proof::Bearer(token)).map(|admitted| admitted.caller.token)
    }

    fn enters(auth: &Auth, given: &LetIn) -> bool {
        auth.admit(&Proof::Browser { cookies: vec![&given.cookie], secret: &given.secret }).is_some()
    }

    #[test]
    fn rights_are_those_of_now_and_end_with_the_token() {
        let home = tempfile::tempdir().unwrap();
        let auth = auth(home.path());
        let main = MainToken::of(home.path()).read_or_make().unwrap();
        let main_id = bearer(&auth, &main).unwrap();
        assert_eq!(auth.caller_now(&main_id).unwrap().scopes, TokenScope::ALL);
        assert_eq!(bearer(&auth, ""), None);
        let (named, secret) = NamedTokens::of(home.path()).create(&phone(), SystemTime::now()).unwrap();
        let named_id = bearer(&auth, &secret).unwrap();
        assert_eq!(named_id, named.id.to_string());
        assert_eq!(auth.caller_now(&named_id).unwrap().ceiling, Some(rejoin::Permissions::Read));
        NamedTokens::of(home.path()).revoke("phone").unwrap();
        let new = MainToken::of(home.path()).rotate().unwrap();
        for (token, id) in [(&secret, &named_id), (&main, &main_id)] {
            assert!(bearer(&auth, token).is_none() && auth.caller_now(id).is_none());
        }
        assert_ne!(bearer(&auth, &new), Some(main_id));
    }

    #[test]
    fn a_browser_has_the_rights_of_the_token_whose_code_let_it_in_as_long_as_that_counts() {
        let home = tempfile::tempdir().unwrap();
        let auth = auth(home.path());
        let of_main = auth.log_in(&auth.new_code().unwrap()).unwrap().unwrap();
        let (named, _) = auth.named.create(&phone(), SystemTime::now()).unwrap();
        let of_phone = auth.log_in(&auth.code_for(&named.id.to_string()).unwrap()).unwrap().unwrap();
        let unused = auth.code_for(&named.id.to_string()).unwrap();
        assert!(enters(&auth, &of_main) && enters(&auth, &of_phone));
        auth.named.revoke("phone").unwrap();
        assert!(enters(&auth, &of_main) && !enters(&auth, &of_phone));
        assert!(auth.log_in(&unused).unwrap().is_none(), "its token is no more");
        MainToken::of(home.path()).rotate().unwrap();
        assert!(!enters(&auth, &of_main), "whoever had the old token may have let it in");
    }

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl Write for Log {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_is_refused_waits_and_is_logged_with_its_origin() {
        let home = tempfile::tempdir().unwrap();
        let auth = auth(home.path());
        let log = Log::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone()).finish();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let (theirs, ours) = ("192.0.2.9:5000".parse().unwrap(), "192.0.2.1:7717".parse().unwrap());
        let began = Instant::now();
        let problem = tracing::subscriber::with_default(subscriber, || {
            runtime.block_on(auth.refuse(Some(Peer::Tcp { theirs, ours }), "a wrong one"))
        });
        assert!(began.elapsed().as_millis() >= 50);
        assert_eq!(problem.code(), Code::Unauthorized);
        let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        assert!(log.contains("refused: a wrong one") && log.contains("192.0.2.9"), "{log}");
    }

    #[test]
    fn the_cookie_is_for_this_daemon_alone() {
        let home = tempfile::tempdir().unwrap();
        let cookie = auth(home.path()).cookie("x");
        assert_eq!(cookie, "rejoin_7717=x; HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000");
        let address = "192.0.2.1:8443".parse().unwrap();
        let listen = Listen::Address { address, protection: Protection::Proxy };
        let cookie = Auth::open(home.path(), Hosts::of(&listen, Some(address), &[])).unwrap().cookie("x");
        assert!(cookie.starts_with("rejoin_8443=x;") && cookie.ends_with("; Secure"), "{cookie}");
    }
}
