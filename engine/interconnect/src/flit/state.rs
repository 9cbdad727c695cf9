//! Buffers and counters of routers.

use std::collections::VecDeque;

use super::Flit;
use crate::network::{Network, PortId};
use crate::parameters::Switching;
use crate::routing::Request;

/// No output VC, or no owner.
pub(super) const FREE: u32 = u32::MAX;

/// Input VCs of all routers, by port and VC.
#[derive(Clone, Debug)]
pub(super) struct Inputs {
    vcs: usize,
    size: usize,
    flits: Vec<Flit>,
    head: Vec<u16>,
    length: Vec<u16>,
    /// The output VC that the packet in front holds.
    pub(super) output: Vec<u32>,
    /// What the packet in front asks for.
    pub(super) requests: Vec<Vec<Request>>,
    /// Credits to return, by port.
    pub(super) credits: Vec<VecDeque<u8>>,
}

impl Inputs {
    pub(super) fn new(network: &Network, vcs: u8, buffer: u16) -> Self {
        let ports = network.ports().len();
        let channels = ports * usize::from(vcs);
        let none = Flit {
            packet: 0,
            sequence: 0,
        };
        Self {
            vcs: usize::from(vcs),
            size: usize::from(buffer),
            flits: vec![none; channels * usize::from(buffer)],
            head: vec![0; channels],
            length: vec![0; channels],
            output: vec![FREE; channels],
            requests: vec![Vec::new(); channels],
            credits: vec![VecDeque::new(); ports],
        }
    }

    pub(super) fn index(&self, port: PortId, vc: u8) -> usize {
        port as usize * self.vcs + usize::from(vc)
    }

    pub(super) fn port(&self, input: usize) -> PortId {
        (input / self.vcs) as PortId
    }

    pub(super) fn length(&self, input: usize) -> usize {
        usize::from(self.length[input])
    }

    pub(super) fn stored(&self) -> u64 {
        self.length.iter().map(|&length| u64::from(length)).sum()
    }

    /// True if the flit is the first of the buffer.
    pub(super) fn push(&mut self, input: usize, flit: Flit) -> bool {
        let length = self.length(input);
        assert!(length < self.size, "input VC {input} overflows");
        let place = (usize::from(self.head[input]) + length) % self.size;
        self.flits[input * self.size + place] = flit;
        self.length[input] += 1;
        length == 0
    }

    pub(super) fn first(&self, input: usize) -> Option<Flit> {
        let place = input * self.size + usize::from(self.head[input]);
        (self.length[input] > 0).then(|| self.flits[place])
    }

    pub(super) fn pop(&mut self, input: usize) -> Flit {
        debug_assert!(self.length[input] > 0);
        let head = usize::from(self.head[input]);
        self.head[input] = if head + 1 == self.size {
            0
        } else {
            head as u16 + 1
        };
        self.length[input] -= 1;
        self.flits[input * self.size + head]
    }

    /// The packet in front holds an output VC, and a flit of it is there.
    pub(super) fn is_switching(&self, input: usize) -> bool {
        self.output[input] != FREE && self.length[input] > 0
    }
}

/// Output VCs of all routers, by port and VC, and output queues by port.
#[derive(Clone, Debug)]
pub(super) struct Outputs {
    vcs: usize,
    /// The input VC whose packet holds it.
    pub(super) owner: Vec<u32>,
    free: Vec<u16>,
    /// The input VC whose packet holds the output (virtual cut-through).
    pub(super) held: Vec<u32>,
    /// Flits whose credits have not come back, by port.
    pub(super) used: Vec<u32>,
    /// Of those, flits sent within the history window.
    pub(super) recent: Vec<u32>,
    pub(super) queues: Vec<VecDeque<(Flit, u8)>>,
    /// Flits sent, by port.
    pub(super) sent: Vec<u64>,
}

impl Outputs {
    pub(super) fn new(network: &Network, vcs: u8, buffer: u16) -> Self {
        let ports = network.ports().len();
        let channels = ports * usize::from(vcs);
        Self {
            vcs: usize::from(vcs),
            owner: vec![FREE; channels],
            free: vec![buffer; channels],
            held: vec![FREE; ports],
            used: vec![0; ports],
            recent: vec![0; ports],
            queues: vec![VecDeque::new(); ports],
            sent: vec![0; ports],
        }
    }

    pub(super) fn credit(&mut self, port: PortId, vc: u8) {
        self.free[port as usize * self.vcs + usize::from(vc)] += 1;
        self.used[port as usize] -= 1;
    }

    pub(super) fn credits(&self, port: PortId, vc: u8) -> usize {
        self.room(port as usize * self.vcs + usize::from(vc)).into()
    }

    /// Credits of an output VC.
    pub(super) fn room(&self, output: usize) -> u16 {
        self.free[output]
    }

    /// Use a credit; the output's port and VC.
    pub(super) fn send(&mut self, output: usize) -> (PortId, u8) {
        let port = output / self.vcs;
        self.free[output] -= 1;
        self.used[port] += 1;
        (port as PortId, (output % self.vcs) as u8)
    }

    /// After a flit: the tail frees the VC; in cut-through the others keep the output.
    pub(super) fn hold(&mut self, output: usize, input: u32, tail: bool, switching: Switching) {
        if tail {
            self.owner[output] = FREE;
        }
        if switching == Switching::CutThrough {
            self.held[output / self.vcs] = if tail { FREE } else { input };
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
    /// Input VCs that ask for a virtual channel.
    pub(super) waiting: Vec<u32>,
    /// Input VCs that hold one and have a flit.
    pub(super) switching: Vec<u32>,
    crossing: VecDeque<Crossing>,
    /// Ports with flits in their output queues.
    pub(super) sending: Vec<PortId>,
    /// Ports with credits to return.
    pub(super) crediting: Vec<PortId>,
}

impl RouterState {
    pub(super) fn is_busy(&self) -> bool {
        !(self.waiting.is_empty()
            && self.switching.is_empty()
            && self.crossing.is_empty()
            && self.sending.is_empty()
            && self.crediting.is_empty())
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

    pub(super) fn return_credit(&mut self, credits: &mut [VecDeque<u8>], port: PortId, vc: u8) {
        let queue = &mut credits[port as usize];
        if queue.is_empty() {
            self.crediting.push(port);
        }
        queue.push_back(vc);
    }

    /// Flits that were granted in an earlier step move to the output queues.
    pub(super) fn traverse(&mut self, now: u64, delay: u8, outputs: &mut Outputs) {
        let due = now + u64::from(delay) - 1;
        for crossing in &mut self.crossing {
            crossing.until.get_or_insert(due);
        }
        while let Some(crossing) = self.crossing.front()
            && crossing.until <= Some(now)
        {
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
