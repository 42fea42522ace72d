//! What an agent must remember, and what it may not.

use super::state::{Conversation, marks, seen};

/// What is wrong with what the agent says it remembers at the end of a turn. All that the user said on the path must
/// be there, in order; what was taken back (rewound, edited away, on another branch) must not, unless an answer on the
/// path quotes it.
pub(crate) fn wrong(conversation: &Conversation, turn: &str, answer: &str) -> Option<String> {
    let path = conversation.path_to(Some(turn));
    let prompts: Vec<&str> = path.iter().map(|turn| turn.prompt.as_str()).collect();
    let answers: Vec<&str> = path.iter().rev().skip(1).map(|turn| turn.answer.as_str()).collect();
    compare(&marks(&prompts.join(" ")), &marks(&answers.join(" ")), answer)
}

fn compare(said: &[String], quoted: &[String], answer: &str) -> Option<String> {
    let Some(remembered) = seen(answer) else {
        return Some("the answer does not say what is remembered".to_owned());
    };
    let of_the_user: Vec<&String> = remembered.iter().filter(|mark| said.contains(mark)).collect();
    if !of_the_user.iter().copied().eq(said) {
        return Some(format!("it remembers {remembered:?}, and the user said {said:?}"));
    }
    let taken_back = remembered.iter().find(|mark| !said.contains(mark) && !quoted.contains(mark));
    taken_back.map(|mark| format!("it remembers {mark}, which is not on the path {said:?}"))
}

#[cfg(test)]
mod tests {
    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn forgetting_and_remembering_what_was_taken_back_are_both_wrong() {
        let said = words("MARK-a MARK-b");
        let compare = |answer: &str| super::compare(&said, &words("MARK-q"), answer);
        assert_eq!(compare("SEEN n=2 marks=MARK-a,MARK-b"), None);
        assert_eq!(compare("SEEN n=2 marks=MARK-a,MARK-q,MARK-b"), None);
        assert!(compare("SEEN n=1 marks=MARK-b").is_some());
        assert!(compare("SEEN n=2 marks=MARK-b,MARK-a").is_some());
        assert!(compare("SEEN n=3 marks=MARK-a,MARK-b,MARK-c").is_some());
        assert!(compare("I am the demo agent.").is_some());
    }
}
