use std::collections::BTreeMap;

/// So many kinds are told apart.
const MOST_KINDS: usize = 100;
/// What is kept of the name of one.
const LONGEST_KIND: usize = 80;

/// Records that were not understood, by kind.
#[derive(Default)]
pub(crate) struct UnknownKinds(BTreeMap<String, usize>);

impl UnknownKinds {
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
}
