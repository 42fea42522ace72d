//! Makes a table of the files in `web/`, the page as `cargo xtask web` built it, with what each weighs less when it
//! is compressed. Nothing but those files goes into it, so the same files make the same table.

use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

fn main() -> Result<(), Box<dyn Error>> {
    let web = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("web");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=web");
    let mut paths = Vec::new();
    list(&web, "", &mut paths)?;
    paths.sort();
    let mut table = "&[\n".to_owned();
    for (number, path) in paths.iter().enumerate() {
        let bytes = fs::read(web.join(path))?;
        let compressed = gzip(&bytes)?;
        let gzip = if compressed.len() < bytes.len() {
            fs::write(out.join(format!("{number}.gz")), compressed)?;
            format!("Some(include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{number}.gz\")))")
        } else {
            "None".to_owned()
        };
        let etag = format!("W/\"{:016x}\"", fingerprint(&bytes));
        let file = format!("/web/{path}");
        let plain = format!("include_bytes!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {file:?}))");
        writeln!(table, "PageFile {{ path: {path:?}, etag: {etag:?}, plain: {plain}, gzip: {gzip} }},")?;
    }
    table.push(']');
    fs::write(out.join("page_files.rs"), table)?;
    Ok(())
}

/// The files below a directory, by their paths in the page's addresses.
fn list(dir: &Path, prefix: &str, into: &mut Vec<String>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name =
            entry.file_name().into_string().map_err(|name| format!("{} is no UTF-8", name.display()))?;
        let path = format!("{prefix}{name}");
        if entry.file_type()?.is_dir() {
            list(&entry.path(), &format!("{path}/"), into)?;
        } else {
            into.push(path);
        }
    }
    Ok(())
}

fn gzip(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// FNV-1a: all that telling one version of a file from another needs.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}
