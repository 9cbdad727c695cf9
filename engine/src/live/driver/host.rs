//! A host as the live thread sees it.

use std::collections::VecDeque;

use fabric::{Frame, PortId, Ps};

use crate::wire::tap::Tap;

/// A host's TAP, and what of it waits.
pub(super) struct Host {
    pub(super) nic: PortId,
    pub(super) tap: Tap,
    /// Frames read that the ring of the NIC has not taken yet.
    pub(super) pending: VecDeque<Frame>,
    /// The TAP may have more; the host is in `readable` or `stalled`.
    pub(super) readable: bool,
}

/// Give the fabric what a host has sent, as far as the ring of its NIC takes it.
pub(super) fn offer(fabric: &mut fabric::Fabric, host: &mut Host, now: Ps) {
    while let Some(frame) = host.pending.pop_front() {
        if let Err(frame) = fabric.transmit(now, host.nic, frame) {
            host.pending.push_front(frame);
            return;
        }
    }
}
