//! How much of the page goes over a network: what it begins with, and all of it.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result, bail};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::files_below;

/// Bytes, compressed, of `index.html` and everything it cannot begin without.
const FIRST_LOAD: usize = 120_000;
/// Bytes, compressed, of all files.
const EVERYTHING: usize = 250_000;

/// Says how large the bundle is; too large is an error.
pub(super) fn check(bundle: &Path) -> Result<()> {
    let first = first_load(bundle)?;
    let mut all = 0;
    let mut begin = 0;
    for file in files_below(bundle)? {
        let name = file.to_string_lossy().into_owned();
        let size = compressed(&read(bundle, &name)?)?;
        all += size;
        begin += if first.contains(&name) { size } else { 0 };
    }
    eprintln!("   first load {begin} of {FIRST_LOAD}, everything {all} of {EVERYTHING} bytes compressed");
    if begin > FIRST_LOAD || all > EVERYTHING {
        bail!("the page is too large");
    }
    Ok(())
}

/// `index.html`, the files that it names, and what those import before they run.
fn first_load(bundle: &Path) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let mut left = vec!["index.html".to_owned()];
    while let Some(name) = left.pop() {
        if !found.insert(name.clone()) {
            continue;
        }
        let bytes = read(bundle, &name)?;
        let text = String::from_utf8_lossy(&bytes);
        let dir = name.rsplit_once('/').map_or("", |(dir, _)| dir);
        match name.rsplit_once('.') {
            Some((_, "html")) => left.extend(named(&text).filter(|path| bundle.join(path).is_file())),
            Some((_, "js")) => left.extend(imported(&text).into_iter().map(|file| format!("{dir}/{file}"))),
            _ => {}
        }
    }
    Ok(found)
}

/// The addresses of files of its own in a page.
fn named(html: &str) -> impl Iterator<Item = String> {
    html.split(['"', '\'']).filter_map(|part| part.strip_prefix('/')).map(str::to_owned)
}

/// What a module imports from beside it, but not what it asks for later (`import("./later.js")`).
fn imported(script: &str) -> Vec<String> {
    let parts: Vec<&str> = script.split(['"', '\'']).collect();
    let pairs = parts.windows(2).filter_map(|pair| {
        let before = pair[0].trim_end();
        let file = pair[1].strip_prefix("./")?;
        (before.ends_with("from") || before.ends_with("import")).then(|| file.to_owned())
    });
    pairs.collect()
}

fn read(bundle: &Path, name: &str) -> Result<Vec<u8>> {
    fs::read(bundle.join(name)).with_context(|| format!("the page names {name}, which cannot be read"))
}

fn compressed(bytes: &[u8]) -> Result<usize> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_load_is_what_is_imported_at_once_and_by_what_is() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        fs::create_dir(dir.path().join("assets")).unwrap();
        write(
            "index.html",
            "<script type=\"module\" src=\"/assets/a.js\"></script><link href=\"/assets/a.css\">",
        );
        write(
            "assets/a.js",
            "import{x as y}from\"./b.js\";import'./c.js';const z=()=>import(\"./later.js\")",
        );
        write("assets/a.css", "");
        write("assets/b.js", "import { q } from \"./d.js\"");
        write("assets/c.js", "");
        write("assets/d.js", "");
        write("assets/later.js", "import\"./even-later.js\"");
        let found = first_load(dir.path()).unwrap();
        let expected =
            ["assets/a.css", "assets/a.js", "assets/b.js", "assets/c.js", "assets/d.js", "index.html"];
        assert!(found.iter().eq(expected), "{found:?}");
    }

    #[test]
    fn a_page_that_is_too_large_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("index.html"), "<script src=\"/a.js\"></script>").unwrap();
        fs::write(dir.path().join("a.js"), "small").unwrap();
        assert!(check(dir.path()).is_ok());
        // Bytes that cannot be made shorter.
        let mut state = 1_u64;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        })
        .take(FIRST_LOAD + 1)
        .collect();
        fs::write(dir.path().join("a.js"), &noise).unwrap();
        assert!(check(dir.path()).is_err());
        fs::write(dir.path().join("a.js"), "small").unwrap();
        for name in ["b.js", "c.js", "d.js"] {
            fs::write(dir.path().join(name), &noise).unwrap();
        }
        assert!(check(dir.path()).is_err());
    }
}
