//! Who asks: tokens, browsers, and what no request may be without.
