//! HyperX and its kin: flattened butterfly, complete graph.

use super::{Algorithm, Congestion, Header, Request, halves};
use crate::error::SimulationError;
use crate::network::{Network, PortId, RouterId};
use crate::rng::Rng;
use crate::topology::HyperX;

/// On the way to the intermediate router.
const OUTBOUND: u8 = 1;
/// On the way to the target.
const INBOUND: u8 = 2;

/// SLaC: the dimension of links within a row, and of those within a column.
const ROW: usize = 0;
const COLUMN: usize = 1;

/// Dimension order, minimal adaptive, UGAL at the source, and UGAL in each dimension.
#[derive(Clone, Debug)]
pub(super) struct Flat {
    algorithm: Algorithm,
    shape: HyperX,
    first_port: Vec<PortId>,
    /// By router and dimension.
    coordinates: Vec<u32>,
    /// Ports of a router before a dimension's.
    before: Vec<u32>,
    vcs: u8,
    halves: [(u8, u8); 2],
}

impl Flat {
    pub(super) fn new(
        network: &Network,
        shape: &HyperX,
        algorithm: Algorithm,
        vcs: u8,
    ) -> Result<Self, SimulationError> {
        if algorithm != Algorithm::DimensionOrder && vcs < 2 {
            return SimulationError::routing(format!(
                "{} on a hyperx needs at least 2 virtual channels, not {vcs}",
                algorithm.name()
            ));
        }
        let dimensions = shape.sizes.len();
        if algorithm == Algorithm::Staged && (dimensions != 2 || shape.trunk != 1) {
            return SimulationError::routing(
                "slac is for a hyperx of two dimensions with single links",
            );
        }
        Ok(Self {
            algorithm,
            first_port: (0..network.routers())
                .map(|r| network.port_of(r, 0))
                .collect(),
            coordinates: (0..network.routers())
                .flat_map(|r| (0..dimensions).map(move |d| (r, d)))
                .map(|(r, d)| shape.coordinate(r, d))
                .collect(),
            before: (0..dimensions)
                .map(|d| {
                    let trunks: u32 = shape.sizes[..d].iter().map(|size| size - 1).sum();
                    shape.concentration + trunks * shape.trunk
                })
                .collect(),
            shape: shape.clone(),
            vcs,
            halves: if vcs > 1 { halves(vcs) } else { [(0, 0); 2] },
        })
    }

    pub(super) fn routers(&self) -> u32 {
        self.first_port.len() as u32
    }

    fn coordinate(&self, router: RouterId, dimension: usize) -> u32 {
        self.coordinates[router as usize * self.shape.sizes.len() + dimension]
    }

    fn port(&self, router: RouterId, dimension: usize, coordinate: u32) -> PortId {
        let own = self.coordinate(router, dimension);
        let index = coordinate - u32::from(coordinate > own);
        self.first_port[router as usize] + self.before[dimension] + index * self.shape.trunk
    }

    fn difference(&self, one: RouterId, other: RouterId) -> Option<usize> {
        (0..self.shape.sizes.len()).find(|&d| self.coordinate(one, d) != self.coordinate(other, d))
    }

    fn hops(&self, one: RouterId, other: RouterId) -> u32 {
        (0..self.shape.sizes.len())
            .filter(|&d| self.coordinate(one, d) != self.coordinate(other, d))
            .count() as u32
    }

    /// A header of UGAL that goes minimally.
    pub(super) fn minimally(&self, header: Header) -> Header {
        Header {
            phase: INBOUND,
            via: header.target,
            ..header
        }
    }

    /// A header of UGAL that goes over an intermediate router.
    pub(super) fn over(&self, header: Header, via: RouterId) -> Header {
        Header {
            phase: OUTBOUND,
            via,
            ..header
        }
    }

    /// Whether a detour of UGAL may go over a router: it agrees with source and target where these agree.
    pub(super) fn may_go_over(&self, source: RouterId, target: RouterId, via: RouterId) -> bool {
        via != source
            && via != target
            && (0..self.shape.sizes.len()).all(|dimension| {
                let [own, wanted, over] =
                    [source, target, via].map(|r| self.coordinate(r, dimension));
                own != wanted || over == own
            })
    }

    pub(super) fn decide_at_source(
        &self,
        source: RouterId,
        header: Header,
        congestion: &impl Congestion,
        threshold: u32,
        rng: &mut Rng,
    ) -> Header {
        let minimal = self.minimally(header);
        // In a dimension in which source and target agree, the detour stays where it is, as in BookSim2.
        let via = (0..self.shape.sizes.len()).fold(source, |via, dimension| {
            let [own, wanted] = [source, header.target].map(|r| self.coordinate(r, dimension));
            if own == wanted {
                via
            } else {
                let coordinate = rng.below(self.shape.sizes[dimension]);
                self.shape.moved(via, dimension, coordinate)
            }
        });
        if source == header.target || via == source || via == header.target {
            return minimal;
        }
        let queued = |towards: RouterId| {
            self.difference(source, towards).map_or(0, |dimension| {
                let port = self.port(source, dimension, self.coordinate(towards, dimension));
                congestion.queued(port)
            })
        };
        let direct = self.hops(source, header.target) * queued(header.target);
        let indirect = (self.hops(source, via) + self.hops(via, header.target)) * queued(via);
        if direct <= indirect + threshold {
            minimal
        } else {
            self.over(header, via)
        }
    }

    /// The request of a packet that is not at its target, where the relation has one only.
    pub(super) fn only(&self, router: RouterId, header: &Header) -> Option<Request> {
        if self.shape.trunk != 1 {
            return None;
        }
        let (goal, (first_vc, last_vc), phase) = match self.algorithm {
            Algorithm::DimensionOrder => (header.target, (0, self.vcs - 1), header.phase),
            Algorithm::Ugal => self.leg(router, header),
            _ => return None,
        };
        self.difference(router, goal).map(|d| Request {
            port: self.port(router, d, self.coordinate(goal, d)),
            first_vc,
            last_vc,
            priority: 0,
            phase,
            via: header.via,
        })
    }

    /// UGAL: where a packet at a router goes, on which virtual channels, in which phase.
    fn leg(&self, router: RouterId, header: &Header) -> (RouterId, (u8, u8), u8) {
        if header.phase == OUTBOUND && router != header.via {
            (header.via, self.halves[0], OUTBOUND)
        } else {
            (header.target, self.halves[1], INBOUND)
        }
    }

    /// The requests of a packet that is not at its target, added to `out`.
    pub(super) fn requests(
        &self,
        router: RouterId,
        in_port: PortId,
        header: &Header,
        out: &mut Vec<Request>,
    ) {
        let mut ways = Ways {
            flat: self,
            router,
            header,
            out,
        };
        match self.algorithm {
            Algorithm::MinimalAdaptive | Algorithm::MinimalAwake => ways.adaptive(),
            Algorithm::Ugal => ways.on_leg(),
            Algorithm::Progressive | Algorithm::PowerAware => ways.progressive(in_port),
            Algorithm::Staged => ways.staged(),
            _ => ways.dimension_order(),
        }
    }
}

/// The requests of a packet at a router, as they are collected.
struct Ways<'a> {
    flat: &'a Flat,
    router: RouterId,
    header: &'a Header,
    out: &'a mut Vec<Request>,
}

impl Ways<'_> {
    /// A request on all virtual channels that leaves the packet's phase as it is.
    fn plain(&self) -> Request {
        Request {
            port: 0,
            first_vc: 0,
            last_vc: self.flat.vcs - 1,
            priority: 0,
            phase: self.header.phase,
            via: self.header.via,
        }
    }

    /// A request on half of the virtual channels, in a phase.
    fn within(&self, half: usize, phase: u8) -> Request {
        let (first_vc, last_vc) = self.flat.halves[half];
        Request {
            first_vc,
            last_vc,
            phase,
            ..self.plain()
        }
    }

    /// Ask for every link of the trunk to a coordinate.
    fn hop(&mut self, dimension: usize, coordinate: u32, request: Request) {
        let port = self.flat.port(self.router, dimension, coordinate);
        self.out
            .extend((port..port + self.flat.shape.trunk).map(|port| Request { port, ..request }));
    }

    fn dimension_order(&mut self) {
        let target = self.header.target;
        if let Some(d) = self.flat.difference(self.router, target) {
            self.hop(d, self.flat.coordinate(target, d), self.plain());
        }
    }

    fn adaptive(&mut self) {
        let (flat, plain) = (self.flat, self.plain());
        let mut first = true;
        for d in 0..flat.shape.sizes.len() {
            let wanted = flat.coordinate(self.header.target, d);
            if flat.coordinate(self.router, d) == wanted {
                continue;
            }
            let adaptive = Request {
                first_vc: 1,
                priority: 1,
                ..plain
            };
            self.hop(d, wanted, adaptive);
            if first {
                let escape = Request {
                    last_vc: 0,
                    ..plain
                };
                self.hop(d, wanted, escape);
                first = false;
            }
        }
    }

    fn on_leg(&mut self) {
        let (goal, (first_vc, last_vc), phase) = self.flat.leg(self.router, self.header);
        if let Some(d) = self.flat.difference(self.router, goal) {
            let request = Request {
                first_vc,
                last_vc,
                phase,
                ..self.plain()
            };
            self.hop(d, self.flat.coordinate(goal, d), request);
        }
    }

    fn progressive(&mut self, in_port: PortId) {
        let (flat, target) = (self.flat, self.header.target);
        let Some(d) = flat.difference(self.router, target) else {
            return;
        };
        let [own, wanted] = [self.router, target].map(|r| flat.coordinate(r, d));
        let local = in_port - flat.first_port[self.router as usize];
        let misrouted = self.header.phase == OUTBOUND
            && local >= flat.before[d]
            && local < flat.before[d] + (flat.shape.sizes[d] - 1) * flat.shape.trunk;
        if misrouted {
            self.hop(d, wanted, self.within(1, 0));
            if flat.algorithm == Algorithm::PowerAware && own != 0 && wanted != 0 {
                self.hop(d, 0, self.within(0, OUTBOUND));
            }
            return;
        }
        let direct = Request {
            phase: 0,
            ..self.plain()
        };
        self.hop(d, wanted, direct);
        let detour = self.within(0, OUTBOUND);
        for over in (0..flat.shape.sizes[d]).filter(|&c| c != own && c != wanted) {
            self.hop(d, over, detour);
        }
    }

    fn staged(&mut self) {
        let (flat, target) = (self.flat, self.header.target);
        let Some(d) = flat.difference(self.router, target) else {
            return;
        };
        let half = if d == ROW {
            self.plain()
        } else {
            self.within(1, INBOUND)
        };
        let wanted = flat.coordinate(target, d);
        let direct = Request {
            phase: INBOUND,
            ..half
        };
        self.hop(d, wanted, direct);
        if self.header.phase == INBOUND {
            return;
        }
        let own = flat.coordinate(self.router, COLUMN);
        let is_direct = |row: u32| d == COLUMN && row == wanted;
        let detour = self.within(0, INBOUND);
        for row in (0..flat.shape.sizes[COLUMN]).filter(|&r| r != own && !is_direct(r)) {
            self.hop(COLUMN, row, detour);
        }
    }
}

/// The index of the request to take: the direct one, or a random detour if it is less congested. A direct path has one
/// hop left in the dimension, a detour two (TCEP section IV-E, with UGAL's comparison).
///
/// PAL draws only where there is a choice, as TCEP does: while all links are on, both are the same, bit for bit.
pub(super) fn balance(
    algorithm: Algorithm,
    requests: &[Request],
    on_detour: bool,
    congestion: &impl Congestion,
    threshold: u32,
    rng: &mut Rng,
) -> usize {
    let direct = requests
        .iter()
        .take_while(|request| request.phase != OUTBOUND)
        .count();
    let own = match (algorithm, direct) {
        (Algorithm::PowerAware, 1) => 0,
        _ => rng.below(direct as u32) as usize,
    };
    if on_detour {
        return own;
    }
    let detours = requests.len() - direct;
    if detours == 0 {
        return own;
    }
    let detour = direct + rng.below(detours as u32) as usize;
    let queued = |index: usize| congestion.queued(requests[index].port);
    if queued(own) <= 2 * queued(detour) + threshold {
        own
    } else {
        detour
    }
}
