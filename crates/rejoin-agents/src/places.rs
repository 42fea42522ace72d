//! Places that settings name.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde_json::Value;

use crate::jsonc;

/// The directory that a variable names.
pub(crate) fn named(env: &dyn Fn(&str) -> Option<OsString>, variable: &str) -> Option<PathBuf> {
    env(variable).filter(|dir| !dir.is_empty()).map(PathBuf::from)
}

/// A directory in the user's home.
pub(crate) fn at_home(env: &dyn Fn(&str) -> Option<OsString>, name: &str) -> Option<PathBuf> {
    named(env, "HOME").map(|home| home.join(name))
}

/// What is in a directory; one that is not there is empty.
pub(crate) fn entries(dir: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(dir) {
        Ok(entries) => entries.map(|entry| entry.map(|entry| entry.path())).collect(),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        Err(error) => Err(error),
    }
}

/// The directory that the first of these settings files names at `pointer`; `dir` is where a
/// relative one begins.
pub(crate) fn configured(settings: &[PathBuf], pointer: &str, dir: &Path) -> Option<PathBuf> {
    let told = |settings: Value| settings.pointer(pointer)?.as_str().map(str::to_owned);
    let told = |file: &PathBuf| jsonc::file(file).and_then(told).filter(|name| !name.is_empty());
    let name = settings.iter().find_map(told)?;
    let home = || std::env::home_dir().unwrap_or_default();
    Some(expanded(&name, home).unwrap_or_else(|| dir.join(&name)))
}

/// A path that begins at home.
pub(crate) fn expanded(path: &str, home: impl Fn() -> PathBuf) -> Option<PathBuf> {
    let rest = path.strip_prefix('~')?;
    match rest.strip_prefix('/') {
        Some(rest) => Some(home().join(rest)),
        None => rest.is_empty().then(home),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_may_begin_at_home() {
        let home = || PathBuf::from("/h");
        assert_eq!(expanded("~", home), Some("/h".into()));
        assert_eq!(expanded("~/x/y", home), Some("/h/x/y".into()));
        for plain in ["/x", "x", "~you/x", ""] {
            assert_eq!(expanded(plain, home), None, "{plain}");
        }
    }
}
