//! Secrets, and what is kept of them: a hash, which is compared in constant time.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rejoin_engine::TurnError;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// 256 random bits, printable, in a form that needs no quotes anywhere.
pub(super) fn random() -> Result<String, rejoin::Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| TurnError::System {
        what: "the system gives no random numbers".to_owned(),
        cause: std::io::Error::other(error.to_string()),
    })?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// A new token. What it begins with lets scanners of repositories and logs find one that leaked.
pub(super) fn random_token() -> Result<String, rejoin::Error> {
    Ok(format!("rj_{}", random()?))
}

/// What is kept of a secret. Secrets are random and long, so a plain hash cannot be searched.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(super) struct SecretHash([u8; 32]);

impl SecretHash {
    pub(super) fn of(secret: &str) -> Self {
        Self(Sha256::digest(secret.as_bytes()).into())
    }

    /// Takes as long whether they are equal or not.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }

    /// Enough of it to tell two secrets apart, and too little to be one.
    pub(super) fn short(&self) -> String {
        self.to_string()[..12].to_owned()
    }
}

impl fmt::Display for SecretHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl From<SecretHash> for String {
    fn from(hash: SecretHash) -> Self {
        hash.to_string()
    }
}

impl TryFrom<String> for SecretHash {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        const WRONG: &str = "a SHA-256 of 64 hexadecimal digits was expected";
        let mut hash = [0; 32];
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(WRONG);
        }
        for (place, digits) in hash.iter_mut().zip(text.as_bytes().chunks(2)) {
            let digits = std::str::from_utf8(digits).map_err(|_| WRONG)?;
            *place = u8::from_str_radix(digits, 16).map_err(|_| WRONG)?;
        }
        Ok(Self(hash))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_the_same_after_it_was_written_and_read() {
        let hash = SecretHash::of("abc");
        let text = serde_json::to_string(&hash).unwrap();
        assert_eq!(text, "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"");
        let read: SecretHash = serde_json::from_str(&text).unwrap();
        assert!(read.is(&hash) && !read.is(&SecretHash::of("abd")));
        for damaged in ["\"\"", "\"ba78\"", &text.replace("ba", "+a")] {
            assert!(serde_json::from_str::<SecretHash>(damaged).is_err(), "{damaged}");
        }
    }

    #[test]
    fn tokens_are_long_and_differ() {
        let [one, other] = [(); 2].map(|()| random_token().unwrap());
        assert_ne!(one, other);
        assert!(one.starts_with("rj_") && one.len() == 46, "{one}");
    }
}
