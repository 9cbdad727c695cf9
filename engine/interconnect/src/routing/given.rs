//! Along given trees: a packet stays in the tree of the node that sent it.

use std::collections::VecDeque;

use super::{Header, Request};
use crate::error::SimulationError;
use crate::network::{Network, NodeId, Peer, PortId, RouterId};
use crate::topology::graph::Trees;

/// Where no hop leads on.
const NOWHERE: PortId = PortId::MAX;

#[derive(Clone, Debug)]
pub(super) struct Given {
    routers: usize,
    vcs: u8,
    of_node: Vec<u32>,
    /// By tree, target and router: the port that leads on.
    next: Vec<PortId>,
}

impl Given {
    pub(super) fn new(network: &Network, trees: &Trees, vcs: u8) -> Result<Self, SimulationError> {
        if trees.of_node.is_empty() {
            return SimulationError::routing("the graph has no trees: give each node its tree");
        }
        let routers = network.routers() as usize;
        let mut next = Vec::with_capacity(trees.ports.len() * routers * routers);
        for ports in &trees.ports {
            for target in 0..network.routers() {
                next.extend(towards(network, ports, target));
            }
        }
        let given = Self {
            routers,
            vcs,
            of_node: trees.of_node.clone(),
            next,
        };
        for source in 0..network.nodes() {
            for dest in 0..network.nodes() {
                let (from, to) = (network.router_of(source), network.router_of(dest));
                if from != to && given.port(given.tree_of(source), from, to) == NOWHERE {
                    return SimulationError::routing(format!(
                        "the tree of node {source} does not reach node {dest}"
                    ));
                }
            }
        }
        Ok(given)
    }

    /// The tree of what a node sends.
    pub(super) fn tree_of(&self, node: NodeId) -> u32 {
        self.of_node[node as usize]
    }

    fn port(&self, tree: u32, router: RouterId, target: RouterId) -> PortId {
        let row = tree as usize * self.routers + target as usize;
        self.next[row * self.routers + router as usize]
    }

    pub(super) fn request(&self, router: RouterId, header: &Header) -> Request {
        let hop = header.phase.min(self.vcs - 1);
        Request {
            port: self.port(header.via, router, header.target),
            first_vc: hop,
            last_vc: hop,
            priority: 0,
            phase: header.phase.saturating_add(1),
            via: header.via,
        }
    }
}

/// Of each router the port that leads to a target over links of a tree: breadth first, from the target.
fn towards(network: &Network, ports: &[(RouterId, u32)], target: RouterId) -> Vec<PortId> {
    let mut found = vec![NOWHERE; network.routers() as usize];
    let mut queue = VecDeque::from([target]);
    while let Some(here) = queue.pop_front() {
        for &(router, local) in ports {
            let port = network.port_of(router, local);
            let Peer::Port(peer) = network.port(port).peer else {
                continue;
            };
            let leads_here = network.port(peer).router == here;
            if leads_here && router != target && found[router as usize] == NOWHERE {
                found[router as usize] = port;
                queue.push_back(router);
            }
        }
    }
    found
}
