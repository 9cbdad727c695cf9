//! TCEP in the packet engine: links are turned off and on, and packets go by PAL.
//!
//! States, counters and decisions are those of the flit engine ([`crate::consolidation`]). Differences:
//! - A packet's flits count when it is given its virtual channel, all at once.
//! - A control packet takes the time of a flit on each of its links, behind what these have been promised to. It waits for no
//!   room: hardly ever are there more of them than a buffer holds.
//!
//! Links may sleep beside it. TCEP decides which links are on, and a link that is on follows its low-power policy:
//! - On is a link that is active, or a shadow, also while the buffers behind it drain. It sleeps after its hold, and wakes for
//!   packets and control packets alike. Its time is that of its policy's states, and none of it is off or turning on.
//! - A link that goes off leaves whatever state it was in at once, Ts or low power included. While it is off its policy rests,
//!   and this time counts in none of the policy's states ([`PacketEngine::off_cycles`]).
//! - A link that is turned on takes TCEP's wake, whatever its policy's Tw is ([`PacketEngine::turning_on_cycles`]). Then it is
//!   awake, and its hold begins.
//! - TCEP counts flits that are sent. A wait for a wake is no traffic, so it changes a count only by what comes later.

use super::PacketEngine;
use super::agenda::Event;
use super::state::{Packet, Slept, room_of};
use crate::consolidation::{Consolidation, ConsolidationCounts, Tcep};
use crate::error::SimulationError;
use crate::network::{PortId, RouterId};
use crate::routing::{Algorithm, Request};
use crate::tcep::LinkState;

/// TCEP and where its control packets are.
#[derive(Clone, Debug)]
pub(super) struct Gating {
    pub(super) tcep: Tcep,
    /// By number of a control packet: the router that it is under way to.
    towards: Vec<RouterId>,
    /// By port: when the last control packet on its link arrives.
    until: Vec<u64>,
}

impl PacketEngine {
    /// Turn links off and on by TCEP from now on.
    ///
    /// # Errors
    /// If the network is no HyperX with single links, the routing is not PAL, or packets are under way.
    pub fn set_consolidation(&mut self, parameters: Consolidation) -> Result<(), SimulationError> {
        if self.routing.algorithm() != Algorithm::PowerAware {
            return SimulationError::routing(
                "TCEP needs the routing pal, which knows links that are off",
            );
        }
        if self.made != 0 {
            return SimulationError::parameter("TCEP begins before the first packet");
        }
        let control = (self.parameters.vcs, self.room.len());
        self.gating = Some(Box::new(Gating {
            tcep: Tcep::new(&self.network, parameters, control, self.now)?,
            towards: Vec::new(),
            until: vec![0; self.network.ports().len()],
        }));
        if self.slept.is_empty() {
            self.slept = vec![Slept::default(); self.outputs.len()];
        }
        for port in 0..self.network.ports().len() as u32 {
            if self.is_gated(port) {
                self.leave_policy(port);
            }
        }
        Ok(())
    }

    /// What TCEP did so far.
    #[must_use]
    pub fn consolidation(&self) -> ConsolidationCounts {
        let gating = self.gating.as_ref();
        gating.map_or_else(ConsolidationCounts::default, |own| own.tcep.counts())
    }

    /// Power state of a port's link; none without TCEP, or to a node.
    #[must_use]
    pub fn link_state(&self, port: PortId) -> Option<LinkState> {
        self.gating.as_ref()?.tcep.state(port)
    }

    /// Cycles in which a port's link was off.
    #[must_use]
    pub fn off_cycles(&self, port: PortId) -> u64 {
        let gating = self.gating.as_ref();
        gating.map_or(0, |own| own.tcep.off_cycles(port, self.now))
    }

    /// Cycles in which a port's link was on its way from off to active.
    #[must_use]
    pub fn turning_on_cycles(&self, port: PortId) -> u64 {
        let gating = self.gating.as_ref();
        gating.map_or(0, |own| own.tcep.turning_on_cycles(port, self.now))
    }

    /// Whether an output's link is off, or not yet on again.
    pub(super) fn is_gated(&self, output: u32) -> bool {
        let is_port = (output as usize) < self.network.ports().len();
        is_port
            && matches!(
                self.link_state(output),
                Some(LinkState::Off | LinkState::Waking)
            )
    }

    /// A cycle in which TCEP does something if no packet comes.
    pub(super) fn next_change(&self) -> Option<u64> {
        let gating = self.gating.as_ref()?;
        gating
            .tcep
            .next_due(self.now, |port| self.is_unused(gating, port))
    }

    /// Whether no packet is on a port's link or in the buffers behind it, or asks for it.
    fn is_unused(&self, gating: &Gating, port: PortId) -> bool {
        let vcs = usize::from(self.parameters.vcs);
        let first = port as usize * vcs;
        let empty = room_of(&self.parameters);
        gating.until[port as usize] <= self.now
            && !self.queues.is_asked(port)
            && self.room[first..first + vcs]
                .iter()
                .all(|&room| room == empty)
    }

    /// Links that change, the end of an epoch, and control packets that leave their routers.
    pub(super) fn consolidate(&mut self) {
        let Some(mut gating) = self.gating.take() else {
            return;
        };
        let unused: Vec<PortId> = gating
            .tcep
            .draining()
            .filter(|&port| self.is_unused(&gating, port))
            .collect();
        gating.tcep.step(self.now, |port| unused.contains(&port));
        for port in gating.tcep.switched() {
            match gating.tcep.state(port) {
                Some(LinkState::Off) => self.leave_policy(port),
                _ => self.resume_policy(port),
            }
        }
        if !gating.tcep.mail.is_idle() {
            for (router, number) in gating.tcep.mail.send(|_| true) {
                self.carry(&mut gating, router, number, self.now);
            }
        }
        self.gating = Some(gating);
    }

    /// A control packet leaves a router at a cycle, or when the link is free.
    fn carry(&mut self, gating: &mut Gating, router: RouterId, number: u32, at: u64) {
        let to = gating.tcep.mail.packets[number].to;
        let port = gating.tcep.way_to(router, to);
        let at = at.max(self.outputs[port as usize].free);
        let (start, woke) = self.awake_from(port, at, true);
        let output = &mut self.outputs[port as usize];
        output.send(start, 1, woke);
        let arrives = start + 1 + u64::from(output.latency);
        gating.until[port as usize] = arrives;
        let index = number as usize;
        if gating.towards.len() <= index {
            gating.towards.resize(index + 1, 0);
        }
        gating.towards[index] = output.router;
        self.agenda
            .put(self.now, arrives, Event::Control { number });
    }

    /// A control packet has come to a router: to its own, or to the hub.
    pub(super) fn control(&mut self, number: u32) {
        let Some(mut gating) = self.gating.take() else {
            return;
        };
        let router = gating.towards[number as usize];
        if gating.tcep.mail.packets[number].to == router {
            let control = gating.tcep.mail.take(number);
            gating.tcep.receive(control);
        } else {
            let leaves = (self.first_step() + 1) / u64::from(self.parameters.speedup);
            self.carry(&mut gating, router, number, leaves);
        }
        self.gating = Some(gating);
    }

    /// A packet has been given a virtual channel of a port.
    pub(super) fn count(&mut self, from: u32, packet: &Packet, request: Request) {
        let input = self.buffer(from, packet) as usize;
        if let Some(gating) = &mut self.gating {
            debug_assert!(
                !matches!(
                    gating.tcep.state(request.port),
                    Some(LinkState::Off | LinkState::Waking)
                ),
                "a packet for a link that is off"
            );
            gating
                .tcep
                .track(input, packet.phase != 0 || request.phase != 0);
            gating.tcep.count(input, request.port, packet.flits.into());
        }
    }
}
