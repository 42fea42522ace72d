use std::fmt;

/// Where in a flow file something stands, counted from one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Place {
    /// The line.
    pub line: u64,
    /// The character in it.
    pub column: u64,
}

/// Something that is wrong with a flow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Where.
    pub place: Place,
    /// What, and what to do about it.
    pub text: String,
}

impl Problem {
    pub(crate) fn at(place: Place, text: impl Into<String>) -> Self {
        Self { place, text: text.into() }
    }
}

/// Everything that is wrong with a flow, in the order of the file.
#[derive(Clone, Debug, thiserror::Error)]
pub struct Problems {
    /// The file, as the user named it.
    pub file: String,
    /// At least one.
    pub problems: Vec<Problem>,
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, Problem { place, text }) in self.problems.iter().enumerate() {
            let line_break = if at == 0 { "" } else { "\n" };
            write!(f, "{line_break}{}:{}:{}: {text}", self.file, place.line, place.column)?;
        }
        Ok(())
    }
}
