use std::path::Path;

/// What `codex` says of itself and does, as far as rejoin looks: it stores its sessions where Codex would, counts the
/// tokens of the whole thread (ten and one for each prompt), and answers with the marks its session holds.
///
/// A prompt may begin with a wish. `REISSUE`: the session goes on under another id, as a copy. `FORGET`: another id, and nothing was copied.
/// `HANG`: it answers never. `FAIL`, `REISSUE-FAIL`: it fails after the model has answered.
const SCRIPT: &str = r#"#!/bin/sh
case "$*" in
  --version) echo "codex-cli 0.166.0"; exit ;;
  "exec --help") printf '%s\n' "Usage: codex exec [OPTIONS] [PROMPT]" "  --json" "  --skip-git-repo-check"; exit ;;
  "exec resume --help") printf '%s\n' "Usage: codex exec resume [OPTIONS] [SESSION_ID]" "  --json"; exit ;;
esac
dir=$HOME/.codex/sessions/2026/11/16
mkdir -p "$dir"
asked=
for arg; do
  case "$arg" in ????????-????-????-????-????????????) asked=$arg ;; esac
done
prompt=$(tr '\n"\\' '   ')
file_of() { echo "$dir/rollout-2026-11-16T00-00-00-$1.jsonl"; }
new_session() {
  id=$(printf '%08d-0000-4000-8000-000000000000' "$(ls "$dir" | wc -l)")
  echo "{\"timestamp\":\"t\",\"type\":\"session_meta\",\"payload\":{\"id\":\"$id\"}}" > "$(file_of "$id")"
}
case "$asked,$prompt" in
  ,*|*,FORGET*) new_session ;;
  *,REISSUE*) new_session; sed 's/"timestamp":"t"/"timestamp":"u"/' "$(file_of "$asked")" >> "$(file_of "$id")" ;;
  *) id=$asked ;;
esac
file=$(file_of "$id")
event() { echo "{\"timestamp\":\"t\",\"type\":\"event_msg\",\"payload\":{\"type\":$1}}" >> "$file"; }
event "\"user_message\",\"message\":\"$prompt\""
n=$(grep -c '"user_message"' "$file")
total="{\"input_tokens\":${n}0,\"cached_input_tokens\":0,\"output_tokens\":$n}"
event "\"token_count\",\"info\":{\"total_token_usage\":$total}"
echo "{\"type\":\"thread.started\",\"thread_id\":\"$id\"}"
echo '{"type":"turn.started"}'
case "$prompt" in
  HANG*) exec sleep 600 ;;
  FAIL*|REISSUE-FAIL*) echo '{"type":"turn.failed","error":{"message":"stream disconnected before completion"}}'; exit 1 ;;
esac
marks=$(grep -o 'MARK-[a-z]*' "$file" | awk '!seen[$0]++' | paste -sd, -)
echo "{\"type\":\"item.completed\",\"item\":{\"id\":\"item_0\",\"type\":\"agent_message\",\"text\":\"marks=$marks\"}}"
echo "{\"type\":\"turn.completed\",\"usage\":$total}"
"#;

/// Puts a program that behaves like Codex into a directory and says how to configure it.
pub(crate) fn fake_codex(dir: &Path) -> String {
    let file = dir.join("codex");
    rejoin_testkit::write_program(&file, SCRIPT).unwrap();
    format!("agent = \"codex\"\n[agents.codex]\ncommand = {}\n", serde_json::json!(file))
}
