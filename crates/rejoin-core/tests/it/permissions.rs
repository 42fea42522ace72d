//! What an agent may do: the narrowest of all who have a say.

use proptest::prelude::*;
use rejoin_core::Permissions::{Agent, Edit, Full, Read};
use rejoin_core::{Limit, LimitedBy, Permissions};

fn limit(level: Permissions, by: LimitedBy) -> Limit {
    Limit { level, by }
}

fn said(level: Permissions) -> Limit {
    limit(level, LimitedBy::Conversation)
}

fn configured(level: Permissions) -> Limit {
    limit(level, LimitedBy::Configuration)
}

fn project(level: Permissions) -> Limit {
    limit(level, LimitedBy::Project("/p/.rejoin.toml".into()))
}

fn brought(level: Permissions) -> Limit {
    limit(level, LimitedBy::Import)
}

#[test]
fn the_narrowest_of_all_who_have_a_say_is_in_force() {
    for (limits, expected) in [
        (vec![], Some(Agent)),
        (vec![said(Edit)], Some(Edit)),
        (vec![said(Full)], Some(Full)),
        (vec![configured(Full)], Some(Full)),
        (vec![said(Full), configured(Read)], Some(Read)),
        (vec![said(Read), configured(Full)], Some(Read)),
        (vec![said(Full), configured(Agent)], Some(Agent)),
        (vec![said(Full), project(Edit)], Some(Edit)),
        (vec![said(Edit), configured(Full), project(Read)], Some(Read)),
        (vec![configured(Edit), project(Edit), project(Read)], Some(Read)),
        // What was brought along narrows, and is nobody's choice.
        (vec![brought(Full)], Some(Agent)),
        (vec![brought(Read)], Some(Read)),
        (vec![brought(Edit), configured(Full)], Some(Edit)),
        (vec![brought(Full), configured(Edit)], Some(Edit)),
        (vec![brought(Full), said(Edit)], Some(Edit)),
        (vec![brought(Read), said(Full)], Some(Read)),
        // Two that cannot be compared.
        (vec![said(Edit), configured(Agent)], None),
        (vec![said(Agent), configured(Edit)], None),
        (vec![brought(Edit)], None),
        (vec![project(Edit)], None),
        (vec![project(Edit), configured(Agent)], None),
        (vec![project(Read), configured(Agent), said(Edit)], Some(Read)),
    ] {
        assert_eq!(Permissions::in_force(None, &limits).ok(), expected, "{limits:?}");
        assert_eq!(Permissions::in_force(Some(Full), &limits).ok(), Some(Full), "named now: {limits:?}");
    }
}

#[test]
fn two_that_cannot_be_compared_are_named_with_the_way_out() {
    let error = Permissions::in_force(None, &[said(Edit), configured(Agent)]).unwrap_err().to_string();
    for words in [
        "the ceiling of the conversation says \"edit\"",
        "your configuration says \"agent\"",
        "--permissions",
    ] {
        assert!(error.contains(words), "{words}: {error}");
    }
}

#[test]
fn a_callers_ceiling_stands_in_for_the_agents_own_settings_and_never_widens() {
    let ceiling = |level| limit(level, LimitedBy::Caller);
    for (limits, expected) in [
        (vec![ceiling(Edit)], Some(Edit)),
        (vec![ceiling(Read)], Some(Read)),
        (vec![ceiling(Full)], Some(Agent)),
        (vec![ceiling(Agent)], Some(Agent)),
        (vec![ceiling(Edit), said(Full)], Some(Edit)),
        (vec![ceiling(Edit), said(Read)], Some(Read)),
        (vec![ceiling(Edit), configured(Agent)], None),
    ] {
        assert_eq!(Permissions::in_force(None, &limits).ok(), expected, "{limits:?}");
    }
}

fn any_limit() -> impl Strategy<Value = Limit> {
    let level = prop::sample::select(vec![Read, Edit, Full, Agent]);
    let by = prop::sample::select(vec![
        LimitedBy::Conversation,
        LimitedBy::Import,
        LimitedBy::Configuration,
        LimitedBy::Project("/p".into()),
        LimitedBy::Caller,
    ]);
    (level, by).prop_map(|(level, by)| Limit { level, by })
}

proptest! {
    #[test]
    fn nobody_is_exceeded_and_nobody_more_widens(limits in prop::collection::vec(any_limit(), 0..6), more in any_limit()) {
        let now = Permissions::in_force(None, &limits);
        if let Ok(level) = &now {
            prop_assert!(limits.iter().all(|limit| level.fits_under(limit.level)));
        }
        if limits.iter().any(|limit| limit.level == Read) {
            prop_assert_eq!(&now, &Ok(Read));
        }
        let mut all = limits;
        // A choice of the user's takes the place of the agent's own settings; everything else adds to them.
        let chosen =
            matches!(more.by, LimitedBy::Conversation | LimitedBy::Configuration | LimitedBy::Caller);
        all.push(more);
        if let (Ok(before), Ok(after), false) = (now, Permissions::in_force(None, &all), chosen) {
            prop_assert!(after.fits_under(before));
        }
    }
}
