//! Places that settings name.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::jsonc;

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
