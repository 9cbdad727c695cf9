//! TCEP: traffic consolidation for energy-proportional high-radix networks (Kim, Choi, Kim 2018). The decisions, as pure
//! functions: what a router does at the end of an epoch with what it has counted and been asked.
//!
//! A *subnetwork* is a set of routers that are all linked to each other: a row or a column of a flattened butterfly. Its
//! routers have ranks by their IDs; rank 0 is the central hub. Links to the hub form the *root network*, which is never
//! turned off (section III-B). Everything here is about one router; [`View`] is what it knows.
//!
//! ```text
//!            deactivation agreed           an epoch without use, drained
//!   Active ──────────────────────> Shadow ──────────────────────────────> Off
//!     ^                              │                                     │
//!     │        needed after all      │                                     │ activation agreed
//!     ├──────────────────────────────┘                                     v
//!     └────────────────────────────────────────────────────────────── Waking
//! ```
//!
//! The paper leaves some things open; what is decided here:
//! - Algorithm 1, line 9 sets the budget of link 0 to its utilization, and the loop behind never tests the set that holds
//!   link 0 alone. The text (section IV-A.1) defines the budget as unused bandwidth and starts with link 0 alone. The text
//!   is followed: it alone lets a network without traffic shrink to its root network, which the paper's 37.8 cycles at
//!   low load are (37.69 in closed form).
//! - Algorithm 1 runs at the end of a deactivation epoch. What it asks for is served at the end of the other router's next
//!   epoch, as all requests are.
//! - The utilization of a bidirectional link is that of its busier direction.
//! - Links of equal merit: the one to the router of the lowest rank.

/// Share of a link's time in which it sends, 0 to 1.
pub type Utilization = f64;

/// Power state of a link, as both of its routers see it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum LinkState {
    /// In use.
    Active,
    /// Physically on; not to be used, unless it is needed at once.
    Shadow,
    /// Off.
    Off,
    /// On its way from off to active.
    Waking,
}

/// What a router counted on one of its links in an epoch.
#[derive(Copy, Clone, Debug, PartialEq, Default)]
pub struct Counted {
    /// By minimally routed traffic.
    pub minimal: Utilization,
    /// By traffic on a detour.
    pub detour: Utilization,
}

impl Counted {
    /// Of the busier direction.
    #[must_use]
    pub fn busier(self, other: Self) -> Self {
        if other.total() > self.total() {
            other
        } else {
            self
        }
    }

    /// By all traffic.
    #[must_use]
    pub fn total(self) -> Utilization {
        self.minimal + self.detour
    }
}

/// A link of a router within a subnetwork.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct LinkView {
    /// Number of the subnetwork among the router's.
    pub subnetwork: u32,
    /// Rank of the router at the other end in the subnetwork.
    pub rank: u32,
    /// Its state.
    pub state: LinkState,
    /// Part of the root network.
    pub root: bool,
    /// In the activation epoch that ends.
    pub short: Counted,
    /// In the last deactivation epoch that has ended.
    pub long: Counted,
    /// Utilization that minimally routed traffic would have caused, had the link been active in the activation epoch.
    pub virtual_utilization: Utilization,
}

/// What a router knows at the end of an epoch. Links are sorted by subnetwork, then by rank.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct View<'a> {
    /// All links of the router to routers of its subnetworks.
    pub links: &'a [LinkView],
    /// The link (by its place in `links`) that was activated last.
    pub last_activated: Option<usize>,
    /// Whether a deactivation epoch ends too, so that Algorithm 1 runs.
    pub deactivation_due: bool,
    /// U_hwm: utilization that an inner link should not exceed.
    pub high_water_mark: Utilization,
}

/// What a router at the other end of a link asks for.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Request {
    /// Turn a link on; its virtual utilization is in the request.
    Activate {
        /// The link, by its place in [`View::links`].
        link: usize,
        /// As the other router counted it.
        virtual_utilization: Utilization,
    },
    /// Turn a link off.
    Deactivate {
        /// The link, by its place in [`View::links`].
        link: usize,
    },
}

impl Request {
    const fn link(&self) -> usize {
        match self {
            Self::Activate { link, .. } | Self::Deactivate { link } => *link,
        }
    }
}

/// What a router does about one link in an epoch; it changes no more than one (section IV-A.3).
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Action {
    /// Turn a link on, as the other end asks.
    Activate(usize),
    /// Ask the other end to turn a link on.
    AskToActivate {
        /// The link, by its place in [`View::links`].
        link: usize,
        /// To be sent with the request.
        virtual_utilization: Utilization,
    },
    /// Make a link a shadow link, as the other end asks.
    Deactivate(usize),
    /// Ask the other end to make a link a shadow link.
    AskToDeactivate(usize),
}

/// What a router does at the end of an epoch.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Decision {
    /// At most one link changes.
    pub action: Option<Action>,
    /// For each request, in their order, whether it is acknowledged.
    pub acknowledged: Vec<bool>,
}

/// The end of an epoch (section IV-C): requests to activate come first, then the router's own need, then requests to
/// deactivate, then Algorithm 1.
#[must_use]
pub fn decide(view: &View<'_>, requests: &[Request]) -> Decision {
    let mut decision = Decision {
        action: None,
        acknowledged: vec![false; requests.len()],
    };
    if let Some(chosen) = most_wanted(view, requests) {
        decision.action = Some(Action::Activate(requests[chosen].link()));
        decision.acknowledged[chosen] = true;
        return decision;
    }
    if let Some(link) = needed(view) {
        decision.action = Some(Action::AskToActivate {
            link,
            virtual_utilization: view.links[link].virtual_utilization,
        });
        return decision;
    }
    let outer = outer_links(view);
    let mut asked = requests
        .iter()
        .enumerate()
        .filter(|(_, request)| matches!(request, Request::Deactivate { .. }))
        .peekable();
    if asked.peek().is_none() {
        if view.deactivation_due {
            decision.action = least_minimal(view, &outer).map(Action::AskToDeactivate);
        }
        return decision;
    }
    let chosen = asked
        .filter(|(_, request)| outer.contains(&request.link()))
        .min_by(|(_, one), (_, other)| {
            let minimal = |request: &Request| view.links[request.link()].long.minimal;
            minimal(one).total_cmp(&minimal(other))
        });
    if let Some((index, request)) = chosen {
        decision.action = Some(Action::Deactivate(request.link()));
        decision.acknowledged[index] = true;
    }
    decision
}

/// The request to activate with the highest virtual utilization, of a link that is off.
fn most_wanted(view: &View<'_>, requests: &[Request]) -> Option<usize> {
    let mut best: Option<(usize, Utilization)> = None;
    for (index, request) in requests.iter().enumerate() {
        if let Request::Activate {
            link,
            virtual_utilization,
        } = *request
        {
            if view.links[link].state == LinkState::Off
                && best.is_none_or(|(_, most)| virtual_utilization > most)
            {
                best = Some((index, virtual_utilization));
            }
        }
    }
    best.map(|(index, _)| index)
}

/// The link to activate, if any link is above the high-water mark and most of its traffic is on a detour: the
/// one with the highest virtual utilization in that link's subnetwork (section IV-B).
fn needed(view: &View<'_>) -> Option<usize> {
    let crowded = |link: &LinkView| {
        link.state == LinkState::Active
            && link.short.total() > view.high_water_mark
            && link.short.detour > link.short.minimal
    };
    let mut best: Option<usize> = None;
    for (index, link) in view.links.iter().enumerate() {
        let helps = link.state == LinkState::Off
            && view
                .links
                .iter()
                .any(|other| other.subnetwork == link.subnetwork && crowded(other));
        let wanted = |best: usize| link.virtual_utilization > view.links[best].virtual_utilization;
        if helps && best.is_none_or(wanted) {
            best = Some(index);
        }
    }
    best
}

/// Algorithm 1, lines 9 to 21, for every subnetwork: the links, by their places, whose traffic the others can take. Links
/// of the root network are inner links always; the last activated one is, while an inner link is above half of
/// the high-water mark (section IV-C).
#[must_use]
pub fn outer_links(view: &View<'_>) -> Vec<usize> {
    let active: Vec<usize> = (0..view.links.len())
        .filter(|&link| view.links[link].state == LinkState::Active)
        .collect();
    let mut outer = Vec::new();
    for group in active.chunk_by(|&a, &b| view.links[a].subnetwork == view.links[b].subnetwork) {
        let used = |link: usize| view.links[link].long.total();
        let boundary = boundary(view, group);
        let busy = group[..boundary]
            .iter()
            .any(|&link| used(link) > view.high_water_mark / 2.0);
        outer.extend(
            group[boundary..].iter().copied().filter(|&link| {
                !(view.links[link].root || busy && view.last_activated == Some(link))
            }),
        );
    }
    outer
}

/// Number of inner links of a subnetwork.
fn boundary(view: &View<'_>, group: &[usize]) -> usize {
    let used = |link: usize| view.links[link].long.total();
    // A link above the mark has nothing to give (section IV-A.1).
    let unused = |link: usize| (view.high_water_mark - used(link)).max(0.0);
    let mut rest: Utilization = group.iter().map(|&link| used(link)).sum();
    let mut budget = 0.0;
    for (inner, &link) in (1..).zip(group) {
        budget += unused(link);
        rest -= used(link);
        if budget >= rest {
            return inner;
        }
    }
    group.len()
}

/// Algorithm 1, lines 23 to 27: the outer link with the least minimally routed traffic.
fn least_minimal(view: &View<'_>, outer: &[usize]) -> Option<usize> {
    outer.iter().copied().min_by(|&one, &other| {
        let minimal = |link: usize| view.links[link].long.minimal;
        minimal(one).total_cmp(&minimal(other))
    })
}

/// Links of a subnetwork, as every router of it knows them: which pairs of ranks have an active link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkTable {
    size: u32,
    active: Vec<bool>,
}

impl LinkTable {
    /// A subnetwork of so many routers, all links active.
    #[must_use]
    pub fn new(size: u32) -> Self {
        Self {
            size,
            active: vec![true; (size * size) as usize],
        }
    }

    /// A link is, or is no longer, to be used.
    pub fn set(&mut self, one: u32, other: u32, active: bool) {
        for (from, to) in [(one, other), (other, one)] {
            self.active[(from * self.size + to) as usize] = active;
        }
    }

    /// Whether two routers have a link that is to be used.
    #[must_use]
    pub fn is_active(&self, one: u32, other: u32) -> bool {
        self.active[(one * self.size + other) as usize]
    }

    /// Ranks over which a detour from one router to another may go (the non-minimal routing table, section IV-E).
    pub fn intermediates(&self, from: u32, to: u32) -> impl Iterator<Item = u32> + '_ {
        (0..self.size).filter(move |&over| {
            over != from && over != to && self.is_active(from, over) && self.is_active(over, to)
        })
    }

    /// Whom to ask for another detour (indirect activation, section IV-B): the lowest rank that is no intermediate. It
    /// then turns on its link to `to`, or, if that is active, to `from`.
    #[must_use]
    pub fn ask_for_detour(&self, from: u32, to: u32) -> Option<(u32, u32)> {
        let over = (0..self.size).find(|&over| {
            over != from && over != to && !(self.is_active(from, over) && self.is_active(over, to))
        })?;
        let end = if self.is_active(over, to) { from } else { to };
        Some((over, end))
    }
}

/// What PAL does with a packet in a dimension (Table I).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// By congestion, between the minimal port and a detour.
    Adaptive,
    /// Over a detour.
    Detour,
    /// The shadow link becomes active, and the packet takes it.
    Reactivate,
}

/// Table I: the way by the state of the minimal port, and whether a detour has a credit.
#[must_use]
pub const fn way(minimal: LinkState, detour_has_credit: bool) -> Way {
    match (minimal, detour_has_credit) {
        (LinkState::Active, _) => Way::Adaptive,
        (LinkState::Shadow, false) => Way::Reactivate,
        (LinkState::Shadow, true) | (LinkState::Off | LinkState::Waking, _) => Way::Detour,
    }
}
