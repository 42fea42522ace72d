//! Before anything is written or launched: what is read, decided, composed, and refused.

pub(crate) mod attach;
pub(crate) mod context;
pub(crate) mod first_start;
pub(crate) mod git;
pub(crate) mod lease;
pub(crate) mod origin;
pub(crate) mod prepare;
pub(crate) mod probe;
pub(crate) mod project_marks;
pub(crate) mod repeated;
pub(crate) mod room;
pub(crate) mod scratch;
pub(crate) mod shown_args;
pub(crate) mod stored_session;
