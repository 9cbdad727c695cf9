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
mod node;
pub mod stages;
mod state;

use crate::consolidation::control::Mail;
use crate::consolidation::{Consolidation, ConsolidationCounts, Tcep};
use crate::error::SimulationError;
use crate::link::{LinkLedger, LinkPolicy, LinkTx, Mode, Ready};
use crate::measure::{Interval, Measurement};
use crate::network::{Network, NodeId, Peer, Port, PortId, RouterId};
use crate::parameters::RouterParameters;
use crate::rng::Rng;
use crate::routing::{Algorithm, Congestion, Header, Request, Routing};
use crate::slots::Slots;
use crate::tcep::LinkState;
use crate::traffic::Destinations;
use crate::wheel::Wheel;

use allocation::Allocator;
use batch::Batches;
pub use batch::Stock;
use node::Nodes;
use stages::{Slac, Stages};
use state::{FREE, Inputs, Numbering, Outputs, RouterState};

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

    /// Let the channels between routers follow a policy from now on.
    pub fn set_links(&mut self, policy: LinkPolicy) {
        let (now, outputs) = (self.now, &self.outputs);
        let links = (0..).zip(self.network.ports()).map(|(id, port)| {
            let own = match port.peer {
                Peer::Port(_) => policy,
                Peer::Node(_) => LinkPolicy::default(),
            };
            LinkTx::new(outputs.idle_from(id).max(now), own)
        });
        self.links = Some(links.collect());
        let timing = policy.timing;
        let coalesces = timing.coalesce != 0 || timing.coalesce_byte != 0;
        let flight = flight(&self.network, &self.parameters, policy);
        self.foreseen = self.parameters.pipelined && !coalesces && flight <= MOST_AHEAD;
        if self.foreseen {
            self.flits.widen(now, flight);
        }
    }

    /// Time in state of a channel, up to now or to the end of the last flit that has been granted; `None` without a
    /// policy.
    #[must_use]
    pub fn link(&self, port: PortId) -> Option<LinkLedger> {
        let link = &self.links.as_ref()?[port as usize];
        Some(link.ledger(if self.foreseen {
            self.now.max(link.idle_from())
        } else {
            self.now
        }))
    }

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
        if self.injected != 0 {
            return SimulationError::parameter("TCEP begins before the first packet");
        }
        // One virtual channel more, for control packets.
        let (vcs, buffer) = (self.parameters.vcs + 1, self.parameters.buffer_flits);
        let inputs = Numbering::new(vcs).end(&self.network);
        let control = (self.parameters.vcs, inputs);
        let tcep = Tcep::new(&self.network, parameters, control, self.now)?;
        self.channels = vcs;
        self.inputs = Inputs::new(&self.network, vcs, buffer);
        self.outputs = Outputs::new(&self.network, vcs, buffer);
        self.allocator = Allocator::new(&self.network, vcs);
        self.tcep = Some(Box::new(tcep));
        Ok(())
    }

    /// Turn links off and on by SLaC from now on.
    ///
    /// # Errors
    /// If the network has not two dimensions and single links, the routing is not SLaC's, or packets are under way.
    pub fn set_stages(&mut self, parameters: Stages) -> Result<(), SimulationError> {
        if self.routing.algorithm() != Algorithm::Staged {
            return SimulationError::routing(
                "SLaC needs the routing slac, which knows stages that are off",
            );
        }
        if self.injected != 0 {
            return SimulationError::parameter("SLaC begins before the first packet");
        }
        let capacity = u32::from(self.parameters.vcs) * u32::from(self.parameters.buffer_flits);
        let slac = Slac::new(&self.network, parameters, capacity, self.now)?;
        self.slac = Some(Box::new(slac));
        Ok(())
    }

    /// Stages of SLaC that are in use; `None` without it.
    #[must_use]
    pub fn stages(&self) -> Option<u32> {
        self.slac.as_ref().map(|slac| slac.on())
    }

    /// Give each job its own load, as a share of the engine's, and, if `packets` is not empty, a number of packets to be
    /// sent by its nodes together or by each, after which they send no more (batch mode).
    ///
    /// # Errors
    /// If the traffic has no jobs, or another number of them, a load would exceed a flit a cycle, or packets are under
    /// way.
    pub fn set_jobs(
        &mut self,
        shares: &[f64],
        packets: &[u64],
        stock: Stock,
    ) -> Result<(), SimulationError> {
        let Some(job_of) = self.destinations.job_of() else {
            return SimulationError::traffic("only jobs have loads and batches of their own");
        };
        let jobs = job_of.iter().max().map_or(0, |&last| last as usize + 1);
        if shares.len() != jobs || !(packets.is_empty() || packets.len() == jobs) {
            return SimulationError::traffic(format!(
                "{jobs} jobs need {jobs} shares of the load, and as many numbers of packets or none"
            ));
        }
        if self.injected != 0 {
            return SimulationError::parameter("batches begin before the first packet");
        }
        let most = 1.0 / f64::from(self.parameters.packet_flits);
        let probabilities: Vec<f64> = job_of
            .iter()
            .map(|&job| shares[job as usize] * self.nodes.probability())
            .collect();
        if !probabilities.iter().all(|one| (0.0..=most).contains(one)) {
            return SimulationError::traffic("a job's load is from 0 to 1 flits a node and cycle");
        }
        if !packets.is_empty() {
            self.batches = Some(Batches::new(job_of, packets, stock));
        }
        self.nodes = Nodes::new(
            self.network.nodes(),
            self.parameters.vcs,
            self.parameters.buffer_flits,
            &probabilities,
            &mut self.rng,
        );
        Ok(())
    }

    /// Packets of batches that have not been made; 0 without batches.
    #[must_use]
    pub fn batch_left(&self) -> u64 {
        self.batches.as_ref().map_or(0, Batches::left)
    }

    /// What TCEP or SLaC did so far; nothing without them.
    #[must_use]
    pub fn consolidation(&self) -> ConsolidationCounts {
        match (&self.tcep, &self.slac) {
            (Some(tcep), _) => tcep.counts(),
            (None, Some(slac)) => slac.counts(),
            (None, None) => ConsolidationCounts::default(),
        }
    }

    /// Cycles in which the link of a port was off.
    #[must_use]
    pub fn off_cycles(&self, port: PortId) -> u64 {
        match (&self.tcep, &self.slac) {
            (Some(tcep), _) => tcep.off_cycles(port, self.now),
            (None, Some(slac)) => slac.off_cycles(port, self.now),
            (None, None) => 0,
        }
    }

    /// State of the link of a port; always active without TCEP and SLaC, and at nodes.
    #[must_use]
    pub fn link_state(&self, port: PortId) -> LinkState {
        let state = match (&self.tcep, &self.slac) {
            (Some(tcep), _) => tcep.state(port),
            (None, Some(slac)) => slac.state(port),
            (None, None) => None,
        };
        state.unwrap_or(LinkState::Active)
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

    /// Flits sent into a port's channel so far.
    #[must_use]
    pub fn sent(&self, port: PortId) -> u64 {
        self.outputs.sent[port as usize]
    }

    /// How long the oldest waiting node lags behind its packets' times, in cycles: grows without bound past saturation.
    #[must_use]
    pub fn backlog(&self) -> u64 {
        self.nodes.backlog(self.now)
    }

    /// Have a node send a packet now. False, and nothing is sent, if it is sending one already.
    pub fn offer(&mut self, source: NodeId, dest: NodeId) -> bool {
        if !self.nodes.is_free(source) {
            return false;
        }
        let packet = self.make_packet(source, dest, self.now);
        self.nodes.offer(source, packet);
        true
    }

    /// No packet is made from now on.
    pub fn stop_traffic(&mut self) {
        self.nodes.stop();
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

    /// Links that change, TCEP's epochs, and its control packets.
    fn consolidate(&mut self) {
        if let Some(slac) = &mut self.slac {
            slac.step(self.now);
        }
        let Some(mut tcep) = self.tcep.take() else {
            return;
        };
        tcep.step(self.now, |port| self.is_unused(port));
        if !tcep.mail.is_idle() {
            self.send_control(&mut tcep);
        }
        self.tcep = Some(tcep);
    }

    /// Routers put control packets into their output queues.
    fn send_control(&mut self, tcep: &mut Tcep) {
        let vc = tcep.mail.vc;
        let mut mail = std::mem::replace(&mut tcep.mail, Mail::new(0, vc));
        let sent = mail.send(|control| {
            let port = tcep.way_to(control.from, control.to);
            self.outputs.has_room(port, vc, vc)
        });
        for (router, packet) in sent {
            let port = tcep.way_to(router, mail.packets[packet].to);
            let output = self.inputs.numbering.number(port, vc);
            self.outputs.send(output as usize);
            self.remember(port);
            self.injected += 1;
            let flit = Flit {
                packet,
                sequence: 0,
            };
            self.cross(router, flit, (port, vc), self.now);
            self.wake(router);
        }
        tcep.mail = mail;
    }

    /// A flit has been sent to a port: for a while it is no sign of congestion.
    fn remember(&mut self, port: PortId) {
        if self.parameters.history_window > 0 {
            self.outputs.recent[port as usize] += 1;
            let at = self.now + u64::from(self.parameters.history_window);
            self.forgets.put(at, port);
        }
    }

    /// Whether no packet is in a port's channel or the buffer behind it, or asks for it.
    fn is_unused(&self, port: PortId) -> bool {
        let router = self.network.port(port).router;
        self.outputs.is_unused(port)
            && self.routers[router as usize].waiting.iter().all(|&input| {
                self.inputs
                    .requests(input as usize)
                    .all(|(_, request)| request.port != port)
            })
    }

    /// Flits leave the network, and credits reach nodes.
    fn serve_nodes(&mut self) {
        let list = self.node_credits.take(self.now);
        for &(node, vc) in &list {
            self.nodes.credit(node, vc);
        }
        self.node_credits.put_back(list);
        let list = self.ejections.take(self.now);
        for &(node, vc, flit) in &list {
            self.eject(node, vc, flit);
        }
        self.ejections.put_back(list);
    }

    fn eject(&mut self, node: NodeId, vc: u8, flit: Flit) {
        let port = self.network.node_port(node);
        let at = self.now + 2 + u64::from(self.parameters.credit_delay);
        self.credits.put(at, self.inputs.numbering.number(port, vc));
        self.ejected += 1;
        self.measurement.interval.flits += 1;
        let packet = &mut self.packets[flit.packet];
        assert!(
            packet.header.dest == node && packet.arrived == flit.sequence,
            "flit {} of a packet to node {} arrived at node {node} as number {}",
            flit.sequence,
            packet.header.dest,
            packet.arrived
        );
        packet.arrived += 1;
        if packet.arrived < self.parameters.packet_flits {
            return;
        }
        if let Some(slac) = &mut self.slac {
            slac.arrived(packet.stages);
        }
        let latency = self.now - packet.created;
        self.measurement
            .arrived(latency, u64::from(packet.hops), packet.measured);
        self.packets.free(flit.packet);
    }

    /// Nodes send.
    fn inject(&mut self) {
        self.nodes.rouse(self.now);
        let mut index = 0;
        while let Some(node) = self.nodes.busy(index) {
            let due = self.nodes.due(node, self.now);
            let made = due.filter(|_| {
                self.batches
                    .as_mut()
                    .is_none_or(|batches| batches.take(node))
            });
            if made.is_none() && due.is_some() {
                self.nodes.cease(node);
            }
            if let Some(created) = made {
                let dest = self.destinations.draw(node, &mut self.rng);
                let packet = self.make_packet(node, dest, created);
                self.nodes.begin(node, packet, &mut self.rng);
            }
            if let Some((packet, sequence, vc)) =
                self.nodes.send(node, self.parameters.packet_flits)
            {
                self.injected += 1;
                let port = self.network.node_port(node);
                let flit = Flit { packet, sequence };
                if sequence == 0 {
                    // UGAL looks at the router's queues when the packet leaves the node.
                    let queued = Queued {
                        used: &self.outputs.used,
                        recent: &self.outputs.recent,
                    };
                    let header = self.packets[packet].header;
                    self.packets[packet].header = self.routing.start(
                        header,
                        &queued,
                        self.parameters.threshold,
                        &mut self.rng,
                    );
                }
                let at = self.now + 1 + u64::from(self.network.port(port).latency);
                self.flits
                    .put(at, (self.inputs.numbering.number(port, vc), flit));
            }
            if self.nodes.rests(node, self.now) {
                self.nodes.retire(index, self.now);
            } else {
                index += 1;
            }
        }
    }

    fn make_packet(&mut self, source: NodeId, dest: NodeId, created: u64) -> u32 {
        let packet = Packet {
            header: self.routing.header(source, dest),
            created,
            arrived: 0,
            hops: 0,
            measured: self.measurement.made(),
            stages: 0,
        };
        self.packets.put(packet)
    }

    /// Credits and flits reach routers: what is routed in a cycle knows all credits of it.
    fn receive(&mut self) {
        let list = self.credits.take(self.now);
        for &output in &list {
            self.outputs.credit(output);
        }
        self.credits.put_back(list);
        let list = self.forgets.take(self.now);
        for &port in &list {
            self.outputs.recent[port as usize] -= 1;
        }
        self.forgets.put_back(list);
        let list = self.flits.take(self.now);
        for &(input, flit) in &list {
            let port = self.inputs.numbering.port(input);
            let router = self.network.port(port).router;
            self.wake(router);
            if self.takes_control(router, input, flit) {
                continue;
            }
            if let Some(slac) = &mut self.slac {
                slac.came(router, port);
            }
            if self.inputs.push(input as usize, flit) {
                self.front(router, input as usize);
            }
        }
        self.flits.put_back(list);
    }

    /// A control packet that has come to its router is taken from its channel at once.
    fn takes_control(&mut self, router: RouterId, input: u32, flit: Flit) -> bool {
        let Some(tcep) = &mut self.tcep else {
            return false;
        };
        let vc = self.inputs.numbering.vc(input);
        if vc != tcep.mail.vc || tcep.mail.packets[flit.packet].to != router {
            return false;
        }
        let control = tcep.mail.take(flit.packet);
        tcep.receive(control);
        self.ejected += 1;
        self.return_credit(input);
        true
    }

    /// A place in an input VC is free again.
    fn return_credit(&mut self, input: u32) {
        let (port, vc) = (
            self.inputs.numbering.port(input),
            self.inputs.numbering.vc(input),
        );
        let Port { peer, latency, .. } = self.network.port(port);
        let at = self.inputs.credit_leaves(port, self.now) + 1 + u64::from(latency);
        match peer {
            Peer::Node(node) => self.node_credits.put(at, (node, vc)),
            Peer::Port(port) => self.credits.put(
                at + u64::from(self.parameters.credit_delay),
                self.inputs.numbering.number(port, vc),
            ),
        }
    }

    /// A flit crosses the switch from cycle `begins` on, and leaves through an output when the channel is ready.
    fn cross(&mut self, router: RouterId, flit: Flit, (port, vc): (PortId, u8), begins: u64) {
        if !self.foreseen {
            self.routers[router as usize].cross(flit, port, vc);
            return;
        }
        let queued = begins + u64::from(self.parameters.traversal_delay) - 1;
        let leaves = match &mut self.links {
            None => self.outputs.flit_leaves(port, queued),
            Some(links) => {
                let link = &mut links[port as usize];
                let Ready::At(at) = link.request(queued, 1) else {
                    unreachable!("it does not coalesce");
                };
                link.send(at);
                at
            }
        };
        self.depart(port, vc, flit, leaves);
    }

    /// A flit leaves for the other end of a channel.
    fn depart(&mut self, port: PortId, vc: u8, flit: Flit, leaves: u64) {
        let off = [Some(LinkState::Off), Some(LinkState::Waking)];
        let tcep = self.tcep.as_ref().and_then(|tcep| tcep.state(port));
        let slac = self.slac.as_ref().and_then(|slac| slac.state(port));
        assert!(
            !off.contains(&tcep.or(slac)),
            "a flit for a link that is off"
        );
        self.outputs.sent[port as usize] += 1;
        let Port { peer, latency, .. } = self.network.port(port);
        let at = leaves + 1 + u64::from(latency);
        match peer {
            Peer::Node(node) => self.ejections.put(at, (node, vc, flit)),
            Peer::Port(port) => self
                .flits
                .put(at, (self.inputs.numbering.number(port, vc), flit)),
        }
    }

    fn is_control(&self, input: usize) -> bool {
        self.channels != self.parameters.vcs
            && self.inputs.numbering.vc(input as u32) == self.parameters.vcs
    }

    fn wake(&mut self, router: RouterId) {
        let state = &mut self.routers[router as usize];
        if !state.active {
            state.active = true;
            self.active.push(router);
        }
    }

    /// A flit has come to the front of an input VC.
    fn front(&mut self, router: RouterId, input: usize) {
        let Some(flit) = self.inputs.first(input) else {
            return;
        };
        if flit.sequence > 0 {
            self.routers[router as usize].switching.push(input as u32);
            return;
        }
        if self.parameters.routing_delay > 0 {
            self.routers[router as usize].route(input as u32);
        } else {
            self.ask(router, input, flit);
        }
    }

    /// Choose where the packet in front goes, and ask for it.
    fn ask(&mut self, router: RouterId, input: usize, flit: Flit) {
        let is_control = self.is_control(input);
        let in_port = self.inputs.port(input);
        let queued = Queued {
            used: &self.outputs.used,
            recent: &self.outputs.recent,
        };
        if let Some(tcep) = &mut self.tcep {
            if is_control {
                let vc = tcep.mail.vc;
                let port = tcep.way_to(router, tcep.mail.packets[flit.packet].to);
                self.requests.clear();
                self.requests.push(Request {
                    port,
                    first_vc: vc,
                    last_vc: vc,
                    priority: 0,
                    phase: 0,
                    via: 0,
                });
            } else {
                let header = &self.packets[flit.packet].header;
                self.routing
                    .requests(router, in_port, header, &mut self.requests);
                let outputs = &self.outputs;
                let chosen = tcep.choose(
                    (router, input),
                    &self.requests,
                    header,
                    (&queued, self.parameters.threshold),
                    |hop| outputs.has_room(hop.port, hop.first_vc, hop.last_vc),
                    &mut self.rng,
                );
                self.requests.swap(0, chosen);
                self.requests.truncate(1);
            }
        } else if let Some(slac) = &mut self.slac {
            let packet = &mut self.packets[flit.packet];
            self.routing
                .requests(router, in_port, &packet.header, &mut self.requests);
            let (chosen, stages) = slac.choose(&self.requests, &packet.header);
            packet.stages = stages.unwrap_or(packet.stages);
            self.requests.swap(0, chosen);
            self.requests.truncate(1);
        } else {
            let header = &self.packets[flit.packet].header;
            let only = if router == header.target {
                Some(self.routing.to_node(header))
            } else {
                self.routing.only(router, header)
            };
            if let Some(only) = only {
                self.inputs.ask_only(input, only);
                self.routers[router as usize].waiting.push(input as u32);
                return;
            }
            self.routing.choose(
                (router, in_port),
                header,
                &queued,
                self.parameters.threshold,
                &mut self.rng,
                &mut self.requests,
            );
            if let Some(links) = &self.links {
                let now = self.now;
                self.routing.prefer_awake(&mut self.requests, |port| {
                    links[port as usize].is_asleep(now)
                });
            }
            let at = (router, header.phase);
            self.routing
                .keep_one_direction(at, &mut self.requests, &queued, &mut self.rng);
        }
        self.inputs.ask(input, &self.requests);
        self.routers[router as usize].waiting.push(input as u32);
    }

    fn internal_step(&mut self, router: RouterId, begins: u64) {
        let (numbering, data) = (self.inputs.numbering, self.parameters.vcs);
        let has_control = self.channels != data;
        let state = &mut self.routers[router as usize];
        let delay = self.parameters.routing_delay;
        if delay > 0 {
            state.begin_routing(self.now, delay, self.parameters.pipelined);
        }
        self.allocator.allocate_vcs(
            router,
            &state.waiting,
            &self.inputs,
            &self.outputs,
            &self.parameters,
        );
        self.allocator
            .allocate_switch(router, &state.switching, &self.inputs, &self.outputs);
        state.traverse(self.now, &self.parameters, &mut self.outputs);
        for &(input, request, output) in &self.allocator.vc_grants {
            let request = self.inputs.request(input as usize, request);
            let is_control = has_control && numbering.vc(input) == data;
            if let Some(flit) = self.inputs.first(input as usize) {
                if !is_control {
                    let packet = &mut self.packets[flit.packet];
                    if let Some(tcep) = &mut self.tcep {
                        let detour = packet.header.phase != 0 || request.phase != 0;
                        tcep.track(input as usize, detour);
                    }
                    packet.header.phase = request.phase;
                    packet.header.via = request.via;
                    packet.hops += u16::from(self.links_to_router[request.port as usize]);
                }
            }
            self.outputs.owner[output as usize] = input;
            self.inputs.set_output(input as usize, output);
            state.switching.push(input);
        }
        if !self.allocator.vc_grants.is_empty() {
            let inputs = &self.inputs;
            state
                .waiting
                .retain(|&input| inputs.output(input as usize) == FREE);
        }
        for grant in 0..self.allocator.switch_grants.len() {
            self.switch(router, self.allocator.switch_grants[grant] as usize, begins);
        }
        if !self.allocator.switch_grants.is_empty() {
            let inputs = &self.inputs;
            self.routers[router as usize].settle(|input| inputs.is_switching(input as usize));
        }
        if delay > 0 {
            while let Some(input) = self.routers[router as usize].routed(self.now) {
                if let Some(flit) = self.inputs.first(input as usize) {
                    self.ask(router, input as usize, flit);
                }
            }
        }
    }

    /// A flit leaves an input VC.
    fn switch(&mut self, router: RouterId, input: usize, begins: u64) {
        let output = self.inputs.output(input) as usize;
        let flit = self.inputs.pop(input);
        let is_control = self.is_control(input);
        let tail = is_control || flit.sequence + 1 == self.parameters.packet_flits;
        let (port, vc) = self.outputs.send(output);
        self.remember(port);
        let in_port = self.inputs.port(input);
        if let Some(tcep) = &mut self.tcep {
            if !is_control {
                tcep.count(input, port, 1);
            }
        }
        if let Some(slac) = &mut self.slac {
            slac.left(in_port);
        }
        self.outputs
            .hold(output, input as u32, tail, self.parameters.switching);
        self.cross(router, flit, (port, vc), begins);
        self.return_credit(input as u32);
        if tail {
            self.inputs.set_output(input, FREE);
            // The next packet asks for a virtual channel in the next step.
            self.front(router, input);
        }
    }

    /// One flit a cycle from each output queue, if there are any.
    fn send(&mut self, router: RouterId) {
        if self.routers[router as usize].sending.is_empty() {
            return;
        }
        let now = self.now;
        let mut sending = std::mem::take(&mut self.routers[router as usize].sending);
        sending.retain(|&port| {
            let queue = &mut self.outputs.queues[port as usize];
            if let Some(links) = &mut self.links {
                let link = &mut links[port as usize];
                match link.request(now, queue.len() as u32) {
                    Ready::At(at) if at <= now => link.send(now),
                    _ => return true,
                }
            }
            let first = queue.pop_front();
            let more = !queue.is_empty();
            if let Some((flit, vc)) = first {
                self.depart(port, vc, flit, now);
            }
            more
        });
        self.routers[router as usize].sending = sending;
    }

    /// Where all flits are; `injected` is `ejected` plus `in_flight` at any moment.
    #[must_use]
    pub fn flits(&self) -> Flits {
        let moving = self.flits.iter().count() + self.ejections.iter().count();
        let crossing: usize = self.routers.iter().map(RouterState::crossing).sum();
        let queued: usize = self.outputs.queues.iter().map(|queue| queue.len()).sum();
        Flits {
            injected: self.injected,
            ejected: self.ejected,
            in_flight: (moving + crossing + queued) as u64 + self.inputs.stored(),
        }
    }

    /// For every virtual channel of every link: the buffer's size equals credits, flits in the buffer, and both under
    /// way. `Err` names the first that differs.
    ///
    /// # Errors
    /// If credits were lost or made up.
    pub fn check_credits(&self) -> Result<(), String> {
        let (vcs, numbering) = (self.channels, self.inputs.numbering);
        let size = usize::from(self.parameters.buffer_flits);
        for (id, port) in (0..).zip(self.network.ports()) {
            for vc in 0..vcs {
                // Flits and credits between this output and the input at its other end.
                let waiting = self.outputs.queues[id as usize]
                    .iter()
                    .filter(|(_, own)| *own == vc)
                    .count()
                    + self.routers[port.router as usize].crossing_to(id, vc);
                let own = numbering.number(id, vc);
                let returning = self.credits.iter().filter(|&&output| output == own);
                let returning = returning.count();
                let far = match port.peer {
                    Peer::Port(peer) => {
                        let input = numbering.number(peer, vc);
                        let flying = self.flits.iter().filter(|(to, _)| *to == input);
                        flying.count() + self.inputs.length(input as usize)
                    }
                    Peer::Node(node) => {
                        let flying = self.ejections.iter();
                        flying
                            .filter(|(to, own, _)| (*to, *own) == (node, vc))
                            .count()
                    }
                };
                let credits = self.outputs.credits(id, vc);
                if credits + waiting + returning + far != size {
                    return Err(format!(
                        "port {id} VC {vc}: {credits} credits, {waiting} waiting, {returning} returning, {far} beyond, of {size}"
                    ));
                }
            }
        }
        Ok(())
    }
}
