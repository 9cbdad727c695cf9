//! The k-ary n-cube: a ring in every dimension; and the mesh, which has no link around.

use super::{Digits, Shape, product};
use crate::error::SimulationError;
use crate::network::{Builder, Network};

/// Sizes of a torus or mesh. The ports of a router are its nodes' first, then, by dimension, the trunk's links upwards
/// and the trunk's links downwards; a mesh's edge lacks those that would lead around.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torus {
    /// Routers in each dimension.
    pub radix: Vec<u32>,
    /// Nodes at each router.
    pub concentration: u32,
    /// Parallel links between neighbours.
    pub trunk: u32,
    /// Whether the last router of a row is a neighbour of the first.
    pub wraps: bool,
}

impl Torus {
    /// A k-ary n-cube with one node a router and single links.
    #[must_use]
    pub fn cube(k: u32, n: usize) -> Self {
        Self {
            radix: vec![k; n],
            concentration: 1,
            trunk: 1,
            wraps: true,
        }
    }

    /// Coordinate of a router.
    #[must_use]
    pub fn coordinate(&self, router: u32, dimension: usize) -> u32 {
        Digits { radix: &self.radix }.get(router, dimension)
    }

    /// The neighbour in a dimension; `None` over a mesh's edge.
    #[must_use]
    pub fn neighbour(&self, router: u32, dimension: usize, up: bool) -> Option<u32> {
        let digits = Digits { radix: &self.radix };
        let size = self.radix[dimension];
        let at = digits.get(router, dimension);
        let around = if up { at + 1 == size } else { at == 0 };
        if around && !self.wraps {
            return None;
        }
        let next = (if up { at + 1 } else { at + size - 1 }) % size;
        Some(digits.with(router, dimension, next))
    }

    /// Number within its router of the first port of a trunk. Directions over a mesh's edge have no ports.
    #[must_use]
    pub fn port(&self, router: u32, dimension: usize, up: bool) -> u32 {
        let mut port = self.concentration;
        for before in 0..=dimension {
            for direction in [true, false] {
                if (before, direction) == (dimension, up) {
                    return port;
                }
                if self.wraps || self.neighbour(router, before, direction).is_some() {
                    port += self.trunk;
                }
            }
        }
        port
    }

    /// Dimension of a port; `None` for a node's port.
    #[must_use]
    pub fn dimension_of(&self, router: u32, local: u32) -> Option<usize> {
        (0..self.radix.len()).find(|dimension| {
            [true, false].into_iter().any(|up| {
                let first = self.port(router, *dimension, up);
                self.neighbour(router, *dimension, up).is_some()
                    && (first..first + self.trunk).contains(&local)
            })
        })
    }

    /// The network.
    ///
    /// # Errors
    /// If a size is 0, a dimension has fewer than two routers, or the network would be too large.
    pub fn build(self) -> Result<Network, SimulationError> {
        if self.radix.is_empty() || self.radix.iter().any(|&k| k < 2) {
            return SimulationError::topology("a torus has at least two routers in each dimension");
        }
        let routers = product("the number of routers", self.radix.iter().copied())?;
        let nodes = product("the number of nodes", [routers, self.concentration])?;
        let dimensions = self.radix.len();
        product(
            "the number of ports",
            [routers, 2 * dimensions as u32, self.trunk],
        )?;
        let degrees: Vec<u32> = (0..routers)
            .map(|router| self.port(router, dimensions - 1, false) + self.last_trunk(router))
            .collect();
        let mut builder = Builder::new(&degrees, nodes);
        for node in 0..nodes {
            builder.attach(node, node / self.concentration, node % self.concentration);
        }
        for router in 0..routers {
            for dimension in 0..dimensions {
                if let Some(next) = self.neighbour(router, dimension, true) {
                    let here = self.port(router, dimension, true);
                    let there = self.port(next, dimension, false);
                    for i in 0..self.trunk {
                        builder.join((router, here + i), (next, there + i), 1);
                    }
                }
            }
        }
        Ok(builder.build(Shape::Torus(self)))
    }

    /// Ports of the last direction.
    fn last_trunk(&self, router: u32) -> u32 {
        let last = self.radix.len() - 1;
        if self.neighbour(router, last, false).is_some() {
            self.trunk
        } else {
            0
        }
    }
}
