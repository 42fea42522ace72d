//! Tokens with a name and less than every right, in `$REJOIN_HOME/tokens.json`: of the secrets only hashes.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::SystemTime;

use rejoin::Permissions;
use rejoin_engine::TurnError;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::secret::{SecretHash, random_token};
use super::shared_file::SharedFile;
use crate::caller::TokenScope;

/// Nobody needs more, and each is compared with what a request brings.
const MOST: usize = 256;
const LONGEST_NAME: usize = 64;

/// The widest level at which turns of a token may run. Level `agent` is none: nobody knows how wide it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ceiling {
    /// Agents look and change nothing.
    Read,
    /// Agents change files of the project.
    Edit,
    /// Agents do anything, without asking.
    Full,
}

impl From<Ceiling> for Permissions {
    fn from(ceiling: Ceiling) -> Self {
        match ceiling {
            Ceiling::Read => Permissions::Read,
            Ceiling::Edit => Permissions::Edit,
            Ceiling::Full => Permissions::Full,
        }
    }
}

impl fmt::Display for Ceiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Permissions::from(*self).name())
    }
}

impl FromStr for Ceiling {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "read" => Ok(Self::Read),
            "edit" => Ok(Self::Edit),
            "full" => Ok(Self::Full),
            _ => Err(format!("{text:?} is no ceiling: read, edit or full")),
        }
    }
}

/// A token, without its secret.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct NamedToken {
    /// Names it for ever: a later token with its name has another one.
    pub id: Uuid,
    /// Names it for people.
    pub name: String,
    /// What it is good for.
    pub scopes: Vec<TokenScope>,
    /// The widest level at which its turns may run; without one, they run as the command line's do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<Ceiling>,
    /// The only projects it sees, by their real paths; all if there is no list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<String>>)]
    pub projects: Option<Vec<PathBuf>>,
    /// When it was made.
    pub created: String,
}

/// A token that is to be made.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WantedToken {
    /// Names it for people; no other token may have this name.
    pub name: String,
    /// What it shall be good for.
    pub scopes: Vec<TokenScope>,
    /// The widest level at which its turns may run.
    #[serde(default)]
    pub ceiling: Option<Ceiling>,
    /// The only projects it shall see; all without a list.
    #[serde(default)]
    #[schema(value_type = Option<Vec<String>>)]
    pub projects: Option<Vec<PathBuf>>,
}

/// As it stands in the file.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptToken {
    sha256: SecretHash,
    token: NamedToken,
}

#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Kept {
    tokens: Vec<KeptToken>,
}

/// The tokens of one home that have names.
pub struct NamedTokens(SharedFile<Kept>);

impl NamedTokens {
    /// Those of a home, which need not have any.
    pub fn of(home: &Path) -> Self {
        Self(SharedFile::json(home.join("tokens.json")))
    }

    /// All of them, the oldest first.
    pub fn list(&self) -> Result<Vec<NamedToken>, rejoin::Error> {
        Ok(self.0.get()?.tokens.iter().map(|kept| kept.token.clone()).collect())
    }

    /// Makes one, and gives its secret, which nobody can find out later. A running daemon knows it at once.
    pub fn create(
        &self,
        wanted: &WantedToken,
        now: SystemTime,
    ) -> Result<(NamedToken, String), rejoin::Error> {
        let token = wanted.checked(now)?;
        let secret = self.add(&token)?;
        Ok((token, secret))
    }

    /// Takes one up, and gives it a secret.
    pub(crate) fn add(&self, token: &NamedToken) -> Result<String, rejoin::Error> {
        let secret = random_token()?;
        let sha256 = SecretHash::of(&secret);
        self.0.change(|kept| {
            if kept.tokens.iter().any(|known| known.token.name == token.name) {
                return Err(usage(format!(
                    "there is a token {:?} already; choose another name, or revoke that one",
                    token.name
                )));
            }
            if kept.tokens.len() >= MOST {
                return Err(usage(format!("there are {MOST} tokens already; revoke what is not used")));
            }
            kept.tokens.push(KeptToken { sha256, token: token.clone() });
            Ok(())
        })?;
        Ok(secret)
    }

    /// Takes one away, by its name or id, and gives what it was. It is good for nothing from now on.
    pub fn revoke(&self, name_or_id: &str) -> Result<NamedToken, rejoin::Error> {
        let id = Uuid::try_parse(name_or_id).ok();
        self.0.change(|kept| {
            let is_it = |known: &KeptToken| {
                Some(known.token.id) == id || (id.is_none() && known.token.name == name_or_id)
            };
            if let Some(place) = kept.tokens.iter().position(is_it) {
                return Ok(kept.tokens.remove(place).token);
            }
            let names = kept.tokens.iter().map(|known| known.token.name.clone());
            let near = rejoin::suggestion(name_or_id, names);
            Err(TurnError::NotFound(format!("there is no token {name_or_id:?}{near}")).into())
        })
    }

    /// The one with this secret. A damaged file has none.
    pub(super) fn with_secret(&self, secret: &SecretHash) -> Option<NamedToken> {
        self.find(|kept| kept.sha256.is(secret))
    }

    /// The one with this id.
    pub(super) fn with_id(&self, id: Uuid) -> Option<NamedToken> {
        self.find(|kept| kept.token.id == id)
    }

    fn find(&self, is_it: impl Fn(&KeptToken) -> bool) -> Option<NamedToken> {
        let kept: Arc<Kept> = self.0.get().ok()?;
        // All are looked at, so that the time it takes does not tell which one it is.
        let found: Vec<&KeptToken> = kept.tokens.iter().filter(|kept| is_it(kept)).collect();
        found.first().map(|kept| kept.token.clone())
    }
}

impl WantedToken {
    /// The token that is wanted, if there can be one.
    pub(crate) fn checked(&self, now: SystemTime) -> Result<NamedToken, rejoin::Error> {
        let name = &self.name;
        let allowed = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(allowed) || name.starts_with('-')
        {
            return Err(usage(format!(
                "{name:?} cannot be the name of a token: take up to {LONGEST_NAME} letters, digits, '-', '_' and '.'"
            )));
        }
        if Uuid::try_parse(name).is_ok() {
            return Err(usage("the name of a token cannot look like an id".to_owned()));
        }
        let mut scopes = self.scopes.clone();
        scopes.sort_unstable();
        scopes.dedup();
        if scopes.is_empty() {
            return Err(usage("a token needs a scope: read, prompt, answer or admin".to_owned()));
        }
        let projects = self.projects.as_ref().map(|projects| real_paths(projects)).transpose()?;
        if projects.as_ref().is_some_and(Vec::is_empty) {
            return Err(usage("a list of projects names one at least; leave it out for all".to_owned()));
        }
        let created = jiff::Timestamp::try_from(now).map_err(|error| usage(error.to_string()))?;
        Ok(NamedToken {
            id: Uuid::new_v4(),
            name: name.clone(),
            scopes,
            ceiling: self.ceiling,
            projects,
            created: format!("{created:.0}"),
        })
    }
}

fn real_paths(projects: &[PathBuf]) -> Result<Vec<PathBuf>, rejoin::Error> {
    let real = |path: &PathBuf| {
        if !path.is_absolute() {
            return Err(usage(format!("{} is no absolute path", path.display())));
        }
        match path.canonicalize() {
            Ok(real) if real.is_dir() => Ok(real),
            Ok(_) => Err(usage(format!("{} is no directory", path.display()))),
            Err(error) => Err(usage(format!("{} cannot be found: {error}", path.display()))),
        }
    };
    projects.iter().map(real).collect()
}

fn usage(text: String) -> rejoin::Error {
    TurnError::Usage(text).into()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn wanted(name: &str) -> WantedToken {
        WantedToken {
            name: name.to_owned(),
            scopes: vec![TokenScope::Answer, TokenScope::Read, TokenScope::Read],
            ceiling: Some(Ceiling::Edit),
            projects: None,
        }
    }

    #[test]
    fn a_token_made_by_another_process_is_known_at_once_and_unknown_when_revoked() {
        let home = tempfile::tempdir().unwrap();
        let [ours, theirs] = [(); 2].map(|()| NamedTokens::of(home.path()));
        assert!(ours.list().unwrap().is_empty());
        let (token, secret) = theirs.create(&wanted("phone"), SystemTime::now()).unwrap();
        assert_eq!(token.scopes, [TokenScope::Read, TokenScope::Answer]);
        let hash = SecretHash::of(&secret);
        assert_eq!(ours.with_secret(&hash), Some(token.clone()));
        assert_eq!(ours.with_id(token.id), Some(token.clone()));
        assert_eq!(ours.with_secret(&SecretHash::of(&secret[1..])), None);
        assert_eq!(theirs.revoke("phone").unwrap(), token);
        assert_eq!((ours.with_secret(&hash), ours.with_id(token.id)), (None, None));
        let (again, _) = theirs.create(&wanted("phone"), SystemTime::now()).unwrap();
        assert_ne!(again.id, token.id, "what the old one left behind is not the new one's");
    }

    #[test]
    fn the_secret_is_not_in_the_file() {
        let home = tempfile::tempdir().unwrap();
        let (_, secret) = NamedTokens::of(home.path()).create(&wanted("phone"), SystemTime::now()).unwrap();
        let file = fs::read_to_string(home.path().join("tokens.json")).unwrap();
        assert!(file.contains("phone") && !file.contains(&secret[3..]), "{file}");
    }

    #[test]
    fn with_a_damaged_file_no_token_counts_and_none_is_lost() {
        let home = tempfile::tempdir().unwrap();
        let tokens = NamedTokens::of(home.path());
        let (token, secret) = tokens.create(&wanted("phone"), SystemTime::now()).unwrap();
        let path = home.path().join("tokens.json");
        let good = fs::read_to_string(&path).unwrap();
        let damaged = [
            good[..good.len() / 2].to_owned(),
            good.replace("\"edit\"", "\"agent\""),
            good.replace("\"ceiling\"", "\"cieling\""),
            good.replace("\"answer\"", "\"anything\""),
        ];
        for damaged in damaged {
            fs::write(&path, &damaged).unwrap();
            assert_eq!(tokens.with_secret(&SecretHash::of(&secret)), None, "{damaged}");
            assert_eq!(tokens.with_id(token.id), None);
            assert!(tokens.create(&wanted("other"), SystemTime::now()).is_err());
            assert!(tokens.revoke("phone").is_err());
            assert_eq!(fs::read_to_string(&path).unwrap(), damaged);
        }
        fs::write(&path, &good).unwrap();
        assert_eq!(tokens.with_id(token.id), Some(token));
    }

    #[test]
    fn what_cannot_be_a_token_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let tokens = NamedTokens::of(home.path());
        let refused = |wanted: WantedToken| tokens.create(&wanted, SystemTime::now()).is_err();
        for name in ["", "-x", "a b", "a\u{1b}[2J", "0b0fcb0e-6a9d-4b3c-8f47-5a0d6d5f1c11", &"x".repeat(65)] {
            assert!(refused(wanted(name)), "{name:?}");
        }
        assert!(refused(WantedToken { scopes: Vec::new(), ..wanted("phone") }));
        for projects in [vec![], vec!["relative".into()], vec!["/no/such/directory".into()]] {
            assert!(refused(WantedToken { projects: Some(projects), ..wanted("phone") }));
        }
        assert!(!refused(wanted("phone")) && refused(wanted("phone")), "a name is given once");
    }
}
