//! Who asks: tokens, browsers, and what no request may be without.

/// Who may ask.
pub(crate) struct Auth;
