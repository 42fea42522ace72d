//! `rejoin serve --install-service`: the daemon as a service of its user.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::ServeArgs;
use crate::screen::label;
use crate::{exit, style};

/// Writes the file of the service; it is started by its user, who is told how.
pub(super) fn install(args: &ServeArgs) -> anyhow::Result<i32> {
    let program = std::env::current_exe().context("cannot find out where this executable is")?;
    let home = std::env::home_dir().context("no home directory is known; set HOME")?;
    let command: Vec<String> = std::iter::once(program.to_string_lossy().into_owned())
        .chain(["serve".to_owned()])
        .chain(arguments(args)?)
        .collect();
    let environment: Vec<(String, String)> = ["REJOIN_HOME", "REJOIN_CONFIG", "PATH"]
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)))
        .collect();
    let (file, text, next) = if cfg!(target_os = "macos") {
        let file = home.join("Library/LaunchAgents/dev.rejoin.serve.plist");
        let next = format!("launchctl load -w {}", file.display());
        (file, launchd(&command, &environment), next)
    } else {
        let config = std::env::var_os("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
        let file = config.join("systemd/user/rejoin.service");
        (file, systemd(&command, &environment), "systemctl --user enable --now rejoin".to_owned())
    };
    write(&file, &text)?;
    style::talk(&format!("wrote {}", label(&style::home_path(&file.to_string_lossy()))));
    style::talk(&format!("start it with: {}", label(&next)));
    Ok(exit::DONE)
}

/// An own file of the same name is replaced; somebody else's is not.
fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    if let Ok(stands) = std::fs::read_to_string(file)
        && !stands.contains(MARK)
    {
        bail!("{} was not written by rejoin; move it away first", file.display());
    }
    let dir = file.parent().context("the service has no directory")?;
    std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

/// By what a file of ours is known.
const MARK: &str = "Written by rejoin serve --install-service";

/// What was said, as it has to be said when nobody stands in this directory.
fn arguments(args: &ServeArgs) -> anyhow::Result<Vec<String>> {
    let real = |path: &PathBuf| {
        std::path::absolute(path)
            .map(|path| path.to_string_lossy().into_owned())
            .with_context(|| format!("cannot use {}", path.display()))
    };
    let mut words = Vec::new();
    let mut put = |flag: &str, value: Option<String>| {
        if let Some(value) = value {
            words.extend([flag.to_owned(), value]);
        }
    };
    put("--port", args.port.map(|port| port.to_string()));
    put("--listen", args.listen.map(|address| address.to_string()));
    put("--tls-cert", args.tls_cert.as_ref().map(real).transpose()?);
    put("--tls-key", args.tls_key.as_ref().map(real).transpose()?);
    put("--socket", args.socket.as_ref().map(real).transpose()?);
    put("--max-runs", args.max_runs.map(|most| most.to_string()));
    put("--drain", args.drain.map(|time| format!("{}s", time.as_secs())));
    for name in &args.host {
        put("--host", Some(name.clone()));
    }
    for dir in &args.projects {
        put("--project", Some(real(dir)?));
    }
    for (said, flag) in [(args.behind_proxy, "--behind-proxy"), (args.activated, "--activated")] {
        if said {
            words.push(flag.to_owned());
        }
    }
    Ok(words)
}

fn systemd(command: &[String], environment: &[(String, String)]) -> String {
    // systemd expands `%` and `$`, and takes quotes and backslashes as a shell would.
    let quoted = |text: &str| {
        let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
        format!("\"{}\"", text.replace('$', "$$"))
    };
    let command: Vec<String> = command.iter().map(|word| quoted(word)).collect();
    let mut text =
        format!("# {MARK}\n[Unit]\nDescription=rejoin: coding agents that remember\n\n[Service]\n");
    for (name, value) in environment {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
        let _ = writeln!(text, "Environment=\"{name}={value}\"");
    }
    let _ = writeln!(text, "ExecStart={}", command.join(" "));
    text.push_str("ExecReload=kill -HUP $MAINPID\nRestart=on-failure\nKillMode=mixed\nTimeoutStopSec=90\n\n");
    text.push_str("[Install]\nWantedBy=default.target\n");
    text
}

fn launchd(command: &[String], environment: &[(String, String)]) -> String {
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- {MARK} -->\n<plist version=\"1.0\"><dict>\n\
         <key>Label</key><string>dev.rejoin.serve</string>\n<key>ProgramArguments</key><array>\n"
    );
    for word in command {
        let _ = writeln!(text, "<string>{}</string>", escaped(word));
    }
    text.push_str("</array>\n<key>EnvironmentVariables</key><dict>\n");
    for (name, value) in environment {
        let _ = writeln!(text, "<key>{}</key><string>{}</string>", escaped(name), escaped(value));
    }
    text.push_str("</dict>\n<key>RunAtLoad</key><true/>\n<key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>\n</dict></plist>\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_an_argument_or_a_variable_is_taken_for_more_than_text() {
        let command = [
            "/opt/my rejoin".to_owned(),
            "serve".to_owned(),
            "--project".to_owned(),
            "/a \"b\" %h $HOME".to_owned(),
        ];
        let unit = systemd(&command, &[("PATH".into(), "/x:%t".into())]);
        assert!(
            unit.contains(r#"ExecStart="/opt/my rejoin" "serve" "--project" "/a \"b\" %%h $$HOME""#),
            "{unit}"
        );
        assert!(unit.contains(r#"Environment="PATH=/x:%%t""#), "{unit}");
        let plist = launchd(&["a&b<c>".to_owned()], &[]);
        assert!(plist.contains("<string>a&amp;b&lt;c&gt;</string>"), "{plist}");
    }
}
