//! Picking one of many: type to filter, move, choose. A few lines below the cursor, no more of the screen.

use std::fmt::Write as _;

use crate::keys::{Key, key};
use crate::screen::{self, Painted, Style};
use crate::{signals, style, tty};

/// What became of the question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Picked {
    /// Enter on this item.
    Open(usize),
    /// Ctrl-R on this item: go on with it.
    Continue(usize),
}

/// What the person sees below the list, and what stands behind `> ` when it comes up.
#[derive(Clone, Copy)]
pub(crate) struct Asking<'a> {
    pub(crate) help: &'a str,
    pub(crate) filter: &'a str,
}

/// Lets a person at the terminal pick one of the items, each a line. `None` if they left without one.
pub(crate) fn pick(items: &[String], asking: Asking<'_>) -> anyhow::Result<Option<Picked>> {
    if !tty::is_there() || style::dumb() {
        let text =
            "picking needs a terminal that can move its cursor; leave -i out, or name the conversation";
        return Err(rejoin::Error::Config(text.to_owned()).into());
    }
    signals::watch()?;
    let raw = tty::Raw::begin()?;
    let mut list = List::new(items);
    asking.filter.chars().for_each(|c| list.press(Key::Char(c)));
    let mut drawn = 0;
    let choice = loop {
        drawn = draw(&list, asking.help, drawn);
        match key()? {
            Key::Leave | Key::Ctrl('c' | 'd' | 'g') => break None,
            Key::Enter => {
                if let Some(at) = list.chosen() {
                    break Some(Picked::Open(at));
                }
            }
            Key::Ctrl('r') => {
                if let Some(at) = list.chosen() {
                    break Some(Picked::Continue(at));
                }
            }
            key => list.press(key),
        }
    };
    screen::say(&Painted::in_place_of(drawn));
    drop(raw);
    Ok(choice)
}

/// The items, those that match, and where the mark stands.
struct List<'a> {
    items: &'a [String],
    filter: String,
    /// The best first.
    matching: Vec<usize>,
    at: usize,
}

impl<'a> List<'a> {
    fn new(items: &'a [String]) -> Self {
        Self { items, filter: String::new(), matching: (0..items.len()).collect(), at: 0 }
    }

    fn chosen(&self) -> Option<usize> {
        self.matching.get(self.at).copied()
    }

    fn press(&mut self, key: Key) {
        match key {
            Key::Char(c) => self.filter.push(c),
            Key::Backspace => drop(self.filter.pop()),
            Key::Clear => self.filter.clear(),
            Key::Up => return self.step(-1),
            Key::Down => return self.step(1),
            Key::PageUp => return self.step(-page().cast_signed()),
            Key::PageDown => return self.step(page().cast_signed()),
            Key::Enter | Key::Ctrl(_) | Key::Leave | Key::Other => return,
        }
        self.matching = matching(self.items, &self.filter);
        self.at = 0;
    }

    fn step(&mut self, by: isize) {
        let last = self.matching.len().saturating_sub(1);
        self.at = self.at.saturating_add_signed(by).min(last);
    }
}

/// The items that match all words of a filter, the best first, else in their order.
fn matching(items: &[String], filter: &str) -> Vec<usize> {
    let words: Vec<Vec<char>> =
        filter.split_whitespace().map(|word| word.to_lowercase().chars().collect()).collect();
    let mut found: Vec<(u32, usize)> = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let item: Vec<char> = item.to_lowercase().chars().collect();
        if let Some(score) = words.iter().map(|word| score(&item, word)).sum::<Option<u32>>() {
            found.push((score, at));
        }
    }
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    found.into_iter().map(|(_, at)| at).collect()
}

/// How well a word is in an item: as it is (best at the beginning of a word), or else letter by letter in order.
fn score(item: &[char], word: &[char]) -> Option<u32> {
    let begins = |at: usize| at == 0 || !item[at - 1].is_alphanumeric();
    let places = item.windows(word.len()).enumerate().filter(|(_, window)| *window == word);
    let best = places.map(|(at, _)| if begins(at) { 1000 } else { 500 }).max();
    if best.is_some() {
        return best;
    }
    let starts = (0..item.len()).filter(|at| item[*at] == word[0]);
    let shortest = starts.filter_map(|at| span(&item[at..], word)).min()?;
    // Letters strewn over the whole line are nobody's intention.
    (shortest <= 4 * word.len()).then(|| 100_u32.saturating_sub(shortest as u32))
}

/// How many letters it takes to come across all those of a word, in order.
fn span(item: &[char], word: &[char]) -> Option<usize> {
    let mut at = 0;
    for c in word {
        at += 1 + item[at..].iter().position(|other| other == c)?;
    }
    Some(at)
}

/// How many items are shown at once.
fn page() -> usize {
    tty::rows().saturating_sub(3).clamp(1, 12)
}

/// Draws the list in place of what was drawn; gives how many lines that took.
fn draw(list: &List<'_>, help: &str, before: usize) -> usize {
    let width = tty::columns().saturating_sub(1);
    let page = page();
    let first = list.at.saturating_sub(page - 1);
    let shown = list.matching.iter().enumerate().skip(first).take(page);
    let mut out = Painted::in_place_of(before);
    let mut lines = 1;
    for (at, item) in shown {
        let line = style::one_line(&list.items[*item], width.saturating_sub(2));
        let marked = at == list.at;
        let mark = if marked { '›' } else { ' ' };
        out.style(Style::REVERSED.when(marked && style::colour()), &format!("{mark} {line}"));
        out.text("\n");
        lines += 1;
    }
    let count = format!("{}/{} · {help}", list.matching.len(), list.items.len());
    out.style(Style::DIM.when(style::colour()), &style::one_line(&count, width));
    // The filter comes last: the cursor stays behind what is typed.
    let filter = style::one_line(&list.filter, width.saturating_sub(3));
    let _ = write!(out, "\n> {filter}");
    if list.filter.ends_with(' ') {
        out.text(" ");
    }
    screen::say(&out);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(filter: &str) -> Vec<&'static str> {
        let items = [
            "4f1c2a9e  fix the parser",
            "c68a0619  release notes",
            "d89de2c6  parse dates",
            "Ärger mit Übersetzung",
        ];
        let owned: Vec<String> = items.iter().map(|item| (*item).to_owned()).collect();
        matching(&owned, filter).into_iter().map(|at| items[at]).collect()
    }

    #[test]
    fn all_words_have_to_match_in_any_order_and_case() {
        assert_eq!(found("").len(), 4);
        assert_eq!(found("PARSER fix"), ["4f1c2a9e  fix the parser"]);
        assert_eq!(found("parse"), ["4f1c2a9e  fix the parser", "d89de2c6  parse dates"]);
        assert_eq!(found("ärger"), ["Ärger mit Übersetzung"]);
        assert_eq!(found("nothing like it"), [""; 0]);
    }

    #[test]
    fn letters_in_order_are_enough_but_whole_words_come_first() {
        assert_eq!(found("rlsnts"), ["c68a0619  release notes"]);
        assert_eq!(found("date"), ["d89de2c6  parse dates"]);
        assert_eq!(found("arse")[0], "4f1c2a9e  fix the parser");
    }

    #[test]
    fn the_mark_stays_within_what_matches() {
        let items: Vec<String> = (0..30).map(|number| format!("item {number}")).collect();
        let mut list = List::new(&items);
        list.press(Key::Up);
        assert_eq!(list.chosen(), Some(0));
        (0..9).for_each(|_| list.press(Key::PageDown));
        assert_eq!(list.chosen(), Some(29));
        for c in "7".chars() {
            list.press(Key::Char(c));
        }
        assert_eq!(list.chosen(), Some(7));
        list.press(Key::Char('x'));
        assert_eq!(list.chosen(), None);
        list.press(Key::Clear);
        assert_eq!(list.chosen(), Some(0));
    }
}
