//! Which runs begin next: one at a time in a conversation, so many at once, and no project before the others. Pure.

use std::collections::HashMap;

use rejoin::{ConversationId, TurnId};

/// The next run of a conversation in which nothing keeps it from beginning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Candidate {
    pub(super) conversation: ConversationId,
    pub(super) project: String,
    pub(super) run: TurnId,
    /// When it was asked for.
    pub(super) time: String,
}

/// Who had a run begun, and when: a count of all that ever began.
#[derive(Clone, Debug, Default)]
pub(super) struct Served {
    count: u64,
    last: HashMap<String, u64>,
}

/// Chooses which of the candidates begin while `running` (the project of each that runs) do. The project with the fewest
/// comes first, then the one that was served longest ago; within a project, who waits longest.
pub(super) fn next(
    mut candidates: Vec<Candidate>,
    running: &[String],
    max_runs: usize,
    served: &mut Served,
) -> Vec<Candidate> {
    let mut at_work: HashMap<String, usize> = HashMap::new();
    for project in running {
        *at_work.entry(project.clone()).or_default() += 1;
    }
    let mut chosen = Vec::new();
    while running.len() + chosen.len() < max_runs {
        let rank = |candidate: &Candidate| {
            let at_work = at_work.get(&candidate.project).copied().unwrap_or_default();
            let last = served.last.get(&candidate.project).copied().unwrap_or_default();
            (at_work, last, candidate.time.clone(), candidate.run)
        };
        let best = (0..candidates.len()).min_by_key(|at| rank(&candidates[*at]));
        let Some(best) = best else { break };
        let candidate = candidates.swap_remove(best);
        served.count += 1;
        served.last.insert(candidate.project.clone(), served.count);
        *at_work.entry(candidate.project.clone()).or_default() += 1;
        chosen.push(candidate);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn candidate(number: u128, project: &str) -> Candidate {
        Candidate {
            conversation: ConversationId::new(Uuid::from_u128(number)),
            project: project.into(),
            run: TurnId::new(Uuid::from_u128(number)),
            time: format!("2026-01-01T00:{number:02}:00Z"),
        }
    }

    fn numbers(chosen: &[Candidate]) -> Vec<u128> {
        chosen.iter().map(|candidate| candidate.run.uuid().as_u128()).collect()
    }

    #[test]
    fn a_project_with_many_runs_does_not_keep_the_others_waiting() {
        let many = (1..=8).map(|number| candidate(number, "/many"));
        let all: Vec<Candidate> = many.chain([candidate(20, "/few"), candidate(30, "/one")]).collect();
        let chosen = next(all, &[], 4, &mut Served::default());
        assert_eq!(numbers(&chosen), [1, 20, 30, 2]);
    }

    #[test]
    fn no_more_begin_than_there_is_room_for() {
        let all: Vec<Candidate> = (1..=3).map(|number| candidate(number, "/p")).collect();
        let running = ["/p".to_owned(), "/q".to_owned()];
        assert_eq!(numbers(&next(all.clone(), &running, 3, &mut Served::default())), [1]);
        assert_eq!(numbers(&next(all, &running, 2, &mut Served::default())), [0_u128; 0]);
    }

    #[test]
    fn one_place_at_a_time_goes_round_the_projects() {
        let mut served = Served::default();
        let mut waiting: Vec<Candidate> = (1..=3)
            .flat_map(|number| {
                [candidate(number, "/a"), candidate(number + 10, "/b"), candidate(number + 20, "/c")]
            })
            .collect();
        let mut order = Vec::new();
        while !waiting.is_empty() {
            let chosen = next(waiting.clone(), &[], 1, &mut served);
            waiting.retain(|left| *left != chosen[0]);
            order.push(chosen[0].project.clone());
        }
        assert_eq!(order, ["/a", "/b", "/c", "/a", "/b", "/c", "/a", "/b", "/c"]);
    }

    #[test]
    fn who_runs_less_comes_first_even_if_asked_later() {
        let running = ["/a".to_owned(), "/a".to_owned(), "/b".to_owned()];
        let all = vec![candidate(1, "/a"), candidate(2, "/b"), candidate(3, "/c")];
        assert_eq!(numbers(&next(all, &running, 5, &mut Served::default())), [3, 2]);
    }
}
