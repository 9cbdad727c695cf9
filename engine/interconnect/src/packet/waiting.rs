//! Packets that wait in buffers: the first of a buffer for room behind its output, the others for the first's tail to be
//! in the switch.

use super::Packet;
use super::asking::Asking;
use crate::network::Network;
use crate::routing::Request;
use crate::slots::Slots;

/// No packet.
const NONE: u32 = u32::MAX;

/// The first packet of a buffer waits for room: nobody knows when it leaves.
const WAITS: u64 = u64::MAX;

/// A packet that waits. A line of the cache.
#[derive(Copy, Clone, Debug)]
#[repr(align(64))]
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
    asking: Asking,
    /// By buffer: its first packet while it asks for a port.
    blocked: Vec<u32>,
    /// By node: packets that ask for its channel.
    nodes: Vec<Ends>,
    ports: u32,
    vcs: u32,
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
    pub(super) fn new(network: &Network, vcs: usize) -> Self {
        let (ports, nodes) = (network.ports().len(), network.nodes() as usize);
        let buffers = (ports + nodes) * vcs;
        Self {
            asking: Asking::new(network, vcs),
            blocked: vec![NONE; buffers],
            nodes: vec![EMPTY; nodes],
            ports: ports as u32,
            vcs: vcs as u32,
            buffers: vec![EMPTY; buffers],
            taken: Bits(vec![0; buffers.div_ceil(64)]),
            ready: vec![0; buffers],
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

    /// A packet that has not left its node waits for the node's channel from now on.
    pub(super) fn push(&mut self, node: u32, packet: Packet, arrived: u64, request: Request) {
        let own = self.put(packet, NONE, arrived, request);
        append(&mut self.nodes[node as usize], &mut self.pool, own);
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
        let vc = packet.vc();
        self.blocked[buffer as usize] = self.put(packet, from, arrived, request);
        self.asking.ask(request.port, from, vc);
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

    /// Bring the packet into the cache that is the next one of a buffer.
    pub(super) fn prefetch_next(&self, buffer: u32) {
        self.pool.prefetch(self.buffers[buffer as usize].first);
    }

    /// Bring the packet into the cache that will probably take the room behind an output.
    pub(super) fn prefetch_asking(&self, output: u32) {
        if output < self.ports {
            if let Some((from, vc)) = self.asking.next(output) {
                let buffer = from * self.vcs + u32::from(vc);
                self.pool.prefetch(self.blocked[buffer as usize]);
            }
        }
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

    /// Whether a packet waits for a node's channel.
    pub(super) fn is_wanted(&self, node: u32) -> bool {
        self.nodes[node as usize].first != NONE
    }

    /// A packet that waits for an output and takes this virtual channel: of a port the first of the next buffer in turn, of a
    /// node the first.
    pub(super) fn take(&mut self, output: u32, vc: u8) -> Option<Waiting> {
        let own = match output.checked_sub(self.ports) {
            Some(node) => {
                let ends = &mut self.nodes[node as usize];
                let own = ends.first;
                if own == NONE {
                    return None;
                }
                ends.first = self.pool[own].next;
                if ends.first == NONE {
                    ends.last = NONE;
                }
                own
            }
            None => {
                let (vcs, blocked, pool) = (self.vcs, &mut self.blocked, &self.pool);
                let (from, own_vc) = self.asking.take(output, |from, own_vc| {
                    let request = pool[blocked[(from * vcs + u32::from(own_vc)) as usize]].request;
                    (request.first_vc..=request.last_vc).contains(&vc)
                })?;
                let buffer = from * vcs + u32::from(own_vc);
                std::mem::replace(&mut blocked[buffer as usize], NONE)
            }
        };
        self.pool.free(own);
        Some(self.pool[own])
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
        let blocked = self.blocked.iter().filter(|&&own| own != NONE).count();
        let lists = self.nodes.iter().chain(&self.buffers).map(of);
        blocked + lists.sum::<usize>()
    }
}

fn append(ends: &mut Ends, pool: &mut Slots<Waiting>, own: u32) {
    match ends.last {
        NONE => ends.first = own,
        before => pool[before].next = own,
    }
    ends.last = own;
}
