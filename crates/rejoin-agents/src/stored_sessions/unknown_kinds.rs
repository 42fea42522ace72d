use std::collections::BTreeMap;

/// So many kinds are told apart.
const MOST_KINDS: usize = 100;
/// What is kept of the name of one.
const LONGEST_KIND: usize = 100;

/// Records that were not understood, counted by kind.
#[derive(Default)]
pub(crate) struct UnknownKinds(BTreeMap<String, usize>);

impl UnknownKinds {
    /// One more of a kind.
    pub(crate) fn add(&mut self, kind: &str) {
        self.saw(1, kind);
    }

    /// So many more of a kind were seen.
    pub(crate) fn saw(&mut self, number: usize, kind: &str) {
        if number == 0 {
            return;
        }
        let kind = &kind[..kind.floor_char_boundary(LONGEST_KIND)];
        let kind = if self.0.len() < MOST_KINDS || self.0.contains_key(kind) { kind } else { "others" };
        *self.0.entry(kind.to_owned()).or_default() += number;
    }

    /// Each kind with its number.
    pub(crate) fn into_list(self) -> Vec<(String, usize)> {
        self.0.into_iter().collect()
    }

    /// The same, with lines that were no records.
    pub(crate) fn with_lines(mut self, lines: usize) -> Vec<(String, usize)> {
        self.saw(lines, "no record");
        self.into_list()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_counted_and_never_too_many_of_them() {
        let mut kinds = UnknownKinds::default();
        for number in 0..1000 {
            kinds.add(&format!("{}{number}", "é".repeat(30)));
            kinds.add("same");
        }
        let list = kinds.into_list();
        assert!(list.len() <= MOST_KINDS + 1);
        assert!(list.contains(&("same".to_owned(), 1000)));
    }
}
