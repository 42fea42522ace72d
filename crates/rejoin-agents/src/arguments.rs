//! Arguments that several agents have in common, and what is refused in the same words.

use std::ffi::OsString;

use rejoin_core::Permissions;

use crate::{Capabilities, ProcessRequest, Refusal, checks};

/// Why something is refused whose flag is not there.
pub(crate) fn missing(agent: &str, flag: &str, what: &str) -> Refusal {
    Refusal::Unsupported(format!("this {agent} {what} (its help has no {flag}); update {agent}"))
}

/// Refuses a level of permissions that takes flags which are not there.
pub(crate) fn level_needs(
    agent: &str,
    capabilities: &Capabilities,
    level: Permissions,
    flags: &[&str],
) -> Result<(), Refusal> {
    match flags.iter().find(|flag| !capabilities.has(flag)) {
        None => Ok(()),
        Some(flag) => Err(Refusal::Permissions(format!(
            "this {agent} has no {flag}, so the level {:?} cannot be enforced; update {agent} or choose another level",
            level.name()
        ))),
    }
}

impl ProcessRequest<'_> {
    /// A session is resumed.
    pub(crate) fn resumes(&self) -> bool {
        self.turn.composed.session().is_some()
    }

    /// `--model=` for agents that have it so.
    pub(crate) fn model_arg(&self) -> Result<Option<OsString>, Refusal> {
        self.turn.model.map(|model| Ok(format!("--model={}", checks::model(model)?).into())).transpose()
    }

    /// `--resume=` or `--session-id=`, for agents that have them so.
    pub(crate) fn session_arg(&self, agent: &str) -> Result<Option<OsString>, Refusal> {
        let Capabilities { resume, choose_id, .. } = self.capabilities;
        Ok(match (self.turn.composed.session(), self.new_session) {
            (Some(_), _) if !resume => return Err(missing(agent, "--resume", "cannot resume a session")),
            (Some(session), _) => Some(format!("--resume={session}").into()),
            (None, Some(session)) if *choose_id => Some(format!("--session-id={session}").into()),
            (None, _) => None,
        })
    }

    /// The flag that keeps it from storing anything, if it shall not; for agents that store it all the same if they
    /// resume, that is refused before.
    pub(crate) fn ephemeral_arg(&self, agent: &str, flag: &'static str) -> Result<Option<OsString>, Refusal> {
        if self.ephemeral && !self.capabilities.ephemeral {
            let name = flag.split('=').next().unwrap_or(flag);
            return Err(missing(agent, name, "cannot run without storing the session"));
        }
        Ok(self.ephemeral.then(|| flag.into()))
    }

    /// The arguments of the level, by a table that has them with blanks between. The flags have to be there.
    pub(crate) fn level_args(
        &self,
        agent: &str,
        table: &[(Permissions, &'static str)],
    ) -> Result<Vec<OsString>, Refusal> {
        let level = self.turn.permissions;
        let Some((_, args)) = table.iter().find(|(known, _)| *known == level) else {
            return match level {
                Permissions::Agent => Ok(Vec::new()),
                _ => Err(Refusal::Permissions(format!(
                    "{agent} has nothing to enforce the level {:?} with; choose another level",
                    level.name()
                ))),
            };
        };
        let names: Vec<&str> = args.split(' ').map(|arg| arg.split('=').next().unwrap_or(arg)).collect();
        level_needs(agent, self.capabilities, level, &names)?;
        Ok(args.split(' ').map(OsString::from).collect())
    }

    /// Instructions, with the flag of each.
    pub(crate) fn instructions(&self, agent: &str) -> Result<Vec<(&'static str, &str)>, Refusal> {
        let given =
            [("--system-prompt", self.system_prompt), ("--append-system-prompt", self.append_system_prompt)];
        let given = given.into_iter().filter_map(|(flag, text)| Some((flag, text?)));
        given
            .map(|(flag, text)| {
                if !self.capabilities.has(flag) {
                    return Err(missing(agent, flag, "takes no instructions by argument"));
                }
                Ok((flag, checks::instructions(text)?))
            })
            .collect()
    }

    /// Refuses instructions, for agents that have no flag for them.
    pub(crate) fn refuse_instructions(&self, agent: &str) -> Result<(), Refusal> {
        match self.system_prompt.or(self.append_system_prompt) {
            Some(_) => Err(Refusal::Unsupported(format!("{agent} takes no instructions by argument"))),
            None => Ok(()),
        }
    }

    /// Refuses a run that is to store nothing and to resume, for agents that would store it all the same.
    pub(crate) fn refuse_ephemeral_resume(&self, agent: &str) -> Result<(), Refusal> {
        if self.ephemeral && self.resumes() {
            let text = format!("{agent} cannot resume a session without adding to it");
            return Err(Refusal::Unsupported(text));
        }
        Ok(())
    }
}
