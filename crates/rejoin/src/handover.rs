//! Whether a history may go from one vendor to another because a limit was reached: asked once per pair of them.

use std::path::PathBuf;

use rejoin_core::Agent;
use rejoin_journal::private;
use serde::{Deserialize, Serialize};

use crate::{Error, Rejoin};

/// Whether a history may go to another vendor where a limit was reached. What the user says by naming an agent needs
/// no leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Handovers {
    /// Somebody is asked, once for each pair of vendors; if nobody is there, no.
    #[default]
    Ask,
    /// It may.
    Allow,
    /// It may not.
    Never,
}

impl Handovers {
    /// The word for it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Handovers::Ask => "ask",
            Handovers::Allow => "allow",
            Handovers::Never => "never",
        }
    }
}

/// A history is about to go to another vendor.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Handover {
    /// Whose limit was reached, or who stood in until now.
    pub from: Agent,
    /// Who would go on.
    pub to: Agent,
    /// The vendor of the one; where it is not known, the agent's own name.
    pub from_vendor: String,
    /// The vendor of the other.
    pub to_vendor: String,
    /// The limit was that of `to`, and is over: it would go on again.
    pub back: bool,
}

/// Why a history would go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// A limit was reached.
    Away,
    /// It is over.
    Back,
}

/// What was answered, as it is kept.
#[derive(Default, Serialize, Deserialize)]
struct Remembered {
    pairs: Vec<Pair>,
}

#[derive(Serialize, Deserialize)]
struct Pair {
    from: String,
    to: String,
    allowed: bool,
}

/// Whoever is asked.
pub(crate) type Asked<'a> = dyn FnMut(&Handover) -> bool + 'a;

impl Rejoin {
    /// Whether a history may go from one agent to the other; if not, why, and how to allow it.
    pub(crate) fn may_hand_over(
        &self,
        from: &Agent,
        to: &Agent,
        direction: Direction,
        ask: Option<&mut Asked<'_>>,
    ) -> Result<Result<(), String>, Error> {
        let handover = Handover {
            from: from.clone(),
            to: to.clone(),
            from_vendor: self.vendor(from),
            to_vendor: self.vendor(to),
            back: direction == Direction::Back,
        };
        let Handover { from_vendor, to_vendor, .. } = &handover;
        if from_vendor == to_vendor {
            return Ok(Ok(()));
        }
        let by_hand = format!("name the agent to hand over this once (`rejoin run -c -a {to} …`)");
        let refused =
            |why: String| Ok(Err(format!("{why}; {by_hand}, or `rejoin config set handover allow`")));
        match self.config.handover {
            Handovers::Allow => return Ok(Ok(())),
            Handovers::Never => return refused("the configuration says handover = \"never\"".to_owned()),
            Handovers::Ask => {}
        }
        let mut remembered = self.remembered_handovers();
        let is_it = |pair: &&Pair| pair.from == *from_vendor && pair.to == *to_vendor;
        let allowed = match (remembered.pairs.iter().find(is_it), ask) {
            (Some(pair), _) => pair.allowed,
            (None, None) => {
                return refused(format!(
                    "nobody is there to be asked whether the history may go from {from_vendor} to {to_vendor}"
                ));
            }
            (None, Some(ask)) => {
                let allowed = ask(&handover);
                let (from, to) = (from_vendor.clone(), to_vendor.clone());
                remembered.pairs.push(Pair { from, to, allowed });
                self.make_home()?;
                let text = serde_json::to_vec_pretty(&remembered).unwrap_or_default();
                private::write_atomically(&self.handovers_file(), &text)?;
                allowed
            }
        };
        if allowed {
            return Ok(Ok(()));
        }
        let file = self.handovers_file();
        refused(format!(
            "you said that no history may go from {from_vendor} to {to_vendor} ({} remembers it)",
            file.display()
        ))
    }

    fn handovers_file(&self) -> PathBuf {
        self.home().join("handovers.json")
    }

    /// What cannot be read is asked again.
    fn remembered_handovers(&self) -> Remembered {
        let text = rejoin_files::read_regular_text(&self.handovers_file(), 1 << 20).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    fn vendor(&self, agent: &Agent) -> String {
        if let Some(endpoint) = self.setup(agent).endpoint {
            return endpoint.base_url;
        }
        let known = rejoin_agents::find(agent);
        known.map_or_else(|| agent.to_string(), |known| known.vendor().to_owned())
    }
}
