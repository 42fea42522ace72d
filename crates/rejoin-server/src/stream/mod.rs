//! What happens in conversations, told to any number of watchers.

/// Conversations that are watched.
pub(crate) struct Hubs;
