//! What happens in conversations, told to any number of watchers.
