use serde::{Deserialize, Serialize};

use crate::System;

/// A question of the agent in the middle of a turn.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Question {
    /// The agent's id of the question.
    pub id: String,
    /// What it wants to know.
    pub text: String,
    /// What it offers; empty means free text.
    #[serde(default, alias = "choices")]
    pub options: Vec<QuestionOption>,
    /// Several of the options may be chosen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub multiple: bool,
    /// Words of one's own are an answer, too. Where leave is asked for, they refuse it and say why.
    #[serde(default = "yes")]
    pub free_text: bool,
    /// The tool it asks leave for, if that is the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The agent's id of the call it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// What the agent asks with this and other questions at once: they have the same one, are put one after the
    /// other, and are answered to the agent together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
}

/// What older questions did not say: words were always taken.
fn yes() -> bool {
    true
}

impl Default for Question {
    fn default() -> Self {
        Self {
            id: String::new(),
            text: String::new(),
            options: Vec::new(),
            multiple: false,
            free_text: true,
            tool: None,
            call: None,
            request: None,
        }
    }
}

/// One offered answer.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QuestionOption {
    /// Names it within its question.
    #[serde(default)]
    pub id: String,
    /// What to answer with.
    pub label: String,
    /// What it means.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// What choosing it does.
    #[serde(default, skip_serializing_if = "OptionKind::is_answer")]
    pub kind: OptionKind,
}

/// What choosing an answer does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum OptionKind {
    /// It lets the agent do this, once.
    AllowOnce,
    /// It lets the agent do this from now on.
    AllowAlways,
    /// It keeps the agent from doing this, once.
    RejectOnce,
    /// It keeps the agent from doing this from now on.
    RejectAlways,
    /// It answers the question, nothing else.
    #[default]
    #[serde(other)]
    Answer,
}

impl OptionKind {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
    fn is_answer(&self) -> bool {
        *self == Self::Answer
    }
}

/// An answer that was given. Without option, options and text the question was declined.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QuestionAnswer {
    /// The agent's id of the question.
    pub question: String,
    /// By whom.
    pub by: AnsweredBy,
    /// Their name, where it is known: that of the token somebody answered with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// Which option, by its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<String>,
    /// Which options, by their ids, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// The words, if it is none of the options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Who answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AnsweredBy {
    /// Whoever watches the turn.
    User,
    /// rejoin, because nobody was there to be asked, or nobody answered in time.
    Nobody,
    /// Somebody a newer version knows.
    #[serde(other)]
    Unknown,
}

impl Question {
    /// An answer in words: one of the options, by its label, or free text; `None` declines.
    pub fn answered(&self, by: AnsweredBy, words: Option<&str>) -> QuestionAnswer {
        let chosen = words.and_then(|words| self.options.iter().find(|option| option.label == words));
        QuestionAnswer {
            question: self.id.clone(),
            by,
            who: None,
            option: chosen.map(|option| option.id.clone()),
            options: Vec::new(),
            text: words.filter(|_| chosen.is_none()).map(str::to_owned),
        }
    }

    /// An answer by the ids of what was chosen: one, or several.
    pub fn chosen(&self, by: AnsweredBy, ids: &[String]) -> QuestionAnswer {
        let (option, options) = match ids {
            [one] => (Some(one.clone()), Vec::new()),
            several => (None, several.to_vec()),
        };
        QuestionAnswer { question: self.id.clone(), by, who: None, option, options, text: None }
    }

    /// Whether that can be an answer: what was offered and no more than may be chosen, or words where words are
    /// taken. To decline is always one.
    pub fn check(&self, answer: &QuestionAnswer) -> Result<(), UnfitAnswer> {
        let offered = || self.options.iter().map(|option| option.id.as_str()).collect::<Vec<_>>().join(", ");
        let chosen = || answer.option.iter().chain(&answer.options);
        if let Some(id) = chosen().find(|id| self.options.iter().all(|option| option.id != **id)) {
            return Err(UnfitAnswer::NotOffered { id: id.clone(), offered: offered() });
        }
        match (chosen().count(), &answer.text) {
            (1.., Some(_)) => Err(UnfitAnswer::OptionsAndText),
            (2.., None) if !self.multiple => Err(UnfitAnswer::OneOnly),
            (0, Some(_)) if !self.free_text => Err(UnfitAnswer::NoText { offered: offered() }),
            _ => Ok(()),
        }
    }
}

/// Why something is no answer to a question.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum UnfitAnswer {
    /// An option that there is not.
    #[error("{id:?} is no option of this question; it has {offered:?}")]
    NotOffered {
        /// The id that was given.
        id: String,
        /// The ids of what there is.
        offered: String,
    },
    /// Several options where one may be chosen.
    #[error("only one option of this question may be chosen")]
    OneOnly,
    /// Words where none are taken.
    #[error("this question takes no words, only one of its options: {offered}")]
    NoText {
        /// The ids of what there is.
        offered: String,
    },
    /// More than the agent can be told.
    #[error("an answer is either options or words, not both")]
    OptionsAndText,
}

/// A question and what became of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AskedQuestion {
    /// The question.
    pub question: Question,
    /// What became of it.
    pub state: QuestionState,
}

/// What became of a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum QuestionState {
    /// The agent waits.
    Open,
    /// It was answered.
    Answered(QuestionAnswer),
    /// The agent took it back.
    Withdrawn,
    /// The turn ended, or rejoin did, before anybody answered. Nothing is written for it.
    Lost,
}

/// The questions of one turn, from its records in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct Questions(Vec<AskedQuestion>);

impl Questions {
    /// Takes in the next record of the turn.
    pub fn apply(&mut self, system: System) {
        match system {
            System::Question(question) => {
                self.0.push(AskedQuestion { question: *question, state: QuestionState::Open });
            }
            System::QuestionAnswered(answer) => {
                if let Some(asked) = self.open(&answer.question) {
                    asked.state = QuestionState::Answered(answer);
                }
            }
            System::QuestionWithdrawn { question } => {
                if let Some(asked) = self.open(&question) {
                    asked.state = QuestionState::Withdrawn;
                }
            }
            _ => {}
        }
    }

    /// The newest of that id that nothing has become of: the first answer stands.
    fn open(&mut self, id: &str) -> Option<&mut AskedQuestion> {
        let open = |asked: &&mut AskedQuestion| asked.question.id == id && asked.state == QuestionState::Open;
        self.0.iter_mut().rev().find(open)
    }

    /// All of them; what is open in a turn that no longer runs is lost.
    pub fn finish(self, still_runs: bool) -> Vec<AskedQuestion> {
        let mut all = self.0;
        if !still_runs {
            for asked in all.iter_mut().filter(|asked| asked.state == QuestionState::Open) {
                asked.state = QuestionState::Lost;
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(id: &str) -> Question {
        let option = |id: &str, label: &str| QuestionOption {
            id: id.into(),
            label: label.into(),
            ..QuestionOption::default()
        };
        Question {
            id: id.into(),
            text: "Tea or coffee?".into(),
            options: vec![option("1", "tea"), option("2", "coffee")],
            ..Question::default()
        }
    }

    #[test]
    fn an_answer_names_the_option_or_keeps_the_words() {
        let asked = question("q");
        let answer = asked.answered(AnsweredBy::User, Some("coffee"));
        assert_eq!((answer.option.as_deref(), answer.text), (Some("2"), None));
        let answer = asked.answered(AnsweredBy::User, Some("water"));
        assert_eq!((answer.option, answer.text.as_deref()), (None, Some("water")));
        let answer = asked.answered(AnsweredBy::Nobody, None);
        assert_eq!((answer.option, answer.text), (None, None));
    }

    #[test]
    fn one_option_is_written_as_ever_and_several_by_their_ids() {
        let written = |ids: &[&str]| {
            let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
            serde_json::to_string(&question("q").chosen(AnsweredBy::User, &ids)).unwrap()
        };
        assert_eq!(written(&["2"]), r#"{"question":"q","by":"user","option":"2"}"#);
        assert_eq!(written(&["1", "2"]), r#"{"question":"q","by":"user","options":["1","2"]}"#);
    }

    #[test]
    fn what_was_not_offered_is_no_answer() {
        let one = question("q");
        let several = Question { multiple: true, ..question("q") };
        let no_words = Question { free_text: false, ..question("q") };
        let chosen = |ids: &[&str]| {
            let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
            one.chosen(AnsweredBy::User, &ids)
        };
        let words = one.answered(AnsweredBy::User, Some("water"));
        let offered = || "1, 2".to_owned();
        let not_offered = |id: &str| Err(UnfitAnswer::NotOffered { id: id.into(), offered: offered() });
        assert_eq!(one.check(&chosen(&["2"])), Ok(()));
        assert_eq!(one.check(&chosen(&["3"])), not_offered("3"));
        assert_eq!(several.check(&chosen(&["1", "tea"])), not_offered("tea"));
        assert_eq!(several.check(&chosen(&["1", "2"])), Ok(()));
        assert_eq!(one.check(&chosen(&["1", "2"])), Err(UnfitAnswer::OneOnly));
        assert_eq!(one.check(&words), Ok(()));
        assert_eq!(no_words.check(&words), Err(UnfitAnswer::NoText { offered: offered() }));
        let both = QuestionAnswer { option: Some("1".into()), ..words };
        assert_eq!(one.check(&both), Err(UnfitAnswer::OptionsAndText));
        assert_eq!(no_words.check(&one.answered(AnsweredBy::User, None)), Ok(()), "it can be declined");
    }

    #[test]
    fn questions_of_older_journals_are_read_as_they_were_meant() {
        let old = r#"{"id":"q","text":"Tea or coffee?","choices":[{"id":"1","label":"tea"},{"id":"2","label":"coffee"}]}"#;
        assert_eq!(serde_json::from_str::<Question>(old).unwrap(), question("q"));
        let old = r#"{"question":"q","by":"user","option":"2"}"#;
        let answer: QuestionAnswer = serde_json::from_str(old).unwrap();
        assert_eq!(answer, question("q").answered(AnsweredBy::User, Some("coffee")));
    }

    #[test]
    fn the_first_answer_stands_and_what_is_open_at_the_end_is_lost() {
        let mut questions = Questions::default();
        for id in ["answered", "taken back", "left"] {
            questions.apply(System::Question(Box::new(question(id))));
        }
        let tea = question("answered").answered(AnsweredBy::User, Some("tea"));
        let coffee = question("answered").answered(AnsweredBy::User, Some("coffee"));
        questions.apply(System::QuestionAnswered(tea.clone()));
        questions.apply(System::QuestionAnswered(coffee));
        questions.apply(System::QuestionWithdrawn { question: "taken back".into() });
        questions.apply(System::QuestionAnswered(question("taken back").answered(AnsweredBy::User, None)));
        let states = |still_runs| -> Vec<QuestionState> {
            questions.clone().finish(still_runs).into_iter().map(|asked| asked.state).collect()
        };
        let (answered, withdrawn) = (QuestionState::Answered(tea), QuestionState::Withdrawn);
        assert_eq!(states(false), [answered.clone(), withdrawn.clone(), QuestionState::Lost]);
        assert_eq!(states(true), [answered, withdrawn, QuestionState::Open]);
    }
}
