//! The packet engine: virtual cut-through, or store-and-forward, by arithmetic. A packet costs an event a hop and a credit.
//!
//! ```text
//! head arrives at u ─ route, virtual channel with room for the packet ─ switch from step s·u + 1 on ─ link when free ─> next
//! ```
//! If routers store packets first, u is when the tail arrives.
//!
//! It computes what the flit engine does with the same [`Switching`], as long as an output's queue is what packets wait
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
//! - Where a packet asks for several hops at once ([`several`]), two that ask for the same virtual channel in a step get one
//!   of them, as in the flit engine; but switches never fail. So such routings are up to 5 % too fast near saturation.
//! - So queues are shorter by some hundredths of a flit, and where routing weighs queues, it does so a little differently:
//!   saturation comes at loads up to 1 % off.
//!
//! A packet is in no table: it travels from one cycle's list to the next ([`agenda`]), and is put away only while it waits.
//! Of an output, a hop touches 32 bytes, and one counter of room for each virtual channel.
//!
//! [`PacketEngine::new`] refuses what it cannot simulate, and [`PacketEngine::doubts`] says where its results differ from
//! the flit engine's. Compare the two before trusting it on a new kind of network.

mod agenda;
mod ahead;
mod asking;
mod bounded;
mod buffers;
mod crossing;
mod cycle;
mod doubts;
mod gating;
mod links;
mod messages;
mod nodes;
mod several;
mod state;
mod streams;
mod waiting;

use crate::error::SimulationError;
use crate::measure::{Interval, Measurement};
use crate::network::{Network, NodeId};
use crate::parameters::RouterParameters;
use crate::rng::{Rng, Trials};
use crate::routing::{Algorithm, Choice, Request, Routing};
use crate::traffic::Destinations;

use agenda::{Agenda, Event};
use bounded::Holds;
use gating::Gating;
use messages::Messages;
use several::Several;
use state::{Links, Output, Packet, Reached, Slept, Way, outputs, room_of};
use waiting::Queues;

pub use bounded::DelayBound;
pub use messages::{Acknowledgements, Signal};
pub use state::LinkPolicies;

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
    /// Of a routing that asks for several hops at once.
    several: Option<Several>,
    gating: Option<Box<Gating>>,
    /// Idle cycles after which a link between routers sleeps, one to a node, and one from a node.
    hold: u64,
    node_hold: u64,
    card_hold: u64,
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
    /// If the parameters contradict each other, switching is wormhole, or the routing is [`Algorithm::MinimalBookSim`].
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
        check(&network, &routing, &parameters)?;
        let ports = network.ports().len();
        let nodes = network.nodes() as usize;
        let vcs = usize::from(parameters.vcs);
        let fits = room_of(&parameters);
        Ok(Self {
            agenda: Agenda::new(),
            outputs: outputs(&network),
            room: vec![fits; (ports + nodes) * vcs],
            recent: vec![0; if routing.looks_at_queues() { ports } else { 0 }],
            queues: Queues::new(&network, vcs, parameters.credit_delay.into()),
            several: (routing.choice() == Choice::FirstFree)
                .then(|| Several::new((ports + nodes) * vcs)),
            gating: None,
            hold: u64::MAX,
            node_hold: u64::MAX,
            card_hold: u64::MAX,
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
        let fits = room_of(&self.parameters);
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

    /// From now on nodes acknowledge the packets of messages that come to them; one longer than a packet is cut to it.
    /// Acknowledgements count as packets, and their hops not in [`Self::hops`].
    ///
    /// # Errors
    /// If traffic is random, or an acknowledgement is for no packet or has no flit.
    pub fn acknowledge_messages(&mut self, how: Acknowledgements) -> Result<(), SimulationError> {
        let Traffic::Messages(messages) = &mut self.traffic else {
            return SimulationError::parameter("only messages are acknowledged");
        };
        if how.packets == 0 || how.flits == 0 {
            return SimulationError::parameter(
                "an acknowledgement has at least 1 flit, and is for at least 1 packet",
            );
        }
        let most = self.parameters.packet_flits as u16;
        messages.acknowledge(Acknowledgements {
            flits: how.flits.min(most),
            ..how
        });
        Ok(())
    }

    /// From now on nodes take turns between the nodes that they send to, packet by packet; messages to one go in order.
    ///
    /// # Errors
    /// If traffic is random, or messages are under way.
    pub fn take_turns(&mut self) -> Result<(), SimulationError> {
        if self.made > 0 {
            return SimulationError::parameter("nodes take turns from the first message on");
        }
        let Traffic::Messages(messages) = &mut self.traffic else {
            return SimulationError::parameter("only messages take turns");
        };
        messages.take_turns();
        Ok(())
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

    /// Cycles from a message's packet being given to its node's channel to its tail's arrival, or until now where it is under
    /// way: the sum over all [`Self::counts`] made.
    #[must_use]
    pub const fn message_latency(&self) -> u64 {
        let under_way = self.made - self.done;
        self.measurement
            .interval
            .latency
            .wrapping_add(under_way.wrapping_mul(self.now))
    }

    /// A cycle from now on before which nothing happens in the network; `None` if nothing will.
    #[must_use]
    pub fn next_due(&self) -> Option<u64> {
        let due = [self.agenda.next(self.now), self.next_change()];
        due.into_iter().flatten().min()
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

    /// Output of a node, behind those of the ports.
    fn node_output(&self, node: NodeId) -> u32 {
        self.network.ports().len() as u32 + node
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
}

/// Refuse what cannot be simulated.
fn check(
    network: &Network,
    routing: &Routing,
    parameters: &RouterParameters,
) -> Result<(), SimulationError> {
    parameters.check()?;
    if !parameters.switching.keeps_together() {
        return SimulationError::parameter(
            "the packet engine keeps packets together; choose the flit engine for wormhole switching",
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
    if routing.algorithm() == Algorithm::MinimalBookSim {
        return SimulationError::routing(
            "min_booksim2 repeats BookSim2's allocation, which the packet engine leaves out; choose min_adaptive, or the \
             flit engine",
        );
    }
    let vcs = usize::from(parameters.vcs);
    let buffers = (network.ports().len() + network.nodes() as usize) * vcs;
    if buffers > agenda::LARGEST as usize {
        return SimulationError::parameter(format!(
            "the packet engine numbers up to {} buffers, and this network has {buffers}; take fewer virtual channels",
            agenda::LARGEST
        ));
    }
    Ok(())
}
