//! What counts of a conversation from elsewhere.

use std::collections::BTreeMap;

use rejoin_core::{
    Agent, Conversation, ConversationInfo, Limit, LimitedBy, Origin, Permissions, SaidHere, Scope, Settings,
    not_counted,
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
    let ours = SaidHere::of_ours(&conversation(), "home");
    let settings = Settings::of(&conversation(), &elsewhere(ours.clone()), &Agent::Claude);
    assert_eq!(settings, Settings::of(&conversation(), &Origin::Here, &Agent::Claude));
    assert_eq!(not_counted(&conversation(), &elsewhere(ours), None), None);
}

#[test]
fn what_is_added_later_does_not_take_the_place_of_what_was_said() {
    let mut before = conversation();
    before.ceiling = Some(Permissions::Edit);
    let said = SaidHere::of_ours(&before, "home");
    let mut after = conversation();
    after.info.as_mut().unwrap().dir = "/moved".into();
    after.models.insert(Agent::Claude, "another".into());
    let settings = Settings::of(&after, &elsewhere(said), &Agent::Claude);
    assert_eq!(settings.dir.as_deref(), Some("/etc"));
    assert_eq!(Permissions::in_force(None, &settings.limits), Ok(Permissions::Edit));
    assert_eq!((settings.model, settings.session_dir.as_deref()), (None, Some("dear")));
}
