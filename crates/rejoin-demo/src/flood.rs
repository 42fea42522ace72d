//! Output in bulk: made in one buffer that is used again and again.

use std::io;

use crate::input::Inbox;
use crate::output::Out;
use crate::turn::Stop;

/// How much is written at once.
const BATCH: u64 = 256 * 1024;
/// A line for a flood is held in memory; larger ones are what [`padded`] is for.
const LONGEST: u64 = 16 << 20;

/// Pieces of a text, `line` bytes each with their newline, until there are at least `bytes`.
pub(crate) fn deltas(out: &mut Out, inbox: &Inbox, message: &str, bytes: u64, line: u64) -> Result<(), Stop> {
    let unit = filled(&format!(r#"{{"type":"delta","message":"{message}","text":""#), "\"}\n", line);
    pour(out, inbox, bytes, &unit, |_, _| {})
}

/// Tool calls with results of `line` bytes, each pair with an id of its own, until there are at least `bytes`.
pub(crate) fn tools(out: &mut Out, inbox: &Inbox, message: &str, bytes: u64, line: u64) -> Result<(), Stop> {
    const DIGITS: &str = "000000000";
    let call = format!(r#"{{"type":"tool","message":"{message}","id":"f"#);
    let rest = r#"","name":"flood","input":{}}"#;
    let result = r#"{"type":"tool_result","id":"f"#;
    let mut unit = format!("{call}{DIGITS}{rest}\n").into_bytes();
    let places = [call.len(), unit.len() + result.len()];
    let opening = format!(r#"{result}{DIGITS}","output":""#);
    unit.append(&mut filled(&opening, "\",\"error\":false}\n", line));
    pour(out, inbox, bytes, &unit, |unit, number| {
        let digits = format!("{number:09}");
        for place in places {
            if let Some(id) = unit.get_mut(place..place + DIGITS.len()) {
                id.copy_from_slice(&digits.as_bytes()[..DIGITS.len()]);
            }
        }
    })
}

fn filled(opening: &str, closing: &str, size: u64) -> Vec<u8> {
    let fill = size.min(LONGEST) as usize;
    let mut line = opening.as_bytes().to_vec();
    line.resize(fill.saturating_sub(closing.len()).max(line.len() + 1), b'x');
    line.extend_from_slice(closing.as_bytes());
    line
}

/// Writes a unit over and over, each after `number` put its number in.
fn pour(
    out: &mut Out,
    inbox: &Inbox,
    bytes: u64,
    unit: &[u8],
    number: impl Fn(&mut [u8], u64),
) -> Result<(), Stop> {
    let size = unit.len() as u64;
    let per_batch = (BATCH / size).max(1);
    let mut left = bytes.div_ceil(size);
    let mut buffer = unit.repeat(per_batch.min(left) as usize);
    let mut count = 0;
    while left > 0 {
        let now = per_batch.min(left);
        for each in buffer.chunks_exact_mut(unit.len()) {
            count += 1;
            number(each, count);
        }
        out.bytes(&buffer[..now as usize * unit.len()])?;
        left -= now;
        inbox.pause(std::time::Duration::ZERO)?;
    }
    Ok(())
}

/// One line of any size: `opening`, as much padding as it takes, `closing`. No smaller than these two.
pub(crate) fn padded(out: &mut Out, opening: &str, closing: &str, bytes: u64) -> io::Result<()> {
    let chunk = [b'x'; 8 * 1024];
    let mut left = bytes.saturating_sub((opening.len() + closing.len()) as u64);
    out.bytes(opening.as_bytes())?;
    while left > 0 {
        let now = left.min(chunk.len() as u64);
        out.bytes(&chunk[..now as usize])?;
        left -= now;
    }
    out.bytes(closing.as_bytes())
}
