//! One fault: at which system call, and what happens there.

use std::fmt;

use super::random::Random;
use super::report::Op;

/// A fault for `tracer.c`, which says what the words mean.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fault {
    pub(crate) class: String,
    /// Which call of that class, from 1.
    pub(crate) number: usize,
    pub(crate) action: &'static str,
    pub(crate) who: &'static str,
    /// The thread that met it is slow afterwards.
    pub(crate) hold: bool,
    /// It is a loss of power: what was not synced is lost, too.
    pub(crate) power: bool,
}

impl Fault {
    /// As the tracer takes it.
    pub(crate) fn spec(&self) -> String {
        let hold = if self.hold { ":hold" } else { "" };
        format!("{}:{}:{}:{}{hold}", self.class, self.number, self.action, self.who)
    }

    /// A loss of power when all is done.
    pub(crate) fn power_at_the_end() -> Self {
        // No command makes so many calls.
        let number = 1_000_000_000;
        Self { class: "any".to_owned(), number, action: "kill-after", who: "all", hold: false, power: true }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let power = if self.power { ", and the power is lost" } else { "" };
        write!(f, "{}{power}", self.spec())
    }
}

/// What can be tried at a call, by its class.
fn actions(class: &str) -> &'static [(&'static str, &'static str, bool)] {
    match class {
        "write" => &[
            ("enospc", "self", true),
            ("full", "self", false),
            ("tear-full", "self", false),
            ("tear-kill", "self", false),
            ("kill-before", "self", false),
            ("kill-after", "self", false),
        ],
        "sync" => &[("eio", "self", true), ("kill-before", "self", false), ("kill-after", "self", false)],
        "create" | "mkdir" | "rename" | "link" => {
            &[("enospc", "self", true), ("kill-before", "self", false), ("kill-after", "self", false)]
        }
        "truncate" | "unlink" => {
            &[("eio", "self", false), ("kill-before", "self", false), ("kill-after", "self", false)]
        }
        // No more of them are to be had.
        "thread" => &[("eagain", "self", false)],
        _ => &[],
    }
}

/// Every fault at every call of a command that changes something on the disk.
pub(crate) fn every(ops: &[Op]) -> Vec<Fault> {
    let mut faults = vec![Fault::power_at_the_end()];
    for (at, op) in ops.iter().enumerate() {
        let number = 1 + ops[..at].iter().filter(|other| other.class == op.class).count();
        for &(action, who, hold) in actions(&op.class) {
            faults.push(Fault { class: op.class.clone(), number, action, who, hold, power: false });
        }
    }
    faults
}

/// Who is killed in a campaign; rejoin itself most often.
const VICTIMS: [&str; 8] = ["self", "rejoin", "rejoin", "rejoin", "supervisor", "agent", "all", "all"];

/// One at random, somewhere in a command that made these calls when nothing was wrong.
pub(crate) fn random(ops: &[Op], random: &mut Random) -> Option<Fault> {
    // Calls on the index are many and say little: most faults go elsewhere.
    let interesting: Vec<&Op> = ops.iter().filter(|op| !op.path.contains("index.sqlite")).collect();
    let any: Vec<&Op> = ops.iter().collect();
    let anywhere = random.once_in(8) || interesting.is_empty();
    let op = *random.pick(if anywhere { &any } else { &interesting })?;
    let alike = ops.iter().filter(|other| other.class == op.class);
    let number = 1 + alike.take_while(|other| !std::ptr::eq(*other, op)).count();
    let failing: Vec<_> =
        actions(&op.class).iter().filter(|(action, ..)| !action.starts_with("kill")).collect();
    if let Some(&&(action, who, hold)) = random.pick(&failing).filter(|_| random_failure(random)) {
        let who = if action == "tear-kill" { random.pick(&VICTIMS).copied().unwrap_or(who) } else { who };
        return Some(Fault { class: op.class.clone(), number, action, who, hold, power: false });
    }
    let action = if random.once_in(2) { "kill-before" } else { "kill-after" };
    let who = random.pick(&VICTIMS).copied().unwrap_or("self");
    let power = who == "all" && random.once_in(2);
    Some(Fault { class: op.class.clone(), number, action, who, hold: false, power })
}

/// Another command is run while this one stands still at a random call.
pub(crate) fn meanwhile(ops: &[Op], random: &mut Random) -> Option<Fault> {
    let ours: Vec<&Op> =
        ops.iter().filter(|op| op.who == "rejoin" && !op.path.contains("index.sqlite")).collect();
    let op = *random.pick(&ours)?;
    let alike = ops.iter().filter(|other| other.class == op.class);
    let number = 1 + alike.take_while(|other| !std::ptr::eq(*other, op)).count();
    let class = op.class.clone();
    Some(Fault { class, number, action: "meanwhile", who: "self", hold: false, power: false })
}

/// A third of the rounds let a call fail, the others kill.
fn random_failure(random: &mut Random) -> bool {
    random.once_in(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(class: &str) -> Op {
        Op { class: class.to_owned(), who: "rejoin".to_owned(), call: class.to_owned(), path: String::new() }
    }

    #[test]
    fn every_call_that_changes_something_is_hit_and_counted_in_its_class() {
        let faults = every(&[op("write"), op("process"), op("sync"), op("write"), op("thread")]);
        let specs: Vec<String> = faults.iter().map(Fault::spec).collect();
        assert!(specs.contains(&"write:2:tear-kill:self".to_owned()), "{specs:?}");
        assert!(specs.contains(&"sync:1:eio:self:hold".to_owned()), "{specs:?}");
        assert_eq!(specs.len(), 1 + 6 + 3 + 6 + 1, "{specs:?}");
    }
}
