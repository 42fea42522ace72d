//! What a flow is given, held against what it asks for. Pure.

use std::collections::BTreeMap;

use rejoin::suggestion;
use serde_json::Value;

use crate::model::{Flow, Input};

impl Flow {
    /// The value of every input, from what was given as `name=value`.
    pub fn inputs_from(&self, given: &[(String, String)]) -> Result<BTreeMap<String, Value>, String> {
        for (name, _) in given {
            if self.inputs.iter().all(|input| input.name != *name) {
                let hint = suggestion(name, self.inputs.iter().map(|input| input.name.clone()));
                return Err(format!("the flow {:?} has no input {name:?}{hint}", self.name));
            }
        }
        self.values(|input| {
            let text = given.iter().rev().find(|(name, _)| *name == input.name);
            text.map(|(_, text)| text.clone())
        })
    }

    /// The value of every input, from those that a run of an earlier text of the flow had.
    pub(crate) fn inputs_again(
        &self,
        known: &BTreeMap<String, Value>,
    ) -> Result<BTreeMap<String, Value>, String> {
        self.values(|input| match known.get(&input.name)? {
            Value::Null => None,
            // One that was not given.
            Value::String(text) if text.is_empty() && input.default.is_none() => None,
            value => Some(plain(value)),
        })
    }

    fn values(&self, given: impl Fn(&Input) -> Option<String>) -> Result<BTreeMap<String, Value>, String> {
        let value = |input: &Input| Ok((input.name.clone(), input.value(given(input).as_deref())?));
        self.inputs.iter().map(value).collect()
    }
}

impl Input {
    /// Texts are taken as they are; where the default is no text, the value is JSON of the same kind.
    fn value(&self, given: Option<&str>) -> Result<Value, String> {
        let Self { name, .. } = self;
        let value = match (given, &self.default) {
            (Some(text), None | Some(Value::String(_) | Value::Null)) => Value::from(text),
            (Some(text), Some(default)) => {
                let value = serde_json::from_str(text).ok();
                let alike = |value: &Value| std::mem::discriminant(value) == std::mem::discriminant(default);
                value.filter(alike).ok_or_else(|| {
                    format!("input {name:?} must be JSON like its default {default}, not {text:?}")
                })?
            }
            (None, Some(default)) => default.clone(),
            (None, None) if self.required => {
                let about = self.description.as_ref().map(|text| format!(" ({text})")).unwrap_or_default();
                return Err(format!("input {name:?}{about} is missing: give it with -i {name}=…"));
            }
            (None, None) => Value::from(""),
        };
        match &self.one_of {
            Some(allowed) if given.is_some() && !allowed.iter().any(|one| same(one, &value)) => {
                let list: Vec<String> = allowed.iter().map(plain).collect();
                Err(format!("input {name:?} cannot be {:?}; it is one of {}", plain(&value), list.join(", ")))
            }
            _ => Ok(value),
        }
    }
}

fn same(one: &Value, other: &Value) -> bool {
    plain(one) == plain(other)
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
