//! How OpenCode is started.

use std::ffi::OsString;

use rejoin_core::{Permissions, SessionId};
use serde::Deserialize;
use serde_json::json;

use super::config::{self, Config};
use super::driver::OpenCodeLines;
use super::{files, id, permissions};
use crate::arguments::missing;
use crate::extra_args::Rules;
use crate::one_shot::OneShot;
use crate::{Capabilities, Lookup, Process, ProcessRequest, Refusal, checks, help, loose};

pub(super) const NAME: &str = "opencode";
/// Since then one set of rules governs all tools.
const RULES_SINCE: [u64; 3] = [1, 1, 1];
/// What answers every question with yes, in newer and in older versions.
const ALLOWING: &[&str] = &["--auto", "--dangerously-skip-permissions"];

pub(super) fn process(request: &ProcessRequest<'_>) -> Result<Process, Refusal> {
    check_abilities(request)?;
    let capabilities = request.capabilities;
    let session = request.turn.composed.session();
    let Some(dir) = request.dir.to_str() else {
        return Err(Refusal::Unsupported(format!(
            "opencode cannot work in {}: the name of the directory is no UTF-8",
            request.dir.display()
        )));
    };
    let model = request.turn.model.map(named_model).transpose()?;
    RULES.check(request.extra_args, request.turn.permissions)?;

    let limited = matches!(request.turn.permissions, Permissions::Read | Permissions::Edit);
    let config = Config::read(request.env, request.dir);
    if model.is_none() && session.is_none() && !config.chooses_a_model(!limited) {
        return Err(Refusal::Unsupported(
            "no model is chosen for opencode, and it would send the prompt to its own service, OpenCode Zen: name a \
             model with --model provider/model, or set \"model\" in its opencode.json (`opencode models` lists them)"
                .into(),
        ));
    }

    let mark = (request.turn.ids)().short();
    let title = format!("rejoin {mark}");
    let mut args: Vec<OsString> = vec!["run".into(), "--format=json".into()];
    args.extend(request.extra_args.iter().map(OsString::from));
    let mut push = |arg: String| args.push(arg.into());
    if capabilities.has("--dir") {
        push(format!("--dir={dir}"));
    }
    if capabilities.has("--thinking") && !request.extra_args.iter().any(|arg| arg.starts_with("--thinking")) {
        push("--thinking".into());
    }
    if let Some(model) = model {
        push(format!("--model={model}"));
    }
    let titled = session.is_none() && capabilities.has("--title");
    if let Some(session) = session {
        push(format!("--session={session}"));
    } else if titled {
        push(format!("--title={title}"));
    }

    if !request.turn.attachments.is_empty() && !capabilities.has("--file") {
        return Err(missing(NAME, "--file", "takes no attachments"));
    }
    for copy in request.turn.copies(NAME)? {
        push(format!("--file={copy}"));
    }

    let mut env = vec![("OPENCODE_DISABLE_AUTOUPDATE".to_owned(), "1".to_owned())];
    let mut over = json!({});
    if request.ephemeral {
        env.push(("OPENCODE_DB".into(), ":memory:".into()));
        // It keeps copies of the project's files besides.
        config::merge(&mut over, json!({ "snapshot": false }));
    }
    let (mut profile, mut warnings) = (None, Vec::new());
    if limited {
        keeps_rules(capabilities, request.turn.permissions)?;
        let limits = permissions::limits(request.turn.permissions == Permissions::Edit, &mark, &config);
        push(format!("--agent={}", limits.profile));
        env.push(limits.env);
        config::merge(&mut over, limits.config);
        profile = Some(limits.profile);
        if config.runs_code() {
            warnings.push(
                "the plugins and tools in OpenCode's configuration are code that no level limits".to_owned(),
            );
        }
    } else if request.turn.permissions == Permissions::Full {
        if let Some(flag) = ALLOWING.iter().find(|flag| capabilities.has(flag)) {
            push((*flag).to_owned());
        } else {
            keeps_rules(capabilities, request.turn.permissions)?;
            env.push(permissions::everything());
        }
    }
    if over != json!({}) {
        env.push(config::over(request.env, over)?);
    }

    let copies = !request.turn.attachments.is_empty();
    let lookup = if request.ephemeral { None } else { lookup(request, titled.then_some(title), dir) };
    let lines = OpenCodeLines::new(model.map(str::to_owned), profile);
    let driver = OneShot::driver(super::agent(), !request.ephemeral, lines);
    Ok(Process { env, warnings, copies, lookup, ..Process::new(args, driver) })
}

/// What this installation cannot do, or OpenCode at all.
fn check_abilities(request: &ProcessRequest<'_>) -> Result<(), Refusal> {
    let capabilities = request.capabilities;
    request.refuse_instructions(NAME)?;
    if !capabilities.has("--format") {
        return Err(missing(NAME, "--format", "does not print events"));
    }
    if request.resumes() && !capabilities.resume {
        return Err(missing(NAME, "--session", "cannot resume a session"));
    }
    if request.ephemeral && !capabilities.ephemeral {
        return Err(Refusal::Unsupported(
            "this opencode cannot run without storing the session (that takes 1.3.0 or newer); update opencode".into(),
        ));
    }
    request.refuse_ephemeral_resume(NAME)
}

/// A name without a provider would stay in the session as a model that does not exist.
fn named_model(model: &str) -> Result<&str, Refusal> {
    match checks::model(model)?.split_once('/') {
        Some((provider, name)) if !provider.is_empty() && !name.is_empty() => Ok(model),
        _ => Err(Refusal::Unsupported(format!(
            "{model:?} does not tell the provider: opencode wants --model provider/model (`opencode models` lists them)"
        ))),
    }
}

/// Whether this version can be kept to a level by the rules it is given.
fn keeps_rules(capabilities: &Capabilities, level: Permissions) -> Result<(), Refusal> {
    let recent = help::numbers(capabilities.version.as_deref()).is_some_and(|version| version >= RULES_SINCE);
    if recent && capabilities.has("--agent") {
        return Ok(());
    }
    Err(Refusal::Permissions(format!(
        "this opencode ({}) cannot be kept to the level {:?}: that takes 1.1.1 or newer; update opencode or choose another level",
        capabilities.version.as_deref().unwrap_or("of an unknown version"),
        level.name()
    )))
}

/// Should it not name its session: the one that has our title and our directory. Versions that
/// cannot list their sessions keep them in plain files, where the prompt must be, too.
fn lookup(request: &ProcessRequest<'_>, title: Option<String>, dir: &str) -> Option<Lookup> {
    let (capabilities, dir) = (request.capabilities, dir.to_owned());
    if !capabilities.has("list --format") {
        let (store, prompt) = (request.store?.to_owned(), request.turn.composed.prompt().to_owned());
        let asked = request.turn.composed.session().cloned();
        return Some(Lookup::Look(Box::new(move || {
            let session = asked.clone().or_else(|| files::titled(&store, title.as_deref()?, &dir))?;
            files::was_told(&store, &session, &prompt).then_some(session)
        })));
    }
    let title = title?;
    let mut args: Vec<OsString> = ["session", "list", "--format=json"].map(OsString::from).to_vec();
    if capabilities.has("list --max-count") {
        args.push("--max-count=20".into());
    }
    Some(Lookup::Ask { args, find: Box::new(move |listed| listed_session(listed, &title, &dir)) })
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct Listed<'a> {
    id: loose::Text<'a>,
    title: loose::Text<'a>,
    directory: loose::Text<'a>,
}

fn listed_session(listed: &str, title: &str, dir: &str) -> Option<SessionId> {
    let listed: loose::List<Listed<'_>> = serde_json::from_str(listed).ok()?;
    let mut ours = listed.0.iter().filter(|one| one.title.as_str() == title && one.directory.as_str() == dir);
    let session = id::session(ours.next()?.id.as_str()).ok()?;
    ours.next().is_none().then_some(session)
}

/// The user's own arguments; the model has a flag of ours.
const RULES: Rules = Rules {
    agent: NAME,
    switches: "--print-logs --pure --share --thinking --no-thinking",
    short_with_value: "fmspu",
    permissions: "--auto yolo dangerous permission",
    widening_read: WIDENING,
    widening_edit: WIDENING,
    reserved: "--continue --session --fork --format --title --attach --password --username --dir --port --hostname \
               --mdns --cors --interactive --mini --demo --replay --command --prompt --model --help --version \
               -c -s -m -p -u -i -h -v",
    spelled: str::to_ascii_lowercase,
    ..Rules::NONE
};
/// A profile has rules of its own, and a file may lie anywhere.
const WIDENING: &str = "--agent --file -f";
