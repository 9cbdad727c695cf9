//! Packets that ask for several hops at once and take the first that is open: adaptive routing with an escape path.
//!
//! As in the flit engine, a virtual channel belongs to a packet from its grant until its tail is in the switch. It is open to
//! the next packet from then on, if there is room behind it. Of the open ones a packet takes one of the highest priority,
//! the next from its buffer's pointer on. So a packet goes over another output while those it prefers are taken, and it
//! waits for all of them at once if none is open.

use super::PacketEngine;
use super::agenda::Event;
use super::state::{Packet, Queued};
use super::waiting::{Bits, Waiting};
use crate::network::{Peer, Port};
use crate::routing::Request;

/// What packets ask for, and which virtual channels are taken. A buffer and the virtual channel in front of it have one
/// number.
#[derive(Clone, Debug)]
pub(super) struct Several {
    /// By buffer: what its first packet asks for while it waits.
    asked: Vec<Vec<Request>>,
    /// By buffer: the virtual channel at which its next packet begins to look.
    turns: Vec<u32>,
    /// By virtual channel: the internal step from which on another packet may be given it.
    open_from: Vec<u64>,
    /// By virtual channel: the internal step for which it was given last.
    given: Vec<u64>,
    /// By virtual channel: whether its release is entered in the agenda.
    expected: Bits,
    /// By buffer: whether its first packet looks again in the next cycle.
    looking: Bits,
}

impl Several {
    pub(super) fn new(buffers: usize) -> Self {
        Self {
            asked: vec![Vec::new(); buffers],
            turns: vec![0; buffers],
            open_from: vec![0; buffers],
            given: vec![0; buffers],
            expected: Bits::new(buffers),
            looking: Bits::new(buffers),
        }
    }

    /// What the first packet of a buffer waits for, if it asks for several hops.
    pub(super) fn asked(&self, buffer: u32) -> &[Request] {
        &self.asked[buffer as usize]
    }
}

/// What a packet finds that looks for a virtual channel.
enum Found {
    /// One is open: the hop, the channel, and the internal step of the head in the switch.
    Open(usize, u8, u64),
    /// In the last step of the cycle it asks for one that another packet is given.
    Lost,
    /// None is open in this cycle.
    Nothing,
}

impl PacketEngine {
    /// The first packet of a buffer takes the best of the virtual channels that are open in this cycle: the step of its
    /// tail. If none is, one of the hops for which it waits.
    pub(super) fn go_on_by_any(
        &mut self,
        from: u32,
        packet: &Packet,
        (arrived, step): (u64, u64),
    ) -> Result<u64, Request> {
        self.choose(from, packet);
        self.narrow(packet);
        let buffer = self.buffer(from, packet);
        let found = self.find(buffer, step);
        match found {
            Found::Open(hop, vc, step) => {
                let request = self.requests[hop];
                Ok(self.take_channel((buffer, from), packet, (arrived, step), request, vc))
            }
            Found::Lost | Found::Nothing => {
                self.look_later(buffer, &found);
                let first = self.requests[0];
                if let Some(several) = &mut self.several {
                    std::mem::swap(&mut several.asked[buffer as usize], &mut self.requests);
                }
                Err(first)
            }
        }
    }

    /// The first packet of a buffer lost a virtual channel in the cycle before.
    pub(super) fn look_again(&mut self, buffer: u32) {
        let Some(several) = &mut self.several else {
            return;
        };
        several.looking.clear(buffer);
        let asked = &mut several.asked[buffer as usize];
        if asked.is_empty() {
            return; // it has gone on meanwhile
        }
        std::mem::swap(asked, &mut self.requests);
        let found = self.find(buffer, self.first_step());
        if let Some(several) = &mut self.several {
            std::mem::swap(&mut several.asked[buffer as usize], &mut self.requests);
        }
        match found {
            Found::Open(hop, vc, step) => {
                let port = self
                    .several
                    .as_ref()
                    .map(|several| several.asked[buffer as usize][hop].port);
                if let (Some(port), Some(waiting)) = (port, self.queues.unblock(buffer, self.now)) {
                    self.leave_by(waiting, (port, vc), step);
                }
            }
            Found::Lost | Found::Nothing => {
                self.look_later(buffer, &found);
                self.wait_for_any(buffer);
            }
        }
    }

    /// A packet that lost a virtual channel looks for one in the next cycle.
    fn look_later(&mut self, buffer: u32, found: &Found) {
        let Some(several) = &mut self.several else {
            return;
        };
        if matches!(found, Found::Lost) && !several.looking.get(buffer) {
            several.looking.set(buffer);
            self.agenda
                .put(self.now, self.now + 1, Event::Look { buffer });
        }
    }

    /// Leave of the requests what depends on links and queues.
    fn narrow(&mut self, packet: &Packet) {
        let (now, outputs, holds, hold) = (self.now, &self.outputs, &self.holds, self.hold);
        self.routing.prefer_awake(&mut self.requests, |port| {
            let hold = holds.as_ref().map_or(hold, |holds| holds.of(port));
            now > outputs[port as usize].free.saturating_add(hold)
        });
        let at = (packet.router, packet.phase);
        let queued = Queued::new(&self.room, &self.recent, &self.parameters);
        self.routing
            .keep_one_direction(at, &mut self.requests, &queued, &mut self.rng);
    }

    /// The best virtual channel that is open in the first internal step of this cycle in which one is; the head could cross
    /// the switch at a step or later. All that look in a step see what was open before it, and one of them gets it.
    fn find(&self, buffer: u32, step: u64) -> Found {
        let Some(several) = &self.several else {
            return Found::Nothing;
        };
        let turn = several.turns[buffer as usize];
        let vcs = u32::from(self.parameters.vcs);
        let end = (self.now + 1) * u64::from(self.parameters.speedup);
        let mut lost = false;
        for step in step..=end {
            let mut best: Option<(u8, bool, u32, usize)> = None;
            for (hop, request) in self.requests.iter().enumerate() {
                for vc in request.first_vc..=request.last_vc {
                    let channel = request.port * vcs + u32::from(vc);
                    let index = channel as usize;
                    // It is given in the step before the head crosses.
                    let open = self.room[index] > 0 && several.open_from[index] < step;
                    if !open && several.given[index] != step {
                        continue;
                    }
                    let rank = (u8::MAX - request.priority, channel < turn, channel, hop);
                    if best.is_none_or(|best| rank < best) {
                        best = Some(rank);
                    }
                }
            }
            lost = best.is_some();
            if let Some((_, _, channel, hop)) = best {
                if several.given[channel as usize] != step {
                    return Found::Open(hop, (channel % vcs) as u8, step);
                }
            }
        }
        if lost { Found::Lost } else { Found::Nothing }
    }

    /// A packet is given a virtual channel. The step of its tail.
    fn take_channel(
        &mut self,
        (buffer, from): (u32, u32),
        packet: &Packet,
        times: (u64, u64),
        request: Request,
        vc: u8,
    ) -> u64 {
        let tail = self.grant(from, packet, times, request, vc);
        let channel = request.port * u32::from(self.parameters.vcs) + u32::from(vc);
        if let Some(several) = &mut self.several {
            several.given[channel as usize] = times.1;
            several.open_from[channel as usize] = tail + 1;
            several.turns[buffer as usize] = channel + 1;
        }
        tail
    }

    /// The first packet of a buffer waits for several hops: also for those whose virtual channels have room and are taken.
    pub(super) fn wait_for_any(&mut self, buffer: u32) {
        let vcs = u32::from(self.parameters.vcs);
        let (from, vc) = (buffer / vcs, (buffer % vcs) as u8);
        let Some(several) = &mut self.several else {
            return;
        };
        for request in &several.asked[buffer as usize] {
            self.queues.ask(request.port, from, vc);
            for own in request.first_vc..=request.last_vc {
                let channel = request.port * vcs + u32::from(own);
                let index = channel as usize;
                let at = several.open_from[index] / u64::from(self.parameters.speedup);
                if self.room[index] > 0 && at > self.now && !several.expected.get(channel) {
                    several.expected.set(channel);
                    self.agenda.put(self.now, at, Event::Release { channel });
                }
            }
        }
    }

    /// The tail that a virtual channel belonged to is in the switch.
    pub(super) fn release(&mut self, channel: u32) {
        if let Some(several) = &mut self.several {
            several.expected.clear(channel);
        }
        if self.room[channel as usize] > 0 {
            self.serve_any(channel);
        }
    }

    /// Whether a port leads to another router.
    pub(super) fn leads_on(&self, output: u32) -> bool {
        matches!(
            self.network.ports().get(output as usize),
            Some(Port {
                peer: Peer::Port(_),
                ..
            })
        )
    }

    /// Packets that wait for a virtual channel with room take it, one after the other as they can in this cycle.
    pub(super) fn serve_any(&mut self, channel: u32) {
        let vcs = u32::from(self.parameters.vcs);
        let (port, vc) = (channel / vcs, (channel % vcs) as u8);
        let mut step = self.first_step();
        while self.room[channel as usize] > 0 && self.queues.is_asked(port) {
            let Some(several) = &mut self.several else {
                return;
            };
            let open = several.open_from[channel as usize];
            let at = open / u64::from(self.parameters.speedup);
            if at > self.now {
                if !several.expected.get(channel) {
                    several.expected.set(channel);
                    self.agenda.put(self.now, at, Event::Release { channel });
                }
                return;
            }
            step = step.max(open + 1);
            let Some(waiting) = self
                .queues
                .take((port, vc), self.now, |buffer| several.asked(buffer))
            else {
                return;
            };
            self.leave_by(waiting, (port, vc), step);
        }
    }

    /// A packet that waited goes on over one of its hops, and asks for the others no more.
    fn leave_by(&mut self, waiting: Waiting, (port, vc): (u32, u8), step: u64) {
        let Waiting {
            packet,
            from,
            arrived,
            request,
            ..
        } = waiting;
        let buffer = self.buffer(from, &packet);
        let mut request = request;
        if let Some(several) = &mut self.several {
            let asked = &mut several.asked[buffer as usize];
            let fits = |own: &&Request| own.port == port && own.allows(vc);
            request = *asked.iter().find(fits).unwrap_or(&request);
            for other in asked.drain(..) {
                self.queues.forget(other.port, from, packet.vc());
            }
        }
        let tail = self.take_channel((buffer, from), &packet, (arrived, step), request, vc);
        self.leave(buffer, tail);
    }
}
