//! The turns in a tree of records. A turn is a prompt and what stands below it up to the next prompts.

use std::collections::{HashMap, HashSet};

use super::record_tree::Children;

/// What matters of a record here.
#[derive(Clone, Copy, Default)]
pub(crate) struct Link {
    /// The user typed it.
    pub(crate) is_prompt: bool,
    /// The model is told of it: where two ways differ in such records, they are two histories.
    pub(crate) counts: bool,
    /// The answer of the model that it belongs to, if that is several records.
    pub(crate) message: Option<usize>,
    /// What it tells of tools.
    pub(crate) tools: OfTools,
}

/// What a record tells of tools.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum OfTools {
    /// Nothing.
    #[default]
    Nothing,
    /// Calls, or what was given back.
    Some,
    /// A call that nothing was given back of.
    OpenCall,
}

impl Link {
    fn is_of_tool(self) -> bool {
        self.tools != OfTools::Nothing
    }
}

/// The records of a turn.
pub(crate) struct TurnRecords {
    /// Its prompt, or where a path begins without one.
    pub(crate) root: usize,
    /// Another end than the turn's own: a path goes on from there, or was left there.
    pub(crate) other_end: Option<usize>,
    /// The turn before it, by its place among the turns.
    pub(crate) parent: Option<usize>,
    /// The current path leads through it.
    pub(crate) is_current: bool,
    /// All of them, in order.
    pub(crate) records: Vec<usize>,
}

/// The turns of a tree, each behind its parent, and the one that the current path ends in. `head` is the record it
/// ends in.
pub(crate) fn turns(
    parents: &[Option<usize>],
    links: &[Link],
    head: Option<usize>,
) -> (Vec<TurnRecords>, Option<usize>) {
    let mut forest = Forest::of(parents, links, head);
    forest.choose_ends();
    forest.add_what_stands_beside();
    let other_ends = forest.other_ends();
    forest.turns(&other_ends, head)
}

struct Forest<'a> {
    parents: &'a [Option<usize>],
    links: &'a [Link],
    children: Children,
    /// Parents before their children.
    order: Vec<usize>,
    /// Where the turn of a record begins.
    root: Vec<usize>,
    /// The current path leads through it.
    is_current: Vec<bool>,
    /// Prompts stand somewhere below it.
    leads_on: Vec<bool>,
    /// Of each root the record its turn ends in.
    end: Vec<usize>,
    /// It is on the way from a root to the end of its turn.
    is_on_way: Vec<bool>,
    /// It is told with its turn.
    is_told: Vec<bool>,
    /// Calls and results by the answer they belong to, within a turn.
    of_message: HashMap<(usize, usize), Vec<usize>>,
}

impl<'a> Forest<'a> {
    fn of(parents: &'a [Option<usize>], links: &'a [Link], head: Option<usize>) -> Self {
        let count = parents.len();
        let children = Children::of(parents);
        let mut order = Vec::with_capacity(count);
        for start in (0..count).filter(|place| parents[*place].is_none()) {
            let mut left = vec![start];
            while let Some(at) = left.pop() {
                order.push(at);
                left.extend(children.below(at).iter().rev());
            }
        }
        let mut root: Vec<usize> = (0..count).collect();
        for &at in &order {
            if let Some(parent) = parents[at].filter(|_| !links[at].is_prompt) {
                root[at] = root[parent];
            }
        }
        let mut leads_on = vec![false; count];
        for &at in order.iter().rev() {
            if let Some(parent) = parents[at] {
                leads_on[parent] |= links[at].is_prompt || leads_on[at];
            }
        }
        let mut is_current = vec![false; count];
        let mut next = head;
        while let Some(at) = next {
            is_current[at] = true;
            next = parents[at];
        }
        let mut of_message: HashMap<_, Vec<usize>> = HashMap::new();
        for at in 0..count {
            if let Some(message) = links[at].message.filter(|_| links[at].is_of_tool()) {
                of_message.entry((root[at], message)).or_default().push(at);
            }
        }
        Self {
            parents,
            links,
            children,
            order,
            end: root.clone(),
            root,
            is_current,
            leads_on,
            is_on_way: vec![false; count],
            is_told: vec![false; count],
            of_message,
        }
    }

    fn is_root(&self, at: usize) -> bool {
        self.root[at] == at
    }

    /// The parent within the same turn.
    fn above(&self, at: usize) -> Option<usize> {
        self.parents[at].filter(|_| !self.is_root(at))
    }

    /// A turn ends where the current path leaves it, or else where the path that was written last does.
    fn choose_ends(&mut self) {
        let mut last: Vec<usize> = (0..self.parents.len()).collect();
        for &at in self.order.iter().rev() {
            if let Some(parent) = self.parents[at] {
                last[parent] = last[parent].max(last[at]);
            }
        }
        for start in 0..self.parents.len() {
            if !self.is_root(start) {
                continue;
            }
            let mut at = start;
            loop {
                self.is_on_way[at] = true;
                self.end[start] = at;
                let below = self.children.below(at).iter().copied();
                let next = if self.is_current[at] {
                    below.into_iter().find(|child| self.is_current[*child])
                } else {
                    below.max_by_key(|child| last[*child])
                };
                match next {
                    Some(child) if self.root[child] == start => at = child,
                    _ => break,
                }
            }
        }
    }

    /// Where calls were made in parallel, some of them stand beside the way; one that was cut by a kill does, too.
    fn add_what_stands_beside(&mut self) {
        let mut messages = HashSet::new();
        for at in (0..self.links.len()).filter(|at| self.is_on_way[*at]) {
            self.is_told[at] = true;
            messages.extend(self.links[at].message.map(|message| (self.root[at], message)));
        }
        // Where the records of one answer that stand above a record begin.
        let mut begin: Vec<usize> = (0..self.links.len()).collect();
        for &at in &self.order {
            let same = |above: &usize| {
                !self.is_on_way[*above] && self.links[*above].message == self.links[at].message
            };
            if let Some(above) = self.above(at).filter(same) {
                begin[at] = begin[above];
            }
        }
        for (at, begin) in begin.into_iter().enumerate() {
            let (link, root) = (self.links[at], self.root[at]);
            if self.is_on_way[at] || !link.is_of_tool() {
                continue;
            }
            let is_parallel = link.message.is_some_and(|message| messages.contains(&(root, message)))
                && (at < self.end[root] || !self.leads_on[at]);
            let was_cut = link.tools == OfTools::OpenCall
                && !self.leads_on[at]
                && self.above(begin).is_some_and(|above| self.is_on_way[above]);
            self.is_told[at] = is_parallel || was_cut;
        }
    }

    /// Further ends of turns, where what came before differs from what is told with the turn: by the record that a
    /// prompt follows. Each is named by the last record that counts.
    fn other_ends(&self) -> OtherEnds {
        let count = self.links.len();
        // Of each record: the one on the way that it hangs on, whether more is told above it than with the turn, and
        // the last one above it that counts.
        let mut fork: Vec<usize> = (0..count).collect();
        let mut has_more = vec![false; count];
        let mut last: Vec<usize> = self.root.clone();
        for &at in &self.order {
            let above = self.above(at);
            if let Some(above) = above {
                last[at] = last[above];
                if !self.is_on_way[at] {
                    fork[at] = fork[above];
                    has_more[at] = has_more[above] || (self.links[at].counts && !self.is_told[at]);
                }
            }
            if self.links[at].counts {
                last[at] = at;
            }
        }
        let mut comes_after = vec![false; count];
        for &at in self.order.iter().rev() {
            if let Some(above) = self.above(at).filter(|_| self.is_on_way[at]) {
                comes_after[above] = comes_after[at] || self.links[at].counts;
            }
        }
        let mut ends = OtherEnds { left: 16 * count + 1024, ..OtherEnds::default() };
        let mut is_told = self.is_told.clone();
        let prompts = (0..count).filter(|at| self.links[*at].is_prompt);
        for before in prompts.filter_map(|prompt| self.parents[prompt]) {
            if has_more[before] || comes_after[fork[before]] {
                self.add_end(&mut ends, before, last[before], &mut is_told);
            }
        }
        // What was left without a prompt after it.
        let mut walked = vec![false; count];
        for at in (0..count).rev() {
            if !has_more[at] || !self.children.below(at).is_empty() {
                continue;
            }
            let mut is_lost = false;
            let mut next = Some(at);
            while let Some(here) = next.filter(|here| !self.is_on_way[*here] && !walked[*here]) {
                walked[here] = true;
                is_lost |= self.links[here].counts && !is_told[here];
                next = self.above(here);
            }
            if is_lost {
                self.add_end(&mut ends, at, last[at], &mut is_told);
            }
        }
        ends
    }

    fn add_end(&self, ends: &mut OtherEnds, end: usize, name: usize, is_told: &mut [bool]) {
        let root = self.root[end];
        if let Some(&known) = ends.by_name.get(&(root, name)) {
            ends.by_record.insert(end, known);
            return;
        }
        // A file made for it could name as many ends as it has records, each with nearly all of them.
        let Some(records) = self.way_to(end, &mut ends.left) else { return };
        for &record in &records {
            is_told[record] = true;
        }
        let place = ends.ends.len();
        ends.by_name.insert((root, name), place);
        ends.by_record.insert(end, place);
        ends.ends.push((name, records));
        ends.of_root.entry(root).or_default().push(place);
    }

    /// The records from the beginning of a turn to one of them, with those of the same answers that stand beside.
    fn way_to(&self, end: usize, left: &mut usize) -> Option<Vec<usize>> {
        let mut way: Vec<usize> =
            std::iter::successors(Some(end), |at| self.above(*at)).take(*left + 1).collect();
        let messages: HashSet<usize> = way.iter().filter_map(|at| self.links[*at].message).collect();
        let root = self.root[end];
        let of_tools =
            || messages.iter().filter_map(|message| self.of_message.get(&(root, *message))).flatten();
        let cost = way.len() + messages.len() + of_tools().count();
        *left = left.saturating_sub(cost);
        if *left == 0 {
            return None;
        }
        way.reverse();
        let on_way: HashSet<usize> = way.iter().copied().collect();
        let beside = of_tools().copied().filter(|at| *at < end && !on_way.contains(at)).collect();
        Some(merged(way, beside))
    }

    fn turns(&self, other_ends: &OtherEnds, head: Option<usize>) -> (Vec<TurnRecords>, Option<usize>) {
        let mut beside: HashMap<usize, Vec<usize>> = HashMap::new();
        for at in (0..self.links.len()).filter(|at| self.is_told[*at] && !self.is_on_way[*at]) {
            beside.entry(self.root[at]).or_default().push(at);
        }
        let mut turns: Vec<TurnRecords> = Vec::new();
        let mut is_done = vec![false; self.links.len()];
        let mut place: HashMap<usize, usize> = HashMap::new();
        let mut place_of_other: HashMap<usize, usize> = HashMap::new();
        for start in (0..self.links.len()).filter(|at| self.is_root(*at)) {
            // Most stand behind their parents as they are.
            let mut above = vec![start];
            while let Some(parent) = above.last().and_then(|root| self.parents[*root])
                && !is_done[self.root[parent]]
            {
                above.push(self.root[parent]);
            }
            for root in above.into_iter().rev().filter(|root| !is_done[*root]).collect::<Vec<_>>() {
                is_done[root] = true;
                let parent = self.parents[root].and_then(|before| {
                    let other = other_ends.by_record.get(&before).and_then(|other| place_of_other.get(other));
                    other.or_else(|| place.get(&self.root[before])).copied()
                });
                let mut way: Vec<usize> =
                    std::iter::successors(Some(self.end[root]), |at| self.above(*at)).collect();
                way.reverse();
                let records = merged(way, beside.remove(&root).unwrap_or_default());
                let is_turn = |records: &[usize]| {
                    self.links[root].is_prompt || records.iter().any(|at| self.links[*at].counts)
                };
                if is_turn(&records) {
                    place.insert(root, turns.len());
                    let is_current = self.is_current[root];
                    turns.push(TurnRecords { root, other_end: None, parent, is_current, records });
                }
                for &other in other_ends.of_root.get(&root).into_iter().flatten() {
                    let (name, records) = &other_ends.ends[other];
                    if is_turn(records) {
                        place_of_other.insert(other, turns.len());
                        let records = records.clone();
                        let other_end = Some(*name);
                        turns.push(TurnRecords { root, other_end, parent, is_current: false, records });
                    }
                }
            }
        }
        let head = head.and_then(|head| place.get(&self.root[head]).copied());
        (turns, head)
    }
}

#[derive(Default)]
struct OtherEnds {
    /// The last record that counts, and all of them.
    ends: Vec<(usize, Vec<usize>)>,
    by_name: HashMap<(usize, usize), usize>,
    by_record: HashMap<usize, usize>,
    of_root: HashMap<usize, Vec<usize>>,
    /// So many records may still be told twice.
    left: usize,
}

/// A way, with what stands beside it where it was written.
fn merged(way: Vec<usize>, mut beside: Vec<usize>) -> Vec<usize> {
    if beside.is_empty() {
        return way;
    }
    beside.sort_unstable();
    let mut beside = beside.into_iter().peekable();
    let mut all = Vec::with_capacity(way.len() + beside.len());
    for (number, at) in way.into_iter().enumerate() {
        while let Some(earlier) = beside.next_if(|earlier| number > 0 && *earlier < at) {
            all.push(earlier);
        }
        all.push(at);
    }
    all.extend(beside);
    all
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::super::RecordTree;
    use super::*;

    /// Records as `id<parent kind`, where the kind is `p`rompt, `a`nswer, `c`all of the message of its number, or
    /// nothing.
    fn read(text: &str) -> (Vec<Option<usize>>, Vec<Link>) {
        let mut tree = RecordTree::default();
        for record in text.split_whitespace() {
            let (ids, kind) = record.split_once(':').unwrap();
            let (id, parent) = ids.split_once('<').unwrap();
            let number = kind.get(1..).and_then(|number| number.parse().ok());
            let link = Link {
                is_prompt: kind.starts_with('p'),
                counts: kind.starts_with(['a', 'c', 'r', 'o']),
                message: number,
                tools: match kind.chars().next() {
                    Some('c' | 'r') => OfTools::Some,
                    Some('o') => OfTools::OpenCall,
                    _ => OfTools::Nothing,
                },
            };
            tree.add(id, (!parent.is_empty()).then_some(parent), link);
        }
        let links = tree.records().to_vec();
        (tree.parents(), links)
    }

    /// The turns as `parent>records`, the ones on the current path with a star.
    fn told(text: &str, head: usize) -> Vec<String> {
        let (parents, links) = read(text);
        let (turns, _) = turns(&parents, &links, Some(head));
        let told = |turn: &TurnRecords| {
            let parent = turn.parent.map_or(String::new(), |parent| parent.to_string());
            let star = if turn.is_current { "*" } else { "" };
            let other = turn.other_end.map_or(String::new(), |end| format!("@{end}"));
            format!("{star}{}{other}<{parent} {:?}", turn.root, turn.records)
        };
        turns.iter().map(told).collect()
    }

    #[test]
    fn a_turn_is_a_prompt_and_what_stands_below_it() {
        assert_eq!(told("0<:p 1<0:a 2<1: 3<2:p 4<3:a", 4), ["*0< [0, 1, 2]", "*3<0 [3, 4]"]);
        assert_eq!(told("0<: 1<0:p 2<9:a", 1), ["*1< [1]", "2< [2]"]);
    }

    #[test]
    fn parallel_calls_and_one_that_was_cut_are_told_with_their_turn() {
        let parallel = "0<:p 1<0:c7 2<1:c7 3<2:r7 4<1:r7 5<4:a8 6<5:p";
        assert_eq!(told(parallel, 6), ["*0< [0, 1, 2, 3, 4, 5]", "*6<0 [6]"]);
        assert_eq!(told("0<:p 1<0:o7 2<0: 3<2:p 4<3:a", 4), ["*0< [0, 1, 2]", "*3<0 [3, 4]"]);
    }

    #[test]
    fn a_path_that_leaves_a_turn_before_its_end_follows_a_turn_of_its_own() {
        let left = "0<:p 1<0:a 2<1:a 3<2:p 4<1:p 5<4:a";
        assert_eq!(told(left, 5), ["*0< [0, 1]", "0@2< [0, 1, 2]", "3<1 [3]", "*4<0 [4, 5]"]);
        assert_eq!(told(left, 3), ["*0< [0, 1, 2]", "0@1< [0, 1]", "*3<0 [3]", "4<1 [4, 5]"]);
        assert_eq!(told("0<:p 1<0:a 2<1:a 3<1:p", 3), ["*0< [0, 1]", "0@2< [0, 1, 2]", "*3<0 [3]"]);
        // Records that the model is not told of make no difference.
        assert_eq!(told("0<:p 1<0:a 2<1: 3<2:p 4<1:p", 4), ["*0< [0, 1]", "3<0 [3]", "*4<0 [4]"]);
    }

    #[test]
    fn circles_and_children_before_their_parents_are_turns_behind_their_parents() {
        assert_eq!(told("0<2:a 1<0:p 2<1:a", 2), ["*0< [0]", "*1<0 [1, 2]"]);
        assert_eq!(told("0<0:p", 0), ["*0< [0]"]);
        assert_eq!(told("0<1:p 1<:p", 0), ["*1< [1]", "*0<0 [0]"]);
    }

    #[test]
    fn a_file_made_to_tell_everything_again_and_again_does_not() {
        let mut text = String::from("0<:p ");
        for number in 1..20_000 {
            let _ = write!(text, "{number}<{}:a p{number}<{number}:p ", number - 1);
        }
        let (parents, links) = read(&text);
        let (turns, _) = turns(&parents, &links, Some(parents.len() - 1));
        assert!(turns.iter().map(|turn| turn.records.len()).sum::<usize>() < 20 * parents.len());
        assert!(
            turns.iter().enumerate().all(|(place, turn)| turn.parent.is_none_or(|parent| parent < place))
        );
    }
}
