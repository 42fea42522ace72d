//! Disks that refuse.

use std::fs;

use rejoin_journal::{Home, JournalError, Problem, Store};

use crate::child::child;
use crate::support::{Disk, conversation, info, message, user};

#[test]
fn a_full_disk_is_an_error_and_nothing_acknowledged_is_lost() {
    let disk = Disk::new();
    // The system really refuses: a limit on the size of files, with its signal ignored.
    let output = child("trap '' XFSZ; ulimit -f 40", "fill", disk.home.root()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let words: Vec<&str> =
        said.lines().find(|line| line.contains("acknowledged")).unwrap().split(' ').collect();
    let count = |word: &str| -> usize {
        let at = words.iter().position(|known| known.ends_with(word)).unwrap();
        words[at + 1].parse().unwrap()
    };
    let whole = count("acknowledged") + count("kept");
    assert!(whole > 3);
    let error = said.lines().find(|line| line.starts_with("error")).unwrap();
    assert!(error.contains("nothing written before is lost, 0 of"), "{error}");

    let expected: Vec<_> = (0..=whole as u128).map(message).collect();
    let seen = disk.read();
    assert_eq!(seen.ids(), expected);
    assert!(matches!(seen.problems[..], [] | [(_, _, Problem::Torn { .. })]), "{:?}", seen.problems);

    disk.append(&[user(disk.id, 999_999, None, "space again")]);
    assert_eq!(disk.read().ids(), [expected, vec![message(999_999)]].concat());
}

#[test]
fn a_file_where_a_directory_belongs_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    for root in [file.clone(), file.join("home")] {
        let error = Home::open(&root).unwrap_err().to_string();
        assert!(error.contains("file") && error.contains("REJOIN_HOME"), "{error}");
        assert!(error.contains(&*file.to_string_lossy()), "{error}");
    }
    let home = Home::open(directory.path().join("home")).unwrap();
    fs::write(home.root().join("projects"), "").unwrap();
    for error in [
        home.store().create(conversation(1), &info("/p")).unwrap_err(),
        home.store().list(None).unwrap_err(),
        home.store().list(Some("/p")).unwrap_err(),
    ] {
        assert!(matches!(error, JournalError::Io { .. }), "{error}");
        assert!(error.to_string().contains("projects"), "{error}");
    }
}

#[test]
fn what_may_not_be_read_or_written_is_told() {
    use std::os::unix::fs::PermissionsExt;
    let disk = Disk::new();
    let close = |mode| fs::set_permissions(disk.path(), fs::Permissions::from_mode(mode)).unwrap();
    close(0o000);
    if fs::File::open(disk.path()).is_ok() {
        eprintln!("skipped: the superuser may read everything");
        return;
    }
    let error = disk.store.read(disk.id, 0, &mut |_| ()).unwrap_err().to_string();
    assert!(error.contains("denied") && error.contains("give yourself access"), "{error}");
    assert!(disk.store.list(None).unwrap()[0].info.is_none(), "it is still listed");
    close(0o400);
    let error = disk.store.appender(disk.id).err().unwrap().to_string();
    assert!(error.contains("denied"), "{error}");
    assert_eq!(disk.read().records.len(), 1);
}
