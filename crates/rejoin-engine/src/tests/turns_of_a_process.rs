//! One process, several turns: a turn's leases are held from its beginning to its end, not as long as the process lives.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};

use rejoin_journal::{Lease, Locks, Owner, birth};

use super::pumped::eventually;
use crate::Helper;
use crate::supervisor::{LaunchSpec, Supervised};

/// Says what it is told, and does not go when it is asked to.
const ECHO: &str = "trap '' TERM; echo $$; while read -r line; do echo \"$line\"; done; exec sleep 600";

/// A process that serves turns, and the leases of its home.
struct Process {
    child: Option<Supervised>,
    stdout: BufReader<File>,
    locks: Locks,
    _dir: tempfile::TempDir,
}

impl Process {
    fn start(first: &str) -> (Self, u32) {
        let dir = tempfile::tempdir().unwrap();
        let locks = Locks::new(dir.path().join("locks"));
        let lease = take(&locks, first);
        let launch = LaunchSpec {
            argv: ["sh", "-c", ECHO].map(Into::into).into(),
            env: Vec::new(),
            remove_env: Vec::new(),
            dir: dir.path(),
            leases: lease.descriptor().into_iter().collect(),
            mark: uuid::Uuid::new_v4().to_string(),
        };
        let child = Supervised::start(&Helper::Thread, launch).unwrap();
        child.control.set_nonblocking(true).unwrap();
        let stdout = BufReader::new(File::from(child.stdout.try_clone().unwrap()));
        let mut process = Self { child: Some(child), stdout, locks, _dir: dir };
        process.until_leases_are_held(true);
        let pid = process.hear().parse().unwrap();
        (process, pid)
    }

    fn begin_turn(&mut self, name: &str) {
        let lease = take(&self.locks, name);
        let descriptors: Vec<_> = lease.descriptor().into_iter().collect();
        self.child.as_mut().unwrap().begin_turn(&descriptors).unwrap();
        self.until_leases_are_held(true);
    }

    fn end_turn(&mut self) {
        self.child.as_mut().unwrap().end_turn();
        self.until_leases_are_held(false);
    }

    fn until_leases_are_held(&mut self, held: bool) {
        let child = std::cell::RefCell::new(self.child.as_mut().unwrap());
        eventually("a word about the leases", || {
            let mut child = child.borrow_mut();
            child.read_reports().unwrap();
            child.holds_leases() == held
        });
    }

    fn say(&mut self, line: &str) -> String {
        let stdin = self.child.as_ref().unwrap().stdin.as_ref().unwrap();
        File::from(stdin.try_clone().unwrap()).write_all(format!("{line}\n").as_bytes()).unwrap();
        self.hear()
    }

    fn hear(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }

    fn is_held(&self, name: &str) -> bool {
        self.locks.holder(name).unwrap().is_some()
    }
}

fn take(locks: &Locks, name: &str) -> Lease {
    locks.acquire(name, &Owner::default(), None).unwrap()
}

#[test]
fn after_a_turn_its_leases_are_free_although_its_process_lives_on() {
    // Ours are given up at once here: what is held from then on is held by the supervisor.
    let (mut process, _) = Process::start("first");
    assert_eq!(process.say("one"), "one");
    assert!(process.is_held("first"));

    process.end_turn();
    assert!(!process.is_held("first"));
    assert_eq!(process.say("two"), "two", "it lives on");

    process.begin_turn("second");
    assert_eq!(process.say("three"), "three");
    assert_eq!((process.is_held("first"), process.is_held("second")), (false, true));
    process.end_turn();
    assert!(!process.is_held("second"));
}

#[test]
fn if_we_are_gone_in_mid_turn_its_leases_are_held_until_the_process_is_gone_and_those_of_earlier_turns_are_not()
 {
    let (mut process, pid) = Process::start("first");
    process.end_turn();
    process.begin_turn("second");
    // Our end of everything is closed, as it is when we are killed.
    process.child = None;
    assert_eq!((process.is_held("first"), process.is_held("second")), (false, true));
    let mut seen_alive = false;
    loop {
        let held = process.is_held("second");
        let alive = birth(pid).is_some();
        if !held {
            assert!(!alive, "nobody holds the lease, and the process lives");
            break;
        }
        seen_alive |= alive;
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(seen_alive);
}
