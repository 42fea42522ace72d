//! The words for what is decided about a turn and what became of it: the same wherever a turn is shown.

use rejoin::{
    Answer, ConversationId, Decision, FailureClass, Outcome, Question, Reason, Receipt, limit_words,
};

use crate::screen::label;
use crate::style;

/// How far a decision is carried out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    /// Nothing is run.
    Would,
    /// The agent has not named its session yet.
    Asked,
    /// The agent has named its session.
    Confirmed,
}

impl Stage {
    /// How far a turn came that is over.
    fn of(receipt: &Receipt) -> Self {
        let named = receipt.session.is_some() || receipt.outcome == Outcome::Completed;
        if named { Self::Confirmed } else { Self::Asked }
    }
}

/// `resumed 4f1c2a9e`, `fresh: history changed since its session saw it`.
pub(crate) fn decision(plan: &Decision, stage: Stage) -> String {
    match plan {
        Decision::Resume { session, .. } => {
            let how = match stage {
                Stage::Would => "would resume",
                Stage::Asked => "resuming",
                Stage::Confirmed => "resumed",
            };
            format!("{how} {}", label(style::short_session(session)))
        }
        Decision::Fresh { why, .. } if stage == Stage::Would => format!("would begin fresh: {}", reason(why)),
        Decision::Fresh { why, .. } => format!("fresh: {}", reason(why)),
        Decision::Adopted { session } => {
            format!("in its own session {}", label(style::short_session(session)))
        }
    }
}

/// The decision of a turn that is over.
pub(crate) fn decision_of(receipt: &Receipt) -> String {
    decision(&receipt.plan, Stage::of(receipt))
}

/// The turn of a step of a flow: `claude · resumed 4f1c2a9e`, `demo · new session`.
pub(crate) fn step(agent: &str, plan: &Decision, stage: Stage) -> String {
    let agent = label(agent);
    match plan {
        Decision::Fresh { why: Reason::FirstTurn, .. } => format!("{agent} · new session"),
        Decision::Fresh { replayed, .. } => {
            format!("{agent} · {}, {} replayed", decision(plan, stage), style::plural(*replayed, "turn"))
        }
        Decision::Resume { .. } | Decision::Adopted { .. } => {
            format!("{agent} · {}", decision(plan, stage))
        }
    }
}

/// A reason with paths as people write them.
pub(crate) fn reason(why: &Reason) -> String {
    let words = match why {
        Reason::WorkdirChanged { was, now } => {
            Reason::WorkdirChanged { was: style::home_path(was), now: style::home_path(now) }.to_string()
        }
        Reason::StoreChanged { was, now } => {
            Reason::StoreChanged { was: style::home_path(was), now: style::home_path(now) }.to_string()
        }
        why => why.to_string(),
    };
    label(&words)
}

/// The words of a reason by its stable name, for those who count them: without what it was about.
pub(crate) fn reason_named(name: &str) -> &str {
    match name {
        "first_turn" => "first turn",
        "forced" => "a fresh session was asked for",
        "ephemeral" => "ephemeral, nothing is kept",
        "disabled" => "resuming is switched off in the configuration",
        "no_session" => "no session of this agent here yet",
        "unsupported" => "this installation cannot resume",
        "history_changed" => "history changed since its session saw it",
        "workdir_changed" => "working directory changed",
        "runtime_changed" => "another program",
        "store_changed" => "sessions are kept elsewhere",
        "scope_changed" => "scope changed",
        "session_missing" => "its stored session is gone or damaged",
        "session_unconfirmed" => "its session was never stored",
        "session_retired" => "its session was given up",
        "session_rejected" => "it refused to resume",
        "unknown" => "a reason this version does not know",
        newer => newer,
    }
}

/// A turn as it begins, or as it would.
#[derive(Clone)]
pub(crate) struct Headline {
    pub(crate) agent: String,
    pub(crate) plan: Decision,
    pub(crate) number: usize,
    pub(crate) bytes: usize,
    pub(crate) conversation: Option<ConversationId>,
    /// The conversation has other turns, on whatever branch.
    pub(crate) others: bool,
}

impl Headline {
    /// Whether it makes a difference if there are other turns: to find out, the whole journal may have to be read.
    pub(crate) fn tells_of_others(plan: &Decision) -> bool {
        matches!(plan, Decision::Fresh { why: Reason::FirstTurn, .. })
    }

    /// `● claude · resumed 4f1c2a9e · turn 4 · 10 bytes sent`
    pub(crate) fn line(&self, stage: Stage) -> String {
        let (agent, bytes) = (label(&self.agent), style::bytes(self.bytes));
        let would = stage == Stage::Would;
        let sent = if would { format!("{bytes} to send") } else { format!("{bytes} sent") };
        let decision = decision(&self.plan, stage);
        match &self.plan {
            Decision::Resume { catch_up, .. } => {
                let missed = style::plural(*catch_up, "turn");
                let told = match (*catch_up, would) {
                    (0, _) => String::new(),
                    (_, true) => format!(" · would tell it {missed} it missed"),
                    (_, false) => format!(" · told {missed} it missed"),
                };
                format!("● {agent} · {decision} · turn {}{told} · {sent}", self.number)
            }
            Decision::Fresh { why: Reason::FirstTurn, .. } => {
                // The head stood before its first turn.
                let begins = match self.conversation {
                    Some(id) if self.others => format!("conversation {} from its beginning", id.short()),
                    Some(_) if would => "a new conversation".to_owned(),
                    Some(id) => format!("new conversation {}", id.short()),
                    None => return format!("○ {agent} · {sent}"),
                };
                format!("○ {agent} · {}{begins} · {sent}", if would { "would begin " } else { "" })
            }
            Decision::Fresh { replayed: 0, .. } => format!("○ {agent} · {decision} · {sent}"),
            Decision::Fresh { replayed, .. } => {
                let replayed = style::plural(*replayed, "turn");
                let how = if would { "to replay" } else { "replayed" };
                format!("○ {agent} · {decision} · {replayed} {how}, {bytes}")
            }
            Decision::Adopted { .. } => format!("◇ {agent} · {decision} · turn {}", self.number),
        }
    }
}

/// `✓ 12.4 s · 1,204 in (11,980 cached) · 310 out · $0.021`; of a failure, all of the agent's words.
pub(crate) fn closing_line(receipt: &Receipt) -> String {
    let mut parts = vec![match &receipt.outcome {
        Outcome::Completed => format!("✓ {}", style::elapsed(receipt.milliseconds)),
        Outcome::Failed { class: FailureClass::Quota, message } => {
            failure(&limit_words(receipt.resets.as_deref(), &jiff::Zoned::now()), message)
        }
        Outcome::Failed { class, message } => failure(class.words(), message),
        Outcome::Timeout { message } => format!("✗ timeout: {message}"),
        Outcome::Cancelled => "■ cancelled".to_owned(),
    }];
    if let Some(usage) = receipt.usage.filter(|usage| !usage.is_zero()) {
        let cached = match usage.cached {
            0 => String::new(),
            cached => format!(" ({} cached)", style::number(cached)),
        };
        parts.push(format!("{} in{cached}", style::number(usage.input)));
        parts.push(format!("{} out", style::number(usage.output)));
    }
    if let Some(cost) = receipt.cost.filter(|cost| *cost > 0.0) {
        parts.push(format!("${cost:.3}"));
    }
    parts.join(" · ")
}

/// `✗ failed: not logged in · Invalid API key`, nothing of it twice.
fn failure(kind: &str, message: &str) -> String {
    let message = message.trim();
    if message.is_empty() || message.to_lowercase().starts_with(&kind.to_lowercase()) {
        let words = if message.is_empty() { kind } else { message };
        return format!("✗ failed: {words}");
    }
    format!("✗ failed: {kind} · {message}")
}

/// `answered: coffee`
pub(crate) fn answer(question: &Question, answer: &Answer) -> String {
    match answer {
        Answer::Chosen(ids) => {
            let chosen = question.options.iter().filter(|option| ids.contains(&option.id));
            let labels: Vec<String> = chosen.map(|option| style::one_line(&option.label, 60)).collect();
            format!("answered: {}", labels.join(", "))
        }
        Answer::Text(text) => format!("answered: {}", style::one_line(text, 60)),
        Answer::Declined => "declined".to_owned(),
    }
}

/// How to go on after a turn that was not completed, as it can be copied.
pub(crate) fn go_on(receipt: &Receipt) -> Option<String> {
    let id = receipt.conversation.filter(|_| receipt.outcome != Outcome::Completed)?;
    Some(format!("what was said is kept, go on with `rejoin run -r {} \"go on\"`", id.short()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headline(plan: Decision) -> Headline {
        let (agent, conversation) = ("demo".into(), Some(ConversationId::new(uuid::Uuid::nil())));
        Headline { agent, plan, number: 4, bytes: 10, conversation, others: false }
    }

    #[test]
    fn a_resume_is_told_as_far_as_it_came() {
        let line = headline(Decision::Resume { session: "4f1c2a9e-1".into(), catch_up: 1 });
        let told = "told 1 turn it missed · 10 bytes sent";
        assert_eq!(line.line(Stage::Asked), format!("● demo · resuming 4f1c2a9e · turn 4 · {told}"));
        assert_eq!(line.line(Stage::Confirmed), format!("● demo · resumed 4f1c2a9e · turn 4 · {told}"));
        assert_eq!(
            line.line(Stage::Would),
            "● demo · would resume 4f1c2a9e · turn 4 · would tell it 1 turn it missed · 10 bytes to send"
        );
    }

    #[test]
    fn a_fresh_session_has_its_reason_in_the_same_words_everywhere() {
        let line = headline(Decision::Fresh { why: Reason::NoSession, replayed: 2 });
        let words = "fresh: no session of this agent here yet";
        assert_eq!(line.line(Stage::Asked), format!("○ demo · {words} · 2 turns replayed, 10 bytes"));
        assert_eq!(
            line.line(Stage::Would),
            format!("○ demo · would begin {words} · 2 turns to replay, 10 bytes")
        );
        assert_eq!(decision(&line.plan, Stage::Confirmed), words);
    }

    #[test]
    fn reasons_that_are_counted_have_the_words_of_those_that_are_told() {
        let was = || "a".to_owned();
        for reason in [
            Reason::FirstTurn,
            Reason::Forced,
            Reason::Ephemeral,
            Reason::Disabled,
            Reason::NoSession,
            Reason::Unsupported,
            Reason::HistoryChanged,
            Reason::WorkdirChanged { was: was(), now: was() },
            Reason::RuntimeChanged { was: was(), now: was() },
            Reason::StoreChanged { was: was(), now: was() },
            Reason::ScopeChanged,
            Reason::Unknown,
        ] {
            assert!(reason.to_string().starts_with(reason_named(reason.name())), "{reason}");
        }
    }

    #[test]
    fn a_step_of_a_flow_is_told_in_the_same_words() {
        let resume = Decision::Resume { session: "4f1c2a9e-1".into(), catch_up: 0 };
        assert_eq!(step("demo", &resume, Stage::Asked), "demo · resuming 4f1c2a9e");
        assert_eq!(step("demo", &resume, Stage::Confirmed), "demo · resumed 4f1c2a9e");
        let first = Decision::Fresh { why: Reason::FirstTurn, replayed: 0 };
        assert_eq!(step("demo", &first, Stage::Asked), "demo · new session");
        let fresh = Decision::Fresh { why: Reason::NoSession, replayed: 1 };
        let words = "fresh: no session of this agent here yet, 1 turn replayed";
        assert_eq!(step("demo2", &fresh, Stage::Confirmed), format!("demo2 · {words}"));
    }

    #[test]
    fn a_failure_is_told_once_and_uncut() {
        let long = "word ".repeat(200);
        assert_eq!(failure("not logged in", &long), format!("✗ failed: not logged in · {}", long.trim()));
        assert_eq!(failure("not logged in", "Not logged in. Log in."), "✗ failed: Not logged in. Log in.");
        assert_eq!(failure("the agent failed", ""), "✗ failed: the agent failed");
    }
}
