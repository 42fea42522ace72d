use std::collections::HashMap;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::{HeldLease, JournalError, Lease, LeaseName, LeaseToken, Leases, LockError, Owner};

/// Leases within this process: beside a [`crate::MemoryStore`], and for tests. Its clones share them.
#[derive(Clone, Debug, Default)]
pub struct MemoryLeases {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    names: Mutex<HashMap<LeaseName, Name>>,
    freed: Condvar,
}

/// What is known of a name.
#[derive(Debug, Default)]
struct Name {
    /// Who has it.
    holder: Option<LeaseToken>,
    /// What was said last, by whoever.
    said: Owner,
}

impl MemoryLeases {
    /// Nothing is held.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a lease away from its holder, as a fleet does with one whose machine is lost.
    pub fn steal(&self, name: &LeaseName) {
        if let Some(token) = self.shared.names().get_mut(name).and_then(|name| name.holder.take()) {
            token.end();
        }
        self.shared.freed.notify_all();
    }
}

impl Shared {
    fn names(&self) -> MutexGuard<'_, HashMap<LeaseName, Name>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Leases for MemoryLeases {
    fn acquire(&self, name: &LeaseName, owner: &Owner, wait: Option<Duration>) -> Result<Lease, LockError> {
        let is_held =
            |names: &mut HashMap<LeaseName, Name>| names.get(name).is_some_and(|name| name.holder.is_some());
        let until = Instant::now().checked_add(wait.unwrap_or_default());
        let mut names = self.shared.names();
        while is_held(&mut names) {
            let left = until.map_or(Duration::MAX, |until| until.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                let owner = names.get(name).map(|name| Box::new(name.said.clone()));
                return Err(LockError::Busy { name: name.to_string(), owner });
            }
            let waited = self.shared.freed.wait_timeout(names, left);
            names = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let token = LeaseToken::new(name.clone(), Lease::next_number());
        let entry = names.entry(name.clone()).or_default();
        entry.holder = Some(token.clone());
        let left = std::mem::take(&mut entry.said.marks);
        drop(names);
        let held = Held { shared: Arc::clone(&self.shared), token: token.clone() };
        Ok(Lease::new(token, owner, left, Box::new(held))?)
    }

    fn holder(&self, name: &LeaseName) -> Result<Option<Owner>, LockError> {
        let names = self.shared.names();
        Ok(names.get(name).filter(|name| name.holder.is_some()).map(|name| name.said.clone()))
    }
}

#[derive(Debug)]
struct Held {
    shared: Arc<Shared>,
    token: LeaseToken,
}

impl Held {
    /// Only as long as it is ours.
    fn change(&self, change: impl FnOnce(&mut Name)) {
        let mut names = self.shared.names();
        let is_ours = |name: &&mut Name| {
            name.holder.as_ref().is_some_and(|holder| holder.number() == self.token.number())
        };
        if let Some(name) = names.get_mut(self.token.name()).filter(is_ours) {
            change(name);
        }
    }
}

impl HeldLease for Held {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn say(&self, owner: &Owner) -> Result<(), JournalError> {
        self.change(|name| name.said = owner.clone());
        Ok(())
    }

    fn say_nothing(&self) -> Result<(), JournalError> {
        self.change(|name| name.said = Owner::default());
        Ok(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.change(|name| name.holder = None);
        self.shared.freed.notify_all();
    }
}
