//! The packet engine: virtual cut-through by arithmetic. A packet costs one event a hop, and a credit.
//!
//! ```text
//! head arrives at u ─ route, virtual channel with room for the packet ─ switch from step s·u + 1 on ─ link when free ─> next
//! ```
//!
//! It computes what the flit engine with [`Switching::CutThrough`] does, as long as an output's queue is what packets wait
//! for: an output takes one packet after the other, in the order of their grants; its switch works at `speedup` flits a
//! cycle, its link at one. Differences, all of them where buffers matter:
//! - A packet whose output has no room waits for itself. In a buffer it would hold up those behind it (head-of-line
//!   blocking). With buffers of a few packets, and near saturation, this engine is too fast.
//! - An input's switch port never is the bottleneck.
//! - Packets whose outputs are full are served first come, first served, where routers use round-robin arbiters.
//!
//! [`PacketEngine::new`] refuses what it cannot simulate, and [`PacketEngine::doubts`] says where its results differ from
//! the flit engine's. Compare the two before trusting it on a new kind of network.

use std::collections::VecDeque;

use crate::error::SimulationError;
use crate::link::{LinkLedger, LinkPolicy, LinkTx, Ready};
use crate::measure::{Interval, Measurement};
use crate::network::{Network, NodeId, Peer, PortId};
use crate::parameters::{RouterParameters, Switching};
use crate::rng::{Rng, Trials};
use crate::routing::{Choice, Congestion, Header, Request, Routing};
use crate::slots::Slots;
use crate::traffic::Destinations;

/// Cycles that the wheel holds; what is due later waits in a list.
const WHEEL: u64 = 128;

#[derive(Copy, Clone, Debug)]
enum Event {
    /// The head of a packet reaches a router.
    Arrive { port: PortId, packet: u32 },
    /// Room for a packet behind an output.
    Credit { output: u32, vc: u8 },
    /// A node makes its next packet.
    Make { node: NodeId },
    /// The tail of a packet has reached its node.
    Done { packet: u32 },
    /// A packet was sent a history window ago.
    Forget { port: PortId },
}

/// A packet in the network.
#[derive(Copy, Clone, Debug)]
struct Packet {
    header: Header,
    created: u64,
    /// The input buffer that it is in: the output that sent it, and the virtual channel.
    from: u32,
    vc: u8,
    hops: u16,
    measured: bool,
    /// When its head came to the router.
    arrived: u64,
}

/// An output: that of a port, or behind all ports that of a node.
#[derive(Clone, Debug)]
struct Output {
    /// The link is free from here on.
    free: u64,
    /// The switch takes the next flit at this internal step.
    next_step: u64,
    latency: u32,
    /// Packets that wait for room, and what they ask for.
    waiting: VecDeque<(u32, Request)>,
}

/// Flits behind each output, as UGAL counts them.
struct Queued<'a> {
    used: &'a [u32],
    recent: &'a [u32],
}

impl Congestion for Queued<'_> {
    fn queued(&self, port: PortId) -> u32 {
        self.used[port as usize].saturating_sub(self.recent[port as usize])
    }
}

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
    destinations: Destinations,
    rng: Rng,
    now: u64,
    wheel: Vec<Vec<Event>>,
    later: Vec<(u64, Event)>,
    outputs: Vec<Output>,
    /// Packets that fit, by output and virtual channel.
    room: Vec<u16>,
    used: Vec<u32>,
    recent: Vec<u32>,
    links: Option<Vec<LinkTx>>,
    packets: Slots<Packet>,
    requests: Vec<Request>,
    /// When each node's next packet is due.
    due: Vec<u64>,
    trials: Trials,
    measurement: Measurement,
    made: u64,
    done: u64,
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
        parameters.check()?;
        if parameters.switching != Switching::CutThrough {
            return SimulationError::parameter(
                "the packet engine simulates virtual cut-through; choose the flit engine for wormhole switching",
            );
        }
        if parameters.traversal_delay != 1 {
            return SimulationError::parameter(
                "the packet engine has a switch traversal of 1 cycle",
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
        if !(0.0..=1.0).contains(&load) {
            return SimulationError::parameter(format!(
                "a load is from 0 to 1 flits a cycle, not {load}"
            ));
        }
        let ports = network.ports().len();
        let outputs = ports + network.nodes() as usize;
        let fits = (u32::from(parameters.buffer_flits) / parameters.packet_flits) as u16;
        let latencies =
            network.ports().iter().map(|port| port.latency).chain(
                (0..network.nodes()).map(|node| network.port(network.node_port(node)).latency),
            );
        let mut engine = Self {
            wheel: vec![Vec::new(); WHEEL as usize],
            later: Vec::new(),
            outputs: latencies
                .map(|latency| Output {
                    free: 0,
                    next_step: 0,
                    latency,
                    waiting: VecDeque::new(),
                })
                .collect(),
            room: vec![fits; outputs * usize::from(parameters.vcs)],
            used: vec![0; outputs],
            recent: vec![0; outputs],
            links: None,
            packets: Slots::new(),
            requests: Vec::new(),
            due: vec![0; network.nodes() as usize],
            trials: Trials::new(load / f64::from(parameters.packet_flits)),
            measurement: Measurement::default(),
            made: 0,
            done: 0,
            rng: Rng::new(seed),
            now: 0,
            network,
            routing,
            parameters,
            destinations,
        };
        for node in 0..engine.network.nodes() {
            let due = engine.rng.trials(&engine.trials).saturating_sub(1);
            engine.due[node as usize] = due;
            engine.put(due, Event::Make { node });
        }
        Ok(engine)
    }

    /// Where its assumptions are weak, in sentences; none if they hold.
    #[must_use]
    pub fn doubts(&self) -> Vec<String> {
        let RouterParameters {
            buffer_flits,
            packet_flits,
            credit_delay,
            ..
        } = self.parameters;
        let mut doubts = Vec::new();
        // What is under way while a credit comes back.
        let round_trip = 2 * self.network.longest_latency() + 3 + u32::from(credit_delay);
        let room = u32::from(buffer_flits) * u32::from(self.parameters.vcs);
        if u32::from(buffer_flits) < 2 * packet_flits {
            doubts.push(format!(
                "buffers of {buffer_flits} flits hold one packet of {packet_flits}: head-of-line blocking, which the packet \
                 engine leaves out, decides"
            ));
        }
        if room < round_trip + packet_flits {
            doubts.push(format!(
                "the buffers behind a link hold {room} flits, fewer than are under way in a round trip of {round_trip} cycles"
            ));
        }
        if self.backlog() > 1000 + 10 * u64::from(packet_flits) {
            doubts.push(
                "nodes wait longer and longer: past saturation the packet engine accepts too much"
                    .to_owned(),
            );
        }
        doubts
    }

    /// Let the channels between routers follow a policy from now on.
    ///
    /// # Errors
    /// If the policy coalesces or slows links down: both are for the flit engine.
    pub fn set_links(&mut self, policy: LinkPolicy) -> Result<(), SimulationError> {
        policy.check()?;
        if policy.timing.coalesce != 0
            || policy.timing.coalesce_byte != 0
            || policy.flit_cycles != 1
        {
            return SimulationError::parameter(
                "the packet engine neither coalesces nor slows links down; choose the flit engine",
            );
        }
        let now = self.now;
        let links = self.network.ports().iter().map(|port| match port.peer {
            Peer::Port(_) => LinkTx::new(now, policy),
            Peer::Node(_) => LinkTx::new(now, LinkPolicy::default()),
        });
        self.links = Some(links.collect());
        Ok(())
    }

    /// Time in state of a channel, up to now or to the end of the last packet that has been granted; `None` without a
    /// policy.
    #[must_use]
    pub fn link(&self, port: PortId) -> Option<LinkLedger> {
        let link = self.links.as_ref()?.get(port as usize)?;
        Some(link.ledger(self.now.max(link.idle_from())))
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
        let flying = self
            .wheel
            .iter()
            .flatten()
            .chain(self.later.iter().map(|(_, event)| event))
            .filter(|event| matches!(event, Event::Arrive { .. } | Event::Done { .. }))
            .count();
        let waiting: usize = self.outputs.iter().map(|output| output.waiting.len()).sum();
        (flying + waiting) as u64
    }

    /// Whether every buffer is empty and every credit back.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        let fits = (u32::from(self.parameters.buffer_flits) / self.parameters.packet_flits) as u16;
        self.room.iter().all(|&room| room == fits)
            && self
                .used
                .iter()
                .chain(&self.recent)
                .all(|&flits| flits == 0)
    }

    /// How long the oldest waiting node lags behind its packets' times, in cycles: grows without bound past saturation.
    #[must_use]
    pub fn backlog(&self) -> u64 {
        let oldest = self.due.iter().copied().min().unwrap_or(self.now);
        self.now.saturating_sub(oldest)
    }

    /// Have a node send a packet now, behind what it sends already.
    pub fn offer(&mut self, source: NodeId, dest: NodeId) {
        let packet = self.make_packet(source, dest, self.now);
        self.launch(source, packet);
    }

    /// No packet is made from now on.
    pub fn stop_traffic(&mut self) {
        self.trials = Trials::new(0.0);
        self.due.fill(u64::MAX);
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

    fn put(&mut self, at: u64, event: Event) {
        debug_assert!(at >= self.now);
        if at - self.now < WHEEL {
            self.wheel[(at % WHEEL) as usize].push(event);
        } else if at != u64::MAX {
            self.later.push((at, event));
        }
    }

    fn cycle(&mut self) {
        if self.now % WHEEL == 0 && !self.later.is_empty() {
            let (now, wheel) = (self.now, &mut self.wheel);
            self.later.retain(|&(at, event)| {
                let near = at - now < WHEEL;
                if near {
                    wheel[(at % WHEEL) as usize].push(event);
                }
                !near
            });
        }
        let slot = (self.now % WHEEL) as usize;
        // An event may bring forth another of the same cycle.
        let mut list = std::mem::take(&mut self.wheel[slot]);
        while !list.is_empty() {
            for &event in &list {
                self.execute(event);
            }
            list.clear();
            std::mem::swap(&mut list, &mut self.wheel[slot]);
        }
        self.wheel[slot] = list;
        self.now += 1;
    }

    fn execute(&mut self, event: Event) {
        match event {
            Event::Arrive { port, packet } => self.arrive(port, packet),
            Event::Credit { output, vc } => self.credit(output, vc),
            Event::Make { node } => self.make(node),
            Event::Done { packet } => self.finish(packet),
            Event::Forget { port } => self.recent[port as usize] -= self.parameters.packet_flits,
        }
    }

    /// Output of a node, behind those of the ports.
    fn node_output(&self, node: NodeId) -> u32 {
        self.network.ports().len() as u32 + node
    }

    fn make(&mut self, node: NodeId) {
        let created = self.due[node as usize];
        if created == u64::MAX {
            return;
        }
        let gap = self.rng.trials(&self.trials);
        self.due[node as usize] = created.saturating_add(gap);
        let dest = self.destinations.draw(node, &mut self.rng);
        let packet = self.make_packet(node, dest, created);
        self.launch(node, packet);
    }

    fn make_packet(&mut self, source: NodeId, dest: NodeId, created: u64) -> u32 {
        self.made += 1;
        let packet = Packet {
            header: self.routing.header(source, dest),
            created,
            from: self.node_output(source),
            vc: 0,
            hops: 0,
            measured: self.measurement.made(),
            arrived: self.now,
        };
        self.packets.put(packet)
    }

    /// A packet asks for its node's channel.
    fn launch(&mut self, node: NodeId, packet: u32) {
        let output = self.node_output(node);
        let header = self.packets[packet].header;
        let any = Request {
            port: output,
            first_vc: 0,
            last_vc: self.parameters.vcs - 1,
            priority: 0,
            phase: header.phase,
            via: header.via,
        };
        self.ask(output, packet, any);
    }

    fn arrive(&mut self, port: PortId, packet: u32) {
        let router = self.network.port(port).router;
        self.packets[packet].arrived = self.now;
        let queued = Queued {
            used: &self.used,
            recent: &self.recent,
        };
        self.routing.choose(
            (router, port),
            &self.packets[packet].header,
            &queued,
            self.parameters.threshold,
            &mut self.rng,
            &mut self.requests,
        );
        let request = self.requests[0];
        match self.network.port(request.port).peer {
            Peer::Node(_) => self.deliver(request.port, packet),
            Peer::Port(_) => self.ask(request.port, packet, request),
        }
    }

    /// Take a virtual channel with room, or wait for one.
    fn ask(&mut self, output: u32, packet: u32, request: Request) {
        let base = output as usize * usize::from(self.parameters.vcs);
        // The one with the most room, the lowest among equals.
        let (first, last) = (usize::from(request.first_vc), usize::from(request.last_vc));
        let (mut most, mut vc) = (0, request.first_vc);
        for (&room, own) in self.room[base + first..=base + last]
            .iter()
            .zip(request.first_vc..)
        {
            if room > most {
                (most, vc) = (room, own);
            }
        }
        if most > 0 {
            self.grant(output, packet, request, vc);
        } else {
            self.outputs[output as usize]
                .waiting
                .push_back((packet, request));
        }
    }

    fn credit(&mut self, output: u32, vc: u8) {
        self.room[output as usize * usize::from(self.parameters.vcs) + usize::from(vc)] += 1;
        self.used[output as usize] -= self.parameters.packet_flits;
        let waiting = &mut self.outputs[output as usize].waiting;
        let next = waiting
            .iter()
            .position(|(_, request)| (request.first_vc..=request.last_vc).contains(&vc));
        if let Some((packet, request)) = next.and_then(|index| waiting.remove(index)) {
            self.grant(output, packet, request, vc);
        }
    }

    /// A packet has its virtual channel: it goes through the switch, if it is in a router, and over the link.
    fn grant(&mut self, output: u32, packet: u32, request: Request, vc: u8) {
        self.room[output as usize * usize::from(self.parameters.vcs) + usize::from(vc)] -= 1;
        self.used[output as usize] += self.parameters.packet_flits;
        let ports = self.network.ports().len() as u32;
        let start = if output >= ports {
            self.leave_node(output - ports, packet)
        } else {
            let start = self.cross(output, packet);
            if self.parameters.history_window > 0 {
                self.recent[output as usize] += self.parameters.packet_flits;
                let at = self.now + u64::from(self.parameters.history_window);
                self.put(at, Event::Forget { port: output });
            }
            let moving = &mut self.packets[packet];
            moving.header.phase = request.phase;
            moving.header.via = request.via;
            moving.hops += 1;
            start
        };
        let moving = &mut self.packets[packet];
        (moving.from, moving.vc) = (output, vc);
        let port = if output >= ports {
            self.network.node_port(output - ports)
        } else {
            match self.network.port(output).peer {
                Peer::Port(peer) => peer,
                Peer::Node(_) => unreachable!("ejection takes no credit"),
            }
        };
        let at = start + 1 + u64::from(self.outputs[output as usize].latency);
        self.put(at, Event::Arrive { port, packet });
    }

    /// Through the switch to an output; when the head leaves over the link. The buffer that the packet leaves is free for
    /// another when its tail is in the switch.
    fn cross(&mut self, port: PortId, packet: u32) -> u64 {
        let steps = u64::from(self.parameters.speedup);
        let flits = u64::from(self.parameters.packet_flits);
        let output = &mut self.outputs[port as usize];
        let step = output.next_step.max(self.now * steps + 1);
        // Flits come in one a cycle, and each goes through at the first step that it can.
        let arrived = self.packets[packet].arrived;
        let last = (step + flits - 1).max((arrived + flits - 1) * steps);
        output.next_step = last + 1;
        let ready = divided(step + 1, steps);
        let mut start = ready.max(output.free);
        if let Some(links) = &mut self.links {
            let link = &mut links[port as usize];
            // A wake may have been the last thing that the link did.
            while let Ready::At(at) = link.request(start, 1) {
                if at == start {
                    break;
                }
                start = at;
            }
            link.send_packet(start, self.parameters.packet_flits);
        }
        self.outputs[port as usize].free = start + flits;
        let Packet { from, vc, .. } = self.packets[packet];
        let latency = u64::from(self.outputs[from as usize].latency);
        let delay = if from < self.network.ports().len() as u32 {
            u64::from(self.parameters.credit_delay)
        } else {
            0
        };
        self.put(
            divided(last, steps) + 1 + latency + delay,
            Event::Credit { output: from, vc },
        );
        start
    }

    fn leave_node(&mut self, node: NodeId, packet: u32) -> u64 {
        let output = self.node_output(node);
        let start = self.now.max(self.outputs[output as usize].free);
        let end = start + u64::from(self.parameters.packet_flits);
        self.outputs[output as usize].free = end;
        let queued = Queued {
            used: &self.used,
            recent: &self.recent,
        };
        let header = self.packets[packet].header;
        self.packets[packet].header =
            self.routing
                .start(header, &queued, self.parameters.threshold, &mut self.rng);
        let next = self.due[node as usize];
        if next != u64::MAX {
            self.put(next.max(end), Event::Make { node });
        }
        start
    }

    /// The last hop: a node takes whatever comes.
    fn deliver(&mut self, port: PortId, packet: u32) {
        let start = self.cross(port, packet);
        let latency = u64::from(self.outputs[port as usize].latency);
        let tail = start + u64::from(self.parameters.packet_flits) - 1;
        self.put(tail + 1 + latency, Event::Done { packet });
    }

    fn finish(&mut self, index: u32) {
        let packet = self.packets[index];
        let latency = self.now - packet.created;
        self.done += 1;
        self.measurement.interval.flits += u64::from(self.parameters.packet_flits);
        self.measurement
            .arrived(latency, u64::from(packet.hops), packet.measured);
        self.packets.free(index);
    }
}
