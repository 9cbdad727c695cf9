//! The dragonfly (Kim et al. 2008): groups of routers, every pair of groups joined by the same number of global links.
//!
//! Within a group every router is linked to every other (canonical), or the routers form rows and columns and are linked
//! along both (row-column, as Cray's Cascade).

use super::{Digits, Shape, product};
use crate::error::SimulationError;
use crate::network::{Builder, Network, RouterId};

/// Sizes of a dragonfly. The ports of a router are its nodes' first, then those within the group as in
/// [`super::HyperX`], then the global ones.
///
/// Global port j of router r in a group is the group's global link number r·h + j. Of g groups, number q of the others
/// (counted without the own one) is reached by link q, and by q + (g - 1), q + 2·(g - 1) and so on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dragonfly {
    /// Nodes at each router (p).
    pub concentration: u32,
    /// Routers in each dimension of a group: one number (a) for the canonical dragonfly, two for rows and columns.
    pub group: Vec<u32>,
    /// Global links of each router (h).
    pub global: u32,
    /// Groups (g).
    pub groups: u32,
}

impl Dragonfly {
    /// The balanced dragonfly of its paper: a = 2p, h = p, g = a·h + 1.
    #[must_use]
    pub fn balanced(p: u32) -> Self {
        Self {
            concentration: p,
            group: vec![2 * p],
            global: p,
            groups: 2 * p * p + 1,
        }
    }

    /// Routers in a group (a).
    #[must_use]
    pub fn group_size(&self) -> u32 {
        self.group.iter().product()
    }

    /// Group of a router.
    #[must_use]
    pub fn group_of(&self, router: RouterId) -> u32 {
        router / self.group_size()
    }

    /// First global port.
    #[must_use]
    pub fn first_global(&self) -> u32 {
        self.concentration + self.group.iter().map(|size| size - 1).sum::<u32>()
    }

    /// Global links between two groups.
    #[must_use]
    pub fn copies(&self) -> u32 {
        self.group_size() * self.global / (self.groups - 1)
    }

    /// The router of a group, and its port, at which a global link to another group begins.
    #[must_use]
    pub fn gateway(&self, group: u32, other: u32, copy: u32) -> (RouterId, u32) {
        let q = if other < group { other } else { other - 1 };
        let link = copy * (self.groups - 1) + q;
        (
            group * self.group_size() + link / self.global,
            self.first_global() + link % self.global,
        )
    }

    /// The next port on the way to another router of the same group, lowest dimension first.
    #[must_use]
    pub fn local_port(&self, router: RouterId, target: RouterId) -> Option<u32> {
        let digits = Digits { radix: &self.group };
        let [here, there] = [router, target].map(|r| r % self.group_size());
        let mut port = self.concentration;
        for (dimension, size) in self.group.iter().enumerate() {
            let [own, wanted] = [here, there].map(|r| digits.get(r, dimension));
            if own != wanted {
                return Some(port + if wanted < own { wanted } else { wanted - 1 });
            }
            port += size - 1;
        }
        None
    }

    /// The network.
    ///
    /// # Errors
    /// If the global links cannot be shared equally by the pairs of groups, or a size is 0 or too large.
    pub fn build(self) -> Result<Network, SimulationError> {
        if self.groups < 2 {
            return SimulationError::topology("a dragonfly has at least two groups");
        }
        let size = product("the size of a group", self.group.iter().copied())?;
        let links = product("the number of global links of a group", [size, self.global])?;
        if links % (self.groups - 1) != 0 {
            return SimulationError::topology(format!(
                "a group has {links} global links, which {} other groups cannot share equally",
                self.groups - 1
            ));
        }
        let routers = product("the number of routers", [size, self.groups])?;
        let nodes = product("the number of nodes", [routers, self.concentration])?;
        let degree = self.first_global() + self.global;
        product("the number of ports", [routers, degree])?;
        let mut builder = Builder::new(&vec![degree; routers as usize], nodes);
        for node in 0..nodes {
            builder.attach(node, node / self.concentration, node % self.concentration);
        }
        let digits = Digits { radix: &self.group };
        for router in 0..routers {
            let base = router - router % size;
            for (dimension, length) in self.group.iter().enumerate() {
                let own = digits.get(router - base, dimension);
                for coordinate in own + 1..*length {
                    let other = base + digits.with(router - base, dimension, coordinate);
                    let ports = [(router, other), (other, router)]
                        .map(|(from, to)| self.local_port(from, to).unwrap_or_default());
                    builder.join((router, ports[0]), (other, ports[1]), 1);
                }
            }
        }
        for group in 0..self.groups {
            for other in group + 1..self.groups {
                for copy in 0..self.copies() {
                    let [here, there] =
                        [(group, other), (other, group)].map(|(a, b)| self.gateway(a, b, copy));
                    builder.join(here, there, 1);
                }
            }
        }
        Ok(builder.build(Shape::Dragonfly(self)))
    }
}
