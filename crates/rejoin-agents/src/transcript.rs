//! Sessions kept as one file of JSON lines each, in a directory named after the project's, as Claude
//! Code and Qwen Code do it.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use memchr::memmem;

/// The name of a project's directory: every UTF-16 unit that is no ASCII letter or digit as `-`.
pub(crate) fn mangled(dir: &Path) -> String {
    let units = dir.to_string_lossy().encode_utf16().collect::<Vec<u16>>();
    let plain = |unit: u16| u8::try_from(unit).ok().filter(u8::is_ascii_alphanumeric);
    units.into_iter().map(|unit| plain(unit).map_or('-', char::from)).collect()
}

/// Whether a prompt was written into a session: one without is none.
pub(crate) fn holds_a_prompt(file: &Path) -> io::Result<bool> {
    const FARTHEST: u64 = 64 << 20;
    const CHUNK: usize = 64 << 10;
    const PROMPT: &[u8] = br#""type":"user""#;
    let mut file = match File::open(file) {
        Ok(file) => file.take(FARTHEST),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(false);
        }
        Err(error) => return Err(error),
    };
    let finder = memmem::Finder::new(PROMPT);
    let mut buffer = Vec::with_capacity(CHUNK + PROMPT.len());
    loop {
        let read = file.by_ref().take(CHUNK as u64).read_to_end(&mut buffer)?;
        if finder.find(&buffer).is_some() {
            return Ok(true);
        }
        if read == 0 {
            // So much without a prompt is not what an unused session looks like.
            return Ok(file.limit() == 0);
        }
        let keep = buffer.len().saturating_sub(PROMPT.len());
        buffer.drain(..keep);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_odd_character_of_a_path_becomes_a_dash() {
        assert_eq!(mangled(Path::new("/home/me/my_app.v2")), "-home-me-my-app-v2");
        assert_eq!(mangled(Path::new("/é/😀")), "-----");
    }
}
