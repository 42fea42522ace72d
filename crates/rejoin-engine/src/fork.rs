//! A conversation of its own that begins with another one's path.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, BufWriter, Seek, Write};
use std::path::Path;

use rejoin_core::{Conversation, ConversationId, Envelope, Kind, MessageId, System, TurnId};
use rejoin_journal::private;
use serde_json::Value;

use crate::before::git;
use crate::during::record_writer::RecordHeader;
use crate::{Engine, TurnError};

impl Engine {
    /// Copies the path up to a turn into a new conversation of that id: the same turns with the same ids, and where they come
    /// from. The permission level goes along; pins do not: the sessions belong to the conversation that made them and
    /// may move on there, so the next turn replays.
    pub fn fork(&self, id: ConversationId, from: ConversationId, turn: TurnId) -> Result<(), TurnError> {
        let conversation = self.load_to_write(from)?.conversation;
        let Some(info) = conversation.info.clone() else {
            return Err(TurnError::Usage(format!("conversation {} has lost its beginning", from.short())));
        };
        let Some(turn) = conversation.tree.turn(turn).map(|turn| turn.id) else {
            return Err(TurnError::NotFound(format!("conversation {} has no turn {turn}", from.short())));
        };
        let head = RecordHeader {
            conversation: id,
            cwd: info.dir.clone(),
            git_branch: git::branch(Path::new(&info.project)),
        };
        let path = conversation.tree.path(Some(turn)).0.into_iter().map(|turn| turn.id).collect();
        let copy = Copy { conversation: &conversation, path, id };
        let first = [
            head.system(None, &System::Conversation(info.clone())),
            head.system(None, &System::Forked { conversation: from, turn }),
        ];
        let ceiling = conversation.ceiling.map(|ceiling| head.system(None, &System::Permissions { ceiling }));
        private::create_dir(&self.home.cache())?;
        let draft = Draft::new(self.home.cache().join(format!("fork-{id}")))?;
        let mut out = BufWriter::new(&draft.file);
        for record in first.iter().chain(&ceiling) {
            put(&mut out, &serde_json::to_value(record).unwrap_or_default())?;
        }
        let mut trouble = Ok(());
        self.store().read(from, 0, &mut |entry| {
            let kept = entry.content.ok().and_then(|envelope| copy.of(&envelope, entry.json));
            if let (Some(record), Ok(())) = (kept, &trouble) {
                trouble = put(&mut out, &record);
            }
        })?;
        trouble?;
        out.flush().map_err(TurnError::system("cannot write the fork"))?;
        drop(out);
        (&draft.file).rewind().map_err(TurnError::system("cannot read the fork"))?;
        // The copy is believed as far as what it was copied from.
        let origin = self.origin(from, &conversation)?;
        self.store()
            .adopt(id, &info, &mut BufReader::new(&draft.file), &mut |_| self.origins().note(id, &origin))?;
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

fn put(out: &mut impl Write, record: &Value) -> Result<(), TurnError> {
    writeln!(out, "{record}").map_err(TurnError::system("cannot write the fork"))
}

/// A file of ours that goes when we do.
struct Draft {
    file: File,
    path: std::path::PathBuf,
}

impl Draft {
    fn new(path: std::path::PathBuf) -> Result<Self, TurnError> {
        let file = private::open(OpenOptions::new().read(true).write(true).create_new(true), &path)?;
        Ok(Self { file, path })
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
