//! Lists of conversations.

use std::collections::BTreeSet;
use std::time::SystemTime;

use rejoin_core::{Agent, ConversationId};
use rejoin_journal::{JournalError, JournalState};

use crate::facts::Summary;
use crate::index::{Compared, Index};
use crate::last_use::{ListPlace, NewestFirst, time_of};

/// Which conversations are wanted.
#[derive(Clone, Default)]
pub struct ConversationFilter<'a> {
    /// Only of this project.
    pub project: Option<&'a str>,
    /// Only those in which this agent took a turn.
    pub agent: Option<&'a Agent>,
    /// Only those with all of these labels.
    pub tags: &'a [String],
    /// Only those used since then.
    pub since: Option<SystemTime>,
    /// Only these.
    pub only: Option<&'a BTreeSet<ConversationId>>,
    /// Only those of which this is true, by id and summary; asked last.
    pub accept: Option<&'a Accept<'a>>,
    /// Only those behind this place in the list.
    pub behind: Option<ListPlace>,
    /// At most so many.
    pub limit: Option<usize>,
}

/// Whether a conversation is wanted.
pub type Accept<'a> = dyn Fn(ConversationId, &Summary) -> bool + 'a;

/// A conversation in a list.
#[derive(Clone, PartialEq, Debug)]
pub struct ConversationEntry {
    /// Its id.
    pub id: ConversationId,
    /// When it was last used: a name, a label, a copy of its file is no use.
    pub used: SystemTime,
    /// What is told of it.
    pub summary: Summary,
}

/// Conversations, newest first.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ConversationList {
    /// The newest ones.
    pub conversations: Vec<ConversationEntry>,
    /// There are older ones.
    pub more: bool,
}

impl ConversationFilter<'_> {
    fn takes(&self, id: ConversationId, summary: &Summary) -> bool {
        let here = self.project.is_none() || summary.project.is_none();
        (here || summary.project.as_deref() == self.project)
            && self.agent.is_none_or(|agent| summary.agents.contains(agent))
            && self.tags.iter().all(|tag| summary.tags.contains(tag))
            && self.accept.is_none_or(|accept| accept(id, summary))
    }
}

impl Index<'_> {
    /// Lists conversations, newest first. Only as many journals are looked into as are shown.
    pub fn list(&mut self, filter: &ConversationFilter<'_>) -> Result<ConversationList, JournalError> {
        let mut standings = self.store.look(filter.project)?;
        standings.retain(|standing| filter.only.is_none_or(|only| only.contains(&standing.id)));
        let mut newest = NewestFirst::new(&standings);
        if let Some(place) = filter.behind {
            newest.go_behind(self, &standings, place);
        }
        let limit = filter.limit.unwrap_or(usize::MAX);
        let mut list = ConversationList::default();
        let recent = |(_, used): &(JournalState, SystemTime)| filter.since.is_none_or(|since| *used >= since);
        // Some may be of another project, or of other agents: then the next ones are looked at.
        let mut step = limit;
        while list.conversations.len() < limit {
            let next = newest.take(self, &standings, step);
            let next: Vec<(JournalState, SystemTime)> = next.into_iter().take_while(recent).collect();
            let all = next.len() < step;
            let is_behind = |(standing, used): &(JournalState, SystemTime)| {
                filter.behind.is_none_or(|place| place.is_before(*used, standing.id))
            };
            let next: Vec<JournalState> =
                next.into_iter().filter(is_behind).map(|(standing, _)| standing).collect();
            step = step.saturating_mul(4);
            let compared = self.refresh(&next, false);
            for (standing, summary) in self.summaries(&compared) {
                if !filter.takes(standing.id, &summary) {
                    continue;
                }
                if list.conversations.len() == limit {
                    list.more = true;
                    break;
                }
                let used = time_of(summary.used, &standing);
                list.conversations.push(ConversationEntry { id: standing.id, used, summary });
            }
            if all {
                return Ok(list);
            }
        }
        list.more |= newest.take(self, &standings, 1).first().is_some_and(recent);
        Ok(list)
    }

    /// The conversation of a project that was used last, or with `before` one before it. Nothing else is
    /// asked about it, so it is not folded where its project can be told otherwise: whoever goes on with it does that anyway.
    pub fn newest(&mut self, project: &str, before: usize) -> Result<Option<ConversationId>, JournalError> {
        let standings = self.store.look(Some(project))?;
        let mut newest = NewestFirst::new(&standings);
        let mut left = before;
        // Some may be of another project: then the next ones are looked at.
        let mut step = before.saturating_add(1);
        loop {
            let next: Vec<JournalState> =
                newest.take(self, &standings, step).into_iter().map(|(standing, _)| standing).collect();
            let mut known = self.known(&next);
            for standing in &next {
                if !self.may_be_of(project, standing, known.remove(&standing.id)) {
                    continue;
                }
                if left == 0 {
                    return Ok(Some(standing.id));
                }
                left -= 1;
            }
            if next.len() < step {
                return Ok(None);
            }
            step = step.saturating_mul(4);
        }
    }

    /// What a list tells of one conversation.
    pub fn summary(&mut self, id: ConversationId) -> Result<Option<Summary>, JournalError> {
        Ok(self.entry(id)?.map(|entry| entry.summary))
    }

    /// One conversation, as a list has it.
    pub fn entry(&mut self, id: ConversationId) -> Result<Option<ConversationEntry>, JournalError> {
        let standing = self.store.look_at(id)?;
        let compared: Vec<Compared> =
            standing.map(|standing| self.refresh(&[standing], false)).unwrap_or_default();
        Ok(self.summaries(&compared).pop().map(|(standing, summary)| {
            let used = time_of(summary.used, &standing);
            ConversationEntry { id, used, summary }
        }))
    }

    /// Some conversations, as a list has them, in no order. Those that are gone or cannot be read are left out.
    pub fn entries(&mut self, journals: &[JournalState]) -> Vec<ConversationEntry> {
        let compared = self.refresh(journals, false);
        let entry = |(standing, summary): (JournalState, Summary)| {
            let used = time_of(summary.used, &standing);
            ConversationEntry { id: standing.id, used, summary }
        };
        self.summaries(&compared).into_iter().map(entry).collect()
    }

    fn summaries(&mut self, compared: &[Compared]) -> Vec<(JournalState, Summary)> {
        let keys: Vec<i64> =
            compared.iter().filter_map(|compared| Some(compared.known.as_ref()?.key)).collect();
        let known = self.ask(|database| database.summaries(&keys));
        let usable = known.is_some();
        let mut known = known.unwrap_or_default().into_iter();
        let mut list = Vec::new();
        for compared in compared {
            let summary = match compared.known {
                Some(_) if usable => known.next(),
                _ => self.fold(&compared.standing).map(|facts| facts.summary),
            };
            list.extend(summary.map(|summary| (compared.standing, summary)));
        }
        list
    }
}
