//! Stored sessions of real programs, and what a loss of power makes of them: a session that lacks
//! something is never taken for one that was used elsewhere.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rejoin_agents::{Damage, Definition, Found, Look, Wanted};
use rejoin_core::{Agent, SessionId};

use crate::recording::directory;
use crate::requests::{definition, gemini, opencode};

/// A copy of a store that a real program left behind.
struct Stored {
    agent: Arc<dyn Definition>,
    session: SessionId,
    store: tempfile::TempDir,
    /// What is damaged.
    file: PathBuf,
}

/// How a stored session looks to rejoin.
#[derive(Debug, PartialEq)]
enum Looks {
    Gone,
    Damaged(Damage),
    /// So far does what it holds go.
    Sound(u64),
}

const SAMPLES: [(&str, &str); 18] = [
    ("claude_2.0.34", "00000001-0000-4000-8000-000000000000"),
    ("claude_2.1.52", "00000002-0000-4000-8000-000000000000"),
    ("claude_2.1.197", "00000001-0000-4000-8000-000000000000"),
    ("claude_2.1.325", "00000004-0000-4000-8000-000000000000"),
    ("codex_0.65.0", "01a1e37c-a61b-7771-9ede-8d32fd2d8375"),
    ("codex_0.123.0", "01a1e33a-8e13-77b0-a21f-fab17b09caeb"),
    ("codex_0.166.0", "01a1e339-9350-7260-bdf4-65529d6076b6"),
    ("gemini_0.19.1", "3e73324a-c930-4869-a9e5-e3450cc4bcd7"),
    ("gemini_0.37.2", "4f91fec7-3a5d-418c-8f42-f02ffd3d3384"),
    ("gemini_0.61.0", "9a5732ff-0746-489b-88db-5b3b555cae89"),
    ("opencode_1.1.31", "ses_e1c7f8e79ffedUQO0l8awG2lGQ"),
    ("pi_0.52.12", "25890f5a-4011-4559-b202-c9cac7990ac7"),
    ("pi_0.74.2", "01a1e35e-b563-7f25-966c-6fde1fef42e1"),
    ("pi_0.85.0", "01a1e364-0779-72e4-abc8-5750ae059fb5"),
    ("qwen_0.5.2", "5e3d2f2b-ae7e-41d6-b063-3d0d63b45be3"),
    ("qwen_0.12.0", "7d87a49b-feb3-47f0-b91a-779830e41fe8"),
    ("qwen_0.15.10", "ceae6467-25c5-49fc-b651-d06771790b5e"),
    ("qwen_0.24.4", "5b2c0b6b-cc68-40fb-b46f-92abf357fd07"),
];

impl Stored {
    fn sample(name: &str, id: &str) -> Self {
        let agent = match name.split('_').next().unwrap() {
            "claude" => Agent::Claude,
            "codex" => Agent::Codex,
            "gemini" => gemini(),
            "opencode" => opencode(),
            "pi" => Agent::named("pi"),
            _ => Agent::Qwen,
        };
        let agent = definition(&agent);
        let store = tempfile::tempdir().unwrap();
        copy(&directory("stores").join(name), store.path());
        let session = agent.session_id(id).unwrap();
        let mut stored = Self { agent, session, store, file: PathBuf::new() };
        let Found::At(found) = stored.find() else { panic!("{name}: not found") };
        stored.file = if found.is_dir() { newest_in(&found) } else { found };
        stored
    }

    fn all() -> impl Iterator<Item = (&'static str, Self)> {
        SAMPLES.into_iter().map(|(name, id)| (name, Self::sample(name, id)))
    }

    fn find(&self) -> Found {
        self.agent.find_session(self.store.path(), Path::new("/home/dev/proj"), &self.session)
    }

    /// What one look shows, which is what the four questions show one by one.
    fn look(&self) -> Look {
        let dir = Path::new("/home/dev/proj");
        let look = self.agent.look(self.store.path(), dir, &self.session, Wanted::BEFORE);
        assert_eq!(look.found, self.find());
        if let Found::At(found) = &look.found {
            assert_eq!(look.witness, self.agent.witness(found, &self.session));
            assert_eq!(look.damage, self.agent.damage(found, &self.session));
            assert_eq!(look.total, self.agent.stored_total(found));
        }
        let after = self.agent.look(self.store.path(), dir, &self.session, Wanted::AFTER);
        assert_eq!(after, Look { damage: None, ..look.clone() });
        let little = self.agent.look(self.store.path(), dir, &self.session, Wanted::default());
        assert_eq!(little, Look { damage: None, total: None, ..look.clone() });
        look
    }

    fn looks(&self) -> Looks {
        let Look { found: Found::At(_), damage, witness, .. } = self.look() else { return Looks::Gone };
        match (damage, witness) {
            (Some(damage), _) => Looks::Damaged(damage),
            (None, Some(witness)) => Looks::Sound(witness.size),
            (None, None) => Looks::Gone,
        }
    }

    fn read(&self) -> Vec<u8> {
        fs::read(&self.file).unwrap()
    }

    fn looks_with(&self, bytes: &[u8]) -> Looks {
        fs::write(&self.file, bytes).unwrap();
        self.looks()
    }
}

fn newest_in(dir: &Path) -> PathBuf {
    fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).max().unwrap()
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let (from, to) = (entry.as_ref().unwrap().path(), to.join(entry.as_ref().unwrap().file_name()));
        if from.is_dir() {
            fs::create_dir(&to).unwrap();
            copy(&from, &to);
        } else {
            fs::copy(from, to).unwrap();
        }
    }
}

fn is_sound(looks: &Looks) -> bool {
    matches!(looks, Looks::Sound(_))
}

#[test]
fn sessions_as_the_programs_left_them_are_sound() {
    for (name, stored) in Stored::all() {
        assert!(is_sound(&stored.looks()), "{name}: {:?}", stored.looks());
    }
}

#[test]
fn zeros_at_equal_size_are_noticed_wherever_they_are() {
    for (name, stored) in Stored::all() {
        let whole = stored.read();
        let size = whole.len();
        for (from, to) in [
            (0, size),
            (size / 2, size),
            (size - 40, size),
            (size - 1, size),
            (0, 64),
            (size / 2, size / 2 + 64),
        ] {
            let mut bytes = whole.clone();
            bytes[from..to].fill(0);
            let looks = stored.looks_with(&bytes);
            assert!(!is_sound(&looks), "{name}: zeros from {from} to {to} of {size}: {looks:?}");
        }
    }
}

#[test]
fn a_session_cut_at_any_line_is_not_as_it_was() {
    for (name, stored) in Stored::all() {
        let Looks::Sound(before) = stored.looks() else { panic!("{name}") };
        let whole = stored.read();
        let ends = whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        for end in ends.filter(|end| *end < whole.len()) {
            for cut in [end, end + 1].into_iter().filter(|cut| *cut < whole.len()) {
                let now = stored.looks_with(&whole[..cut]);
                // Lines in which Gemini notes the time hold nothing of the conversation.
                let nothing_lost = name == "gemini_0.61.0" && now == Looks::Sound(before);
                let shorter = matches!(now, Looks::Sound(now) if now < before);
                assert!(!is_sound(&now) || shorter || nothing_lost, "{name} cut at {cut}: {now:?}");
                assert!(cut == end || !is_sound(&now), "{name} cut in a line, at {cut}: {now:?}");
            }
        }
    }
}

#[test]
fn a_byte_that_changed_does_no_harm() {
    for (_, stored) in Stored::all() {
        let whole = stored.read();
        for at in (0..whole.len()).step_by(whole.len() / 97 + 1) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x20;
            let _ = stored.looks_with(&bytes);
        }
    }
}

/// Pi and Qwen know nothing of what stands above a record that they cannot read.
#[test]
fn a_chain_that_is_interrupted_is_noticed() {
    for (name, stored) in Stored::all().filter(|(name, _)| name.starts_with("pi") || name.starts_with("qwen"))
    {
        let text = String::from_utf8(stored.read()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let without: Vec<&str> = lines
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != lines.len() - 2)
            .map(|(_, line)| *line)
            .collect();
        let looks = stored.looks_with(format!("{}\n", without.join("\n")).as_bytes());
        assert_eq!(looks, Looks::Damaged(Damage::Broken), "{name}");
    }
}

#[test]
fn a_compressed_session_of_codex_begins_as_one() {
    let stored = Stored::sample("codex_0.166.0", "01a1e339-9350-7260-bdf4-65529d6076b6");
    let compressed = stored.file.with_extension("jsonl.zst");
    fs::rename(&stored.file, &compressed).unwrap();
    fs::write(&compressed, b"\x28\xb5\x2f\xfd\0\0\0 and more").unwrap();
    assert!(is_sound(&stored.looks()));
    fs::write(&compressed, [0; 100]).unwrap();
    assert_eq!(stored.looks(), Looks::Damaged(Damage::Zeroed));
}
