//! The address that lets a browser into a daemon which runs already.

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::{Duration, SystemTime};

use rejoin_engine::TurnError;
use serde::Deserialize;

use super::admission::main_id;
use super::login_codes::LoginCodes;
use super::main_token::MainToken;
use super::secret::SecretHash;

/// What of `daemon.json` is needed here.
#[derive(Deserialize)]
struct Whereabouts {
    address: Option<SocketAddr>,
    url: Option<String>,
}

/// An address for a browser, good once and for five minutes, of the daemon that runs on this home.
pub fn new_login_url(home: &Path) -> Result<String, rejoin::Error> {
    let nobody =
        || TurnError::NotFound("no daemon runs on this home; start one with `rejoin serve`".to_owned());
    let note = fs::read(home.join("daemon.json")).map_err(|_| nobody())?;
    let note: Whereabouts = serde_json::from_slice(&note).map_err(|_| nobody())?;
    let (address, url) = note.address.zip(note.url).ok_or_else(|| {
        TurnError::Usage(
            "the daemon listens on a socket in the file system, which no browser reaches".to_owned(),
        )
    })?;
    // A daemon that was killed leaves its note behind.
    TcpStream::connect_timeout(&address, Duration::from_secs(2)).map_err(|_| nobody())?;
    let main = SecretHash::of(&MainToken::of(home).read_or_make()?);
    let code = LoginCodes::of(home).create(&main_id(&main), SystemTime::now())?;
    Ok(format!("{url}/#k={code}"))
}
