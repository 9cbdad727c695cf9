//! TCEP in both engines: link states, what routers know and count, epochs, and PAL (Kim, Choi, Kim 2018). The decisions
//! are in [`crate::tcep`], the packets by which routers tell each other in [`control`].
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

mod building;
pub(crate) mod control;
mod epochs;
mod knowledge;
mod link;
mod pal;

use self::control::{Control, Mail, Message};
use self::knowledge::Knowledge;
use self::link::{Link, Phase};
use crate::network::{PortId, RouterId};
use crate::tcep::{Counted, LinkState, Request};

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
pub(crate) struct Tcep {
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
    pub(crate) mail: Mail,
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
    /// Links that went off or came on in the last step.
    switched: Vec<u32>,
    now: u64,
    /// Nothing changes at the ends of epochs until a packet comes.
    quiet: bool,
    counts: ConsolidationCounts,
}

impl Tcep {
    pub(crate) fn counts(&self) -> ConsolidationCounts {
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
    pub(crate) fn off_cycles(&self, port: PortId, now: u64) -> u64 {
        let Some(end) = self.ends[port as usize] else {
            return 0;
        };
        let link = &self.links[end.link as usize];
        link.off_cycles + link.in_state(LinkState::Off, now)
    }

    /// Cycles in which a port's link was on its way from off to active.
    pub(crate) fn turning_on_cycles(&self, port: PortId, now: u64) -> u64 {
        let Some(end) = self.ends[port as usize] else {
            return 0;
        };
        let link = &self.links[end.link as usize];
        link.turning_on_cycles + link.in_state(LinkState::Waking, now)
    }

    /// Ports of links that went off or came on in the last step, both of each.
    pub(crate) fn switched(&self) -> impl Iterator<Item = PortId> + '_ {
        let links = self.switched.iter();
        links.flat_map(|&link| self.links[link as usize].ports)
    }

    pub(crate) fn state(&self, port: PortId) -> Option<LinkState> {
        self.ends[port as usize].map(|end| self.links[end.link as usize].state)
    }

    /// A packet in front of an input VC goes over a detour, or not.
    pub(crate) fn track(&mut self, input: usize, detour: bool) {
        self.tracks[input].detour = detour;
    }

    /// Flits go from an input VC over a port.
    pub(crate) fn count(&mut self, input: usize, port: PortId, number: u64) {
        self.quiet = false;
        let Track { detour, wanted } = self.tracks[input];
        for counter in [&mut self.short, &mut self.long] {
            let flits = &mut counter[port as usize];
            if detour {
                flits.detour += number;
            } else {
                flits.minimal += number;
            }
        }
        if wanted != NONE {
            self.wanted[wanted as usize] += number;
        }
    }

    /// A router sends a control packet to another one of its subnetwork.
    fn tell(&mut self, from: RouterId, to: RouterId, message: Message) {
        self.quiet = false;
        self.counts.control_packets += 1;
        self.mail.post(Control {
            from,
            to,
            message,
            made: self.now,
        });
    }

    /// Where a control packet goes next: over its router's link to the receiver if that is active, else to the hub.
    pub(crate) fn way_to(&self, router: RouterId, to: RouterId) -> PortId {
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
    pub(crate) fn receive(&mut self, control: Control) {
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
    pub(crate) fn step(&mut self, now: u64, is_empty: impl Fn(PortId) -> bool) {
        self.now = now;
        self.switched.clear();
        let mut changing = std::mem::take(&mut self.changing);
        changing.retain(|&link| self.settle(link, now, &is_empty));
        changing.append(&mut self.changing);
        self.changing = changing;
        if now > 0 && now % self.parameters.epoch == 0 {
            self.end_epoch(now);
        }
    }

    /// The first cycle from this one on in which something happens if no packet comes: of its own, or the end of an epoch.
    pub(crate) fn next_due(&self, now: u64, is_empty: impl Fn(PortId) -> bool) -> Option<u64> {
        if !self.mail.is_idle() {
            return Some(now);
        }
        let changes = self.changing.iter().filter_map(|&link| {
            let link = &self.links[link as usize];
            match link.phase {
                Phase::Until(at) => Some(at.max(now)),
                Phase::Draining => link.ports.iter().all(|&port| is_empty(port)).then_some(now),
                Phase::Steady => None,
            }
        });
        let epoch = (!self.quiet).then(|| now.max(1).next_multiple_of(self.parameters.epoch));
        changes.chain(epoch).min()
    }

    /// Ports of shadow links that wait until they are empty, both of each.
    pub(crate) fn draining(&self) -> impl Iterator<Item = PortId> + '_ {
        let links = self.changing.iter().map(|&link| &self.links[link as usize]);
        // Those that begin to wait now are looked at in the next cycle.
        let draining = links.filter(|link| link.phase == Phase::Draining);
        draining.flat_map(|link| link.ports)
    }

    /// Whether a link still changes.
    fn settle(&mut self, number: u32, now: u64, is_empty: &impl Fn(PortId) -> bool) -> bool {
        let link = &mut self.links[number as usize];
        match (link.state, link.phase) {
            (LinkState::Waking, Phase::Until(at)) if at <= now => {
                link.phase = Phase::Steady;
                link.turning_on_cycles += now - link.since;
                self.switched.push(number);
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
                link.since = now;
                self.switched.push(number);
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
}
