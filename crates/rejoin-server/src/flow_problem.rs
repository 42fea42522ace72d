//! What is wrong with a flow, or with a run of one, as a problem.

use std::io::ErrorKind;

use rejoin_flow::{FlowError, Problems};
use serde::Serialize;
use utoipa::ToSchema;

use crate::problem::{Code, Problem};

/// Something that is wrong with a flow.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, ToSchema)]
pub(crate) struct FlowProblem {
    /// The line of the file, counted from 1.
    pub(crate) line: u64,
    /// The character in it, counted from 1.
    pub(crate) column: u64,
    /// What, and what to do about it.
    pub(crate) text: String,
}

/// All that is wrong, in the order of the file.
pub(crate) fn flow_problems(problems: Problems) -> Vec<FlowProblem> {
    let told = |problem: rejoin_flow::Problem| FlowProblem {
        line: problem.place.line,
        column: problem.place.column,
        text: problem.text,
    };
    problems.problems.into_iter().map(told).collect()
}

impl From<FlowError> for Problem {
    fn from(error: FlowError) -> Self {
        let text = error.to_string();
        match error {
            FlowError::Wrong(problems) => {
                Self::new(Code::Refused, text).with("problems", flow_problems(problems))
            }
            FlowError::Unreadable { cause, .. } => {
                let code = match cause.kind() {
                    ErrorKind::NotFound => Code::NotFound,
                    ErrorKind::PermissionDenied => Code::NotAllowed,
                    _ => Code::Refused,
                };
                Self::new(code, text)
            }
            FlowError::Usage(_) => Self::new(Code::Refused, text),
            FlowError::NotFound(_) => Self::not_found(text),
            FlowError::Damaged { .. } => Self::new(Code::Conflict, text),
            FlowError::Busy(_) => Self::new(Code::Busy, text),
            FlowError::Journal(error) => error.into(),
            FlowError::Rejoin(error) => error.into(),
            _ => Self::new(Code::Internal, text),
        }
    }
}
