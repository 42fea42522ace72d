//! Files that go along with a prompt.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rejoin_core::Attachment;

use crate::arguments::missing;
use crate::{Capabilities, Definition, Refusal, TurnRequest, registry};

/// A file to go along with a prompt, read once: what is sent is what was hashed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attached {
    /// What is remembered of it.
    pub about: Attachment,
    /// Its kind.
    pub media: Media,
    /// What it holds.
    pub bytes: Vec<u8>,
    /// The name of its copy, for agents that read files themselves: it can be taken for nothing
    /// else in an argument or a prompt, and its ending fits what it holds.
    pub copy_name: String,
}

/// The kinds of files agents tell apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Media {
    /// PNG, JPEG, GIF or WebP.
    Image,
    /// PDF.
    Pdf,
    /// Text in UTF-8.
    Text,
    /// Anything else.
    Other,
}

impl Attached {
    /// A file of this name, with the hash of its bytes.
    pub fn new(name: &str, bytes: Vec<u8>, sha256: String) -> Self {
        let (media, media_type, endings) = look(&bytes);
        let about = Attachment {
            name: name.replace(char::is_control, "_"),
            media_type: media_type.to_owned(),
            size: bytes.len() as u64,
            sha256,
        };
        Self { copy_name: copy_name(name, media, endings), about, media, bytes }
    }

    /// What it holds, as text; empty if it is none.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes).unwrap_or_default()
    }

    /// What it holds, as base64.
    pub(crate) fn base64(&self) -> String {
        STANDARD.encode(&self.bytes)
    }

    /// What it holds, as an address.
    pub(crate) fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.about.media_type, self.base64())
    }
}

/// Tells from its first bytes what a file holds: kind, type, and the endings of such files.
fn look(bytes: &[u8]) -> (Media, &'static str, &'static [&'static str]) {
    let is_webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        (Media::Image, "image/png", &["png"])
    } else if bytes.starts_with(b"\xff\xd8\xff") {
        (Media::Image, "image/jpeg", &["jpg", "jpeg"])
    } else if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        (Media::Image, "image/gif", &["gif"])
    } else if is_webp {
        (Media::Image, "image/webp", &["webp"])
    } else if bytes.starts_with(b"%PDF-") {
        (Media::Pdf, "application/pdf", &["pdf"])
    } else if !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok() {
        (Media::Text, "text/plain", &[])
    } else {
        (Media::Other, "application/octet-stream", &[])
    }
}

/// Endings by which agents take a file for something other than text.
const NOT_TEXT: &[&str] = &["png", "jpg", "jpeg", "gif", "webp", "bmp", "pdf", "mp3", "wav", "mp4", "zip"];

/// Longer names are cut: a file system takes 255 bytes, and a draft of the copy has a longer one.
const LONGEST_NAME: usize = 40;

fn copy_name(name: &str, media: Media, endings: &[&str]) -> String {
    let plain = |c: char| c.is_alphanumeric() || "._-".contains(c);
    let mut copy: String = name.chars().map(|c| if plain(c) { c } else { '_' }).take(LONGEST_NAME).collect();
    if copy.starts_with(['.', '-']) {
        copy.insert(0, '_');
    }
    let ending = Path::new(name).extension().map(|ending| ending.to_string_lossy().to_lowercase());
    let is = |list: &[&str]| ending.as_deref().is_some_and(|ending| list.contains(&ending));
    let fits = if media == Media::Text { !is(NOT_TEXT) } else { is(endings) };
    match endings.first() {
        _ if fits && name.chars().count() <= LONGEST_NAME => copy,
        Some(ending) => format!("{copy}.{ending}"),
        None => format!("{copy}.txt"),
    }
}

/// Refuses files of a kind an agent does not take.
pub fn check_kinds(agent: &dyn Definition, attachments: &[Attached]) -> Result<(), Refusal> {
    let Some(odd) = attachments.iter().find(|attached| !agent.takes(attached.media)) else {
        return Ok(());
    };
    let kinds = [(Media::Image, "images"), (Media::Pdf, "PDF"), (Media::Text, "text")];
    let taken: Vec<&str> =
        kinds.iter().filter(|(media, _)| agent.takes(*media)).map(|(_, words)| *words).collect();
    let taken = if taken.is_empty() { "no files".to_owned() } else { taken.join(", ") };
    let others: Vec<String> = registry()
        .iter()
        .filter(|other| other.takes(odd.media))
        .map(|other| other.agent().to_string())
        .collect();
    let others = if others.is_empty() {
        "no agent takes such a file".to_owned()
    } else {
        format!("such a file can go to {}", others.join(", "))
    };
    let Attachment { name, media_type, .. } = &odd.about;
    Err(Refusal::Unsupported(format!(
        "{name} ({media_type}) cannot be attached: {} takes {taken}; {others}; and an agent with tools can open a file \
         that the prompt names",
        agent.agent()
    )))
}

/// What an agent reads of a text file: it cuts off the rest.
pub(crate) struct Reads {
    pub(crate) bytes: usize,
    pub(crate) lines: usize,
    /// Characters in a line.
    pub(crate) width: usize,
}

impl Reads {
    /// Refuses texts of which the agent would see only a part.
    pub(crate) fn check(&self, agent: &str, attachments: &[Attached]) -> Result<(), Refusal> {
        let whole = |attached: &Attached| {
            let text = attached.text();
            text.len() <= self.bytes
                && text.lines().count() <= self.lines
                && text.lines().all(|line| line.chars().count() <= self.width)
        };
        let cut = |attached: &&Attached| attached.media == Media::Text && !whole(attached);
        match attachments.iter().find(cut) {
            None => Ok(()),
            Some(long) => Err(Refusal::Unsupported(format!(
                "{agent} would read only a part of {}: its limits are {} bytes, {} lines and {} characters a line; put \
                 the text into the prompt with -f, or the file into the project and name it",
                long.about.name, self.bytes, self.lines, self.width
            ))),
        }
    }
}

impl TurnRequest<'_> {
    /// Where copies of the attachments will lie.
    pub(crate) fn copies(&self, agent: &str) -> Result<Vec<String>, Refusal> {
        let path = |attached: &Attached| {
            let path = self.copies.join(&attached.copy_name);
            // Commas separate, in lists of files and of directories.
            path.to_str().filter(|path| !path.contains([',', '\n'])).map(str::to_owned).ok_or_else(|| {
                Refusal::Unsupported(format!(
                    "{agent} cannot be told of a file in {}: the path holds a comma or is no UTF-8; choose another \
                     REJOIN_HOME",
                    self.copies.display()
                ))
            })
        };
        self.attachments.iter().map(path).collect()
    }

    /// The flag that lets the copies in, for Gemini and its kin.
    pub(crate) fn copies_flag(
        &self,
        agent: &str,
        capabilities: &Capabilities,
    ) -> Result<Option<String>, Refusal> {
        const FLAG: &str = "--include-directories";
        if self.attachments.is_empty() {
            return Ok(None);
        }
        if !capabilities.has(FLAG) {
            return Err(missing(agent, FLAG, "takes no attachments"));
        }
        Ok(Some(format!("{FLAG}={}", self.copies.display())))
    }

    /// The copies as a prompt mentions them to Gemini and its kin; empty if there are none.
    pub(crate) fn mentions(&self, agent: &str) -> Result<String, Refusal> {
        if self.attachments.is_empty() {
            return Ok(String::new());
        }
        let mut text = "\n\nAttached:".to_owned();
        for path in self.copies(agent)? {
            text.push_str(" @");
            for c in path.chars() {
                if !c.is_alphanumeric() && !"/._-".contains(c) {
                    text.push('\\');
                }
                text.push(c);
            }
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attached(name: &str, bytes: &[u8]) -> Attached {
        Attached::new(name, bytes.to_vec(), "x".into())
    }

    #[test]
    fn the_content_tells_what_a_file_is() {
        for (bytes, media, media_type) in [
            (&b"\x89PNG\r\n\x1a\nrest"[..], Media::Image, "image/png"),
            (b"\xff\xd8\xff\xe0", Media::Image, "image/jpeg"),
            (b"GIF89a", Media::Image, "image/gif"),
            (b"RIFF\0\0\0\0WEBPVP8 ", Media::Image, "image/webp"),
            (b"RIFF\0\0\0\0WAVE", Media::Other, "application/octet-stream"),
            (b"%PDF-1.7", Media::Pdf, "application/pdf"),
            ("größe\n".as_bytes(), Media::Text, "text/plain"),
            (b"\xff\xfe", Media::Other, "application/octet-stream"),
            (b"a\0b", Media::Other, "application/octet-stream"),
        ] {
            let file = attached("x.png", bytes);
            assert_eq!((file.media, file.about.media_type.as_str()), (media, media_type), "{bytes:?}");
        }
    }

    #[test]
    fn copies_have_names_that_mean_nothing_else() {
        let png = b"\x89PNG\r\n\x1a\n";
        for (name, bytes, copy) in [
            ("a.png", &png[..], "a.png"),
            ("A.PNG", png, "A.PNG"),
            ("-x, @y z.png", png, "_-x___y_z.png"),
            ("photo", png, "photo.png"),
            ("photo.dat", png, "photo.dat.png"),
            (".hidden.png", png, "_.hidden.png"),
            ("größe.md", b"text", "größe.md"),
            ("Makefile", b"text", "Makefile"),
            ("not.png", b"text", "not.png.txt"),
        ] {
            assert_eq!(attached(name, bytes).copy_name, copy, "{name}");
        }
        assert_eq!(attached(&"x".repeat(300), b"text").copy_name.len(), LONGEST_NAME + 4);
    }

    #[test]
    fn names_hold_no_control_characters() {
        assert_eq!(attached("a\n\u{1b}b", b"x").about.name, "a__b");
    }

    #[test]
    fn long_texts_are_seen() {
        let reads = Reads { bytes: 100, lines: 3, width: 10 };
        let check = |text: &str| reads.check("x", &[attached("n", text.as_bytes())]);
        assert!(check("a\nb\nc\n").is_ok());
        for long in ["a\nb\nc\nd", "abcdefghijk", &"é".repeat(11)] {
            assert!(check(long).is_err(), "{long}");
        }
        assert!(check("éééééééééé").is_ok());
        assert!(check("%PDF-1.4\na paper\nof many\nlines\n").is_ok());
    }
}
