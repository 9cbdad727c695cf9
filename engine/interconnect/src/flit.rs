//! The flit engine: a router of BookSim2's kind (Jiang et al. 2013), cycle by cycle.
//!
//! ```text
//! node ─> channel ─> input VC ─ VC allocation ─ switch allocation ─ traversal ─> output queue ─> channel ─> … ─> node
//!                       │ a flit leaves                                             │ LPI
//!   credit <────────────┘                                                           └ waits for the wake
//! ```
//!
//! Allocation is separable, input first, one iteration, with round-robin arbiters whose pointers move on grants only:
//! - Virtual channels: every waiting input VC picks one free output VC among its requests, the next from its pointer on
//!   within the highest priority; every output VC picks one input VC. Credits are not looked at.
//! - Switch: every input picks an output and, of its VCs for that output, one with a credit; every output picks an input.
//!
//! Both see the state at the start of the internal step. A granted flit goes to the output queue in the next step, and
//! from there one flit a cycle into the channel. The tail frees the output VC at once.
//!
//! Times: a channel of latency L delivers after L + 1 cycles. An input returns one credit a cycle, in use L + 1 +
//! `credit_delay` cycles later at a router, L + 1 at a node. A node sends one flit a cycle and makes its next packet only
//! when the last flit of the packet before has left, but counts its latency from when it was due.
//!
//! Routers, nodes and links that have nothing to do cost nothing. Routers' order matters for random draws only.

mod allocation;
mod batch;
mod control;
mod ends;
mod figures;
mod node;
mod setup;
pub mod stages;
mod state;
mod step;

use crate::consolidation::Tcep;
use crate::error::SimulationError;
use crate::link::{LinkPolicy, LinkTx, Mode};
use crate::measure::{Interval, Measurement};
use crate::network::{Network, NodeId, Peer, PortId, RouterId};
use crate::parameters::RouterParameters;
use crate::rng::Rng;
use crate::routing::{Congestion, Header, Request, Routing};
use crate::slots::Slots;
use crate::traffic::Destinations;
use crate::wheel::Wheel;

use allocation::Allocator;
use batch::Batches;
pub use batch::Stock;
use node::Nodes;
use stages::Slac;
use state::{Inputs, Numbering, Outputs, RouterState};

/// One flit: its packet, and its place in it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Flit {
    packet: u32,
    sequence: u32,
}

/// A packet in the network.
#[derive(Copy, Clone, Debug)]
struct Packet {
    header: Header,
    created: u64,
    arrived: u32,
    hops: u16,
    measured: bool,
    /// SLaC: the number of stages in use when it was routed.
    stages: u8,
}

/// Flits that wait behind each output, as UGAL counts them.
struct Queued<'a> {
    used: &'a [u32],
    recent: &'a [u32],
}

impl Congestion for Queued<'_> {
    fn queued(&self, port: PortId) -> u32 {
        let port = port as usize;
        self.used[port].saturating_sub(self.recent[port])
    }
}

/// Flits by where they are: see [`FlitEngine::flits`].
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Flits {
    /// Sent by nodes, and control packets sent by routers.
    pub injected: u64,
    /// Received by nodes, and control packets received by routers.
    pub ejected: u64,
    /// In buffers, switches, output queues and channels, counted one by one.
    pub in_flight: u64,
}

/// Flits that would be further ahead than this wait in queues.
const MOST_AHEAD: u64 = 1 << 16;

/// How far ahead a flit arrives, at most: it may have to wait for all those of its port before it, and for a wake.
fn flight(network: &Network, parameters: &RouterParameters, policy: LinkPolicy) -> u64 {
    let before = (u64::from(parameters.vcs) + 1) * u64::from(parameters.buffer_flits);
    let timing = policy.timing;
    let wakes = [timing.wake, timing.fast_wake, timing.wake_during_sleep];
    let asleep = match policy.mode {
        Mode::Off => 0,
        _ => timing
            .sleep
            .saturating_add(wakes.into_iter().max().unwrap_or(0)),
    };
    (u64::from(network.longest_latency())
        + u64::from(parameters.traversal_delay)
        + before * u64::from(policy.flit_cycles)
        + 2)
    .saturating_add(asleep)
}

/// Whether an engine can be made of these.
fn check(
    routing: &Routing,
    parameters: &RouterParameters,
    load: f64,
) -> Result<(), SimulationError> {
    parameters.check()?;
    if routing.vcs() != parameters.vcs {
        return SimulationError::parameter(format!(
            "the routing is for {} virtual channels, the routers have {}",
            routing.vcs(),
            parameters.vcs
        ));
    }
    if !(0.0..=1.0).contains(&load) {
        return SimulationError::parameter(format!(
            "a load is from 0 to 1 flits a cycle, not {load}"
        ));
    }
    Ok(())
}

/// A network under simulation.
#[derive(Clone, Debug)]
pub struct FlitEngine {
    network: Network,
    routing: Routing,
    parameters: RouterParameters,
    destinations: Destinations,
    rng: Rng,
    now: u64,
    /// Flits on their way to an input VC.
    flits: Wheel<(u32, Flit)>,
    /// Credits on their way to an output VC.
    credits: Wheel<u32>,
    /// Flits on their way to a node, and the virtual channel.
    ejections: Wheel<(NodeId, u8, Flit)>,
    /// Credits on their way to a node.
    node_credits: Wheel<(NodeId, u8)>,
    /// Ports to which flits were sent, until that is no sign of congestion any more.
    forgets: Wheel<PortId>,
    inputs: Inputs,
    outputs: Outputs,
    routers: Vec<RouterState>,
    active: Vec<RouterId>,
    allocator: Allocator,
    nodes: Nodes,
    packets: Slots<Packet>,
    requests: Vec<Request>,
    links: Option<Vec<LinkTx>>,
    /// Whether it is known when a flit leaves as soon as it is granted: none waits for others to come.
    foreseen: bool,
    /// By port: whether its channel leads to a router.
    links_to_router: Vec<bool>,
    /// Virtual channels of every channel, that for control packets included.
    channels: u8,
    tcep: Option<Box<Tcep>>,
    slac: Option<Box<Slac>>,
    batches: Option<Batches>,
    measurement: Measurement,
    injected: u64,
    ejected: u64,
}

impl FlitEngine {
    /// A network without traffic in it; every node then offers `load` flits a cycle (Bernoulli packets).
    ///
    /// # Errors
    /// If the parameters contradict each other or the routing was prepared for more virtual channels.
    pub fn new(
        network: Network,
        routing: Routing,
        parameters: RouterParameters,
        destinations: Destinations,
        load: f64,
        seed: u64,
    ) -> Result<Self, SimulationError> {
        check(&routing, &parameters, load)?;
        let flight = flight(&network, &parameters, LinkPolicy::default());
        let back = flight + u64::from(parameters.credit_delay);
        let links_to_router = network
            .ports()
            .iter()
            .map(|port| matches!(port.peer, Peer::Port(_)))
            .collect();
        let mut rng = Rng::new(seed);
        let nodes = Nodes::new(
            network.nodes(),
            parameters.vcs,
            parameters.buffer_flits,
            &vec![load / f64::from(parameters.packet_flits); network.nodes() as usize],
            &mut rng,
        );
        Ok(Self {
            channels: parameters.vcs,
            slac: None,
            batches: None,
            inputs: Inputs::new(&network, parameters.vcs, parameters.buffer_flits),
            outputs: Outputs::new(&network, parameters.vcs, parameters.buffer_flits),
            routers: vec![RouterState::default(); network.routers() as usize],
            active: Vec::new(),
            allocator: Allocator::new(&network, parameters.vcs),
            flits: Wheel::new(flight),
            credits: Wheel::new(back),
            ejections: Wheel::new(flight),
            node_credits: Wheel::new(back),
            forgets: Wheel::new(u64::from(parameters.history_window)),
            nodes,
            network,
            routing,
            parameters,
            destinations,
            rng,
            now: 0,
            packets: Slots::new(),
            requests: Vec::new(),
            foreseen: parameters.pipelined,
            links: None,
            links_to_router,
            tcep: None,
            measurement: Measurement::default(),
            injected: 0,
            ejected: 0,
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

    /// Simulate so many cycles; what happened in them.
    pub fn advance(&mut self, cycles: u64) -> Interval {
        self.measurement.interval = Interval::default();
        for _ in 0..cycles {
            self.cycle();
        }
        self.measurement.interval.cycles = cycles;
        std::mem::take(&mut self.measurement.interval)
    }

    fn cycle(&mut self) {
        self.consolidate();
        self.serve_nodes();
        self.inject();
        self.receive();
        let mut active = std::mem::take(&mut self.active);
        for step in 1..=self.parameters.speedup {
            // A granted flit begins to cross the switch in the next step.
            let begins = self.now + u64::from(step == self.parameters.speedup);
            for &router in &active {
                self.internal_step(router, begins);
            }
        }
        active.retain(|&router| {
            self.send(router);
            let busy = self.routers[router as usize].is_busy();
            self.routers[router as usize].active = busy;
            busy
        });
        self.active = active;
        self.now += 1;
    }
}
