//! What somebody who follows a journal keeps of it between one look and the next.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;

use rejoin_core::ConversationId;

use crate::notify::Registered;
use crate::{Cursor, JournalError, digest};

/// What [`crate::Store::tail_on`] keeps for whoever calls it. Empty at first.
#[derive(Debug, Default)]
pub struct KeptOpen {
    pub(crate) journal: Option<OpenJournal>,
    pub(crate) registered: Option<Registered>,
}

/// A journal that is a file, as it was found.
#[derive(Debug)]
pub(crate) struct OpenJournal {
    /// Kept open, so that no other file gets its number.
    pub(crate) file: File,
    pub(crate) path: PathBuf,
    /// What tells the file from any other.
    pub(crate) number: (u64, u64),
    /// How long it was when nothing whole was found in it behind a place, and that place.
    pub(crate) stood: Option<(u64, u64)>,
    /// The newest cursor that was taken of it.
    pub(crate) newest: Option<Cursor>,
}

impl OpenJournal {
    /// The journal, and how long it is.
    pub(crate) fn new(file: File, path: PathBuf) -> io::Result<(Self, u64)> {
        let metadata = file.metadata()?;
        let number = (metadata.dev(), metadata.ino());
        let journal = Self { file, path, number, stood: None, newest: None };
        Ok((journal, metadata.len()))
    }

    /// How long it is, if it still stands where it stood.
    pub(crate) fn length_in_place(&self) -> Option<u64> {
        let metadata = fs::metadata(&self.path).ok()?;
        ((metadata.dev(), metadata.ino()) == self.number).then_some(metadata.len())
    }
}

impl OpenJournal {
    /// The cursor of a place, or why there is none.
    pub(crate) fn cursor(&self, id: ConversationId, place: u64) -> Result<Cursor, JournalError> {
        if let Some(newest) = self.newest.filter(|newest| newest.position() == place) {
            return Ok(newest);
        }
        let cursor = digest::cursor_at(Positioned::new(&self.file), id, place);
        let cursor = cursor.map_err(JournalError::io("read", &self.path))?;
        cursor.map_err(|why| JournalError::Diverged { id, why })
    }
}

/// Reads a file that others read, too: it has a place of its own, and going to another costs nothing.
pub(crate) struct Positioned<'a> {
    file: &'a File,
    at: u64,
}

impl<'a> Positioned<'a> {
    pub(crate) fn new(file: &'a File) -> Self {
        Self { file, at: 0 }
    }
}

impl Read for Positioned<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Positioned<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::Current(distance) => self.at.checked_add_signed(distance),
            SeekFrom::End(distance) => self.file.metadata()?.len().checked_add_signed(distance),
        };
        self.at = place.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}
