//! Files that a user or a repository named: they may be anything.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// Opens a file for reading. A pipe, a device, a socket or a directory is refused at once.
pub fn open_regular_file(path: &Path) -> io::Result<(File, Metadata)> {
    // Asked before it is opened, because opening a device may do something.
    check(&path.metadata()?)?;
    // And after it, because it may be another one by now; opening a pipe would wait for a writer.
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    check(&metadata)?;
    Ok((file, metadata))
}

/// Reads a file of at most `limit` bytes. What is no file is refused as by [`open_regular_file`], and no more
/// than the limit is read of a file that has no end.
pub fn read_regular_file(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let (file, metadata) = open_regular_file(path)?;
    let mut bytes = Vec::new();
    if metadata.len() <= limit {
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    }
    if metadata.len() > limit || bytes.len() as u64 > limit {
        return Err(io::Error::new(ErrorKind::FileTooLarge, format!("it is larger than {}", size(limit))));
    }
    Ok(bytes)
}

/// The same, for a text.
pub fn read_regular_text(path: &Path, limit: u64) -> io::Result<String> {
    let bytes = read_regular_file(path, limit)?;
    String::from_utf8(bytes).map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8"))
}

fn check(metadata: &Metadata) -> io::Result<()> {
    let kind = metadata.file_type();
    let what = match () {
        () if kind.is_file() => return Ok(()),
        () if kind.is_dir() => {
            return Err(io::Error::new(ErrorKind::IsADirectory, "it is a directory, not a file"));
        }
        () if kind.is_fifo() => "a pipe",
        () if kind.is_socket() => "a socket",
        () => "a device",
    };
    Err(io::Error::new(ErrorKind::InvalidInput, format!("it is {what}, not a file")))
}

fn size(bytes: u64) -> String {
    match bytes >> 20 {
        0 => format!("{} KiB", bytes >> 10),
        mebibytes => format!("{mebibytes} MiB"),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, vec![b'x'; 2048]).unwrap();
        assert_eq!(read_regular_file(&path, 2048).unwrap().len(), 2048);
        let error = read_regular_file(&path, 2047).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (ErrorKind::FileTooLarge, "it is larger than 1 KiB")
        );
        std::fs::write(&path, b"\xff").unwrap();
        assert_eq!(read_regular_text(&path, 10).unwrap_err().kind(), ErrorKind::InvalidData);
        assert_eq!(read_regular_file(&dir.path().join("none"), 1).unwrap_err().kind(), ErrorKind::NotFound);
    }

    /// None of these may be waited for, nor read to its end.
    #[test]
    fn what_is_no_file_is_refused_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let _socket = UnixListener::bind(at("socket")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("endless")).unwrap();
        std::os::unix::fs::symlink(at("pipe"), at("link")).unwrap();
        for (name, words) in [
            ("pipe", "it is a pipe, not a file"),
            ("link", "it is a pipe, not a file"),
            ("socket", "it is a socket, not a file"),
            ("endless", "it is a device, not a file"),
            ("", "it is a directory, not a file"),
        ] {
            assert_eq!(read_regular_file(&at(name), 1 << 20).unwrap_err().to_string(), words, "{name:?}");
        }
    }

    /// It may be another one by the time it is opened.
    #[test]
    fn a_file_that_becomes_something_else_meanwhile_is_not_read_as_that() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("file"), "text").unwrap();
        mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        std::os::unix::fs::symlink(at("file"), at("named")).unwrap();
        let over = AtomicBool::new(false);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                for what in ["pipe", "file"].into_iter().cycle() {
                    std::os::unix::fs::symlink(at(what), at("next")).unwrap();
                    std::fs::rename(at("next"), at("named")).unwrap();
                    if over.load(Ordering::Relaxed) {
                        break;
                    }
                }
            });
            let read = |_| read_regular_file(&at("named"), 100).unwrap_or_else(|_| b"text".to_vec());
            let all: Vec<Vec<u8>> = (0..20_000).map(read).collect();
            over.store(true, Ordering::Relaxed);
            assert!(all.iter().all(|bytes| bytes == b"text"), "a pipe was read");
        });
    }
}
