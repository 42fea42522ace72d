//! Files of flows: what there is in a project, and what is wrong with one.

use std::path::{Path, PathBuf};

use axum::Json;
use axum::extract::State;
use rejoin_flow::{Flow, FlowError, Input, Source};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::walk::flow_files;
use crate::app::Shared;
use crate::caller::{Caller, TokenScope};
use crate::flow_problem::{FlowProblem, flow_problems};
use crate::problem::{Problem, ProblemBody};
use crate::routes::body::{Body, Params};
use crate::routes::project_dir::project_dir;

/// Where to look.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct FilesParams {
    /// The directory.
    #[param(value_type = String)]
    project: PathBuf,
}

/// Flow files of a project.
#[derive(Serialize, ToSchema)]
pub(crate) struct FlowFiles {
    /// By their paths.
    flows: Vec<FlowFile>,
    /// The project is so large that not all of it was looked at.
    more: bool,
}

/// A flow file.
#[derive(Serialize, ToSchema)]
pub(crate) struct FlowFile {
    /// Its path inside the project.
    file: String,
    #[serde(flatten)]
    read: ReadFlow,
}

/// A file that was read: a flow, or what keeps it from being one.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum ReadFlow {
    /// It can be run.
    Flow {
        /// Its name.
        name: String,
        /// What it is for.
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// What it is given.
        inputs: Vec<FlowInput>,
        /// The names of its steps, those inside of others after the one they are in.
        steps: Vec<String>,
    },
    /// It cannot.
    Wrong {
        /// All that is wrong, in the order of the file.
        problems: Vec<FlowProblem>,
    },
}

/// A value that a flow is given.
#[derive(Serialize, ToSchema)]
pub(crate) struct FlowInput {
    /// How it is called.
    name: String,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// Whether a run without it is refused.
    required: bool,
    /// What it is without being given.
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<Value>,
    /// The only values it may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    one_of: Option<Vec<Value>>,
}

impl From<Input> for FlowInput {
    fn from(input: Input) -> Self {
        let Input { name, description, required, default, one_of } = input;
        Self { name, description, required, default, one_of }
    }
}

impl ReadFlow {
    /// What became of reading a file. One that could not be read at all is wrong at its beginning.
    fn of(read: Result<(Source, Flow), FlowError>) -> Self {
        match read {
            Ok((_, flow)) => Self::Flow {
                steps: flow.all_steps().into_iter().map(|step| step.name.clone()).collect(),
                inputs: flow.inputs.into_iter().map(Into::into).collect(),
                name: flow.name,
                description: flow.description,
            },
            Err(FlowError::Wrong(problems)) => Self::Wrong { problems: flow_problems(problems) },
            Err(error) => {
                Self::Wrong { problems: vec![FlowProblem { line: 1, column: 1, text: error.to_string() }] }
            }
        }
    }
}

/// The flow files (`*.flow.yaml`, `*.flow.yml`) of a project, not deeper than four directories.
#[utoipa::path(get, path = "", tag = "flows", params(FilesParams), responses(
    (status = 200, body = FlowFiles),
    (status = "default", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(crate) async fn files(
    State(app): State<Shared>,
    caller: Caller,
    Params(params): Params<FilesParams>,
) -> Result<Json<FlowFiles>, Problem> {
    caller.require(TokenScope::Read)?;
    let shared = Shared::clone(&app);
    app.blocking(move |_| {
        let project = project_dir(&shared, &caller, &params.project)?;
        let found = flow_files(&project);
        let flow = |file: PathBuf| FlowFile {
            read: ReadFlow::of(Source::open_within(&project, &file)),
            file: file.to_string_lossy().into_owned(),
        };
        Ok(Json(FlowFiles { flows: found.files.into_iter().map(flow).collect(), more: found.cut }))
    })
    .await
}

/// What to check.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ValidateFlow {
    /// The directory.
    #[schema(value_type = String)]
    project: PathBuf,
    /// The flow file in it; with `text`, where that would stand.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    file: Option<PathBuf>,
    /// A flow that is in no file, or another one than its file has.
    #[serde(default)]
    text: Option<String>,
}

/// What a text without a file is called.
const UNNAMED: &str = "unnamed.flow.yaml";

/// Whether a flow can be run; if not, everything that is wrong with it, each with its place.
#[utoipa::path(post, path = "/validate", tag = "flows", request_body = ValidateFlow, responses(
    (status = 200, body = ReadFlow),
    (status = "default", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(crate) async fn validate(
    State(app): State<Shared>,
    caller: Caller,
    Body(wanted): Body<ValidateFlow>,
) -> Result<Json<ReadFlow>, Problem> {
    caller.require(TokenScope::Read)?;
    let shared = Shared::clone(&app);
    app.blocking(move |_| {
        let project = project_dir(&shared, &caller, &wanted.project)?;
        let read = match (wanted.file, wanted.text) {
            (Some(file), None) => Source::open_within(&project, &file),
            (file, Some(text)) => {
                Source::text_within(&project, file.as_deref().unwrap_or(Path::new(UNNAMED)), text)
            }
            (None, None) => {
                return Err(Problem::bad_request("there is nothing to check").hint("give file or text"));
            }
        };
        match read {
            Err(error) if !matches!(error, FlowError::Wrong(_)) => Err(error.into()),
            read => Ok(Json(ReadFlow::of(read))),
        }
    })
    .await
}
