//! HyperX (Ahn et al. 2009): every router is linked to all others that differ in one coordinate. With equal sizes it is
//! the flattened butterfly (Kim et al. 2007), with one dimension the complete graph.

use super::{Digits, Shape, product};
use crate::error::SimulationError;
use crate::network::{Builder, Network};

/// Sizes of a HyperX. Node n is at router n / c. The ports of a router are its nodes' first, then, by dimension and
/// by the other router's coordinate, the links of each trunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HyperX {
    /// Routers in each dimension.
    pub sizes: Vec<u32>,
    /// Nodes at each router.
    pub concentration: u32,
    /// Parallel links between two routers.
    pub trunk: u32,
}

impl HyperX {
    /// k-ary n-flat: n - 1 dimensions of k routers in its paper, here counted by dimensions, with c nodes a router.
    #[must_use]
    pub fn flattened_butterfly(k: u32, dimensions: usize, concentration: u32) -> Self {
        Self {
            sizes: vec![k; dimensions],
            concentration,
            trunk: 1,
        }
    }

    /// Every router linked to every other.
    #[must_use]
    pub fn complete(routers: u32, concentration: u32) -> Self {
        Self::flattened_butterfly(routers, 1, concentration)
    }

    /// Coordinate of a router.
    #[must_use]
    pub fn coordinate(&self, router: u32, dimension: usize) -> u32 {
        Digits { radix: &self.sizes }.get(router, dimension)
    }

    /// The router with another coordinate in one dimension.
    #[must_use]
    pub fn moved(&self, router: u32, dimension: usize, coordinate: u32) -> u32 {
        Digits { radix: &self.sizes }.with(router, dimension, coordinate)
    }

    /// Number within its router of the first port of the trunk to the router with another coordinate.
    #[must_use]
    pub fn port(&self, router: u32, dimension: usize, coordinate: u32) -> u32 {
        let own = self.coordinate(router, dimension);
        debug_assert_ne!(own, coordinate);
        let before: u32 = self.sizes[..dimension].iter().map(|size| size - 1).sum();
        let index = if coordinate < own {
            coordinate
        } else {
            coordinate - 1
        };
        self.concentration + (before + index) * self.trunk
    }

    /// Dimension of a port and the other router's coordinate; `None` for a node's port.
    #[must_use]
    pub fn leads_to(&self, router: u32, local: u32) -> Option<(usize, u32)> {
        let mut index = local.checked_sub(self.concentration)? / self.trunk;
        for (dimension, size) in self.sizes.iter().enumerate() {
            if index < size - 1 {
                let own = self.coordinate(router, dimension);
                return Some((dimension, if index < own { index } else { index + 1 }));
            }
            index -= size - 1;
        }
        None
    }

    /// The network.
    ///
    /// # Errors
    /// If a size is 0 or the network would be too large.
    pub fn build(self) -> Result<Network, SimulationError> {
        if self.sizes.is_empty() {
            return SimulationError::topology("a HyperX has at least one dimension");
        }
        let routers = product("the number of routers", self.sizes.iter().copied())?;
        let nodes = product("the number of nodes", [routers, self.concentration])?;
        let trunks: u32 = self.sizes.iter().map(|size| size - 1).sum();
        product("the number of trunks", [self.trunk])?;
        let degree = self.concentration + trunks * self.trunk;
        product("the number of ports", [routers, degree])?;
        let mut builder = Builder::new(&vec![degree; routers as usize], nodes);
        for node in 0..nodes {
            builder.attach(node, node / self.concentration, node % self.concentration);
        }
        for router in 0..routers {
            for (dimension, size) in self.sizes.iter().enumerate() {
                let own = self.coordinate(router, dimension);
                for coordinate in own + 1..*size {
                    let other = self.moved(router, dimension, coordinate);
                    let here = self.port(router, dimension, coordinate);
                    let there = self.port(other, dimension, own);
                    for i in 0..self.trunk {
                        builder.join((router, here + i), (other, there + i), 1);
                    }
                }
            }
        }
        Ok(builder.build(Shape::HyperX(self)))
    }
}
