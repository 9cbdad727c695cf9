//! Fat trees: up to a common ancestor, then down.

use super::{Algorithm, Header, Request};
use crate::network::{Network, PortId, RouterId};
use crate::topology::Tree;

/// A level of switches.
#[derive(Copy, Clone, Debug)]
struct Level {
    /// Nodes below a child, and below a switch.
    child: u32,
    nodes: u32,
    children: u32,
    parents: u32,
}

/// A switch.
#[derive(Copy, Clone, Debug)]
struct Place {
    level: usize,
    /// Which of the switches' sets of nodes is below it.
    branch: u32,
    first_port: PortId,
}

#[derive(Clone, Debug)]
pub(super) struct Upward {
    algorithm: Algorithm,
    levels: Vec<Level>,
    places: Vec<Place>,
    vcs: u8,
}

impl Upward {
    pub(super) fn new(network: &Network, tree: &Tree, algorithm: Algorithm, vcs: u8) -> Self {
        let nodes_below = |level: usize| tree.children[..level].iter().product();
        let levels = (1..=tree.levels())
            .map(|level| Level {
                child: nodes_below(level - 1),
                nodes: nodes_below(level),
                children: tree.children[level - 1],
                parents: tree.parents.get(level).copied().unwrap_or(0),
            })
            .collect();
        let places = (0..network.routers())
            .map(|router| {
                let (level, index) = tree.place(router);
                let ways_up: u32 = tree.parents[..level].iter().product();
                Place {
                    level: level - 1,
                    branch: index / ways_up,
                    first_port: network.port_of(router, 0),
                }
            })
            .collect();
        Self {
            algorithm,
            levels,
            places,
            vcs,
        }
    }

    pub(super) fn requests(&self, router: RouterId, header: &Header, out: &mut Vec<Request>) {
        let own_vc = (header.dest % u32::from(self.vcs)) as u8;
        let (first_vc, last_vc) = match self.algorithm {
            Algorithm::Dbbm => (own_vc, own_vc),
            _ => (0, self.vcs - 1),
        };
        let place = self.places[router as usize];
        let level = self.levels[place.level];
        let hop = |local: u32| Request {
            port: place.first_port + local,
            first_vc,
            last_vc,
            priority: 0,
            phase: 0,
            via: header.via,
        };
        let digit = header.dest / level.child % level.children;
        if header.dest / level.nodes == place.branch {
            out.push(hop(digit));
        } else if self.algorithm == Algorithm::TreeRandom {
            out.extend((level.children..level.children + level.parents).map(hop));
        } else {
            out.push(hop(level.children + digit % level.parents));
        }
    }
}
