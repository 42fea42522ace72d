//! A directory that a request names.

use std::path::{Path, PathBuf};

use super::access::sees;
use crate::app::App;
use crate::caller::Caller;
use crate::problem::{Code, Problem};

/// The real path of a directory that exists, that the daemon may enter, and that the caller may see. Waits for the
/// disk.
pub(crate) fn project_dir(app: &App, caller: &Caller, named: &Path) -> Result<PathBuf, Problem> {
    if !named.is_absolute() {
        return Err(Problem::bad_request(format!("the project {} is no absolute path", named.display()))
            .hint("name the directory from / on: the daemon stands in none"));
    }
    let refused = || {
        Problem::new(Code::NotAllowed, format!("{} is none of the projects of this token", named.display()))
            .hint("GET /api/v1/projects lists those it sees")
    };
    let real = match named.canonicalize() {
        Ok(real) if !sees(app, caller, &real) => return Err(refused()),
        Ok(real) => real,
        // Whether it exists is nobody's business who may not see it.
        Err(_) if !sees(app, caller, named) => return Err(refused()),
        Err(error) => {
            return Err(Problem::not_found(format!("the project {}: {error}", named.display()))
                .hint("name a directory that exists on the daemon's machine"));
        }
    };
    std::fs::read_dir(&real).map_err(|error| {
        Problem::new(Code::Refused, format!("the daemon cannot use {}: {error}", named.display()))
            .hint("name a directory that its user may enter")
    })?;
    Ok(real)
}

/// Refuses to tell about all projects to whoever sees only some.
pub(crate) fn sees_all(app: &App, caller: &Caller) -> bool {
    caller.projects.is_none() && app.roots.is_empty()
}
