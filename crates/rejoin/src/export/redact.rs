use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind};
use regex::bytes::{Captures, Regex};
use rejoin_core::{Message, Part};
use serde_json::Value;

use super::boundary::Boundary;
use super::cuts::Cuts;
use super::shapes::{Also, HARMLESS, SECRET_KEY, SHAPES, Shape, is_random};

/// Takes out of what was said what should not leave: keys, tokens, passwords, home directories. It
/// knows shapes, not meanings: a secret that looks like a word stays.
pub struct Redactor {
    /// The words of all shapes; which shape each belongs to.
    words: Option<AhoCorasick>,
    shape_of: Vec<usize>,
    /// Made when a text first has a word of theirs.
    expressions: Vec<OnceCell<Option<Regex>>>,
    boundary: Boundary,
    cuts: Cuts,
    secret_key: Option<Regex>,
    home: Option<String>,
    found: BTreeMap<&'static str, BTreeSet<Vec<u8>>>,
}

/// A text is looked through so many times for one shape, at most.
const MOST_TIMES: usize = 64;

impl Redactor {
    /// Knows the usual shapes, and this home directory.
    pub fn new(home: Option<String>) -> Self {
        let words = SHAPES.iter().flat_map(|shape| shape.words);
        let words = AhoCorasickBuilder::new()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::DFA))
            .build(words);
        Self {
            // Words that cannot be looked for would be a mistake of ours; then every shape is tried.
            words: words.ok(),
            shape_of: (0..SHAPES.len()).flat_map(|at| SHAPES[at].words.iter().map(move |_| at)).collect(),
            expressions: SHAPES.iter().map(|_| OnceCell::new()).collect(),
            boundary: Boundary::new(),
            cuts: Cuts::new(),
            secret_key: expression(SECRET_KEY),
            home: home.map(|home| home.trim_end_matches('/').to_owned()).filter(|home| home.len() > 1),
            found: BTreeMap::new(),
        }
    }

    /// What was taken out so far: what it was, and how many different ones.
    pub fn counts(&self) -> BTreeMap<&'static str, usize> {
        self.found.iter().map(|(name, found)| (*name, found.len())).collect()
    }

    /// The text without them; each leaves a mark that says what stood there.
    pub fn text(&mut self, text: &str) -> String {
        let text = self.without_cut_lines(text);
        let text = self.without_home(&text);
        let mut text = Cow::Borrowed(text.as_bytes());
        for at in self.candidates(&text) {
            if let Some(replaced) = self.without_shape(at, &text) {
                text = Cow::Owned(replaced);
            }
        }
        String::from_utf8_lossy(&text).into_owned()
    }

    /// The text without what has a shape; `None` if there is nothing.
    fn without_shape(&mut self, at: usize, text: &[u8]) -> Option<Vec<u8>> {
        let shape = &SHAPES[at];
        let expression = self.expressions[at].get_or_init(|| expression(shape.expression)).as_ref()?;
        let (mut out, mut written, mut from, mut in_vain) = (Vec::new(), 0, 0, 0);
        while let Some(found) = expression.find_at(text, from) {
            // One that begins inside of a word is none, but another may begin inside of it. A text that is made
            // for this to take forever loses more than it has to.
            if in_vain < text.len() * MOST_TIMES && !self.boundary.is_at(text, found.start()) {
                in_vain += found.len();
                from = self.boundary.next(text, found.start() + 1);
                continue;
            }
            from = found.end();
            let secret =
                expression.captures_at(text, found.start()).and_then(|captures| secret_in(&captures));
            if let Some(secret) = secret
                && is_secret(shape, &text[found.start()..secret.start], &text[secret.clone()])
            {
                out.extend_from_slice(&text[written..secret.start]);
                out.extend_from_slice(mark(shape.name).as_bytes());
                written = secret.end;
                self.found.entry(shape.name).or_default().insert(text[secret].to_vec());
            }
        }
        out.extend_from_slice(&text[written..]);
        (written > 0).then_some(out)
    }

    /// What stands where a text was cut may be half a secret.
    fn without_cut_lines<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        let cut = self.cuts.lines(text);
        if cut.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut out, mut written) = (String::with_capacity(text.len()), 0);
        for line in cut {
            out.push_str(&text[written..line.start]);
            out.push_str(&mark("cut line"));
            written = line.end;
            self.found.entry("cut line").or_default().insert(text.as_bytes()[line].to_vec());
        }
        out.push_str(&text[written..]);
        Cow::Owned(out)
    }

    /// The shapes a text can have, in their order.
    fn candidates(&self, text: &[u8]) -> Vec<usize> {
        let Some(words) = &self.words else { return (0..SHAPES.len()).collect() };
        let mut has = vec![false; SHAPES.len()];
        for found in words.find_overlapping_iter(text) {
            has[self.shape_of[found.pattern().as_usize()]] = true;
        }
        (0..SHAPES.len()).filter(|at| has[*at]).collect()
    }

    /// The same for every text in a JSON value, names of fields included. What stands under a telling
    /// name (`password`, `api_key`) is taken out, whatever its shape.
    pub fn value(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(list) => list.iter_mut().for_each(|value| self.value(value)),
            Value::Object(fields) => {
                for (key, mut value) in std::mem::take(fields) {
                    if self.secret_key.as_ref().is_some_and(|telling| telling.is_match(key.as_bytes())) {
                        self.secrets(&mut value);
                    }
                    self.value(&mut value);
                    fields.insert(self.text(&key), value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// The same for a message, so that what is made of it (see [`rejoin_core::tool_calls`]) is made of what may
    /// leave.
    pub fn message(&mut self, message: &mut Message) {
        message.model = message.model.take().map(|model| self.text(&model));
        message.timestamp = self.text(&message.timestamp);
        for note in &mut message.tool_calls {
            if note.parent.is_none() {
                // It was cut when it was written; the arguments of the call say it, too.
                note.description.clear();
            }
            let texts = [&mut note.id, &mut note.name, &mut note.description];
            texts.into_iter().chain(&mut note.parent).for_each(|text| *text = self.text(text));
        }
        for part in &mut message.parts {
            match part {
                Part::Text { text, .. } => *text = self.text(text),
                Part::Call { function_call } => {
                    function_call.id = self.text(&function_call.id);
                    function_call.name = self.text(&function_call.name);
                    self.value(&mut function_call.args);
                }
                Part::Response { function_response: response } => {
                    response.id = self.text(&response.id);
                    response.name = self.text(&response.name);
                    response.response.output = self.text(&response.response.output);
                }
                Part::Attachment { attachment } => {
                    attachment.name = self.text(&attachment.name);
                    attachment.media_type = self.text(&attachment.media_type);
                }
                Part::Other(other) => self.value(other),
            }
        }
    }

    fn secrets(&mut self, value: &mut Value) {
        match value {
            Value::String(text) if !text.is_empty() => {
                self.found.entry("password").or_default().insert(text.as_bytes().to_vec());
                *text = mark("password");
            }
            Value::Array(list) => list.iter_mut().for_each(|value| self.secrets(value)),
            _ => {}
        }
    }

    fn without_home(&mut self, text: &str) -> String {
        let Some(home) = self.home.clone().filter(|home| text.contains(home)) else { return text.to_owned() };
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(&home) {
            let goes_on = after.starts_with(|c: char| c.is_alphanumeric() || "_-".contains(c))
                || after.starts_with("..");
            out.push_str(before);
            out.push_str(if goes_on { &home } else { "~" });
            if !goes_on {
                self.found.entry("home path").or_default().insert(home.clone().into_bytes());
            }
            rest = after;
        }
        out.push_str(rest);
        out
    }
}

fn expression(shape: &str) -> Option<Regex> {
    // A shape that is no expression would be a mistake of ours; the tests try every one.
    Regex::new(&format!("(?s-u){shape}")).ok()
}

/// Whether a find is what its shape says.
fn is_secret(shape: &Shape, name: &[u8], secret: &[u8]) -> bool {
    if secret.is_empty() || secret.starts_with(b"[redacted") {
        return false;
    }
    let harmless = || {
        let name = name.to_ascii_lowercase();
        HARMLESS.iter().any(|word| memmem(&name, word.as_bytes()))
    };
    shape.also == Also::Any || (is_random(secret) && !harmless())
}

fn memmem(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|part| part == word)
}

/// The part of a find that is the secret: a group if the shape has some, else all of it.
fn secret_in(captures: &Captures<'_>) -> Option<Range<usize>> {
    let group = captures.iter().skip(1).flatten().next();
    let all = captures.get(0).filter(|_| captures.len() == 1);
    group.or(all).map(|found| found.range())
}

fn mark(name: &str) -> String {
    format!("[redacted {name}]")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn redacted(text: &str) -> (String, Vec<(&'static str, usize)>) {
        let mut redactor = Redactor::new(Some("/home/ann".into()));
        (redactor.text(text), redactor.counts().into_iter().collect())
    }

    #[test]
    fn every_shape_is_an_expression_and_finds_its_kind() {
        let redactor = Redactor::new(None);
        assert!(redactor.secret_key.is_some());
        let long = "abcDEF0123456789abcDEF0123456789abcDEF0";
        let pem = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIE+/=\n-----END RSA PRIVATE KEY-----";
        for (kind, text) in [
            ("private key", pem.to_owned()),
            ("private key", pem.replace('\n', "\\n")),
            ("private key", "-----BEGIN PRIVATE KEY-----\\\\nMIIEabc".to_owned()),
            (
                "private key",
                "-----BEGIN PGP PRIVATE KEY BLOCK-----\nxyz\n-----END PGP PRIVATE KEY BLOCK-----".to_owned(),
            ),
            ("api key", format!("sk-ant-{long}")),
            ("github token", format!("ghp_{long}")),
            ("gitlab token", format!("glpat-{long}")),
            ("aws key", "AKIAIOSFODNN7EXAMPLE".to_owned()),
            ("google key", format!("AIza{}", &long[..35])),
            ("slack token", format!("xoxb-{long}")),
            ("npm token", format!("npm_{long}")),
            ("hugging face token", format!("hf_{long}")),
            ("json web token", format!("eyJhbGciOiJIUzI1NiJ9.{long}.{long}")),
            ("stripe key", format!("sk_live_{long}")),
            ("bearer token", format!("authorization bearer {long}")),
            ("basic login", "Authorization: Basic dXNlcjpwYXNzd29yZA==".to_owned()),
            ("login", "authorization: Digest-x abcdef99".to_owned()),
            ("login", "curl -s -u ann:hunter2".to_owned()),
            ("address password", "postgres://u:p4ss@word@db/x".to_owned()),
            ("address password", "redis://:zork@cache".to_owned()),
            ("address key", "https://x.y/?a=b&access_token=zork1".to_owned()),
            ("address key", "https://x.y/z?X-Amz-Signature=0a1b2c".to_owned()),
            ("password", "x-api-key: 0123456789abcdef".to_owned()),
            ("password", "MYSQL_PWD=zork99".to_owned()),
            ("password", "DB_PASSWORD=\"correct horse battery\"".to_owned()),
            ("password", "'password': 'correct horse'".to_owned()),
            ("password", "{\\\"password\\\": \\\"correct horse\\\"}".to_owned()),
            ("password", "password: \"with \\\"quotes\\\" inside\"".to_owned()),
            ("password", "login --password p#ss,w0rd".to_owned()),
            ("user name", "/home/bob/x".to_owned()),
            ("user name", "file:///Users/bob".to_owned()),
            ("user name", "C:\\Users\\bob\\x".to_owned()),
        ] {
            let (out, counts) = redacted(&format!("before {text} after"));
            assert_eq!(counts, [(kind, 1)], "{text} became {out}");
            assert!(out.contains(&mark(kind)), "{text} became {out}");
            assert!(out.starts_with("before ") && out.ends_with(" after"), "{text} became {out}");
            for secret in ["horse", "quotes", "zork", "hunter", "p4ss", "word@", "w0rd", "bob", "MIIE", long]
            {
                assert!(!out.contains(secret), "{text} became {out}");
            }
        }
    }

    #[test]
    fn a_cookie_is_taken_out_up_to_the_end_of_its_line() {
        let (out, counts) =
            redacted("HTTP/1.1 200\r\nSet-Cookie: sid=abc; Path=/\r\nCookie: a=b\r\n\r\nbody");
        let expected =
            "HTTP/1.1 200\r\nSet-Cookie: [redacted cookie]\r\nCookie: [redacted cookie]\r\n\r\nbody";
        assert_eq!((out.as_str(), counts), (expected, vec![("cookie", 2)]));
    }

    #[test]
    fn plain_words_stay() {
        let text = "the token bucket, a password manager, sk-8, task-list, /home/ann-x, secret: yes, \
                    https://host/home/page, http://a:80/b?monk=1, /Users/Shared/x";
        let (out, counts) = redacted(&text.replace("/home/ann-x, ", ""));
        assert_eq!((out, counts), (text.replace("/home/ann-x, ", ""), Vec::new()));
    }

    #[test]
    fn the_home_directory_is_a_tilde_and_counts_once() {
        let (out, counts) = redacted("/home/ann/app and \"/home/ann\". /home/ann.");
        assert_eq!((out.as_str(), counts), ("~/app and \"~\". ~.", vec![("home path", 1)]));
    }

    #[test]
    fn a_secret_counts_once_however_often_it_stands_there() {
        let key = "ghp_abcDEF0123456789abcDEF";
        assert_eq!(redacted(&format!("{key} {key} {key}x")).1, [("github token", 2)]);
    }

    #[test]
    fn in_json_the_name_of_a_field_tells() {
        let inner = json!({"password": "hunter2", "path": "/home/ann/x"}).to_string();
        let mut value = json!({
            "text": inner, "Api-Key": "a b", "cookies": {"Set-Cookie": ["x=y", "z"]}, "/home/ann/k": 1, "token": "",
        });
        let mut redactor = Redactor::new(Some("/home/ann".into()));
        redactor.value(&mut value);
        let inner: Value = serde_json::from_str(value["text"].as_str().unwrap()).unwrap();
        assert_eq!(inner, json!({"password": "[redacted password]", "path": "~/x"}));
        let mark = "[redacted password]";
        value["text"] = json!("");
        let expected = json!({"text": "", "Api-Key": mark, "cookies": {"Set-Cookie": [mark, mark]}, "~/k": 1, "token": ""});
        assert_eq!(value, expected);
        assert_eq!(redactor.counts()["password"], 4);
    }
}
