//! Any connected graph: a lab's own inventory, or a file.

use std::collections::HashMap;

use super::{LARGEST, Shape};
use crate::error::SimulationError;
use crate::network::{Builder, Network, RouterId, check_latency};

/// A link between two routers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// One end.
    pub one: RouterId,
    /// The other end.
    pub other: RouterId,
    /// Latency of either channel, in cycles.
    pub latency: u32,
}

/// Trees that packets follow, as VLANs of Ethernet switches have them: what a node sends stays in its tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trees {
    /// The ports that send into the links of each tree: router, and number within it.
    pub ports: Vec<Vec<(RouterId, u32)>>,
    /// The tree of each node.
    pub of_node: Vec<u32>,
}

/// As [`build`], with trees by the numbers of their edges, and the tree of each node.
///
/// # Errors
/// As [`build`], and if an edge or a tree does not exist, or nodes lack their tree.
pub fn build_with_trees(
    routers: u32,
    nodes: &[RouterId],
    edges: &[Edge],
    trees: &[Vec<u32>],
    of_node: Vec<u32>,
) -> Result<Network, SimulationError> {
    if of_node.len() != nodes.len() || of_node.iter().any(|&own| own as usize >= trees.len()) {
        return SimulationError::topology("trees: each node needs one of the trees");
    }
    let ends = ends_of(nodes, edges);
    let mut ports = Vec::with_capacity(trees.len());
    for tree in trees {
        if tree.iter().any(|&edge| edge as usize >= edges.len()) {
            return SimulationError::topology("trees: a tree has a link that does not exist");
        }
        ports.push(tree.iter().flat_map(|&edge| ends[edge as usize]).collect());
    }
    let built = build(routers, nodes, edges)?;
    Ok(built.with_shape(Shape::Graph(Trees { ports, of_node })))
}

/// The two ports of each edge, as [`build`] gives them out.
fn ends_of(nodes: &[RouterId], edges: &[Edge]) -> Vec<[(RouterId, u32); 2]> {
    let mut taken: HashMap<RouterId, u32> = HashMap::new();
    let mut next = |router: RouterId| {
        let port = taken.entry(router).or_default();
        *port += 1;
        (router, *port - 1)
    };
    for &router in nodes {
        next(router);
    }
    edges
        .iter()
        .map(|edge| [next(edge.one), next(edge.other)])
        .collect()
}

/// The network of `routers` routers; `nodes` names the router of each node. Parallel links are allowed. The ports of a
/// router are its nodes' in the order of the nodes, then its links' in the order of the edges.
///
/// # Errors
/// If a router does not exist, a link leads to its own router, a latency is out of range, or the graph is not connected.
pub fn build(routers: u32, nodes: &[RouterId], edges: &[Edge]) -> Result<Network, SimulationError> {
    if routers == 0 || nodes.is_empty() {
        return SimulationError::topology("a network has at least one router and one node");
    }
    if u64::from(routers) + nodes.len() as u64 + 2 * edges.len() as u64 > LARGEST {
        return SimulationError::topology(format!("the graph has more than {LARGEST} parts"));
    }
    let mut degrees = vec![0u32; routers as usize];
    for &router in nodes {
        if router >= routers {
            return SimulationError::topology(format!(
                "a node is at router {router}, which is missing"
            ));
        }
        degrees[router as usize] += 1;
    }
    for edge in edges {
        let Edge {
            one,
            other,
            latency,
        } = *edge;
        if one >= routers || other >= routers || one == other {
            return SimulationError::topology(format!(
                "the link {one}-{other} needs two different routers of the {routers}"
            ));
        }
        check_latency(latency)?;
        degrees[one as usize] += 1;
        degrees[other as usize] += 1;
    }
    let mut builder = Builder::new(&degrees, nodes.len() as u32);
    let mut taken = vec![0u32; routers as usize];
    let mut next = |router: RouterId| {
        let port = taken[router as usize];
        taken[router as usize] += 1;
        (router, port)
    };
    for (node, &router) in (0..).zip(nodes) {
        let (router, port) = next(router);
        builder.attach(node, router, port);
    }
    for edge in edges {
        builder.join(next(edge.one), next(edge.other), edge.latency);
    }
    let network = builder.build(Shape::Graph(Trees::default()));
    if let Some(lost) = network
        .distances_from(0)
        .iter()
        .position(|&distance| distance == u32::MAX)
    {
        return SimulationError::topology(format!(
            "no path from router 0 to router {lost}: the graph must be connected"
        ));
    }
    Ok(network)
}
