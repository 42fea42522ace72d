//! Every guard of the rule of resuming, both halves each time: the session that is resumed (or
//! none), and what the prompt says and does not say.

use rejoin_core::plan::{Runtime, Stored, Wish};
use rejoin_core::{Agent, FailureClass, Kind, Mark, Outcome, Part, Pin, PinState, Scope, System};

use crate::world::{World, gemini};

const CLAUDE: Agent = Agent::Claude;
const CODEX: Agent = Agent::Codex;

/// Two completed turns of Claude, in session `claude-1`.
fn two_turns() -> World {
    let mut world = World::new();
    world.ok(&CLAUDE, "the word is plum", "noted: plum");
    world.ok(&CLAUDE, "and the colour is teal", "noted: teal");
    world
}

const TWO_TURNS: [&str; 4] = ["the word is plum", "noted: plum", "and the colour is teal", "noted: teal"];

#[test]
fn the_first_turn_is_sent_as_typed() {
    let world = World::new();
    world.next(&CLAUDE, "hello\n").starts_fresh("first_turn").is_verbatim("hello\n");
}

#[test]
fn a_follow_up_resumes_the_session_and_sends_only_the_prompt() {
    let world = two_turns();
    world.next(&CLAUDE, "which word?").resumes("claude-1").catches_up_on(&[]).is_verbatim("which word?");
}

#[test]
fn another_agent_starts_fresh_and_is_told_everything() {
    let world = two_turns();
    let sent = world.next(&CODEX, "which word?");
    sent.starts_fresh("no_session").says(&TWO_TURNS).says(&["noted: teal", "which word?"]);
}

#[test]
fn back_at_the_first_agent_its_session_goes_on_with_exactly_what_it_missed() {
    let mut world = two_turns();
    let missed = world.ok(&CODEX, "double it", "plum plum");
    let also = world.ok(&CODEX, "and again", "plum plum plum plum");
    let sent = world.next(&CLAUDE, "which word?");
    sent.resumes("claude-1").catches_up_on(&[(missed, false), (also, false)]);
    sent.says(&["double it", "plum plum", "and again", "Answer", "which word?"]);
    sent.never_says(&TWO_TURNS).never_says(&["you may know", "cut off"]);
    world.next(&CODEX, "more").resumes("codex-2").catches_up_on(&[]).is_verbatim("more");
}

#[test]
fn under_own_scope_the_others_turns_are_neither_told_nor_in_the_way() {
    let mut world = World::scoped(Scope::Own);
    world.ok(&CLAUDE, "the word is plum", "noted: plum");
    world.next(&CODEX, "hi").starts_fresh("no_session").is_verbatim("hi");
    world.ok(&CODEX, "hi", "ho");
    world.next(&CLAUDE, "which word?").resumes("claude-1").is_verbatim("which word?");
}

#[test]
fn a_prompt_that_never_reached_an_agent_is_not_lost_under_own_scope() {
    let mut world = World::scoped(Scope::Own);
    world.ok(&CLAUDE, "the word is plum", "noted: plum");
    let unsent = world.ask("the colour is teal"); // killed before the intent was written
    let sent = world.next(&CLAUDE, "go on");
    sent.resumes("claude-1").catches_up_on(&[(unsent, false)]).says(&["the colour is teal", "go on"]);
}

#[test]
fn a_fresh_session_that_was_asked_for_is_told_everything() {
    let mut world = two_turns();
    world.wish = Wish::Fresh;
    world.next(&CLAUDE, "which word?").starts_fresh("forced").says(&TWO_TURNS).says(&["which word?"]);
}

#[test]
fn an_ephemeral_turn_never_resumes_but_knows_the_history() {
    let mut world = two_turns();
    world.wish = Wish::Ephemeral;
    world.next(&CLAUDE, "which word?").starts_fresh("ephemeral").says(&TWO_TURNS);
}

#[test]
fn resuming_switched_off_means_the_history_every_time() {
    let mut world = two_turns();
    world.wish = Wish::Never;
    world.next(&CLAUDE, "which word?").starts_fresh("disabled").says(&TWO_TURNS);
}

// -- edits -------------------------------------------------------------------------------------

#[test]
fn an_edited_prompt_starts_fresh_with_the_new_wording() {
    let mut world = two_turns();
    let first = world.path()[0];
    world.edit(first, "the word is PEAR");
    let sent = world.next(&CLAUDE, "which word?");
    sent.starts_fresh("history_changed").says(&["the word is PEAR", "noted: plum", "noted: teal"]);
    sent.never_says(&["the word is plum"]);
}

#[test]
fn an_edited_answer_counts_as_much_as_an_edited_prompt() {
    let mut world = two_turns();
    let answer = world.conversation.tree.head().unwrap().end;
    world.edit(answer, "noted: GREEN");
    let sent = world.next(&CLAUDE, "which colour?");
    sent.starts_fresh("history_changed").says(&["the word is plum", "noted: GREEN"]);
    sent.never_says(&["noted: teal"]);
}

#[test]
fn an_edit_of_anothers_turn_leaves_a_session_of_own_scope_alone() {
    let mut world = World::scoped(Scope::Own);
    world.ok(&CLAUDE, "the word is plum", "noted: plum");
    let codex = world.ok(&CODEX, "the colour is teal", "noted: teal");
    world.ok(&CLAUDE, "spell it", "P L U M");
    world.edit(codex, "the colour is red");
    world.next(&CLAUDE, "again").resumes("claude-1").is_verbatim("again");
    let sent = world.next(&CODEX, "again");
    sent.starts_fresh("history_changed").says(&["the colour is red"]).never_says(&["plum", "is teal"]);
}

#[test]
fn the_same_edit_ends_the_session_that_was_told_that_turn() {
    let mut world = World::new();
    world.ok(&CLAUDE, "the word is plum", "noted: plum");
    let codex = world.ok(&CODEX, "the colour is teal", "noted: teal");
    world.ok(&CLAUDE, "spell it", "P L U M");
    world.edit(codex, "the colour is red");
    let sent = world.next(&CLAUDE, "again");
    sent.starts_fresh("history_changed").says(&["is plum", "the colour is red", "P L U M"]);
    sent.never_says(&["the colour is teal"]);
}

#[test]
fn an_edit_of_a_turn_the_session_has_not_been_told_yet_costs_nothing() {
    let mut world = World::new();
    world.ok(&CLAUDE, "the word is plum", "noted: plum");
    let codex = world.ok(&CODEX, "the colour is teal", "noted: teal");
    world.edit(codex, "the colour is red");
    let sent = world.next(&CLAUDE, "again");
    sent.resumes("claude-1").catches_up_on(&[(codex, false)]).says(&["the colour is red"]);
    sent.never_says(&["is teal", "the word is plum"]);
}

#[test]
fn after_an_edit_the_next_session_is_resumed_again() {
    let mut world = two_turns();
    world.edit(world.path()[0], "the word is PEAR");
    world.ok(&CLAUDE, "which word?", "pear");
    world.next(&CLAUDE, "sure?").resumes("claude-2").is_verbatim("sure?");
}

// -- branches ----------------------------------------------------------------------------------

/// Gemini, then Claude, then Codex, then Claude again.
fn three_agents(scope: Scope) -> (World, [rejoin_core::TurnId; 4]) {
    let mut world = World::scoped(scope);
    let turns = [
        world.ok(&gemini(), "ask zero", "say zero"),
        world.ok(&CLAUDE, "ask one", "say one"),
        world.ok(&CODEX, "ask two", "say two"),
        world.ok(&CLAUDE, "ask three", "say three"),
    ];
    (world, turns)
}

#[test]
fn retrying_a_boundary_turn_ends_exactly_the_sessions_whose_slice_changed() {
    let (mut world, turns) = three_agents(Scope::Own);
    world.retry(turns[2]);
    assert_eq!(world.path(), turns[..2]);
    // Claude's slice lost its third turn although the retried one is Codex's.
    let claude = world.next(&CLAUDE, "new");
    claude.starts_fresh("history_changed").says(&["ask one", "say one", "new"]);
    claude.never_says(&["ask two", "ask three", "ask zero"]);
    world.next(&CODEX, "new two").starts_fresh("history_changed").is_verbatim("new two");
    world.next(&gemini(), "new").resumes("gemini-1").is_verbatim("new");
}

#[test]
fn a_retry_under_shared_scope_says_what_is_left_and_nothing_that_was_taken_back() {
    let (mut world, turns) = three_agents(Scope::Shared);
    world.retry(turns[2]);
    for agent in [CLAUDE, CODEX] {
        let sent = world.next(&agent, "new");
        sent.starts_fresh("history_changed").says(&["ask zero", "ask one", "say one", "new"]);
        sent.never_says(&["ask two", "say two", "ask three"]);
    }
    let sent = world.next(&gemini(), "new");
    sent.resumes("gemini-1").catches_up_on(&[(turns[1], false)]).says(&["ask one", "new"]);
    sent.never_says(&["ask zero", "ask two"]);
}

#[test]
fn a_rewind_ends_exactly_the_sessions_that_hold_what_was_taken_back() {
    for scope in [Scope::Shared, Scope::Own] {
        let (mut world, turns) = three_agents(scope);
        world.rewind(Some(turns[2]));
        let claude = world.next(&CLAUDE, "new");
        claude.starts_fresh("history_changed").says(&["ask one", "new"]).never_says(&["ask three"]);
        world.next(&CODEX, "new").resumes("codex-3").is_verbatim("new");
        assert!(world.next(&gemini(), "new").composed.decision().resumes());
    }
}

#[test]
fn a_rewind_to_the_beginning_is_a_first_turn_again() {
    let mut world = two_turns();
    world.rewind(None);
    world.next(&CLAUDE, "hello").starts_fresh("first_turn").is_verbatim("hello");
}

#[test]
fn a_head_named_by_an_answer_stands_at_the_end_of_that_turn() {
    let mut world = two_turns();
    let answer = world.conversation.tree.head().unwrap().end;
    world.ok(&CODEX, "elsewhere", "yes");
    world.rewind(Some(answer));
    world.next(&CLAUDE, "on").resumes("claude-1").is_verbatim("on");
}

#[test]
fn each_branch_has_its_own_session_and_gets_it_back() {
    let mut world = World::new();
    let root = world.ok(&CLAUDE, "root", "r");
    let left = world.ok(&CLAUDE, "left", "l");
    world.rewind(Some(root));
    world.next(&CLAUDE, "right").starts_fresh("history_changed").says(&["root"]).never_says(&["left"]);
    let right = world.ok(&CLAUDE, "right", "r");
    world.rewind(Some(left));
    world.next(&CLAUDE, "more").resumes("claude-1").is_verbatim("more");
    world.rewind(Some(right));
    world.next(&CLAUDE, "more").resumes("claude-2").is_verbatim("more");
}

#[test]
fn among_several_sessions_the_one_that_holds_most_is_resumed() {
    let mut world = World::new();
    let first = world.ok(&CLAUDE, "one", "1");
    world.dir = "/src/other".into();
    let second = world.ok(&CLAUDE, "two", "2"); // claude-2 was told both
    world.dir = crate::world::DIR.into();
    let sent = world.next(&CLAUDE, "three");
    sent.resumes("claude-1").catches_up_on(&[(second, false)]);

    // Both in one place now; the older pin is even the more recently touched.
    let mut pins = world.pins(&CLAUDE);
    pins[1].dir = crate::world::DIR.into();
    for pin in [pins[1].clone(), pins[0].clone()] {
        world.system(None, &System::Pin(Box::new(pin)));
    }
    world.next(&CLAUDE, "three").resumes("claude-2").catches_up_on(&[]).is_verbatim("three");
    assert_eq!(world.path(), [first, second]);
}

// -- where, with what, by whom -----------------------------------------------------------------

#[test]
fn another_directory_starts_fresh_there_and_leaves_the_session_resumable_here() {
    let mut world = two_turns();
    world.dir = "/src/other".into();
    world.next(&CLAUDE, "which word?").starts_fresh("workdir_changed").says(&TWO_TURNS);
    world.dir = crate::world::DIR.into();
    world.next(&CLAUDE, "which word?").resumes("claude-1").is_verbatim("which word?");
}

#[test]
fn a_fork_of_the_program_starts_fresh() {
    let mut world = two_turns();
    let product = "openclaude (openclaude)".to_owned();
    world.runtimes.insert(CLAUDE, Runtime { product, ..world.runtime(&CLAUDE) });
    world.next(&CLAUDE, "which word?").starts_fresh("runtime_changed").says(&TWO_TURNS);
}

#[test]
fn another_store_of_the_agent_starts_fresh() {
    let mut world = two_turns();
    let store = "/home/me/.claude-work".to_owned();
    world.runtimes.insert(CLAUDE, Runtime { store, ..world.runtime(&CLAUDE) });
    world.next(&CLAUDE, "which word?").starts_fresh("store_changed").says(&TWO_TURNS);
}

#[test]
fn another_home_of_rejoin_starts_fresh() {
    let mut world = two_turns();
    world.home = "home-2".into();
    world.next(&CLAUDE, "which word?").starts_fresh("store_changed").says(&TWO_TURNS);
}

#[test]
fn another_scope_starts_fresh() {
    let mut world = two_turns();
    world.scope = Scope::Own;
    world.next(&CLAUDE, "which word?").starts_fresh("scope_changed").says(&TWO_TURNS);
}

#[test]
fn a_program_that_cannot_resume_is_told_the_history_every_turn() {
    let mut world = two_turns();
    world.runtimes.insert(CLAUDE, Runtime { can_resume: false, ..world.runtime(&CLAUDE) });
    world.next(&CLAUDE, "which word?").starts_fresh("unsupported").says(&TWO_TURNS);
}

#[test]
fn a_program_without_sessions_does_not_promise_one_for_later() {
    let mut world = two_turns();
    world.runtimes.insert(CODEX, Runtime { can_resume: false, ..world.runtime(&CODEX) });
    world.next(&CODEX, "which word?").starts_fresh("unsupported").says(&TWO_TURNS);
}

#[test]
fn a_session_refused_at_run_time_is_followed_by_the_whole_history() {
    let world = two_turns();
    let sent = world.rejected(&CLAUDE, "claude-1", "which word?");
    sent.starts_fresh("session_rejected").says(&TWO_TURNS).says(&["which word?"]);
}

// -- what the store says -----------------------------------------------------------------------

#[test]
fn a_session_that_is_gone_is_replaced_with_the_whole_history() {
    let mut world = two_turns();
    world.stores.insert("claude-1".into(), Stored::Missing);
    world.next(&CLAUDE, "which word?").starts_fresh("session_missing").says(&TWO_TURNS);
}

#[test]
fn a_live_session_is_resumed_where_the_store_cannot_be_looked_into() {
    let mut world = two_turns();
    for stored in [Stored::CannotTell, Stored::Advanced] {
        world.stores.insert("claude-1".into(), stored);
        world.next(&CLAUDE, "which word?").resumes("claude-1").is_verbatim("which word?");
    }
}

#[test]
fn a_session_killed_at_its_first_line_is_resumed_only_if_it_is_found() {
    for agent in [CLAUDE, CODEX] {
        let session = format!("{agent}-1");
        let mut world = World::new();
        let mut running = world.begin(&agent, "the word is plum");
        world.session_seen(&mut running); // and then the machine went down
        for stored in [Stored::CannotTell, Stored::Missing] {
            world.stores.insert(session.clone(), stored);
            let sent = world.next(&agent, "go on");
            sent.starts_fresh("session_unconfirmed").says(&["cut off", "the word is plum", "go on"]);
        }
        world.stores.insert(session.clone(), Stored::Stored);
        let sent = world.next(&agent, "go on");
        sent.resumes(&session).catches_up_on(&[(running.turn, true)]);
        sent.says(&["you may know", "the word is plum", "cut off", "go on"]);
    }
}

#[test]
fn a_session_that_was_never_named_is_never_missed() {
    let mut world = World::new();
    world.begin(&CODEX, "the word is plum"); // killed before Codex told its id
    world.next(&CODEX, "go on").starts_fresh("no_session").says(&["cut off", "the word is plum"]);
}

#[test]
fn a_poisoned_session_is_given_up_at_once_and_a_stubborn_one_after_two_failures() {
    let mut world = two_turns();
    world.failed(&CLAUDE, "too much", FailureClass::ContextOverflow);
    let sent = world.next(&CLAUDE, "go on");
    sent.starts_fresh("session_retired").says(&TWO_TURNS).says(&["ended=\"failed\"", "too much", "go on"]);

    let mut world = two_turns();
    world.failed(&CLAUDE, "odd", FailureClass::InvalidRequest);
    assert!(world.next(&CLAUDE, "go on").composed.decision().resumes());
    world.failed(&CLAUDE, "odd again", FailureClass::InvalidRequest);
    world.next(&CLAUDE, "go on").starts_fresh("session_retired").says(&TWO_TURNS);
}

#[test]
fn bad_weather_never_ends_a_session() {
    use FailureClass::{Busy, Login, Network, Quota, RateLimit, Server, Setup, StepLimit, Supervisor};
    let mut world = two_turns();
    for class in [Login, Quota, RateLimit, Server, Network, Busy, Setup, StepLimit, Supervisor] {
        world.failed(&CLAUDE, "weather", class);
        world.failed(&CLAUDE, "weather", class);
    }
    world.next(&CLAUDE, "go on").resumes("claude-1").never_says(&TWO_TURNS);
}

#[test]
fn a_success_between_two_failures_starts_the_count_again() {
    let mut world = two_turns();
    world.failed(&CLAUDE, "odd", FailureClass::Other);
    world.ok(&CLAUDE, "fine", "yes");
    world.failed(&CLAUDE, "odd", FailureClass::Other);
    world.next(&CLAUDE, "go on").resumes("claude-1");
}

// -- cut and failed turns ----------------------------------------------------------------------

#[test]
fn a_reworded_prompt_after_ctrl_c_goes_on_in_the_session_and_says_what_was_cut() {
    let mut world = two_turns();
    let cut = world.cancelled(&CLAUDE, "delete the logs", "deleting");
    let sent = world.next(&CLAUDE, "delete only old logs");
    sent.resumes("claude-1").catches_up_on(&[(cut, true)]).never_says(&TWO_TURNS);
    sent.says(&[
        "cut off, commands may have run",
        "you may know",
        "delete the logs",
        "deleting",
        "cut off before it finished",
        "delete only old logs",
    ]);
}

#[test]
fn a_prompt_taken_back_after_ctrl_c_is_not_left_in_a_resumed_memory() {
    let mut world = two_turns();
    let before = world.head();
    world.cancelled(&CLAUDE, "delete the logs", "deleting");
    world.rewind(before);
    let sent = world.next(&CLAUDE, "delete only old logs");
    sent.starts_fresh("history_changed").says(&TWO_TURNS).says(&["delete only old logs"]);
    sent.never_says(&["delete the logs", "deleting", "cut off"]);
}

#[test]
fn the_wording_of_a_cut_prompt_may_be_edited_but_not_in_the_session_that_may_hold_it() {
    let mut world = two_turns();
    let cut = world.cancelled(&CLAUDE, "delete the logs", "deleting");
    world.edit(cut, "delete only old logs");
    let sent = world.next(&CLAUDE, "go on");
    sent.starts_fresh("history_changed").says(&["delete only old logs"]).never_says(&["delete the logs"]);
}

#[test]
fn a_failed_prompt_is_told_again_as_something_the_session_may_know() {
    let mut world = two_turns();
    let failed = world.failed(&CLAUDE, "third thing", FailureClass::Server);
    let sent = world.next(&CLAUDE, "try again");
    sent.resumes("claude-1").catches_up_on(&[(failed, true)]);
    sent.says(&["ended=\"failed\"", "you may know", "third thing", "try again"]).never_says(&TWO_TURNS);
    sent.never_says(&["cut off"]);
}

#[test]
fn retrying_a_failed_turn_hangs_on_it_and_resumes() {
    let mut world = two_turns();
    let failed = world.failed(&CLAUDE, "third thing", FailureClass::Server);
    world.retry(failed);
    assert_eq!(world.head(), Some(failed));
    world.ok(&CLAUDE, "third thing", "done");
    world.next(&CLAUDE, "next").resumes("claude-1").catches_up_on(&[]).is_verbatim("next");
}

#[test]
fn a_session_whose_first_turn_failed_is_told_the_history_once_more() {
    let mut world = two_turns();
    let known = world.path();
    let failed = world.failed(&CODEX, "third thing", FailureClass::Server);
    let sent = world.next(&CODEX, "try again");
    sent.resumes("codex-2").catches_up_on(&[(known[0], true), (known[1], true), (failed, true)]);
    sent.says(&TWO_TURNS).says(&["third thing", "try again"]);
}

#[test]
fn rejoin_killed_before_the_agent_started_leaves_a_resumable_session() {
    let mut world = two_turns();
    let running = world.begin(&CLAUDE, "third thing");
    let sent = world.next(&CLAUDE, "go on");
    sent.resumes("claude-1").catches_up_on(&[(running.turn, true)]).says(&["cut off", "third thing"]);
}

#[test]
fn a_cut_tool_call_is_quoted_so_that_it_is_not_repeated_blindly() {
    let mut world = two_turns();
    let mut running = world.begin(&CLAUDE, "clean up");
    let call = Part::call("c1", "Bash", serde_json::json!({"command": "make clean"}));
    world.answer_parts(&mut running, Kind::Assistant, vec![call]);
    world.end(running, Outcome::Timeout { message: "no sign of life for 10 minutes".into() });
    let sent = world.next(&CODEX, "and now?");
    sent.starts_fresh("no_session").says(&["cut off, commands may have run", "Bash", "make clean"]);
    world.next(&CLAUDE, "and now?").resumes("claude-1").says(&["make clean", "check before you repeat"]);
}

// -- the reason that is shown ------------------------------------------------------------------

fn again(world: &mut World, change: impl FnOnce(&mut Pin), session: &str) {
    let mut pin = world.pins(&CLAUDE).into_iter().find(|pin| pin.session.as_str() == session).unwrap();
    change(&mut pin);
    world.system(None, &System::Pin(Box::new(pin)));
}

#[test]
fn of_several_objections_the_newest_is_shown() {
    let mut world = two_turns();
    world.dir = "/src/other".into();
    world.ok(&CLAUDE, "elsewhere", "yes");
    world.edit(world.path()[0], "the word is PEAR");
    world.dir = crate::world::DIR.into();
    world.next(&CLAUDE, "x").starts_fresh("workdir_changed");
    again(&mut world, |_| {}, "claude-1");
    world.next(&CLAUDE, "x").starts_fresh("history_changed");
}

#[test]
fn the_session_that_knew_everything_up_to_the_head_speaks_before_a_newer_one_of_another_branch() {
    let mut world = World::new();
    let root = world.ok(&CLAUDE, "root", "r");
    let left = world.ok(&CLAUDE, "left", "l");
    world.rewind(Some(root));
    world.ok(&CLAUDE, "right", "r");
    world.rewind(Some(left));
    world.stores.insert("claude-1".into(), Stored::Missing);
    world.next(&CLAUDE, "x").starts_fresh("session_missing").says(&["root", "left"]).never_says(&["right"]);
}

#[test]
fn a_mark_on_nothing_is_the_beginning_of_every_slice() {
    let mut world = two_turns();
    again(&mut world, |pin| (pin.seen, pin.exposed) = (Mark::EMPTY, Mark::EMPTY), "claude-1");
    let sent = world.next(&CLAUDE, "x");
    sent.resumes("claude-1").says(&TWO_TURNS).never_says(&["you may know"]);
}

#[test]
fn a_pin_whose_marks_contradict_each_other_is_not_resumed() {
    let mut world = two_turns();
    let stranger = Mark::EMPTY.push(world.id(), 0);
    again(&mut world, |pin| pin.seen = stranger, "claude-1");
    world.next(&CLAUDE, "x").starts_fresh("history_changed").says(&TWO_TURNS);
}

#[test]
fn a_retired_pin_stays_retired_whatever_the_store_says() {
    let mut world = two_turns();
    again(&mut world, |pin| pin.state = PinState::Retired { why: "replaced".into() }, "claude-1");
    world.next(&CLAUDE, "x").starts_fresh("session_retired").says(&TWO_TURNS);
}
