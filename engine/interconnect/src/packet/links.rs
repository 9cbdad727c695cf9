//! Policies of links, and the time that links spent in each state.

use super::bounded::Holds;
use super::state::{Links, Output, Slept, hold_of};
use super::{LinkPolicies, PacketEngine};
use crate::error::SimulationError;
use crate::link::{LinkLedger, LinkPolicy};
use crate::network::{NodeId, Peer, Port, PortId};

impl PacketEngine {
    /// Let links follow policies from now on.
    ///
    /// # Errors
    /// If a policy coalesces or slows links down: both are for the flit engine.
    pub fn set_links(&mut self, policies: impl Into<LinkPolicies>) -> Result<(), SimulationError> {
        let policies = policies.into();
        let LinkPolicies {
            routers,
            nodes,
            cards,
            bound,
        } = policies;
        for policy in [routers, nodes, cards] {
            policy.check()?;
            if policy.timing.coalesce != 0
                || policy.timing.coalesce_byte != 0
                || policy.flit_cycles != 1
            {
                return SimulationError::parameter(
                    "the packet engine neither coalesces nor slows links down; choose the flit engine",
                );
            }
        }
        for output in &mut self.outputs {
            output.free = output.free.max(self.now);
            output.sent = 0;
        }
        self.hold = hold_of(&routers);
        self.node_hold = hold_of(&nodes);
        self.card_hold = hold_of(&cards);
        self.holds = bound.filter(|_| self.hold != u64::MAX).map(|bound| {
            let wake = routers.longest_wake();
            Holds::new(bound, self.network.ports().len(), self.hold, wake, self.now)
        });
        self.links = Some(Links {
            policies,
            since: self.now,
        });
        let shortest = self.hold.min(self.node_hold).min(self.card_hold);
        let leaves = shortest != u64::MAX || self.gating.is_some();
        self.slept = vec![Slept::default(); if leaves { self.outputs.len() } else { 0 }];
        Ok(())
    }

    /// Time in state of a channel while its link was on, up to now or to the end of the last packet that has been granted;
    /// `None` without a policy. The rest is in [`Self::off_cycles`] and [`Self::turning_on_cycles`].
    #[must_use]
    pub fn link(&self, port: PortId) -> Option<LinkLedger> {
        self.network.ports().get(port as usize)?;
        self.output_ledger(port)
    }

    /// As [`Self::link`], of the channel from a node to its router.
    #[must_use]
    pub fn node_link(&self, node: NodeId) -> Option<LinkLedger> {
        (node < self.network.nodes())
            .then(|| self.output_ledger(self.node_output(node)))
            .flatten()
    }

    fn output_ledger(&self, output: u32) -> Option<LinkLedger> {
        let links = self.links.as_ref()?;
        let index = output as usize;
        let Output { free, sent, .. } = self.outputs[index];
        let slept = self.slept.get(index).copied().unwrap_or_default();
        let mut ledger = slept.ledger();
        ledger.transmit = sent;
        ledger.idle = free - links.since - ledger.total() - slept.gated;
        if !self.is_gated(output) {
            self.policy(links, output)
                .rest(free, self.now.max(free), &mut ledger);
        }
        Some(ledger)
    }

    /// A link goes off: what its policy had it do until now counts.
    pub(super) fn leave_policy(&mut self, port: PortId) {
        let mut ledger = LinkLedger::default();
        let output = &mut self.outputs[port as usize];
        let free = std::mem::replace(&mut output.free, self.now);
        if let Some(links) = &self.links {
            self.policy(links, port).rest(free, self.now, &mut ledger);
        }
        self.slept[port as usize].add(&ledger);
    }

    /// A link that was off is on, and idle from now on.
    pub(super) fn resume_policy(&mut self, port: PortId) {
        let output = &mut self.outputs[port as usize];
        let left = std::mem::replace(&mut output.free, self.now);
        output.woke = false;
        self.slept[port as usize].gated += self.now - left;
    }

    pub(super) fn policy(&self, links: &Links, output: u32) -> LinkPolicy {
        match self.network.ports().get(output as usize) {
            Some(Port {
                peer: Peer::Port(_),
                ..
            }) => {
                let mut policy = links.policies.routers;
                if let Some(holds) = &self.holds {
                    policy.timing.hold = holds.of(output);
                }
                policy
            }
            Some(_) => links.policies.nodes,
            None => links.policies.cards,
        }
    }
}
