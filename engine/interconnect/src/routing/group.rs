//! Minimal routing on the dragonfly.
//!
//! A packet has half of the virtual channels before its global link, and the other half from there on, also to its node, as
//! in BookSim2: with few of them and short packets, what waits for the node's only channel counts. Whether an adapter has
//! such a rule is not said anywhere; a dragonfly's throughput at two channels would tell.

use super::{Header, Request, halves};
use crate::error::SimulationError;
use crate::network::{Network, PortId, RouterId};
use crate::topology::Dragonfly;

#[derive(Clone, Debug)]
pub(super) struct Group {
    shape: Dragonfly,
    first_port: Vec<PortId>,
    halves: [(u8, u8); 2],
}

impl Group {
    pub(super) fn new(
        network: &Network,
        shape: &Dragonfly,
        vcs: u8,
    ) -> Result<Self, SimulationError> {
        if vcs < 2 {
            return SimulationError::routing(
                "dragonfly_min needs at least 2 virtual channels: before, and from the global link on",
            );
        }
        Ok(Self {
            shape: shape.clone(),
            first_port: (0..network.routers())
                .map(|r| network.port_of(r, 0))
                .collect(),
            halves: halves(vcs),
        })
    }

    /// First and last virtual channel of a phase.
    pub(super) fn half(&self, phase: u8) -> (u8, u8) {
        self.halves[usize::from(phase)]
    }

    pub(super) fn requests(&self, router: RouterId, header: &Header, out: &mut Vec<Request>) {
        let [here, there] = [router, header.target].map(|r| self.shape.group_of(r));
        let hop = |local: u32, phase: u8| Request {
            port: self.first_port[router as usize] + local,
            first_vc: self.half(phase).0,
            last_vc: self.half(phase).1,
            priority: 0,
            phase,
            via: header.via,
        };
        if here == there {
            out.extend(
                self.shape
                    .local_port(router, header.target)
                    .map(|port| hop(port, header.phase)),
            );
            return;
        }
        // Every link to the target's group, nearest first: those of this router, or, on the way to another router, the
        // one that was chosen at the source.
        let gateways = (0..self.shape.copies()).map(|copy| self.shape.gateway(here, there, copy));
        if header.via != header.target {
            for (gateway, port) in gateways {
                if gateway == header.via {
                    match self.shape.local_port(router, gateway) {
                        Some(local) => out.push(Request {
                            via: header.via,
                            ..hop(local, 0)
                        }),
                        None => out.push(Request {
                            via: header.target,
                            ..hop(port, 1)
                        }),
                    }
                }
            }
            out.dedup();
            return;
        }
        for (gateway, port) in gateways {
            match self.shape.local_port(router, gateway) {
                Some(local) => out.push(Request {
                    via: gateway,
                    ..hop(local, 0)
                }),
                None => out.push(Request {
                    via: header.target,
                    ..hop(port, 1)
                }),
            }
        }
        // A global link of the router itself is nearer than any other's.
        if out.iter().any(|request| request.phase == 1) {
            out.retain(|request| request.phase == 1);
        }
    }
}
