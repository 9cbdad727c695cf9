//! Packets that wait in buffers: the first of a buffer for room behind its output, the others for the first.

use super::Packet;
use crate::routing::Request;
use crate::slots::Slots;

/// No packet.
const NONE: u32 = u32::MAX;

/// A packet that waits.
#[derive(Copy, Clone, Debug)]
pub(super) struct Waiting {
    pub(super) packet: Packet,
    /// The output that sent it.
    pub(super) from: u32,
    /// When its head came.
    pub(super) arrived: u64,
    /// What it asks for; of the first of a buffer.
    pub(super) request: Request,
    next: u32,
}

/// The first and the last of a list; of an empty one both are [`NONE`].
#[derive(Copy, Clone, Debug)]
struct Ends {
    first: u32,
    last: u32,
}

const EMPTY: Ends = Ends {
    first: NONE,
    last: NONE,
};

/// A bit for each buffer: they fit into a core's own cache.
#[derive(Clone, Debug)]
struct Bits(Vec<u64>);

impl Bits {
    fn get(&self, index: u32) -> bool {
        self.0[index as usize / 64] >> (index % 64) & 1 != 0
    }

    fn flip(&mut self, index: u32) {
        self.0[index as usize / 64] ^= 1 << (index % 64);
    }
}

/// The queues of outputs and of buffers.
#[derive(Clone, Debug)]
pub(super) struct Queues {
    /// By output: the first packets of buffers that ask for it.
    outputs: Vec<Ends>,
    /// By output, whose packet went last.
    turns: Vec<u32>,
    /// By buffer: what is behind its first packet.
    buffers: Vec<Ends>,
    /// Buffers whose first packet waits.
    blocked: Bits,
    pool: Slots<Waiting>,
}

impl Queues {
    /// Nobody waits.
    pub(super) fn new(outputs: usize, vcs: usize) -> Self {
        Self {
            outputs: vec![EMPTY; outputs],
            turns: vec![0; outputs],
            buffers: vec![EMPTY; outputs * vcs],
            blocked: Bits(vec![0; (outputs * vcs).div_ceil(64)]),
            pool: Slots::new(),
        }
    }

    /// Whether a packet waits in a buffer, so that others are behind it.
    #[inline]
    pub(super) fn is_blocked(&self, buffer: u32) -> bool {
        self.blocked.get(buffer)
    }

    /// A packet that is in no buffer waits from now on, for the output that it asks for.
    pub(super) fn push(&mut self, packet: Packet, from: u32, arrived: u64, request: Request) {
        let own = self.put(packet, from, arrived, request);
        append(
            &mut self.outputs[request.port as usize],
            &mut self.pool,
            own,
        );
    }

    /// The first packet of a buffer waits from now on, for the output that it asks for.
    pub(super) fn block(
        &mut self,
        buffer: u32,
        packet: Packet,
        from: u32,
        arrived: u64,
        request: Request,
    ) {
        if !self.blocked.get(buffer) {
            self.blocked.flip(buffer);
        }
        self.push(packet, from, arrived, request);
    }

    /// A packet comes to a buffer whose first packet waits.
    pub(super) fn follow(&mut self, buffer: u32, packet: Packet, from: u32, arrived: u64) {
        let own = self.put(packet, from, arrived, Request::NOTHING);
        append(&mut self.buffers[buffer as usize], &mut self.pool, own);
    }

    /// The packet that is first in a buffer now, as the one before it has gone; without one the buffer is not blocked.
    pub(super) fn following(&mut self, buffer: u32) -> Option<Waiting> {
        let ends = &mut self.buffers[buffer as usize];
        if ends.first == NONE {
            self.blocked.flip(buffer);
            return None;
        }
        let own = ends.first;
        let waiting = self.pool[own];
        ends.first = waiting.next;
        if ends.first == NONE {
            ends.last = NONE;
        }
        self.pool.free(own);
        Some(waiting)
    }

    /// A packet that waits for an output and takes this virtual channel: the first of the next input in turn.
    pub(super) fn take(&mut self, output: u32, vc: u8) -> Option<Waiting> {
        let Ends { first, last } = self.outputs[output as usize];
        let turn = self.turns[output as usize].wrapping_add(1);
        let (mut at, mut before) = (first, NONE);
        let mut best: Option<(u32, u32, u32)> = None;
        while at != NONE {
            let Waiting {
                request,
                from,
                next,
                ..
            } = self.pool[at];
            let rank = from.wrapping_sub(turn);
            if (request.first_vc..=request.last_vc).contains(&vc)
                && best.is_none_or(|(least, ..)| rank < least)
            {
                best = Some((rank, at, before));
            }
            (before, at) = (at, next);
        }
        let (_, at, before) = best?;
        let waiting = self.pool[at];
        match before {
            NONE => self.outputs[output as usize].first = waiting.next,
            before => self.pool[before].next = waiting.next,
        }
        if at == last {
            self.outputs[output as usize].last = before;
        }
        self.turns[output as usize] = waiting.from;
        self.pool.free(at);
        Some(waiting)
    }

    fn put(&mut self, packet: Packet, from: u32, arrived: u64, request: Request) -> u32 {
        self.pool.put(Waiting {
            packet,
            from,
            arrived,
            request,
            next: NONE,
        })
    }

    /// Number of packets that wait, counted one by one.
    pub(super) fn count(&self) -> usize {
        let of = |ends: &Ends| {
            let next = |&at: &u32| Some(self.pool[at].next).filter(|&next| next != NONE);
            std::iter::successors(Some(ends.first).filter(|&first| first != NONE), next).count()
        };
        self.outputs.iter().chain(&self.buffers).map(of).sum()
    }
}

fn append(ends: &mut Ends, pool: &mut Slots<Waiting>, own: u32) {
    match ends.last {
        NONE => ends.first = own,
        before => pool[before].next = own,
    }
    ends.last = own;
}
