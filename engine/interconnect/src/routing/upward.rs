//! Fat trees: up to a common ancestor, then down.

use super::{Algorithm, Header, Request};
use crate::network::{Network, PortId, RouterId};
use crate::topology::Tree;

#[derive(Clone, Debug)]
pub(super) struct Upward {
    algorithm: Algorithm,
    tree: Tree,
    first_port: Vec<PortId>,
    vcs: u8,
}

impl Upward {
    pub(super) fn new(network: &Network, tree: &Tree, algorithm: Algorithm, vcs: u8) -> Self {
        Self {
            algorithm,
            tree: tree.clone(),
            first_port: (0..network.routers())
                .map(|r| network.port_of(r, 0))
                .collect(),
            vcs,
        }
    }

    pub(super) fn requests(&self, router: RouterId, header: &Header, out: &mut Vec<Request>) {
        let own_vc = (header.dest % u32::from(self.vcs)) as u8;
        let (first_vc, last_vc) = match self.algorithm {
            Algorithm::Dbbm => (own_vc, own_vc),
            _ => (0, self.vcs - 1),
        };
        let hop = |local: u32| Request {
            port: self.first_port[router as usize] + local,
            first_vc,
            last_vc,
            priority: 0,
            phase: 0,
            via: header.via,
        };
        if let Some(down) = self.tree.down(router, header.dest) {
            out.push(hop(down));
            return;
        }
        let up = self.tree.up(router);
        if self.algorithm == Algorithm::TreeRandom {
            out.extend(up.map(hop));
        } else {
            let (level, _) = self.tree.place(router);
            let digit = self.tree.digit(header.dest, level);
            out.push(hop(up.start + digit % up.len() as u32));
        }
    }
}
