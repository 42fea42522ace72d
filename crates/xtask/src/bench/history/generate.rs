//! Journals as real ones look: words that follow Zipf's law, a topic per conversation, code-like output of tools, some
//! hashes and some base64.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::Result;

/// Different words.
const VOCABULARY: usize = 200_000;
/// Drawn once, then picked from: a table that follows Zipf's law.
const SAMPLES: usize = 1 << 20;
/// Different words of one conversation's topic.
const TOPIC: usize = 1500;
/// A word that stands in three conversations only.
pub(crate) const RARE: &str = "xylobrontide";

/// The history that was made.
pub(crate) struct History {
    pub(crate) bytes: u64,
    /// A word that stands nearly everywhere.
    pub(crate) common: String,
    /// The project with half of the conversations.
    pub(crate) project: PathBuf,
    /// Its journals, oldest first.
    pub(crate) journals: Vec<PathBuf>,
}

/// Makes a history of so many conversations and about so many bytes.
pub(crate) fn generate(root: &Path, conversations: usize, bytes: u64) -> Result<History> {
    let mut writer = Writer::new();
    let mut history = History {
        bytes: 0,
        common: writer.words[3].clone(),
        project: root.join("work/p0"),
        journals: Vec::new(),
    };
    let begun = SystemTime::now() - Duration::from_hours(200 * 24);
    let mean = bytes / conversations as u64;
    for number in 0..conversations {
        let project = root.join(format!("work/p{}", if number % 2 == 0 { 0 } else { number % 50 }));
        fs::create_dir_all(&project)?;
        let project = project.to_string_lossy().into_owned();
        let name: String = project.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let directory = root.join("rejoin/projects").join(name);
        fs::create_dir_all(&directory)?;
        // Most are short, a few are long.
        let size = match writer.below(100) {
            0..50 => mean / 5,
            50..85 => mean * 3 / 4,
            85..98 => mean * 3,
            _ => mean * 14,
        };
        let id = writer.uuid();
        let rare = [conversations / 7, conversations / 3, conversations * 4 / 5].contains(&number);
        let seconds = 190 * 86_400 * number as u64 / conversations as u64;
        let written = begun + Duration::from_secs(seconds);
        let time = jiff::Timestamp::try_from(written)?.to_string();
        let text = writer.journal(&id, &project, size as usize, rare, &time);
        let path = directory.join(format!("{id}.jsonl"));
        fs::write(&path, text)?;
        File::options().append(true).open(&path)?.set_modified(written)?;
        history.bytes += text.len() as u64;
        if number % 2 == 0 {
            history.journals.push(path);
        }
    }
    Ok(history)
}

struct Writer {
    state: u64,
    words: Vec<String>,
    samples: Vec<u32>,
    topic: Vec<u32>,
    out: Vec<u8>,
}

impl Writer {
    fn new() -> Self {
        let mut writer = Self {
            state: 0x9e37_79b9_7f4a_7c15,
            words: Vec::new(),
            samples: Vec::new(),
            topic: Vec::new(),
            out: Vec::new(),
        };
        for number in 0..VOCABULARY {
            let word = writer.word(number);
            writer.words.push(word);
        }
        let weights: Vec<f64> = (1..=VOCABULARY).map(|rank| 1.0 / (rank as f64 + 2.0)).collect();
        let sum: f64 = weights.iter().sum();
        for (word, weight) in weights.iter().enumerate() {
            let count = (weight / sum * SAMPLES as f64).ceil() as usize;
            writer.samples.extend(std::iter::repeat_n(word as u32, count));
        }
        writer
    }

    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }

    fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.next()) * limit as u128) >> 64) as usize
    }

    /// A word one can pronounce; the frequent ones are short.
    fn word(&mut self, number: usize) -> String {
        let syllables = 1 + usize::from(number > 60) + usize::from(number > 3000) + self.below(2);
        let mut word = String::new();
        for _ in 0..syllables {
            word.push(char::from(b"bcdfghjklmnprstvwz"[self.below(18)]));
            word.push(char::from(b"aeiou"[self.below(5)]));
            if self.below(3) == 0 {
                word.push(char::from(b"nrstlm"[self.below(6)]));
            }
        }
        word
    }

    fn pick(&mut self) {
        let word = if self.below(100) < 45 {
            let at = self.below(TOPIC);
            // The first of a topic come more often.
            self.topic[at * at / TOPIC]
        } else {
            let at = self.below(self.samples.len());
            self.samples[at]
        };
        self.out.extend_from_slice(self.words[word as usize].as_bytes());
    }

    fn digits(&mut self, count: usize, alphabet: &[u8]) {
        for _ in 0..count {
            let digit = alphabet[self.below(alphabet.len())];
            self.out.push(digit);
        }
    }

    fn uuid(&mut self) -> String {
        let (a, b) = (self.next(), self.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
            a as u32,
            (a >> 32) as u16,
            (a >> 48) & 0xfff,
            b & 0xfff,
            (b >> 12) & 0xffff_ffff_ffff
        )
    }

    fn prose(&mut self, bytes: usize) {
        let end = self.out.len() + bytes;
        while self.out.len() < end {
            self.pick();
            let gap: &[u8] = match self.below(30) {
                0 => b". ",
                1 => b", ",
                2 => b"\\n",
                _ => b" ",
            };
            self.out.extend_from_slice(gap);
        }
    }

    /// What tools give back: paths, code, logs, hashes, now and then a blob.
    fn output(&mut self, bytes: usize) {
        let end = self.out.len() + bytes;
        let blob = self.below(60) == 0;
        while self.out.len() < end {
            match self.below(40) {
                0 => {
                    self.out.extend_from_slice(b"commit ");
                    self.digits(40, b"0123456789abcdef");
                }
                1..4 => {
                    for _ in 0..4 {
                        self.out.push(b'/');
                        self.pick();
                    }
                    self.out.extend_from_slice(b".rs:");
                    self.digits(3, b"123456789");
                }
                _ if blob => {
                    self.digits(76, b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
                }
                4..16 => {
                    self.out.extend_from_slice(b"    let ");
                    self.pick();
                    self.out.push(b'_');
                    self.pick();
                    self.out.extend_from_slice(b" = self.");
                    self.pick();
                    self.out.extend_from_slice(b"(&");
                    self.pick();
                    self.out.extend_from_slice(b", \\\"");
                    self.pick();
                    self.out.extend_from_slice(b"\\\")?;");
                }
                _ => {
                    for _ in 0..6 {
                        self.pick();
                        self.out.push(b' ');
                    }
                }
            }
            self.out.extend_from_slice(b"\\n");
        }
    }

    fn record(&mut self, at: &At<'_>, id: &str, parent: &str, kind: &str, rest: &str) {
        let At { conversation, project, time } = at;
        let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
        let line = format!(
            "{{\"uuid\":\"{id}\",\"parentUuid\":{parent},\"sessionId\":\"{conversation}\",\"timestamp\":\"{time}\",\"type\":\"{kind}\",\"cwd\":\"{project}\",\"version\":\"0.1.0\",\"gitBranch\":\"main\",{rest}"
        );
        self.out.extend_from_slice(line.as_bytes());
    }

    fn journal(&mut self, conversation: &str, project: &str, size: usize, rare: bool, time: &str) -> &[u8] {
        self.out.clear();
        self.topic = (0..TOPIC).map(|_| self.below(VOCABULARY) as u32).collect();
        let at = At { conversation, project, time };
        let id = self.uuid();
        let info = format!(
            "\"subtype\":\"conversation\",\"systemPayload\":{{\"dir\":\"{project}\",\"project\":\"{project}\",\"schema\":1,\"scope\":\"shared\"}}}}\n"
        );
        self.record(&at, &id, "", "system", &info);
        let mut parent = String::new();
        let mut first = true;
        while self.out.len() < size {
            parent = self.turn(&at, &parent, rare && first, first);
            first = false;
        }
        &self.out
    }

    fn turn(&mut self, at: &At<'_>, parent: &str, rare: bool, first: bool) -> String {
        let user = self.uuid();
        self.record(at, &user, parent, "user", "\"message\":{\"role\":\"user\",\"parts\":[{\"text\":\"");
        let bytes = 100 + self.below(900);
        self.prose(bytes);
        if rare {
            self.out.extend_from_slice(RARE.as_bytes());
        }
        self.out.extend_from_slice(b"\"}]}}\n");
        let session = self.uuid();
        let mut last = user.clone();
        for _ in 0..2 + self.below(6) {
            let id = self.uuid();
            let native = format!(
                "\"model\":\"claude-opus-5-1\",\"native\":{{\"agent\":\"claude\",\"session\":\"{session}\"}},\"message\":{{\"role\":\"model\",\"parts\":[{{\"text\":\""
            );
            self.record(at, &id, &last, "assistant", &native);
            let bytes = 50 + self.below(1500);
            self.prose(bytes);
            self.out.extend_from_slice(b"\"},{\"functionCall\":{\"id\":\"toolu_1\",\"name\":\"Bash\",\"args\":{\"command\":\"cargo test -p ");
            self.pick();
            self.out.extend_from_slice(b"\"}}}]}}\n");
            let result = self.uuid();
            let head = "\"message\":{\"role\":\"user\",\"parts\":[{\"functionResponse\":{\"id\":\"toolu_1\",\"name\":\"Bash\",\"response\":{\"output\":\"";
            self.record(at, &result, &id, "tool_result", head);
            let bytes = 1000 + self.below(12_000);
            self.output(bytes);
            self.out.extend_from_slice(b"\"}}}]}}\n");
            last = result;
        }
        let receipt = self.uuid();
        let plan = if first {
            "{\"decision\":\"fresh\",\"reason\":\"first_turn\",\"replayed\":0}".to_owned()
        } else {
            format!("{{\"decision\":\"resume\",\"session\":\"{session}\",\"catch_up\":0}}")
        };
        let body = format!(
            "\"subtype\":\"receipt\",\"systemPayload\":{{\"agent\":\"claude\",\"bytes\":600,\"turn\":\"{user}\",\"plan\":{plan},\"runs\":1,\"session\":\"{session}\",\"model\":\"claude-opus-5-1\",\"outcome\":\"completed\",\"milliseconds\":4210,\"cost\":0.0125,\"usage\":{{\"cached\":9000,\"input\":1200,\"output\":85}}}}}}\n"
        );
        self.record(at, &receipt, &user, "system", &body);
        last
    }
}

/// What all records of a conversation have in common.
struct At<'a> {
    conversation: &'a str,
    project: &'a str,
    time: &'a str,
}
