//! Where rejoin cut a text, when it was written or when it was read, half a secret may stand, which looks like
//! none. So the line that was cut does not leave.

use std::ops::Range;

use regex::Regex;

/// What rejoin leaves where it cuts. The words of a parser that stumbled quote, and end somewhere.
const MARKS: &str = r"\n?\[(?:… )?[0-9]+ bytes left out (?:here by rejoin|…)\]\n?| \[cut here by rejoin[^\]\n]*\]|\[a part of this message could not be read by rejoin: ";

/// Texts that end with `…` at one of these lengths were cut there: the gist of a question, a warning in a receipt.
const LIMITS: [usize; 2] = [400, 4096];

/// What is taken out on either side of a cut, at most: no secret is longer.
const LONGEST: usize = 16 << 10;

/// Finds the lines that were cut.
pub(super) struct Cuts(Option<Regex>);

impl Cuts {
    pub(super) fn new() -> Self {
        // An expression that is none would be a mistake of ours; the tests try it.
        Self(Regex::new(MARKS).ok())
    }

    /// The pieces of lines on either side of each cut, in their order.
    pub(super) fn lines(&self, text: &str) -> Vec<Range<usize>> {
        let mut lines = Vec::new();
        if text.contains("by rejoin") || text.contains(" bytes left out …]") {
            for mark in self.0.iter().flat_map(|marks| marks.find_iter(text)) {
                lines.extend([before(text, mark.start()), after(text, mark.end())]);
            }
        }
        let cut_at = text.strip_suffix('…').map(str::len);
        if cut_at.is_some_and(|at| LIMITS.iter().any(|limit| at <= *limit && at + 3 >= *limit)) {
            lines.extend(cut_at.map(|at| before(text, at)));
        }
        let mut end = 0;
        for line in &mut lines {
            line.start = line.start.max(end);
            end = end.max(line.end);
        }
        lines.retain(|line| line.start < line.end && !text[line.clone()].trim().is_empty());
        lines
    }
}

/// The piece of a line that ends here.
fn before(text: &str, cut: usize) -> Range<usize> {
    let from = text.ceil_char_boundary(cut.saturating_sub(LONGEST));
    text[from..cut].rfind('\n').map_or(from, |end| from + end + 1)..cut
}

/// The piece of a line that begins here, and the lines of a key that goes on behind it.
fn after(text: &str, cut: usize) -> Range<usize> {
    let to = text.floor_char_boundary((cut + LONGEST).min(text.len()));
    // Lines of a key are long, but for the last one.
    let mut goes_on = false;
    let mut of_a_key = |line: &str| {
        let line = line.trim_end();
        let was_long = std::mem::replace(&mut goes_on, line.len() >= 40);
        (goes_on || was_long)
            && line.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
            && !line.is_empty()
    };
    let mut lines = text[cut..to].split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    let more: usize = lines.take_while(|line| of_a_key(line)).map(str::len).sum();
    let length = first.len() + more;
    cut..cut + text[cut..cut + length].trim_end_matches(['\n', '\r']).len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<&str> {
        Cuts::new().lines(text).into_iter().map(|line| &text[line]).collect()
    }

    #[test]
    fn the_line_that_was_cut_is_found_on_both_sides() {
        assert_eq!(cut("one\ntwo gh\n[12 bytes left out here by rejoin]\np_x y\nlast"), ["two gh", "p_x y"]);
        assert_eq!(cut("one\ntwo gh\n[… 12 bytes left out …]\np_x y\nlast"), ["two gh", "p_x y"]);
        assert_eq!(cut("one\ntwo [cut here by rejoin: the line was too long]"), ["two"]);
        assert_eq!(
            cut("[a part of this message could not be read by rejoin: invalid \"gh"),
            ["invalid \"gh"]
        );
        let two = "a\n[1 bytes left out here by rejoin]\nb\n[2 bytes left out here by rejoin]\nc";
        assert_eq!(cut(two), ["a", "b", "c"]);
        assert_eq!(cut("nothing was cut by rejoin here…"), [""; 0]);
    }

    #[test]
    fn the_rest_of_a_key_goes_with_its_line_and_a_long_line_stays_as_far_as_it_is_far_away() {
        let key = format!("AAAA\n{}\nCC==", "B".repeat(64));
        let text = format!("x\n[9 bytes left out here by rejoin]\n{key}\n-----END PRIVATE KEY-----\n");
        assert_eq!(cut(&text), ["x", &key]);
        let long = "é".repeat(LONGEST);
        let text = format!("{long}\n[9 bytes left out here by rejoin]\n{long}");
        assert!(cut(&text).iter().all(|line| line.len() <= LONGEST && line.len() > LONGEST - 4));
    }

    #[test]
    fn a_text_that_ends_at_a_limit_was_cut_there() {
        let text = |bytes: usize| format!("first\n{}…", "x".repeat(bytes - 6));
        for bytes in [397, 398, 400, 4096] {
            assert_eq!(cut(&text(bytes)), ["x".repeat(bytes - 6)], "{bytes}");
        }
        assert!(cut(&text(396)).is_empty() && cut(&text(401)).is_empty());
    }
}
