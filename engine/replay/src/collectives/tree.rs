//! Trees of ranks, as coll_base_topo.c of Open MPI 4.1.4 builds them.

use super::ranks::{after, below};

/// A rank's neighbours in a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tree {
    /// `None` at the root.
    pub parent: Option<u32>,
    /// In the order in which they are served.
    pub children: Vec<u32>,
}

/// A kind of tree with a free root.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// 0 → 1 → 2 …
    Chain,
    /// A binary tree whose levels are numbered from left to right.
    Binary,
    /// The parent of a rank is the rank with its highest set bit cleared; the first child has the largest subtree.
    Binomial,
    /// The parent of a rank is the rank with its lowest set bit cleared; the last child has the largest subtree.
    InOrderBinomial,
    /// Like binomial, to base 4: the first children are the furthest.
    Knomial,
    /// The children of rank i are 2i + 1 and 2i + 2 (coll-events.C of TraceR).
    Indexed,
}

const RADIX: u32 = 4;

impl Tree {
    /// The neighbours of `rank`. Within a shape, ranks are counted from the root.
    pub fn new(shape: Shape, ranks: u32, root: u32, rank: u32) -> Self {
        let relative = below(rank, root, ranks);
        let (parent, children) = match shape {
            Shape::Chain => (relative.saturating_sub(1), vec![relative + 1]),
            Shape::Binary => binary(relative),
            Shape::Binomial => binomial(ranks, relative),
            Shape::InOrderBinomial => in_order_binomial(ranks, relative),
            Shape::Knomial => knomial(ranks, relative),
            Shape::Indexed => (
                relative.saturating_sub(1) / 2,
                vec![2 * relative + 1, 2 * relative + 2],
            ),
        };
        Self {
            parent: (relative != 0).then(|| after(root, parent, ranks)),
            children: children
                .into_iter()
                .filter(|&child| child < ranks)
                .map(|child| after(root, child, ranks))
                .collect(),
        }
    }

    /// A binary tree with root P − 1 in which every subtree is a range of ranks
    /// (`ompi_coll_base_topo_build_in_order_bintree`).
    pub fn in_order_binary(ranks: u32, rank: u32) -> Self {
        let (mut first, mut end) = (0, ranks);
        let mut parent = None;
        loop {
            let top = end - 1;
            let right = (end - first) / 2;
            let mut children = Vec::new();
            if top > first {
                children.push(top - 1);
                if top - 1 > first {
                    children.push(first + right - 1);
                }
            }
            if rank == top {
                return Self { parent, children };
            }
            parent = Some(top);
            if children.len() == 2 && rank < first + right {
                end = first + right;
            } else {
                first += if children.len() == 2 { right } else { 0 };
                end = top;
            }
        }
    }
}

fn binary(relative: u32) -> (u32, Vec<u32>) {
    let width = 1 << (relative + 1).ilog2();
    let mut parent = relative;
    while parent != 0 && parent >= width - 1 {
        parent -= width / 2;
    }
    (parent, vec![relative + width, relative + 2 * width])
}

fn binomial(ranks: u32, relative: u32) -> (u32, Vec<u32>) {
    // Of 0 the next power of two is 1.
    let above = relative.checked_ilog2().map_or(1, |bit| 2 << bit);
    let bits = std::iter::successors(Some(above), |bit: &u32| bit.checked_mul(2));
    let children = bits
        .map(|bit| relative | bit)
        .take_while(|&child| child < ranks);
    (relative & !(above / 2), children.collect())
}

fn in_order_binomial(ranks: u32, relative: u32) -> (u32, Vec<u32>) {
    let bits = std::iter::successors(Some(1), |bit: &u32| bit.checked_mul(2));
    let children = bits
        .take_while(|&bit| bit < ranks && relative & bit == 0)
        .map(|bit| relative | bit);
    (relative & relative.wrapping_sub(1), children.collect())
}

fn knomial(ranks: u32, relative: u32) -> (u32, Vec<u32>) {
    let mut reach = 1;
    while reach < ranks && relative % (RADIX * reach) == 0 {
        reach *= RADIX;
    }
    let parent = relative / (RADIX * reach) * (RADIX * reach);
    let mut children = Vec::new();
    while reach > 1 {
        reach /= RADIX;
        children.extend((1..RADIX).map(|i| relative + i * reach));
    }
    (parent, children)
}
