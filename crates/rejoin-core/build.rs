//! Tells these sources from any others, for caches of what was made with them.

use std::fs;
use std::io;
use std::path::PathBuf;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=src");
    let mut left = vec![PathBuf::from("src")];
    let mut files = Vec::new();
    while let Some(path) = left.pop() {
        if path.is_dir() {
            for entry in fs::read_dir(&path)? {
                left.push(entry?.path());
            }
        } else {
            files.push(path);
        }
    }
    files.sort();
    // FNV-1a: nobody makes sources that collide on purpose.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in files {
        for byte in fs::read(file)? {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    println!("cargo::rustc-env=REJOIN_CORE_SOURCES={hash:016x}");
    Ok(())
}
