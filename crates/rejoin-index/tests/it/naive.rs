//! A search that nobody has to trust: everything is read, every word is compared.

use std::collections::BTreeSet;

use rejoin_core::{ConversationId, Part, TurnId};
use rejoin_journal::{Store, load, messages};
use serde_json::Value;

/// The turns in which all words occur; the words in one argument stand side by side.
pub(crate) fn search(store: &dyn Store, query: &[&str]) -> BTreeSet<(ConversationId, Option<TurnId>)> {
    let phrases: Vec<Vec<String>> = query.iter().map(|argument| words(argument)).collect();
    let open: Vec<bool> = query.iter().map(|argument| argument.ends_with('*')).collect();
    let mut found = BTreeSet::new();
    for listed in store.list(None).unwrap() {
        let conversation = load(store, listed.id).unwrap().conversation;
        let holds = |texts: &[Vec<String>]| {
            let mut phrases = phrases.iter().zip(&open);
            phrases.all(|(phrase, open)| texts.iter().any(|text| has(text, phrase, *open)))
        };
        if conversation.name.as_ref().is_some_and(|name| holds(&[words(name)])) {
            found.insert((listed.id, None));
        }
        for turn in conversation.tree.turns() {
            let said = messages(store, listed.id, turn, usize::MAX).unwrap().messages;
            let texts: Vec<Vec<String>> =
                said.iter().flat_map(|message| &message.parts).map(|part| words(&text(part))).collect();
            if holds(&texts) {
                found.insert((listed.id, Some(turn.id)));
            }
        }
    }
    found
}

fn has(text: &[String], phrase: &[String], open: bool) -> bool {
    text.windows(phrase.len()).any(|window| {
        let last = phrase.len() - 1;
        window[..last] == phrase[..last]
            && (window[last] == phrase[last] || open && window[last].starts_with(&phrase[last]))
    })
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

fn text(part: &Part) -> String {
    match part {
        Part::Text { text, .. } => text.clone(),
        Part::Call { function_call: call } => {
            let values = call.args.as_object().into_iter().flat_map(|fields| fields.values());
            let values: Vec<&str> = values.filter_map(Value::as_str).collect();
            format!("{} {}", call.name, values.join(" "))
        }
        Part::Response { function_response: given } => given.response.output.clone(),
        Part::Attachment { attachment } => attachment.name.clone(),
        Part::Other(_) => String::new(),
    }
}
