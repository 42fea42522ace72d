use std::borrow::Cow;
use std::collections::BTreeMap;

use regex::bytes::{Captures, Regex};

/// Takes out of a text what should not leave: keys, tokens, passwords, the home directory. It knows
/// shapes, not meanings: a secret that looks like a word stays.
pub struct Redactor {
    shapes: Vec<(&'static str, Regex)>,
    home: Option<String>,
    counts: BTreeMap<&'static str, usize>,
}

/// Every shape, the most telling first. Where there is a group, only that is taken out. Nothing
/// matches a quote or a backslash, so that JSON stays JSON.
const SHAPES: [(&str, &str); 15] = [
    (
        "private key",
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[A-Za-z0-9+/=\s]|\\[nr])*(?:-----END [A-Z ]*PRIVATE KEY-----)?",
    ),
    ("api key", r"\bsk-[A-Za-z0-9_-]{16,}"),
    ("stripe key", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{10,}"),
    ("github token", r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
    ("gitlab token", r"\bglpat-[A-Za-z0-9_-]{16,}"),
    ("aws key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("google key", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("npm token", r"\bnpm_[A-Za-z0-9]{30,}"),
    ("hugging face token", r"\bhf_[A-Za-z0-9]{30,}"),
    ("json web token", r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    ("password in an address", r"://[^/\s:@\x22\x27\\]+:([^@/\s\x22\x27\\]+)@"),
    ("basic login", r"(?i)\bbasic\s+([A-Za-z0-9+/]{8,}={0,2})"),
    ("bearer token", r"(?i)\bbearer\s+([A-Za-z0-9._~+/=-]{16,})"),
    (
        "password",
        r"(?i)\b[a-z0-9_-]*(?:api[_-]?key|access[_-]?key|token|secret|password|passwd|passphrase|_pwd)(?:&quot;|&#39;|[\x22\x27\\])*\s*[:=]\s*(?:&quot;|&#39;|[\x22\x27\\])*([A-Za-z0-9._~+/=@$!%*-]{6,})",
    ),
];

impl Redactor {
    /// Knows the usual shapes, and this home directory.
    pub fn new(home: Option<String>) -> Self {
        // A shape that is no expression would be a mistake of ours; the tests try every one.
        let shapes = SHAPES
            .iter()
            .filter_map(|(name, shape)| Some((*name, Regex::new(&format!("(?s-u){shape}")).ok()?)));
        let home = home.filter(|home| home.len() > 1);
        Self { shapes: shapes.collect(), home, counts: BTreeMap::new() }
    }

    /// What was taken out so far: what it was, and how often.
    pub fn counts(&self) -> &BTreeMap<&'static str, usize> {
        &self.counts
    }

    /// The text without them; each leaves a mark that says what stood there.
    pub fn redact(&mut self, text: &[u8]) -> Vec<u8> {
        let mut text = Cow::Borrowed(text);
        for (name, shape) in &self.shapes {
            let mut count = 0;
            let replaced = shape.replace_all(&text, |found: &Captures<'_>| {
                let whole = &found[0];
                let secret = found.get(1).map_or(0..whole.len(), |group| {
                    let begin = found.get(0).map_or(0, |whole| whole.start());
                    group.start() - begin..group.end() - begin
                });
                if whole[secret.clone()].starts_with(b"[redacted") {
                    return whole.to_vec();
                }
                count += 1;
                let mark = format!("[redacted {name}]");
                [&whole[..secret.start], mark.as_bytes(), &whole[secret.end..]].concat()
            });
            if let Cow::Owned(replaced) = replaced {
                text = Cow::Owned(replaced);
            }
            if count > 0 {
                *self.counts.entry(name).or_default() += count;
            }
        }
        self.without_home(text.into_owned())
    }

    fn without_home(&mut self, text: Vec<u8>) -> Vec<u8> {
        let Some(home) = self.home.as_deref() else { return text };
        let mut out = Vec::with_capacity(text.len());
        let mut rest = text.as_slice();
        let mut count = 0;
        while let Some(at) = find(rest, home.as_bytes()) {
            let after = &rest[at + home.len()..];
            let ends =
                !after.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(byte));
            out.extend_from_slice(&rest[..at]);
            out.extend_from_slice(if ends { b"~" } else { home.as_bytes() });
            count += usize::from(ends);
            rest = after;
        }
        out.extend_from_slice(rest);
        if count > 0 {
            *self.counts.entry("home path").or_default() += count;
        }
        out
    }
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(text: &str) -> (String, Vec<(&'static str, usize)>) {
        let mut redactor = Redactor::new(Some("/home/ann".into()));
        let out = String::from_utf8(redactor.redact(text.as_bytes())).unwrap();
        (out, redactor.counts().iter().map(|(name, count)| (*name, *count)).collect())
    }

    #[test]
    fn every_shape_is_an_expression_and_finds_its_kind() {
        assert_eq!(Redactor::new(None).shapes.len(), SHAPES.len());
        let long = "abcDEF0123456789abcDEF0123456789abcDEF0";
        for (kind, text) in [
            (
                "private key",
                "-----BEGIN RSA PRIVATE KEY-----\\nMIIE\\n-----END RSA PRIVATE KEY-----".to_owned(),
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
            ("bearer token", format!("authorization bearer {long}")),
            ("stripe key", format!("sk_live_{long}")),
            ("password in an address", "postgres://u:p4ssword@db/x".to_owned()),
            ("basic login", "Authorization: Basic dXNlcjpwYXNzd29yZA==".to_owned()),
            ("private key", "-----BEGIN PRIVATE KEY-----\\\\nMIIEabc".to_owned()),
            ("password", "x-api-key: 0123456789abcdef".to_owned()),
            ("password", "MYSQL_PWD=zork99".to_owned()),
            ("password", "DB_PASSWORD=\"hunter2hunter2\"".to_owned()),
        ] {
            let (out, counts) = redacted(&format!("before {text} after"));
            assert_eq!(counts, [(kind, 1)], "{out}");
            assert!(
                out.contains(&format!("[redacted {kind}]"))
                    && out.starts_with("before ")
                    && out.ends_with(" after"),
                "{out}"
            );
        }
    }

    #[test]
    fn plain_words_stay() {
        let text = "the token bucket, a password manager, sk-8, task-list, /home/anna, secret: yes";
        assert_eq!(redacted(text), (text.to_owned(), Vec::new()));
    }

    #[test]
    fn the_home_directory_is_a_tilde() {
        let (out, counts) = redacted("/home/ann/app and \"/home/ann\"");
        assert_eq!((out.as_str(), counts), ("~/app and \"~\"", vec![("home path", 2)]));
    }

    #[test]
    fn json_stays_json() {
        let inner = serde_json::json!({"password": "hunter2hunter2", "path": "/home/ann/x"}).to_string();
        let line = serde_json::json!({"text": inner, "token": "ghp_abcDEF0123456789abcDEF"}).to_string();
        let (out, _) = redacted(&line);
        let value: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert!(!out.contains("hunter2") && !out.contains("ghp_"), "{out}");
        let inner: serde_json::Value = serde_json::from_str(value["text"].as_str().unwrap()).unwrap();
        assert_eq!(inner["path"], "~/x");
    }
}
