//! Disks that are full, or may not be written.

use crate::support::{Bench, Call, Said};

const REJOIN: &str = env!("CARGO_BIN_EXE_rejoin");

/// Runs a script in a mount namespace of its own, with a small disk as `$REJOIN_HOME`; `None` (after saying so) where
/// that is not allowed.
fn on_a_small_disk(bench: &Bench, options: &str, script: &str, code: i32) -> Option<Said> {
    let home = bench.home();
    std::fs::create_dir_all(&home).unwrap();
    let mount = format!("mount -t tmpfs -o {options} none '{}'", home.display());
    for unshare in ["-m", "-rm"] {
        let probe = Call::of(bench, "sh", &["-c", &format!("unshare {unshare} sh -c \"{mount}\" || exit 3")]);
        if probe.try_ends(0) {
            let script = format!("{mount} && {script}");
            return Some(Call::of(bench, "unshare", &[unshare, "sh", "-c", &script]).ends(code));
        }
    }
    eprintln!("skipped: mounting a small disk is not allowed here");
    None
}

#[test]
fn a_disk_that_fills_up_in_mid_turn_is_an_error_and_never_a_success() {
    let bench = Bench::new();
    let script = format!("{REJOIN} run -o stream-json -a demo 'FLOOD 20m MARK-a'");
    let Some(said) = on_a_small_disk(&bench, "size=1m", &script, 7) else { return };
    said.tells(&["No space left on device"]);
    let result = said.result();
    assert_eq!((&result["outcome"], &result["class"]), (&"failed".into(), &"internal".into()));
    assert_eq!(result["exit_code"], 7);
    bench.comes_to_rest();
}

#[test]
fn the_doctor_tells_of_a_home_that_cannot_be_written() {
    let bench = Bench::new();
    let doctor = |options: &str, before: &str, code| {
        let script = format!("{before} PATH=/nowhere {REJOIN} doctor --json");
        on_a_small_disk(&bench, options, &script, code)
    };
    let home = |said: &Said| said.json().as_array().unwrap().last().unwrap().clone();
    let Some(said) = doctor("ro", "", 1) else { return };
    assert_eq!(home(&said)["home"], bench.home().to_str().unwrap());
    let write = &home(&said)["checks"][0];
    assert_eq!((&write["name"], &write["finding"]), (&"write".into(), &"broken".into()));
    assert!(write["text"].as_str().unwrap().contains("read-only file system"), "{write}");
    assert!(write["next"].as_str().unwrap().contains("REJOIN_HOME"), "{write}");
    let full = "head -c 2m /dev/zero > $REJOIN_HOME/ballast 2>/dev/null;";
    let said = doctor("size=1m", full, 1).unwrap();
    assert!(home(&said)["checks"][0]["text"].as_str().unwrap().contains("is full"), "{}", home(&said));
    assert_eq!(home(&said)["checks"][1]["text"], "0 MiB are free");
    let said = doctor("size=10m", "", 0).unwrap();
    let checks = home(&said)["checks"].clone();
    assert_eq!((&checks[0]["finding"], &checks[1]["finding"]), (&"fine".into(), &"note".into()), "{checks}");
}

#[test]
fn a_full_disk_is_refused_before_anything_is_launched() {
    let bench = Bench::new();
    let marker = bench.lab.root().join("ran");
    let script = format!(
        "{REJOIN} ls && head -c 2m /dev/zero > $REJOIN_HOME/ballast; {REJOIN} run -a demo 'TOOL-RUN [touch {}]'; \
         code=$?; rm \"$REJOIN_HOME\"/ballast; find \"$REJOIN_HOME\" -path '*jsonl*'; {REJOIN} fsck --all && exit $code",
        marker.display()
    );
    let Some(said) = on_a_small_disk(&bench, "size=1m", &script, 7) else { return };
    said.tells(&["No space left on device", "rejoin: "]);
    assert_eq!(said.stdout(), "", "no journal was begun");
    said.tells(&["0 conversations checked"]);
    assert!(!marker.exists(), "the agent was never launched");
}

#[test]
fn after_the_disk_was_full_everything_acknowledged_is_there() {
    let bench = Bench::new();
    let script = format!(
        "{REJOIN} run -a demo 'hello MARK-a'; {REJOIN} run -c 'FLOOD 20m MARK-b'; echo code=$?; \
         mount -o remount,size=20m \"$REJOIN_HOME\"; {REJOIN} ls --json; {REJOIN} run -c 'on MARK-c'"
    );
    let Some(said) = on_a_small_disk(&bench, "size=1m", &script, 0) else { return };
    assert!(said.stdout().contains("code=7"), "{}", said.stdout());
    assert!(said.stdout().contains("\"interrupted\""), "{}", said.stdout());
    assert!(said.stdout().ends_with("marks=MARK-a,MARK-b,MARK-c\n"), "{}", said.stdout());
}

#[test]
fn a_read_only_home_can_be_read_and_not_written() {
    let bench = Bench::new();
    let script = format!(
        "{REJOIN} run -a demo hello > /dev/null && mount -o remount,ro \"$REJOIN_HOME\" && {REJOIN} ls && \
         {REJOIN} show && {REJOIN} run -c 'TOOL-RUN [touch ran]'"
    );
    let Some(said) = on_a_small_disk(&bench, "size=4m", &script, 7) else { return };
    said.tells(&["Read-only file system"]);
    assert!(said.stdout().contains("idle") && said.stdout().contains("> hello"), "{}", said.stdout());
    assert!(!bench.project().join("ran").exists());
}

#[test]
fn a_file_that_may_not_grow_is_an_error_like_a_full_disk() {
    let bench = Bench::new();
    let script = |prompt: &str| format!("ulimit -f 200; exec {REJOIN} run -o stream-json -a demo '{prompt}'");
    let said = Call::of(&bench, "sh", &["-c", &script("FLOOD 2m MARK-a")]).ends(7);
    said.tells(&["File too large", "ulimit -f", "the prompt is kept"]);
    assert_eq!(said.result()["class"], "internal");
    bench.comes_to_rest();
    // Whoever is run below us meets the limit as everywhere: by its signal.
    let said =
        Call::of(&bench, "sh", &["-c", &script("TOOL-RUN [head -c 1m /dev/zero > big; echo code=$?]")])
            .done();
    let output = said.events_of("tool_result")[0]["output"].to_string();
    assert!(output.contains("code=153"), "{output}");
}

#[test]
fn a_home_that_cannot_be_made_is_told() {
    let bench = Bench::new();
    let file = bench.file("file", "");
    let said = bench.first("hello").env("REJOIN_HOME", file.join("home")).ends(7);
    said.tells(&[file.to_str().unwrap(), "REJOIN_HOME"]);
}
