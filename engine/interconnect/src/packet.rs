//! The packet engine: virtual cut-through by arithmetic. A packet costs one event a hop, and a credit.
//!
//! ```text
//! head arrives at u ─ route, virtual channel with room for the packet ─ switch from step s·u + 1 on ─ link when free ─> next
//! ```
//!
//! It computes what the flit engine with [`Switching::CutThrough`] does, as long as an output's queue is what packets wait
//! for: an output, to a router or to a node, takes one packet after the other, in the order of their grants; its switch works
//! at `speedup` flits a cycle, its link at one. Of a buffer only the first packet may ask for an output, and the one behind it
//! is the first once its tail is in the switch: so a packet without room behind its output holds up those behind it, and no
//! output is promised to a packet that cannot come yet. The buffers that wait for an output take turns. Where ways depend on
//! queues, all that arrive in a cycle are routed before any goes on, and what waits for the switch is not in the queues.
//! Differences:
//! - An input's switch port never is the bottleneck, and no allocation fails that could succeed: with a `speedup` of 1, and
//!   a little near saturation, this engine is too fast. Where all nodes send to the same shift of themselves at once, packets
//!   of several flits wait up to 8 % less in the mean, though the last one arrives as late.
//! - A packet gets the virtual channel with the most room, where the flit engine takes turns or the lowest. Beside chance no
//!   difference was seen, at saturation neither.
//! - So queues are shorter by some hundredths of a flit, and where routing weighs queues, it does so a little differently:
//!   saturation comes at loads up to 1 % off.
//!
//! A packet is in no table: it travels from one cycle's list to the next ([`agenda`]), and is put away only while it waits.
//! Of an output, a hop touches 32 bytes, and one counter of room for each virtual channel.
//!
//! [`PacketEngine::new`] refuses what it cannot simulate, and [`PacketEngine::doubts`] says where its results differ from
//! the flit engine's. Compare the two before trusting it on a new kind of network.

mod agenda;
mod asking;
mod bounded;
mod messages;
mod state;
mod waiting;

use crate::error::SimulationError;
use crate::link::{LinkLedger, LinkPolicy};
use crate::measure::{Interval, Measurement};
use crate::network::{Network, NodeId, Peer, Port, PortId, RouterId};
use crate::parameters::{RouterParameters, Switching};
use crate::prefetch::prefetch;
use crate::rng::{Rng, Trials};
use crate::routing::{Choice, Header, Request, Routing};
use crate::traffic::Destinations;

use agenda::{Agenda, Bucket, Event};
use bounded::Holds;
use messages::{Messages, Part};
use state::{
    Crossed, Links, MEASURED, Output, Packet, Queued, Reached, Slept, Way, hold_of, outputs,
};
use waiting::{Queues, Waiting};

pub use bounded::DelayBound;
pub use messages::Signal;
pub use state::LinkPolicies;

/// A network of more outputs than this does not fit into a core's own cache.
const LARGE: usize = 1 << 12;

/// Cycles that a credit of a node takes to its router, besides what the router takes to use it.
const NODE_CREDIT: u64 = 2;

/// Events that are looked at together before they take place.
const AHEAD: usize = 10;

/// A quotient; the usual divisors are known to the compiler, which then does not divide.
const fn divided(value: u64, by: u64) -> u64 {
    match by {
        1 => value,
        2 => value / 2,
        3 => value / 3,
        4 => value / 4,
        _ => value / by,
    }
}

/// A network under simulation.
#[derive(Clone, Debug)]
pub struct PacketEngine {
    network: Network,
    routing: Routing,
    parameters: RouterParameters,
    traffic: Traffic,
    rng: Rng,
    now: u64,
    agenda: Agenda,
    outputs: Vec<Output>,
    /// Packets that fit, by output and virtual channel.
    room: Vec<u16>,
    /// Flits that wait for the switch or were in it within the history window, by port; none if nobody looks.
    recent: Vec<u32>,
    queues: Queues,
    /// Idle cycles after which a link between routers sleeps, and one to a node.
    hold: u64,
    node_hold: u64,
    /// Of links between routers that choose theirs.
    holds: Option<Holds>,
    links: Option<Links>,
    /// By output, time in low power before the link was free last; none if links never sleep.
    slept: Vec<Slept>,
    requests: Vec<Request>,
    /// For [`Self::execute_by_turns`].
    refilled: Vec<u32>,
    routed: Vec<(u32, Packet, Way)>,
    measurement: Measurement,
    made: u64,
    done: u64,
}

/// Who makes packets.
#[derive(Clone, Debug)]
enum Traffic {
    /// Every node, at random times.
    Random {
        destinations: Destinations,
        trials: Trials,
    },
    /// Whoever calls [`PacketEngine::send`].
    Messages(Messages),
}

impl PacketEngine {
    /// A network without traffic in it; every node then offers `load` flits a cycle (Bernoulli packets).
    ///
    /// # Errors
    /// If the parameters contradict each other, switching is not virtual cut-through, or the routing asks for several
    /// ports at once.
    pub fn new(
        network: Network,
        routing: Routing,
        parameters: RouterParameters,
        destinations: Destinations,
        load: f64,
        seed: u64,
    ) -> Result<Self, SimulationError> {
        if !(0.0..=1.0).contains(&load) {
            return SimulationError::parameter(format!(
                "a load is from 0 to 1 flits a cycle, not {load}"
            ));
        }
        let traffic = Traffic::Random {
            destinations,
            trials: Trials::new(load / f64::from(parameters.packet_flits)),
        };
        let mut engine = Self::with(network, routing, parameters, traffic, seed)?;
        for node in 0..engine.network.nodes() {
            let due = engine.gap().saturating_sub(1);
            let output = engine.node_output(node) as usize;
            engine.outputs[output].next = due;
            engine.agenda.put(0, due, Event::Make { node });
        }
        Ok(engine)
    }

    /// A network without traffic in it; nodes send what [`Self::send`] gives them, and nothing else.
    ///
    /// # Errors
    /// As [`Self::new`], or if a packet has more than 65,535 flits.
    pub fn of_messages(
        network: Network,
        routing: Routing,
        parameters: RouterParameters,
        seed: u64,
    ) -> Result<Self, SimulationError> {
        if parameters.packet_flits > u16::MAX.into() {
            return SimulationError::parameter(format!(
                "a message's packets have up to {} flits, not {}",
                u16::MAX,
                parameters.packet_flits
            ));
        }
        let traffic = Traffic::Messages(Messages::new(network.nodes()));
        Self::with(network, routing, parameters, traffic, seed)
    }

    fn with(
        network: Network,
        routing: Routing,
        parameters: RouterParameters,
        traffic: Traffic,
        seed: u64,
    ) -> Result<Self, SimulationError> {
        parameters.check()?;
        if parameters.switching != Switching::CutThrough {
            return SimulationError::parameter(
                "the packet engine simulates virtual cut-through; choose the flit engine for wormhole switching",
            );
        }
        if parameters.traversal_delay != 1 || parameters.routing_delay != 0 {
            return SimulationError::parameter(
                "the packet engine has a switch traversal of 1 cycle and no routing delay",
            );
        }
        if routing.vcs() != parameters.vcs {
            return SimulationError::parameter(format!(
                "the routing is for {} virtual channels, the routers have {}",
                routing.vcs(),
                parameters.vcs
            ));
        }
        if routing.choice() == Choice::FirstFree {
            return SimulationError::routing(format!(
                "{} asks for several ports at once, which the packet engine does not simulate; choose the flit engine",
                routing.algorithm().name()
            ));
        }
        let ports = network.ports().len();
        let nodes = network.nodes() as usize;
        let vcs = usize::from(parameters.vcs);
        if (ports + nodes) * vcs > agenda::LARGEST as usize {
            return SimulationError::parameter(format!(
                "the packet engine numbers up to {} buffers, and this network has {}; take fewer virtual channels",
                agenda::LARGEST,
                (ports + nodes) * vcs
            ));
        }
        let fits = (u32::from(parameters.buffer_flits) / parameters.packet_flits) as u16;
        Ok(Self {
            agenda: Agenda::new(),
            outputs: outputs(&network),
            room: vec![fits; (ports + nodes) * vcs],
            recent: vec![0; if routing.looks_at_queues() { ports } else { 0 }],
            queues: Queues::new(&network, vcs),
            hold: u64::MAX,
            node_hold: u64::MAX,
            holds: None,
            links: None,
            slept: Vec::new(),
            requests: Vec::new(),
            refilled: Vec::new(),
            routed: Vec::new(),
            measurement: Measurement::default(),
            made: 0,
            done: 0,
            rng: Rng::new(seed),
            now: 0,
            network,
            routing,
            parameters,
            traffic,
        })
    }

    /// Where its assumptions are weak, in sentences; none if they hold.
    #[must_use]
    pub fn doubts(&self) -> Vec<String> {
        let RouterParameters {
            buffer_flits,
            packet_flits,
            credit_delay,
            speedup,
            ..
        } = self.parameters;
        let mut doubts = Vec::new();
        // What is under way while a credit comes back.
        let round_trip = 2 * self.network.longest_latency() + 3 + u32::from(credit_delay);
        let room = u32::from(buffer_flits) * u32::from(self.parameters.vcs);
        if speedup == 1 {
            doubts.push(
                "with a speedup of 1 the inputs of the switch decide, which the packet engine leaves out".to_owned(),
            );
        }
        if u32::from(buffer_flits) < 2 * packet_flits {
            doubts.push(format!(
                "buffers of {buffer_flits} flits hold one packet of {packet_flits}: allocation, which the packet engine has \
                 succeed at once, decides"
            ));
        }
        if self.routing.looks_at_queues() {
            doubts.push(format!(
                "{} weighs queues, which are a little shorter in the packet engine: its saturation is up to 1 % off",
                self.routing.algorithm().name()
            ));
        }
        if room < round_trip + packet_flits {
            doubts.push(format!(
                "the buffers behind a link hold {room} flits, fewer than are under way in a round trip of {round_trip} cycles"
            ));
        }
        if self.backlog() > 1000 + 10 * u64::from(packet_flits) {
            let how = if self.routing.looks_at_queues() {
                "too much"
            } else {
                "up to 3 % too much"
            };
            doubts.push(format!(
                "nodes wait longer and longer: past saturation the packet engine accepts {how}"
            ));
        }
        doubts
    }

    /// Let links follow policies from now on.
    ///
    /// # Errors
    /// If a policy coalesces or slows links down: both are for the flit engine.
    pub fn set_links(&mut self, policies: impl Into<LinkPolicies>) -> Result<(), SimulationError> {
        let policies = policies.into();
        let LinkPolicies {
            routers,
            nodes,
            bound,
        } = policies;
        for policy in [routers, nodes] {
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
        self.holds = bound.filter(|_| self.hold != u64::MAX).map(|bound| {
            let wake = routers.longest_wake();
            Holds::new(bound, self.network.ports().len(), self.hold, wake, self.now)
        });
        self.links = Some(Links {
            policies,
            since: self.now,
        });
        let sleeps = self.hold.min(self.node_hold) != u64::MAX;
        self.slept = vec![Slept::default(); if sleeps { self.outputs.len() } else { 0 }];
        Ok(())
    }

    /// Time in state of a channel, up to now or to the end of the last packet that has been granted; `None` without a
    /// policy.
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
        ledger.idle = free - links.since - ledger.total();
        self.policy(links, output)
            .rest(free, self.now.max(free), &mut ledger);
        Some(ledger)
    }

    fn policy(&self, links: &Links, output: u32) -> LinkPolicy {
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
            _ => links.policies.nodes,
        }
    }

    /// The present cycle.
    #[must_use]
    pub const fn now(&self) -> u64 {
        self.now
    }

    /// The network.
    #[must_use]
    pub const fn network(&self) -> &Network {
        &self.network
    }

    /// From now on, whether packets that are made are measured.
    pub fn measure(&mut self, on: bool) {
        self.measurement.switch(on);
    }

    /// Latencies of the packets that were made while measuring.
    #[must_use]
    pub const fn measurement(&self) -> &Measurement {
        &self.measurement
    }

    /// Packets made, and packets that have arrived. Their difference is in the network: [`Self::in_flight`].
    #[must_use]
    pub const fn packets(&self) -> (u64, u64) {
        (self.made, self.done)
    }

    /// Packets in buffers and on links, counted one by one.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        (self.agenda.packets() + self.queues.count()) as u64
    }

    /// Whether every buffer is empty and every credit back.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        let fits = (u32::from(self.parameters.buffer_flits) / self.parameters.packet_flits) as u16;
        self.room.iter().all(|&room| room == fits) && self.recent.iter().all(|&flits| flits == 0)
    }

    /// How long the oldest waiting node lags behind its packets' times, in cycles: grows without bound past saturation.
    #[must_use]
    pub fn backlog(&self) -> u64 {
        let nodes = &self.outputs[self.network.ports().len()..];
        let oldest = nodes.iter().map(|node| node.next).min();
        let oldest = oldest.unwrap_or(self.now);
        self.now.saturating_sub(oldest)
    }

    /// Whether a node's channel is free for another packet.
    #[must_use]
    pub fn is_free(&self, node: NodeId) -> bool {
        let output = self.node_output(node);
        self.outputs[output as usize].free <= self.now && !self.queues.is_wanted(node)
    }

    /// Have a node send a packet now, behind what it sends already.
    pub fn offer(&mut self, source: NodeId, dest: NodeId) {
        let flits = self.parameters.packet_flits as u16;
        let packet = self.make_packet(source, dest, self.now as u32, flits);
        self.launch(source, packet);
    }

    /// Have a node send a message of so many flits, behind those that it has to send already. `token` comes back in
    /// [`Self::take_signals`] when it has arrived, and if `tells` also when it has left.
    ///
    /// # Panics
    /// If the engine was made for random traffic, or the message has no flit.
    pub fn send(&mut self, source: NodeId, dest: NodeId, flits: u64, token: u32, tells: bool) {
        assert!(flits > 0, "a message has at least one flit");
        let Traffic::Messages(messages) = &mut self.traffic else {
            panic!("messages are for an engine without random traffic");
        };
        if messages.send((source, dest), flits, token, tells) {
            let free = self.outputs[self.node_output(source) as usize].free;
            let at = free.max(self.now);
            self.agenda.put(self.now, at, Event::Make { node: source });
        }
    }

    /// Move out what happened to messages since the last call, in order.
    pub fn take_signals(&mut self, into: &mut Vec<Signal>) {
        if let Traffic::Messages(messages) = &mut self.traffic {
            messages.take_signals(into);
        }
    }

    /// Links between routers that packets have taken, since the engine was made.
    #[must_use]
    pub const fn hops(&self) -> u64 {
        self.measurement.interval.hops
    }

    /// A cycle from now on before which nothing happens in the network; `None` if nothing will.
    #[must_use]
    pub fn next_due(&self) -> Option<u64> {
        self.agenda.next(self.now)
    }

    /// Let time pass up to this cycle, which is not behind [`Self::next_due`].
    pub fn skip_to(&mut self, cycle: u64) {
        debug_assert!(cycle >= self.now && self.next_due().is_none_or(|due| due >= cycle));
        self.now = cycle;
    }

    /// No packet is made from now on.
    pub fn stop_traffic(&mut self) {
        if let Traffic::Random { trials, .. } = &mut self.traffic {
            *trials = Trials::new(0.0);
        }
        for node in &mut self.outputs[self.network.ports().len()..] {
            node.next = u64::MAX;
        }
    }

    /// Simulate so many cycles; what happened in them.
    pub fn advance(&mut self, cycles: u64) -> Interval {
        self.measurement.interval = Interval::default();
        for _ in 0..cycles {
            self.cycle();
        }
        self.measurement.interval.cycles = cycles;
        std::mem::take(&mut self.measurement.interval)
    }

    /// Simulate the present cycle.
    pub fn cycle(&mut self) {
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
        let step = self.first_step();
        let mut packets = bucket.packets.iter();
        for event in events() {
            if let Event::Arrive { from } = event {
                if let Some(packet) = packets.next() {
                    let way = match self.way(packet) {
                        Way::Open if self.queues.is_first(self.buffer(from, packet), step) => {
                            Way::Hop(self.choose(from, packet))
                        }
                        way => way,
                    };
                    routed.push((from, *packet, way));
                }
            }
        }
        for buffer in refilled.drain(..) {
            // One that went on from behind another may have taken the room.
            if self.room[buffer as usize] > 0 {
                self.serve(buffer);
            }
        }
        for event in events() {
            if let Event::Follow { buffer } = event {
                self.follow(buffer);
            }
        }
        for (from, packet, way) in routed.drain(..) {
            self.arrive(from, &packet, way);
        }
        self.refilled = refilled;
        self.routed = routed;
    }

    /// Let events take place, a few at a time, while what the next few need comes into the cache.
    fn execute_ahead(&mut self, bucket: &Bucket) {
        let [mut packets, mut packets_ahead] = [bucket.packets.as_slice(); 2];
        let mut ways = [[Way::Open; AHEAD]; 2];
        let mut chunks = bucket.words.chunks(AHEAD);
        let mut words = chunks.next().unwrap_or_default();
        packets_ahead = self.look_ahead(words, packets_ahead, &mut ways[0]);
        while !words.is_empty() {
            let coming = chunks.next().unwrap_or_default();
            packets_ahead = self.look_ahead(coming, packets_ahead, &mut ways[1]);
            packets = self.execute(words, packets, Some(&ways[0]));
            words = coming;
            ways.swap(0, 1);
        }
    }

    /// Let events take place, with the ways of their packets if these are known; the packets behind theirs.
    #[inline(always)]
    fn execute<'a>(
        &mut self,
        words: &[u32],
        mut packets: &'a [Packet],
        ways: Option<&[Way; AHEAD]>,
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
            }
        }
        packets
    }

    /// Find the ways of the packets that these events are about, as far as they do not depend on what happens before, and
    /// have what the events will change brought into the cache: in a large network none of it is there. The packets behind.
    #[inline(always)]
    fn look_ahead<'a>(
        &self,
        words: &[u32],
        mut packets: &'a [Packet],
        ways: &mut [Way; AHEAD],
    ) -> &'a [Packet] {
        let vcs = usize::from(self.parameters.vcs);
        let mut ways = ways.iter_mut();
        for &word in words {
            match Event::of(word) {
                Event::Arrive { .. } => {
                    let (Some((packet, rest)), Some(way)) = (packets.split_first(), ways.next())
                    else {
                        continue;
                    };
                    packets = rest;
                    *way = self.way(packet);
                    match way {
                        Way::Node(port) => {
                            prefetch(&self.outputs, *port as usize);
                            prefetch(&self.room, *port as usize * vcs);
                        }
                        Way::Hop(request) => {
                            let port = request.port as usize;
                            prefetch(&self.outputs, port);
                            prefetch(&self.room, port * vcs);
                            prefetch(&self.slept, port);
                        }
                        Way::Open => {}
                    }
                }
                Event::Credit { buffer } => {
                    prefetch(&self.room, buffer as usize);
                    self.queues
                        .prefetch_asking(buffer / u32::from(self.parameters.vcs));
                }
                Event::Make { node } => {
                    let output = self.node_output(node) as usize;
                    prefetch(&self.outputs, output);
                    prefetch(&self.room, output * vcs);
                }
                Event::Follow { buffer } => self.queues.prefetch_next(buffer),
                Event::Forget { .. } => {}
            }
        }
        packets
    }

    fn way(&self, packet: &Packet) -> Way {
        if packet.router == packet.target {
            return Way::Node(self.routing.node_port(packet.dest));
        }
        match self.routing.only(packet.router, &packet.header()) {
            Some(request) => Way::Hop(request),
            None => Way::Open,
        }
    }

    /// Output of a node, behind those of the ports.
    fn node_output(&self, node: NodeId) -> u32 {
        self.network.ports().len() as u32 + node
    }

    fn make(&mut self, node: NodeId) {
        if let Traffic::Messages(messages) = &mut self.traffic {
            if let Some(part) = messages.next(node, self.parameters.packet_flits) {
                let Part {
                    dest,
                    message,
                    flits,
                } = part;
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

    /// Cycles to a node's next packet.
    fn gap(&mut self) -> u64 {
        match &self.traffic {
            Traffic::Random { trials, .. } => self.rng.trials(trials),
            Traffic::Messages(_) => u64::MAX,
        }
    }

    fn make_packet(&mut self, source: NodeId, dest: NodeId, origin: u32, flits: u16) -> Packet {
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
    fn launch(&mut self, node: NodeId, packet: Packet) {
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
            None => self.queues.push(node, packet, self.now, any),
        }
    }

    #[inline(always)]
    fn arrive(&mut self, from: u32, packet: &Packet, way: Way) {
        let buffer = self.buffer(from, packet);
        let step = self.first_step();
        if !self.queues.is_first(buffer, step) {
            self.come_behind(buffer, from, packet);
            return;
        }
        match self.go_on(from, packet, way, (self.now, step)) {
            Ok(tail) => {
                let flits = u64::from(packet.flits);
                let soonest = step + flits * u64::from(self.parameters.speedup);
                self.queues.leaves(buffer, tail + 2, soonest);
            }
            Err(request) => self.queues.block(buffer, *packet, from, self.now, request),
        }
    }

    /// The internal step in which a packet that comes now can cross the switch: it is given its virtual channel in the one
    /// before, the first of the cycle.
    fn first_step(&self) -> u64 {
        self.now * u64::from(self.parameters.speedup) + 1
    }

    /// A packet comes to a buffer that others are in.
    #[inline(never)]
    fn come_behind(&mut self, buffer: u32, from: u32, packet: &Packet) {
        if let Some(ready) = self.queues.follow(buffer, *packet, from, self.now) {
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
    fn follow(&mut self, buffer: u32) {
        let Some(ready) = self.queues.follower(buffer) else {
            return;
        };
        let Some(Waiting {
            packet,
            from,
            arrived,
            ..
        }) = self.queues.following(buffer)
        else {
            return;
        };
        match self.go_on(from, &packet, self.way(&packet), (arrived, ready)) {
            Ok(tail) => self.leave(buffer, tail),
            Err(request) => self.queues.block(buffer, packet, from, arrived, request),
        }
    }

    /// The first packet of a buffer has its virtual channel, and its tail crosses the switch at this internal step.
    fn leave(&mut self, buffer: u32, tail: u64) {
        self.queues.leaves_late(buffer, tail + 2);
        if let Some(ready) = self.queues.follower(buffer) {
            self.expect(buffer, ready);
        }
    }

    /// The buffer that a packet from an output is in.
    fn buffer(&self, from: u32, packet: &Packet) -> u32 {
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

    fn choose(&mut self, from: u32, packet: &Packet) -> Request {
        let in_port = match self.network.ports().get(from as usize) {
            Some(Port {
                peer: Peer::Port(peer),
                ..
            }) => *peer,
            _ => self
                .network
                .node_port(from - self.network.ports().len() as u32),
        };
        let queued = Queued {
            room: &self.room,
            recent: &self.recent,
            vcs: usize::from(self.parameters.vcs),
            fits: self.fits(),
            flits: self.parameters.packet_flits,
        };
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

    /// Packets that fit behind an output, on all virtual channels.
    fn fits(&self) -> u32 {
        u32::from(self.parameters.buffer_flits) / self.parameters.packet_flits
            * u32::from(self.parameters.vcs)
    }

    /// The virtual channel with the most room, the lowest among equals; none if all are full.
    fn roomiest(&self, request: Request) -> Option<u8> {
        let base = request.port as usize * usize::from(self.parameters.vcs);
        let (first, last) = (usize::from(request.first_vc), usize::from(request.last_vc));
        // Room above, how low the channel is below.
        let most = self.room[base + first..=base + last]
            .iter()
            .zip(request.first_vc..)
            .map(|(&room, vc)| u32::from(room) << 8 | u32::from(u8::MAX - vc))
            .max()?;
        (most >> 8 > 0).then_some(u8::MAX - most as u8)
    }

    fn credit(&mut self, buffer: u32) {
        let room = &mut self.room[buffer as usize];
        *room += 1;
        // Packets wait only for channels without room.
        if *room == 1 {
            self.serve(buffer);
        }
    }

    /// The first packet that waits for a virtual channel that now has room takes it.
    #[inline(never)]
    fn serve(&mut self, buffer: u32) {
        let vcs = u32::from(self.parameters.vcs);
        let (output, vc) = (buffer / vcs, (buffer % vcs) as u8);
        let Some(Waiting {
            packet,
            from,
            arrived,
            request,
            ..
        }) = self.queues.take(output, vc)
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

    /// A packet in a router has its virtual channel: it goes through the switch and over the link. The step of its tail.
    #[inline(always)]
    fn grant(
        &mut self,
        from: u32,
        packet: &Packet,
        (arrived, step): (u64, u64),
        request: Request,
        vc: u8,
    ) -> u64 {
        let port = request.port;
        self.room[port as usize * usize::from(self.parameters.vcs) + usize::from(vc)] -= 1;
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
        let at = start + 1 + u64::from(latency);
        self.agenda.put_packet(self.now, at, port, next);
        tail
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
        // Flits come in one a cycle, and each goes through at the first step that it can.
        let last = (step + flits - 1).max((arrived + flits - 1) * steps);
        let mut start = divided(step + 1, steps).max(free);
        let hold = match &mut self.holds {
            _ if !between => self.node_hold,
            Some(holds) => holds.asked(port, free, start),
            None => self.hold,
        };
        let woke = start > free.saturating_add(hold);
        if woke {
            start = self.wake(port, free, start, hold);
        }
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

    /// A link that sleeps, and is free from `free` on, is asked for at `at`; when it is awake.
    #[cold]
    fn wake(&mut self, output: u32, free: u64, at: u64, hold: u64) -> u64 {
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

    /// A packet has the virtual channel of its node's channel.
    fn leave_node(&mut self, node: NodeId, packet: Packet, vc: u8) {
        let output = self.node_output(node);
        self.room[output as usize * usize::from(self.parameters.vcs) + usize::from(vc)] -= 1;
        let queued = Queued {
            room: &self.room,
            recent: &self.recent,
            vcs: usize::from(self.parameters.vcs),
            fits: self.fits(),
            flits: self.parameters.packet_flits,
        };
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
        let woke = start > free.saturating_add(self.node_hold);
        if woke {
            start = self.wake(output, free, start, self.node_hold);
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
        let at = start + 1 + u64::from(latency);
        self.agenda.put_packet(self.now, at, output, moving);
    }

    /// The last hop: a node takes what comes, and gives the room back when the tail has. The step of the tail.
    fn deliver(
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

    /// Tails have reached their nodes.
    fn finish(&mut self, bucket: &Bucket) {
        self.done += bucket.reached.len() as u64;
        for reached in &bucket.reached {
            let Reached {
                origin,
                flits,
                hops,
                wakes,
                measured,
            } = *reached;
            self.measurement.interval.flits += u64::from(flits);
            if let Traffic::Messages(messages) = &mut self.traffic {
                messages.came(origin, flits, wakes);
                self.measurement.came(hops.into());
            } else {
                let latency = (self.now as u32).wrapping_sub(origin);
                self.measurement
                    .arrived(latency.into(), hops.into(), measured);
            }
        }
    }
}
