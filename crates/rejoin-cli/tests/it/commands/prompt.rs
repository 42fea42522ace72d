//! Where the prompt comes from, and what cannot be one.

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::{Bench, Call, kill};

/// What reached the agent, to the byte.
fn sent(call: Call<'_>) -> String {
    call.done().sent()
}

fn run<'a>(bench: &'a Bench, args: &[&str]) -> Call<'a> {
    bench.rejoin(&["run", "-o", "stream-json", "-a", "demo"]).with(args)
}

#[test]
fn one_source_is_sent_as_it_is() {
    let bench = Bench::new();
    let file = bench.file("review.md", "from a file\n\n");
    let file = file.to_str().unwrap();
    assert_eq!(sent(run(&bench, &["as an argument\n"])), "as an argument\n");
    assert_eq!(sent(run(&bench, &["-f", file])), "from a file\n\n");
    assert_eq!(sent(run(&bench, &[]).given("piped\n")), "piped\n");
    assert_eq!(sent(run(&bench, &["-"]).given("piped\n")), "piped\n");
    assert_eq!(sent(run(&bench, &["-f", "-"]).given("piped\n")), "piped\n");
}

#[test]
fn several_sources_stand_in_order_argument_files_standard_input() {
    let bench = Bench::new();
    bench.file("one.md", "first file\n");
    bench.file("two.md", "second file\n");
    let all = run(&bench, &["argument", "-f", "one.md", "-f", "two.md"]).given("piped\n");
    assert_eq!(sent(all), "argument\n\nfirst file\n\nsecond file\n\npiped");
    let placed = run(&bench, &["argument", "-f", "-", "-f", "two.md"]).given("piped\n");
    assert_eq!(sent(placed), "argument\n\npiped\n\nsecond file");
}

#[test]
fn an_open_input_that_nobody_writes_to_is_not_waited_for() {
    let bench = Bench::new();
    let mut command = bench.lab.command(env!("CARGO_BIN_EXE_rejoin"));
    command.args(["run", "-a", "demo", "hello MARK-a"]).env("REJOIN_HOME", bench.home());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let begun = Instant::now();
    let mut child = command.spawn().unwrap();
    let held = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(5), "it took {:?}", begun.elapsed());
    drop(held);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("MARK-a"));
    assert!(stderr.contains("standard input is open but silent") && stderr.contains("-f -"), "{stderr}");
}

#[test]
fn what_the_caller_writes_into_its_pipe_is_read() {
    let bench = Bench::new();
    let mut command = bench.lab.command(env!("CARGO_BIN_EXE_rejoin"));
    command.args(["run", "-a", "demo", "look:"]).env("REJOIN_HOME", bench.home());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(b"MARK-a ").unwrap();
    std::thread::sleep(Duration::from_millis(400));
    pipe.write_all(b"MARK-b").unwrap();
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("MARK-a,MARK-b"));
}

#[test]
fn a_slow_program_of_a_pipeline_is_waited_for() {
    let bench = Bench::new();
    let script = format!(
        "(sleep 1; echo MARK-b) | {} run -o stream-json -a demo 'look: MARK-a'",
        env!("CARGO_BIN_EXE_rejoin")
    );
    let said = Call::of(&bench, "sh", &["-c", &script]).done();
    said.knows(&["a", "b"]);
    assert_eq!(said.stderr(), "");
}

#[test]
fn a_stranger_that_holds_the_input_open_is_not_waited_for() {
    let bench = Bench::new();
    // One that only inherited the other end, as a descriptor it does not know of; one of another group.
    let inherited = "sleep 600 3>&1 >/dev/null 2>&1 &";
    let elsewhere = "setsid sleep 600 2>/dev/null &";
    for (stranger, mark) in [(inherited, "MARK-a"), (elsewhere, "MARK-b")] {
        let script = format!(
            "({stranger}) | {} run -o stream-json -a demo 'hello {mark}'",
            env!("CARGO_BIN_EXE_rejoin")
        );
        let said = Call::of(&bench, "sh", &["-c", &script]).done();
        assert!(said.text("text").contains(mark), "{}", said.stdout());
        said.tells(&["standard input is open but silent", "-f -"]);
        assert!(bench.processes().iter().any(|process| process.command.contains("sleep 600")));
        for process in bench.processes() {
            kill(process.pid);
        }
    }
}

#[test]
fn no_words_are_no_prompt() {
    let bench = Bench::new();
    bench.file("empty.md", " \n");
    run(&bench, &[]).ends(2).tells(&["no prompt", "-f FILE", "standard input"]);
    run(&bench, &[]).given(" \n\t\n").ends(2).tells(&["no prompt"]);
    for args in [&[""][..], &[" \n"], &["-f", "empty.md"], &["-"], &["--dry-run", " "]] {
        run(&bench, args).ends(2).tells(&["the prompt is empty"]);
    }
    assert!(bench.journals().is_empty());
}

#[test]
fn an_empty_pipe_adds_nothing_to_a_prompt() {
    let bench = Bench::new();
    assert_eq!(sent(run(&bench, &["hello"]).given("\n\n")), "hello");
}

#[test]
fn what_cannot_be_text_is_refused() {
    let bench = Bench::new();
    let latin = bench.file("latin.txt", b"caf\xe9");
    run(&bench, &["-f", latin.to_str().unwrap()]).ends(2).tells(&["latin.txt", "not UTF-8"]);
    run(&bench, &["look:"]).given(b"caf\xe9".to_vec()).ends(2).tells(&["standard input", "not UTF-8"]);
    run(&bench, &[]).given(b"a\0b".to_vec()).ends(2).tells(&["NUL"]);
    run(&bench, &["-f", "missing.md"]).ends(4).tells(&["cannot read missing.md"]);
    run(&bench, &["-f", "."]).ends(2).tells(&["cannot read ."]);
    assert!(bench.journals().is_empty());
}

#[test]
fn words_that_look_like_flags_and_commands_are_words() {
    let bench = Bench::new();
    for prompt in
        ["-x", "--help", "-c", "/x", "@x", "/help", "@/etc/passwd", "!ls", "#remember", "\\", "'\"$`"]
    {
        assert_eq!(sent(run(&bench, &[]).given(prompt)), prompt);
    }
    for prompt in ["/x", "@x", "/help", "!ls", "\u{1F600} naïve\u{301} ÅÄÖ 日本語 \u{202e}rtl"] {
        assert_eq!(sent(run(&bench, &[prompt])), prompt);
    }
}

#[test]
fn a_prompt_that_begins_with_a_dash_is_shown_the_way() {
    let bench = Bench::new();
    let said = run(&bench, &["-x is slow"]).ends(2);
    said.tells(&["unexpected argument", "begins with '-'", "standard input", "-f FILE"]);
    assert!(
        !said.stderr().contains("use '-- "),
        "that would be an argument for the agent: {}",
        said.stderr()
    );
}

#[test]
fn long_prompts_arrive_whole() {
    let bench = Bench::new();
    for size in [300 << 10, 5 << 20] {
        let prompt = format!("{}MARK-end", "ä lot of words\n".repeat(size / 15));
        let said = run(&bench, &[]).given(prompt.as_str()).done();
        said.sent_only(&prompt).knows(&["end"]);
    }
    let said = run(&bench, &[]).given(vec![b'x'; 13 << 20]).ends(2);
    said.tells(&["longer than 12 MiB"]);
}
