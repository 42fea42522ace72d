use std::fs;
use std::path::{Path, PathBuf};

/// What OpenCode 1.0.61 says of itself and does, as far as rejoin looks: it keeps sessions in plain files and cannot
/// list them. Its events are recorded ones without the session's id. Every run leaves its arguments in `$HOME/runs`,
/// and two that start for the first time at once break each other, as with every version: `$HOME/setting-up` is there
/// meanwhile, and stays as long as `$HOME/slow` is.
const SCRIPT: &str = r#"#!/bin/sh
PATH=$PATH:/usr/bin:/bin
case "$1 $2" in
  "--version ") echo 1.0.61; exit ;;
  "run --help") cat "$0.run.txt"; exit ;;
  "session list") cat "$0.help.txt"; exit ;;
esac
echo "$@" >> "$HOME/runs"
for arg; do
  case "$arg" in --session=*) id=${arg#*=} ;; --title=*) title=${arg#*=} ;; esac
done
prompt=$(cat)
storage=$HOME/.local/share/opencode/storage
if [ ! -d "$storage" ]; then
  mkdir "$HOME/setting-up" || { echo 'Error: Unexpected error' >&2; exit 1; }
  sleep 1
  while [ -e "$HOME/slow" ]; do sleep 0.1; done
  rmdir "$HOME/setting-up"
fi
mkdir -p "$storage/message"
number=0
while [ -z "$id" ]; do
  id=$(printf 'ses_%026d' "$number")
  mkdir "$storage/message/$id" 2>/dev/null || id=
  number=$((number + 1))
done
count=$(ls "$storage/message/$id" 2>/dev/null | wc -l)
message=msg_${id#ses_}_$count
mkdir -p "$storage/session/p" "$storage/message/$id" "$storage/part/$message"
file=$storage/session/p/$id.json
[ -e "$file" ] || echo "{\"id\":\"$id\",\"title\":\"$title\",\"directory\":\"$(pwd -P)\"}" > "$file"
echo '{"role":"user"}' > "$storage/message/$id/$message.json"
text=$(printf '%s' "$prompt" | sed 's/["\\]/\\&/g' | awk '{printf "%s\\n", $0}')
printf '%s\n' "{\"type\":\"text\",\"text\":\"\\n$text\"}" > "$storage/part/$message/prt_1.json"
marks=$(cat "$storage/part/msg_${id#ses_}_"*/* | grep -o 'MARK-[a-z]*' | awk '!seen[$0]++' | paste -sd, -)
part='"id":"prt_1e1992cd8001tTHiFMoCIqCMh6","messageID":"msg_1e1992c9d001bO230f7iIrHRSY"'
echo "{\"type\":\"step_start\",\"timestamp\":1794786274529,\"part\":{$part,\"type\":\"step-start\"}}"
echo "{\"type\":\"text\",\"timestamp\":1794786274529,\"part\":{$part,\"type\":\"text\",\"text\":\"marks=$marks\"}}"
echo "{\"type\":\"step_finish\",\"timestamp\":1794786274537,\"part\":{$part,\"type\":\"step-finish\",\"reason\":\"stop\"}}"
"#;

/// The help texts of the real program.
const RUN: &str = include_str!("../../../../rejoin-agents/tests/recordings/opencode/run_1_0_61.help.txt");
const HELP: &str =
    include_str!("../../../../rejoin-agents/tests/recordings/opencode/opencode_1_0_61.help.txt");

/// Puts a program into a directory that behaves like an old OpenCode that does not name its sessions.
pub(crate) fn old_opencode(dir: &Path) -> PathBuf {
    let file = dir.join("opencode");
    for (ending, text) in [(".run.txt", RUN), (".help.txt", HELP)] {
        fs::write(dir.join(format!("opencode{ending}")), text).unwrap();
    }
    rejoin_testkit::write_program(&file, SCRIPT).unwrap();
    file
}
