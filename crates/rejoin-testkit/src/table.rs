//! The scenario table: what each real agent was seen to do. Tests note it line by line in a file, and
//! `cargo xtask test` shows what came together.

use std::collections::BTreeMap;
use std::env;
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use crate::lab::REAL_AGENTS;

/// Names the file the tests write to.
pub const TABLE_VARIABLE: &str = "REJOIN_TEST_TABLE";

/// The scenarios every real agent goes through, in the order of the table.
const SCENARIOS: [&str; 33] = [
    "fresh",
    "resume",
    "third turn",
    "unknown id",
    "other directory",
    "subdirectory",
    "300 KiB prompt",
    "prompt with -",
    "prompt with / or !",
    "prompt with @",
    "quoted history",
    "model flag",
    "instructions",
    "usage",
    "tool call",
    "level read",
    "level edit",
    "400 of the model",
    "429 of the model",
    "500 of the model",
    "failed first turn",
    "kill, first turn",
    "kill, later turn",
    "cancel in a tool",
    "two at once",
    "two in a row",
    "store lost",
    "bare CLI between",
    "listed sessions",
    "adopted session",
    "hand-over",
    "flow",
    "ephemeral",
];

/// How far an agent came in a scenario.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict<'a> {
    /// A test of it has begun. Without one of the others it failed.
    Begun,
    /// It was seen; a remark may tell how.
    Passed(Option<&'a str>),
    /// The agent cannot do it, for this reason, and rejoin was seen to say so.
    Cannot(&'a str),
}

/// Notes a verdict, if somebody wants the table.
pub fn note(agent: &str, scenario: &str, verdict: Verdict<'_>) {
    assert!(SCENARIOS.contains(&scenario), "the table has no scenario {scenario:?}");
    let Some(file) = env::var_os(TABLE_VARIABLE) else { return };
    let (word, remark) = match verdict {
        Verdict::Begun => ("begun", ""),
        Verdict::Passed(remark) => ("passed", remark.unwrap_or_default()),
        Verdict::Cannot(reason) => ("cannot", reason),
    };
    // One write for a line: tests run side by side.
    let line = format!("{agent}\t{scenario}\t{word}\t{remark}\n");
    let written = OpenOptions::new().append(true).open(&file).and_then(|mut f| f.write_all(line.as_bytes()));
    assert!(written.is_ok(), "cannot write to {}: {written:?}", file.display());
}

/// The table as the tests of one run filled it.
pub struct Table {
    cells: BTreeMap<(String, String), Cell>,
}

#[derive(Default)]
struct Cell {
    begun: usize,
    passed: usize,
    cannot: usize,
    remark: String,
}

impl Cell {
    fn sign(&self) -> &'static str {
        if self.passed + self.cannot < self.begun {
            "✗"
        } else if self.cannot > 0 {
            "-"
        } else {
            "✓"
        }
    }
}

impl Table {
    /// Reads what was noted in a file.
    pub fn read(file: &Path) -> io::Result<Self> {
        Ok(Self::of(&fs::read_to_string(file)?))
    }

    fn of(notes: &str) -> Self {
        let mut cells: BTreeMap<(String, String), Cell> = BTreeMap::new();
        for line in notes.lines() {
            let mut fields = line.splitn(4, '\t').map(str::to_owned);
            let (Some(agent), Some(scenario)) = (fields.next(), fields.next()) else { continue };
            let cell = cells.entry((agent, scenario)).or_default();
            match fields.next().as_deref() {
                Some("begun") => cell.begun += 1,
                Some("passed") => cell.passed += 1,
                Some("cannot") => cell.cannot += 1,
                _ => {}
            }
            if let Some(remark) = fields.next().filter(|remark| !remark.is_empty()) {
                cell.remark = remark;
            }
        }
        Self { cells }
    }

    /// Whether anything was noted at all.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// What no test looked at, as `agent: scenario`.
    pub fn holes(&self) -> Vec<String> {
        let all = REAL_AGENTS.iter().flat_map(|agent| SCENARIOS.map(|scenario| (*agent, scenario)));
        let empty = all.filter(|(agent, scenario)| self.cell(agent, scenario).is_none());
        empty.map(|(agent, scenario)| format!("{agent}: {scenario}")).collect()
    }

    fn cell(&self, agent: &str, scenario: &str) -> Option<&Cell> {
        self.cells.get(&(agent.to_owned(), scenario.to_owned()))
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<20}", "")?;
        for agent in REAL_AGENTS {
            write!(f, "{agent:>10}")?;
        }
        writeln!(f)?;
        for scenario in SCENARIOS {
            write!(f, "{scenario:<20}")?;
            for agent in REAL_AGENTS {
                write!(f, "{:>10}", self.cell(agent, scenario).map_or("·", Cell::sign))?;
            }
            writeln!(f)?;
        }
        writeln!(f, "✓ seen   ✗ failed   - not possible   · not tested in this run")?;
        for scenario in SCENARIOS {
            for agent in REAL_AGENTS {
                if let Some(cell) = self.cell(agent, scenario).filter(|cell| !cell.remark.is_empty()) {
                    writeln!(f, "{} {agent}, {scenario}: {}", cell.sign(), cell.remark)?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_shows_the_worst_of_its_tests() {
        let table = Table::of(
            "pi\tfresh\tbegun\t\npi\tfresh\tpassed\t\n\
             pi\tresume\tbegun\t\npi\tresume\tbegun\t\npi\tresume\tpassed\t\n\
             pi\tlevel edit\tbegun\t\npi\tlevel edit\tcannot\tits write tool reaches everywhere\n",
        );
        let shown = table.to_string();
        let sign = |scenario: &str| {
            let line = shown.lines().find(|line| line.starts_with(scenario)).unwrap();
            line.split_whitespace().nth_back(1).unwrap().to_owned()
        };
        assert_eq!(
            [sign("fresh"), sign("resume"), sign("level edit"), sign("ephemeral")],
            ["✓", "✗", "-", "·"]
        );
        assert!(shown.ends_with("- pi, level edit: its write tool reaches everywhere\n"), "{shown}");
        assert_eq!(table.holes().len(), SCENARIOS.len() * REAL_AGENTS.len() - 3);
        assert!(!table.is_empty());
    }
}
