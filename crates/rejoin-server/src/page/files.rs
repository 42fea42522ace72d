//! The page's files, inside the executable: `build.rs` makes the table of them.

/// A file of the page.
pub(super) struct PageFile {
    /// Where it is, without the first slash: `assets/index-4711.js`.
    path: &'static str,
    /// Another one for other bytes; weak, because both forms have the same.
    pub(super) etag: &'static str,
    pub(super) plain: &'static [u8],
    /// If that is shorter.
    pub(super) gzip: Option<&'static [u8]>,
}

static FILES: &[PageFile] = include!(concat!(env!("OUT_DIR"), "/page_files.rs"));

/// What is served wherever the page has an address of its own.
pub(super) const INDEX: &str = "index.html";
/// Files below have a digest of themselves in their names.
const NAMED_BY_CONTENT: &str = "assets/";

/// The file of that path.
pub(super) fn find(path: &str) -> Option<&'static PageFile> {
    FILES.iter().find(|file| file.path == path)
}

/// Whether only files of the page can be there.
pub(super) fn is_for_files(path: &str) -> bool {
    path.starts_with(NAMED_BY_CONTENT)
}

impl PageFile {
    /// Its type. What is not known is not shown: browsers are told not to guess.
    pub(super) fn content_type(&self) -> &'static str {
        match self.path.rsplit_once('.').map(|(_, extension)| extension) {
            Some("html") => "text/html; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("json") => "application/json",
            Some("webmanifest") => "application/manifest+json",
            Some("svg") => "image/svg+xml",
            Some("png") => "image/png",
            Some("ico") => "image/x-icon",
            Some("woff2") => "font/woff2",
            Some("txt") => "text/plain; charset=utf-8",
            _ => "application/octet-stream",
        }
    }

    /// How long it may be kept: for ever under a name that other bytes would not have, else as long as it is asked
    /// for again each time.
    pub(super) fn cache_control(&self) -> &'static str {
        if is_for_files(self.path) { "public, max-age=31536000, immutable" } else { "no-cache" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_there_and_every_file_has_a_type() {
        assert!(find(INDEX).is_some());
        for file in FILES {
            assert_ne!(file.content_type(), "application/octet-stream", "{}", file.path);
            assert!(!file.plain.is_empty(), "{}", file.path);
            assert!(file.gzip.is_none_or(|gzip| gzip.len() < file.plain.len()), "{}", file.path);
        }
    }
}
