//! A cycle: in which order what is due takes place.

use super::agenda::{Bucket, Event};
use super::messages::Came;
use super::state::{Packet, Reached, Way};
use super::{PacketEngine, Traffic};

/// A network of more outputs than this does not fit into a core's own cache.
const LARGE: usize = 1 << 12;

/// Tails after which that comes whose message is asked for.
const AHEAD: usize = 8;

impl PacketEngine {
    /// Simulate the present cycle.
    pub fn cycle(&mut self) {
        if self.gating.is_some() {
            self.consolidate();
        }
        let bucket = self.agenda.take(self.now);
        if self.routing.looks_at_queues() {
            self.execute_by_turns(&bucket);
        } else if self.outputs.len() > LARGE {
            self.execute_ahead(&bucket);
        } else {
            self.execute(&bucket.words, &bucket.packets, None);
        }
        self.finish(&bucket);
        self.agenda.give_back(bucket);
        self.now += 1;
    }

    /// Let a cycle's events take place in the order in which a router that looks at its queues sees them: packets leave
    /// nodes, credits come, all packets that have arrived are routed, then they go on. So none sees what others do in the
    /// same cycle.
    fn execute_by_turns(&mut self, bucket: &Bucket) {
        let of_nodes = self.network.ports().len() as u32 * u32::from(self.parameters.vcs);
        let is_node = |buffer: u32| buffer >= of_nodes;
        let events = || bucket.words.iter().map(|&word| Event::of(word));
        for event in events() {
            match event {
                Event::Credit { buffer } if is_node(buffer) => self.credit(buffer),
                _ => {}
            }
        }
        let mut refilled = std::mem::take(&mut self.refilled);
        for event in events() {
            match event {
                Event::Make { node } => self.make(node),
                Event::Credit { buffer } if !is_node(buffer) => refilled.push(buffer),
                _ => {}
            }
        }
        for &buffer in &refilled {
            self.room[buffer as usize] += 1;
        }
        for event in events() {
            if let Event::Forget { port } = event {
                self.recent[port as usize] -= self.parameters.packet_flits;
            }
        }
        let mut routed = std::mem::take(&mut self.routed);
        self.route_all(bucket, &mut routed);
        for buffer in refilled.drain(..) {
            // One that went on from behind another may have taken the room.
            if self.room[buffer as usize] > 0 {
                self.serve(buffer);
            }
        }
        for event in events() {
            match event {
                Event::Follow { buffer } => self.follow(buffer),
                Event::Release { channel } => self.release(channel),
                Event::Look { buffer } => self.look_again(buffer),
                Event::Control { number } => self.control(number),
                _ => {}
            }
        }
        for (from, packet, way) in routed.drain(..) {
            self.arrive(from, &packet, way);
        }
        self.refilled = refilled;
        self.routed = routed;
    }

    /// The ways of all packets that arrive, as the queues are now.
    fn route_all(&mut self, bucket: &Bucket, routed: &mut Vec<(u32, Packet, Way)>) {
        let step = self.first_step();
        let mut packets = bucket.packets.iter();
        for &word in &bucket.words {
            let Event::Arrive { from } = Event::of(word) else {
                continue;
            };
            let Some(packet) = packets.next() else {
                return;
            };
            let buffer = self.buffer(from, packet);
            let way = match self.way(packet) {
                Way::Open if self.queues.is_first(buffer, step) => {
                    Way::Hop(self.choose(from, packet))
                }
                way => way,
            };
            self.queues.prefetch(buffer);
            self.prefetch_way(way);
            routed.push((from, *packet, way));
        }
    }

    /// Let events take place, with the ways of their packets if these are known; the packets behind theirs.
    #[inline(always)]
    pub(super) fn execute<'a>(
        &mut self,
        words: &[u32],
        mut packets: &'a [Packet],
        ways: Option<&[Way]>,
    ) -> &'a [Packet] {
        let mut known = 0;
        for &word in words {
            match Event::of(word) {
                Event::Arrive { from } => {
                    let Some((packet, rest)) = packets.split_first() else {
                        continue;
                    };
                    packets = rest;
                    let way = ways.map_or_else(|| self.way(packet), |ways| ways[known]);
                    known += 1;
                    self.arrive(from, packet, way);
                }
                Event::Credit { buffer } => self.credit(buffer),
                Event::Make { node } => self.make(node),
                Event::Forget { port } => {
                    self.recent[port as usize] -= self.parameters.packet_flits;
                }
                Event::Follow { buffer } => self.follow(buffer),
                Event::Release { channel } => self.release(channel),
                Event::Look { buffer } => self.look_again(buffer),
                Event::Control { number } => self.control(number),
            }
        }
        packets
    }

    pub(super) fn way(&self, packet: &Packet) -> Way {
        if packet.router == packet.target {
            return Way::Node(self.routing.node_port(packet.dest));
        }
        match self.routing.only(packet.router, &packet.header()) {
            Some(request) => Way::Hop(request),
            None => Way::Open,
        }
    }

    /// Tails have reached their nodes.
    fn finish(&mut self, bucket: &Bucket) {
        self.done += bucket.reached.len() as u64;
        for (index, reached) in bucket.reached.iter().enumerate() {
            if let (Some(later), Traffic::Messages(messages)) =
                (bucket.reached.get(index + AHEAD), &self.traffic)
            {
                messages.prefetch(later.origin);
            }
            let Reached {
                origin,
                flits,
                hops,
                wakes,
                measured,
            } = *reached;
            self.measurement.interval.flits += u64::from(flits);
            if let Traffic::Messages(messages) = &mut self.traffic {
                let came = messages.came(origin, flits, wakes);
                let counts = came != Came::Acknowledgement;
                self.measurement
                    .came(self.now, if counts { hops.into() } else { 0 });
                if let Came::Acknowledged(by, to) = came {
                    self.acknowledge(by, to);
                }
            } else {
                let latency = (self.now as u32).wrapping_sub(origin);
                self.measurement
                    .arrived(latency.into(), hops.into(), measured);
            }
        }
    }
}
