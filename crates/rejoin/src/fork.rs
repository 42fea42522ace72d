//! A conversation of its own that begins with another one's path.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, BufWriter, Seek, Write};
use std::path::PathBuf;

use rejoin_core::{Conversation, ConversationId, Envelope, Kind, MessageId, System, TurnId};
use rejoin_engine::Engine;
use rejoin_journal::private;
use serde_json::Value;

use crate::error::cannot;
use crate::{Error, Rejoin};

impl Rejoin {
    /// A conversation of its own that begins with the path to a turn: the same turns with the same ids, and where they
    /// come from. The permission level goes along; pins do not: the sessions belong to the conversation that made them
    /// and may move on there, so the next turn is told the history.
    pub fn fork(&self, conversation: ConversationId, turn: TurnId) -> Result<ConversationId, Error> {
        let id = ConversationId::new(uuid::Uuid::new_v4());
        self.fork_as(id, conversation, turn)?;
        Ok(id)
    }

    /// The same with an id of one's own, for whoever must note it before the conversation is there.
    pub fn fork_as(&self, id: ConversationId, from: ConversationId, turn: TurnId) -> Result<(), Error> {
        let engine = &self.engine;
        let conversation = engine.load_to_write(from)?.conversation;
        let Some(info) = conversation.info.clone() else {
            return Err(Error::usage(format!("conversation {} has lost its beginning", from.short())));
        };
        let Some(turn) = conversation.tree.turn(turn).map(|turn| turn.id) else {
            return Err(Error::not_found(format!("conversation {} has no turn {turn}", from.short())));
        };
        let path = conversation.tree.path(Some(turn)).0.into_iter().map(|turn| turn.id).collect();
        let copy = Copy { conversation: &conversation, path, id };
        let first = [
            Engine::record(id, &info, &System::Conversation(info.clone())),
            Engine::record(id, &info, &System::Forked { conversation: from, turn }),
        ];
        let ceiling = conversation.ceiling;
        let ceiling = ceiling.map(|ceiling| Engine::record(id, &info, &System::Permissions { ceiling }));
        private::create_dir(&engine.cache())?;
        let draft = Draft::new(engine.cache().join(format!("fork-{id}")))?;
        let mut out = BufWriter::new(&draft.file);
        for record in first.iter().chain(&ceiling) {
            put(&mut out, &serde_json::to_value(record).unwrap_or_default())?;
        }
        let mut trouble = Ok(());
        engine.store().read(from, 0, &mut |entry| {
            let kept = entry.content.ok().and_then(|envelope| copy.of(&envelope, entry.json));
            if let (Some(record), Ok(())) = (kept, &trouble) {
                trouble = put(&mut out, &record);
            }
        })?;
        trouble?;
        out.flush().map_err(cannot("write the fork"))?;
        drop(out);
        (&draft.file).rewind().map_err(cannot("read the fork"))?;
        // The copy is believed as far as what it was copied from.
        let origin = engine.origin(from, &conversation)?;
        engine.store().adopt(id, &info, &mut BufReader::new(&draft.file), &mut |_| {
            engine.origins().note(id, &origin)
        })?;
        Ok(())
    }
}

/// What of a journal belongs to the copy.
struct Copy<'a> {
    conversation: &'a Conversation,
    path: HashSet<TurnId>,
    id: ConversationId,
}

impl Copy<'_> {
    fn is_on_path(&self, message: Option<MessageId>) -> bool {
        let turn = message.and_then(|message| self.conversation.tree.turn(message));
        turn.is_some_and(|turn| self.path.contains(&turn.id))
    }

    /// The record as it stands in the copy, fields of newer versions included; `None` if it does not.
    fn of(&self, envelope: &Envelope<'_>, json: &str) -> Option<Value> {
        let keep = match envelope.kind {
            Kind::User | Kind::Assistant | Kind::ToolResult => self.is_on_path(Some(envelope.uuid)),
            Kind::Unknown => self.is_on_path(envelope.parent_uuid),
            Kind::System => match envelope.system()? {
                System::Intent(_)
                | System::Receipt(_)
                | System::Session(_)
                | System::Compaction { .. }
                | System::Gap { .. }
                | System::Diagnostic { .. }
                | System::Warning { .. }
                | System::Question(_)
                | System::QuestionAnswered(_)
                | System::QuestionWithdrawn { .. } => self.is_on_path(envelope.parent_uuid),
                System::Amendment { target, .. } => self.is_on_path(Some(target)),
                System::Conversation(_)
                | System::Title { .. }
                | System::Tags { .. }
                | System::Moved { .. }
                | System::Project(_)
                | System::Permissions { .. }
                | System::Pin(_)
                | System::Head { .. }
                | System::Forked { .. }
                | System::Asked(_) => false,
            },
        };
        let mut record: Value = serde_json::from_str(json).ok().filter(|_| keep)?;
        record["sessionId"] = self.id.to_string().into();
        if let Some(intent) = record.get_mut("systemPayload").and_then(Value::as_object_mut) {
            intent.remove("pin");
        }
        Some(record)
    }
}

fn put(out: &mut impl Write, record: &Value) -> Result<(), Error> {
    writeln!(out, "{record}").map_err(cannot("write the fork"))
}

/// A file of ours that goes when we do.
struct Draft {
    file: File,
    path: PathBuf,
}

impl Draft {
    fn new(path: PathBuf) -> Result<Self, Error> {
        let file = private::open(OpenOptions::new().read(true).write(true).create_new(true), &path)?;
        Ok(Self { file, path })
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
