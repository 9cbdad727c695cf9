//! Buffers and counters of routers.

use std::collections::VecDeque;

use super::Flit;
use crate::network::{Network, PortId};
use crate::parameters::{RouterParameters, Switching};
use crate::routing::Request;

/// No output VC, or no owner.
pub(super) const FREE: u32 = u32::MAX;

/// One input VC, in one place for the cache.
#[derive(Copy, Clone, Debug)]
struct Input {
    head: u16,
    length: u16,
    /// The output VC that the packet in front holds.
    output: u32,
    /// The flit in front, if there is one.
    front: Flit,
    /// What the packet in front asks for: mostly one thing; the others, if there are any, are in `more`.
    ask: Request,
    has_more: bool,
}

/// Numbers of virtual channels: those of a port begin at a multiple of a power of two, so that no number is divided.
#[derive(Copy, Clone, Debug)]
pub(super) struct Numbering {
    shift: u32,
}

impl Numbering {
    pub(super) fn new(vcs: u8) -> Self {
        Self {
            shift: u32::from(vcs).next_power_of_two().trailing_zeros(),
        }
    }

    /// Numbers of a network's virtual channels are below this one.
    pub(super) fn end(self, network: &Network) -> usize {
        network.ports().len() << self.shift
    }

    pub(super) fn number(self, port: PortId, vc: u8) -> u32 {
        port << self.shift | u32::from(vc)
    }

    pub(super) fn port(self, number: u32) -> PortId {
        number >> self.shift
    }

    pub(super) fn vc(self, number: u32) -> u8 {
        (number & ((1 << self.shift) - 1)) as u8
    }

    /// Numbers of a port, of which a network may use fewer.
    pub(super) fn width(self) -> u32 {
        1 << self.shift
    }
}

/// Input VCs of all routers, by [`Numbering`].
#[derive(Clone, Debug)]
pub(super) struct Inputs {
    pub(super) numbering: Numbering,
    vcs: usize,
    size: usize,
    channels: Vec<Input>,
    /// By port and VC, without gaps.
    flits: Vec<Flit>,
    more: Vec<Vec<Request>>,
    /// From when on a port's next credit can return: one a cycle.
    next_credit: Vec<u64>,
}

impl Inputs {
    pub(super) fn new(network: &Network, vcs: u8, buffer: u16) -> Self {
        let ports = network.ports().len();
        let numbering = Numbering::new(vcs);
        let channels = numbering.end(network);
        let none = Flit {
            packet: 0,
            sequence: 0,
        };
        Self {
            numbering,
            vcs: usize::from(vcs),
            size: usize::from(buffer),
            channels: vec![
                Input {
                    head: 0,
                    length: 0,
                    output: FREE,
                    front: none,
                    ask: Request::NOTHING,
                    has_more: false,
                };
                channels
            ],
            // The flit in front has no place in the ring.
            flits: vec![none; ports * usize::from(vcs) * usize::from(buffer.saturating_sub(1))],
            more: vec![Vec::new(); channels],
            next_credit: vec![0; ports],
        }
    }

    pub(super) fn port(&self, input: usize) -> PortId {
        self.numbering.port(input as u32)
    }

    /// When a credit that is there now leaves for the other end of the port's channel.
    pub(super) fn credit_leaves(&mut self, port: PortId, now: u64) -> u64 {
        let next = &mut self.next_credit[port as usize];
        let at = now.max(*next);
        *next = at + 1;
        at
    }

    /// Where the ring of an input VC begins.
    fn ring(&self, input: usize) -> usize {
        let (port, vc) = (
            self.port(input) as usize,
            usize::from(self.numbering.vc(input as u32)),
        );
        (port * self.vcs + vc) * (self.size - 1)
    }

    /// Keep what the packet in front asks for.
    pub(super) fn ask(&mut self, input: usize, requests: &[Request]) {
        if let [first, more @ ..] = requests {
            self.channels[input].ask = *first;
            self.channels[input].has_more = !more.is_empty();
            if !more.is_empty() {
                self.more[input].clear();
                self.more[input].extend_from_slice(more);
            }
        }
    }

    /// The packet in front asks for one thing.
    pub(super) fn ask_only(&mut self, input: usize, request: Request) {
        self.channels[input].ask = request;
        self.channels[input].has_more = false;
    }

    /// What the packet in front asks for, with numbers.
    pub(super) fn requests(&self, input: usize) -> impl Iterator<Item = (u32, &Request)> {
        let Input { ask, has_more, .. } = &self.channels[input];
        let more: &[Request] = if *has_more { &self.more[input] } else { &[] };
        (0..).zip(std::iter::once(ask).chain(more))
    }

    /// One of the things that the packet in front asks for.
    pub(super) fn request(&self, input: usize, number: u32) -> Request {
        match number.checked_sub(1) {
            None => self.channels[input].ask,
            Some(more) => self.more[input][more as usize],
        }
    }

    pub(super) fn length(&self, input: usize) -> usize {
        usize::from(self.channels[input].length)
    }

    pub(super) fn stored(&self) -> u64 {
        self.channels
            .iter()
            .map(|channel| u64::from(channel.length))
            .sum()
    }

    /// The output VC that the packet in front holds, or [`FREE`].
    pub(super) fn output(&self, input: usize) -> u32 {
        self.channels[input].output
    }

    pub(super) fn set_output(&mut self, input: usize, output: u32) {
        self.channels[input].output = output;
    }

    /// True if the flit is the first of the buffer.
    pub(super) fn push(&mut self, input: usize, flit: Flit) -> bool {
        let channel = &mut self.channels[input];
        let length = usize::from(channel.length);
        assert!(length < self.size, "input VC {input} overflows");
        channel.length += 1;
        if length == 0 {
            channel.front = flit;
            return true;
        }
        let mut place = usize::from(channel.head) + length - 1;
        if place >= self.size - 1 {
            place -= self.size - 1;
        }
        let ring = self.ring(input);
        self.flits[ring + place] = flit;
        false
    }

    pub(super) fn first(&self, input: usize) -> Option<Flit> {
        let channel = &self.channels[input];
        (channel.length > 0).then_some(channel.front)
    }

    pub(super) fn pop(&mut self, input: usize) -> Flit {
        let Input { length, front, .. } = self.channels[input];
        debug_assert!(length > 0);
        self.channels[input].length = length - 1;
        if length > 1 {
            let ring = self.ring(input);
            let channel = &mut self.channels[input];
            channel.front = self.flits[ring + usize::from(channel.head)];
            channel.head += 1;
            if usize::from(channel.head) == self.size - 1 {
                channel.head = 0;
            }
        }
        front
    }

    /// The packet in front holds an output VC, and a flit of it is there.
    pub(super) fn is_switching(&self, input: usize) -> bool {
        let channel = &self.channels[input];
        channel.output != FREE && channel.length > 0
    }
}

/// Output VCs of all routers, by [`Numbering`], and output queues by port.
#[derive(Clone, Debug)]
pub(super) struct Outputs {
    numbering: Numbering,
    /// The input VC whose packet holds it.
    pub(super) owner: Vec<u32>,
    free: Vec<u16>,
    /// The input VC whose packet holds the output, where packets are kept together.
    pub(super) held: Vec<u32>,
    /// Flits whose credits have not come back, by port.
    pub(super) used: Vec<u32>,
    /// Of those, flits sent within the history window.
    pub(super) recent: Vec<u32>,
    pub(super) queues: Vec<VecDeque<(Flit, u8)>>,
    /// From when on the next flit can leave through a link without a policy: one a cycle.
    next_flit: Vec<u64>,
    /// Flits sent, by port.
    pub(super) sent: Vec<u64>,
}

impl Outputs {
    pub(super) fn new(network: &Network, vcs: u8, buffer: u16) -> Self {
        let ports = network.ports().len();
        let numbering = Numbering::new(vcs);
        let channels = numbering.end(network);
        Self {
            numbering,
            owner: vec![FREE; channels],
            free: vec![buffer; channels],
            held: vec![FREE; ports],
            used: vec![0; ports],
            recent: vec![0; ports],
            queues: vec![VecDeque::new(); ports],
            next_flit: vec![0; ports],
            sent: vec![0; ports],
        }
    }

    pub(super) fn credit(&mut self, output: u32) {
        self.free[output as usize] += 1;
        self.used[self.numbering.port(output) as usize] -= 1;
    }

    pub(super) fn credits(&self, port: PortId, vc: u8) -> usize {
        self.room(self.numbering.number(port, vc) as usize).into()
    }

    /// When a flit leaves that comes to the queue of a link without a policy at `at`.
    pub(super) fn flit_leaves(&mut self, port: PortId, at: u64) -> u64 {
        let next = &mut self.next_flit[port as usize];
        let at = at.max(*next);
        *next = at + 1;
        at
    }

    /// From when on nothing leaves any more, of what is known to leave.
    pub(super) fn idle_from(&self, port: PortId) -> u64 {
        self.next_flit[port as usize]
    }

    /// Credits of an output VC.
    pub(super) fn room(&self, output: usize) -> u16 {
        self.free[output]
    }

    /// Whether a flit could go into one of the virtual channels.
    pub(super) fn has_room(&self, port: PortId, first_vc: u8, last_vc: u8) -> bool {
        (first_vc..=last_vc).any(|vc| self.credits(port, vc) > 0)
    }

    /// No packet holds the port, and all credits are back.
    pub(super) fn is_unused(&self, port: PortId) -> bool {
        let first = self.numbering.number(port, 0) as usize;
        self.used[port as usize] == 0
            && self.owner[first..first + self.numbering.width() as usize]
                .iter()
                .all(|&owner| owner == FREE)
    }

    /// Use a credit; the output's port and VC.
    pub(super) fn send(&mut self, output: usize) -> (PortId, u8) {
        let port = self.numbering.port(output as u32);
        self.free[output] -= 1;
        self.used[port as usize] += 1;
        (port, self.numbering.vc(output as u32))
    }

    /// After a flit: the tail frees the VC; where packets are kept together the others keep the output.
    pub(super) fn hold(&mut self, output: usize, input: u32, tail: bool, switching: Switching) {
        if tail {
            self.owner[output] = FREE;
        }
        if switching.keeps_together() {
            let port = self.numbering.port(output as u32);
            self.held[port as usize] = if tail { FREE } else { input };
        }
    }
}

/// A flit in the switch.
#[derive(Copy, Clone, Debug)]
struct Crossing {
    flit: Flit,
    port: PortId,
    vc: u8,
    /// When it leaves; `None` until the step after its grant.
    until: Option<u64>,
}

/// What is to do in a router.
#[derive(Clone, Debug, Default)]
pub(super) struct RouterState {
    pub(super) active: bool,
    /// Input VCs whose packet is being routed, and when that is known; `None` until the step after it came.
    routing: VecDeque<(u32, Option<u64>)>,
    /// Input VCs that ask for a virtual channel.
    pub(super) waiting: Vec<u32>,
    /// Input VCs that hold one and have a flit.
    pub(super) switching: Vec<u32>,
    crossing: VecDeque<Crossing>,
    /// Ports with flits in their output queues.
    pub(super) sending: Vec<PortId>,
}

impl RouterState {
    pub(super) fn is_busy(&self) -> bool {
        !(self.routing.is_empty()
            && self.waiting.is_empty()
            && self.switching.is_empty()
            && self.crossing.is_empty()
            && self.sending.is_empty())
    }

    /// A packet has come to the front, and has to be routed.
    pub(super) fn route(&mut self, input: u32) {
        self.routing.push_back((input, None));
    }

    /// A step begins: packets that came before it are routed within `delay` cycles, this one included; unless `pipelined`,
    /// once all that are being routed are done.
    pub(super) fn begin_routing(&mut self, now: u64, delay: u8, pipelined: bool) {
        if !pipelined
            && self
                .routing
                .front()
                .is_some_and(|(_, until)| until.is_some())
        {
            return;
        }
        let due = now + u64::from(delay) - 1;
        for (_, until) in &mut self.routing {
            until.get_or_insert(due);
        }
    }

    /// An input VC whose packet has been routed by now.
    pub(super) fn routed(&mut self, now: u64) -> Option<u32> {
        let &(input, until) = self.routing.front()?;
        if until.is_none_or(|until| until > now) {
            return None;
        }
        self.routing.pop_front();
        Some(input)
    }

    pub(super) fn crossing(&self) -> usize {
        self.crossing.len()
    }

    pub(super) fn crossing_to(&self, port: PortId, vc: u8) -> usize {
        self.crossing
            .iter()
            .filter(|crossing| (crossing.port, crossing.vc) == (port, vc))
            .count()
    }

    pub(super) fn cross(&mut self, flit: Flit, port: PortId, vc: u8) {
        self.crossing.push_back(Crossing {
            flit,
            port,
            vc,
            until: None,
        });
    }

    /// Flits that were granted in an earlier step move to the output queues within `traversal_delay` cycles, this one
    /// included; unless stages are pipelined, once all that are in the switch have left it.
    pub(super) fn traverse(
        &mut self,
        now: u64,
        parameters: &RouterParameters,
        outputs: &mut Outputs,
    ) {
        let taken = self.crossing.front().is_some_and(|one| one.until.is_some());
        if parameters.pipelined || !taken {
            let due = now + u64::from(parameters.traversal_delay) - 1;
            for crossing in &mut self.crossing {
                crossing.until.get_or_insert(due);
            }
        }
        let crossed = |crossing: &&Crossing| crossing.until.is_some_and(|until| until <= now);
        while let Some(crossing) = self.crossing.front().filter(crossed) {
            let queue = &mut outputs.queues[crossing.port as usize];
            if queue.is_empty() {
                self.sending.push(crossing.port);
            }
            queue.push_back((crossing.flit, crossing.vc));
            self.crossing.pop_front();
        }
    }

    /// Drop input VCs that have nothing more to switch.
    pub(super) fn settle(&mut self, is_switching: impl Fn(u32) -> bool) {
        self.switching.retain(|&input| is_switching(input));
    }
}
