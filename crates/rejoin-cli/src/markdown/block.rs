//! What a line is, told by how it begins.

/// Deeper indentation is cut: the words need room, too.
const DEEPEST: usize = 24;

/// The kind of a line.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Block {
    Blank,
    /// Code begins; these marks end it.
    Fence(String),
    Rule,
    /// A row of a table.
    Verbatim,
    Heading,
    Words(Prefix),
}

/// What stands before the words of a line.
#[derive(PartialEq, Eq, Debug, Default)]
pub(super) struct Prefix {
    /// Before the first one.
    pub(super) first: String,
    /// Where the line is wrapped.
    pub(super) next: String,
    /// The same, where marks are shown as they are.
    pub(super) plain_next: String,
}

impl Prefix {
    fn push(&mut self, first: &str, next: &str, marks: &str) {
        self.first.push_str(first);
        self.next.push_str(next);
        self.plain_next.push_str(marks);
    }
}

/// The kind of a line that begins with this text, and how much of it that takes up. `None` as long as more could
/// change it; the text ends with a blank unless it is all of the line.
pub(super) fn block(text: &str, all: bool) -> Option<(Block, usize)> {
    let mut prefix = Prefix::default();
    let mut at = 0;
    loop {
        let body = text[at..].trim_start();
        let indent = text.len() - at - body.len();
        if body.is_empty() {
            return all.then(|| {
                let block = if prefix.first.is_empty() { Block::Blank } else { Block::Words(prefix) };
                (block, text.len())
            });
        }
        let columns: usize = text[at..at + indent].chars().map(|c| if c == '\t' { 4 } else { 1 }).sum();
        let blanks = " ".repeat(columns.min(DEEPEST));
        let in_quote = !prefix.first.is_empty();
        let token = body.split(char::is_whitespace).next().unwrap_or_default();
        let followed = body[token.len()..].starts_with([' ', '\t']);
        let whole = |block: Block| all.then_some((block, text.len()));
        if !in_quote {
            if let Some(fence) = fence(body) {
                return whole(Block::Fence(fence));
            }
            if token.starts_with('|') {
                return all.then_some((Block::Verbatim, 0));
            }
            if is_rule(token) && (!all || token == body.trim_end()) {
                return whole(Block::Rule);
            }
            if followed && token.len() <= 6 && token.bytes().all(|byte| byte == b'#') {
                return Some((Block::Heading, at + indent + token.len() + 1));
            }
        }
        at += indent;
        if let Some(quoted) = body.strip_prefix('>') {
            let blank = usize::from(quoted.starts_with(' '));
            prefix.push(&format!("{blanks}│ "), &format!("{blanks}│ "), &format!("{blanks}> "));
            at += 1 + blank;
            continue;
        }
        prefix.push(&blanks, &blanks, &blanks);
        if followed && is_item(token) {
            let bullet = if token.len() == 1 { "•" } else { token };
            let hang = " ".repeat(token.len() + 1);
            prefix.push(&format!("{bullet} "), &hang, &hang);
            at += token.len() + 1;
        }
        return Some((Block::Words(prefix), at));
    }
}

/// The marks of a line that begins a block of code.
fn fence(body: &str) -> Option<String> {
    let mark = body.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let marks: String = body.chars().take_while(|c| *c == mark).collect();
    // Backquotes further on make it a piece of code within a line.
    let rest = &body[marks.len()..];
    (marks.len() >= 3 && !(mark == '`' && rest.contains('`'))).then_some(marks)
}

fn is_rule(token: &str) -> bool {
    token.len() >= 3 && ["-", "*", "_"].iter().any(|mark| token.replace(mark, "").is_empty())
}

/// `-`, `*`, `+`, `1.`, `2)`.
fn is_item(token: &str) -> bool {
    match token.strip_suffix(['.', ')']) {
        Some(number) => (1..=9).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit()),
        None => matches!(token, "-" | "*" | "+"),
    }
}
