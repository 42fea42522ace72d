//! Two directories, file by file.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::files_below;

/// What is not the same in what is committed and in what was built.
pub(super) fn files(committed: &Path, built: &Path) -> Result<Vec<String>> {
    let here: BTreeSet<_> =
        if committed.exists() { files_below(committed)?.into_iter().collect() } else { BTreeSet::new() };
    let there: BTreeSet<_> = files_below(built)?.into_iter().collect();
    let mut differ = Vec::new();
    for file in here.union(&there) {
        let read = |dir: &Path| {
            fs::read(dir.join(file)).with_context(|| format!("cannot read {}", dir.join(file).display()))
        };
        let what = match (here.contains(file), there.contains(file)) {
            (true, false) => "is not built any more",
            (false, _) => "is missing",
            (true, true) if read(committed)? != read(built)? => "differs",
            (true, true) => continue,
        };
        differ.push(format!("{} {what}", file.display()));
    }
    Ok(differ)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_that_is_not_the_same_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let (committed, built) = (dir.path().join("a"), dir.path().join("b"));
        for (dir, name, text) in [
            (&committed, "same.js", "1"),
            (&built, "same.js", "1"),
            (&committed, "assets/other.js", "1"),
            (&built, "assets/other.js", "2"),
            (&committed, "old.js", "1"),
            (&built, "new.js", "1"),
        ] {
            fs::create_dir_all(dir.join("assets")).unwrap();
            fs::write(dir.join(name), text).unwrap();
        }
        let differ = files(&committed, &built).unwrap();
        assert_eq!(differ, ["assets/other.js differs", "new.js is missing", "old.js is not built any more"]);
        assert_eq!(files(&dir.path().join("none"), &built).unwrap().len(), 3);
    }
}
