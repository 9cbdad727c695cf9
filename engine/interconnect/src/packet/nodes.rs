//! What nodes send: packets are made, ask for their node's channel, and leave over it.

use super::agenda::Event;
use super::messages::Part;
use super::state::{MEASURED, Output, Packet, Queued};
use super::{PacketEngine, Traffic};
use crate::network::{NodeId, RouterId};
use crate::routing::{Header, Request};

impl PacketEngine {
    /// Bring into the cache what a node has to send, and then the next message of that.
    pub(super) fn prefetch_channel(&self, node: NodeId) {
        if let Traffic::Messages(messages) = &self.traffic {
            messages.prefetch_channel(node);
        }
    }

    /// See [`Self::prefetch_channel`].
    pub(super) fn prefetch_message(&self, node: NodeId) {
        if let Traffic::Messages(messages) = &self.traffic {
            messages.prefetch_next(node);
        }
    }

    pub(super) fn make(&mut self, node: NodeId) {
        if let Traffic::Messages(messages) = &mut self.traffic {
            if let Some(part) = messages.next(node, self.parameters.packet_flits) {
                let Part {
                    dest,
                    message,
                    flits,
                } = part;
                self.measurement.given(self.now);
                let packet = self.make_packet(node, dest, message, flits);
                self.launch(node, packet);
            }
            return;
        }
        let output = self.node_output(node) as usize;
        let created = self.outputs[output].next;
        if created == u64::MAX {
            return;
        }
        let gap = self.gap();
        self.outputs[output].next = created.saturating_add(gap);
        let dest = match &self.traffic {
            Traffic::Random { destinations, .. } => destinations.draw(node, &mut self.rng),
            Traffic::Messages(_) => return,
        };
        let flits = self.parameters.packet_flits as u16;
        let packet = self.make_packet(node, dest, created as u32, flits);
        self.launch(node, packet);
    }

    /// A node acknowledges what came to it from another in this cycle, from the next one on.
    pub(super) fn acknowledge(&mut self, by: NodeId, to: NodeId) {
        let Traffic::Messages(messages) = &mut self.traffic else {
            return;
        };
        if messages.answer((by, to)) {
            let free = self.outputs[self.node_output(by) as usize].free;
            let at = free.max(self.now + 1);
            self.agenda.put(self.now, at, Event::Make { node: by });
        }
    }

    /// Cycles to a node's next packet.
    pub(super) fn gap(&mut self) -> u64 {
        match &self.traffic {
            Traffic::Random { trials, .. } => self.rng.trials(trials),
            Traffic::Messages(_) => u64::MAX,
        }
    }

    pub(super) fn make_packet(
        &mut self,
        source: NodeId,
        dest: NodeId,
        origin: u32,
        flits: u16,
    ) -> Packet {
        self.made += 1;
        let header = self.routing.header(source, dest);
        Packet {
            dest,
            target: header.target,
            via: header.via,
            origin,
            router: RouterId::MAX,
            back: 0,
            flits,
            hops: 0,
            wakes: 0,
            phase: header.phase,
            tag: if self.measurement.made() { MEASURED } else { 0 },
        }
    }

    /// A packet asks for its node's channel.
    pub(super) fn launch(&mut self, node: NodeId, packet: Packet) {
        let any = Request {
            port: self.node_output(node),
            first_vc: 0,
            last_vc: self.parameters.vcs - 1,
            priority: 0,
            phase: packet.phase,
            via: packet.via,
        };
        match self.roomiest(any) {
            Some(vc) => self.leave_node(node, packet, vc),
            None => self.queues.push(node, &packet, self.now),
        }
    }

    /// A packet has the virtual channel of its node's channel.
    pub(super) fn leave_node(&mut self, node: NodeId, packet: Packet, vc: u8) {
        let output = self.node_output(node);
        self.room[output as usize * usize::from(self.parameters.vcs) + usize::from(vc)] -= 1;
        let queued = Queued::new(&self.room, &self.recent, &self.parameters);
        let header = Header {
            source: node,
            ..packet.header()
        };
        let Header { phase, via, .. } =
            self.routing
                .start(header, &queued, self.parameters.threshold, &mut self.rng);
        let Output {
            free,
            next,
            router,
            latency,
            ..
        } = self.outputs[output as usize];
        let mut start = self.now.max(free);
        let woke = start > free.saturating_add(self.card_hold);
        if woke {
            start = self.wake(output, free, start, self.card_hold);
        }
        let end = start + u64::from(packet.flits);
        let woke = self.outputs[output as usize].send(start, packet.flits.into(), woke);
        let due = match self.traffic {
            Traffic::Random { .. } => next,
            Traffic::Messages(_) => 0,
        };
        if due != u64::MAX {
            self.agenda
                .put(self.now, due.max(end), Event::Make { node });
        }
        let moving = Packet {
            phase,
            via,
            router,
            wakes: u16::from(woke),
            back: latency.into(),
            tag: packet.tag & MEASURED | vc,
            ..packet
        };
        let at = start + self.seen_from(&moving) + u64::from(latency);
        self.agenda.put_packet(self.now, at, output, moving);
    }
}
