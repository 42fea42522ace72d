//! One line of a run's file. It carries its own checksum: a damaged note of a turn must not read as another turn, nor
//! as none, or that turn would be paid for twice.

use rejoin_journal::Checksum;

use super::record::{Record, SEALED};

/// What a line holds.
#[derive(Debug)]
pub(crate) enum Line {
    /// What was written.
    Record(Box<Record>),
    /// It is empty, or was cut while it was written: nobody was told that it was written, so nothing followed from it.
    Nothing,
    /// It was written, and is not any more what it was.
    Damaged,
}

/// What stands before the sum, and after it; the sum itself are sixteen digits.
const BEFORE: &[u8] = br#","sum":""#;
const AFTER: &[u8] = br#""}"#;

/// A record as a line, without its end.
pub(crate) fn sealed(record: &Record) -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string(record)?;
    text.pop();
    let sum = Checksum::of(text.as_bytes());
    Ok(format!(r#"{text},"sum":"{sum:016x}"}}"#))
}

/// Reads lines in their order.
#[derive(Default)]
pub(crate) struct Reader {
    /// Every line has a sum: the first one says so.
    sealed: bool,
}

impl Reader {
    pub(crate) fn read(&mut self, line: &[u8]) -> Line {
        if line.is_empty() {
            return Line::Nothing;
        }
        match (seal(line), serde_json::from_slice::<Record>(line)) {
            // A line that ends too early was never whole: each is written in one piece.
            (None, Err(error)) if error.is_eof() => Line::Nothing,
            (Some(false), _) | (_, Err(_)) => Line::Damaged,
            (seal, Ok(record)) => {
                self.sealed |= matches!(&record, Record::Run(begun) if begun.format >= SEALED);
                if self.sealed && seal.is_none() { Line::Damaged } else { Line::Record(Box::new(record)) }
            }
        }
    }
}

/// Whether the sum of a line is right, if it has one.
fn seal(line: &[u8]) -> Option<bool> {
    let (text, end) = line.split_last_chunk::<18>()?;
    let text = text.strip_suffix(BEFORE)?;
    // By place, not by how it ends: a damaged last quote must not read as a line that was cut.
    let (digits, after) = end.split_at(16);
    Some(after == AFTER && *digits == *format!("{:016x}", Checksum::of(text)).as_bytes())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::record::{Begun, FORMAT, Key, RunId, State};
    use super::*;
    use crate::Source;

    fn records() -> [Record; 3] {
        let source = Source { file: "x".into(), text: "steps: {}".into(), prompts: BTreeMap::new() };
        let begun = Begun {
            id: RunId::from_u128(7),
            format: FORMAT,
            version: "0".into(),
            flow: "x".into(),
            source,
            inputs: BTreeMap::new(),
            dir: "/".into(),
            steps: vec!["one".into()],
            time: "now".into(),
        };
        let turn = Record::Turn {
            key: Key::of("one"),
            conversation: rejoin::ConversationId::new(RunId::from_u128(1)),
            turn: rejoin::TurnId::new(RunId::from_u128(2)),
            sent_back: true,
        };
        let result = Record::Result { state: State::Done, code: 0, time: "now".into() };
        [Record::Run(Box::new(begun)), turn, result]
    }

    fn read(lines: &[Vec<u8>]) -> Vec<Line> {
        let mut reader = Reader::default();
        lines.iter().map(|line| reader.read(line)).collect()
    }

    fn sound() -> Vec<Vec<u8>> {
        records().iter().map(|record| sealed(record).unwrap().into_bytes()).collect()
    }

    #[test]
    fn what_was_written_is_read() {
        for (line, record) in read(&sound()).into_iter().zip(records()) {
            assert!(matches!(line, Line::Record(found) if *found == record));
        }
    }

    #[test]
    fn every_flipped_bit_is_seen() {
        for at in 0..3 {
            let bits = sound()[at].len() * 8;
            for bit in 0..bits {
                let mut lines = sound();
                lines[at][bit / 8] ^= 1 << (bit % 8);
                let found = read(&lines);
                assert!(matches!(found[at], Line::Damaged), "bit {bit} of line {at}: {:?}", found[at]);
            }
        }
    }

    #[test]
    fn a_line_that_was_cut_is_nothing_and_one_of_zeros_is_damaged() {
        let whole = &sound()[1];
        for cut in 0..whole.len() {
            assert!(matches!(read(&[whole[..cut].to_vec()])[0], Line::Nothing), "{cut}");
            let zeroed = [&whole[..cut], &vec![0; whole.len() - cut][..]].concat();
            assert!(matches!(read(&[zeroed])[0], Line::Damaged), "{cut}");
        }
    }

    /// A run that an earlier version began and this one went on with has both.
    #[test]
    fn lines_without_a_sum_are_of_older_runs_only() {
        let plain = |record: &Record| serde_json::to_vec(record).unwrap();
        let [run, turn, result] = records();
        let Record::Run(begun) = &run else { panic!() };
        let old = Record::Run(Box::new(Begun { format: 1, ..(**begun).clone() }));
        let lines = read(&[plain(&old), plain(&turn), sealed(&result).unwrap().into_bytes()]);
        assert!(lines.iter().all(|line| matches!(line, Line::Record(_))), "{lines:?}");
        let lines = read(&[sealed(&run).unwrap().into_bytes(), plain(&turn)]);
        assert!(matches!(lines[1], Line::Damaged));
    }
}
