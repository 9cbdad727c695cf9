//! A network: routers with numbered ports, nodes at some of them, links between others.
//!
//! A port is both an input and an output, and a link joins two ports: it is two channels, one in each direction. Ports
//! have one number over the whole network ([`PortId`]), router by router, so that arrays by port need no second index. A
//! channel has the number of the port that sends into it.

use crate::error::SimulationError;
use crate::topology::Shape;

/// Number of a node (a network interface; the source and the destination of packets).
pub type NodeId = u32;
/// Number of a router.
pub type RouterId = u32;
/// Number of a port over the whole network.
pub type PortId = u32;

/// What is at the other end of a port.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Peer {
    /// A node.
    Node(NodeId),
    /// A port of a router.
    Port(PortId),
}

/// A port of a router.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// The router that has it.
    pub router: RouterId,
    /// What it is connected to.
    pub peer: Peer,
    /// Latency of the channel in either direction, in cycles; at least 1.
    pub latency: u32,
}

/// The longest latency of a channel, in cycles: the engines keep a list for each cycle of it.
pub const LONGEST_LATENCY: u32 = u16::MAX as u32;

/// Refuse a channel's latency that no engine can hold.
///
/// # Errors
/// If it is 0 or above [`LONGEST_LATENCY`].
pub(crate) fn check_latency(latency: u32) -> Result<(), SimulationError> {
    if (1..=LONGEST_LATENCY).contains(&latency) {
        return Ok(());
    }
    SimulationError::parameter(format!(
        "a channel takes 1 to {LONGEST_LATENCY} cycles, not {latency}"
    ))
}

/// A network that is complete: every port is connected, and both ends of a link agree.
#[derive(Clone, Debug)]
pub struct Network {
    ports: Vec<Port>,
    first_port: Vec<PortId>,
    node_ports: Vec<PortId>,
    shape: Shape,
}

impl Network {
    /// Number of nodes.
    #[must_use]
    pub fn nodes(&self) -> u32 {
        self.node_ports.len() as u32
    }

    /// Number of routers.
    #[must_use]
    pub fn routers(&self) -> u32 {
        self.first_port.len() as u32 - 1
    }

    /// All ports, in the order of their numbers.
    #[must_use]
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// A port.
    #[must_use]
    pub fn port(&self, port: PortId) -> Port {
        self.ports[port as usize]
    }

    /// The port with a number within its router.
    #[must_use]
    pub fn port_of(&self, router: RouterId, local: u32) -> PortId {
        self.first_port[router as usize] + local
    }

    /// Number of a port within its router.
    #[must_use]
    pub fn local(&self, port: PortId) -> u32 {
        port - self.first_port[self.port(port).router as usize]
    }

    /// Numbers of a router's ports.
    #[must_use]
    pub fn ports_of(&self, router: RouterId) -> std::ops::Range<PortId> {
        self.first_port[router as usize]..self.first_port[router as usize + 1]
    }

    /// Number of ports of a router.
    #[must_use]
    pub fn degree(&self, router: RouterId) -> u32 {
        self.ports_of(router).len() as u32
    }

    /// The port that a node is connected to.
    #[must_use]
    pub fn node_port(&self, node: NodeId) -> PortId {
        self.node_ports[node as usize]
    }

    /// The router that a node is connected to.
    #[must_use]
    pub fn router_of(&self, node: NodeId) -> RouterId {
        self.port(self.node_port(node)).router
    }

    /// Links between routers, each once, by the lower of its two ports.
    pub fn links(&self) -> impl Iterator<Item = (PortId, PortId)> + '_ {
        self.ports
            .iter()
            .zip(0..)
            .filter_map(|(port, id)| match port.peer {
                Peer::Port(peer) if id < peer => Some((id, peer)),
                _ => None,
            })
    }

    /// The topology's parameters, which routing computes with.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// With other parameters for routing to compute with.
    #[must_use]
    pub(crate) fn with_shape(self, shape: Shape) -> Self {
        Self { shape, ..self }
    }

    /// The longest channel, in cycles.
    #[must_use]
    pub fn longest_latency(&self) -> u32 {
        self.ports
            .iter()
            .map(|port| port.latency)
            .max()
            .unwrap_or(1)
    }

    /// Give all links between routers another latency, in cycles; injection and ejection keep theirs.
    ///
    /// # Errors
    /// If `latency` is 0 or above [`LONGEST_LATENCY`].
    pub fn with_link_latency(self, latency: u32) -> Result<Self, SimulationError> {
        self.with_latency(latency, |_| true)
    }

    /// Give the links between a dragonfly's groups another latency, in cycles; other topologies have none.
    ///
    /// # Errors
    /// If `latency` is 0 or above [`LONGEST_LATENCY`].
    pub fn with_global_latency(self, latency: u32) -> Result<Self, SimulationError> {
        let first = match &self.shape {
            Shape::Dragonfly(dragonfly) => dragonfly.first_global(),
            _ => u32::MAX,
        };
        self.with_latency(latency, |local| local >= first)
    }

    /// The latency is that of links whose ports' numbers within their routers are `wanted`.
    fn with_latency(
        mut self,
        latency: u32,
        wanted: impl Fn(u32) -> bool,
    ) -> Result<Self, SimulationError> {
        check_latency(latency)?;
        for (id, port) in (0..).zip(&mut self.ports) {
            let local = id - self.first_port[port.router as usize];
            if matches!(port.peer, Peer::Port(_)) && wanted(local) {
                port.latency = latency;
            }
        }
        Ok(self)
    }

    /// Fewest channels between two routers, from one router to each; `u32::MAX` if unreachable.
    #[must_use]
    pub fn distances_from(&self, router: RouterId) -> Vec<u32> {
        let mut distance = vec![u32::MAX; self.routers() as usize];
        distance[router as usize] = 0;
        let mut queue = std::collections::VecDeque::from([router]);
        while let Some(at) = queue.pop_front() {
            for port in self.ports_of(at) {
                if let Peer::Port(peer) = self.port(port).peer {
                    let next = self.port(peer).router as usize;
                    if distance[next] == u32::MAX {
                        distance[next] = distance[at as usize] + 1;
                        queue.push_back(next as u32);
                    }
                }
            }
        }
        distance
    }
}

/// A network in the making.
pub(crate) struct Builder {
    slots: Vec<Option<Port>>,
    first_port: Vec<PortId>,
    node_ports: Vec<Option<PortId>>,
}

impl Builder {
    /// Routers with these numbers of ports, and so many nodes.
    pub(crate) fn new(degrees: &[u32], nodes: u32) -> Self {
        let mut first_port = vec![0];
        for degree in degrees {
            first_port.push(first_port.last().copied().unwrap_or(0) + degree);
        }
        let ports = first_port.last().copied().unwrap_or(0) as usize;
        Self {
            slots: vec![None; ports],
            first_port,
            node_ports: vec![None; nodes as usize],
        }
    }

    fn place(&mut self, router: RouterId, local: u32, peer: Peer, latency: u32) -> PortId {
        let id = self.first_port[router as usize] + local;
        assert!(
            id < self.first_port[router as usize + 1],
            "router {router} has no port {local}"
        );
        let slot = &mut self.slots[id as usize];
        assert!(slot.is_none(), "port {local} of router {router} is taken");
        *slot = Some(Port {
            router,
            peer,
            latency,
        });
        id
    }

    /// Connect a node to a port; the channel takes one cycle.
    pub(crate) fn attach(&mut self, node: NodeId, router: RouterId, local: u32) {
        let id = self.place(router, local, Peer::Node(node), 1);
        self.node_ports[node as usize] = Some(id);
    }

    /// Connect two ports.
    pub(crate) fn join(&mut self, one: (RouterId, u32), other: (RouterId, u32), latency: u32) {
        let [a, b] = [one, other].map(|(router, local)| self.first_port[router as usize] + local);
        self.place(one.0, one.1, Peer::Port(b), latency);
        self.place(other.0, other.1, Peer::Port(a), latency);
    }

    /// The network. A port or a node that is not connected is a mistake in the topology's arithmetic.
    pub(crate) fn build(self, shape: Shape) -> Network {
        let all = "every port and node is connected";
        Network {
            ports: self
                .slots
                .into_iter()
                .map(|slot| slot.expect(all))
                .collect(),
            first_port: self.first_port,
            node_ports: self
                .node_ports
                .into_iter()
                .map(|port| port.expect(all))
                .collect(),
            shape,
        }
    }
}
