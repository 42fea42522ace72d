//! Who goes on with a conversation in which the limit of an agent was reached.

use jiff::{Timestamp, Zoned};
use rejoin_core::{Agent, Conversation, Permissions, StandIn, Turn};

use crate::handover::{Asked, Direction};
use crate::{Error, Rejoin, TurnRequest, limit_words};

/// Where nobody told when a limit resets, the first agent is tried again after this long.
const UNTOLD: jiff::SignedDuration = jiff::SignedDuration::from_hours(1);

/// By whom, and in whose stead.
pub(crate) struct WhoGoesOn {
    pub(crate) agent: Option<Agent>,
    pub(crate) stands_in: Option<StandIn>,
    /// What is to be said about it: a stable word and a sentence.
    pub(crate) notice: Option<(String, String)>,
}

/// Who does a turn for which nobody was named: `last`, unless it stands in for another one whose limit is over, and to
/// whom the history may go back.
pub(crate) fn who_goes_on(
    (rejoin, request): (&Rejoin, &TurnRequest),
    conversation: Option<&Conversation>,
    last: Option<Agent>,
    now: &Zoned,
    ask: Option<&mut Asked<'_>>,
) -> Result<WhoGoesOn, Error> {
    if let Some(stands_in) = &request.stands_in {
        let words = limit_words(stands_in.resets.as_deref(), now);
        let agent = request.agent.as_ref().map(|agent| format!("; {agent} goes on")).unwrap_or_default();
        let text = format!("{}: {words}{agent}", stands_in.instead_of);
        return Ok(WhoGoesOn {
            agent: last,
            stands_in: Some(stands_in.clone()),
            notice: Some(("fallback".to_owned(), text)),
        });
    }
    let stayed = |stands_in| WhoGoesOn { agent: last.clone(), stands_in, notice: None };
    if request.agent.is_some() {
        return Ok(stayed(None));
    }
    let Some((turn, agent, stands_in)) = conversation.and_then(last_stand_in) else {
        return Ok(stayed(None));
    };
    // The user means another turn, or the first agent itself was used in its own session; the level of whoever else
    // was used there is still the one of the turn that was cut off.
    let is_another = last.as_ref() != Some(agent);
    if is_another && (request.place.is_some() || last.as_ref() == Some(&stands_in.instead_of)) {
        return Ok(stayed(None));
    }
    // What the user names now counts from now on.
    let ceiling = stands_in.ceiling.filter(|_| request.permissions.is_none());
    let still = StandIn { ceiling, ..stands_in.clone() };
    if request.place.is_some() || !is_over(stands_in, now.timestamp()) {
        return Ok(stayed(Some(still)));
    }
    let first = stands_in.instead_of.clone();
    let agent = last.as_ref().unwrap_or(agent);
    if let Err(why) = rejoin.may_hand_over(agent, &first, Direction::Back, ask)? {
        let text = format!("{agent} still goes on instead of {first}, whose limit should be over: {why}");
        let was_said = turn.receipt.as_ref().is_some_and(|receipt| receipt.warnings.contains(&text));
        let notice = (!was_said).then(|| ("limit_over".to_owned(), text));
        return Ok(WhoGoesOn { notice, ..stayed(Some(still)) });
    }
    let text = match &stands_in.resets {
        Some(_) => format!("{first} goes on again instead of {agent}: its limit was reset"),
        None => format!(
            "{first} goes on again instead of {agent}: it did not tell when its limit resets, so it is tried"
        ),
    };
    Ok(WhoGoesOn { agent: Some(first), stands_in: None, notice: Some(("limit_over".to_owned(), text)) })
}

/// Who did the last turn that rejoin launched, if in another one's stead.
fn last_stand_in(conversation: &Conversation) -> Option<(&Turn, &Agent, &StandIn)> {
    let tree = &conversation.tree;
    let (path, _) = tree.path(tree.head().map(|turn| turn.id));
    let mut launched = path.into_iter().rev().filter_map(|turn| Some((turn, turn.launched()?)));
    let (turn, (agent, stands_in)) = launched.next()?;
    Some((turn, agent, stands_in?))
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

    const CUT: u128 = 2;

    /// A conversation of three turns: the second one is the stand-in's, the third one was taken by `third` outside.
    /// `receipt` tells whether the second one was seen to its end.
    fn conversation(receipt: bool, third: Option<Agent>) -> Conversation {
        use rejoin_core::{Decision, Envelope, Intent, MessageId, Outcome, Receipt, System, TurnId};
        use serde_json::{Value, json};
        let id = |number: u128| MessageId::new(uuid::Uuid::from_u128(number));
        let turn = |number: u128| TurnId::new(uuid::Uuid::from_u128(number));
        let mut conversation = Conversation::default();
        let mut apply = |fields: Value| {
            let mut all = json!({
                "uuid": uuid::Uuid::new_v4(), "sessionId": id(100), "timestamp": "", "cwd": "/p", "version": "0",
                "type": "system",
            });
            all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            let text = all.to_string();
            conversation.apply(&serde_json::from_str::<Envelope<'_>>(&text).unwrap(), 0);
        };
        let system = |number: u128, system: System| {
            let (subtype, payload) = system.write();
            json!({ "parentUuid": id(number), "subtype": subtype, "systemPayload": payload })
        };
        let prompt = |number: u128| {
            let parent = (number > 1).then(|| id(number - 1));
            let message = json!({ "role": "user", "parts": [{ "text": "go" }] });
            json!({ "type": "user", "uuid": id(number), "parentUuid": parent, "message": message })
        };
        let plan = || Decision::Resume { session: "s".into(), catch_up: 0 };
        apply(prompt(1));
        let limited = Outcome::failed(rejoin_core::FailureClass::Quota, "limit");
        let first = Receipt::new(turn(1), Agent::Claude, plan(), limited);
        apply(system(1, System::Receipt(Box::new(first))));
        apply(prompt(CUT));
        let stands_in =
            StandIn { ceiling: Some(Permissions::Edit), ..stand_in(Some("2026-11-18T18:00:00Z")) };
        let intent = Intent {
            agent: Agent::Demo,
            run: 1,
            number: 2,
            plan: plan(),
            model: None,
            session_dir: None,
            bytes: 0,
            stands_in: Some(stands_in.clone()),
            pin: None,
        };
        apply(system(CUT, System::Intent(Box::new(intent))));
        if receipt {
            let mut receipt = Receipt::new(turn(CUT), Agent::Demo, plan(), Outcome::Completed);
            receipt.stands_in = Some(stands_in);
            apply(system(CUT, System::Receipt(Box::new(receipt))));
        }
        if let Some(agent) = third {
            apply(prompt(3));
            let plan = Decision::Adopted { session: "s".into() };
            let receipt = Receipt::new(turn(3), agent, plan, Outcome::Completed);
            apply(system(3, System::Receipt(Box::new(receipt))));
        }
        conversation
    }

    #[test]
    fn what_was_typed_outside_or_cut_leaves_the_ceiling_where_it_was() {
        let ceiling = |conversation: &Conversation| {
            let (_, agent, stands_in) = last_stand_in(conversation)?;
            assert_eq!((agent, &stands_in.instead_of), (&Agent::Demo, &Agent::Claude));
            stands_in.ceiling
        };
        for receipt in [true, false] {
            for third in [None, Some(Agent::Demo), Some(Agent::Codex)] {
                let seen = ceiling(&conversation(receipt, third.clone()));
                assert_eq!(seen, Some(Permissions::Edit), "receipt: {receipt}, third turn: {third:?}");
            }
        }
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
