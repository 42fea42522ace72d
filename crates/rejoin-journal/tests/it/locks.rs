//! One holder at a time.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rejoin_journal::{LockError, Locks, Owner};
use tempfile::TempDir;

use crate::child::child;

fn locks() -> (TempDir, Locks) {
    let directory = tempfile::tempdir().unwrap();
    let locks = Locks::new(directory.path().join("locks"));
    (directory, locks)
}

fn owner(what: &str) -> Owner {
    Owner::this_process("rejoin -c", what, "20:15")
}

#[test]
fn a_second_one_is_told_who_holds_it() {
    let (_directory, locks) = locks();
    let lease = locks.acquire("turn", &owner("a turn"), None).unwrap();
    let error = locks.acquire("turn", &owner("another"), None).unwrap_err();
    assert!(
        matches!(&error, LockError::Busy { owner: Some(busy), .. } if **busy == owner("a turn")),
        "{error}"
    );
    assert_eq!(
        error.to_string(),
        format!(
            "turn is in use by process {} (rejoin -c), a turn, since 20:15; wait for it, or stop it",
            std::process::id()
        )
    );
    assert_eq!(locks.holder("turn").unwrap(), Some(owner("a turn")));
    drop(lease);
    assert_eq!(locks.holder("turn").unwrap(), None, "an old text in a free lock means nothing");
    locks.acquire("turn", &owner("another"), None).unwrap();
}

#[test]
fn other_names_are_other_locks() {
    let (_directory, locks) = locks();
    let _one = locks.acquire("turn-1", &owner("1"), None).unwrap();
    let _other = locks.acquire("turn-2", &owner("2"), None).unwrap();
    assert_eq!(locks.holder("turn-3").unwrap(), None);
}

#[test]
fn waiting_ends_when_the_lock_is_free() {
    let (_directory, locks) = locks();
    let lease = locks.acquire("turn", &owner("first"), None).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            drop(lease);
        });
        let begun = Instant::now();
        let lease = locks.acquire("turn", &owner("second"), Some(Duration::from_mins(1))).unwrap();
        assert!(begun.elapsed() >= Duration::from_millis(250));
        assert_eq!(locks.holder("turn").unwrap(), Some(owner("second")));
        drop(lease);
    });
}

#[test]
fn waiting_ends_when_patience_does() {
    let (_directory, locks) = locks();
    let _lease = locks.acquire("turn", &owner("first"), None).unwrap();
    let begun = Instant::now();
    let wait = Some(Duration::from_millis(400));
    assert!(matches!(locks.acquire("turn", &owner("second"), wait), Err(LockError::Busy { .. })));
    assert!(begun.elapsed() >= Duration::from_millis(400));
}

#[test]
fn a_duplicate_of_the_descriptor_goes_on_holding_it() {
    let (_directory, locks) = locks();
    let lease = locks.acquire("turn", &owner("a turn"), None).unwrap();
    let duplicate = lease.descriptor().unwrap().try_clone_to_owned().unwrap();
    drop(lease);
    assert_eq!(locks.holder("turn").unwrap(), Some(owner("a turn")));
    drop(duplicate);
    assert_eq!(locks.holder("turn").unwrap(), None);
}

#[test]
fn a_process_that_inherited_the_descriptor_goes_on_holding_it() {
    let (_directory, locks) = locks();
    let lease = locks.acquire("turn", &owner("a turn"), None).unwrap();
    let inherited = Stdio::from(lease.descriptor().unwrap().try_clone_to_owned().unwrap());
    let mut heir = Command::new("cat").stdin(Stdio::piped()).stdout(inherited).spawn().unwrap();
    drop(lease);
    assert!(matches!(locks.acquire("turn", &owner("b"), None), Err(LockError::Busy { owner: Some(_), .. })));
    drop(heir.stdin.take());
    heir.wait().unwrap();
    locks.acquire("turn", &owner("b"), None).unwrap();
}

#[test]
fn a_killed_holder_holds_nothing() {
    let (directory, locks) = locks();
    let mut holder = child(":", "hold turn", directory.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(holder.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "held"));
    let held_by = locks.holder("turn").unwrap().unwrap();
    assert_eq!(held_by.pid, holder.id(), "the shell became the holder");
    assert!(matches!(
        locks.acquire("turn", &owner("b"), None),
        Err(LockError::Busy { owner: Some(busy), .. }) if *busy == held_by
    ));
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert_eq!(locks.holder("turn").unwrap(), None);
    locks.acquire("turn", &owner("b"), None).unwrap();
}

#[test]
fn asking_who_holds_it_never_makes_it_look_held() {
    let (_directory, locks) = locks();
    drop(locks.acquire("turn", &owner("a"), None).unwrap());
    let until = Instant::now() + Duration::from_millis(500);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while Instant::now() < until {
                    locks.holder("turn").unwrap();
                }
            });
        }
        let mut taken = 0;
        while Instant::now() < until {
            drop(locks.acquire("turn", &owner("a"), None).unwrap());
            taken += 1;
        }
        assert!(taken > 3, "{taken}");
    });
}

#[test]
fn never_two_holders_even_if_somebody_deletes_free_lock_files() {
    let (directory, locks) = locks();
    let path = directory.path().join("locks/turn.lock");
    let inside = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let lease = locks.acquire("turn", &owner("a"), Some(Duration::from_mins(1))).unwrap();
                    assert_eq!(inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                    std::thread::yield_now();
                    inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                    // While it is ours, nobody else can hold the file that is being deleted.
                    let _ = fs::remove_file(&path);
                    drop(lease);
                }
            });
        }
    });
}

#[test]
fn a_name_cannot_leave_the_directory() {
    let (_directory, locks) = locks();
    for name in ["", ".", "..", "../x", "a/b", ".hidden", "a b", "ä", "a\0", &"x".repeat(201)] {
        assert!(matches!(locks.acquire(name, &owner("a"), None), Err(LockError::Name { .. })), "{name:?}");
        assert!(matches!(locks.holder(name), Err(LockError::Name { .. })), "{name:?}");
    }
}

#[test]
fn a_lock_file_full_of_nonsense_is_busy_without_an_owner_and_free_when_free() {
    let (directory, locks) = locks();
    let lease = locks.acquire("turn", &owner("a"), None).unwrap();
    fs::write(directory.path().join("locks/turn.lock"), vec![b'{'; 1 << 20]).unwrap();
    assert!(matches!(locks.acquire("turn", &owner("b"), None), Err(LockError::Busy { owner: None, .. })));
    assert_eq!(locks.holder("turn").unwrap(), Some(Owner::default()));
    drop(lease);
    let lease = locks.acquire("turn", &owner("b"), None).unwrap();
    assert_eq!(locks.holder("turn").unwrap(), Some(owner("b")));
    lease.set_owner(&owner("c")).unwrap();
    assert_eq!(locks.holder("turn").unwrap(), Some(owner("c")));
}

#[test]
fn who_comes_after_a_killed_holder_learns_what_it_may_have_left() {
    let (directory, locks) = locks();
    let file = directory.path().join("locks/turn.lock");
    let killed = locks.acquire("turn", &owner("a turn").marked("one"), None).unwrap();
    let text = fs::read(&file).unwrap();
    assert_eq!(killed.left(), &[] as &[String]);
    killed.give_back();
    assert_eq!(fs::read(&file).unwrap(), b"", "a lock that was given back tells of nobody");

    // As it looks after kill -9: free, and the text is still there.
    fs::write(&file, text).unwrap();
    let next = locks.acquire("turn", &owner("naming").marked("two"), None).unwrap();
    assert_eq!(next.left(), ["one"]);
    assert_eq!(locks.holder("turn").unwrap().unwrap().marks, ["two", "one"], "should it be killed, too");
    next.give_back();
    let mut next = locks.acquire("turn", &owner("a turn"), None).unwrap();
    assert_eq!(next.left(), ["one"], "nobody has seen to it yet");
    next.nothing_is_left().unwrap();
    next.add_mark("three").unwrap();
    next.add_mark("four").unwrap();
    next.remove_mark("three").unwrap();
    assert_eq!(locks.holder("turn").unwrap().unwrap().marks, ["four"]);
    next.give_back();
    assert_eq!(locks.acquire("turn", &owner("a turn"), None).unwrap().left(), &[] as &[String]);
}

#[test]
fn a_holder_that_is_gone_is_not_named_as_if_it_were_there() {
    let (directory, locks) = locks();
    let mut child = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap();
    let gone = Owner { pid: child.id(), born: rejoin_journal::birth(child.id()), ..owner("a turn") };
    let lease = locks.acquire("turn", &owner("a turn"), None).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let file = fs::File::options().write(true).open(directory.path().join("locks/turn.lock")).unwrap();
    rejoin_journal::write_owner(&file, &gone).unwrap();
    let error = locks.acquire("turn", &owner("another"), None).unwrap_err().to_string();
    assert_eq!(
        error,
        format!(
            "turn is in use by what was started by process {} (rejoin -c), a turn, since 20:15, which no longer runs here; wait for it, or stop it",
            child.id()
        )
    );
    drop(lease);
}
