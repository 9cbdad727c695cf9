//! PAL: the way of a packet where links may be off (section IV).

use super::control::Message;
use super::{End, NONE, Tcep};
use crate::network::{PortId, RouterId};
use crate::rng::Rng;
use crate::routing::{Congestion, Header, Request as Hop};
use crate::tcep::{LinkState, Request, Way, way};

impl Tcep {
    /// PAL: the index of the hop to take. `hops` are the direct one and the detours, or, on a detour already, the direct
    /// one and the way back over the hub.
    pub(crate) fn choose(
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
}
