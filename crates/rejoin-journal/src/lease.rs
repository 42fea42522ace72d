//! The right to be the only one at something, wherever it is kept.

use std::fmt;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rejoin_core::ConversationId;

use crate::{JournalError, LeaseName, LockError, Owner};

/// Where leases are got: one holder per name.
pub trait Leases: Send + Sync + fmt::Debug {
    /// Takes a lease, waiting for it as long as `wait` says.
    fn acquire(&self, name: &LeaseName, owner: &Owner, wait: Option<Duration>) -> Result<Lease, LockError>;

    /// Who holds it now; `None` if nobody does. A holder that did not say who it is comes as an empty
    /// [`Owner`].
    fn holder(&self, name: &LeaseName) -> Result<Option<Owner>, LockError>;
}

/// What a held lease is made of, in the place it was got from. Dropping it frees the lease.
pub trait HeldLease: Send + Sync + fmt::Debug {
    /// What holds it, to be passed on to a process that shall hold it as well; where it is held by one.
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;

    /// Says who holds it.
    fn say(&self, owner: &Owner) -> Result<(), JournalError>;

    /// Says nothing any more.
    fn say_nothing(&self) -> Result<(), JournalError>;
}

/// Proves to a store that an append is made by who holds a lease. Its clones are one token.
#[derive(Clone, Debug)]
pub struct LeaseToken {
    name: LeaseName,
    number: u64,
    held: Arc<AtomicBool>,
}

impl LeaseToken {
    /// For places where leases are got: a number that no earlier lease of this name had.
    pub fn new(name: LeaseName, number: u64) -> Self {
        Self { name, number, held: Arc::new(AtomicBool::new(true)) }
    }

    /// The lease.
    pub fn name(&self) -> &LeaseName {
        &self.name
    }

    /// Which of the leases of that name.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Whether it is held, as far as this process knows.
    pub fn is_held(&self) -> bool {
        self.held.load(Ordering::Acquire)
    }

    /// It was given back, or somebody else has it: what carries this token is refused from now on.
    pub fn end(&self) {
        self.held.store(false, Ordering::Release);
    }
}

/// As what somebody appends.
#[derive(Clone, Debug)]
pub enum Writer {
    /// As who holds the conversation's lease: all that a turn says and does, and what changes what the next one
    /// builds on. Refused as [`JournalError::Fenced`] once the lease is gone.
    Turn(LeaseToken),
    /// As anybody: names and labels, which may come at any time.
    Label,
}

impl Writer {
    /// As who holds the lease on a conversation that is among these; as anybody if none is.
    pub fn holding<'a>(leases: impl IntoIterator<Item = &'a Lease>, id: ConversationId) -> Self {
        let name = LeaseName::conversation(id);
        let mut tokens = leases.into_iter().map(Lease::token);
        tokens.find(|token| *token.name() == name).map_or(Self::Label, |token| Self::Turn(token.clone()))
    }

    /// Refuses to write to a conversation if the lease is not held, or is on something else.
    ///
    /// Between threads of this process the token's flag is the fence. Between processes it is the lock itself where
    /// leases are locks of files: nobody else gets one while a descriptor of it is open, and it is not taken away.
    pub fn check(&self, id: ConversationId) -> Result<(), JournalError> {
        match self {
            Self::Turn(token) if !token.is_held() || *token.name() != LeaseName::conversation(id) => {
                Err(JournalError::Fenced { id })
            }
            Self::Turn(_) | Self::Label => Ok(()),
        }
    }
}

/// A lease that is held. Dropping it gives up our part; where a process inherited its descriptor, that one goes on
/// holding it.
#[derive(Debug)]
pub struct Lease {
    token: LeaseToken,
    owner: Mutex<Owner>,
    left: Vec<String>,
    held: Box<dyn HeldLease>,
}

/// More leases than any process takes.
static NUMBER: AtomicU64 = AtomicU64::new(1);

impl Lease {
    /// For places where leases are got: `left` is what holders before us left behind.
    pub fn new(
        token: LeaseToken,
        owner: &Owner,
        left: Vec<String>,
        held: Box<dyn HeldLease>,
    ) -> Result<Self, JournalError> {
        let lease = Self { token, owner: Mutex::new(owner.clone()), left, held };
        lease.say()?;
        Ok(lease)
    }

    /// A number that no other lease of this process has.
    pub(crate) fn next_number() -> u64 {
        NUMBER.fetch_add(1, Ordering::Relaxed)
    }

    /// What an append carries to show that this lease is held.
    pub fn token(&self) -> &LeaseToken {
        &self.token
    }

    /// What it is on.
    pub fn name(&self) -> &LeaseName {
        self.token.name()
    }

    /// What holds it, to be passed on to a process that shall hold it as well; where it is held by one.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.held.descriptor()
    }

    /// From now on processes are started under this lease that carry `mark` in their environment.
    pub fn add_mark(&self, mark: &str) -> Result<(), JournalError> {
        self.owner().marks.push(mark.to_owned());
        self.say()
    }

    /// They are gone, or may live on.
    pub fn remove_mark(&self, mark: &str) -> Result<(), JournalError> {
        self.owner().marks.retain(|known| known != mark);
        self.say()
    }

    /// What processes carry in their environment that holders before us started, which were killed:
    /// nobody has made sure yet that they are gone.
    pub fn left(&self) -> &[String] {
        &self.left
    }

    /// They are gone.
    pub fn nothing_is_left(&mut self) -> Result<(), JournalError> {
        self.left.clear();
        self.say()
    }

    /// Gives the lease back. Without this, should it carry marks, the next holder looks for processes
    /// that have them.
    pub fn give_back(self) {
        self.token.end();
        *self.owner() = Owner::default();
        // Should this fail, the next one looks in vain.
        let _ = if self.left.is_empty() { self.held.say_nothing() } else { self.say() };
    }

    /// Says anew who holds it.
    pub fn set_owner(&self, owner: &Owner) -> Result<(), JournalError> {
        *self.owner() = owner.clone();
        self.say()
    }

    fn owner(&self) -> MutexGuard<'_, Owner> {
        self.owner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self) -> Result<(), JournalError> {
        let said = self.owner();
        let mut owner = said.clone();
        owner.marks.extend_from_slice(&self.left);
        // One at a time: the lock on what is said is kept until it is written.
        self.held.say(&owner)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // Before what holds it is dropped: from here on somebody else may have it.
        self.token.end();
    }
}
