//! `rejoin chat` with a real agent, on a terminal of its own.

use std::process::Command;

use super::stage::Stage;
use crate::support::Screen;

on_claude!(a_live_conversation_with_a_menu_and_ctrl_c);

const CTRL_C: &str = "\u{3}";

/// The real command in the laboratory, with somebody who types.
fn chat(stage: &Stage, args: &str) -> Option<Screen> {
    let mut command = Command::new("/usr/bin/env");
    command.env_clear().envs(stage.lab.env()).env("TERM", "xterm").env("REJOIN_HOME", stage.rejoin_home());
    command.current_dir(stage.lab.project());
    Screen::by(command, &format!("{} chat {args}", env!("CARGO_BIN_EXE_rejoin")), (100, 30))
}

fn a_live_conversation_with_a_menu_and_ctrl_c(stage: &Stage) {
    let Some(mut screen) = chat(stage, "-a claude") else { return };
    let file = stage.lab.project().join("new.txt");
    screen.says("claude", "first MARK-one").shows("new conversation").shows("SEEN n=1 marks=MARK-one");
    screen
        .says("claude", &format!("second MARK-two TOOL-WRITE {}", file.display()))
        .shows("● claude · resumed");
    screen.shows("? Claude wants to use Write").shows("Esc declines");
    assert!(!file.exists(), "nothing is written before leave is given");
    screen.types("y").shows("answered: ").shows("✓ Write").shows("SEEN n=2 marks=MARK-one,MARK-two");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "written\n");
    let asked = stage.lab.model().calls().len();
    screen.says("claude", "third MARK-three SLOW").shows("● claude · resumed");
    let is_asked = || stage.lab.model().calls().len() > asked;
    assert!(super::processes::eventually(super::processes::PATIENCE, is_asked), "the model was not asked");
    screen.types(CTRL_C).shows("stopping…").shows("■ cancelled");
    screen
        .says("claude", "fourth MARK-four")
        .shows("claude · ")
        .shows("MARK-two")
        .shows("MARK-four")
        .shows("✓");
    screen.says("claude", "/quit").shows("kept: ");
    screen.ends(0);
    let turns = stage.show()["turns"].as_array().unwrap().clone();
    let sessions: Vec<&str> = turns.iter().filter_map(|turn| turn["receipt"]["session"].as_str()).collect();
    assert_eq!(turns.len(), 4);
    assert_eq!(turns[3]["receipt"]["plan"]["decision"], "resume", "{}", turns[3]["receipt"]);
    assert!(
        sessions.iter().all(|session| *session == sessions[0]),
        "one session for all of it: {sessions:?}"
    );
    let Some(mut screen) = chat(stage, "-c") else { return };
    screen
        .shows("Resumed session from")
        .shows("next turn on claude: resume")
        .says("claude", "fifth MARK-five");
    screen.shows("● claude · resumed").shows("MARK-four,MARK-five").shows("✓").says("claude", "/quit");
    screen.ends(0);
}
