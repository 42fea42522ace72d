//! Who goes on with a conversation in which the limit of an agent was reached.

use jiff::{Timestamp, Zoned};
use rejoin_core::{Agent, Conversation, Permissions, StandIn};

use crate::{TurnRequest, limit_words};

/// Where nobody told when a limit resets, the first agent is tried again after this long.
const UNTOLD: jiff::SignedDuration = jiff::SignedDuration::from_hours(1);

/// By whom, and in whose stead.
pub(crate) struct WhoGoesOn {
    pub(crate) agent: Option<Agent>,
    pub(crate) stands_in: Option<StandIn>,
    /// What is to be said about it: a stable word and a sentence.
    pub(crate) notice: Option<(String, String)>,
}

/// Who does a turn for which nobody was named: `last`, unless it stands in for another one whose limit is over.
pub(crate) fn who_goes_on(
    request: &TurnRequest,
    conversation: Option<&Conversation>,
    last: Option<Agent>,
    now: &Zoned,
) -> WhoGoesOn {
    if let Some(stands_in) = &request.stands_in {
        let words = limit_words(stands_in.resets.as_deref(), now);
        let agent = request.agent.as_ref().map(|agent| format!("; {agent} goes on")).unwrap_or_default();
        let text = format!("{}: {words}{agent}", stands_in.instead_of);
        return WhoGoesOn {
            agent: last,
            stands_in: Some(stands_in.clone()),
            notice: Some(("fallback".to_owned(), text)),
        };
    }
    let stayed = |stands_in| WhoGoesOn { agent: last.clone(), stands_in, notice: None };
    if request.agent.is_some() {
        return stayed(None);
    }
    let Some((agent, stands_in)) = conversation.and_then(last_stand_in) else { return stayed(None) };
    if last.as_ref() != Some(agent) {
        return stayed(None);
    }
    if request.place.is_some() || !is_over(stands_in, now.timestamp()) {
        // What the user names now counts from now on.
        let ceiling = stands_in.ceiling.filter(|_| request.permissions.is_none());
        return stayed(Some(StandIn { ceiling, ..stands_in.clone() }));
    }
    let first = stands_in.instead_of.clone();
    let text = match &stands_in.resets {
        Some(_) => format!("{first} goes on again instead of {agent}: its limit was reset"),
        None => format!(
            "{first} goes on again instead of {agent}: it did not tell when its limit resets, so it is tried"
        ),
    };
    WhoGoesOn { agent: Some(first), stands_in: None, notice: Some(("limit_over".to_owned(), text)) }
}

/// Who did the last turn that was seen to its end, if in another one's stead.
fn last_stand_in(conversation: &Conversation) -> Option<(&Agent, &StandIn)> {
    let tree = &conversation.tree;
    let (path, _) = tree.path(tree.head().map(|turn| turn.id));
    let receipt = path.into_iter().rev().find_map(|turn| turn.receipt.as_ref())?;
    Some((&receipt.agent, receipt.stands_in.as_ref()?))
}

fn is_over(stands_in: &StandIn, now: Timestamp) -> bool {
    let told = stands_in.resets.as_ref().and_then(|resets| resets.parse::<Timestamp>().ok());
    let tried_again =
        || stands_in.since.parse::<Timestamp>().ok().and_then(|since| since.checked_add(UNTOLD).ok());
    told.or_else(tried_again).is_none_or(|at| at <= now)
}

/// The narrower of two ceilings; of two that cannot be compared, the narrowest there is.
pub(crate) fn narrower(one: Option<Permissions>, other: Option<Permissions>) -> Option<Permissions> {
    match (one, other) {
        (Some(one), Some(other)) if one.fits_under(other) => Some(one),
        (Some(one), Some(other)) if other.fits_under(one) => Some(other),
        (Some(_), Some(_)) => Some(Permissions::Read),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stand_in(resets: Option<&str>) -> StandIn {
        StandIn {
            instead_of: Agent::Claude,
            turn: rejoin_core::TurnId::new(uuid::Uuid::nil()),
            since: "2026-11-18T15:58:00Z".into(),
            resets: resets.map(str::to_owned),
            ceiling: None,
        }
    }

    #[test]
    fn a_limit_is_over_when_it_was_told_to_be_or_after_an_hour() {
        let over = |resets, now: &str| is_over(&stand_in(resets), now.parse().unwrap());
        assert!(!over(Some("2026-11-18T18:00:00Z"), "2026-11-18T17:59:59Z"));
        assert!(over(Some("2026-11-18T18:00:00Z"), "2026-11-18T18:00:00Z"));
        assert!(!over(None, "2026-11-18T16:57:00Z"));
        assert!(over(None, "2026-11-18T16:58:00Z"));
        assert!(!over(Some("nonsense"), "2026-11-18T16:57:00Z"), "as if it was not told");
    }

    #[test]
    fn of_two_ceilings_the_narrower_one_holds() {
        use Permissions::{Agent, Edit, Full, Read};
        assert_eq!(narrower(None, Some(Edit)), Some(Edit));
        assert_eq!(narrower(Some(Full), Some(Edit)), Some(Edit));
        assert_eq!(narrower(Some(Read), Some(Edit)), Some(Read));
        assert_eq!(narrower(Some(Agent), Some(Edit)), Some(Read), "nobody knows which is narrower");
        assert_eq!(narrower(None, None), None);
    }
}
