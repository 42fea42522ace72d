//! Questions of the agent on their way: put to whoever is there, answered, and declined once nobody answers.

use std::time::{Duration, Instant};

use rejoin_agents::Answer;
use rejoin_core::{AnsweredBy, Event, Question, QuestionAnswer, visible_line};

use crate::during::pump::Pump;
use crate::during::text;

/// A question, and since when it waits for its answer.
pub(crate) struct OpenSince {
    question: Question,
    since: Instant,
}

impl Pump<'_, '_> {
    pub(crate) fn on_question(&mut self, question: Question) {
        if self.around.can_ask {
            // Before it is told: whoever hears of it can answer it.
            self.around.answers.open(question.clone());
            self.outbox.emit(Event::Question(question.clone()));
            self.open_questions.insert(question.id.clone(), OpenSince { question, since: Instant::now() });
        } else {
            self.outbox.emit(Event::Question(question.clone()));
            self.decline(&question);
        }
    }

    pub(crate) fn on_answers(&mut self) {
        let answers = self.around.answers.take();
        if answers.is_empty() {
            return;
        }
        for given in answers {
            // The agent may have taken it back since.
            if self.open_questions.remove(&given.question).is_some() {
                self.answer(given);
            }
        }
        self.silence.end();
        self.act();
    }

    fn answer(&mut self, answer: QuestionAnswer) {
        let question = answer.question.clone();
        self.outbox.emit(Event::QuestionAnswered(answer.clone()));
        self.driver.answer(&question, Answer::from(answer), &mut self.steps);
    }

    /// Tells the agent that nobody is there.
    fn decline(&mut self, question: &Question) {
        self.answer(question.answered(AnsweredBy::Nobody, None));
    }

    /// Declines what nobody answered in time, so that the turn goes on.
    pub(crate) fn decline_unanswered(&mut self) {
        let Some(limit) = self.around.limits.answer else { return };
        let answers = self.around.answers;
        // What was answered in this moment is on its way.
        let is_late =
            |id: &String, open: &mut OpenSince| open.since.elapsed() >= limit && answers.close(id).is_some();
        let late: Vec<OpenSince> = self.open_questions.extract_if(is_late).map(|(_, open)| open).collect();
        if late.is_empty() {
            return;
        }
        for OpenSince { question, .. } in late {
            self.decline(&question);
            let words = unanswered(&question, limit);
            self.got.warn(&words);
            self.outbox.emit(Event::Warning { code: "unanswered".into(), text: words });
        }
        self.silence.end();
        self.act();
    }

    /// How long the question that waits longest may still wait.
    pub(crate) fn left_to_answer(&self) -> Option<Duration> {
        let limit = self.around.limits.answer?;
        let left = |open: &OpenSince| limit.saturating_sub(open.since.elapsed());
        self.open_questions.values().map(left).min()
    }
}

fn unanswered(question: &Question, limit: Duration) -> String {
    const LONGEST: usize = 120;
    let asked = visible_line(&question.text);
    let cut = asked.floor_char_boundary(LONGEST);
    let mark = if cut < asked.len() { "…" } else { "" };
    format!(
        "nobody answered within {}: {}{mark}; the agent was told that nobody is there",
        text::seconds(limit),
        &asked[..cut]
    )
}
