//! What a person at a terminal sees of a run.

use std::fmt::Write as _;

use crate::support::{Bench, Screen, without_sequences};

const FLOW: &str = "
steps:
  one: { agent: demo, prompt: first MARK-a SLEEP 0.5 }
  both:
    parallel:
      left: { continue_from: one, prompt: left MARK-l SLEEP 0.5 }
      right: { run: 'until test -e go; do sleep 0.05; done' }
";

#[test]
fn running_steps_have_a_line_each_and_settled_ones_stay() {
    let bench = Bench::new();
    bench.file("test.flow.yaml", FLOW);
    let Some(mut screen) = Screen::with(&bench, "flow run test.flow.yaml", &[("NO_COLOR", "1")]) else {
        return;
    };
    screen.shows(" one · demo · new session · 0 s").shows("✓ one · demo · new session · ");
    screen.shows(" left · demo · resum").shows(" right · 0 s").shows("✓ left · demo · resumed ");
    bench.file("go", "");
    screen.shows("✓ right · ").shows("✓ both · ");
    let raw = screen.raw();
    assert!(raw.contains("\u{1b}[1A"), "lines are put where they were: {raw:?}");
    assert!(!raw.contains("\u{1b}[2m"), "no colours: {raw:?}");
    let shown = screen.ends(0);
    assert_eq!(shown.matches("✓ one").count(), 1, "what is settled is printed once: {shown}");
}

#[test]
fn a_step_is_resuming_until_its_agent_has_named_its_session() {
    let bench = Bench::new();
    let flow = "
steps:
  one: { agent: demo, prompt: first }
  two: { continue_from: one, prompt: HANG-EARLY, timeout: 2s, allow_failure: true }
";
    bench.file("test.flow.yaml", flow);
    let Some(mut screen) = Screen::with(&bench, "flow run test.flow.yaml", &[("NO_COLOR", "1")]) else {
        return;
    };
    screen.shows("✓ one · demo · new session · ").shows(" two · demo · resuming ").shows(" · 1 s");
    screen.shows("✗ two · demo · resuming ");
    let shown = screen.ends(0);
    assert!(!shown.contains("resumed"), "{shown}");
}

#[test]
fn no_line_is_wider_or_higher_than_the_terminal() {
    let bench = Bench::new();
    let mut yaml = "steps:\n  all:\n    max_concurrent: 9\n    parallel:\n".to_owned();
    for at in 0..9 {
        let _ = writeln!(yaml, "      a_long_name_{at}: {{ run: sleep 0.5 }}");
    }
    bench.file("test.flow.yaml", yaml);
    let size = (14, 6);
    let screen = Screen::sized(&bench, "flow run test.flow.yaml", &[("NO_COLOR", "1")], size);
    let Some(mut screen) = screen else { return };
    screen.shows("a_long_nam…").shows(" and 7 more").shows("✓ all");
    let raw = screen.raw();
    let live = raw.lines().filter(|line| line.contains("\u{1b}[K"));
    for line in live {
        let text = without_sequences(line);
        assert!(text.trim().chars().count() < 14, "{text:?}");
    }
    assert!(!raw.contains("\u{1b}[6A"), "{raw:?}");
    screen.ends(0);
}

#[test]
fn a_terminal_that_only_takes_lines_gets_lines() {
    let bench = Bench::new();
    bench.file("test.flow.yaml", FLOW);
    bench.file("go", "");
    let Some(mut screen) = Screen::with(&bench, "flow run test.flow.yaml", &[("TERM", "dumb")]) else {
        return;
    };
    screen.shows("… one\n").shows("✓ one · ").shows("✓ both · ");
    assert!(!screen.raw().contains('\u{1b}'), "{:?}", screen.raw());
    screen.ends(0);
}

#[test]
fn an_output_cannot_command_the_terminal() {
    let bench = Bench::new();
    bench.file("test.flow.yaml", "steps: { a: { run: 'printf \"\\033]0;title\\007plain\\033[2J words\"' } }");
    let Some(mut screen) = Screen::with(&bench, "flow run test.flow.yaml", &[("NO_COLOR", "1")]) else {
        return;
    };
    screen.shows("␛]0;title␇plain␛[2J words");
    assert!(!screen.raw().contains("\u{1b}]") && !screen.raw().contains("\u{1b}[2J"), "{:?}", screen.raw());
    screen.ends(0);
    let piped = bench.rejoin(&["flow", "run", "test.flow.yaml"]).done();
    assert_eq!(piped.stdout(), "\u{1b}]0;title\u{7}plain\u{1b}[2J words\n");
}
