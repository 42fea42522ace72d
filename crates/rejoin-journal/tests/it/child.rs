//! This very test binary, run again as another process under other circumstances.

use std::path::Path;
use std::process::Command;

use rejoin_core::ConversationId;
use rejoin_journal::{FileStore, Home, JournalError, Locks, Owner, Store, Writer, load};

use crate::support::{conversation, first, info, user};

const ROLE: &str = "REJOIN_JOURNAL_TEST_ROLE";
const HOME: &str = "REJOIN_JOURNAL_TEST_HOME";

/// A process that plays a role, after a line of shell has set the scene.
pub(crate) fn child(scene: &str, role: &str, home: &Path) -> Command {
    behind(Command::new("sh"), scene, role, home)
}

/// The same in a mount namespace of its own, where the system allows that.
pub(crate) fn child_with_own_mounts(scene: &str, role: &str, home: &Path) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh"]);
    behind(command, scene, role, home)
}

fn behind(mut shell: Command, scene: &str, role: &str, home: &Path) -> Command {
    shell.arg("-c").arg(format!("{scene}; exec \"$0\" \"$@\""));
    shell.arg(std::env::current_exe().unwrap());
    shell.args(["--exact", "child::plays_its_role", "--nocapture", "--test-threads=1"]);
    shell.env(ROLE, role).env(HOME, home);
    shell
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
        ("only-read", "") => read_only(home),
        _ => panic!("no such role: {role}"),
    }
}

/// One of everything that lies in a home.
fn make(home: &Path) {
    let home = Home::open(home.join("deep/home")).unwrap();
    let (store, id) = (home.store(), conversation(1));
    store.create(id, &info("/p"), &[first(id, "/p")], Writer::Label).unwrap();
    let _lease = home.locks().acquire("turn", &Owner::default(), None).unwrap();
    rejoin_journal::private::create_dir(&home.cache()).unwrap();
    rejoin_journal::private::write_atomically(&home.cache().join("probe.json"), b"{}").unwrap();
}

/// One of several writers.
pub(crate) fn append(home: &Path, writer: u128) {
    write_batches(&FileStore::new(home), conversation(0), writer);
}

/// Batches of three records of very different sizes, each record saying whose it is.
pub(crate) fn write_batches(store: &dyn Store, id: ConversationId, writer: u128) {
    let mut appender = store.appender(id, Writer::Label).unwrap();
    for batch in 0..BATCHES {
        let number = writer * 1_000_000 + batch * 10;
        let size = [1, 70_000, 300][(batch % 3) as usize];
        let records: Vec<_> =
            (0..3).map(|piece| user(id, number + piece, None, &writer.to_string().repeat(size))).collect();
        appender.append(&records).unwrap();
    }
}

pub(crate) const BATCHES: u128 = 60;

/// Writes until the disk is full, says how far it came, and goes on when there is space again.
fn fill(home: &Path) {
    let store = FileStore::new(home);
    let id = conversation(0);
    let mut appender = store.appender(id, Writer::Label).unwrap();
    let text = "x".repeat(700);
    let mut batches = (0..).map(|batch| -> Vec<_> {
        (1 + batch * 3..4 + batch * 3).map(|number| user(id, number, None, &text)).collect()
    });
    let mut acknowledged = 0;
    let (rest, error) = loop {
        let records = batches.next().unwrap();
        match appender.append(&records) {
            Ok(_) => acknowledged += 3,
            Err(JournalError::Append { kept, records: 3, cause, .. }) => {
                assert_eq!(cause.kind(), std::io::ErrorKind::FileTooLarge);
                break (records[kept..].to_vec(), appender.append(&records[kept..]).unwrap_err());
            }
            Err(error) => panic!("{error}"),
        }
    };
    println!("\nacknowledged {acknowledged}, left {}", rest.len());
    println!("error {error}");

    let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize);
    let unlimited = rustix::process::Rlimit { current: limit.maximum, ..limit };
    rustix::process::setrlimit(rustix::process::Resource::Fsize, unlimited).unwrap();
    let full = std::fs::copy(store.path(id).unwrap(), home.join("full.jsonl")).unwrap();
    assert!(full > 10_000);
    appender.append(&rest).unwrap();
    appender.append(&[user(id, 999_999, None, "space again")]).unwrap();
}

/// Everything that needs no writing works; the rest says why it does not.
fn read_only(home: &Path) {
    let home = Home::open(home).unwrap();
    let (store, id) = (home.store(), conversation(0));
    assert_eq!(store.list(None).unwrap().len(), 1);
    assert_eq!(load(&store, id).unwrap().conversation.tree.turns().len(), 1);
    assert_eq!(home.locks().holder("home").unwrap(), None);
    let refused = [
        store.appender(id, Writer::Label).err().unwrap().to_string(),
        store.create(conversation(1), &info("/new"), &[], Writer::Label).err().unwrap().to_string(),
        home.locks().acquire("turn", &Owner::default(), None).unwrap_err().to_string(),
    ];
    for error in refused {
        assert!(error.contains("read-only: mount it writable, or set REJOIN_HOME"), "{error}");
        assert!(error.contains(&*home.root().to_string_lossy()), "{error}");
    }
}

/// Holds a lock until its input is closed.
fn hold(home: &Path, name: &str) {
    let owner = Owner::this_process("rejoin -c", "a turn", "today");
    let _lease = Locks::new(home.join("locks")).acquire(name, &owner, None).unwrap();
    println!("\nheld");
    std::io::stdin().read_line(&mut String::new()).unwrap();
}
