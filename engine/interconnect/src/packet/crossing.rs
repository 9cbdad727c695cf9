//! Packets that have their virtual channel: through the switch and over a link, which may sleep.

use super::agenda::Event;
use super::state::{Crossed, MEASURED, Output, Packet, Reached};
use super::{PacketEngine, divided};
use crate::link::LinkLedger;
use crate::network::PortId;
use crate::routing::Request;

/// Cycles that a credit of a node takes to its router, besides what the router takes to use it.
const NODE_CREDIT: u64 = 2;

impl PacketEngine {
    /// A packet in a router has its virtual channel: it goes through the switch and over the link. The step of its tail.
    #[inline(always)]
    pub(super) fn grant(
        &mut self,
        from: u32,
        packet: &Packet,
        (arrived, step): (u64, u64),
        request: Request,
        vc: u8,
    ) -> u64 {
        let port = request.port;
        self.room[port as usize * usize::from(self.parameters.vcs) + usize::from(vc)] -= 1;
        if self.gating.is_some() {
            self.count(from, packet, request);
        }
        let Crossed {
            start,
            step,
            tail,
            woke,
        } = self.cross(from, packet, port, (arrived, step), true);
        if !self.recent.is_empty() {
            // Routers count it from when it is in the switch, or a history window later.
            let at = divided(step, u64::from(self.parameters.speedup))
                + u64::from(self.parameters.history_window);
            if at > self.now {
                self.recent[port as usize] += self.parameters.packet_flits;
                self.agenda.put(self.now, at, Event::Forget { port });
            }
        }
        let Output {
            router, latency, ..
        } = self.outputs[port as usize];
        let next = Packet {
            via: request.via,
            phase: request.phase,
            hops: packet.hops + 1,
            wakes: packet.wakes + u16::from(woke),
            router,
            back: u32::from(latency) + u32::from(self.parameters.credit_delay),
            tag: packet.tag & MEASURED | vc,
            ..*packet
        };
        let at = start + self.seen_from(packet) + u64::from(latency);
        self.agenda.put_packet(self.now, at, port, next);
        tail
    }

    /// Cycles from when a packet's head leaves over a link without latency to when a router at its other end looks at it.
    pub(super) fn seen_from(&self, packet: &Packet) -> u64 {
        self.parameters.switching.seen_from(packet.flits.into())
    }

    /// Through the switch from an input buffer to an output, whose link may sleep; whether that is between routers. The
    /// buffer is free for another packet when the tail is in the switch.
    #[inline(always)]
    fn cross(
        &mut self,
        from: u32,
        packet: &Packet,
        port: PortId,
        (arrived, step): (u64, u64),
        between: bool,
    ) -> Crossed {
        let steps = u64::from(self.parameters.speedup);
        let flits = u64::from(packet.flits);
        let Output { free, next, .. } = self.outputs[port as usize];
        let step = next.max(step);
        // Flits come in one a cycle, and each goes through at the first step that it can. `arrived` is when as many had come
        // as the router waits for.
        let missing = flits - self.parameters.switching.seen_from(flits);
        let last = (step + flits - 1).max((arrived + missing) * steps);
        let (start, woke) = self.awake_from(port, divided(step + 1, steps).max(free), between);
        let output = &mut self.outputs[port as usize];
        output.next = last + 1;
        let woke = output.send(start, flits, woke);
        let buffer = self.buffer(from, packet);
        self.agenda.put(
            self.now,
            divided(last, steps) + 1 + u64::from(packet.back),
            Event::Credit { buffer },
        );
        Crossed {
            start,
            step,
            tail: last,
            woke,
        }
    }

    /// A port's link is asked for at `at`, when it is free: when it is awake, and whether it had to wake. `between` routers,
    /// or to a node.
    #[inline(always)]
    pub(super) fn awake_from(&mut self, port: PortId, at: u64, between: bool) -> (u64, bool) {
        let free = self.outputs[port as usize].free;
        let hold = match &mut self.holds {
            _ if !between => self.node_hold,
            Some(holds) => holds.asked(port, free, at),
            None => self.hold,
        };
        if at > free.saturating_add(hold) {
            (self.wake(port, free, at, hold), true)
        } else {
            (at, false)
        }
    }

    /// A link that sleeps, and is free from `free` on, is asked for at `at`; when it is awake.
    #[cold]
    pub(super) fn wake(&mut self, output: u32, free: u64, at: u64, hold: u64) -> u64 {
        let Some(links) = &self.links else {
            return at;
        };
        let mut ledger = LinkLedger::default();
        let mut policy = self.policy(links, output);
        policy.timing.hold = hold;
        let (_, awake) = policy.wake(free, at, &mut ledger);
        self.slept[output as usize].add(&ledger);
        awake
    }

    /// The last hop: a node takes what comes, and gives the room back when the tail has. The step of the tail.
    pub(super) fn deliver(
        &mut self,
        from: u32,
        packet: &Packet,
        times: (u64, u64),
        port: PortId,
        vc: u8,
    ) -> u64 {
        let buffer = port * u32::from(self.parameters.vcs) + u32::from(vc);
        self.room[buffer as usize] -= 1;
        let Crossed {
            start,
            tail: last,
            woke,
            ..
        } = self.cross(from, packet, port, times, false);
        let latency = u64::from(self.outputs[port as usize].latency);
        let tail = start + u64::from(packet.flits) + latency;
        let reached = Reached {
            origin: packet.origin,
            flits: packet.flits,
            hops: packet.hops,
            wakes: packet.wakes + u16::from(woke),
            measured: packet.tag & MEASURED != 0,
        };
        self.agenda.put_reached(self.now, tail, reached);
        let back = tail + NODE_CREDIT + u64::from(self.parameters.credit_delay);
        self.agenda.put(self.now, back, Event::Credit { buffer });
        last
    }
}
