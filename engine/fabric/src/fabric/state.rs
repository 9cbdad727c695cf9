//! The fabric as a value: the parts it consists of.

use crate::bridge::budget::Budget;
use crate::fabric::agenda::Agenda;
use crate::fabric::outbox::Outbox;
use crate::fabric::tally::Tally;
use crate::fabric::topology::Topology;
use crate::store::Store;
use crate::time::Ps;

/// Switches, NICs and cables, and everything that happens between them.
///
/// Every call that takes `now` first passes time up to it; a `now` before an earlier one counts as the latest.
/// Frames that reach hosts meanwhile are kept for the next [`Fabric::poll`].
#[derive(Debug)]
pub struct Fabric {
    pub(super) agenda: Agenda,
    pub(super) topology: Topology,
    pub(super) store: Store,
    pub(super) budget: Budget,
    pub(super) tally: Tally,
    pub(super) outbox: Outbox,
    pub(super) hash_seed: u64,
}

impl Fabric {
    /// An empty fabric. `seed` enters the flow hash of LAGs; `frame_budget_per_s` limits how many frames the switches
    /// forward per second (0: no limit).
    #[must_use]
    pub fn new(seed: u64, frame_budget_per_s: u64) -> Self {
        Self {
            agenda: Agenda::default(),
            topology: Topology::default(),
            store: Store::default(),
            budget: Budget::new(frame_budget_per_s),
            tally: Tally::default(),
            outbox: Outbox::default(),
            hash_seed: seed,
        }
    }

    /// Engine time: the latest `now` that a call passed.
    #[must_use]
    pub const fn now(&self) -> Ps {
        self.agenda.now()
    }
}
