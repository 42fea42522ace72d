//! What people do to a conversation between turns: name, label, branch, rewind, amend, remove. Everything is an appended record: branches stay,
//! old wordings stay, and [`plan`](rejoin_core::plan) sees it all through the slice.

use rejoin_core::{Conversation, ConversationInfo, Kind, Message, MessageId, Part, System, Turn};
use rejoin_engine::{Hold, TurnError};
use rejoin_journal::{load, messages};
use serde::Serialize;

use crate::config::suggestion;
use crate::find_message::{NamedMessage, find_message};
use crate::name::{check_branch, check_label};
use crate::{ConversationView, Error, Rejoin, check_name};

/// Where the head stands after it was moved.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct MovedHead {
    /// The turn the next one goes on from; `None` for before the first.
    pub head: Option<MessageId>,
    /// Turns on the path to it.
    pub turns: usize,
    /// The named branch that goes on there.
    pub branch: Option<String>,
}

/// How far back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rewind {
    /// So many turns.
    Turns(usize),
    /// To the end of the turn of this message.
    To(String),
}

impl ConversationView<'_> {
    /// Gives it a name. Names are unique within a project.
    pub fn rename(&self, name: &str) -> Result<(), Error> {
        check_name(name)?;
        let info = self.known_info()?;
        let _naming = self.rejoin.lock_names()?;
        match Rejoin::by_name(&mut self.rejoin.index(), &info.project, name)? {
            Some(id) if id != self.id => {
                return Err(Error::usage(format!(
                    "conversation {} of this project has the name {name:?} already; choose another, or rename that one first",
                    id.short()
                )));
            }
            _ => {}
        }
        self.note(&[System::Title { name: name.to_owned() }])
    }

    /// Takes its name away; gives the one it had.
    pub fn remove_name(&self) -> Result<Option<String>, Error> {
        let name = self.conversation.name.clone();
        if name.is_some() {
            self.note(&[System::Title { name: String::new() }])?;
        }
        Ok(name)
    }

    /// Puts labels on it and takes labels off; gives the labels it has then.
    pub fn tag(&self, add: &[String], remove: &[String]) -> Result<Vec<String>, Error> {
        for tag in add {
            check_label(tag)?;
        }
        let mut tags = self.conversation.tags.clone();
        if let Some(unknown) = remove.iter().find(|tag| !tags.contains(*tag)) {
            let hint = suggestion(unknown, tags.iter().cloned());
            return Err(Error::not_found(format!(
                "conversation {} has no label {unknown:?}{hint}",
                self.id.short()
            )));
        }
        if !add.is_empty() || !remove.is_empty() {
            self.note(&[System::Tags { add: add.to_vec(), remove: remove.to_vec() }])?;
        }
        tags.retain(|tag| !remove.contains(tag));
        tags.extend(add.iter().cloned());
        Ok(tags.into_iter().collect())
    }

    /// Moves the head to the end of a message's turn, or of a named branch; the next turn goes on
    /// there. With a name, a branch of that name begins.
    pub fn branch(&self, at: &str, name: Option<&str>) -> Result<MovedHead, Error> {
        if let Some(name) = name {
            check_branch(name)?;
        }
        self.move_head(|conversation| {
            let found = find_message(conversation, at)?;
            if let Some(name) = name
                && conversation.tree.branches().any(|(known, _)| known == name)
            {
                return Err(Error::usage(format!(
                    "this conversation has a branch {name:?} already; go to it with --at {name}, or choose another name"
                )));
            }
            let branch = name.map(str::to_owned).or(found.branch);
            Ok((Some(found.message), branch))
        })
    }

    /// Takes the head back. Nothing is deleted: `branch` goes forward again.
    pub fn rewind(&self, how: &Rewind) -> Result<MovedHead, Error> {
        self.move_head(|conversation| match how {
            Rewind::To(at) => {
                find_message(conversation, at).map(|NamedMessage { message, .. }| (Some(message), None))
            }
            Rewind::Turns(0) => Err(Error::usage("0 turns back is where it stands; name at least 1")),
            Rewind::Turns(count) => {
                let tree = &conversation.tree;
                let (path, _) = tree.path(tree.head().map(|turn| turn.id));
                match path.len().checked_sub(*count) {
                    Some(0) => Ok((None, None)),
                    Some(left) => Ok((Some(path[left - 1].end), None)),
                    None => Err(Error::usage(format!(
                        "{count} turns back is too far: the path to the head has only {}; `rejoin show {} --tree` draws it",
                        path.len(),
                        self.id.short()
                    ))),
                }
            }
        })
    }

    /// The message a text means, with its words.
    pub fn message(&self, text: &str) -> Result<Message, Error> {
        self.message_of(&self.conversation, text).map(|(message, _)| message)
    }

    /// Gives a message another wording; later turns stay. Says whether anything changed. The words
    /// of the agent's tools stay as they are.
    pub fn amend(&self, message: &str, text: &str) -> Result<bool, Error> {
        self.reword(text, |conversation| self.message_of(conversation, message))
    }

    /// The same for a message by its id.
    pub fn amend_message(&self, id: MessageId, text: &str) -> Result<bool, Error> {
        self.reword(text, |conversation| self.read_message(conversation, id))
    }

    fn reword(
        &self,
        text: &str,
        find: impl FnOnce(&Conversation) -> Result<(Message, bool), Error>,
    ) -> Result<bool, Error> {
        let hold = self.rejoin.engine.hold(self.id, "an edit")?;
        let conversation = self.rejoin.engine.load_to_write(self.id)?.conversation;
        self.check_unchanged(&conversation)?;
        let (message, shortened) = find(&conversation)?;
        if message.kind == Kind::ToolResult {
            return Err(Error::usage(
                "what a tool gave back cannot be edited; edit the prompt or the answer beside it",
            ));
        }
        if shortened {
            return Err(Error::usage("this message is longer than 16 MiB, too long to be edited"));
        }
        if text.trim().is_empty() {
            return Err(Error::usage(
                "the new text is empty: nothing was changed; `rewind` takes turns back",
            ));
        }
        if message.text() == text {
            return Ok(false);
        }
        let mut parts = vec![Part::text(text)];
        let is_answer = |part: &Part| matches!(part, Part::Text { thought: false, .. });
        parts.extend(message.parts.into_iter().filter(|part| !is_answer(part)));
        self.note_under(&hold, &[System::Amendment { target: message.id, parts }])?;
        Ok(true)
    }

    /// Deletes it for good, as it was when this view was opened: one that went on since is kept. The
    /// agents' own sessions are theirs, and stay.
    pub fn remove(self) -> Result<(), Error> {
        let engine = &self.rejoin.engine;
        let _hold = engine.hold(self.id, "removing it")?;
        if load(engine.store(), self.id)?.end != self.end {
            return Err(TurnError::Changed { what: format!("conversation {}", self.id.short()) }.into());
        }
        // Before: what is gone must not come back by itself.
        self.rejoin.note_removed(self.conversation.pins.iter().map(|pin| &pin.session))?;
        engine.store().remove(self.id)?;
        engine.origins().forget(self.id);
        Ok(())
    }

    fn message_of(&self, conversation: &Conversation, text: &str) -> Result<(Message, bool), Error> {
        let found = find_message(conversation, text)?;
        let turn = conversation.tree.turn(found.message).filter(|_| found.names_a_turn);
        // A branch or a number means a whole turn: its prompt.
        self.read_message(conversation, turn.map_or(found.message, |turn| turn.id))
    }

    /// A message with its words, and whether they are too long to be all of them.
    fn read_message(&self, conversation: &Conversation, id: MessageId) -> Result<(Message, bool), Error> {
        let missing = || Error::not_found(format!("message {id} cannot be read any more"));
        let turn = conversation.tree.turn(id).ok_or_else(missing)?;
        let read = messages(self.rejoin.engine.store(), self.id, turn, usize::MAX)?;
        let message = read.messages.into_iter().find(|message| message.id == id).ok_or_else(missing)?;
        Ok((message, read.left_out > 0))
    }

    fn move_head(
        &self,
        to: impl FnOnce(&Conversation) -> Result<(Option<MessageId>, Option<String>), Error>,
    ) -> Result<MovedHead, Error> {
        let hold = self.rejoin.engine.hold(self.id, "moving the head")?;
        let conversation = self.rejoin.engine.load_to_write(self.id)?.conversation;
        self.check_unchanged(&conversation)?;
        let (to, branch) = to(&conversation)?;
        self.note_under(&hold, &[System::Head { to, branch: branch.clone() }])?;
        let head = to.and_then(|message| conversation.tree.turn(message)).map(|turn: &Turn| turn.id);
        Ok(MovedHead { head, turns: conversation.tree.path(head).0.len(), branch })
    }

    fn note(&self, notes: &[System]) -> Result<(), Error> {
        Ok(self.rejoin.engine.note(self.id, self.known_info()?, notes)?)
    }

    fn note_under(&self, hold: &Hold, notes: &[System]) -> Result<(), Error> {
        Ok(self.rejoin.engine.note_under(hold, self.known_info()?, notes)?)
    }

    fn known_info(&self) -> Result<&ConversationInfo, Error> {
        self.info().ok_or_else(|| {
            Error::usage(format!(
                "conversation {} has lost its first record, which says where it lives; `rejoin fsck --repair` restores it",
                self.id.short()
            ))
        })
    }
}
