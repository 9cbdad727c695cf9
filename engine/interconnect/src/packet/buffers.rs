//! Packets in the buffers of routers: who is the first, and what it waits for.

use super::agenda::Event;
use super::state::{Packet, Queued, Way};
use super::waiting::Waiting;
use super::{PacketEngine, divided};
use crate::network::{Peer, Port};
use crate::routing::Request;

impl PacketEngine {
    #[inline(always)]
    pub(super) fn arrive(&mut self, from: u32, packet: &Packet, way: Way) {
        let buffer = self.buffer(from, packet);
        let step = self.first_step();
        if !self.queues.is_first(buffer, step) {
            self.come_behind(buffer, packet);
            return;
        }
        match self.go_on(from, packet, way, (self.now, step)) {
            Ok(tail) => {
                // The next head comes behind this tail, and the next tail may be a head.
                let flits = u64::from(packet.flits) + 1 - self.seen_from(packet);
                let soonest = step + flits * u64::from(self.parameters.speedup);
                self.queues.leaves(buffer, tail + 2, soonest);
            }
            Err(request) => {
                self.queues.block(buffer, packet, self.now, request);
                self.wait_for_others(buffer);
            }
        }
    }

    /// The first packet of a buffer waits for room, behind each output if it asks for several.
    #[inline]
    fn wait_for_others(&mut self, buffer: u32) {
        if self.several.is_some() {
            self.wait_for_any(buffer);
        }
    }

    /// The internal step in which a packet that comes now can cross the switch: it is given its virtual channel in the one
    /// before, the first of the cycle.
    pub(super) fn first_step(&self) -> u64 {
        self.now * u64::from(self.parameters.speedup) + 1
    }

    /// A packet comes to a buffer that others are in.
    #[inline(never)]
    fn come_behind(&mut self, buffer: u32, packet: &Packet) {
        if let Some(ready) = self.queues.follow(buffer, packet, self.now) {
            self.expect(buffer, ready);
        }
    }

    /// The next packet of a buffer may cross the switch from this internal step on: it is the first one from the step before
    /// on, in which it is given its virtual channel.
    #[inline(never)]
    fn expect(&mut self, buffer: u32, ready: u64) {
        let at = divided(ready - 1, u64::from(self.parameters.speedup));
        if at > self.now {
            self.agenda.put(self.now, at, Event::Follow { buffer });
        } else {
            self.follow(buffer);
        }
    }

    /// The next packet of a buffer is the first one now.
    #[inline(never)]
    pub(super) fn follow(&mut self, buffer: u32) {
        let Some(ready) = self.queues.follower(buffer) else {
            return;
        };
        let Some((own, waiting)) = self.queues.following(buffer, self.now) else {
            return;
        };
        let Waiting {
            packet,
            from,
            arrived,
            ..
        } = waiting;
        match self.go_on(from, &packet, self.way(&packet), (arrived, ready)) {
            Ok(tail) => {
                self.queues.goes(own);
                self.leave(buffer, tail);
            }
            Err(request) => {
                self.queues.stays(own, buffer, request);
                self.wait_for_others(buffer);
            }
        }
    }

    /// The first packet of a buffer has its virtual channel, and its tail crosses the switch at this internal step.
    pub(super) fn leave(&mut self, buffer: u32, tail: u64) {
        self.queues.leaves_late(buffer, tail + 2);
        if let Some(ready) = self.queues.follower(buffer) {
            self.expect(buffer, ready);
        }
    }

    /// The buffer that a packet from an output is in.
    pub(super) fn buffer(&self, from: u32, packet: &Packet) -> u32 {
        from * u32::from(self.parameters.vcs) + u32::from(packet.vc())
    }

    /// The first packet of a buffer leaves it, at an internal step or later: the step of its tail, or, if there is no room,
    /// what it waits for.
    #[inline(always)]
    fn go_on(
        &mut self,
        from: u32,
        packet: &Packet,
        way: Way,
        (arrived, step): (u64, u64),
    ) -> Result<u64, Request> {
        let request = match way {
            Way::Node(_) => self.routing.to_node(&packet.header()),
            Way::Hop(request) => request,
            Way::Open if self.several.is_some() => {
                return self.go_on_by_any(from, packet, (arrived, step));
            }
            Way::Open => self.choose(from, packet),
        };
        match self.roomiest(request) {
            Some(vc) => Ok(self.take_output(from, packet, (arrived, step), request, vc)),
            None => Err(request),
        }
    }

    /// A packet has a virtual channel of its output, to a router or its node. The step of its tail.
    #[inline(always)]
    fn take_output(
        &mut self,
        from: u32,
        packet: &Packet,
        times: (u64, u64),
        request: Request,
        vc: u8,
    ) -> u64 {
        if packet.router == packet.target {
            self.deliver(from, packet, times, request.port, vc)
        } else {
            self.grant(from, packet, times, request, vc)
        }
    }

    pub(super) fn choose(&mut self, from: u32, packet: &Packet) -> Request {
        let in_port = match self.network.ports().get(from as usize) {
            Some(Port {
                peer: Peer::Port(peer),
                ..
            }) => *peer,
            _ => self
                .network
                .node_port(from - self.network.ports().len() as u32),
        };
        let queued = Queued::new(&self.room, &self.recent, &self.parameters);
        if let Some(gating) = &mut self.gating {
            let header = packet.header();
            self.routing
                .requests(packet.router, in_port, &header, &mut self.requests);
            let input = from * u32::from(self.parameters.vcs) + u32::from(packet.vc());
            let chosen = gating.tcep.choose(
                (packet.router, input as usize),
                &self.requests,
                &header,
                (&queued, self.parameters.threshold),
                |hop| {
                    let first = hop.port as usize * queued.vcs;
                    let vcs = first + usize::from(hop.first_vc)..=first + usize::from(hop.last_vc);
                    self.room[vcs].iter().any(|&room| room > 0)
                },
                &mut self.rng,
            );
            self.requests.swap(0, chosen);
            self.requests.truncate(1);
            return self.requests[0];
        }
        self.routing.choose(
            (packet.router, in_port),
            &packet.header(),
            &queued,
            self.parameters.threshold,
            &mut self.rng,
            &mut self.requests,
        );
        self.requests[0]
    }

    pub(super) fn credit(&mut self, buffer: u32) {
        let room = &mut self.room[buffer as usize];
        *room += 1;
        // Packets wait only for channels without room.
        if *room == 1 {
            self.serve(buffer);
        }
    }

    /// The first packet that waits for a virtual channel that now has room takes it.
    #[inline(never)]
    pub(super) fn serve(&mut self, buffer: u32) {
        let vcs = u32::from(self.parameters.vcs);
        let (output, vc) = (buffer / vcs, (buffer % vcs) as u8);
        if self.several.is_some() && self.leads_on(output) {
            self.serve_any(buffer);
            return;
        }
        let Some(Waiting {
            packet,
            from,
            arrived,
            request,
            ..
        }) = self.queues.take((output, vc), self.now, |_| &[])
        else {
            return;
        };
        match output.checked_sub(self.network.ports().len() as u32) {
            Some(node) => self.leave_node(node, packet, vc),
            None => {
                let times = (arrived, self.first_step());
                let tail = self.take_output(from, &packet, times, request, vc);
                self.leave(self.buffer(from, &packet), tail);
            }
        }
    }
}
