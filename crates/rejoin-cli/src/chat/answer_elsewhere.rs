//! A question that waits in a turn of another process (another terminal, the daemon) is answered from here.

use std::time::{Duration, Instant};

use rejoin::{
    Answer, AnsweredBy, ConversationId, ConversationWatch, Event, NextEvents, NotAnswered, Question,
    QuestionAnswer, QuestionState, Rejoin, TurnError, TurnId,
};

use super::question_menu;
use crate::{style, turn_words};

/// By whom it is answered, where somebody asks.
const WHO: &str = "chat";
/// Whoever runs the turn takes an answer up within this time.
const TAKEN_UP_WITHIN: Duration = Duration::from_secs(5);

/// What became of putting a question to the person here.
pub(super) enum Put {
    /// It is settled, by them or by somebody else.
    Settled,
    /// It still waits.
    LeftOpen,
}

/// A question that waits for an answer, and what is heard of its turn.
pub(super) struct AskedElsewhere<'a> {
    rejoin: &'a Rejoin,
    conversation: ConversationId,
    turn: TurnId,
    question: Question,
    watch: ConversationWatch,
    became: Option<Became>,
}

/// How a question came to its end.
#[derive(Clone)]
enum Became {
    Answered(QuestionAnswer),
    /// The agent took it back, or its turn is over.
    Gone,
}

impl<'a> AskedElsewhere<'a> {
    /// The first question of a conversation that waits for an answer.
    pub(super) fn find(rejoin: &'a Rejoin, conversation: ConversationId) -> anyhow::Result<Option<Self>> {
        let view = rejoin.open_conversation(conversation)?;
        let Some(turn) = view.path().last().copied() else { return Ok(None) };
        let open = view.questions(turn)?.into_iter().find(|asked| asked.state == QuestionState::Open);
        let Some(asked) = open else { return Ok(None) };
        let watch = rejoin.watch(conversation, Some(view.cursor()?))?;
        let (turn, question) = (turn.id, asked.question);
        Ok(Some(Self { rejoin, conversation, turn, question, watch, became: None }))
    }

    pub(super) fn question(&self) -> &Question {
        &self.question
    }

    /// Puts it to the person here. The first answer stands, whoever gives it.
    pub(super) fn put(&mut self) -> anyhow::Result<Put> {
        if rejoin::runs_inside(self.turn) {
            let text = "what a turn asks is not answered from inside of it: somebody else has to";
            return Err(rejoin::Error::Config(text.to_owned()).into());
        }
        let question = self.question.clone();
        let answer =
            question_menu::put_elsewhere(&question, &mut || self.became_within(Duration::ZERO).is_none());
        let Some(answer) = answer else {
            if let Some(became) = self.became.clone() {
                return Ok(self.tell(&became, None));
            }
            style::talk("  left open: /answer comes back to it");
            return Ok(Put::LeftOpen);
        };
        let given = self.recorded(answer);
        match self.rejoin.ask_to_answer(self.conversation, self.turn, given.clone()) {
            Ok(()) | Err(rejoin::Error::Turn(TurnError::NotAnswered(NotAnswered::Closed))) => {}
            Err(error) => return Err(error.into()),
        }
        if let Some(became) = self.became_within(TAKEN_UP_WITHIN) {
            return Ok(self.tell(&became, Some(&given)));
        }
        style::loud("! the answer was handed over, and is not taken up yet");
        Ok(Put::LeftOpen)
    }

    fn recorded(&self, answer: Answer) -> QuestionAnswer {
        let answer = answer.resolved(&self.question).record(&self.question, AnsweredBy::User);
        QuestionAnswer { who: Some(WHO.to_owned()), ..answer }
    }

    /// Says what became of it.
    fn tell(&self, became: &Became, given: Option<&QuestionAnswer>) -> Put {
        let words = |answer: &QuestionAnswer| turn_words::answer(&self.question, &answer.clone().into());
        style::talk(&match became {
            Became::Answered(answer) if Some(answer) == given => format!("  {}", words(answer)),
            Became::Answered(answer) => format!("  somebody else was faster: {}", words(answer)),
            Became::Gone => "  nobody waits for the answer any more".to_owned(),
        });
        Put::Settled
    }

    /// What became of it, waiting no longer than this.
    fn became_within(&mut self, limit: Duration) -> Option<Became> {
        let until = Instant::now() + limit;
        while self.became.is_none() {
            let rest = until.saturating_duration_since(Instant::now());
            match self.watch.next_within(rest) {
                Ok(NextEvents::Events(events)) if events.turn == Some(self.turn) => {
                    self.became = events.events().find_map(|event| self.end_in(event));
                }
                Ok(NextEvents::Events(_)) => {}
                Ok(NextEvents::Nothing) if Instant::now() < until => {}
                Ok(NextEvents::Nothing) => break,
                // A journal that cannot be read tells of nobody who waits.
                Ok(NextEvents::Over) | Err(_) => self.became = Some(Became::Gone),
            }
        }
        self.became.clone()
    }

    fn end_in(&self, event: &Event) -> Option<Became> {
        match event {
            Event::QuestionAnswered(answer) if answer.question == self.question.id => {
                Some(Became::Answered(answer.clone()))
            }
            Event::QuestionWithdrawn { question } if *question == self.question.id => Some(Became::Gone),
            Event::Result { .. } => Some(Became::Gone),
            _ => None,
        }
    }
}
