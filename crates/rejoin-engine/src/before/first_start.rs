//! Starts of an agent whose store is not set up yet are taken one after another: two that set it up at
//! once break each other, in words that differ from version to version.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rejoin_agents::Definition;
use rejoin_core::plan::Wish;
use rejoin_journal::{Lease, LeaseName, LockError, Owner, private};
use sha2::{Digest, Sha256};

use crate::before::context::TurnContext;
use crate::during::cancel::CancelWatch;
use crate::during::record_writer::now;
use crate::{Engine, Order, TurnError};

/// How soon a wait notices that it was given up.
const ONE_TRY: Duration = Duration::from_millis(100);
/// After that it is started anyway: whoever sets the store up for so long is stuck at something else.
const LONGEST: Duration = Duration::from_mins(2);

/// The right to set up a store, until it is seen to be set up. Nothing if there is nothing to set up.
#[derive(Default)]
pub(crate) struct SetUp {
    held: RefCell<Option<Held>>,
}

struct Held {
    lease: Lease,
    /// Says that this version of the agent has set up this store.
    note: PathBuf,
}

impl SetUp {
    /// Waits while somebody else sets up the same store; `tell` hears of it. `None` if the user gave up.
    pub(crate) fn wait(
        engine: &Engine,
        order: &Order,
        context: &TurnContext,
        cancel: &CancelWatch,
        tell: &mut dyn FnMut(String),
    ) -> Result<Option<Self>, TurnError> {
        let agent = &*order.agent;
        let store = context.store.as_deref().filter(|_| order.wish != Wish::Ephemeral);
        let Some((store, was_ready)) = store.and_then(|store| Some((store, agent.is_set_up(store)?))) else {
            return Ok(Some(Self::default()));
        };
        let note = note(engine, agent, store, context.installation.capabilities.version.as_deref());
        let owner =
            Owner::this_process("rejoin", format!("the first start of {} there", agent.agent()), now());
        let name = LeaseName::set_up(&agent.agent(), store);
        let begun = Instant::now();
        let mut told = false;
        loop {
            if was_ready && note.exists() {
                return Ok(Some(Self::default()));
            }
            match engine.leases().acquire(&name, &owner, Some(ONE_TRY)) {
                Ok(lease) => {
                    return Ok(Some(Self { held: RefCell::new(Some(Held { lease, note })) }));
                }
                Err(LockError::Busy { .. }) => {}
                Err(LockError::Journal(error)) => return Err(error.into()),
                Err(error @ LockError::Name { .. }) => return Err(TurnError::Usage(error.to_string())),
            }
            // The other one got so far that it stored a prompt.
            let is_ready = !was_ready && agent.is_set_up(store) == Some(true);
            if is_ready || begun.elapsed() >= LONGEST {
                return Ok(Some(Self::default()));
            }
            if cancel.requests() > 0 {
                return Ok(None);
            }
            if !std::mem::replace(&mut told, true) {
                tell(format!(
                    "another turn is setting up {}'s store {}; this one is started when that is done",
                    agent.title(),
                    store.display()
                ));
            }
        }
    }

    /// The agent shows that its store is set up: others may start.
    pub(crate) fn is_done(&self) {
        if let Some(Held { lease, note }) = self.held.take() {
            // A note that cannot be written only means that the next start is taken alone, too.
            if let Some(dir) = note.parent().filter(|dir| private::create_dir(dir).is_ok()) {
                let _ = std::fs::File::create(dir.join(note.file_name().unwrap_or_default()));
            }
            drop(lease);
        }
    }
}

fn note(engine: &Engine, agent: &dyn Definition, store: &Path, version: Option<&str>) -> PathBuf {
    let hash = short_hash(&[store.as_os_str().as_encoded_bytes(), version.unwrap_or_default().as_bytes()]);
    engine.cache().join("set-up").join(format!("{}-{hash}", agent.agent()))
}

fn short_hash(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
        hash.update([0]);
    }
    let first = hash.finalize().first_chunk().copied().unwrap_or_default();
    format!("{:032x}", u128::from_be_bytes(first))
}
