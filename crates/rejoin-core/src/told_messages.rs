//! A history that goes along as messages of their own, shortened like a quoted one.

use serde_json::Value;

use crate::compose::Told;
use crate::quote::clip;
use crate::shorten::{self, From, Kept, Piece, steps_mark};
use crate::{Kind, Message, Part};

/// Shortens turns to a budget; says whether anything had to be.
pub(crate) fn shorten_messages(told: &mut Vec<Told>, budget: usize) -> bool {
    let sizes: Vec<shorten::Turn> = told.iter().map(sizes).collect();
    let mut kept = shorten::share_out(&sizes, budget).into_iter();
    let mut lossy = false;
    told.retain_mut(|told| {
        let kept = kept.next().flatten();
        lossy |= kept.as_ref().is_none_or(|kept| keep(told, kept));
        kept.is_some()
    });
    lossy
}

fn sizes(told: &Told) -> shorten::Turn {
    let parts =
        told.messages.iter().flat_map(|message| message.parts.iter().map(|part| (message.kind, part)));
    let pieces = parts.map(|(kind, part)| {
        let from = match part {
            Part::Call { .. } | Part::Response { .. } => From::Tool,
            Part::Text { thought: false, .. } if kind != Kind::User => From::Answer,
            _ => From::User,
        };
        Piece { from, bytes: size(part), around: 0 }
    });
    shorten::Turn { around: 0, pieces: pieces.collect(), unread: told.unread, absent: false }
}

/// Bytes of what is told of a part; some is not, or only its name.
fn size(part: &Part) -> usize {
    match part {
        Part::Text { text, thought: false } => text.len(),
        Part::Call { function_call } => function_call.args.to_string().len(),
        Part::Response { function_response } => function_response.response.output.len(),
        Part::Text { .. } | Part::Attachment { .. } | Part::Other(_) => 0,
    }
}

fn cut(part: &mut Part, kept: usize) {
    match part {
        Part::Text { text, .. } => clip(text, kept),
        Part::Response { function_response } => clip(&mut function_response.response.output, kept),
        Part::Call { function_call } => {
            let mut text = function_call.args.to_string();
            clip(&mut text, kept);
            function_call.args = Value::String(text);
        }
        Part::Attachment { .. } | Part::Other(_) => {}
    }
}

/// Shortens a turn; says whether anything had to be.
fn keep(told: &mut Told, kept: &Kept) -> bool {
    let mut kept = kept.iter();
    let (mut steps, mut bytes, mut clipped) = (0, told.unread, false);
    for message in &mut told.messages {
        message.parts.retain_mut(|part| {
            let size = size(part);
            let Some(kept) = kept.next().copied().flatten() else {
                steps += 1;
                bytes += size;
                return false;
            };
            if kept < size {
                clipped = true;
                cut(part, kept);
            }
            true
        });
    }
    if steps + bytes == 0 {
        return clipped;
    }
    let mark = Part::text(steps_mark(steps, bytes).trim_end());
    match told.messages.iter_mut().find(|message| message.kind != Kind::User) {
        Some(message) => message.parts.insert(0, mark),
        None => {
            told.messages.push(Message { parts: vec![mark], ..Message::new(told.id, Kind::Assistant) });
        }
    }
    true
}
