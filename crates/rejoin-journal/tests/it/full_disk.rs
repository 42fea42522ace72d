//! Disks that refuse.

use std::fs;

use rejoin_journal::{Home, JournalError, Problem, Store, Writer};

use crate::child::{child, child_with_own_mounts};
use crate::support::{Disk, conversation, info, message, user};

#[test]
fn a_full_disk_is_an_error_and_nothing_acknowledged_is_lost() {
    let disk = Disk::new();
    // The system really refuses: a limit on the size of files, with its signal ignored.
    let output = child("trap '' XFSZ; ulimit -S -f 41", "fill", disk.home.root()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let counts = said.lines().find_map(|line| line.strip_prefix("acknowledged ")).unwrap();
    let (acknowledged, left) = counts.split_once(", left ").unwrap();
    let (acknowledged, left): (u128, u128) = (acknowledged.parse().unwrap(), left.parse().unwrap());
    let error = said.lines().find(|line| line.starts_with("error")).unwrap();
    assert!(
        error.contains(&format!("nothing written before is lost, 0 of {left} new records are kept")),
        "{error}"
    );

    let end = 1 + acknowledged + 3;
    let whole = disk.read();
    let expected: Vec<_> = (0..end).chain([999_999]).map(message).collect();
    assert_eq!(whole.ids(), expected, "every record is there once");
    assert!(whole.problems.iter().all(|(.., problem)| matches!(problem, Problem::Torn { .. })));

    fs::copy(disk.home.root().join("full.jsonl"), disk.path()).unwrap();
    let seen = disk.read();
    assert_eq!(seen.ids(), expected[..usize::try_from(end - left).unwrap()]);
    assert!(matches!(seen.problems[..], [(_, _, Problem::Torn { .. })]), "{:?}", seen.problems);
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
        home.store().create(conversation(1), &info("/p"), &[], Writer::Label).err().unwrap(),
        home.store().list(None).unwrap_err(),
        home.store().list(Some("/p")).unwrap_err(),
    ] {
        assert!(matches!(error, JournalError::Io { .. }), "{error}");
        assert!(error.to_string().contains("projects"), "{error}");
    }
}

#[test]
fn a_read_only_home_can_be_read() {
    let disk = Disk::new();
    disk.append(&[user(disk.id, 1, None, "x")]);
    disk.smear(b"{\"torn");
    let home = disk.home.root().to_str().unwrap();
    let scene =
        format!("{{ mount --bind '{home}' '{home}' && mount -o remount,bind,ro '{home}'; }} || exit 77");
    let mut child = child_with_own_mounts(&scene, "only-read", disk.home.root());
    match child.output() {
        Ok(output) if output.status.success() => {}
        Ok(output) if !String::from_utf8_lossy(&output.stdout).contains("running") => {
            eprintln!("skipped: this system lets nobody mount");
        }
        Ok(output) => panic!("{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => eprintln!("skipped: {error}"),
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
    let error = disk.store.appender(disk.id, Writer::Label).err().unwrap().to_string();
    assert!(error.contains("denied"), "{error}");
    assert_eq!(disk.read().records.len(), 1);
}
