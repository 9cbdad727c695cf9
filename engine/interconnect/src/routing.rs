//! Routing: a relation between where a packet is and where it may go next, and the choice among that.
//!
//! The relation ([`Routing::requests`]) is one function for all uses: the engines choose among what it returns, and
//! [`dependency`] walks over all of it to prove that no packets can wait for each other in a circle.
//!
//! | algorithm | topologies | virtual channels |
//! | --- | --- | --- |
//! | [`Algorithm::DimensionOrder`] | torus, mesh, hyperx | torus: 2 halves (datelines); others any |
//! | [`Algorithm::MinimalBookSim`] | torus, mesh | as BookSim2's min_adapt: torus 4, mesh 2 or more |
//! | [`Algorithm::MinimalAdaptive`], [`Algorithm::MinimalAwake`] | torus, mesh, hyperx | 2 (torus) or 1 for the escape path, the rest adaptive |
//! | [`Algorithm::TreeRandom`], [`Algorithm::TreeByDestination`], [`Algorithm::Dbbm`] | tree | any |
//! | [`Algorithm::TreeAdaptive`] | tree | any |
//! | [`Algorithm::DragonflyMinimal`] | dragonfly | 2 halves: before, and from the global link on |
//! | [`Algorithm::DragonflyUgal`] | dragonfly | 3 parts: before, between and behind the global links of a detour |
//! | [`Algorithm::Ugal`] | hyperx | 2 halves: to the intermediate router, and from it |
//! | [`Algorithm::Progressive`] | hyperx | 2 halves: UGAL_p |
//! | [`Algorithm::PowerAware`] | hyperx | 2 halves: PAL, where links may be off |
//! | [`Algorithm::Staged`] | hyperx, 2 dimensions | 2 halves: to a row, and from it |
//! | [`Algorithm::Shortest`] | any | one a hop |
//! | [`Algorithm::UpDown`] | any | any |
//! | [`Algorithm::GivenTrees`] | graph with trees | one a hop |

mod algorithm;
mod cube;
pub mod dependency;
mod flat;
mod given;
mod group;
mod table;
mod upward;

pub use self::algorithm::Algorithm;
use crate::error::SimulationError;
use crate::network::{Network, NodeId, PortId, RouterId};
use crate::rng::Rng;
use crate::topology::Shape;

/// What a packet carries for its routing.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Header {
    /// Where it comes from; asked for only there.
    pub source: NodeId,
    /// Where it goes.
    pub dest: NodeId,
    /// The router where `dest` is.
    pub target: RouterId,
    /// What the algorithm remembers; 0 at the source.
    pub phase: u8,
    /// An intermediate router; the target if there is none. Along given trees: the number of the tree.
    pub via: RouterId,
}

/// A hop that a packet may take: any of the virtual channels `first_vc ..= last_vc` of a port.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// Output port.
    pub port: PortId,
    /// Lowest virtual channel.
    pub first_vc: u8,
    /// Highest virtual channel.
    pub last_vc: u8,
    /// Higher is preferred. Where priorities differ, the lowest is the escape path: it can always be taken.
    pub priority: u8,
    /// The header's phase after the hop.
    pub phase: u8,
    /// The header's intermediate router after the hop.
    pub via: RouterId,
}

impl Request {
    /// Whether it takes this virtual channel.
    #[inline]
    pub(crate) const fn allows(&self, vc: u8) -> bool {
        self.first_vc <= vc && vc <= self.last_vc
    }

    /// What nobody has asked for yet.
    pub(crate) const NOTHING: Self = Self {
        port: 0,
        first_vc: 0,
        last_vc: 0,
        priority: 0,
        phase: 0,
        via: 0,
    };
}

/// How many flits wait, or seem to, behind an output port.
pub trait Congestion {
    /// Flits that the router counts as waiting at the port, over all virtual channels.
    fn queued(&self, port: PortId) -> u32;
}

/// How the hop is chosen among the requests.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Choice {
    /// One at random, when the packet arrives.
    Random,
    /// All are requested at once; the first free virtual channel is taken, by priority.
    FirstFree,
    /// The first, or a random one of the others, by congestion, when the packet arrives.
    Balanced,
    /// The less congested of two random ones, when the packet arrives.
    LessOfTwo,
    /// The first; the others are for links that are off.
    First,
}

/// An algorithm prepared for a network and a number of virtual channels.
#[derive(Clone, Debug)]
pub struct Routing {
    algorithm: Algorithm,
    vcs: u8,
    relation: Relation,
    node_ports: Vec<PortId>,
    routers: Vec<RouterId>,
}

#[derive(Clone, Debug)]
enum Relation {
    Cube(cube::Cube),
    Flat(flat::Flat),
    Upward(upward::Upward),
    Group(group::Group),
    Table(table::Table),
    Given(given::Given),
}

impl Routing {
    /// Prepare an algorithm; `vcs` virtual channels carry data.
    ///
    /// # Errors
    /// If the algorithm does not fit the topology or needs more virtual channels.
    pub fn new(network: &Network, algorithm: Algorithm, vcs: u8) -> Result<Self, SimulationError> {
        if vcs == 0 || vcs > 64 {
            return SimulationError::routing("a channel has 1 to 64 virtual channels");
        }
        let relation = match (algorithm, network.shape()) {
            (
                Algorithm::DimensionOrder
                | Algorithm::MinimalAdaptive
                | Algorithm::MinimalAwake
                | Algorithm::MinimalBookSim,
                Shape::Torus(torus),
            ) => Relation::Cube(cube::Cube::new(network, torus, algorithm, vcs)?),
            (
                Algorithm::DimensionOrder
                | Algorithm::MinimalAdaptive
                | Algorithm::MinimalAwake
                | Algorithm::Ugal
                | Algorithm::Progressive
                | Algorithm::PowerAware
                | Algorithm::Staged,
                Shape::HyperX(hyperx),
            ) => Relation::Flat(flat::Flat::new(network, hyperx, algorithm, vcs)?),
            (
                Algorithm::TreeRandom
                | Algorithm::TreeAdaptive
                | Algorithm::TreeByDestination
                | Algorithm::Dbbm,
                Shape::Tree(tree),
            ) => Relation::Upward(upward::Upward::new(network, tree, algorithm, vcs)),
            (
                Algorithm::DragonflyMinimal | Algorithm::DragonflyUgal,
                Shape::Dragonfly(dragonfly),
            ) => Relation::Group(group::Group::new(network, dragonfly, algorithm, vcs)?),
            (Algorithm::Shortest | Algorithm::UpDown, _) => {
                Relation::Table(table::Table::new(network, algorithm, vcs)?)
            }
            (Algorithm::GivenTrees, Shape::Graph(trees)) => {
                Relation::Given(given::Given::new(network, trees, vcs)?)
            }
            (_, shape) => {
                return SimulationError::routing(format!(
                    "{} does not work on a {}",
                    algorithm.name(),
                    shape.name()
                ));
            }
        };
        Ok(Self {
            algorithm,
            vcs,
            relation,
            node_ports: (0..network.nodes()).map(|n| network.node_port(n)).collect(),
            routers: (0..network.nodes()).map(|n| network.router_of(n)).collect(),
        })
    }

    /// The algorithm.
    #[must_use]
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Virtual channels that carry data.
    #[must_use]
    pub const fn vcs(&self) -> u8 {
        self.vcs
    }

    /// Whether nodes of one router are reached over different ways.
    pub const fn tells_nodes_apart(&self) -> bool {
        matches!(self.relation, Relation::Upward(_))
    }

    /// How a hop is chosen.
    #[must_use]
    pub const fn choice(&self) -> Choice {
        match self.algorithm {
            Algorithm::MinimalAdaptive | Algorithm::MinimalAwake | Algorithm::MinimalBookSim => {
                Choice::FirstFree
            }
            Algorithm::Progressive | Algorithm::PowerAware => Choice::Balanced,
            Algorithm::Staged => Choice::First,
            Algorithm::TreeAdaptive => Choice::LessOfTwo,
            _ => Choice::Random,
        }
    }

    /// Whether ways depend on queues.
    pub(crate) const fn looks_at_queues(&self) -> bool {
        matches!(
            self.algorithm,
            Algorithm::Ugal
                | Algorithm::Progressive
                | Algorithm::PowerAware
                | Algorithm::TreeAdaptive
                | Algorithm::DragonflyUgal
        )
    }

    /// Whether the way is decided at the source, by queues.
    pub(crate) const fn decides_at_source(&self) -> bool {
        matches!(self.algorithm, Algorithm::Ugal | Algorithm::DragonflyUgal)
    }

    /// The header of a new packet, before [`Self::start`].
    pub fn header(&self, source: NodeId, dest: NodeId) -> Header {
        let target = self.routers[dest as usize];
        let via = match &self.relation {
            Relation::Given(given) => given.tree_of(source),
            _ => target,
        };
        Header {
            source,
            dest,
            target,
            phase: 0,
            via,
        }
    }

    /// Every header with which a packet may enter the network.
    pub fn starts(&self, header: Header, out: &mut Vec<Header>) {
        out.clear();
        out.push(header);
        if self.algorithm == Algorithm::Ugal {
            if let Relation::Flat(flat) = &self.relation {
                let source = self.routers[header.source as usize];
                out[0] = flat.minimally(header);
                for via in 0..flat.routers() {
                    if flat.may_go_over(source, header.target, via) {
                        out.push(flat.over(header, via));
                    }
                }
            }
        }
        if let Relation::Given(given) = &self.relation {
            let source = self.routers[header.source as usize];
            out.clear();
            out.extend(
                (0..)
                    .zip(&self.routers)
                    .filter(|&(_, &router)| router == source)
                    .map(|(node, _)| Header {
                        via: given.tree_of(node),
                        ..header
                    }),
            );
        }
        if let Relation::Group(group) = &self.relation {
            group.starts(self.routers[header.source as usize], header, out);
        }
    }

    /// Decide what is decided at the source. UGAL compares the queues at the source router, each multiplied by the hops
    /// of its path, and goes minimally up to a `threshold` (Singh 2005).
    #[must_use]
    pub fn start(
        &self,
        header: Header,
        congestion: &impl Congestion,
        threshold: u32,
        rng: &mut Rng,
    ) -> Header {
        match &self.relation {
            Relation::Flat(flat) if self.algorithm == Algorithm::Ugal => {
                let source = self.routers[header.source as usize];
                flat.decide_at_source(source, header, congestion, threshold, rng)
            }
            Relation::Group(group) => {
                let source = self.routers[header.source as usize];
                group.start(source, header, congestion, threshold, rng)
            }
            _ => header,
        }
    }

    /// Every hop that a packet at `router`, come in over `in_port`, may take. At its target that is the node's port.
    pub fn requests(
        &self,
        router: RouterId,
        in_port: PortId,
        header: &Header,
        out: &mut Vec<Request>,
    ) {
        out.clear();
        if router == header.target {
            out.push(self.to_node(header));
            return;
        }
        match &self.relation {
            Relation::Cube(cube) => cube.requests(router, in_port, header, out),
            Relation::Flat(flat) => flat.requests(router, in_port, header, out),
            Relation::Upward(upward) => upward.requests(router, header, out),
            Relation::Group(group) => group.requests(router, header, out),
            Relation::Table(table) => table.requests(router, header, out),
            Relation::Given(given) => out.push(given.request(router, header)),
        }
    }

    /// The request of a packet at its target.
    pub(crate) fn to_node(&self, header: &Header) -> Request {
        let (first_vc, last_vc) = match &self.relation {
            Relation::Group(group) => group.half(header.phase),
            _ => (0, self.vcs - 1),
        };
        Request {
            port: self.node_ports[header.dest as usize],
            first_vc,
            last_vc,
            priority: 0,
            phase: header.phase,
            via: header.via,
        }
    }

    /// The port of a node.
    pub(crate) fn node_port(&self, node: NodeId) -> PortId {
        self.node_ports[node as usize]
    }

    /// The request of a packet that is not at its target, where that is the only one whatever the queues are: what
    /// [`Self::choose`] would find, without a random number. `None` if there are several, or to leave it to that.
    pub(crate) fn only(&self, router: RouterId, header: &Header) -> Option<Request> {
        match &self.relation {
            Relation::Flat(flat) => flat.only(router, header),
            Relation::Upward(upward) => upward.only(router, header),
            Relation::Group(group) => group.only(router, header),
            Relation::Given(given) => Some(given.request(router, header)),
            _ => None,
        }
    }

    /// Prefer links that are awake, where the algorithm does: those that sleep come between them and the escape path.
    pub(crate) fn prefer_awake(
        &self,
        requests: &mut [Request],
        is_asleep: impl Fn(PortId) -> bool,
    ) {
        if self.algorithm == Algorithm::MinimalAwake {
            for request in requests.iter_mut().filter(|own| own.priority > 0) {
                request.priority += u8::from(!is_asleep(request.port));
            }
        }
    }

    /// Leave one of two directions around a ring that are equally far, where several ports are asked for at once.
    pub(crate) fn keep_one_direction(
        &self,
        (router, phase): (RouterId, u8),
        requests: &mut Vec<Request>,
        congestion: &impl Congestion,
        rng: &mut Rng,
    ) {
        if let Relation::Cube(cube) = &self.relation {
            cube.keep_one_direction((router, phase), requests, congestion, rng);
        }
    }

    /// The requests of a packet that has just arrived, as the engines place them: all of them, or the chosen one.
    pub fn choose(
        &self,
        (router, in_port): (RouterId, PortId),
        header: &Header,
        congestion: &impl Congestion,
        threshold: u32,
        rng: &mut Rng,
        out: &mut Vec<Request>,
    ) {
        if let Relation::Group(group) = &self.relation {
            if router != header.target {
                out.clear();
                out.push(group.choose(router, header, rng));
                return;
            }
        }
        self.requests(router, in_port, header, out);
        if out.len() < 2 {
            return;
        }
        let index = match self.choice() {
            Choice::FirstFree => {
                if self.algorithm == Algorithm::MinimalBookSim {
                    cube::keep_one_escape(out, rng);
                }
                return;
            }
            Choice::First => 0,
            Choice::Random => rng.below(out.len() as u32) as usize,
            Choice::LessOfTwo => {
                let [one, other] = [0; 2].map(|_| rng.below(out.len() as u32) as usize);
                let [first, second] = [one, other].map(|index| congestion.queued(out[index].port));
                if first > second { other } else { one }
            }
            Choice::Balanced => flat::balance(
                self.algorithm,
                out,
                header.phase != 0,
                congestion,
                threshold,
                rng,
            ),
        };
        out.swap(0, index);
        out.truncate(1);
    }
}

/// Two halves of the virtual channels: the first has the odd one.
fn halves(vcs: u8) -> [(u8, u8); 2] {
    let second = vcs / 2;
    [(0, vcs - second - 1), (vcs - second, vcs - 1)]
}
