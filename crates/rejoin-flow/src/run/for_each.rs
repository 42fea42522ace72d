//! A step that is done with each item of a list.

use serde_json::Value;

use super::at_once::at_once;
use super::record::{Ended, Key, State};
use super::stop::Stop;
use super::walk::{Task, Walk};
use crate::FlowError;
use crate::model::{ForEach, Items};
use crate::template;

impl Walk<'_> {
    pub(super) fn for_each(&self, task: &Task<'_>, each: &ForEach, halt: &Stop) -> Result<Ended, FlowError> {
        self.begins(task.key)?;
        let items = match self.items(task, each) {
            Ok(items) => items,
            Err(ended) => return Ok(*ended),
        };
        let own_halt = halt.part();
        let ends = at_once(items.len(), each.max_concurrent, &own_halt, |index| {
            let key = Key { step: task.key.step.clone(), index: Some(index) };
            let item = Task { key: &key, step: &each.step, item: Some(&items[index]) };
            let ended = self.task(&item, &own_halt)?;
            let enough = ended.stops();
            Ok((ended, enough))
        })?;
        let ends: Vec<Ended> = ends.into_iter().flatten().collect();
        Ok(judged(task.key, &ends))
    }

    fn items(&self, task: &Task<'_>, each: &ForEach) -> Result<Vec<Value>, Box<Ended>> {
        let refused = |words: &str| Box::new(self.refused(task, "for_each", each.place, words));
        let items = match &each.items {
            Items::Listed(items) => items.clone(),
            Items::Expression(text) => {
                let value = template::evaluate(&text.text, &self.context(task));
                match value.map(|value| serde_json::to_value(&value)) {
                    Ok(Ok(Value::Array(items))) => items,
                    Ok(_) => return Err(refused(&format!("{} is not a list", text.text))),
                    Err(words) => return Err(refused(&words)),
                }
            }
        };
        if items.len() > each.max_items {
            let words = format!("{} items, more than max_items ({}) allows", items.len(), each.max_items);
            return Err(refused(&words));
        }
        Ok(items)
    }
}

/// What the ends of all items mean for the whole: a list of what they came to, or the first that stopped it.
fn judged(key: &Key, ends: &[Ended]) -> Ended {
    let stopped = ends.iter().find(|ended| ended.state == State::Failed && ended.stops());
    if let Some(ended) = stopped.or_else(|| ends.iter().find(|ended| ended.stops())) {
        let error = ended.error.as_ref().map(|error| format!("{}: {error}", ended.key));
        return Ended { error, receipt: None, key: key.clone(), ..ended.clone() };
    }
    let outputs: Vec<&str> = ends.iter().map(|ended| ended.output.as_str()).collect();
    let output = outputs.join("\n");
    let values = ends.iter().map(|one| one.json.clone().unwrap_or_else(|| Value::from(one.output.as_str())));
    let json = Some(values.collect());
    Ended { output, json, ..Ended::new(key, State::Done) }
}
