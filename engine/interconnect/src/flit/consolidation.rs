//! TCEP in the flit engine: link states, what routers know and count, epochs, and PAL (Kim, Choi, Kim 2018). The decisions
//! are in [`crate::tcep`], the packets by which routers tell each other in [`super::control`].
//!
//! Every router has its own table of the links of its subnetworks, which it learns from control packets. What is not in
//! the paper, and simplifications:
//! - The end that agrees to a change tells the other routers of the subnetwork; the end that asked learns of it by the
//!   answer. Of two changes of a link that arrive in the wrong order, the newer one counts.
//! - That the asking router has got a shadow link meanwhile, the answering one knows, and refuses: the paper's "at most one
//!   shadow link for each router" has no message for it.
//! - Whether its own link is electrically on, a router sees without a message. A packet for a link that its router
//!   takes for active, and that is off, goes over the hub.
//! - Control packets do not count as utilization.
//! - A shadow link is turned off when the deactivation epoch in which it became one is over; the paper says "an epoch".

use super::control::{Control, Mail, Message};
use super::knowledge::Knowledge;
use super::state::Numbering;
use crate::error::SimulationError;
use crate::network::{Network, Peer, PortId, RouterId};
use crate::rng::Rng;
use crate::routing::{Congestion, Header, Request as Hop};
use crate::tcep::{Action, Counted, LinkState, LinkView, Request, View, Way, decide, way};
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
    /// Requests, answers, and link states told, each to one router: packets of one flit.
    pub control_packets: u64,
    /// Cycles from a control packet's making to its arrival, over those that have arrived.
    pub control_latency: u64,
    /// Control packets that have arrived.
    pub control_arrived: u64,
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
    /// Router that agreed to the last change, and tells of it.
    speaker: RouterId,
    /// Number of changes so far.
    version: u32,
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

/// What the packet in front of an input VC counts as.
#[derive(Copy, Clone, Debug)]
struct Track {
    detour: bool,
    /// The port that is off, over which it would have gone.
    wanted: PortId,
}

const NONE: PortId = PortId::MAX;

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
    /// What each router knows, by router and dimension.
    known: Vec<Knowledge>,
    /// Router of each rank of a subnetwork.
    members: Vec<Vec<RouterId>>,
    /// Ports to other routers, by router: dimension by dimension, by rank.
    ports: Vec<Vec<PortId>>,
    /// Place of a dimension's first port among them.
    first_place: Vec<usize>,
    pub(super) mail: Mail,
    /// By input VC.
    tracks: Vec<Track>,
    short: Vec<Flits>,
    long: Vec<Flits>,
    /// Of the last deactivation epoch that has ended.
    judged: Vec<Flits>,
    wanted: Vec<u64>,
    /// Utilization of the epoch before, by port.
    before: Vec<f64>,
    /// Requests that have come to a router in this epoch, one from each other router.
    requests: Vec<Vec<(RouterId, Request)>>,
    asked: Vec<bool>,
    last_activated: Vec<Option<PortId>>,
    /// Links that are not steady.
    changing: Vec<u32>,
    now: u64,
    counts: ConsolidationCounts,
}

impl Tcep {
    pub(super) fn new(
        network: &Network,
        parameters: Consolidation,
        vcs: u8,
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
        let mut members: Vec<Vec<RouterId>> = Vec::new();
        let mut known: Vec<Knowledge> = (0..routers)
            .flat_map(|_| shape.sizes.iter().map(|&size| Knowledge::new(size)))
            .collect();
        let dimensions = shape.sizes.len();
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
                members.push((0..size).map(|c| shape.moved(hub, dimension, c)).collect());
                members.len() as u32 - 1
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
            for &member in &members[subnetwork as usize] {
                known[member as usize * dimensions + dimension].learn(near, far, on, 0);
            }
            links.push(Link {
                ports: [one, other],
                state: if on {
                    LinkState::Active
                } else {
                    LinkState::Off
                },
                phase: Phase::Steady,
                root,
                speaker: router,
                version: 0,
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
            known,
            members,
            ports: (0..routers).map(ports_of).collect(),
            first_place: (0..dimensions)
                .map(|d| shape.sizes[..d].iter().map(|&size| size as usize - 1).sum())
                .collect(),
            mail: Mail::new(routers, vcs),
            tracks: vec![
                Track {
                    detour: false,
                    wanted: NONE,
                };
                Numbering::new(vcs + 1).end(network)
            ],
            short: vec![Flits::default(); ports],
            long: vec![Flits::default(); ports],
            judged: vec![Flits::default(); ports],
            wanted: vec![0; ports],
            before: vec![0.0; ports],
            requests: vec![Vec::new(); routers as usize],
            asked: vec![false; routers as usize],
            last_activated: vec![None; routers as usize],
            changing: Vec::new(),
            now,
            counts: ConsolidationCounts::default(),
        })
    }

    pub(super) fn counts(&self) -> ConsolidationCounts {
        self.counts
    }

    fn known(&self, router: RouterId, dimension: u32) -> &Knowledge {
        &self.known[router as usize * self.first_place.len() + dimension as usize]
    }

    fn learn(&mut self, router: RouterId, link: u32, active: bool, version: u32) {
        if let Some(end) = self.end_of(link) {
            let dimensions = self.first_place.len();
            self.known[router as usize * dimensions + end.dimension as usize]
                .learn(end.own, end.other, active, version);
        }
    }

    /// Place among a router's ports of the one to a rank.
    fn place(&self, dimension: u32, own: u32, rank: u32) -> usize {
        self.first_place[dimension as usize] + (rank - u32::from(rank > own)) as usize
    }

    /// State of a link as the router at a port sees it: that it is shadow or active again, the router has to be told.
    fn seen(&self, router: RouterId, end: End) -> LinkState {
        match self.links[end.link as usize].state {
            LinkState::Active | LinkState::Shadow => {
                if self
                    .known(router, end.dimension)
                    .table
                    .is_active(end.own, end.other)
                {
                    LinkState::Active
                } else {
                    LinkState::Shadow
                }
            }
            state => state,
        }
    }

    fn is_on(&self, link: u32) -> bool {
        matches!(
            self.links[link as usize].state,
            LinkState::Active | LinkState::Shadow
        )
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

    /// A packet in front of an input VC goes over a detour, or not.
    pub(super) fn track(&mut self, input: usize, detour: bool) {
        self.tracks[input].detour = detour;
    }

    /// A flit goes from an input VC over a port.
    pub(super) fn count(&mut self, input: usize, port: PortId) {
        let Track { detour, wanted } = self.tracks[input];
        for counter in [&mut self.short, &mut self.long] {
            let flits = &mut counter[port as usize];
            if detour {
                flits.detour += 1;
            } else {
                flits.minimal += 1;
            }
        }
        if wanted != NONE {
            self.wanted[wanted as usize] += 1;
        }
    }

    /// PAL: the index of the hop to take. `hops` are the direct one and the detours, or, on a detour already, the direct
    /// one and the way back over the hub.
    pub(super) fn choose(
        &mut self,
        (router, input): (RouterId, usize),
        hops: &[Hop],
        header: &Header,
        (congestion, threshold): (&impl Congestion, u32),
        room: impl Fn(&Hop) -> bool,
        rng: &mut Rng,
    ) -> usize {
        self.tracks[input].wanted = NONE;
        let Some(direct) = hops.first().and_then(|hop| self.ends[hop.port as usize]) else {
            return 0; // the node's own port
        };
        if header.phase != 0 {
            // A packet on its way uses a shadow link as an exception, and goes round a link that is off (section IV-E).
            return usize::from(!self.is_on(direct.link) && hops.len() > 1);
        }
        let state = self.seen(router, direct);
        let table = &self.known(router, direct.dimension).table;
        let leads = |index: &usize| {
            self.ends[hops[*index].port as usize].is_some_and(|end| {
                table.is_active(end.own, end.other)
                    && table.is_active(end.other, direct.other)
                    && self.is_on(end.link)
            })
        };
        let detours = (1..hops.len()).filter(leads).count() as u32;
        if detours == 0 {
            return 0; // the hub's own links, and links to it, are always active
        }
        let drawn = rng.below(detours) as usize;
        let Some(detour) = (1..hops.len()).filter(leads).nth(drawn) else {
            return 0;
        };
        let chosen = match way(state, room(&hops[detour])) {
            Way::Reactivate => {
                self.reactivate(router, direct.link);
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
                    self.tracks[input].wanted = hops[0].port;
                }
                detour
            }
        };
        if chosen > 0 {
            self.ask_for_detour(router, hops[chosen].port, direct);
        }
        chosen
    }

    /// Indirect activation: a detour over a crowded link needs another one (section IV-B).
    fn ask_for_detour(&mut self, router: RouterId, crowded: PortId, direct: End) {
        let before = self.before[crowded as usize];
        if before <= self.parameters.high_water_mark || self.asked[router as usize] {
            return;
        }
        let table = &self.known(router, direct.dimension).table;
        let Some((over, end)) = table.ask_for_detour(direct.own, direct.other) else {
            return;
        };
        self.asked[router as usize] = true;
        let middle = self.members[direct.subnetwork as usize][over as usize];
        let request = Request::Activate {
            link: self.place(direct.dimension, over, end),
            virtual_utilization: before,
        };
        self.tell(router, middle, Message::Request(request));
    }

    /// A router sends a control packet to another one of its subnetwork.
    fn tell(&mut self, from: RouterId, to: RouterId, message: Message) {
        self.counts.control_packets += 1;
        self.mail.post(Control {
            from,
            to,
            message,
            made: self.now,
        });
    }

    /// Where a control packet goes next: over its router's link to the receiver if that is active, else to the hub.
    pub(super) fn way_to(&self, router: RouterId, to: RouterId) -> PortId {
        let ports = &self.ports[router as usize];
        let ends = ports.iter().map(|&port| self.ends[port as usize]);
        let found = ports.iter().zip(ends).find_map(|(&port, end)| {
            let end = end?;
            let members = &self.members[end.subnetwork as usize];
            (members[end.other as usize] == to).then_some((port, end))
        });
        let Some((port, end)) = found else {
            unreachable!("control packets stay in a subnetwork")
        };
        if self.is_on(end.link) && self.seen(router, end) == LinkState::Active {
            return port;
        }
        ports[self.place(end.dimension, end.own, 0)]
    }

    /// A control packet has come to its router.
    pub(super) fn receive(&mut self, control: Control) {
        self.counts.control_arrived += 1;
        self.counts.control_latency += self.now - control.made;
        let Control {
            from, to, message, ..
        } = control;
        match message {
            Message::Request(request) => {
                let requests = &mut self.requests[to as usize];
                match requests.iter_mut().find(|(sender, _)| *sender == from) {
                    Some(entry) => entry.1 = request,
                    None => requests.push((from, request)),
                }
            }
            Message::Refused => {}
            Message::State {
                link,
                active,
                version,
            } => self.learn(to, link, active, version),
        }
    }

    /// Links whose time has come, and the end of an epoch. `is_empty` says whether nothing is on a port's channel or
    /// asks for it.
    pub(super) fn step(&mut self, now: u64, is_empty: impl Fn(PortId) -> bool) {
        self.now = now;
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

    /// A link is ready: its ends see it, and one of them tells the others.
    fn activate(&mut self, number: u32) {
        let link = &mut self.links[number as usize];
        link.state = LinkState::Active;
        link.phase = Phase::Steady;
        link.version += 1;
        let (version, ports) = (link.version, link.ports);
        for port in ports {
            let router = self.router_at(port);
            self.learn(router, number, true, version);
            self.last_activated[router as usize] = Some(port);
        }
        self.broadcast(number, true, false);
    }

    /// A router needs its shadow link after all, and uses it at once.
    fn reactivate(&mut self, router: RouterId, number: u32) {
        let link = &mut self.links[number as usize];
        if link.state == LinkState::Active {
            // The other end did so already, and its packet is under way.
            let version = link.version;
            self.learn(router, number, true, version);
            return;
        }
        self.counts.reactivations += 1;
        link.state = LinkState::Active;
        link.phase = Phase::Steady;
        link.version += 1;
        link.speaker = router;
        let (version, ports) = (link.version, link.ports);
        self.learn(router, number, true, version);
        for port in ports {
            let end = self.router_at(port);
            self.last_activated[end as usize] = Some(port);
        }
        self.broadcast(number, true, true);
    }

    fn router_at(&self, port: PortId) -> RouterId {
        self.ends[port as usize].map_or(0, |end| {
            self.members[end.subnetwork as usize][end.own as usize]
        })
    }

    /// The router that agreed to a change tells the others of the subnetwork, and the other end if need be.
    fn broadcast(&mut self, number: u32, active: bool, other_end: bool) {
        let link = &self.links[number as usize];
        let (speaker, version) = (link.speaker, link.version);
        let ends = link.ports.map(|port| self.router_at(port));
        let Some(end) = self.end_of(number) else {
            return;
        };
        let told: Vec<RouterId> = self.members[end.subnetwork as usize]
            .iter()
            .copied()
            .filter(|&member| member != speaker && (other_end || !ends.contains(&member)))
            .collect();
        for router in told {
            let message = Message::State {
                link: number,
                active,
                version,
            };
            self.tell(speaker, router, message);
        }
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
            let (senders, requests): (Vec<RouterId>, Vec<Request>) =
                self.requests[router].drain(..).unzip();
            let decision = decide(&view, &requests);
            let agreed = decision.acknowledged.iter().position(|&one| one);
            decisions.push((decision.action, agreed.map(|index| senders[index]), senders));
        }
        self.asked.fill(false);
        for (router, (action, agreed, senders)) in (0..).zip(decisions) {
            let done = action.is_some_and(|action| self.execute(router, action, now));
            // Each request is answered; where the link of an agreed one is that of the sender, with its new state.
            for sender in senders {
                let message = match action {
                    Some(Action::Activate(place) | Action::Deactivate(place))
                        if done && agreed == Some(sender) =>
                    {
                        self.news_of(router, place)
                    }
                    _ => Message::Refused,
                };
                self.tell(router, sender, message);
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
                let state = self.seen(router as RouterId, end);
                let both = |flits: &[Flits], cycles| {
                    let [one, other] = link.ports.map(|port| flits[port as usize].over(cycles));
                    one.busier(other)
                };
                LinkView {
                    subnetwork: end.dimension,
                    rank: end.other,
                    state,
                    root: link.root,
                    short: both(&self.short, epoch),
                    long: both(&self.judged, long),
                    virtual_utilization: self.wanted[port as usize] as f64 / epoch as f64,
                }
            })
            .collect()
    }

    /// An acknowledgement: the state of a router's link.
    fn news_of(&self, router: RouterId, place: usize) -> Message {
        let number =
            self.ends[self.ports[router as usize][place] as usize].map_or(0, |end| end.link);
        let link = &self.links[number as usize];
        Message::State {
            link: number,
            active: link.state == LinkState::Active,
            version: link.version,
        }
    }

    /// Whether it was done.
    fn execute(&mut self, router: RouterId, action: Action, now: u64) -> bool {
        let port = |place: usize| self.ports[router as usize][place];
        match action {
            Action::Activate(place) => self.turn_on(router, port(place), now),
            Action::Deactivate(place) => self.make_shadow(router, port(place), now),
            Action::AskToActivate {
                link,
                virtual_utilization,
            } => self.ask(router, port(link), |link| Request::Activate {
                link,
                virtual_utilization,
            }),
            Action::AskToDeactivate(place) => {
                self.ask(router, port(place), |link| Request::Deactivate { link })
            }
        }
    }

    /// A router asks the one at the other end of its port. It asks once an epoch.
    fn ask(&mut self, router: RouterId, port: PortId, request: impl Fn(usize) -> Request) -> bool {
        let Some(end) = self.ends[port as usize] else {
            return false;
        };
        let other = self.members[end.subnetwork as usize][end.other as usize];
        let place = self.place(end.dimension, end.other, end.own);
        self.asked[router as usize] = true;
        self.tell(router, other, Message::Request(request(place)));
        true
    }

    fn turn_on(&mut self, router: RouterId, port: PortId, now: u64) -> bool {
        let Some(end) = self.ends[port as usize] else {
            return false;
        };
        let link = &mut self.links[end.link as usize];
        if link.state != LinkState::Off {
            return false;
        }
        link.state = LinkState::Waking;
        link.phase = Phase::Until(now + self.parameters.wake);
        link.off_cycles += now - link.off_since;
        link.speaker = router;
        self.counts.activations += 1;
        self.changing.push(end.link);
        true
    }

    fn make_shadow(&mut self, router: RouterId, port: PortId, now: u64) -> bool {
        let Some(end) = self.ends[port as usize] else {
            return false;
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
            return false;
        }
        let length = self.parameters.epoch * u64::from(self.parameters.deactivation_epochs);
        let link = &mut self.links[end.link as usize];
        link.state = LinkState::Shadow;
        link.phase = Phase::Until((now / length + 1) * length);
        link.speaker = router;
        link.version += 1;
        let version = link.version;
        self.learn(router, end.link, false, version);
        self.changing.push(end.link);
        self.broadcast(end.link, false, false);
        true
    }
}
