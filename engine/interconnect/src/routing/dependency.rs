//! The proof that a routing cannot deadlock, or the cycle that shows that it might.
//!
//! The vertices are the virtual channels of all links. A packet that holds one and waits for another makes an edge. By
//! Dally and Seitz (1987) no deadlock is possible if the graph has no cycle. An adaptive algorithm needs that only of
//! its escape channels, if one of them can be requested at every router (Duato 1993); then an edge joins two escape
//! channels that a packet uses one after the other, with any number of adaptive hops between.
//!
//! The walk visits every router and state that a packet to some destination can reach, over all that the routing's
//! relation permits, so it proves what the engines do, not what the algorithm's paper says.

use std::collections::BTreeSet;

use super::{Header, Request, Routing};
use crate::network::{Network, NodeId, Peer, PortId};

/// A virtual channel of a link.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VirtualChannel {
    /// The port that sends into it.
    pub port: PortId,
    /// Its number.
    pub vc: u8,
}

/// What the proof found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// No cycle: deadlock is impossible.
    Acyclic {
        /// Virtual channels in use (escape channels, where there are any).
        channels: usize,
        /// Dependencies between them.
        dependencies: usize,
    },
    /// Virtual channels each of which may wait for the next, and the last for the first.
    Cycle(Vec<VirtualChannel>),
    /// From the first router no hop leads on to the destination.
    Stuck(Header),
}

/// Channels held while the walk goes on: a port and the range of virtual channels.
type Held = Option<(PortId, u8, u8)>;

/// Where a packet stands, what it carries, and what it holds.
type State = (PortId, Header, Held);

/// What packets to a node begin with, from every router.
fn starting_states(network: &Network, routing: &Routing, dest: NodeId) -> Vec<State> {
    let mut starts = Vec::new();
    let mut states = Vec::new();
    let mut last_router = None;
    for source in 0..network.nodes() {
        let port = network.node_port(source);
        let router = Some(network.router_of(source));
        if last_router == router {
            continue; // Nodes of one router send alike.
        }
        last_router = router;
        routing.starts(routing.header(source, dest), &mut starts);
        states.extend(starts.iter().map(|start| {
            // The source is not part of a state: it decides nothing on the way.
            let header = Header {
                source: dest,
                ..*start
            };
            (port, header, None)
        }));
    }
    states
}

/// Prove that a routing on a network is free of deadlock.
#[must_use]
pub fn prove(network: &Network, routing: &Routing) -> Proof {
    let vcs = usize::from(routing.vcs());
    let mut edges = vec![BTreeSet::new(); network.ports().len() * vcs];
    let mut used = vec![false; edges.len()];
    let mut requests = Vec::new();
    let mut last_target = None;
    for dest in 0..network.nodes() {
        let target = Some(network.router_of(dest));
        if last_target == target && !routing.tells_nodes_apart() {
            continue;
        }
        last_target = target;
        let mut seen: BTreeSet<State> = BTreeSet::new();
        let mut stack = starting_states(network, routing, dest);
        while let Some(state) = stack.pop() {
            if !seen.insert(state) {
                continue;
            }
            let (in_port, header, held) = state;
            let router = network.port(in_port).router;
            routing.requests(router, in_port, &header, &mut requests);
            if requests.is_empty() {
                return Proof::Stuck(header);
            }
            let escape = requests.iter().map(|r| r.priority).min().unwrap_or(0);
            for request in &requests {
                let Peer::Port(next) = network.port(request.port).peer else {
                    continue;
                };
                let now = if request.priority == escape {
                    add(&mut edges, &mut used, vcs, held, request);
                    Some((request.port, request.first_vc, request.last_vc))
                } else {
                    held
                };
                let header = Header {
                    phase: request.phase,
                    via: request.via,
                    ..header
                };
                stack.push((next, header, now));
            }
        }
    }
    match cycle(&edges) {
        Some(cycle) => Proof::Cycle(
            cycle
                .into_iter()
                .map(|vertex| VirtualChannel {
                    port: (vertex / vcs) as PortId,
                    vc: (vertex % vcs) as u8,
                })
                .collect(),
        ),
        None => Proof::Acyclic {
            channels: used.iter().filter(|used| **used).count(),
            dependencies: edges.iter().map(BTreeSet::len).sum(),
        },
    }
}

fn add(
    edges: &mut [BTreeSet<usize>],
    used: &mut [bool],
    vcs: usize,
    held: Held,
    request: &Request,
) {
    let vertex = |port: PortId, vc: u8| port as usize * vcs + usize::from(vc);
    for to in request.first_vc..=request.last_vc {
        let to = vertex(request.port, to);
        used[to] = true;
        if let Some((port, first, last)) = held {
            for from in first..=last {
                edges[vertex(port, from)].insert(to);
            }
        }
    }
}

/// A cycle of a graph, found depth first; `None` if there is none.
fn cycle(edges: &[BTreeSet<usize>]) -> Option<Vec<usize>> {
    #[derive(Copy, Clone, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; edges.len()];
    for root in 0..edges.len() {
        if marks[root] != Mark::New {
            continue;
        }
        marks[root] = Mark::Open;
        let mut path = vec![(root, edges[root].iter())];
        while let Some((vertex, rest)) = path.last_mut() {
            match rest.next() {
                Some(&next) => match marks[next] {
                    Mark::New => {
                        marks[next] = Mark::Open;
                        path.push((next, edges[next].iter()));
                    }
                    Mark::Open => {
                        let mut found: Vec<usize> =
                            path.iter().map(|(vertex, _)| *vertex).collect();
                        let start = found.iter().position(|&v| v == next).unwrap_or(0);
                        found.drain(..start);
                        return Some(found);
                    }
                    Mark::Done => {}
                },
                None => {
                    marks[*vertex] = Mark::Done;
                    path.pop();
                }
            }
        }
    }
    None
}
