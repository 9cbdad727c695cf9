//! What the packet engine keeps of packets, outputs and links.

use super::bounded::DelayBound;
use crate::link::{LinkLedger, LinkPolicy, Mode};
use crate::network::{Network, NodeId, Peer, Port, PortId, RouterId};
use crate::parameters::RouterParameters;
use crate::routing::{Congestion, Header, Request};

/// A packet in the network.
#[derive(Copy, Clone, Debug)]
pub(super) struct Packet {
    pub(super) dest: NodeId,
    pub(super) target: RouterId,
    pub(super) via: RouterId,
    /// The cycle in which it was made, modulo 2^32: a packet is in the network for less than that. Of a message's packet, the
    /// message's number.
    pub(super) origin: u32,
    /// The router that it is in or under way to.
    pub(super) router: RouterId,
    /// Cycles after which the output that sent it can use its credit.
    pub(super) back: u32,
    pub(super) flits: u16,
    pub(super) hops: u16,
    /// Wakes of links that it waited for.
    pub(super) wakes: u16,
    pub(super) phase: u8,
    /// The virtual channel of the buffer that it is in or under way to, and above it whether it is measured.
    pub(super) tag: u8,
}

/// The bit of [`Packet::tag`] that says that it is measured; there are at most 64 virtual channels.
pub(super) const MEASURED: u8 = 0x80;

impl Packet {
    pub(super) const fn header(&self) -> Header {
        Header {
            source: NodeId::MAX,
            dest: self.dest,
            target: self.target,
            phase: self.phase,
            via: self.via,
        }
    }

    pub(super) const fn vc(&self) -> u8 {
        self.tag & !MEASURED
    }
}

/// A packet whose tail is on its way to its node.
#[derive(Copy, Clone, Debug)]
pub(super) struct Reached {
    pub(super) origin: u32,
    pub(super) flits: u16,
    pub(super) hops: u16,
    pub(super) wakes: u16,
    pub(super) measured: bool,
}

/// When a packet crossed a switch.
#[derive(Copy, Clone, Debug)]
pub(super) struct Crossed {
    /// The cycle in which its head leaves over the link.
    pub(super) start: u64,
    /// The internal steps of its head and its tail in the switch.
    pub(super) step: u64,
    pub(super) tail: u64,
    /// Whether it waited for a wake of the link.
    pub(super) woke: bool,
}

/// Where a packet goes from the router that it reaches.
#[derive(Copy, Clone, Debug)]
pub(super) enum Way {
    /// To its node, over this port.
    Node(PortId),
    /// Here, whatever happens before.
    Hop(Request),
    /// To be chosen when it arrives.
    Open,
}

/// An output: that of a port, or behind all ports that of a node. Half a line of the cache each.
#[derive(Copy, Clone, Debug)]
#[repr(align(32))]
pub(super) struct Output {
    /// The link is free from here on.
    pub(super) free: u64,
    /// Of a port: the switch takes the next flit at this internal step. Of a node: when its next packet is due.
    pub(super) next: u64,
    /// Flits that it has sent, since links have a policy.
    pub(super) sent: u64,
    /// The router at the other end; at a port to a node its own.
    pub(super) router: RouterId,
    /// At most [`crate::network::LONGEST_LATENCY`].
    pub(super) latency: u16,
    /// Whether what it sent last waited for a wake, its own or that of a packet right in front of it.
    pub(super) woke: bool,
}

impl Output {
    /// A packet begins to be sent at `start`, for which the link woke or not. Whether it waited for a wake: one that begins
    /// right behind another waited for that one's, too.
    #[inline]
    pub(super) fn send(&mut self, start: u64, flits: u64, woke: bool) -> bool {
        self.woke = woke || self.woke && start == self.free;
        self.free = start + flits;
        self.sent += flits;
        self.woke
    }
}

/// Packets that fit into a virtual channel behind an output.
pub(super) fn room_of(parameters: &RouterParameters) -> u16 {
    (u32::from(parameters.buffer_flits) / parameters.packet_flits) as u16
}

/// Flits behind each output, as UGAL counts them.
pub(super) struct Queued<'a> {
    room: &'a [u16],
    recent: &'a [u32],
    pub(super) vcs: usize,
    /// Packets that fit behind an output, on all virtual channels.
    fits: u32,
    flits: u32,
}

impl<'a> Queued<'a> {
    pub(super) fn new(room: &'a [u16], recent: &'a [u32], parameters: &RouterParameters) -> Self {
        let vcs = usize::from(parameters.vcs);
        Self {
            room,
            recent,
            vcs,
            fits: u32::from(room_of(parameters)) * vcs as u32,
            flits: parameters.packet_flits,
        }
    }
}

impl Congestion for Queued<'_> {
    fn queued(&self, port: PortId) -> u32 {
        let first = port as usize * self.vcs;
        let room: u32 = self.room[first..first + self.vcs]
            .iter()
            .map(|&room| u32::from(room))
            .sum();
        let recent = self.recent.get(port as usize).copied().unwrap_or(0);
        ((self.fits - room) * self.flits).saturating_sub(recent)
    }
}

/// What links do, by class.
#[derive(Copy, Clone, Debug, Default)]
pub struct LinkPolicies {
    /// Of links between routers.
    pub routers: LinkPolicy,
    /// Of links from routers to nodes.
    pub nodes: LinkPolicy,
    /// Of links from nodes to routers: what the nodes' cards do.
    pub cards: LinkPolicy,
    /// Links between routers choose their hold by themselves, beginning with that of their policy.
    pub bound: Option<DelayBound>,
}

impl From<LinkPolicy> for LinkPolicies {
    /// Links between routers follow a policy, those to nodes never sleep.
    fn from(routers: LinkPolicy) -> Self {
        Self {
            routers,
            nodes: LinkPolicy::default(),
            cards: LinkPolicy::default(),
            bound: None,
        }
    }
}

/// Links that follow policies.
#[derive(Clone, Debug)]
pub(super) struct Links {
    pub(super) policies: LinkPolicies,
    /// Since when.
    pub(super) since: u64,
}

/// Idle cycles after which a link sleeps.
pub(super) const fn hold_of(policy: &LinkPolicy) -> u64 {
    match policy.mode {
        Mode::Off => u64::MAX,
        _ => policy.timing.hold,
    }
}

/// Time in low power, in wakes, and without power. A line of the cache each.
#[derive(Copy, Clone, Debug, Default)]
#[repr(align(64))]
pub(super) struct Slept {
    pub(super) sleep: u64,
    pub(super) quiet: u64,
    pub(super) refresh: u64,
    pub(super) fast: u64,
    pub(super) wake: u64,
    pub(super) wakes: u64,
    pub(super) sleeps: u64,
    /// Off, or turning on again.
    pub(super) gated: u64,
}

impl Slept {
    pub(super) fn add(&mut self, other: &LinkLedger) {
        self.sleep += other.sleep;
        self.quiet += other.quiet;
        self.refresh += other.refresh;
        self.fast += other.fast;
        self.wake += other.wake;
        self.wakes += other.wakes;
        self.sleeps += other.sleeps;
    }

    pub(super) fn ledger(self) -> LinkLedger {
        LinkLedger {
            sleep: self.sleep,
            quiet: self.quiet,
            refresh: self.refresh,
            fast: self.fast,
            wake: self.wake,
            wakes: self.wakes,
            sleeps: self.sleeps,
            ..LinkLedger::default()
        }
    }
}

/// Outputs of the ports and of the nodes.
pub(super) fn outputs(network: &Network) -> Vec<Output> {
    let output = |router: RouterId, latency: u32| Output {
        free: 0,
        next: 0,
        sent: 0,
        router,
        latency: latency as u16,
        woke: false,
    };
    let of_port = |port: &Port| match port.peer {
        Peer::Port(peer) => output(network.port(peer).router, port.latency),
        Peer::Node(_) => output(port.router, port.latency),
    };
    let of_node = |node: NodeId| {
        let port = network.port(network.node_port(node));
        output(port.router, port.latency)
    };
    network
        .ports()
        .iter()
        .map(of_port)
        .chain((0..network.nodes()).map(of_node))
        .collect()
}
