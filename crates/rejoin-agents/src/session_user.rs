//! Who has a session open, for agents that show it in their store.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rejoin_core::SessionId;
use rejoin_files::read_regular_text;
use serde::Deserialize;

use crate::places;

/// A process that says it has a session open. It may have ended since.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SessionUser {
    /// Its number.
    pub pid: u32,
    /// When it was born, as the system counts, where it tells.
    pub born: Option<u64>,
}

/// No such file is longer.
const LONGEST: u64 = 1 << 20;
/// Nobody has more of them open.
const MOST: usize = 1000;

#[derive(Deserialize)]
struct ProcessFile {
    pid: u32,
    #[serde(rename = "procStart", default)]
    born: serde_json::Value,
    #[serde(alias = "sessionId", alias = "session_id")]
    session: String,
}

/// What a file of a process says of a session.
fn in_file(path: &Path, session: &SessionId) -> Option<SessionUser> {
    let file: ProcessFile = serde_json::from_str(&read_regular_text(path, LONGEST).ok()?).ok()?;
    let born = file.born.as_u64().or_else(|| file.born.as_str()?.parse().ok());
    (file.session == session.as_str()).then_some(SessionUser { pid: file.pid, born })
}

/// Those of which a directory has a file each, named by their numbers.
pub(crate) fn by_process_files(dir: &Path, session: &SessionId) -> Vec<SessionUser> {
    let files = places::entries(dir).unwrap_or_default().into_iter();
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.take(MOST).filter_map(|path| in_file(&path, session)).collect()
}

/// The one a file beside the session names.
pub(crate) fn by_file(path: &Path, session: &SessionId) -> Vec<SessionUser> {
    in_file(path, session).into_iter().collect()
}

/// The one that holds a lock on a file, as the system lists them; the lock itself is not touched.
pub(crate) fn by_lock(path: &Path) -> Vec<SessionUser> {
    let Ok(meta) = path.metadata() else { return Vec::new() };
    let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    holder(&locks, meta.ino()).into_iter().collect()
}

/// `1: FLOCK  ADVISORY  WRITE 4711 fe:00:131 0 EOF`
fn holder(locks: &str, inode: u64) -> Option<SessionUser> {
    locks.lines().find_map(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let (kind, _, _, pid, file) =
            (fields.next()?, fields.next()?, fields.next()?, fields.next()?, fields.next()?);
        let is_it = file.rsplit(':').next()?.parse::<u64>().ok()? == inode;
        (kind == "FLOCK" && is_it).then(|| SessionUser { pid: pid.parse().unwrap_or_default(), born: None })
    })
}

#[cfg(test)]
mod tests {
    use rejoin_core::Agent;

    use super::*;

    #[test]
    fn who_has_a_session_open_is_told_by_its_file() {
        let dir = tempfile::tempdir().unwrap();
        let id = |id: &str| SessionId::new(Agent::Claude, id).unwrap();
        let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
        write("17.json", r#"{"pid":17,"procStart":"4711","sessionId":"aaaa"}"#);
        write("18.json", r#"{"pid":18,"session_id":"bbbb"}"#);
        write("19.json", "torn");
        assert_eq!(by_process_files(dir.path(), &id("aaaa")), [SessionUser { pid: 17, born: Some(4711) }]);
        assert_eq!(by_process_files(dir.path(), &id("bbbb")), [SessionUser { pid: 18, born: None }]);
        assert!(by_process_files(dir.path(), &id("cccc")).is_empty());
        assert!(by_file(&dir.path().join("18.json"), &id("aaaa")).is_empty());
    }

    #[test]
    fn who_holds_a_lock_is_told_by_the_system() {
        let locks =
            "1: POSIX  ADVISORY  WRITE 5 fe:00:131 0 EOF\n2: FLOCK  ADVISORY  WRITE 4711 fe:00:131 0 EOF\n";
        assert_eq!(holder(locks, 131), Some(SessionUser { pid: 4711, born: None }));
        assert_eq!(holder(locks, 132), None);
    }
}
