//! Who asks, and how far he may go: found out once per request, by [`crate::auth`].

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use rejoin::Permissions;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::auth::NamedToken;
use crate::problem::{Code, Problem};

/// What a token is good for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TokenScope {
    /// To look at everything.
    Read,
    /// To begin, cancel and queue turns and flows, and to change conversations.
    Prompt,
    /// To answer what agents ask.
    Answer,
    /// To give and take tokens.
    Admin,
}

impl TokenScope {
    /// Every one.
    pub const ALL: [TokenScope; 4] =
        [TokenScope::Read, TokenScope::Prompt, TokenScope::Answer, TokenScope::Admin];

    /// The word used in flags, files and the API.
    pub const fn name(self) -> &'static str {
        match self {
            TokenScope::Read => "read",
            TokenScope::Prompt => "prompt",
            TokenScope::Answer => "answer",
            TokenScope::Admin => "admin",
        }
    }
}

impl fmt::Display for TokenScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for TokenScope {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let scope = Self::ALL.into_iter().find(|scope| scope.name() == text);
        scope.ok_or_else(|| format!("{text:?} is no scope: read, prompt, answer or admin"))
    }
}

/// Whoever sent a request.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// The id of the token, which is not its secret.
    pub(crate) token: String,
    pub(crate) scopes: Vec<TokenScope>,
    /// The widest level a turn of his may run at; `None` if there is no limit of its own.
    pub(crate) ceiling: Option<Permissions>,
    /// The only projects he sees (real paths); `None` for all.
    pub(crate) projects: Option<Vec<PathBuf>>,
}

impl Caller {
    /// Refuses what the scopes do not allow.
    pub(crate) fn require(&self, scope: TokenScope) -> Result<(), Problem> {
        if self.scopes.contains(&scope) {
            return Ok(());
        }
        Err(Problem::new(
            Code::ScopeMissing,
            format!("this needs the scope `{scope}`, which the token lacks"),
        )
        .hint(format!("use a token that has it (`rejoin token new NAME --scope {scope},…`)")))
    }

    /// Whether he may see what belongs to a project, by its root.
    pub(crate) fn sees(&self, project: &Path) -> bool {
        self.projects.as_ref().is_none_or(|all| all.iter().any(|root| project.starts_with(root)))
    }

    /// The level at which a turn of his runs for which this one was asked; `None` where nobody said one. Under a ceiling
    /// there is always one: what would decide without is the agent's own settings, which nobody knows.
    pub(crate) fn level(&self, asked: Option<Permissions>) -> Result<Option<Permissions>, Problem> {
        match (self.ceiling, asked) {
            (None, asked) => Ok(asked),
            (ceiling, None) => Ok(ceiling),
            (Some(ceiling), Some(asked)) if fits(asked, ceiling) => Ok(Some(asked)),
            (Some(ceiling), Some(asked)) => Err(Problem::new(
                Code::CeilingExceeded,
                format!("level `{}` is more than the token's ceiling `{}`", asked.name(), ceiling.name()),
            )
            .hint("ask for a narrower level, or for none, or use a token with a higher ceiling")),
        }
    }

    /// Whether a token can do nothing that he cannot do: he may make it, see it, and take it away.
    pub(crate) fn covers(&self, token: &NamedToken) -> bool {
        let scopes = token.scopes.iter().all(|scope| self.scopes.contains(scope));
        let level = match (self.ceiling, token.ceiling) {
            (None, _) => true,
            (Some(ceiling), Some(theirs)) => fits(theirs.into(), ceiling),
            (Some(_), None) => false,
        };
        let projects = match (&self.projects, &token.projects) {
            (None, _) => true,
            (Some(_), Some(theirs)) => theirs.iter().all(|project| self.sees(project)),
            (Some(_), None) => false,
        };
        scopes && level && projects
    }
}

/// Nobody knows how far `agent` goes, so it is under no ceiling.
fn fits(level: Permissions, ceiling: Permissions) -> bool {
    level != Permissions::Agent && level.fits_under(ceiling)
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        // The gate notes him; what did not pass it is nobody's.
        let caller = parts.extensions.get::<Caller>().cloned();
        caller.ok_or_else(|| Problem::new(Code::Unauthorized, "this needs a token"))
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::auth::{Ceiling, WantedToken};

    fn caller(ceiling: Option<Permissions>) -> Caller {
        Caller { token: "t".into(), scopes: TokenScope::ALL.to_vec(), ceiling, projects: None }
    }

    #[test]
    fn the_level_of_a_turn_is_never_above_the_ceiling() {
        use Permissions::{Agent, Edit, Full, Read};
        // Ceiling; then what comes of nothing, read, edit, full, agent. `None` is a refusal.
        type Outcome = Option<Option<Permissions>>;
        let table: [(Option<Permissions>, [Outcome; 5]); 4] = [
            (None, [Some(None), Some(Some(Read)), Some(Some(Edit)), Some(Some(Full)), Some(Some(Agent))]),
            (Some(Read), [Some(Some(Read)), Some(Some(Read)), None, None, None]),
            (Some(Edit), [Some(Some(Edit)), Some(Some(Read)), Some(Some(Edit)), None, None]),
            (Some(Full), [Some(Some(Full)), Some(Some(Read)), Some(Some(Edit)), Some(Some(Full)), None]),
        ];
        for (ceiling, expected) in table {
            let asked = [None, Some(Read), Some(Edit), Some(Full), Some(Agent)];
            for (asked, expected) in asked.into_iter().zip(expected) {
                let level = caller(ceiling).level(asked).map_err(|problem| problem.code());
                assert_eq!(level, expected.ok_or(Code::CeilingExceeded), "{asked:?} under {ceiling:?}");
            }
        }
    }

    #[test]
    fn a_token_gives_no_more_than_it_has() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (inside, beside) = (root.join("app/sub"), root.join("app2"));
        std::fs::create_dir_all(&inside).unwrap();
        std::fs::create_dir_all(&beside).unwrap();
        let token = |scopes: &[TokenScope], ceiling, projects: Option<Vec<PathBuf>>| {
            let wanted = WantedToken { name: "x".into(), scopes: scopes.to_vec(), ceiling, projects };
            wanted.checked(SystemTime::now()).unwrap()
        };
        let wide = token(&TokenScope::ALL, None, None);
        assert!(caller(None).covers(&wide));
        let limited = Caller {
            scopes: vec![TokenScope::Read, TokenScope::Admin],
            ceiling: Some(Permissions::Edit),
            projects: Some(vec![root.join("app")]),
            ..caller(None)
        };
        let (read, edit) = ([TokenScope::Read], Some(Ceiling::Edit));
        assert!(limited.covers(&token(&read, edit, Some(vec![inside.clone()]))));
        assert!(!limited.covers(&wide));
        assert!(!limited.covers(&token(&[TokenScope::Prompt], edit, Some(vec![inside.clone()]))));
        assert!(!limited.covers(&token(&read, Some(Ceiling::Full), Some(vec![inside.clone()]))));
        assert!(!limited.covers(&token(&read, None, Some(vec![inside.clone()]))));
        assert!(!limited.covers(&token(&read, edit, Some(vec![inside, beside]))));
        assert!(!limited.covers(&token(&read, edit, None)));
    }
}
