//! Completion in real shells: somebody types, and presses Tab. `cargo xtask test` installs them.

use std::fs;
use std::path::Path;

use crate::support::{Bench, Screen};

/// What is typed before Tab, what must be in the line then, and what the command shows that has come of it.
type Completed<'a> = (&'a str, &'a str, &'a str);

/// Types lines in a shell, on a bench with conversations of awkward names and a run of a flow.
fn completes(shell: &str, lines: &[Completed<'_>]) {
    if !std::env::split_paths("/usr/bin:/bin").any(|dir| dir.join(shell).exists()) {
        eprintln!("skipped: there is no {shell} (Debian: apt-get install {shell})");
        return;
    }
    let bench = Bench::new();
    bench.first("bump the version").with(&["-s", "my release"]).done();
    bench.first("look at it").with(&["-s", "it's $5"]).done();
    bench.file("one.flow.yaml", "steps: { one: { run: echo done } }");
    let run = bench.rejoin(&["flow", "run", "one.flow.yaml", "-o", "json"]).done().json();
    let id = run["id"].as_str().unwrap();
    let bin = Path::new(env!("CARGO_BIN_EXE_rejoin")).parent().unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let dots = bench.outside("dots");
    fs::write(dots.join("bashrc"), "PS1='ready> '; source <(rejoin completions bash)\n").unwrap();
    // Without the style, zsh takes a Tab that comes together with other keys for a part of the text.
    let zshrc = "PS1='ready> '; autoload -Uz compinit; compinit -D -u; zstyle ':completion:*' insert-tab false; \
                 source <(rejoin completions zsh)\n";
    fs::write(dots.join(".zshrc"), zshrc).unwrap();
    fs::write(
        dots.join("config.fish"),
        "function fish_prompt; echo -n 'ready> '; end\nset fish_greeting\nrejoin completions fish | source\n",
    )
    .unwrap();
    let dots = dots.to_str().unwrap();
    let call = match shell {
        "bash" => format!("bash --noprofile --rcfile {dots}/bashrc -i"),
        "zsh" => "zsh -i".to_owned(),
        _ => format!("fish --no-config -i -C 'source {dots}/config.fish'"),
    };
    let env = [("PATH", path.as_str()), ("ZDOTDIR", dots), ("HISTFILE", "/dev/null")];
    let Some(mut screen) = Screen::of(&bench, &call, &env, (200, 50)) else { return };
    for (typed, completed, shown) in lines {
        screen.shows("ready> ").types(typed).types("\t").shows(completed).types("\r").shows(shown);
    }
    // An id is known by less, so that what Tab adds to it is looked at alone.
    screen.shows("ready> ").types(&format!("rejoin flow show {}", &id[..4])).types("\t").shows(&id[4..8]);
    screen.types("\r").shows("one · done").shows("ready> ").types("exit\r");
    screen.ends(0);
}

#[test]
fn bash_completes_names_with_spaces_messages_and_runs() {
    let lines = [
        ("rejoin show my", "release", "> bump the version"),
        ("rejoin show my\\ rel", "ease", "> bump the version"),
        ("rejoin show 'my rel", "ease'", "> bump the version"),
        ("rejoin show it", "\\'s\\ \\$5", "> look at it"),
        ("rejoin show my\\ release --at ", "1", "> bump the version"),
    ];
    completes("bash", &lines);
}

#[test]
fn zsh_completes_names_with_spaces_messages_and_runs() {
    let lines = [
        ("rejoin show my", "release", "> bump the version"),
        ("rejoin show my\\ rel", "ease", "> bump the version"),
        ("rejoin show it", "5", "> look at it"),
        ("rejoin show my\\ release --at ", "1", "> bump the version"),
    ];
    completes("zsh", &lines);
}

#[test]
fn fish_completes_names_with_spaces_messages_and_runs() {
    let lines = [
        ("rejoin show my", "release", "> bump the version"),
        ("rejoin show my\\ rel", "ease", "> bump the version"),
        ("rejoin show it", "5", "> look at it"),
        ("rejoin show my\\ release --at ", "1", "> bump the version"),
    ];
    completes("fish", &lines);
}
