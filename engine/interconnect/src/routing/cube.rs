//! Torus and mesh.

use std::cmp::Ordering;

use super::{Algorithm, Congestion, Header, Request, halves};
use crate::error::SimulationError;
use crate::network::{Network, PortId, RouterId};
use crate::rng::Rng;
use crate::topology::Torus;

/// The adaptive virtual channel of BookSim2's minimal adaptive routing on a torus.
const ONLY_ADAPTIVE: u8 = 3;

/// Of several escape paths a random one, the others are dropped (halfway around a ring).
pub(super) fn keep_one_escape(requests: &mut Vec<Request>, rng: &mut Rng) {
    let paths = requests.iter().filter(|own| own.priority == 0).count();
    if paths > 1 {
        let mut skip = rng.below(paths as u32);
        requests.retain(|own| {
            own.priority > 0 || {
                let kept = skip == 0;
                skip = skip.wrapping_sub(1);
                kept
            }
        });
    }
}

/// Dimension order with a dateline, and minimal adaptive with it as the escape path.
#[derive(Clone, Debug)]
pub(super) struct Cube {
    adaptive: bool,
    /// As BookSim2: escape channels are for ever, and the phase of a packet on them is 1 plus the half; the adaptive hop is
    /// in the lowest dimension.
    booksim: bool,
    wraps: bool,
    trunk: u32,
    radix: Vec<u32>,
    /// By router and dimension.
    coordinates: Vec<u32>,
    /// First port upwards and downwards, by router and dimension.
    trunks: Vec<[PortId; 2]>,
    /// By port; a node's has none.
    dimensions: Vec<Option<usize>>,
    /// Virtual channels before and behind the dateline.
    ring: [(u8, u8); 2],
    /// Virtual channels for adaptive hops.
    adaptive_vcs: (u8, u8),
}

impl Cube {
    pub(super) fn new(
        network: &Network,
        torus: &Torus,
        algorithm: Algorithm,
        vcs: u8,
    ) -> Result<Self, SimulationError> {
        let adaptive = algorithm != Algorithm::DimensionOrder;
        let escape = match (adaptive, torus.wraps) {
            (true, true) => 2,
            (true, false) => 1,
            (false, _) => vcs,
        };
        let booksim = algorithm == Algorithm::MinimalBookSim;
        let needed = match (booksim, torus.wraps) {
            (true, true) => ONLY_ADAPTIVE + 1,
            (_, wraps) => 1 + u8::from(wraps) + u8::from(adaptive),
        };
        if vcs < needed {
            return SimulationError::routing(format!(
                "{} on a {} needs at least {needed} virtual channels, not {vcs}",
                algorithm.name(),
                if torus.wraps { "torus" } else { "mesh" },
            ));
        }
        let dimensions = torus.radix.len();
        let grid = || (0..network.routers()).flat_map(|r| (0..dimensions).map(move |d| (r, d)));
        let ports = (0..network.ports().len() as PortId)
            .map(|port| torus.dimension_of(network.port(port).router, network.local(port)))
            .collect();
        Ok(Self {
            adaptive,
            booksim,
            wraps: torus.wraps,
            trunk: torus.trunk,
            radix: torus.radix.clone(),
            coordinates: grid().map(|(r, d)| torus.coordinate(r, d)).collect(),
            trunks: grid()
                .map(|(r, d)| [true, false].map(|up| network.port_of(r, torus.port(r, d, up))))
                .collect(),
            dimensions: ports,
            ring: if torus.wraps {
                halves(escape)
            } else {
                [(0, escape - 1); 2]
            },
            adaptive_vcs: if booksim && torus.wraps {
                (ONLY_ADAPTIVE, ONLY_ADAPTIVE)
            } else {
                (escape, vcs - 1)
            },
        })
    }

    /// Directions that lead nearer: both, if a ring's ends are equally far.
    fn directions(&self, size: u32, from: u32, to: u32) -> [bool; 2] {
        if !self.wraps {
            return [to > from, to < from];
        }
        let up = (to + size - from) % size;
        [2 * up <= size, 2 * up >= size]
    }

    pub(super) fn requests(
        &self,
        router: RouterId,
        in_port: PortId,
        header: &Header,
        out: &mut Vec<Request>,
    ) {
        let dimensions = self.radix.len();
        let [here, there] = [router, header.target].map(|r| r as usize * dimensions);
        let mut first = true;
        for dimension in 0..dimensions {
            let [from, to] = [here, there].map(|base| self.coordinates[base + dimension]);
            if from == to {
                continue;
            }
            let same_ring = self.dimensions[in_port as usize] == Some(dimension);
            let wanted = self.directions(self.radix[dimension], from, to);
            // On escape channels that are never left a packet keeps its direction and half, as without adaptive hops.
            let escaped = self.booksim && header.phase > 0;
            let keeps = same_ring && (escaped || !self.adaptive);
            for (direction, _) in wanted.iter().enumerate().filter(|(_, wanted)| **wanted) {
                let port = self.trunks[here + dimension][direction];
                let mut request = |vcs: (u8, u8), priority: u8, phase: u8| {
                    out.extend((port..port + self.trunk).map(|port| Request {
                        port,
                        first_vc: vcs.0,
                        last_vc: vcs.1,
                        priority,
                        phase,
                        via: header.via,
                    }));
                };
                let before = u8::from(self.booksim);
                if first {
                    // Dally and Seitz 1987. Without adaptive hops a packet keeps its half all along the ring, as
                    // in BookSim2; with them the half follows from the place alone.
                    let half = if keeps {
                        // A packet that is halfway goes on as it came.
                        if self.came_from(in_port, router, dimension) == direction {
                            continue;
                        }
                        header.phase - before
                    } else {
                        u8::from(from > to)
                    };
                    request(self.ring[half as usize], 0, before + half);
                }
                let doubtful = self.booksim && direction == 0 && wanted[1];
                if self.adaptive && !escaped && !doubtful {
                    request(self.adaptive_vcs, 1, 0);
                }
            }
            if !self.adaptive || self.booksim {
                return;
            }
            first = false;
        }
    }

    /// Of two directions that are equally far, the one with less traffic behind it, a random one among equals. Both would be
    /// asked for, and whoever asks for several ports gets the first that is free: always the same, on an empty network.
    /// Where a link that is awake is preferred, both are left. A packet keeps to what it decided, which its phase remembers
    /// for the first dimensions: whether it goes on in this dimension or in another one depends on the outputs' numbers,
    /// and so would the direction.
    pub(super) fn keep_one_direction(
        &self,
        (router, phase): (RouterId, u8),
        requests: &mut Vec<Request>,
        congestion: &impl Congestion,
        rng: &mut Rng,
    ) {
        if !self.adaptive || self.booksim || !self.wraps {
            return;
        }
        let first = router as usize * self.radix.len();
        let mut decided = phase;
        for (dimension, trunks) in self.trunks[first..first + self.radix.len()]
            .iter()
            .enumerate()
        {
            let ways = trunks.map(|port| port..port + self.trunk);
            let [up, down] = ways.each_ref().map(|way| {
                let own = requests.iter().filter(|own| way.contains(&own.port));
                own.map(|own| own.priority).max()
            });
            if up.is_none() || up != down {
                continue;
            }
            let [above, below] = ways
                .each_ref()
                .map(|way| way.clone().map(|port| congestion.queued(port)).sum::<u32>());
            let bits = [0, 1].map(|way| 1_u8.checked_shl(2 * dimension as u32 + way).unwrap_or(0));
            let kept = match above.cmp(&below) {
                _ if decided & bits[0] != 0 => 0,
                _ if decided & bits[1] != 0 => 1,
                Ordering::Less => 0,
                Ordering::Greater => 1,
                Ordering::Equal => rng.below(2) as usize,
            };
            decided |= bits[kept];
            requests.retain(|own| !ways[1 - kept].contains(&own.port));
        }
        for request in requests {
            request.phase = decided;
        }
    }

    /// Direction of the port over which a packet came in: a packet that moves upwards comes in from below.
    fn came_from(&self, in_port: PortId, router: RouterId, dimension: usize) -> usize {
        let trunks = self.trunks[router as usize * self.radix.len() + dimension];
        usize::from(!(trunks[0]..trunks[0] + self.trunk).contains(&in_port))
    }
}
