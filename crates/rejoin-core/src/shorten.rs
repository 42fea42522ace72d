//! What of a history is told when not all of it fits. Only sizes are looked at here.
//!
//! The user's own words come first, then the answers, then what tools were given and gave back; of each, the newest
//! first. What is left of the budget is used: texts are shortened only as far as they must be. (The properties in
//! `tests/it/composer.rs` hold this.)

/// Whose words something is. In this order it is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum From {
    User,
    Answer,
    Tool,
}

/// A piece of a turn: one text, or one use of a tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) from: From,
    /// Of its text.
    pub(crate) bytes: usize,
    /// What it takes besides its text.
    pub(crate) around: usize,
}

/// A turn.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    /// What it takes besides its pieces.
    pub(crate) around: usize,
    pub(crate) pieces: Vec<Piece>,
    /// Bytes of it that were not read, because they cannot fit.
    pub(crate) unread: usize,
    /// Not even the user's words were read.
    pub(crate) absent: bool,
}

/// How many bytes are kept of the text of each piece of a turn; `None` for one that is left out.
pub(crate) type Kept = Vec<Option<usize>>;

/// What is kept of a text that has to make room.
const STUB: usize = 400;
/// What is kept of the user's words, even if the budget is too small for it.
const LEAST: usize = 64;
/// A text is not cut for less than about what the mark takes.
const WORTH_CUTTING: usize = 64;

/// Stands where bytes are missing from a text.
pub(crate) fn bytes_mark(bytes: usize) -> String {
    format!("\n[{bytes} bytes left out here by rejoin]\n")
}

/// Stands once in a turn of which pieces are missing.
pub(crate) fn steps_mark(steps: usize, bytes: usize) -> String {
    match steps {
        0 => format!("[{bytes} bytes of this turn left out by rejoin to fit]\n"),
        1 => format!("[1 step of this turn, {bytes} bytes, left out by rejoin to fit]\n"),
        steps => format!("[{steps} steps of this turn, {bytes} bytes, left out by rejoin to fit]\n"),
    }
}

impl Piece {
    /// What is kept of the text if it may be about that long.
    fn cut(&self, most: usize) -> usize {
        if self.bytes <= most.saturating_add(WORTH_CUTTING) { self.bytes } else { most }
    }

    /// What it takes if so much is kept of its text.
    fn cost(&self, kept: usize) -> usize {
        let mark = if kept < self.bytes { bytes_mark(self.bytes - kept).len() } else { 0 };
        self.around + kept + mark
    }
}

impl Turn {
    /// What it takes to tell only what the user said, each text about that long.
    pub(crate) fn asked(&self, most: usize) -> usize {
        if self.absent {
            return TOO_MUCH;
        }
        let of_user = |piece: &&Piece| piece.from == From::User;
        let asked: usize = self.pieces.iter().filter(of_user).map(|piece| piece.cost(piece.cut(most))).sum();
        self.around + asked + LeftOut::of(self).mark()
    }

    /// The least it takes to tell what the user said, where there is a choice.
    pub(crate) fn least(&self) -> usize {
        self.asked(STUB)
    }

    /// What it takes to tell all that was said, without the tools.
    pub(crate) fn words(&self) -> usize {
        let said = self.pieces.iter().filter(|piece| piece.from != From::Tool);
        self.around + said.map(|piece| piece.cost(piece.bytes)).sum::<usize>()
    }

    fn whole(&self) -> usize {
        if self.absent {
            return TOO_MUCH;
        }
        let mark = if self.unread > 0 { steps_mark(0, self.unread).len() } else { 0 };
        self.around + self.pieces.iter().map(|piece| piece.cost(piece.bytes)).sum::<usize>() + mark
    }
}

/// What a turn weighs that was not read: more than any budget, and a sum of many is still a number.
const TOO_MUCH: usize = 1 << 40;

/// What is left out of a turn so far.
#[derive(Clone, Copy)]
struct LeftOut {
    steps: usize,
    bytes: usize,
}

impl LeftOut {
    /// All that the user did not say.
    fn of(turn: &Turn) -> Self {
        let others = turn.pieces.iter().filter(|piece| piece.from != From::User);
        let bytes = others.clone().map(|piece| piece.bytes).sum::<usize>() + turn.unread;
        Self { steps: others.count(), bytes }
    }

    fn without(self, piece: &Piece) -> Self {
        Self { steps: self.steps - 1, bytes: self.bytes - piece.bytes }
    }

    /// What its mark takes.
    fn mark(self) -> usize {
        if self.steps + self.bytes > 0 { steps_mark(self.steps, self.bytes).len() } else { 0 }
    }
}

/// Shares a budget out. `None` for a turn that is left out altogether: those are neighbours, and neither the first nor
/// the last.
pub(crate) fn share_out(turns: &[Turn], budget: usize) -> Vec<Option<Kept>> {
    if turns.iter().map(Turn::whole).sum::<usize>() <= budget {
        let all = |turn: &Turn| turn.pieces.iter().map(|piece| Some(piece.bytes)).collect();
        return turns.iter().map(|turn| Some(all(turn))).collect();
    }
    // If the user's words alone are too long, they leave some room for what came of them.
    let all_asked = turns.iter().map(|turn| turn.asked(usize::MAX)).sum::<usize>();
    let for_asked = if all_asked <= budget { budget } else { budget / 4 * 3 };
    let left_out = left_out_turns(turns, for_asked);
    let told = || turns.iter().enumerate().filter(|(at, _)| !left_out.contains(at));
    let asked = |most| told().map(|(_, turn)| turn.asked(most)).sum::<usize>();
    let most = largest(LEAST, budget.max(LEAST), |most| asked(most) <= for_asked);
    let mut sharing = Sharing {
        turns,
        kept: turns
            .iter()
            .map(|turn| turn.pieces.iter().map(|piece| kept_of_asked(piece, most)).collect())
            .collect(),
        left_out: turns.iter().map(LeftOut::of).collect(),
        room: budget.saturating_sub(asked(most)),
    };
    for from in [From::Answer, From::User, From::Tool] {
        // Newest first.
        let pieces = told().flat_map(|(at, turn)| (0..turn.pieces.len()).map(move |piece| (at, piece)));
        let mut pieces: Vec<(usize, usize)> =
            pieces.filter(|(at, piece)| turns[*at].pieces[*piece].from == from).collect();
        pieces.reverse();
        if from != From::User {
            sharing.keep_some(&pieces);
        }
        for (turn, piece) in pieces {
            sharing.lengthen(turn, piece);
        }
    }
    let kept = sharing.kept.into_iter().enumerate();
    kept.map(|(at, kept)| (!left_out.contains(&at)).then_some(kept)).collect()
}

fn kept_of_asked(piece: &Piece, most: usize) -> Option<usize> {
    (piece.from == From::User).then(|| piece.cut(most))
}

/// If not even the user's words fit: the turns between the newest (three quarters of the budget) and the oldest.
fn left_out_turns(turns: &[Turn], budget: usize) -> std::ops::Range<usize> {
    let sizes: Vec<usize> = turns.iter().map(Turn::least).collect();
    if sizes.iter().sum::<usize>() <= budget {
        return 0..0;
    }
    let mut used = 0;
    let mut tail = turns.len();
    while tail > 1 && (tail == turns.len() || used + sizes[tail - 1] <= budget / 4 * 3) {
        tail -= 1;
        used += sizes[tail];
    }
    let mut head = 0;
    while head < tail && (head == 0 || used + sizes[head] <= budget) {
        used += sizes[head];
        head += 1;
    }
    head..tail
}

/// The largest number from `low` to `high` that does, if smaller ones do, too; else `low`.
fn largest(mut low: usize, mut high: usize, does: impl Fn(usize) -> bool) -> usize {
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if does(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

struct Sharing<'a> {
    turns: &'a [Turn],
    kept: Vec<Kept>,
    left_out: Vec<LeftOut>,
    room: usize,
}

impl Sharing<'_> {
    /// Keeps the first ones of some pieces whole, as far as half of the room reaches, and of the others both ends.
    fn keep_some(&mut self, pieces: &[(usize, usize)]) {
        let half = self.room / 2;
        let whole = pieces.iter().take_while(|(turn, piece)| {
            let bytes = self.turns[*turn].pieces[*piece].bytes;
            self.price(*turn, *piece, bytes) <= self.room - half && self.keep(*turn, *piece, bytes)
        });
        let whole = whole.count();
        for &(turn, piece) in &pieces[whole..] {
            let stub = self.turns[turn].pieces[piece].cut(STUB);
            self.keep(turn, piece, stub);
        }
    }

    /// Keeps so much of a piece that was left out, if the room reaches.
    fn keep(&mut self, turn: usize, piece: usize, kept: usize) -> bool {
        let price = self.price(turn, piece, kept);
        let fits = price <= self.room;
        if fits {
            self.room -= price;
            self.left_out[turn] = self.left_out[turn].without(&self.turns[turn].pieces[piece]);
            self.kept[turn][piece] = Some(kept);
        }
        fits
    }

    /// What it takes to keep so much of a piece that was left out. The mark of its turn may go.
    fn price(&self, turn: usize, piece: usize, kept: usize) -> usize {
        let before = self.left_out[turn];
        let piece = &self.turns[turn].pieces[piece];
        (piece.cost(kept) + before.without(piece).mark()).saturating_sub(before.mark())
    }

    /// Keeps more of a piece, as far as the room reaches.
    fn lengthen(&mut self, turn: usize, piece: usize) {
        let size = self.turns[turn].pieces[piece];
        let Some(kept) = self.kept[turn][piece] else {
            let most = largest(0, size.bytes, |kept| self.price(turn, piece, size.cut(kept)) <= self.room);
            if most >= LEAST {
                self.keep(turn, piece, size.cut(most));
            }
            return;
        };
        let now = size.cost(kept);
        let most = largest(kept, size.bytes, |kept| size.cost(size.cut(kept)) <= now + self.room);
        let most = size.cut(most);
        self.room = (now + self.room).saturating_sub(size.cost(most));
        self.kept[turn][piece] = Some(most);
    }
}
