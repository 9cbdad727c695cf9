//! The end of an epoch: what routers see, decide and do.

use super::control::Message;
use super::link::Phase;
use super::{Flits, Tcep};
use crate::network::{PortId, RouterId};
use crate::tcep::{Action, LinkState, LinkView, Request, View, decide};

impl Tcep {
    pub(super) fn end_epoch(&mut self, now: u64) {
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
        if deactivation_due {
            let no_flit = |flits: &Flits| flits.minimal + flits.detour == 0;
            self.quiet = self.mail.is_idle()
                && self.changing.is_empty()
                && self.judged.iter().chain(&self.short).all(no_flit)
                && decisions
                    .iter()
                    .all(|(action, _, senders)| action.is_none() && senders.is_empty());
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
        link.off_cycles += now - link.since;
        link.since = now;
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
