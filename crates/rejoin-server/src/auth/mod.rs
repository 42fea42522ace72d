//! Who asks: tokens, browsers, and what no request may be without.
//!
//! `gate` is passed by every request: it looks at host and origin (`hosts`), at what the request brings
//! (`main_token`, `named_tokens`, `browsers`), and notes in it the [`Caller`](crate::caller::Caller). Everything that
//! is kept is kept in small files of the home (`shared_file`), which commands change while a daemon runs.

mod admission;
pub(crate) mod ancestry;
mod browsers;
mod failures;
mod gate;
mod hosts;
mod login_codes;
mod login_url;
mod main_token;
mod named_tokens;
mod peer;
mod safe_headers;
mod secret;
mod shared_file;

pub(crate) use admission::{Auth, Proof, Via, on_disk};
pub(crate) use gate::gate;
pub(crate) use hosts::Hosts;
pub(crate) use login_codes::GOOD_FOR as CODE_GOOD_FOR;
pub use login_url::new_login_url;
pub use main_token::MainToken;
pub use named_tokens::{Ceiling, NamedToken, NamedTokens, WantedToken};
pub(crate) use peer::Peer;
