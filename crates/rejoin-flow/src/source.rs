use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use rejoin_files::read_regular_text;
use serde::{Deserialize, Serialize};

use crate::check::{self, Before};
use crate::model::{AgentStep, Flow, Kind, Step};
use crate::{FlowError, Problem, Problems, RunBy, read};

/// All texts a flow is made of: a run keeps them, so that it goes on with what was begun.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = FlowSource))]
pub struct Source {
    /// The file, as the user named it.
    pub file: String,
    /// What stands in it.
    pub text: String,
    /// The prompts that stand in files of their own, by the names the flow gives them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prompts: BTreeMap<String, String>,
}

/// Flow files and prompts are written by people.
const LARGEST: u64 = 4 << 20;

impl Source {
    /// Reads a flow file and the prompts beside it.
    pub fn open(file: &Path) -> Result<(Source, Flow), FlowError> {
        let text = read_regular_text(file, LARGEST)
            .map_err(|cause| FlowError::Unreadable { file: file.to_owned(), cause })?;
        let mut source = Source { file: file.to_string_lossy().into_owned(), text, prompts: BTreeMap::new() };
        let mut prompts = BTreeMap::new();
        let flow = source.parse(&mut |name| {
            let text =
                read_regular_text(&file.with_file_name(name), LARGEST).map_err(|error| error.to_string())?;
            prompts.insert(name.to_owned(), text.clone());
            Ok(text)
        })?;
        source.prompts = prompts;
        Ok((source, flow))
    }

    /// What became of the files since they were read, in words; `None` if they say the same. `dir` is where they were
    /// named.
    pub fn changed_since(&self, dir: &Path) -> Option<&'static str> {
        let file = dir.join(&self.file);
        let read = |path: &Path| read_regular_text(path, LARGEST);
        match read(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Some("is not there any more"),
            Err(_) => return Some("cannot be read any more"),
            Ok(text) if text != self.text => return Some("has changed"),
            Ok(_) => {}
        }
        let same = |(name, kept): (&String, &String)| {
            read(&file.with_file_name(name)).is_ok_and(|text| text == *kept)
        };
        (!self.prompts.iter().all(same)).then_some("has changed: a file with a prompt")
    }

    /// The files as they are now. Over HTTP, nothing outside of the directory is read.
    pub(crate) fn anew(&self, dir: &Path, by: RunBy) -> Result<(Source, Flow), FlowError> {
        let (source, flow) = match by {
            RunBy::Command => Self::open(&dir.join(&self.file))?,
            RunBy::Daemon => Self::open_within(dir, Path::new(&self.file))?,
        };
        Ok((Self { file: self.file.clone(), ..source }, flow))
    }

    /// The same, of what lies inside of a directory: whatever names a file, a link or the flow itself, nothing outside
    /// of it is read. `file` may be absolute.
    pub fn open_within(root: &Path, file: &Path) -> Result<(Source, Flow), FlowError> {
        let unreadable = |cause| FlowError::Unreadable { file: file.to_owned(), cause };
        let text = read_within(root, &root.join(file)).map_err(unreadable)?;
        Self::text_within(root, file, text)
    }

    /// The same, with a text that is not in its file yet, or in none.
    pub fn text_within(root: &Path, file: &Path, text: String) -> Result<(Source, Flow), FlowError> {
        let mut source = Source { file: file.to_string_lossy().into_owned(), text, prompts: BTreeMap::new() };
        let mut prompts = BTreeMap::new();
        let flow = source.parse(&mut |name| {
            let beside = root.join(file).with_file_name(name);
            let text = read_within(root, &beside).map_err(|error| error.to_string())?;
            prompts.insert(name.to_owned(), text.clone());
            Ok(text)
        })?;
        source.prompts = prompts;
        Ok((source, flow))
    }

    /// The flow that these texts are.
    pub fn flow(&self) -> Result<Flow, Problems> {
        self.parse(&mut |name| {
            self.prompts.get(name).cloned().ok_or_else(|| "it was not kept with the run".to_owned())
        })
    }

    fn parse(&self, load: &mut Load<'_>) -> Result<Flow, Problems> {
        let mut problems = Vec::new();
        let flow = read::read(Path::new(&self.file), &self.text, &mut problems);
        if let Some(mut flow) = flow {
            for step in &mut flow.steps {
                fill_in_prompts(step, load, &mut problems);
            }
            check::check(&flow, &mut problems);
            if problems.is_empty() {
                return Ok(flow);
            }
        }
        problems.sort_by_key(|problem| problem.place);
        Err(Problems { file: self.file.clone(), problems })
    }
}

impl Flow {
    /// What must come before what; a flow that was read has no cycles.
    pub(crate) fn before(&self) -> Before {
        check::check(self, &mut Vec::new())
    }
}

/// Reads a file if it really is in a directory.
fn read_within(root: &Path, path: &Path) -> io::Result<String> {
    let real = path.canonicalize()?;
    if !real.starts_with(root.canonicalize()?) {
        let words = format!("it is outside of {}", root.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, words));
    }
    read_regular_text(&real, LARGEST)
}

/// Finds the text of a prompt's file.
type Load<'a> = dyn FnMut(&str) -> Result<String, String> + 'a;

fn fill_in_prompts(step: &mut Step, load: &mut Load<'_>, problems: &mut Vec<Problem>) {
    match &mut step.kind {
        Kind::Agent(agent) if agent.prompt_is_file => {
            let AgentStep { prompt, .. } = &mut **agent;
            match load(&prompt.text) {
                Ok(text) => prompt.text = text,
                Err(words) => {
                    let words = format!("cannot read the prompt {:?}: {words}", prompt.text);
                    problems.push(Problem::at(prompt.place, words));
                }
            }
        }
        Kind::Parallel(parallel) => {
            for step in &mut parallel.steps {
                fill_in_prompts(step, load, problems);
            }
        }
        Kind::ForEach(each) => fill_in_prompts(&mut each.step, load, problems),
        Kind::Agent(_) | Kind::Command(_) => {}
    }
}
