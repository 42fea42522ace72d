//! The token in `$REJOIN_HOME/token`: that of the user himself, with every right.

use std::path::Path;

use rejoin_engine::TurnError;

use super::secret::{SecretHash, random_token};
use super::shared_file::SharedFile;

/// Shorter ones could be guessed. Somebody may put one of his own there.
const SHORTEST: usize = 32;

/// The token of the user himself, of one home.
pub struct MainToken(SharedFile<String>);

impl MainToken {
    /// That of a home, which need not have one yet.
    pub fn of(home: &Path) -> Self {
        Self(SharedFile::new(home.join("token"), parse))
    }

    /// The token; it is made if there is none.
    pub fn read_or_make(&self) -> Result<String, rejoin::Error> {
        if let Some(token) = self.read()? {
            return Ok(token);
        }
        let _lock = self.0.lock()?;
        // Somebody may have made it meanwhile.
        match self.read()? {
            Some(token) => Ok(token),
            None => self.put_new(),
        }
    }

    /// Replaces it. Whoever has only the old one, and every browser that was let in by it, is out at once.
    pub fn rotate(&self) -> Result<String, rejoin::Error> {
        let _lock = self.0.lock()?;
        self.put_new()
    }

    fn read(&self) -> Result<Option<String>, rejoin::Error> {
        match self.0.read() {
            Ok(token) => Ok(token.map(|token| (*token).clone())),
            Err(error) => {
                Err(TurnError::Usage(format!("{error} (`rejoin token --rotate` makes a new one)")).into())
            }
        }
    }

    fn put_new(&self) -> Result<String, rejoin::Error> {
        let token = random_token()?;
        self.0.replace(format!("{token}\n").as_bytes())?;
        Ok(token)
    }

    /// The hash of the one that counts now, if there is one.
    pub(super) fn hash(&self) -> Option<SecretHash> {
        let token = self.0.read().ok()??;
        Some(SecretHash::of(&token))
    }
}

fn parse(bytes: &[u8]) -> Result<String, String> {
    let token = bytes.trim_ascii();
    match String::from_utf8(token.to_vec()) {
        Ok(token) if token.len() >= SHORTEST && token.bytes().all(|byte| byte.is_ascii_graphic()) => {
            Ok(token)
        }
        _ => Err(format!("a token has {SHORTEST} or more printable characters and no spaces")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn it_is_made_once_for_the_owner_alone_and_stays() {
        let home = tempfile::tempdir().unwrap();
        let made = MainToken::of(home.path()).read_or_make().unwrap();
        assert_eq!(MainToken::of(home.path()).read_or_make().unwrap(), made);
        let path = home.path().join("token");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_to_string(path).unwrap(), format!("{made}\n"));
    }

    #[test]
    fn one_that_is_replaced_by_another_process_counts_at_once() {
        let home = tempfile::tempdir().unwrap();
        let ours = MainToken::of(home.path());
        let old = SecretHash::of(&ours.read_or_make().unwrap());
        assert!(ours.hash().unwrap().is(&old));
        let new = SecretHash::of(&MainToken::of(home.path()).rotate().unwrap());
        assert!(ours.hash().unwrap().is(&new) && !new.is(&old));
    }

    #[test]
    fn an_empty_or_short_one_counts_for_nothing() {
        let home = tempfile::tempdir().unwrap();
        let token = MainToken::of(home.path());
        for damaged in ["", "\n", "short", "with spaces in it, which no header should have"] {
            fs::write(home.path().join("token"), damaged).unwrap();
            assert!(token.hash().is_none(), "{damaged:?}");
            assert!(token.read_or_make().unwrap_err().to_string().contains("--rotate"));
        }
        assert!(token.rotate().is_ok() && token.hash().is_some());
    }
}
