//! Who may read what rejoin keeps.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rejoin_journal::{Home, Store, Writer};

use crate::child::child;
use crate::support::Disk;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn everything_below(path: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            everything_below(&path, found);
        }
        found.push(path);
    }
}

#[test]
fn only_the_owner_may_read_whatever_the_umask_says() {
    for umask in ["0", "022", "0277", "0777"] {
        let directory = tempfile::tempdir().unwrap();
        let output = child(&format!("umask {umask}"), "make", directory.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut found = Vec::new();
        everything_below(directory.path(), &mut found);
        assert!(found.len() >= 9, "{found:?}");
        for path in found {
            let wanted = if path.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(mode(&path), wanted, "umask {umask}: {}", path.display());
        }
    }
}

#[test]
fn a_journal_that_was_restored_with_loose_permissions_is_closed_again() {
    let disk = Disk::new();
    fs::set_permissions(disk.path(), fs::Permissions::from_mode(0o644)).unwrap();
    disk.store.appender(disk.id, Writer::Label).unwrap();
    assert_eq!(mode(&disk.path()), 0o600);
}

#[test]
fn a_directory_that_was_there_before_keeps_its_permissions() {
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
    Home::open(directory.path()).unwrap();
    assert_eq!(mode(directory.path()), 0o755);
}
