//! What the engine counts, as others read it, and the laws that its counts keep.

use super::batch::Batches;
use super::state::RouterState;
use super::{FlitEngine, Flits};
use crate::consolidation::ConsolidationCounts;
use crate::link::LinkLedger;
use crate::network::{Peer, PortId};
use crate::tcep::LinkState;

impl FlitEngine {
    /// Time in state of a channel while its link was on, up to now or to the end of the last flit that has been granted;
    /// `None` without a policy. The rest is in [`Self::off_cycles`] and [`Self::turning_on_cycles`].
    #[must_use]
    pub fn link(&self, port: PortId) -> Option<LinkLedger> {
        let link = &self.links.as_ref()?[port as usize];
        let mut ledger = link.ledger(if self.foreseen {
            self.now.max(link.idle_from())
        } else {
            self.now
        });
        // Nobody sends over a link that is not on, and its policy, which never sleeps, takes that for idle.
        let gated = self.off_cycles(port) + self.turning_on_cycles(port);
        ledger.idle = ledger.idle.saturating_sub(gated);
        Some(ledger)
    }

    /// Stages of SLaC that are in use; `None` without it.
    #[must_use]
    pub fn stages(&self) -> Option<u32> {
        self.slac.as_ref().map(|slac| slac.on())
    }

    /// Packets of batches that have not been made; 0 without batches.
    #[must_use]
    pub fn batch_left(&self) -> u64 {
        self.batches.as_ref().map_or(0, Batches::left)
    }

    /// What TCEP or SLaC did so far; nothing without them.
    #[must_use]
    pub fn consolidation(&self) -> ConsolidationCounts {
        match (&self.tcep, &self.slac) {
            (Some(tcep), _) => tcep.counts(),
            (None, Some(slac)) => slac.counts(),
            (None, None) => ConsolidationCounts::default(),
        }
    }

    /// Cycles in which the link of a port was off.
    #[must_use]
    pub fn off_cycles(&self, port: PortId) -> u64 {
        match (&self.tcep, &self.slac) {
            (Some(tcep), _) => tcep.off_cycles(port, self.now),
            (None, Some(slac)) => slac.off_cycles(port, self.now),
            (None, None) => 0,
        }
    }

    /// Cycles in which TCEP was turning the link of a port on. SLaC's count as idle.
    #[must_use]
    pub fn turning_on_cycles(&self, port: PortId) -> u64 {
        let tcep = self.tcep.as_ref();
        tcep.map_or(0, |tcep| tcep.turning_on_cycles(port, self.now))
    }

    /// State of the link of a port; always active without TCEP and SLaC, and at nodes.
    #[must_use]
    pub fn link_state(&self, port: PortId) -> LinkState {
        let state = match (&self.tcep, &self.slac) {
            (Some(tcep), _) => tcep.state(port),
            (None, Some(slac)) => slac.state(port),
            (None, None) => None,
        };
        state.unwrap_or(LinkState::Active)
    }

    /// Flits sent into a port's channel so far.
    #[must_use]
    pub fn sent(&self, port: PortId) -> u64 {
        self.outputs.sent[port as usize]
    }

    /// How long the oldest waiting node lags behind its packets' times, in cycles: grows without bound past saturation.
    #[must_use]
    pub fn backlog(&self) -> u64 {
        self.nodes.backlog(self.now)
    }

    /// Where all flits are; `injected` is `ejected` plus `in_flight` at any moment.
    #[must_use]
    pub fn flits(&self) -> Flits {
        let moving = self.flits.iter().count() + self.ejections.iter().count();
        let crossing: usize = self.routers.iter().map(RouterState::crossing).sum();
        let queued: usize = self.outputs.queues.iter().map(|queue| queue.len()).sum();
        Flits {
            injected: self.injected,
            ejected: self.ejected,
            in_flight: (moving + crossing + queued) as u64 + self.inputs.stored(),
        }
    }

    /// For every virtual channel of every link: the buffer's size equals credits, flits in the buffer, and both under
    /// way. `Err` names the first that differs.
    ///
    /// # Errors
    /// If credits were lost or made up.
    pub fn check_credits(&self) -> Result<(), String> {
        let (vcs, numbering) = (self.channels, self.inputs.numbering);
        let size = usize::from(self.parameters.buffer_flits);
        for (id, port) in (0..).zip(self.network.ports()) {
            for vc in 0..vcs {
                // Flits and credits between this output and the input at its other end.
                let waiting = self.outputs.queues[id as usize]
                    .iter()
                    .filter(|(_, own)| *own == vc)
                    .count()
                    + self.routers[port.router as usize].crossing_to(id, vc);
                let own = numbering.number(id, vc);
                let returning = self.credits.iter().filter(|&&output| output == own);
                let returning = returning.count();
                let far = match port.peer {
                    Peer::Port(peer) => {
                        let input = numbering.number(peer, vc);
                        let flying = self.flits.iter().filter(|(to, _)| *to == input);
                        flying.count() + self.inputs.length(input as usize)
                    }
                    Peer::Node(node) => {
                        let flying = self.ejections.iter();
                        flying
                            .filter(|(to, own, _)| (*to, *own) == (node, vc))
                            .count()
                    }
                };
                let credits = self.outputs.credits(id, vc);
                if credits + waiting + returning + far != size {
                    return Err(format!(
                        "port {id} VC {vc}: {credits} credits, {waiting} waiting, {returning} returning, {far} beyond, of {size}"
                    ));
                }
            }
        }
        Ok(())
    }
}
