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

    /// The request of a packet that is not at its target, where there is one only.
    pub(super) fn only(&self, router: RouterId, header: &Header) -> Option<Request> {
        let place = self.places[router as usize];
        let level = self.levels[place.level];
        let digit = header.dest / level.child % level.children;
        if header.dest / level.nodes == place.branch {
            Some(self.hop(place, digit, header))
        } else if matches!(
            self.algorithm,
            Algorithm::TreeRandom | Algorithm::TreeAdaptive
        ) {
            None
        } else {
            let parent = level.children + digit % level.parents;
            Some(self.hop(place, parent, header))
        }
    }

    pub(super) fn requests(&self, router: RouterId, header: &Header, out: &mut Vec<Request>) {
        if let Some(only) = self.only(router, header) {
            out.push(only);
            return;
        }
        let place = self.places[router as usize];
        let Level {
            children, parents, ..
        } = self.levels[place.level];
        out.extend((children..children + parents).map(|port| self.hop(place, port, header)));
    }

    fn hop(&self, place: Place, local: u32, header: &Header) -> Request {
        let own_vc = (header.dest % u32::from(self.vcs)) as u8;
        let (first_vc, last_vc) = match self.algorithm {
            Algorithm::Dbbm => (own_vc, own_vc),
            _ => (0, self.vcs - 1),
        };
        Request {
            port: place.first_port + local,
            first_vc,
            last_vc,
            priority: 0,
            phase: 0,
            via: header.via,
        }
    }
}
