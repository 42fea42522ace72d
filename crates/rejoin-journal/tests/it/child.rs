//! This very test binary, run again as another process under other circumstances.

use std::path::Path;
use std::process::Command;

use rejoin_core::ConversationId;
use rejoin_journal::{FileStore, Home, JournalError, Locks, Owner, Store};

use crate::support::{conversation, first, info, user};

const ROLE: &str = "REJOIN_JOURNAL_TEST_ROLE";
const HOME: &str = "REJOIN_JOURNAL_TEST_HOME";

/// A process that plays a role, after a line of shell has set the scene.
pub(crate) fn child(scene: &str, role: &str, home: &Path) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{scene}; exec \"$0\" \"$@\""));
    command.arg(std::env::current_exe().unwrap());
    command.args(["--exact", "child::plays_its_role", "--nocapture", "--test-threads=1"]);
    command.env(ROLE, role).env(HOME, home);
    command
}

/// Not a test of its own: what [`child`] runs.
#[test]
fn plays_its_role() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let home = std::env::var_os(HOME).unwrap();
    let home = Path::new(&home);
    match role.split_once(' ').unwrap_or((&role, "")) {
        ("make", "") => make(home),
        ("append", number) => append(home, number.parse().unwrap()),
        ("fill", "") => fill(home),
        ("hold", name) => hold(home, name),
        ("open", "") => {
            Home::open(home).unwrap();
        }
        _ => panic!("no such role: {role}"),
    }
}

/// One of everything that lies in a home.
fn make(home: &Path) {
    let home = Home::open(home.join("deep/home")).unwrap();
    let (store, id) = (home.store(), conversation(1));
    store.create(id, &info("/p")).unwrap();
    store.appender(id).unwrap().append(&[first(id, "/p")]).unwrap();
    let _lease = home.locks().acquire("turn", &Owner::default(), None).unwrap();
    rejoin_journal::private::create_dir(&home.cache()).unwrap();
    rejoin_journal::private::write_atomically(&home.cache().join("probe.json"), b"{}").unwrap();
}

/// One of several writers.
pub(crate) fn append(home: &Path, writer: u128) {
    write_batches(&FileStore::new(home.join("projects")), conversation(0), writer);
}

/// Batches of three records of very different sizes, each record saying whose it is.
pub(crate) fn write_batches(store: &dyn Store, id: ConversationId, writer: u128) {
    let mut appender = store.appender(id).unwrap();
    for batch in 0..BATCHES {
        let number = writer * 1_000_000 + batch * 10;
        let size = [1, 70_000, 300][(batch % 3) as usize];
        let records: Vec<_> =
            (0..3).map(|piece| user(id, number + piece, None, &writer.to_string().repeat(size))).collect();
        appender.append(&records).unwrap();
    }
}

pub(crate) const BATCHES: u128 = 60;

/// Writes until the disk is full, and says how far it came.
fn fill(home: &Path) {
    let store = FileStore::new(home.join("projects"));
    let id = conversation(0);
    let mut appender = store.appender(id).unwrap();
    let text = "x".repeat(700);
    for batch in 0.. {
        let number = 1 + batch * 3;
        let records: Vec<_> = (number..number + 3).map(|number| user(id, number, None, &text)).collect();
        match appender.append(&records) {
            Ok(()) => {}
            Err(JournalError::Append { kept, records: 3, cause, .. }) => {
                assert_eq!(cause.kind(), std::io::ErrorKind::FileTooLarge);
                let again = appender.append(&records[kept..]).unwrap_err();
                println!("acknowledged {} kept {kept}", batch * 3);
                println!("error {again}");
                return;
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Holds a lock until its input is closed.
fn hold(home: &Path, name: &str) {
    let owner = Owner {
        pid: std::process::id(),
        started: "today".into(),
        command: "rejoin -c".into(),
        what: "a turn".into(),
    };
    let _lease = Locks::new(home.join("locks")).acquire(name, &owner, None).unwrap();
    println!("\nheld");
    std::io::stdin().read_line(&mut String::new()).unwrap();
}
