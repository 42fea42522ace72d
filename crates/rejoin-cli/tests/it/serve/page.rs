//! The page at `/`: its files, its addresses, and what it says to browsers.

use super::daemon::{Daemon, Reply};
use crate::support::Bench;

/// As a browser asks that is to show a page.
const SHOWS_PAGES: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

impl Daemon<'_> {
    fn shown(&self, path: &str) -> Reply {
        self.ask_bare("GET", path).header("Accept", SHOWS_PAGES).send()
    }
}

/// The addresses that an `index.html` names, of files of its own.
fn named(html: &str) -> Vec<String> {
    let parts = html.split('"').filter(|part| part.starts_with("/assets/"));
    parts.map(str::to_owned).collect()
}

#[test]
fn the_page_is_shown_at_every_address_of_its_own_without_a_token() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let page = daemon.ask_bare("GET", "/").send();
    assert_eq!(page.status, 200);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(page.header("cache-control"), Some("no-cache"));
    assert!(page.text().to_ascii_lowercase().starts_with("<!doctype html>"), "{}", page.text());
    for path in ["/c/0b0fcb0e-6a9d-4b3c-8f47-5a0d6d5f1c11", "/inbox", "/flows?x=1", "/stats", "/devices"] {
        let shown = daemon.shown(path);
        assert_eq!((shown.status, &shown.body), (200, &page.body), "{path}");
    }
    assert_eq!(daemon.ask_bare("GET", "/inbox").header("Accept", "*/*").send().is(404)["code"], "not_found");
    assert_eq!(daemon.shown("/api/inbox").is(401)["code"], "unauthorized");
    assert_eq!(daemon.get("/api/inbox").is(404)["code"], "not_found");
}

#[test]
fn files_are_kept_for_ever_and_the_page_is_asked_for_again() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let page = daemon.shown("/");
    let files = named(&page.text());
    assert!(!files.is_empty(), "{}", page.text());
    for path in &files {
        let file = daemon.ask_bare("GET", path).send();
        assert_eq!(file.status, 200, "{path}");
        assert_eq!(file.header("cache-control"), Some("public, max-age=31536000, immutable"), "{path}");
        let kind = match path.rsplit_once('.') {
            Some((_, "css")) => "text/css",
            _ => "text/javascript",
        };
        assert_eq!(file.header("content-type"), Some(&*format!("{kind}; charset=utf-8")), "{path}");
        let length = file.body.len().to_string();
        assert_eq!(file.header("content-length"), Some(&*length));
        let compressed = daemon.ask_bare("GET", path).header("Accept-Encoding", "gzip, br").send();
        assert_eq!(compressed.header("content-encoding"), Some("gzip"), "{path}");
        assert_eq!(compressed.header("vary"), Some("accept-encoding"), "{path}");
        assert!(compressed.body.starts_with(&[0x1f, 0x8b]) && compressed.body.len() < file.body.len());
        let tag = file.header("etag").unwrap();
        assert_eq!(compressed.header("etag"), Some(tag));
    }
    let tag = page.header("etag").unwrap().to_owned();
    let again = daemon.ask_bare("GET", "/").header("If-None-Match", &tag).send();
    assert_eq!((again.status, again.body.len(), again.header("etag")), (304, 0, Some(&*tag)));
    let other = daemon.ask_bare("GET", "/").header("If-None-Match", "W/\"0\"").send();
    assert_eq!((other.status, other.body), (200, page.body));
}

#[test]
fn what_is_not_there_and_other_methods_are_problems() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    for path in ["/assets/nothing-4711.js", "/assets/", "/assets/../index.html", "/assets/%2e%2e/index.html"]
    {
        let problem = daemon.shown(path).is(404);
        assert_eq!(problem["code"], "not_found", "{path}");
    }
    let refused = daemon.ask_bare("POST", "/").send();
    assert_eq!(refused.header("allow"), Some("GET,HEAD"));
    assert_eq!(refused.is(405)["code"], "method_not_allowed");
    assert_eq!(daemon.ask_bare("DELETE", "/nothing").send().is(404)["code"], "not_found");
    let page = daemon.shown("/");
    let head = daemon.ask_bare("HEAD", "/").send();
    assert_eq!((head.status, head.body.len()), (200, 0));
    for name in ["content-type", "content-length", "etag", "cache-control", "content-security-policy"] {
        assert!(head.header(name).is_some(), "{name}");
        assert_eq!(head.header(name), page.header(name), "{name}");
    }
}

#[test]
fn the_page_runs_no_script_but_its_own_and_is_for_its_own_host() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let page = daemon.shown("/");
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && policy.contains("script-src 'self'"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
    let html = page.text();
    for inline in ["<style", " style=", " onload=", " onclick="] {
        assert!(!html.contains(inline), "{inline}");
    }
    for script in html.split("<script").skip(1) {
        assert!(script.split('>').next().is_some_and(|tag| tag.contains("src=\"/assets/")), "{script}");
    }
    let foreign = daemon.ask_bare("GET", "/").header("Host", "evil.example").send();
    assert_eq!(foreign.is(421)["code"], "foreign_host");
    let framed = daemon.ask_bare("GET", "/").header("Sec-Fetch-Site", "cross-site");
    let framed = framed.header("Sec-Fetch-Mode", "navigate").header("Sec-Fetch-Dest", "iframe").send();
    assert_eq!(framed.is(403)["code"], "foreign_origin");
}
