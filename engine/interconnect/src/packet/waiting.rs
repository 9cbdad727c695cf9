//! Packets that wait in buffers: the first of a buffer for room behind its output, the others for the first's tail to be
//! in the switch.

use super::Packet;
use super::asking::Asking;
use crate::network::Network;
use crate::prefetch::prefetch;
use crate::routing::Request;
use crate::slots::Slots;

/// No packet.
const NONE: u32 = u32::MAX;

/// The first packet of a buffer waits for room: nobody knows when it leaves. No internal step is as late.
const WAITS: u64 = 1 << 63;

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

/// What waits in a buffer. All that a packet looks at stands together, for the cache.
#[derive(Copy, Clone, Debug)]
struct Buffer {
    /// The internal step from which on the next packet may cross the switch; from [`WAITS`] on the first packet waits for
    /// room, and what is above is its place in the pool. Of a buffer that is not taken it means nothing.
    ready: u64,
    /// What is behind its first packet.
    behind: Ends,
}

impl Buffer {
    /// Its first packet while it asks for a port.
    const fn blocked(self) -> Option<u32> {
        if self.ready >= WAITS {
            Some((self.ready - WAITS) as u32)
        } else {
            None
        }
    }
}

/// A bit for each buffer: they fit into a core's own cache.
#[derive(Clone, Debug)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    /// None is set.
    pub(super) fn new(length: usize) -> Self {
        Self(vec![0; length.div_ceil(64)])
    }

    pub(super) fn get(&self, index: u32) -> bool {
        self.0[index as usize / 64] >> (index % 64) & 1 != 0
    }

    pub(super) fn set(&mut self, index: u32) {
        self.0[index as usize / 64] |= 1 << (index % 64);
    }

    pub(super) fn clear(&mut self, index: u32) {
        self.0[index as usize / 64] &= !(1 << (index % 64));
    }
}

/// The queues of outputs and of buffers.
#[derive(Clone, Debug)]
pub(super) struct Queues {
    asking: Asking,
    /// By node: packets that ask for its channel.
    nodes: Vec<Ends>,
    ports: u32,
    vcs: u32,
    buffers: Vec<Buffer>,
    /// Buffers with a packet before one that comes now, perhaps: a look at `ready` says whether there is.
    taken: Bits,
    pool: Slots<Waiting>,
}

impl Queues {
    /// Nobody waits.
    pub(super) fn new(network: &Network, vcs: usize) -> Self {
        let (ports, nodes) = (network.ports().len(), network.nodes() as usize);
        let buffers = (ports + nodes) * vcs;
        Self {
            asking: Asking::new(network, vcs),
            nodes: vec![EMPTY; nodes],
            ports: ports as u32,
            vcs: vcs as u32,
            buffers: vec![
                Buffer {
                    ready: 0,
                    behind: EMPTY,
                };
                buffers
            ],
            taken: Bits::new(buffers),
            pool: Slots::new(),
        }
    }

    /// Whether a packet that could cross the switch at this internal step is the first of its buffer.
    #[inline]
    pub(super) fn is_first(&self, buffer: u32, step: u64) -> bool {
        !self.taken.get(buffer) || {
            let Buffer { ready, behind } = self.buffers[buffer as usize];
            ready <= step && behind.first == NONE
        }
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
        self.buffers[buffer as usize].ready = ready;
    }

    /// The internal step from which on the next packet of a buffer may cross the switch, if one is there and that is known.
    pub(super) fn follower(&self, buffer: u32) -> Option<u64> {
        let Buffer { ready, behind } = self.buffers[buffer as usize];
        (behind.first != NONE && ready < WAITS).then_some(ready)
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
        let vc = packet.vc();
        let own = self.put(packet, from, arrived, request);
        self.buffers[buffer as usize].ready = WAITS + u64::from(own);
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
        let own = self.put(packet, from, arrived, Request::NOTHING);
        let Buffer { ready, behind } = &mut self.buffers[buffer as usize];
        let next = behind.first == NONE;
        append(behind, &mut self.pool, own);
        (next && *ready < WAITS).then_some(*ready)
    }

    /// Bring the packet into the cache that is the next one of a buffer.
    pub(super) fn prefetch_next(&self, buffer: u32) {
        self.pool
            .prefetch(self.buffers[buffer as usize].behind.first);
    }

    /// Bring into the cache what waits in a buffer.
    pub(super) fn prefetch(&self, buffer: u32) {
        prefetch(&self.buffers, buffer as usize);
    }

    /// Bring the last packet of a buffer into the cache, if one that comes now will be behind it.
    pub(super) fn prefetch_last(&self, buffer: u32) {
        if self.taken.get(buffer) {
            self.pool
                .prefetch(self.buffers[buffer as usize].behind.last);
        }
    }

    /// Bring into the cache who asks for an output.
    pub(super) fn prefetch_turn(&self, output: u32) {
        if output < self.ports {
            self.asking.prefetch(output);
        }
    }

    /// Bring the packet into the cache that will probably take the room behind an output.
    pub(super) fn prefetch_asking(&self, output: u32) {
        if output < self.ports {
            if let Some((from, vc)) = self.asking.next(output) {
                let buffer = self.buffers[(from * self.vcs + u32::from(vc)) as usize];
                if let Some(own) = buffer.blocked() {
                    self.pool.prefetch(own);
                }
            }
        }
    }

    /// The packet that is the first of a buffer from now on.
    pub(super) fn following(&mut self, buffer: u32) -> Option<Waiting> {
        let ends = &mut self.buffers[buffer as usize].behind;
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

    /// The first packet of a buffer if it waits for a port: it does so no more.
    pub(super) fn unblock(&mut self, buffer: u32) -> Option<Waiting> {
        let own = self.buffers[buffer as usize].blocked()?;
        self.pool.free(own);
        Some(self.pool[own])
    }

    /// The first packet of a buffer, which an output sent on a virtual channel, waits for this port, too.
    pub(super) fn ask(&mut self, port: u32, from: u32, vc: u8) {
        self.asking.ask(port, from, vc);
    }

    /// It waits for this port no more.
    pub(super) fn forget(&mut self, port: u32, from: u32, vc: u8) {
        self.asking.forget(port, from, vc);
    }

    /// Whether a packet waits for a port.
    pub(super) fn is_asked(&self, port: u32) -> bool {
        self.asking.is_asked(port)
    }

    /// Whether a packet waits for a node's channel.
    pub(super) fn is_wanted(&self, node: u32) -> bool {
        self.nodes[node as usize].first != NONE
    }

    /// A packet that waits for an output and takes this virtual channel: of a port the first of the next buffer in turn, of a
    /// node the first. `asked` has what the first packet of a buffer asks for, if that is more than its request.
    #[inline]
    pub(super) fn take<'a>(
        &mut self,
        output: u32,
        vc: u8,
        asked: impl Fn(u32) -> &'a [Request],
    ) -> Option<Waiting> {
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
                let (vcs, buffers, pool) = (self.vcs, &self.buffers, &self.pool);
                let first = |from: u32, own_vc: u8| {
                    buffers[(from * vcs + u32::from(own_vc)) as usize].blocked()
                };
                let (from, own_vc) = self.asking.take(output, |from, own_vc| {
                    first(from, own_vc).is_some_and(|own| {
                        match asked(from * vcs + u32::from(own_vc)) {
                            [] => pool[own].request.allows(vc),
                            several => several
                                .iter()
                                .any(|own| own.port == output && own.allows(vc)),
                        }
                    })
                })?;
                first(from, own_vc)?
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
        let blocked = self.buffers.iter();
        let blocked = blocked.filter(|buffer| buffer.blocked().is_some()).count();
        let behind = self.buffers.iter().map(|buffer| &buffer.behind);
        let lists = self.nodes.iter().chain(behind).map(of);
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
