//! Packets that wait in buffers: the first of a buffer for room behind its output, the others for the first's tail to be
//! in the switch.

use super::Packet;
use crate::routing::Request;
use crate::slots::Slots;

/// No packet.
const NONE: u32 = u32::MAX;

/// The first packet of a buffer waits for room: nobody knows when it leaves.
const WAITS: u64 = u64::MAX;

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

    fn set(&mut self, index: u32) {
        self.0[index as usize / 64] |= 1 << (index % 64);
    }

    fn clear(&mut self, index: u32) {
        self.0[index as usize / 64] &= !(1 << (index % 64));
    }
}

/// The queues of outputs and of buffers.
#[derive(Clone, Debug)]
pub(super) struct Queues {
    /// By output: the first packets of buffers that ask for it.
    outputs: Vec<Ends>,
    vcs: u32,
    /// By output, the buffer whose packet went last.
    turns: Vec<u32>,
    /// By buffer: what is behind its first packet.
    buffers: Vec<Ends>,
    /// Buffers with a packet before one that comes now, perhaps: a look at `ready` says whether there is.
    taken: Bits,
    /// By buffer: the internal step from which on the next packet may cross the switch; [`WAITS`] while the first one waits
    /// for room. Of those that are not taken it means nothing.
    ready: Vec<u64>,
    pool: Slots<Waiting>,
}

impl Queues {
    /// Nobody waits.
    pub(super) fn new(outputs: usize, vcs: usize) -> Self {
        Self {
            outputs: vec![EMPTY; outputs],
            vcs: vcs as u32,
            turns: vec![0; outputs],
            buffers: vec![EMPTY; outputs * vcs],
            taken: Bits(vec![0; (outputs * vcs).div_ceil(64)]),
            ready: vec![0; outputs * vcs],
            pool: Slots::new(),
        }
    }

    /// Whether a packet that could cross the switch at this internal step is the first of its buffer.
    #[inline]
    pub(super) fn is_first(&self, buffer: u32, step: u64) -> bool {
        !self.taken.get(buffer)
            || self.ready[buffer as usize] <= step && self.buffers[buffer as usize].first == NONE
    }

    /// The first packet of a buffer, with none behind it, crosses the switch: the next one may from this internal step on.
    /// If that is no later than anything that comes in could, the buffer need not be remembered.
    #[inline]
    pub(super) fn leaves(&mut self, buffer: u32, ready: u64, soonest: u64) {
        if ready > soonest {
            self.leaves_late(buffer, ready);
        } else if self.taken.get(buffer) {
            self.taken.clear(buffer);
        }
    }

    /// The first packet of a buffer crosses the switch: the next one may from this internal step on.
    pub(super) fn leaves_late(&mut self, buffer: u32, ready: u64) {
        self.taken.set(buffer);
        self.ready[buffer as usize] = ready;
    }

    /// The internal step from which on the next packet of a buffer may cross the switch, if one is there and that is known.
    pub(super) fn follower(&self, buffer: u32) -> Option<u64> {
        let ready = self.ready[buffer as usize];
        (self.buffers[buffer as usize].first != NONE && ready != WAITS).then_some(ready)
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
        self.taken.set(buffer);
        self.ready[buffer as usize] = WAITS;
        self.push(packet, from, arrived, request);
    }

    /// A packet comes to a buffer that others are in. The internal step from which on it may cross the switch, if it is the
    /// next one and that is known.
    pub(super) fn follow(
        &mut self,
        buffer: u32,
        packet: Packet,
        from: u32,
        arrived: u64,
    ) -> Option<u64> {
        let next = self.buffers[buffer as usize].first == NONE;
        let own = self.put(packet, from, arrived, Request::NOTHING);
        append(&mut self.buffers[buffer as usize], &mut self.pool, own);
        self.follower(buffer).filter(|_| next)
    }

    /// The packet that is the first of a buffer from now on.
    pub(super) fn following(&mut self, buffer: u32) -> Option<Waiting> {
        let ends = &mut self.buffers[buffer as usize];
        let own = ends.first;
        if own == NONE {
            return None;
        }
        let waiting = self.pool[own];
        ends.first = waiting.next;
        if ends.first == NONE {
            ends.last = NONE;
        }
        self.pool.free(own);
        Some(waiting)
    }

    /// Whether a packet waits for an output.
    pub(super) fn is_wanted(&self, output: u32) -> bool {
        self.outputs[output as usize].first != NONE
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
                packet,
                next,
                ..
            } = self.pool[at];
            let rank = self.input(from, packet.vc()).wrapping_sub(turn);
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
        self.turns[output as usize] = self.input(waiting.from, waiting.packet.vc());
        self.pool.free(at);
        Some(waiting)
    }

    /// Number of a buffer, by which those that wait for an output take turns.
    fn input(&self, from: u32, vc: u8) -> u32 {
        from.wrapping_mul(self.vcs).wrapping_add(vc.into())
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
