use rejoin_core::{AnsweredBy, OptionKind, Question, QuestionAnswer};

/// An answer to a question of the agent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// These of the offered options, by their ids: one, or several where several may be chosen.
    Chosen(Vec<String>),
    /// Words of one's own.
    Text(String),
    /// Nobody is there to answer.
    Declined,
}

impl Answer {
    /// One of the options, by its id.
    pub fn option(id: impl Into<String>) -> Self {
        Self::Chosen(vec![id.into()])
    }

    /// What somebody typed: the number or the label of an option, several of them with commas, yes or no where
    /// leave is asked for, or other words; nothing declines.
    pub fn typed(question: &Question, line: &str) -> Self {
        let line = line.trim();
        if line.is_empty() {
            return Self::Declined;
        }
        let parts = || line.split(',').map(|part| option(question, part.trim()));
        match option(question, line).map(|id| vec![id]).or_else(|| parts().collect()) {
            Some(ids) => Self::Chosen(ids),
            None => Self::Text(line.to_owned()),
        }
    }

    /// The same answer by name: words that are the label of an option mean that option.
    #[must_use]
    pub fn resolved(self, question: &Question) -> Self {
        match self {
            Self::Text(text) => match labelled(question, &text) {
                Some(id) => Self::option(id),
                None => Self::Text(text),
            },
            other => other,
        }
    }

    /// The answer as it is written down.
    pub fn record(&self, question: &Question, by: AnsweredBy) -> QuestionAnswer {
        match self {
            Self::Chosen(ids) => question.chosen(by, ids),
            Self::Text(text) => question.answered(by, Some(text)),
            Self::Declined => question.answered(by, None),
        }
    }

    /// The answer as words, for agents that want no more: the labels of what was chosen, or the text. What
    /// was never offered is no answer.
    pub(crate) fn words(&self, question: &Question) -> Option<String> {
        let label = |id: &String| {
            let option = question.options.iter().find(|option| option.id == *id)?;
            Some(option.label.as_str())
        };
        match self {
            Self::Chosen(ids) => {
                let labels: Vec<&str> = ids.iter().filter_map(label).collect();
                (!labels.is_empty()).then(|| labels.join(", "))
            }
            Self::Text(text) => Some(text.clone()),
            Self::Declined => None,
        }
    }
}

/// An answer that was written down.
impl From<QuestionAnswer> for Answer {
    fn from(answer: QuestionAnswer) -> Self {
        let chosen: Vec<String> = answer.option.into_iter().chain(answer.options).collect();
        match answer.text {
            _ if !chosen.is_empty() => Self::Chosen(chosen),
            Some(text) => Self::Text(text),
            None => Self::Declined,
        }
    }
}

fn labelled(question: &Question, text: &str) -> Option<String> {
    question.options.iter().find(|option| option.label == text).map(|option| option.id.clone())
}

fn option(question: &Question, text: &str) -> Option<String> {
    let by_number = || {
        let number = text.parse::<usize>().ok()?;
        question.options.get(number.checked_sub(1)?)
    };
    let by_kind = || {
        let kind = match text.to_ascii_lowercase().as_str() {
            "y" | "yes" => OptionKind::AllowOnce,
            "n" | "no" => OptionKind::RejectOnce,
            _ => return None,
        };
        question.options.iter().find(|option| option.kind == kind)
    };
    let by_label = || question.options.iter().find(|option| option.label.eq_ignore_ascii_case(text));
    let id =
        labelled(question, text).or_else(|| Some(by_number().or_else(by_label).or_else(by_kind)?.id.clone()));
    id.filter(|_| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use rejoin_core::QuestionOption;

    use super::*;

    fn question(options: &[(&str, &str, OptionKind)]) -> Question {
        let option = |(id, label, kind): &(&str, &str, OptionKind)| QuestionOption {
            id: (*id).into(),
            label: (*label).into(),
            kind: *kind,
            ..QuestionOption::default()
        };
        Question { options: options.iter().map(option).collect(), ..Question::default() }
    }

    #[test]
    fn what_is_typed_names_an_option_by_number_or_label() {
        let sizes = [("s", "S"), ("m", "M"), ("more", "2 or more")]
            .map(|(id, label)| (id, label, OptionKind::Answer));
        let sizes = question(&sizes);
        for (line, ids) in [
            ("1", &["s"][..]),
            ("m", &["m"]),
            (" 2 or more ", &["more"]),
            ("1, M", &["s", "m"]),
            ("S,2", &["s", "m"]),
        ] {
            let ids = ids.iter().map(|id| (*id).to_owned()).collect();
            assert_eq!(Answer::typed(&sizes, line), Answer::Chosen(ids), "{line}");
        }
        for words in ["4", "0", "XL", "S, XL", "yes", ","] {
            assert_eq!(Answer::typed(&sizes, words), Answer::Text(words.into()));
        }
        assert_eq!(Answer::typed(&sizes, "  "), Answer::Declined);
    }

    #[test]
    fn yes_and_no_choose_where_leave_is_asked_for() {
        let leave = question(&[("a", "allow", OptionKind::AllowOnce), ("d", "deny", OptionKind::RejectOnce)]);
        assert_eq!(Answer::typed(&leave, "Yes"), Answer::option("a"));
        assert_eq!(Answer::typed(&leave, "n"), Answer::option("d"));
        assert_eq!(Answer::typed(&leave, "use git instead"), Answer::Text("use git instead".into()));
    }

    #[test]
    fn a_label_given_as_text_is_the_option() {
        let sizes = question(&[("s", "S", OptionKind::Answer)]);
        assert_eq!(Answer::Text("S".into()).resolved(&sizes), Answer::option("s"));
        assert_eq!(Answer::Text("s".into()).resolved(&sizes), Answer::Text("s".into()));
        assert_eq!(Answer::Chosen(vec!["s".into(), "x".into()]).words(&sizes).as_deref(), Some("S"));
        assert_eq!(Answer::option("x").words(&sizes), None);
    }
}
