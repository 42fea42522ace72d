use std::path::{Path, PathBuf};

/// What `claude` says of itself and does, as far as rejoin looks: it stores its session where Claude Code would,
/// and answers with its environment's markers and an escape sequence.
const SCRIPT: &str = r#"#!/bin/sh
case "$1" in
  --version) echo "2.1.197 (Claude Code)"; exit ;;
  --help) printf '  %s\n' --resume --session-id --model --input-format --append-system-prompt --system-prompt \
    --no-session-persistence --permission-mode --tools --strict-mcp-config; exit ;;
esac
for arg; do
  case "$arg" in --session-id=*|--resume=*) id=${arg#*=} ;; esac
done
read -r prompt
dir=${CLAUDE_CONFIG_DIR:-$HOME/.claude}/projects/$(pwd -P | sed 's/[^A-Za-z0-9]/-/g')
mkdir -p "$dir"
printf '%s\n' "$prompt" >> "$dir/$id.jsonl"
text="marker=${CLAUDECODE-none} \u001b[2J\u001b]0;owned\u0007end of answer"
session="\"session_id\":\"$id\""
echo "{\"type\":\"system\",\"subtype\":\"init\",$session,\"model\":\"m\",\"tools\":[],\"permissionMode\":\"default\"}"
echo "{\"type\":\"assistant\",$session,\"message\":{\"id\":\"msg_1\",\"model\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"$text\"}]}}"
echo "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,$session,\"result\":\"$text\"}"
"#;

/// Puts a program that behaves like Claude Code into a directory, under a name of your choice.
pub(crate) fn fake_claude(dir: &Path, name: &str) -> PathBuf {
    let file = dir.join(name);
    rejoin_testkit::write_program(&file, SCRIPT).unwrap();
    file
}

/// The same, and every turn fails with these words.
pub(crate) fn failing_claude(dir: &Path, name: &str, words: &str) -> PathBuf {
    let file = dir.join(name);
    let script = SCRIPT.replace(r#"is_error\":false"#, r#"is_error\":true"#);
    let script = script.replace("text=\"marker", &format!("text=\"{words}\"; other=\"marker"));
    rejoin_testkit::write_program(&file, &script).unwrap();
    file
}
