//! The leases of a turn as the supervisor holds them, so that they outlive a rejoin that is killed.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::OwnedFd;

use rejoin_journal::Owner;

use crate::during::record_writer::now;

/// Copies of the descriptors of leases, by the turn they came with. A copy holds as good as the first.
#[derive(Default)]
pub(super) struct HeldLeases(BTreeMap<u32, Vec<File>>);

impl HeldLeases {
    /// A turn begins.
    pub(super) fn begin(&mut self, turn: u32, leases: Vec<OwnedFd>) {
        self.0.insert(turn, leases.into_iter().map(File::from).collect());
    }

    /// It is over. What stands in their files is rejoin's to say, which holds them still.
    pub(super) fn end(&mut self, turn: u32) {
        self.0.remove(&turn);
    }

    /// rejoin is gone: whoever asks is told who holds them now. What is still below carries `mark`.
    pub(super) fn take_over(&self, mark: &str) {
        let what = "ending what a rejoin that was killed left running";
        let owner = Owner::this_process("rejoin", what, now()).marked(mark);
        for lease in self.0.values().flatten() {
            let _ = rejoin_journal::write_owner(lease, &owner);
        }
    }

    /// Nothing is left to be looked for.
    pub(super) fn give_back(&self) {
        for lease in self.0.values().flatten() {
            let _ = lease.set_len(0);
        }
    }
}
