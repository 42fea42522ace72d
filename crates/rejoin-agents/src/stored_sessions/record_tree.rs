//! A session kept as an append-only tree of records, each of which names its parent.

use std::collections::HashMap;

/// The records of a file in their order, each under its parent.
pub(crate) struct RecordTree<R> {
    records: Vec<R>,
    parents: Vec<Option<usize>>,
    places: HashMap<String, usize>,
    /// Records that name a parent that was not read yet.
    waiting: Vec<(usize, String)>,
}

impl<R> Default for RecordTree<R> {
    fn default() -> Self {
        Self { records: Vec::new(), parents: Vec::new(), places: HashMap::new(), waiting: Vec::new() }
    }
}

impl<R> RecordTree<R> {
    /// Adds the next record of the file. The first one of an id stays: what came of it is known by that.
    pub(crate) fn add(&mut self, id: &str, parent: Option<&str>, record: R) {
        if self.places.contains_key(id) {
            return;
        }
        let place = self.records.len();
        let known = parent.and_then(|parent| self.places.get(parent).copied());
        if let (Some(parent), None) = (parent, known) {
            self.waiting.push((place, parent.to_owned()));
        }
        self.places.insert(id.to_owned(), place);
        self.parents.push(known);
        self.records.push(record);
    }

    /// The place of a record.
    pub(crate) fn find(&self, id: &str) -> Option<usize> {
        self.places.get(id).copied()
    }

    /// All records, in the order of the file.
    pub(crate) fn records(&self) -> &[R] {
        &self.records
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Who is whose parent, once all are there.
    pub(crate) fn parents(&self) -> Vec<Option<usize>> {
        let mut parents = self.parents.clone();
        for (place, id) in &self.waiting {
            parents[*place] = self.find(id);
        }
        cut_circles(&mut parents);
        parents
    }
}

/// In a circle the record that was written first begins.
fn cut_circles(parents: &mut [Option<usize>]) {
    #[derive(Clone, Copy, PartialEq)]
    enum Walked {
        Not,
        Now,
        Before,
    }
    let mut walked = vec![Walked::Not; parents.len()];
    let mut way = Vec::new();
    for start in 0..parents.len() {
        let mut next = Some(start);
        while let Some(at) = next.filter(|at| walked[*at] == Walked::Not) {
            walked[at] = Walked::Now;
            way.push(at);
            next = parents[at];
        }
        if let Some(met) = next.filter(|at| walked[*at] == Walked::Now) {
            let circle = way.iter().rev().take_while(|at| **at != met).copied().chain([met]);
            if let Some(first) = circle.min() {
                parents[first] = None;
            }
        }
        for at in way.drain(..) {
            walked[at] = Walked::Before;
        }
    }
}

/// The record below `from` that was written last, or itself.
pub(crate) fn last_below(parents: &[Option<usize>], from: usize) -> usize {
    let children = Children::of(parents);
    let mut left = vec![from];
    let mut last = from;
    while let Some(at) = left.pop() {
        last = last.max(at);
        left.extend_from_slice(children.below(at));
    }
    last
}

/// The children of all records.
pub(super) struct Children {
    begins: Vec<usize>,
    all: Vec<usize>,
}

impl Children {
    pub(super) fn of(parents: &[Option<usize>]) -> Self {
        let mut begins = vec![0; parents.len() + 1];
        for parent in parents.iter().flatten() {
            begins[parent + 1] += 1;
        }
        for place in 0..parents.len() {
            begins[place + 1] += begins[place];
        }
        let mut next = begins.clone();
        let mut all = vec![0; begins[parents.len()]];
        for (child, parent) in parents.iter().enumerate() {
            if let Some(parent) = *parent {
                all[next[parent]] = child;
                next[parent] += 1;
            }
        }
        Self { begins, all }
    }

    pub(super) fn below(&self, place: usize) -> &[usize] {
        &self.all[self.begins[place]..self.begins[place + 1]]
    }
}
