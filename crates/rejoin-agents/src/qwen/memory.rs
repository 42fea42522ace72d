//! What Qwen keeps of a turn besides its session: after a turn it asks the model (0.15.10) what to remember
//! for ever, and it writes a log of its own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::Process;

/// The variable that names the settings of the machine, which outweigh the user's.
const SYSTEM_SETTINGS: &str = "QWEN_CODE_SYSTEM_SETTINGS_PATH";
/// Where an administrator's settings are, by platform.
const SYSTEM_DIRS: &[&str] =
    &["/etc/qwen-code", "/Library/Application Support/QwenCode", "C:\\ProgramData\\qwen-code"];
const FORGETFUL: &str = r#"{
  "memory": {
    "enableManagedAutoMemory": false,
    "enableManagedAutoDream": false,
    "enableAutoSkill": false
  }
}
"#;

/// Makes a run forget its turn, by settings in a new directory. An administrator's settings are left
/// in force.
pub(super) fn forget(process: &mut Process, place: PathBuf, env: &dyn Fn(&str) -> Option<OsString>) {
    process.env.push(("QWEN_DEBUG_LOG_FILE".to_owned(), "0".to_owned()));
    let taken = env(SYSTEM_SETTINGS).is_some_and(|path| !path.is_empty())
        || SYSTEM_DIRS.iter().any(|dir| Path::new(dir).exists());
    if taken {
        process.warnings.push(
            "this machine has settings of its own for qwen: unless they say otherwise, qwen may keep what it \
             learns from this turn in its memory"
                .to_owned(),
        );
        return;
    }
    let settings = place.join("settings.json");
    process.env.push((SYSTEM_SETTINGS.to_owned(), settings.to_string_lossy().into_owned()));
    process.files.push((settings, FORGETFUL.to_owned()));
    process.scratch = Some(place);
}
