//! Putting journals in place, new ones and those from elsewhere: all of it or nothing, and never in the place
//! of another one.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rejoin_core::ConversationId;

use crate::append::{AppendLock, FileAppender};
use crate::private::{self, Draft};
use crate::{Adopted, BeforeAdopting, JournalError};

/// Puts a new journal where none is. It takes no more syncs than making the file and appending would: one of
/// the lines, one of the directory.
pub(crate) fn begin(path: &Path, id: ConversationId, lines: &[u8]) -> Result<(), JournalError> {
    // In a directory of thousands, looking for what was left behind is left to who lists them anyway.
    let draft = Draft::beside(path)?;
    (&draft.file)
        .write_all(lines)
        .and_then(|()| draft.file.sync_data())
        .map_err(JournalError::io("write", &draft.path))?;
    put_where_none_is(&draft, path, id)
}

/// Puts a journal where none is. `place` looks into the draft of it, which is made beside `path`, and says
/// where it belongs.
pub(crate) fn take_in(
    path: &Path,
    id: ConversationId,
    bytes: &mut dyn Read,
    before: BeforeAdopting<'_>,
    place: impl FnOnce(&Path) -> Result<PathBuf, JournalError>,
) -> Result<Adopted, JournalError> {
    let draft = Draft::new(path)?;
    io::copy(bytes, &mut &draft.file)
        .and_then(|_| draft.file.sync_all())
        .map_err(JournalError::io("write", &draft.path))?;
    let path = place(&draft.path)?;
    before(Adopted::New)?;
    put_where_none_is(&draft, &path, id)?;
    Ok(Adopted::New)
}

/// Somebody who came first is not replaced.
fn put_where_none_is(draft: &Draft, path: &Path, id: ConversationId) -> Result<(), JournalError> {
    match private::rename_new(&draft.path, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(JournalError::Exists { id });
        }
        renamed => renamed.map_err(JournalError::io("put in place", path))?,
    }
    path.parent().map_or(Ok(()), private::sync_dir)
}

/// Makes a journal hold `bytes`, if what it holds is their beginning. Readers see the old one or the
/// whole new one; who waits to append finds the new one.
pub(crate) fn go_on_as(
    path: PathBuf,
    id: ConversationId,
    bytes: &mut dyn Read,
    before: BeforeAdopting<'_>,
) -> Result<Adopted, JournalError> {
    let appender = FileAppender::open(path)?;
    let (file, path) = appender.parts();
    let cannot = |cause| JournalError::io("go on with", path)(cause);
    let _locked = AppendLock::take(file, path)?;
    let length = file.metadata().map_err(cannot)?.len();
    if !is_beginning(file, length, id, bytes, path)? {
        return Ok(Adopted::Known);
    }
    let mut first = [0];
    if bytes.read(&mut first).map_err(cannot)? == 0 {
        return Ok(Adopted::Known);
    }
    let draft = Draft::new(path)?;
    let ours = File::open(path).map_err(cannot)?.take(length);
    let more = io::copy(&mut { ours }, &mut &draft.file)
        .and_then(|_| (&draft.file).write_all(&first))
        .and_then(|()| io::copy(bytes, &mut &draft.file))
        .and_then(|more| draft.file.sync_all().map(|()| more + 1))
        .map_err(JournalError::io("write", &draft.path))?;
    before(Adopted::Longer(more))?;
    draft.put_in_place(path)?;
    Ok(Adopted::Longer(more))
}

/// Reads on to where our journal ends; false if theirs ends before.
fn is_beginning(
    file: &File,
    length: u64,
    id: ConversationId,
    bytes: &mut dyn Read,
    path: &Path,
) -> Result<bool, JournalError> {
    let cannot = |cause| JournalError::io("go on with", path)(cause);
    let (mut theirs, mut ours) = (vec![0; 64 << 10], vec![0; 64 << 10]);
    let mut at = 0;
    while at < length {
        let room = theirs.len().min((length - at) as usize);
        let count = bytes.read(&mut theirs[..room]).map_err(cannot)?;
        if count == 0 {
            return Ok(false);
        }
        file.read_exact_at(&mut ours[..count], at).map_err(cannot)?;
        if theirs[..count] != ours[..count] {
            return Err(JournalError::Differs { id });
        }
        at += count as u64;
    }
    Ok(true)
}
