use std::fmt;

use serde::{Deserialize, Serialize};

/// A file that went along with a prompt, as it is remembered: everything but its bytes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Attachment {
    /// Its name, without a directory.
    pub name: String,
    /// What it holds, told from its content: `image/png`.
    #[serde(rename = "type")]
    pub media_type: String,
    /// Its size in bytes.
    pub size: u64,
    /// The hash of what was sent, in hexadecimal.
    pub sha256: String,
}

impl fmt::Display for Attachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, media_type, size, sha256 } = self;
        write!(f, "{name}, {media_type}, {size} bytes, sha256 {sha256}")
    }
}
