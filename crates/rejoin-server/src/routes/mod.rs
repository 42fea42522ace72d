//! One file per kind of thing that can be asked for.
