//! Any graph: shortest paths, and up*/down*.

use super::{Algorithm, Header, Request};
use crate::error::SimulationError;
use crate::network::{Network, Peer, PortId, RouterId};

/// The most routers for which tables of all pairs are made.
const LARGEST: u32 = 4096;

#[derive(Clone, Debug)]
pub(super) struct Table {
    up_down: bool,
    routers: usize,
    vcs: u8,
    first_port: Vec<PortId>,
    /// By port: the next router; `None` for a node's port.
    next: Vec<Option<RouterId>>,
    /// Place in the order of the spanning tree: a hop to a lower rank goes up.
    rank: Vec<u32>,
    /// Hops from a router to a target; after a hop down, and before. By target and router.
    left: [Vec<u16>; 2],
}

impl Table {
    pub(super) fn new(
        network: &Network,
        algorithm: Algorithm,
        vcs: u8,
    ) -> Result<Self, SimulationError> {
        if network.routers() > LARGEST {
            return SimulationError::routing(format!(
                "{} makes tables for at most {LARGEST} routers, not {}",
                algorithm.name(),
                network.routers()
            ));
        }
        let routers = network.routers() as usize;
        let levels = network.distances_from(0);
        let mut order: Vec<RouterId> = (0..network.routers()).collect();
        order.sort_by_key(|&router| (levels[router as usize], router));
        let mut rank = vec![0; routers];
        for (place, &router) in (0..).zip(&order) {
            rank[router as usize] = place;
        }
        let mut table = Self {
            up_down: algorithm == Algorithm::UpDown,
            routers,
            vcs,
            first_port: (0..network.routers())
                .map(|r| network.port_of(r, 0))
                .chain([network.ports().len() as PortId])
                .collect(),
            next: network
                .ports()
                .iter()
                .map(|port| match port.peer {
                    Peer::Port(peer) => Some(network.port(peer).router),
                    Peer::Node(_) => None,
                })
                .collect(),
            rank,
            left: [Vec::new(), Vec::new()],
        };
        for target in 0..network.routers() {
            let [down, any] = table.distances(network, target, &order);
            table.left[1].extend(down);
            table.left[0].extend(any);
        }
        Ok(table)
    }

    /// Hops left to a target: downwards only, and in total.
    fn distances(&self, network: &Network, target: RouterId, order: &[RouterId]) -> [Vec<u16>; 2] {
        let short = |distance: &u32| u16::try_from(*distance).unwrap_or(u16::MAX);
        if !self.up_down {
            let all: Vec<u16> = network.distances_from(target).iter().map(short).collect();
            return [all.clone(), all];
        }
        let mut down = vec![u16::MAX; self.routers];
        down[target as usize] = 0;
        // A hop down leads to a higher rank, so distances are known in falling order of rank.
        for &router in order.iter().rev() {
            for next in self.neighbours(router) {
                if self.rank[next as usize] > self.rank[router as usize] {
                    down[router as usize] =
                        down[router as usize].min(down[next as usize].saturating_add(1));
                }
            }
        }
        let mut any = down.clone();
        for &router in order {
            for next in self.neighbours(router) {
                if self.rank[next as usize] < self.rank[router as usize] {
                    any[router as usize] =
                        any[router as usize].min(any[next as usize].saturating_add(1));
                }
            }
        }
        [down, any]
    }

    fn ports(&self, router: RouterId) -> std::ops::Range<PortId> {
        self.first_port[router as usize]..self.first_port[router as usize + 1]
    }

    fn neighbours(&self, router: RouterId) -> impl Iterator<Item = RouterId> + '_ {
        self.ports(router)
            .filter_map(|port| self.next[port as usize])
    }

    pub(super) fn requests(&self, router: RouterId, header: &Header, out: &mut Vec<Request>) {
        let base = header.target as usize * self.routers;
        let left = |router: RouterId, phase: u8| self.left[phase as usize][base + router as usize];
        for port in self.ports(router) {
            let Some(next) = self.next[port as usize] else {
                continue;
            };
            let (now, after) = if self.up_down {
                let downwards = self.rank[next as usize] > self.rank[router as usize];
                if header.phase == 1 && !downwards {
                    continue;
                }
                (header.phase, u8::from(downwards))
            } else {
                (0, 0)
            };
            if left(next, after).saturating_add(1) != left(router, now) {
                continue;
            }
            let hop = header.phase.min(self.vcs - 1);
            out.push(Request {
                port,
                first_vc: if self.up_down { 0 } else { hop },
                last_vc: if self.up_down { self.vcs - 1 } else { hop },
                priority: 0,
                phase: if self.up_down {
                    after
                } else {
                    header.phase.saturating_add(1)
                },
                via: header.via,
            });
        }
    }
}
