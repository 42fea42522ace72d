//! Programs that a test makes and starts.
//!
//! A file that somebody has open for writing cannot be started ("text file busy"). Whatever another thread of the
//! tests starts at that moment has, for a while, everything open that we have. So another process writes them.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes a program, a script as a rule.
pub fn write_program(file: &Path, text: &str) -> io::Result<()> {
    let mut writer = Command::new("sh")
        .args(["-c", "cat > \"$0\" && chmod 755 \"$0\""])
        .arg(file)
        .stdin(Stdio::piped())
        .spawn()?;
    writer.stdin.take().map_or(Ok(()), |mut input| input.write_all(text.as_bytes()))?;
    went_well(writer.wait()?, file)
}

/// Copies a program.
pub fn copy_program(from: &Path, to: &Path) -> io::Result<()> {
    went_well(Command::new("cp").arg("--").args([from, to]).status()?, to)
}

fn went_well(status: std::process::ExitStatus, file: &Path) -> io::Result<()> {
    let failed = || io::Error::other(format!("cannot make the program {}", file.display()));
    status.success().then_some(()).ok_or_else(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Many threads that make programs and start them: nobody is in anybody's way.
    #[test]
    fn a_program_can_be_started_at_once_whatever_others_start() {
        let dir = tempfile::tempdir().unwrap();
        std::thread::scope(|threads| {
            for thread in 0..8 {
                let dir = dir.path();
                threads.spawn(move || {
                    for round in 0..20 {
                        let file = dir.join(format!("{thread}-{round}"));
                        write_program(&file, "#!/bin/sh\nexit 7\n").unwrap();
                        assert_eq!(Command::new(&file).status().unwrap().code(), Some(7));
                    }
                });
            }
        });
    }
}
