//! A question of the agent as a menu: arrows, numbers, letters where leave is asked for, or words of one's own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rejoin::{Answer, OpenQuestion, OptionKind, Question};

use crate::keys::{Key, key_within};
use crate::screen::{self, Painted, Style, label};
use crate::tty::{Keys, Quiet, Raw};
use crate::wrap::wrapped;
use crate::{ask, style, tty, turn_words};

/// Who was typing when the question came did not mean it: keys count after a pause of this length.
const PAUSE: Duration = Duration::from_millis(250);
/// An answer that is offered is seen in so many rows, where it is the marked one.
const MOST_ROWS: usize = 6;
/// How often it is looked whether the question still matters.
const LOOK: Duration = Duration::from_millis(100);

/// Puts a question of this turn to the person at the terminal, who may press Ctrl-C instead. One that no longer
/// matters is not waited on.
pub(super) fn put(question: &OpenQuestion<'_>, stopped: &AtomicBool) -> Answer {
    let mut matters = || !stopped.load(Ordering::Relaxed) && question.is_open();
    if style::dumb() {
        return Quiet::interrupted(|| ask::ask(question, &mut matters));
    }
    let Ok(_keys) = Keys::begin() else { return Answer::Declined };
    let answer = choose(Menu::of(question, Esc::Declines), &mut matters);
    if let Some(answer) = &answer {
        style::talk(&format!("  {}", turn_words::answer(question, answer)));
    }
    answer.unwrap_or(Answer::Declined)
}

/// Puts a question of a turn that runs elsewhere; whoever declines leaves it to those there.
pub(super) fn put_elsewhere(question: &Question, is_open: &mut dyn FnMut() -> bool) -> Option<Answer> {
    let answer = if style::dumb() {
        Some(ask::ask(question, is_open))
    } else {
        let _raw = Raw::begin().ok()?;
        choose(Menu::of(question, Esc::LeavesOpen), is_open)
    };
    answer.filter(|answer| *answer != Answer::Declined)
}

/// Lets the person choose, as long as it matters.
fn choose(mut menu: Menu<'_>, matters: &mut dyn FnMut() -> bool) -> Option<Answer> {
    // Of a text with more lines, the others are set off by four columns.
    let text = wrapped(&format!("? {}", menu.question.text), tty::columns().saturating_sub(5));
    style::loud(&text.join("\n"));
    let mut drawn = draw(&menu, false, 0);
    while matters() && matches!(key_within(PAUSE), Ok(Some(_))) {}
    let answer = loop {
        drawn = draw(&menu, true, drawn);
        let key = loop {
            match key_within(LOOK) {
                _ if !matters() => break None,
                Ok(Some(key)) => break Some(key),
                Ok(None) => {}
                Err(_) => break Some(Key::Leave),
            }
        };
        let Some(key) = key else { break None };
        if let Some(answer) = menu.press(key) {
            break Some(answer);
        }
    };
    screen::say(&Painted::in_place_of(drawn));
    answer
}

/// What Esc does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Esc {
    Declines,
    LeavesOpen,
}

/// The question and where the person is in it.
struct Menu<'a> {
    question: &'a Question,
    esc: Esc,
    at: usize,
    /// Those that are ticked, where several may be.
    ticked: Vec<bool>,
    /// Words of their own, while they are typed.
    words: Option<String>,
}

impl<'a> Menu<'a> {
    fn of(question: &'a Question, esc: Esc) -> Self {
        let words = question.options.is_empty().then(String::new);
        Self { question, esc, at: 0, ticked: vec![false; question.options.len()], words }
    }

    /// The lines one can stand on: the options, and words of one's own.
    fn lines(&self) -> usize {
        self.question.options.len() + usize::from(self.question.free_text)
    }

    /// Takes a key; an answer ends it.
    fn press(&mut self, key: Key) -> Option<Answer> {
        if self.words.is_some() {
            return self.type_words(key);
        }
        let last = self.lines().saturating_sub(1);
        match key {
            Key::Leave | Key::Ctrl('c' | 'd') => return Some(Answer::Declined),
            Key::Up => self.at = self.at.checked_sub(1).unwrap_or(last),
            Key::Down => self.at = if self.at == last { 0 } else { self.at + 1 },
            Key::PageUp => self.at = 0,
            Key::PageDown => self.at = last,
            Key::Enter => return self.choose(self.at),
            Key::Char(' ') if self.question.multiple => self.tick(self.at),
            Key::Char(c) => return self.letter(c),
            Key::Backspace | Key::Clear | Key::Ctrl(_) | Key::Other => {}
        }
        None
    }

    fn type_words(&mut self, key: Key) -> Option<Answer> {
        let words = self.words.as_mut()?;
        match key {
            Key::Char(c) => words.push(c),
            Key::Backspace => drop(words.pop()),
            Key::Clear => words.clear(),
            Key::Enter if !words.trim().is_empty() => return Some(Answer::Text(words.trim().to_owned())),
            Key::Leave if !self.question.options.is_empty() => self.words = None,
            Key::Enter | Key::Leave | Key::Ctrl('c' | 'd') => return Some(Answer::Declined),
            _ => {}
        }
        None
    }

    fn letter(&mut self, c: char) -> Option<Answer> {
        let number = c.to_digit(10).and_then(|digit| (digit as usize).checked_sub(1));
        if let Some(at) = number.filter(|at| *at < self.lines()) {
            self.at = at;
            if self.question.multiple && at < self.ticked.len() {
                self.tick(at);
                return None;
            }
            return self.choose(at);
        }
        let keyed =
            (0..self.question.options.len()).find(|at| self.hot_key(*at) == Some(c.to_ascii_lowercase()));
        if let Some(at) = keyed {
            return self.choose(at);
        }
        // Other letters are the beginning of words, but not where a slip would refuse what was meant to be allowed.
        if self.question.free_text && self.question.tool.is_none() && number.is_none() {
            (self.at, self.words) = (self.question.options.len(), Some(c.to_string()));
        }
        None
    }

    fn tick(&mut self, at: usize) {
        if let Some(ticked) = self.ticked.get_mut(at) {
            *ticked = !*ticked;
        }
    }

    fn choose(&mut self, at: usize) -> Option<Answer> {
        let Some(option) = self.question.options.get(at) else {
            self.at = at;
            self.words = Some(String::new());
            return None;
        };
        let ticked = self.question.options.iter().zip(&self.ticked).filter(|(_, ticked)| **ticked);
        let ticked: Vec<String> = ticked.map(|(option, _)| option.id.clone()).collect();
        Some(if ticked.is_empty() { Answer::option(&option.id) } else { Answer::Chosen(ticked) })
    }

    /// The letter of an option, where leave is asked for and only one option does this.
    fn hot_key(&self, at: usize) -> Option<char> {
        let kind = self.question.options.get(at)?.kind;
        let alone = self.question.options.iter().filter(|option| option.kind == kind).count() == 1;
        let letter = match kind {
            OptionKind::AllowOnce => 'y',
            OptionKind::AllowAlways => 'a',
            OptionKind::RejectOnce => 'n',
            OptionKind::RejectAlways => 'd',
            OptionKind::Answer => return None,
        };
        alone.then_some(letter)
    }

    fn line(&self, at: usize) -> String {
        let number = if at < 9 { format!("{} ", at + 1) } else { "· ".to_owned() };
        let Some(option) = self.question.options.get(at) else {
            let words =
                if self.question.tool.is_some() { "no, and say why …" } else { "in your own words …" };
            return format!("{number}{words}");
        };
        let tick = match self.question.multiple {
            true if self.ticked[at] => "[x] ",
            true => "[ ] ",
            false => "",
        };
        let key = self.hot_key(at).map(|key| format!(" ({key})")).unwrap_or_default();
        let about = match option.description.as_str() {
            "" => String::new(),
            about => format!(" · {about}"),
        };
        format!("{number}{tick}{}{key}{}", label(&option.label), label(&about))
    }

    fn help(&self) -> String {
        let leaves = match self.esc {
            Esc::Declines => "Esc declines",
            Esc::LeavesOpen => "Esc leaves it open",
        };
        match (&self.words, self.question.multiple) {
            (Some(_), _) if self.question.options.is_empty() => format!("Enter answers · {leaves}"),
            (Some(_), _) => "Enter answers · Esc goes back".to_owned(),
            (None, true) => format!("Space ticks · Enter answers · {leaves}"),
            (None, false) => format!("↑↓ Enter or its key · {leaves}"),
        }
    }
}

/// Draws the menu in place of what was drawn; gives how many lines that took.
fn draw(menu: &Menu<'_>, ready: bool, before: usize) -> usize {
    let width = tty::columns().saturating_sub(1);
    let page = tty::rows().saturating_sub(2 + MOST_ROWS).max(1);
    let first = menu.at.saturating_sub(page - 1);
    let mut out = Painted::in_place_of(before);
    let mut lines = 0;
    if !menu.question.options.is_empty() {
        for at in (first..menu.lines()).take(page) {
            let room = width.saturating_sub(4);
            if at != menu.at {
                out.text(&format!("  {}\n", style::one_line(&menu.line(at), room)));
                lines += 1;
                continue;
            }
            // All of the one that Enter would choose is seen.
            for (row, line) in wrapped(&menu.line(at), room).iter().take(MOST_ROWS).enumerate() {
                let line = format!("{} {}", if row == 0 { "›" } else { "   " }, style::cut(line, room));
                out.style(Style::BOLD.when(style::colour()), &line);
                out.text("\n");
                lines += 1;
            }
        }
    }
    if ready {
        let help = style::one_line(&menu.help(), width.saturating_sub(2));
        out.style(Style::DIM.when(style::colour()), &format!("  {help}"));
    }
    out.text("\n");
    lines += 1;
    if let Some(words) = &menu.words {
        // Of a long line, its end is where the person types.
        let skipped = words.chars().count().saturating_sub(width.saturating_sub(3));
        out.text(&format!("> {}", label(&words.chars().skip(skipped).collect::<String>())));
    }
    screen::say(&out);
    lines
}

#[cfg(test)]
mod tests {
    use rejoin::QuestionOption;

    use super::*;

    fn option(id: &str, label: &str, kind: OptionKind) -> QuestionOption {
        QuestionOption { id: id.into(), label: label.into(), kind, ..QuestionOption::default() }
    }

    fn drinks() -> Question {
        let options = vec![option("1", "tea", OptionKind::Answer), option("2", "coffee", OptionKind::Answer)];
        Question { text: "Tea or coffee?".into(), options, ..Question::default() }
    }

    fn leave() -> Question {
        let options = vec![
            option("once", "Allow", OptionKind::AllowOnce),
            option("always", "Always", OptionKind::AllowAlways),
            option("no", "Reject", OptionKind::RejectOnce),
        ];
        Question { options, tool: Some("shell".into()), ..Question::default() }
    }

    fn pressed(question: &Question, keys: &[Key]) -> Option<Answer> {
        let mut menu = Menu::of(question, Esc::Declines);
        keys.iter().find_map(|key| menu.press(*key))
    }

    #[test]
    fn arrows_numbers_and_letters_choose() {
        use Key::{Char, Down, Enter, Leave, Up};
        assert_eq!(pressed(&drinks(), &[Enter]), Some(Answer::option("1")));
        assert_eq!(pressed(&drinks(), &[Down, Enter]), Some(Answer::option("2")));
        assert_eq!(pressed(&drinks(), &[Char('2')]), Some(Answer::option("2")));
        assert_eq!(pressed(&drinks(), &[Char('9'), Leave]), Some(Answer::Declined));
        assert_eq!(pressed(&leave(), &[Char('y')]), Some(Answer::option("once")));
        assert_eq!(pressed(&leave(), &[Char('A')]), Some(Answer::option("always")));
        assert_eq!(pressed(&leave(), &[Char('n')]), Some(Answer::option("no")));
        let refused = [Up, Enter, Char('l'), Char('s'), Enter];
        assert_eq!(pressed(&leave(), &refused), Some(Answer::Text("ls".into())));
    }

    #[test]
    fn letters_begin_an_answer_in_own_words_but_never_refuse_leave_by_a_slip() {
        use Key::{Backspace, Char, Enter, Leave};
        let words = [Char('m'), Char('i'), Char('x'), Backspace, Char('l'), Char('k'), Enter];
        assert_eq!(pressed(&drinks(), &words), Some(Answer::Text("milk".into())));
        assert_eq!(pressed(&drinks(), &[Char('m'), Leave, Enter, Enter]), Some(Answer::Declined));
        assert_eq!(pressed(&leave(), &[Char('x'), Enter]), Some(Answer::option("once")));
        let open = Question::default();
        assert_eq!(pressed(&open, &[Char('o'), Char('k'), Enter]), Some(Answer::Text("ok".into())));
        assert_eq!(pressed(&open, &[Enter]), Some(Answer::Declined));
    }

    #[test]
    fn several_are_ticked_and_answered_together() {
        use Key::{Char, Down, Enter};
        let several = Question { multiple: true, ..drinks() };
        let both = Answer::Chosen(vec!["1".into(), "2".into()]);
        assert_eq!(pressed(&several, &[Char(' '), Down, Char(' '), Enter]), Some(both.clone()));
        assert_eq!(pressed(&several, &[Char('2'), Char('1'), Enter]), Some(both));
        assert_eq!(pressed(&several, &[Char('1'), Char('1'), Down, Enter]), Some(Answer::option("2")));
    }
}
