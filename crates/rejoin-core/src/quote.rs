//! A turn as it is quoted for an agent that was not there.

use std::collections::HashSet;
use std::fmt::Write as _;

use crate::compose::{Told, mention};
use crate::shorten::{self, From, Kept, Piece, bytes_mark, steps_mark};
use crate::{Kind, Part, TurnState};

/// One turn, ready to be quoted.
pub(crate) struct Quoted {
    head: String,
    blocks: Vec<Block>,
    /// Something of it cannot be quoted.
    incomplete: bool,
    /// Bytes of it that were not read, because they cannot fit.
    unread: usize,
    /// Not even the user's words were read.
    absent: bool,
    /// Blocks that are left out, and their bytes: they stood before this one, or after it.
    steps_left_out: Option<(usize, usize)>,
    /// Turns left out after this one, and their bytes.
    turns_left_out: Option<(usize, usize)>,
}

struct Block {
    tag: &'static str,
    attribute: String,
    body: String,
    from: From,
    /// Bytes of the body before it was shortened.
    whole: usize,
    left_out: bool,
}

impl Block {
    fn new(tag: &'static str, attribute: String, body: String, from: From) -> Self {
        let mut block = Self { tag, attribute, body, from, whole: 0, left_out: false };
        block.body.truncate(block.body.trim_end_matches('\n').len());
        block.whole = block.body.len();
        block
    }

    /// What it takes with a fence of that length, besides its body.
    fn around(&self, fence: usize) -> usize {
        self.attribute.len() + 2 * (self.tag.len() + fence) + 10
    }
}

impl Quoted {
    pub(crate) fn new(told: &Told, number: usize, maybe_known: bool) -> Self {
        let mut head = format!(" number=\"{number}\"");
        if let Some(agent) = &told.agent {
            let _ = write!(head, " agent=\"{}\"", plain(agent.as_str()));
        }
        match told.state {
            TurnState::Completed => {}
            TurnState::Failed => head.push_str(" ended=\"failed\""),
            TurnState::Cut => head.push_str(" ended=\"cut off, commands may have run\""),
        }
        if maybe_known {
            head.push_str(" note=\"you may know this turn already\"");
        }
        let mut quoted = Self { unread: told.unread, incomplete: told.shortened, ..Self::empty(head) };
        let answered = told.answered_calls();
        for message in &told.messages {
            let (speaker, from) = match message.kind {
                Kind::User => ("user", From::User),
                _ => ("assistant", From::Answer),
            };
            for part in &message.parts {
                quoted.add(part, speaker, from, maybe_known);
                if let (Part::Call { function_call }, Some(answered)) = (part, &answered)
                    && !answered.contains(function_call.id.as_str())
                    && let Some(block) = quoted.blocks.last_mut()
                {
                    block.attribute.push_str(UNFINISHED);
                }
            }
        }
        quoted
    }

    /// A turn whose text nobody has.
    pub(crate) fn unreadable(number: usize) -> Self {
        let head = format!(" number=\"{number}\" note=\"this turn could not be read from the record\"");
        Self { incomplete: true, ..Self::empty(head) }
    }

    /// A turn that was not read, because those before and after it fill the budget.
    pub(crate) fn absent(number: usize, bytes: usize) -> Self {
        Self { unread: bytes, absent: true, ..Self::unreadable(number) }
    }

    fn empty(head: String) -> Self {
        Self {
            head,
            blocks: Vec::new(),
            incomplete: false,
            unread: 0,
            absent: false,
            steps_left_out: None,
            turns_left_out: None,
        }
    }

    fn add(&mut self, part: &Part, speaker: &'static str, from: From, maybe_known: bool) {
        let blocks = &mut self.blocks;
        match part {
            Part::Text { text, thought: false } if !text.is_empty() => {
                blocks.push(Block::new(speaker, String::new(), text.clone(), from));
            }
            Part::Call { function_call } => {
                let name = format!(" name=\"{}\"", plain(&function_call.name));
                blocks.push(Block::new("tool-call", name, function_call.args.to_string(), From::Tool));
            }
            Part::Response { function_response } => {
                let failed = if function_response.response.error { " failed=\"yes\"" } else { "" };
                let output = function_response.response.output.clone();
                blocks.push(Block::new("tool-result", failed.to_owned(), output, From::Tool));
            }
            Part::Attachment { attachment } => {
                let words = mention(attachment, maybe_known);
                // One block with the words it came with: they are shortened, but not left out.
                match blocks.last_mut() {
                    Some(block) if block.tag == speaker => {
                        let words = format!("{}\n{words}", block.body);
                        *block = Block::new(speaker, String::new(), words, from);
                    }
                    _ => blocks.push(Block::new(speaker, String::new(), words, from)),
                }
            }
            Part::Text { .. } => {}
            Part::Other(_) => {
                self.incomplete = true;
                let mark = "[something that is not text stood here]".to_owned();
                blocks.push(Block::new(speaker, String::new(), mark, from));
            }
        }
    }

    pub(crate) fn contains(&self, text: &str) -> bool {
        self.blocks.iter().any(|block| block.body.contains(text))
    }

    /// Bytes of what was said and done, as far as it was read.
    pub(crate) fn said(&self) -> usize {
        self.blocks.iter().map(|block| block.body.len()).sum()
    }

    pub(crate) fn lossy(&self) -> bool {
        let clipped = self.blocks.iter().any(|block| block.body.len() < block.whole);
        let left_out = self.unread > 0 || self.steps_left_out.is_some() || self.turns_left_out.is_some();
        self.incomplete || clipped || left_out
    }

    /// Its sizes, with a fence of that length.
    pub(crate) fn sizes(&self, fence: usize) -> shorten::Turn {
        let size =
            |block: &Block| Piece { from: block.from, bytes: block.body.len(), around: block.around(fence) };
        shorten::Turn {
            around: self.head.len() + 2 * fence + 17,
            pieces: self.blocks.iter().map(size).collect(),
            unread: self.unread,
            absent: self.absent,
        }
    }

    /// Shortens it.
    fn keep(&mut self, kept: &Kept) {
        let (mut steps, mut bytes) = (0, self.unread);
        for (block, kept) in self.blocks.iter_mut().zip(kept) {
            match kept {
                Some(kept) if *kept < block.body.len() => clip(&mut block.body, *kept),
                Some(_) => {}
                None => {
                    block.left_out = true;
                    steps += 1;
                    bytes += block.whole;
                }
            }
        }
        self.steps_left_out = (steps + bytes > 0).then_some((steps, bytes));
    }

    pub(crate) fn render(&self, fence: &str, out: &mut String) {
        let _ = writeln!(out, "<turn-{fence}{}>", self.head);
        let mut mark = self.steps_left_out.map(|(steps, bytes)| steps_mark(steps, bytes));
        for Block { tag, attribute, body, left_out, .. } in &self.blocks {
            if *left_out {
                out.push_str(&mark.take().unwrap_or_default());
            } else {
                let _ = write!(out, "<{tag}-{fence}{attribute}>\n{body}\n</{tag}-{fence}>\n");
            }
        }
        out.push_str(&mark.unwrap_or_default());
        let _ = writeln!(out, "</turn-{fence}>");
        if let Some((turns, bytes)) = self.turns_left_out {
            let _ = writeln!(out, "[{turns} turns, {bytes} bytes, left out here by rejoin to fit]");
        }
    }
}

/// Nobody saw what came of it: it may have done its work, some of it, or nothing.
const UNFINISHED: &str = " outcome=\"unknown\"";

impl Told {
    /// The calls, by the agent's ids, of which it is known what they gave back; nothing if some of the turn was not
    /// read.
    pub fn answered_calls(&self) -> Option<HashSet<&str>> {
        let parts = self.messages.iter().flat_map(|message| &message.parts);
        let answered = parts.filter_map(|part| match part {
            Part::Response { function_response } => Some(function_response.id.as_str()),
            _ => None,
        });
        (self.unread == 0).then(|| answered.collect())
    }
}

/// Shortens turns to a budget, with a fence of that length.
pub(crate) fn fit(turns: &mut Vec<Quoted>, budget: usize, fence: usize) {
    let sizes: Vec<shorten::Turn> = turns.iter().map(|turn| turn.sizes(fence)).collect();
    let mut fitting: Vec<Quoted> = Vec::with_capacity(turns.len());
    for (mut turn, kept) in turns.drain(..).zip(shorten::share_out(&sizes, budget)) {
        match (kept, fitting.last_mut()) {
            (Some(kept), _) => {
                turn.keep(&kept);
                fitting.push(turn);
            }
            (None, Some(before)) => {
                let (turns, bytes) = before.turns_left_out.unwrap_or_default();
                let whole = turn.unread + turn.blocks.iter().map(|block| block.whole).sum::<usize>();
                before.turns_left_out = Some((turns + 1, bytes + whole));
            }
            (None, None) => {}
        }
    }
    *turns = fitting;
}

/// Cuts the middle out of a text so that so many bytes of it are left, and a visible mark.
pub(crate) fn clip(text: &mut String, kept: usize) {
    let head = text.floor_char_boundary(kept / 2);
    let tail = text.ceil_char_boundary(text.len() - kept / 2);
    text.replace_range(head..tail, &bytes_mark(tail - head));
}

/// Names from outside, made safe to stand in an attribute.
fn plain(name: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "_-.:".contains(c) { c } else { '_' };
    name.chars().take(80).map(safe).collect()
}
