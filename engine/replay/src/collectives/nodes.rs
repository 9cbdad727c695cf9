//! Which ranks of a communicator share a node.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The nodes of a communicator's ranks, made once for all its calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nodes {
    ranks: Vec<Place>,
    /// Ranks of each node, in their order.
    within: Vec<Arc<[u32]>>,
    /// Ranks in the same place of their nodes, in their order, by place.
    across: Vec<Arc<[u32]>>,
}

/// Where a rank is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Place {
    /// Index of its node.
    node: u32,
    /// Number among the ranks of its node.
    low: u32,
    /// Number among the ranks in the same place of their nodes.
    up: u32,
}

impl Nodes {
    /// From the node of each rank, by any numbers.
    pub fn new(nodes: &[u32]) -> Self {
        let mut numbers = BTreeMap::new();
        let mut within: Vec<Vec<u32>> = Vec::new();
        let mut across: Vec<Vec<u32>> = Vec::new();
        let mut ranks = Vec::with_capacity(nodes.len());
        for (rank, node) in (0..).zip(nodes) {
            let next = within.len();
            let node = *numbers.entry(node).or_insert(next);
            if node == next {
                within.push(Vec::new());
            }
            let low = within[node].len();
            within[node].push(rank);
            if low == across.len() {
                across.push(Vec::new());
            }
            let up = across[low].len();
            across[low].push(rank);
            ranks.push(Place {
                node: node as u32,
                low: low as u32,
                up: up as u32,
            });
        }
        let shared = |lists: Vec<Vec<u32>>| lists.into_iter().map(Arc::from).collect();
        Self {
            ranks,
            within: shared(within),
            across: shared(across),
        }
    }

    /// There are several nodes, and one of them has several ranks.
    pub(super) fn are_shared(&self) -> bool {
        self.within.len() > 1 && self.across.len() > 1
    }

    /// All nodes have as many ranks.
    pub(super) fn are_even(&self) -> bool {
        self.across.first().map(|first| first.len()) == self.across.last().map(|last| last.len())
    }

    /// Ranks of the node of `rank`.
    pub(super) fn within(&self, rank: u32) -> &Arc<[u32]> {
        &self.within[self.ranks[rank as usize].node as usize]
    }

    /// Ranks in the place of `rank` on their nodes.
    pub(super) fn across(&self, rank: u32) -> &Arc<[u32]> {
        &self.across[self.low(rank) as usize]
    }

    /// Number of `rank` in its node.
    pub(super) fn low(&self, rank: u32) -> u32 {
        self.ranks[rank as usize].low
    }

    /// Number of `rank` among those in its place.
    pub(super) fn up(&self, rank: u32) -> u32 {
        self.ranks[rank as usize].up
    }
}
