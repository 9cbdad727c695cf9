//! What TCEP keeps of a link.

use crate::network::{PortId, RouterId};
use crate::tcep::LinkState;

/// A link that leaves its state by itself.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) enum Phase {
    Steady,
    /// At this cycle: a shadow link drains, or a waking one is active.
    Until(u64),
    /// A shadow link without further use waits until it is empty.
    Draining,
}

/// A link between two routers, and how long it was not on.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) ports: [PortId; 2],
    pub(super) state: LinkState,
    pub(super) phase: Phase,
    pub(super) root: bool,
    /// Router that agreed to the last change, and tells of it.
    pub(super) speaker: RouterId,
    /// Number of changes so far.
    pub(super) version: u32,
    /// When it went off, or began to be turned on.
    pub(super) since: u64,
    pub(super) off_cycles: u64,
    pub(super) turning_on_cycles: u64,
}

impl Link {
    /// Cycles since it came into a state, in which it is not on; 0 in others.
    pub(super) fn in_state(&self, state: LinkState, now: u64) -> u64 {
        if self.state == state {
            now - self.since
        } else {
            0
        }
    }
}
