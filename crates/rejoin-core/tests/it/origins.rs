//! What counts of a conversation from elsewhere.

use std::collections::BTreeMap;

use rejoin_core::{
    Agent, Conversation, ConversationInfo, Limit, LimitedBy, Mark, Origin, Permissions, Pin, PinState,
    SaidHere, Scope, SessionId, Settings, TurnId, not_counted, pins_to_weigh,
};

fn conversation() -> Conversation {
    let settings = BTreeMap::from([(Agent::Claude, "dear".to_owned())]);
    let mut conversation = Conversation::default();
    conversation.info =
        Some(ConversationInfo { schema: 1, project: "/p".into(), dir: "/etc".into(), scope: Scope::Shared });
    conversation.ceiling = Some(Permissions::Full);
    conversation.models = settings.clone();
    conversation.session_dirs = settings;
    conversation
}

fn elsewhere(said: SaidHere) -> Origin {
    Origin::Elsewhere(said)
}

fn limit(level: Permissions, by: LimitedBy) -> Limit {
    Limit { level, by }
}

#[test]
fn ours_counts_as_it_stands() {
    let settings = Settings::of(&conversation(), &Origin::Here, &Agent::Claude);
    let expected = Settings {
        dir: Some("/etc".into()),
        limits: vec![limit(Permissions::Full, LimitedBy::Conversation)],
        model: Some("dear".into()),
        session_dir: Some("dear".into()),
    };
    assert_eq!(settings, expected);
    assert_eq!(not_counted(&conversation(), &Origin::Here, None), None);
}

#[test]
fn of_one_from_elsewhere_nothing_counts_but_its_level_as_a_limit() {
    let unsaid = elsewhere(SaidHere::default());
    let settings = Settings::of(&conversation(), &unsaid, &Agent::Claude);
    let limits = vec![limit(Permissions::Full, LimitedBy::Import)];
    assert_eq!(settings, Settings { limits, ..Settings::default() });
    let told = not_counted(&conversation(), &unsaid, None).unwrap();
    for word in
        ["\"/etc\"", "level full", "\"dear\"", "another home", "--cwd, --permissions, --model, --session-dir"]
    {
        assert!(told.contains(word), "{word}: {told}");
    }
    assert!(!not_counted(&conversation(), &unsaid, Some(&Agent::Codex)).unwrap().contains("dear"));
}

#[test]
fn what_is_said_here_counts_and_is_told_no_more() {
    let ours = SaidHere::before_more(&conversation(), &Origin::Here, "home".into());
    let settings = Settings::of(&conversation(), &elsewhere(ours.clone()), &Agent::Claude);
    assert_eq!(settings, Settings::of(&conversation(), &Origin::Here, &Agent::Claude));
    assert_eq!(not_counted(&conversation(), &elsewhere(ours), None), None);
}

#[test]
fn what_is_added_later_does_not_take_the_place_of_what_was_said() {
    let mut before = conversation();
    before.ceiling = Some(Permissions::Edit);
    let said = SaidHere::before_more(&before, &Origin::Here, "home".into());
    let mut after = conversation();
    after.info.as_mut().unwrap().dir = "/moved".into();
    after.models.insert(Agent::Claude, "another".into());
    let settings = Settings::of(&after, &elsewhere(said), &Agent::Claude);
    assert_eq!(settings.dir.as_deref(), Some("/etc"));
    assert_eq!(Permissions::in_force(None, &settings.limits), Ok(Permissions::Edit));
    assert_eq!((settings.model, settings.session_dir.as_deref()), (None, Some("dear")));
}

fn pin(session: &str, home: &str, seen: Mark) -> Pin {
    Pin {
        session: SessionId::new(Agent::Claude, session).unwrap(),
        scope: Scope::Shared,
        dir: "/p".into(),
        store: "/s".into(),
        product: "claude".into(),
        home: home.into(),
        state: PinState::Live,
        seen,
        exposed: seen,
        witness: None,
        at_least: None,
        lossy: false,
        total: None,
        failing: None,
    }
}

/// Pins leave with every export: who sends a longer version back can write any, of any name that stands in it.
#[test]
fn of_pins_only_those_count_that_were_made_here() {
    let weigh = |pins: &[Pin], said: &SaidHere| {
        let mut conversation = conversation();
        conversation.pins = pins.iter().cloned().collect();
        let pins = pins_to_weigh(&conversation, &elsewhere(said.clone()), &Agent::Claude);
        let (ours, brought): (Vec<_>, Vec<_>) = pins.into_iter().partition(|pin| pin.home == said.home);
        let name = |pin: Pin| (pin.session.as_str().to_owned(), pin.seen.turns());
        (ours.into_iter().map(name).collect::<Vec<_>>(), brought.len())
    };
    let one_turn = Mark::EMPTY.push(TurnId::new(uuid::Uuid::from_u128(1)), 0);
    let two_turns = one_turn.push(TurnId::new(uuid::Uuid::from_u128(2)), 0);
    let mine = |turns: usize| vec![("mine".to_owned(), turns)];
    let mut ours = conversation();
    ours.pins = [pin("mine", "this", one_turn)].into_iter().collect();
    let first = SaidHere::before_more(&ours, &Origin::Here, "first".into());
    // Forged: a pin on another session, and one of ours that pretends to have seen more.
    let forged = [pin("mine", "this", two_turns), pin("another", "this", two_turns)];
    assert_eq!(weigh(&forged, &first), (mine(1), 1));
    // A turn here moves it.
    let moved = [pin("another", "this", two_turns), pin("mine", "first", two_turns)];
    assert_eq!(weigh(&moved, &first), (mine(2), 1));
    // Its name is known to whoever got the journal then; not that of the next import.
    ours.pins = moved.into_iter().collect();
    let second = SaidHere::before_more(&ours, &elsewhere(first), "second".into());
    let forged = [pin("mine", "first", one_turn), pin("another", "first", two_turns)];
    assert_eq!(weigh(&forged, &second), (mine(2), 1));
}
