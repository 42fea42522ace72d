//! Looking for sessions of OpenCode.

use std::fs;
use std::path::{Path, PathBuf};

use rejoin_agents::Found;
use rusqlite::Connection;

use crate::recording::directory;
use crate::requests::{definition, opencode};

fn find(store: &Path, letter: char) -> (Found, Option<(u64, i64)>) {
    let id = format!("ses_e1f622e5effe{}", letter.to_string().repeat(14));
    let opencode = definition(&opencode());
    let session = opencode.session_id(&id).unwrap();
    let found = opencode.find_session(store, Path::new("/home/dev/proj"), &session);
    let witness = match &found {
        Found::At(path) => opencode.witness(path, &session).map(|seen| (seen.size, seen.mtime)),
        _ => None,
    };
    (found, witness)
}

/// The recorded database under its usual name.
fn stored() -> (tempfile::TempDir, PathBuf) {
    let store = tempfile::tempdir().unwrap();
    for ending in ["", "-wal"] {
        let from = directory("opencode").join(format!("sessions.db{ending}"));
        fs::copy(from, store.path().join(format!("opencode.db{ending}"))).unwrap();
    }
    let database = store.path().join("opencode.db");
    (store, database)
}

#[test]
fn sessions_are_found_in_the_database_and_its_log() {
    let (store, database) = stored();
    for (letter, messages) in [('A', (4, 54)), ('B', (45, 48)), ('C', (2, 53)), ('F', (1, 51))] {
        for place in [store.path(), &database] {
            assert_eq!(find(place, letter), (Found::At(database.clone()), Some(messages)), "{letter}");
        }
    }
    // Deleted, without a prompt, never there.
    for letter in ['D', 'E', 'G', 'z'] {
        assert_eq!(find(store.path(), letter).0, Found::Nowhere, "{letter}");
    }
}

#[test]
fn without_its_log_the_database_is_as_it_was() {
    let (store, database) = stored();
    fs::remove_file(store.path().join("opencode.db-wal")).unwrap();
    assert_eq!(find(store.path(), 'A').1, Some((3, 3)));
    assert_eq!(find(store.path(), 'C').0, Found::Nowhere);
    assert_eq!(find(store.path(), 'D').0, Found::At(database));
    fs::write(store.path().join("opencode.db-wal"), "").unwrap();
    assert_eq!(find(store.path(), 'A').1, Some((3, 3)));
}

#[test]
fn a_new_database_is_all_in_its_log() {
    let store = tempfile::tempdir().unwrap();
    for ending in ["", "-wal"] {
        let from = directory("opencode").join(format!("new.db{ending}"));
        fs::copy(from, store.path().join(format!("opencode.db{ending}"))).unwrap();
    }
    assert_eq!(find(store.path(), 'A').1, Some((1, 1)));
    assert_eq!(find(store.path(), 'B').0, Found::Nowhere);
    let log = store.path().join("opencode.db-wal");
    fs::write(&log, vec![0; fs::metadata(&log).unwrap().len() as usize]).unwrap();
    assert_eq!(find(store.path(), 'A').0, Found::Nowhere, "it was lost with the power");
    fs::remove_file(log).unwrap();
    assert_eq!(find(store.path(), 'A').0, Found::Nowhere);
}

#[test]
fn a_database_that_is_none_tells_nothing() {
    let store = tempfile::tempdir().unwrap();
    assert_eq!(find(store.path(), 'A').0, Found::Nowhere);
    assert_eq!(find(&store.path().join("none"), 'A').0, Found::Nowhere);
    for bytes in [&b""[..], b"SQLite format 3\0", &[1; 4096]] {
        fs::write(store.path().join("opencode.db"), bytes).unwrap();
        assert_eq!(find(store.path(), 'A').0, Found::CannotTell);
    }
}

/// After a loss of power a file may have its size and nothing else.
#[test]
fn zeros_for_a_page_of_the_database_are_noticed() {
    let (store, database) = stored();
    fs::remove_file(store.path().join("opencode.db-wal")).unwrap();
    let whole = fs::read(&database).unwrap();
    let opencode = definition(&opencode());
    let session = opencode.session_id("ses_e1f622e5effeBBBBBBBBBBBBBB").unwrap();
    let (before, size) = (find(store.path(), 'B').1, usize::from(u16::from_be_bytes([whole[16], whole[17]])));
    assert!(before.is_some() && opencode.damage(&database, &session).is_none());
    let (mut gone, mut damaged) = (0, 0);
    for page in 0..whole.len() / size {
        let mut bytes = whole.clone();
        bytes[page * size..(page + 1) * size].fill(0);
        fs::write(&database, &bytes).unwrap();
        match find(store.path(), 'B') {
            (Found::At(_), now) => {
                assert_eq!(now, before, "page {page}");
                damaged += usize::from(opencode.damage(&database, &session).is_some());
            }
            (Found::Nowhere, _) => gone += 1,
            (Found::CannotTell, _) => panic!("page {page}"),
        }
    }
    // The first page, those of the index, and those that lead to the last message.
    assert!(gone >= 2 && damaged >= 1, "{gone} {damaged}");
    fs::write(&database, vec![0; whole.len()]).unwrap();
    assert_eq!(find(store.path(), 'B').0, Found::Nowhere);
}

#[test]
fn a_broken_database_never_does_harm() {
    let (store, database) = stored();
    let whole = fs::read(&database).unwrap();
    let log = store.path().join("opencode.db-wal");
    for at in (0..whole.len()).step_by(13) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xff;
        fs::write(&database, &bytes).unwrap();
        let _ = find(store.path(), 'B');
        fs::write(&database, &whole[..at]).unwrap();
        let _ = find(store.path(), 'B');
    }
    fs::write(&database, &whole).unwrap();
    let whole = fs::read(&log).unwrap();
    for at in (0..whole.len()).step_by(13) {
        fs::write(&log, &whole[..at]).unwrap();
        let _ = find(store.path(), 'A');
    }
}

#[test]
fn older_versions_keep_a_file_for_each_message() {
    let store = tempfile::tempdir().unwrap();
    let messages = store.path().join("storage/message/ses_e1f622e5effeAAAAAAAAAAAAAA");
    fs::create_dir_all(&messages).unwrap();
    assert_eq!(find(store.path(), 'A').0, Found::Nowhere);
    fs::write(messages.join("msg_1.json"), "{}").unwrap();
    assert_eq!(find(store.path(), 'A'), (Found::At(messages), Some((1, 0))));
}

#[test]
fn the_store_follows_the_environment() {
    let store = |variables: &[(&str, &str)]| {
        let env =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into());
        definition(&opencode()).store(&env)
    };
    let home = ("HOME", "/h");
    assert_eq!(store(&[home]), Some("/h/.local/share/opencode".into()));
    assert_eq!(store(&[home, ("XDG_DATA_HOME", "/x")]), Some("/x/opencode".into()));
    assert_eq!(store(&[home, ("OPENCODE_DB", "/d/o.db")]), Some("/d/o.db".into()));
    assert_eq!(store(&[home, ("OPENCODE_DB", "o.db")]), Some("/h/.local/share/opencode/o.db".into()));
    assert_eq!(store(&[home, ("OPENCODE_DB", ":memory:")]), None);
    assert_eq!(store(&[]), None);
}

#[test]
fn a_store_is_set_up_once_a_prompt_was_stored() {
    let opencode = definition(&opencode());
    let store = tempfile::tempdir().unwrap();
    let is_set_up = |store: &Path| opencode.is_set_up(store).unwrap();
    assert!(!is_set_up(&store.path().join("nowhere")) && !is_set_up(store.path()));
    // Being made: empty at first, then without its tables, then with a prompt in them.
    fs::write(store.path().join("opencode.db"), "").unwrap();
    assert!(!is_set_up(store.path()));
    for (ending, expected) in [("", false), ("-wal", true)] {
        let from = directory("opencode").join(format!("new.db{ending}"));
        fs::copy(from, store.path().join(format!("opencode.db{ending}"))).unwrap();
        assert_eq!(is_set_up(store.path()), expected);
    }
    let (store, database) = stored();
    assert!(is_set_up(store.path()) && is_set_up(&database));
    // Versions before the database.
    let store = tempfile::tempdir().unwrap();
    fs::create_dir_all(store.path().join("storage/message/ses_1")).unwrap();
    assert!(is_set_up(store.path()));
}

/// A database as OpenCode makes one, with an empty session A.
fn written() -> (tempfile::TempDir, Connection) {
    let store = tempfile::tempdir().unwrap();
    let writer = Connection::open(store.path().join("opencode.db")).unwrap();
    let tables = "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 8;
         CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, data TEXT);
         CREATE INDEX message_session_idx ON message (session_id, id);";
    writer.execute_batch(tables).unwrap();
    (store, writer)
}

/// Adds two messages to session A at once.
fn say(writer: &mut Connection, number: usize) {
    let said = writer.transaction().unwrap();
    for half in ["a", "b"] {
        let id = format!("msg_{number:06}{half}");
        let values = (id, "ses_e1f622e5effeAAAAAAAAAAAAAA", "x".repeat(number % 5000));
        said.execute("INSERT INTO message VALUES (?1, ?2, ?3)", values).unwrap();
    }
    said.commit().unwrap();
}

fn listed(store: &Path) -> Vec<(String, u64, std::time::SystemTime)> {
    let entries = fs::read_dir(store).unwrap().map(|entry| {
        let entry = entry.unwrap();
        let meta = entry.metadata().unwrap();
        (entry.file_name().into_string().unwrap(), meta.len(), meta.modified().unwrap())
    });
    let mut listed: Vec<_> = entries.collect();
    listed.sort();
    listed
}

#[test]
fn a_look_leaves_no_trace_while_the_database_is_open_and_after_it_was_closed() {
    let (store, mut writer) = written();
    say(&mut writer, 1);
    let open = listed(store.path());
    assert!(open.iter().any(|(name, ..)| name.ends_with("-wal")), "{open:?}");
    assert_eq!(find(store.path(), 'A').1.unwrap().0, 2);
    assert_eq!(listed(store.path()), open);
    writer.close().unwrap();
    let closed = listed(store.path());
    assert_eq!(closed.len(), 1, "{closed:?}");
    assert_eq!(find(store.path(), 'A').1.unwrap().0, 2);
    assert_eq!(listed(store.path()), closed);
}

#[test]
fn while_somebody_writes_every_look_sees_whole_transactions_in_their_order() {
    const MOST: usize = 400;
    let (store, mut writer) = written();
    say(&mut writer, 0);
    std::thread::scope(|scope| {
        scope.spawn(move || (1..MOST).for_each(|number| say(&mut writer, number)));
        let mut before = 2;
        while before < 2 * MOST as u64 {
            // It may be written to too fast to be read, and says so.
            let (Found::At(_), Some((count, _))) = find(store.path(), 'A') else { continue };
            assert!(count % 2 == 0 && count >= before, "{count} after {before}");
            before = count;
        }
    });
}

#[test]
fn what_is_torn_or_changed_in_the_log_and_all_behind_it_does_not_count() {
    let (store, mut writer) = written();
    // All of it stays in the log.
    writer.execute_batch("PRAGMA wal_autocheckpoint = 0").unwrap();
    for number in 0..20 {
        say(&mut writer, number);
    }
    let copy = tempfile::tempdir().unwrap();
    fs::copy(store.path().join("opencode.db"), copy.path().join("opencode.db")).unwrap();
    let whole = fs::read(store.path().join("opencode.db-wal")).unwrap();
    let log = copy.path().join("opencode.db-wal");
    let by_sqlite = |bytes: &[u8]| {
        let store = tempfile::tempdir().unwrap();
        fs::copy(copy.path().join("opencode.db"), store.path().join("o.db")).unwrap();
        fs::write(store.path().join("o.db-wal"), bytes).unwrap();
        let reader = Connection::open(store.path().join("o.db")).unwrap();
        reader.query_row("SELECT count(*) FROM message", [], |row| row.get::<_, i64>(0)).unwrap_or(0)
    };
    let mut seen = std::collections::BTreeSet::new();
    for at in (40..whole.len()).step_by(whole.len() / 40) {
        for torn in [false, true] {
            let mut bytes = whole.clone();
            if torn {
                bytes[at..].fill(0);
            } else {
                bytes[at] ^= 0x40;
            }
            fs::write(&log, &bytes).unwrap();
            let ours = find(copy.path(), 'A').1.map_or(0, |(count, _)| i64::try_from(count).unwrap());
            assert_eq!(ours, by_sqlite(&bytes), "at {at} of {}, torn: {torn}", whole.len());
            seen.insert(ours);
        }
    }
    assert!(seen.len() > 10, "{seen:?}");
}
