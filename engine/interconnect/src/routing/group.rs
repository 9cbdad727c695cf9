//! Minimal routing on the dragonfly, and UGAL-L (Kim et al. 2008): minimally, or over another group, by the queues of the
//! source's router.
//!
//! A packet has half of the virtual channels before its global link, and the other half from there on, also to its node, as
//! in BookSim2: with few of them and short packets, what waits for the node's only channel counts. Whether an adapter has
//! such a rule is not said anywhere; a dragonfly's throughput at two channels would tell.

use super::{Algorithm, Congestion, Header, Request, halves};
use crate::error::SimulationError;
use crate::network::{Network, PortId, RouterId};
use crate::rng::Rng;
use crate::topology::Dragonfly;

#[derive(Clone, Debug)]
pub(super) struct Group {
    shape: Dragonfly,
    first_port: Vec<PortId>,
    /// By router.
    groups: Vec<u32>,
    /// Global links between two groups.
    copies: u32,
    /// The phase of a packet that goes minimally, before its global link; a detour has a phase before that, on the way to
    /// another group. It then heads for the router there, which `via` names, at the other end of a global link.
    minimal: u8,
    /// First and last virtual channel, by phase.
    parts: Vec<(u8, u8)>,
}

/// On the way to another group than the target's.
const DETOUR: u8 = 0;

impl Group {
    pub(super) fn new(
        network: &Network,
        shape: &Dragonfly,
        algorithm: Algorithm,
        vcs: u8,
    ) -> Result<Self, SimulationError> {
        let detours = algorithm == Algorithm::DragonflyUgal;
        let needed = if detours { 3 } else { 2 };
        if vcs < needed {
            return SimulationError::routing(format!(
                "{} needs at least {needed} virtual channels: before, and from each global link on",
                algorithm.name()
            ));
        }
        let parts = if detours {
            (0..3)
                .map(|part: u8| {
                    let [from, to] =
                        [part, part + 1].map(|end| (u16::from(end) * u16::from(vcs) / 3) as u8);
                    (from, to - 1)
                })
                .collect()
        } else {
            halves(vcs).to_vec()
        };
        Ok(Self {
            shape: shape.clone(),
            groups: (0..network.routers()).map(|r| shape.group_of(r)).collect(),
            copies: shape.copies(),
            first_port: (0..network.routers())
                .map(|r| network.port_of(r, 0))
                .collect(),
            minimal: u8::from(detours),
            parts,
        })
    }

    /// First and last virtual channel of a phase.
    pub(super) fn half(&self, phase: u8) -> (u8, u8) {
        self.parts[usize::from(phase)]
    }

    fn group(&self, router: RouterId) -> u32 {
        self.groups[router as usize]
    }

    fn hop(&self, router: RouterId, local: u32, (phase, via): (u8, RouterId)) -> Request {
        let (first_vc, last_vc) = self.half(phase);
        Request {
            port: self.first_port[router as usize] + local,
            first_vc,
            last_vc,
            priority: 0,
            phase,
            via,
        }
    }

    /// Global links from a router to another group, by the first one's number, and how many they are.
    fn own_links(&self, router: RouterId, there: u32) -> (u32, u32) {
        let here = self.group(router);
        let q = if there < here { there } else { there - 1 };
        let (others, global) = (self.shape.groups - 1, self.shape.global);
        let first = (router - here * self.shape.group_size()) * global;
        // Numbers c with first <= c · others + q < first + global.
        let below = |limit: u32| limit.saturating_sub(q).div_ceil(others);
        let from = below(first);
        (from, below(first + global) - from)
    }

    /// The hop over a global link of a router to another group.
    fn leave(&self, router: RouterId, header: &Header, copy: u32) -> Request {
        let (here, there) = (self.group(router), self.group(header.target));
        let (_, local) = self.shape.gateway(here, there, copy);
        self.hop(router, local, (self.minimal + 1, header.target))
    }

    /// The first hop on the way to a global link, or over it.
    fn towards(&self, router: RouterId, header: &Header, copy: u32) -> Request {
        let (here, there) = (self.group(router), self.group(header.target));
        let (gateway, _) = self.shape.gateway(here, there, copy);
        match self.shape.local_port(router, gateway) {
            Some(local) => self.hop(router, local, (self.minimal, gateway)),
            None => self.leave(router, header, copy),
        }
    }

    /// The request of a packet that is not at its target, where there is one only: within a group, and on the way to the
    /// router with the global link that was chosen at the source.
    pub(super) fn only(&self, router: RouterId, header: &Header) -> Option<Request> {
        if self.on_detour(header) {
            return Some(self.outwards(router, header));
        }
        if self.group(router) == self.group(header.target) {
            let local = self.shape.local_port(router, header.target)?;
            return Some(self.hop(router, local, (header.phase, header.via)));
        }
        if header.via == header.target || header.via == router {
            return None;
        }
        let local = self.shape.local_port(router, header.via)?;
        Some(self.hop(router, local, (self.minimal, header.via)))
    }

    fn on_detour(&self, header: &Header) -> bool {
        self.minimal > DETOUR && header.phase == DETOUR
    }

    /// The hop on the way to the router of another group that `via` names: over the first of the links to it.
    fn outwards(&self, router: RouterId, header: &Header) -> Request {
        let (here, there) = (self.group(router), self.group(header.via));
        let lands = |copy: &u32| self.shape.gateway(there, here, *copy).0 == header.via;
        let copy = (0..self.copies).find(lands).unwrap_or_default();
        let (gateway, global) = self.shape.gateway(here, there, copy);
        match self.shape.local_port(router, gateway) {
            Some(local) => self.hop(router, local, (DETOUR, header.via)),
            None => self.hop(router, global, (self.minimal, header.target)),
        }
    }

    /// The headers with which a packet may enter the network: minimally, or over any router of other groups that a link of
    /// this group leads to.
    pub(super) fn starts(&self, source: RouterId, header: Header, out: &mut Vec<Header>) {
        let (here, there) = (self.group(source), self.group(header.target));
        out[0].phase = self.minimal;
        if self.minimal == DETOUR || here == there {
            return;
        }
        for group in (0..self.shape.groups).filter(|&group| group != here && group != there) {
            out.extend((0..self.copies).map(|copy| self.over(header, group, here, copy)));
        }
    }

    fn over(&self, header: Header, group: u32, here: u32, copy: u32) -> Header {
        Header {
            phase: DETOUR,
            via: self.shape.gateway(group, here, copy).0,
            ..header
        }
    }

    /// UGAL-L: the queues of both first hops at the source's router, times the global links of their ways.
    pub(super) fn start(
        &self,
        source: RouterId,
        header: Header,
        congestion: &impl Congestion,
        threshold: u32,
        rng: &mut Rng,
    ) -> Header {
        let minimal = Header {
            phase: self.minimal,
            ..header
        };
        let (here, there) = (self.group(source), self.group(header.target));
        if self.minimal == DETOUR || here == there || self.shape.groups < 3 {
            return minimal;
        }
        let direct = self.choose(source, &minimal, rng);
        let mut group = rng.below(self.shape.groups - 2);
        for own in [here.min(there), here.max(there)] {
            group += u32::from(group >= own);
        }
        let detour = self.over(header, group, here, rng.below(self.copies));
        let around = self.outwards(source, &detour);
        let [queued, other] = [direct, around].map(|hop| congestion.queued(hop.port));
        if queued <= 2 * other + threshold {
            // The router with the global link is the one whose way was looked at.
            let via = if direct.phase == self.minimal {
                direct.via
            } else {
                header.target
            };
            Header { via, ..minimal }
        } else {
            detour
        }
    }

    /// One of [`Self::requests`] at random, without listing them: there may be hundreds of links between two groups.
    pub(super) fn choose(&self, router: RouterId, header: &Header, rng: &mut Rng) -> Request {
        if let Some(only) = self.only(router, header) {
            return only;
        }
        let mut one_of = |count: u32| if count < 2 { 0 } else { rng.below(count) };
        match self.own_links(router, self.group(header.target)) {
            (_, 0) => self.towards(router, header, one_of(self.copies)),
            (first, count) => self.leave(router, header, first + one_of(count)),
        }
    }

    /// Every hop to the target's group: over the global links of this router, which are the nearest, or to those of others,
    /// or, on the way to another router, to the one that was chosen at the source.
    pub(super) fn requests(&self, router: RouterId, header: &Header, out: &mut Vec<Request>) {
        if let Some(only) = self.only(router, header) {
            out.push(only);
            return;
        }
        match self.own_links(router, self.group(header.target)) {
            (_, 0) => {
                out.extend((0..self.copies).map(|copy| self.towards(router, header, copy)));
            }
            (first, count) => {
                out.extend((first..first + count).map(|copy| self.leave(router, header, copy)));
            }
        }
    }
}
