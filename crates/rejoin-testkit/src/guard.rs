//! A guard on PATH: no test may start a real agent by accident.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The names that are shadowed.
pub const GUARDED_AGENTS: [&str; 6] = ["claude", "codex", "gemini", "opencode", "pi", "qwen"];

/// What a shadowed name exits with, after saying so on stderr.
pub const GUARD_EXIT_CODE: i32 = 97;

/// Makes `<dir>/guard` with an executable for every agent's name that fails loudly; put it first on PATH.
pub fn guard_path(dir: &Path) -> io::Result<PathBuf> {
    let guard = dir.join("guard");
    fs::create_dir_all(&guard)?;
    for name in GUARDED_AGENTS {
        let file = guard.join(name);
        let text = format!(
            "#!/bin/sh\necho 'a test called a real agent by accident: {name}' >&2\nexit {GUARD_EXIT_CODE}\n"
        );
        fs::write(&file, text)?;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755))?;
    }
    Ok(guard)
}
