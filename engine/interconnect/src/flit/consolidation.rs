//! TCEP in the flit engine: link states, what routers count, epochs, and PAL (Kim, Choi, Kim 2018). The decisions are in
//! [`crate::tcep`].
//!
//! Simplifications:
//! - Requests, answers and link states reach their receivers at once and take no bandwidth; they are counted. In the paper
//!   they are 0.34 % of all packets on a virtual channel of their own, and requests are served once an epoch anyway.
//! - Flits count when their packet gets its virtual channel, all of them at once. Packets much longer than an epoch would
//!   show it.
//! - A shadow link is turned off when the deactivation epoch in which it became one is over; the paper says "an epoch".

use crate::error::SimulationError;
use crate::network::{Network, Peer, PortId, RouterId};
use crate::rng::Rng;
use crate::routing::{Congestion, Header, Request as Hop};
use crate::tcep::{
    Action, Counted, LinkState, LinkTable, LinkView, Request, View, Way, decide, way,
};
use crate::topology::Shape;

/// TCEP's parameters (its section V). Times in cycles.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Consolidation {
    /// Length of an activation epoch.
    pub epoch: u64,
    /// Activation epochs in a deactivation epoch.
    pub deactivation_epochs: u32,
    /// From the decision to turn a link on to its use.
    pub wake: u64,
    /// U_hwm.
    pub high_water_mark: f64,
    /// Begin with the root network alone. Otherwise all links are on, and a router turns one off in a deactivation epoch;
    /// but at high loads the root network alone is overrun, and it takes as long until the backlog is gone.
    pub begins_with_root: bool,
}

impl Default for Consolidation {
    /// 1 µs at 1 GHz, and 10 of them.
    fn default() -> Self {
        Self {
            epoch: 1000,
            deactivation_epochs: 10,
            wake: 1000,
            high_water_mark: 0.75,
            begins_with_root: false,
        }
    }
}

/// What TCEP did so far.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct ConsolidationCounts {
    /// Requests, answers, and broadcasts of link states, each to one router.
    pub control_packets: u64,
    /// Links turned on.
    pub activations: u64,
    /// Links turned off.
    pub deactivations: u64,
    /// Shadow links that were needed after all.
    pub reactivations: u64,
}

/// A link that leaves its state by itself.
#[derive(Copy, Clone, Debug, PartialEq)]
enum Phase {
    Steady,
    /// At this cycle: a shadow link drains, or a waking one is active.
    Until(u64),
    /// A shadow link without further use waits until it is empty.
    Draining,
}

#[derive(Clone, Debug)]
struct Link {
    ports: [PortId; 2],
    state: LinkState,
    phase: Phase,
    root: bool,
    off_since: u64,
    off_cycles: u64,
}

/// A port that leads to another router of a subnetwork.
#[derive(Copy, Clone, Debug)]
struct End {
    link: u32,
    /// Number of the subnetwork in the whole network, and among the router's (its dimension).
    subnetwork: u32,
    dimension: u32,
    own: u32,
    other: u32,
}

/// Flits over a port, by kind of traffic.
#[derive(Copy, Clone, Debug, Default)]
struct Flits {
    minimal: u64,
    detour: u64,
}

impl Flits {
    fn over(self, cycles: u64) -> Counted {
        Counted {
            minimal: self.minimal as f64 / cycles as f64,
            detour: self.detour as f64 / cycles as f64,
        }
    }
}

/// The state of TCEP in a network.
#[derive(Clone, Debug)]
pub(super) struct Tcep {
    parameters: Consolidation,
    links: Vec<Link>,
    ends: Vec<Option<End>>,
    tables: Vec<LinkTable>,
    /// Router of each rank of a subnetwork.
    members: Vec<Vec<RouterId>>,
    /// Ports to other routers, by router.
    ports: Vec<Vec<PortId>>,
    short: Vec<Flits>,
    long: Vec<Flits>,
    /// Of the last deactivation epoch that has ended.
    judged: Vec<Flits>,
    wanted: Vec<u64>,
    /// Utilization of the epoch before, by port.
    before: Vec<f64>,
    requests: Vec<Vec<Request>>,
    asked: Vec<bool>,
    last_activated: Vec<Option<PortId>>,
    /// Links that are not steady.
    changing: Vec<u32>,
    counts: ConsolidationCounts,
}

impl Tcep {
    pub(super) fn new(
        network: &Network,
        parameters: Consolidation,
        now: u64,
    ) -> Result<Self, SimulationError> {
        let Shape::HyperX(shape) = network.shape() else {
            return SimulationError::parameter("TCEP is for hyperx networks");
        };
        if shape.trunk != 1 {
            return SimulationError::parameter("TCEP is for single links between routers");
        }
        if parameters.epoch == 0 || parameters.deactivation_epochs == 0 {
            return SimulationError::parameter("TCEP's epochs are at least 1 cycle long");
        }
        if !(0.0..=1.0).contains(&parameters.high_water_mark) {
            return SimulationError::parameter("TCEP's high-water mark is from 0 to 1");
        }
        let ports = network.ports().len();
        let routers = network.routers();
        let mut links = Vec::new();
        let mut ends: Vec<Option<End>> = vec![None; ports];
        let mut tables: Vec<LinkTable> = Vec::new();
        let mut members: Vec<Vec<RouterId>> = Vec::new();
        // A subnetwork is known by its hub and dimension.
        let mut numbers = std::collections::BTreeMap::new();
        for (one, other) in network.links() {
            let router = network.port(one).router;
            let Some((dimension, far)) = shape.leads_to(router, network.local(one)) else {
                continue;
            };
            let near = shape.coordinate(router, dimension);
            let hub = shape.moved(router, dimension, 0);
            let subnetwork = *numbers.entry((hub, dimension)).or_insert_with(|| {
                let size = shape.sizes[dimension];
                tables.push(LinkTable::new(size));
                members.push((0..size).map(|c| shape.moved(hub, dimension, c)).collect());
                tables.len() as u32 - 1
            });
            let link = links.len() as u32;
            for (port, own, other) in [(one, near, far), (other, far, near)] {
                ends[port as usize] = Some(End {
                    link,
                    subnetwork,
                    dimension: dimension as u32,
                    own,
                    other,
                });
            }
            let root = near == 0 || far == 0;
            let on = root || !parameters.begins_with_root;
            tables[subnetwork as usize].set(near, far, on);
            links.push(Link {
                ports: [one, other],
                state: if on {
                    LinkState::Active
                } else {
                    LinkState::Off
                },
                phase: Phase::Steady,
                root,
                off_since: now,
                off_cycles: 0,
            });
        }
        let ports_of = |router| {
            network
                .ports_of(router)
                .filter(|&port| matches!(network.port(port).peer, Peer::Port(_)))
                .collect()
        };
        Ok(Self {
            parameters,
            links,
            ends,
            tables,
            members,
            ports: (0..routers).map(ports_of).collect(),
            short: vec![Flits::default(); ports],
            long: vec![Flits::default(); ports],
            judged: vec![Flits::default(); ports],
            wanted: vec![0; ports],
            before: vec![0.0; ports],
            requests: vec![Vec::new(); routers as usize],
            asked: vec![false; routers as usize],
            last_activated: vec![None; routers as usize],
            changing: Vec::new(),
            counts: ConsolidationCounts::default(),
        })
    }

    pub(super) fn counts(&self) -> ConsolidationCounts {
        self.counts
    }

    /// Cycles in which a port's link was off.
    pub(super) fn off_cycles(&self, port: PortId, now: u64) -> u64 {
        let Some(end) = self.ends[port as usize] else {
            return 0;
        };
        let link = &self.links[end.link as usize];
        let present = if link.state == LinkState::Off {
            now - link.off_since
        } else {
            0
        };
        link.off_cycles + present
    }

    pub(super) fn state(&self, port: PortId) -> Option<LinkState> {
        self.ends[port as usize].map(|end| self.links[end.link as usize].state)
    }

    /// Flits of a packet go over a port.
    pub(super) fn count(&mut self, port: PortId, detour: bool, flits: u32) {
        for counter in [&mut self.short, &mut self.long] {
            let flits_of = &mut counter[port as usize];
            let kind = if detour {
                &mut flits_of.detour
            } else {
                &mut flits_of.minimal
            };
            *kind += u64::from(flits);
        }
    }

    /// PAL: the index of the hop to take. `hops` are the direct one and the detours, or, on a detour already, the direct
    /// one and the way back over the hub.
    pub(super) fn choose(
        &mut self,
        hops: &[Hop],
        header: &Header,
        (congestion, threshold, flits): (&impl Congestion, u32, u32),
        room: impl Fn(&Hop) -> bool,
        rng: &mut Rng,
    ) -> usize {
        let Some(direct) = hops.first().and_then(|hop| self.ends[hop.port as usize]) else {
            return 0; // the node's own port
        };
        let state = self.links[direct.link as usize].state;
        if header.phase != 0 {
            // A packet on its way uses a shadow link as an exception, and goes round a link that is off (section IV-E).
            let on = matches!(state, LinkState::Active | LinkState::Shadow);
            return usize::from(!on && hops.len() > 1);
        }
        let table = &self.tables[direct.subnetwork as usize];
        let detours: Vec<usize> = (1..hops.len())
            .filter(|&index| {
                self.ends[hops[index].port as usize].is_some_and(|end| {
                    table.is_active(end.own, end.other) && table.is_active(end.other, direct.other)
                })
            })
            .collect();
        if detours.is_empty() {
            return 0; // the hub's own links, and links to it, are always active
        }
        let detour = detours[rng.below(detours.len() as u32) as usize];
        let chosen = match way(state, room(&hops[detour])) {
            Way::Reactivate => {
                self.reactivate(direct.link);
                0
            }
            Way::Adaptive => {
                let queued = |index: usize| congestion.queued(hops[index].port);
                if queued(0) <= 2 * queued(detour) + threshold {
                    0
                } else {
                    detour
                }
            }
            Way::Detour => {
                if state == LinkState::Off {
                    self.wanted[hops[0].port as usize] += u64::from(flits);
                }
                detour
            }
        };
        if chosen > 0 {
            self.ask_for_detour(hops[chosen].port, direct);
        }
        chosen
    }

    /// Indirect activation: a detour over a crowded link needs another one (section IV-B).
    fn ask_for_detour(&mut self, crowded: PortId, direct: End) {
        let before = self.before[crowded as usize];
        if before <= self.parameters.high_water_mark {
            return;
        }
        let members = &self.members[direct.subnetwork as usize];
        let router = members[direct.own as usize];
        if self.asked[router as usize] {
            return;
        }
        let table = &self.tables[direct.subnetwork as usize];
        let Some((over, end)) = table.ask_for_detour(direct.own, direct.other) else {
            return;
        };
        let middle = members[over as usize];
        let place = self.ports[middle as usize].iter().position(|&port| {
            self.ends[port as usize]
                .is_some_and(|found| found.subnetwork == direct.subnetwork && found.other == end)
        });
        if let Some(link) = place {
            self.asked[router as usize] = true;
            self.counts.control_packets += 1;
            self.requests[middle as usize].push(Request::Activate {
                link,
                virtual_utilization: before,
            });
        }
    }

    /// Links whose time has come, and the end of an epoch. `is_empty` says whether nothing is on a port's channel or
    /// asks for it.
    pub(super) fn step(&mut self, now: u64, is_empty: impl Fn(PortId) -> bool) {
        let mut changing = std::mem::take(&mut self.changing);
        changing.retain(|&link| self.settle(link, now, &is_empty));
        changing.append(&mut self.changing);
        self.changing = changing;
        if now > 0 && now % self.parameters.epoch == 0 {
            self.end_epoch(now);
        }
    }

    /// Whether a link still changes.
    fn settle(&mut self, number: u32, now: u64, is_empty: &impl Fn(PortId) -> bool) -> bool {
        let link = &mut self.links[number as usize];
        match (link.state, link.phase) {
            (LinkState::Waking, Phase::Until(at)) if at <= now => {
                link.phase = Phase::Steady;
                self.activate(number);
                false
            }
            (LinkState::Shadow, Phase::Until(at)) if at <= now => {
                link.phase = Phase::Draining;
                true
            }
            (LinkState::Shadow, Phase::Draining)
                if link.ports.iter().all(|&port| is_empty(port)) =>
            {
                link.state = LinkState::Off;
                link.phase = Phase::Steady;
                link.off_since = now;
                self.counts.deactivations += 1;
                false
            }
            (LinkState::Shadow | LinkState::Waking, _) => true,
            (LinkState::Active | LinkState::Off, _) => false,
        }
    }

    fn end_of(&self, link: u32) -> Option<End> {
        self.ends[self.links[link as usize].ports[0] as usize]
    }

    /// Both ends of a link and its subnetwork may use it.
    fn activate(&mut self, number: u32) {
        self.links[number as usize].state = LinkState::Active;
        self.links[number as usize].phase = Phase::Steady;
        if let Some(end) = self.end_of(number) {
            self.tables[end.subnetwork as usize].set(end.own, end.other, true);
            self.broadcast(end);
            let members = &self.members[end.subnetwork as usize];
            let ports = self.links[number as usize].ports;
            for (rank, port) in [(end.own, ports[0]), (end.other, ports[1])] {
                self.last_activated[members[rank as usize] as usize] = Some(port);
            }
        }
    }

    fn reactivate(&mut self, number: u32) {
        self.counts.reactivations += 1;
        self.counts.control_packets += 1;
        self.activate(number);
    }

    /// Both ends of a link tell the other routers of the subnetwork.
    fn broadcast(&mut self, end: End) {
        let others = self.members[end.subnetwork as usize].len() as u64 - 2;
        self.counts.control_packets += 2 * others;
    }

    fn end_epoch(&mut self, now: u64) {
        let epoch = self.parameters.epoch;
        let long = epoch * u64::from(self.parameters.deactivation_epochs);
        let deactivation_due = now % long == 0;
        if deactivation_due {
            std::mem::swap(&mut self.judged, &mut self.long);
            self.long.fill(Flits::default());
        }
        let mut decisions = Vec::new();
        for router in 0..self.ports.len() {
            let views = self.views(router, epoch, long);
            let view = View {
                links: &views,
                last_activated: self.last_activated[router]
                    .and_then(|last| self.ports[router].iter().position(|&port| port == last)),
                deactivation_due,
                high_water_mark: self.parameters.high_water_mark,
            };
            let decision = decide(&view, &self.requests[router]);
            // Each request is answered.
            self.counts.control_packets += decision.acknowledged.len() as u64;
            decisions.push(decision.action);
            self.requests[router].clear();
        }
        self.asked.fill(false);
        for (router, action) in decisions.into_iter().enumerate() {
            if let Some(action) = action {
                self.execute(router, action, now);
            }
        }
        for (port, flits) in self.short.iter_mut().enumerate() {
            self.before[port] = flits.over(epoch).total();
            *flits = Flits::default();
        }
        self.wanted.fill(0);
    }

    /// A router's links, as it sees them.
    fn views(&self, router: usize, epoch: u64, long: u64) -> Vec<LinkView> {
        self.ports[router]
            .iter()
            .filter_map(|&port| self.ends[port as usize].map(|end| (port, end)))
            .map(|(port, end)| {
                let link = &self.links[end.link as usize];
                let both = |flits: &[Flits], cycles| {
                    let [one, other] = link.ports.map(|port| flits[port as usize].over(cycles));
                    one.busier(other)
                };
                LinkView {
                    subnetwork: end.dimension,
                    rank: end.other,
                    state: link.state,
                    root: link.root,
                    short: both(&self.short, epoch),
                    long: both(&self.judged, long),
                    virtual_utilization: self.wanted[port as usize] as f64 / epoch as f64,
                }
            })
            .collect()
    }

    fn execute(&mut self, router: usize, action: Action, now: u64) {
        let port = |place: usize| self.ports[router][place];
        match action {
            Action::Activate(place) => self.turn_on(port(place), now),
            Action::Deactivate(place) => self.make_shadow(port(place), now),
            Action::AskToActivate {
                link,
                virtual_utilization,
            } => self.ask(router, port(link), |link| Request::Activate {
                link,
                virtual_utilization,
            }),
            Action::AskToDeactivate(place) => {
                self.ask(router, port(place), |link| Request::Deactivate { link });
            }
        }
    }

    /// A router asks the one at the other end of its port. It asks once an epoch.
    fn ask(&mut self, router: usize, port: PortId, request: impl Fn(usize) -> Request) {
        let Some(end) = self.ends[port as usize] else {
            return;
        };
        let other = self.members[end.subnetwork as usize][end.other as usize] as usize;
        let ports = self.links[end.link as usize].ports;
        let far = if ports[0] == port { ports[1] } else { ports[0] };
        if let Some(link) = self.ports[other].iter().position(|&port| port == far) {
            self.asked[router] = true;
            self.counts.control_packets += 1;
            self.requests[other].push(request(link));
        }
    }

    fn turn_on(&mut self, port: PortId, now: u64) {
        let Some(end) = self.ends[port as usize] else {
            return;
        };
        let link = &mut self.links[end.link as usize];
        if link.state != LinkState::Off {
            return;
        }
        link.state = LinkState::Waking;
        link.phase = Phase::Until(now + self.parameters.wake);
        link.off_cycles += now - link.off_since;
        self.counts.activations += 1;
        self.changing.push(end.link);
    }

    fn make_shadow(&mut self, port: PortId, now: u64) {
        let Some(end) = self.ends[port as usize] else {
            return;
        };
        // A router has one shadow link at most.
        let busy = |rank: u32| {
            let router = self.members[end.subnetwork as usize][rank as usize] as usize;
            self.ports[router]
                .iter()
                .any(|&port| self.state(port) == Some(LinkState::Shadow))
        };
        if self.links[end.link as usize].state != LinkState::Active
            || busy(end.own)
            || busy(end.other)
        {
            return;
        }
        let length = self.parameters.epoch * u64::from(self.parameters.deactivation_epochs);
        let link = &mut self.links[end.link as usize];
        link.state = LinkState::Shadow;
        link.phase = Phase::Until((now / length + 1) * length);
        self.tables[end.subnetwork as usize].set(end.own, end.other, false);
        self.changing.push(end.link);
        self.broadcast(end);
    }
}
