//! What the tracer saw of a command.

use anyhow::{Context, Result, bail};

/// One counted system call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Op {
    pub(crate) class: String,
    /// Who made it: `rejoin`, `supervisor`, `agent`, `tool`.
    pub(crate) who: String,
    pub(crate) call: String,
    pub(crate) path: String,
}

/// How the command ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ended {
    Exit(i32),
    Signal(i32),
    /// It did not.
    Stuck,
}

/// Where the fault was put.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Hit {
    pub(crate) op: Op,
    /// The line as the tracer wrote it.
    pub(crate) shown: String,
}

/// What a loss of power would leave, in the order in which it came to the disk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Lasting {
    /// A file was opened to be made, if it was not there.
    Made { path: String },
    /// The first so many bytes of a file, or the names in a directory.
    Synced { size: u64, path: String },
    /// A rename or a link.
    Moved { from: String, to: String },
}

#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) ops: Vec<Op>,
    pub(crate) lasting: Vec<Lasting>,
    pub(crate) hit: Option<Hit>,
    pub(crate) ended: Ended,
    /// Processes that outlived the command, longer than they may.
    pub(crate) orphans: Vec<String>,
}

impl Report {
    /// Reads what the tracer wrote.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut report = Self {
            ops: Vec::new(),
            lasting: Vec::new(),
            hit: None,
            ended: Ended::Stuck,
            orphans: Vec::new(),
        };
        let mut ended = None;
        let mut whole = false;
        for line in text.lines() {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "op" => {
                    let op = op(rest).with_context(|| format!("no call: {line}"))?;
                    if op.class == "create" {
                        report.lasting.push(Lasting::Made { path: op.path.clone() });
                    }
                    report.ops.push(op);
                }
                // "hit ACTION VICTIM" and then the call.
                "hit" => {
                    let call = rest.splitn(3, ' ').nth(2).and_then(op);
                    let op = call.with_context(|| format!("no call: {line}"))?;
                    report.hit = Some(Hit { op, shown: line.to_owned() });
                }
                "synced" => {
                    let (size, path) = rest.split_once(' ').with_context(|| format!("no size: {line}"))?;
                    report.lasting.push(Lasting::Synced { size: size.parse()?, path: path.to_owned() });
                }
                "moved" => {
                    let (from, to) = rest.split_once('\t').with_context(|| format!("no pair: {line}"))?;
                    report.lasting.push(Lasting::Moved { from: from.to_owned(), to: to.to_owned() });
                }
                "exit" => ended = Some(Ended::Exit(rest.parse()?)),
                "signal" => ended = Some(Ended::Signal(rest.parse()?)),
                "orphan" => report.orphans.push(rest.to_owned()),
                "stuck" => report.ended = Ended::Stuck,
                "end" => whole = true,
                other => bail!("the tracer says {other:?}"),
            }
            if word == "stuck" {
                // What comes now is the end that we made.
                return Ok(report);
            }
        }
        report.ended = ended.context("the tracer does not say how the command ended")?;
        if !whole {
            bail!("the tracer's report is cut");
        }
        Ok(report)
    }
}

fn op(text: &str) -> Option<Op> {
    let mut words = text.splitn(4, ' ').map(str::to_owned);
    Some(Op {
        class: words.next()?,
        who: words.next()?,
        call: words.next()?,
        path: words.next().unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read() {
        let report = Report::parse(
            "op write rejoin write /a b\nhit eio self sync rejoin fdatasync /a\nsignal 9\norphan 7 sleep 5\nend\n",
        )
        .unwrap();
        assert_eq!(report.ops[0].path, "/a b");
        assert_eq!(report.hit.unwrap().op.class, "sync");
        assert_eq!(report.ended, Ended::Signal(9));
        assert_eq!(report.orphans, ["7 sleep 5"]);
        assert!(Report::parse("op write rejoin write /a\n").is_err());
        assert_eq!(Report::parse("stuck\nsignal 9\n").unwrap().ended, Ended::Stuck);
    }
}
