//! Packets that wait in buffers: the first of a buffer for room behind its output, the others for the first's tail to be
//! in the switch.

use super::Packet;
use super::asking::Asking;
use crate::network::{Network, NodeId, Peer, RouterId};
use crate::prefetch::prefetch;
use crate::routing::Request;
use crate::slots::Slots;

/// No packet.
const NONE: u32 = u32::MAX;

/// The first packet of a buffer waits for room: nobody knows when it leaves. No internal step is as late.
const WAITS: u64 = 1 << 63;

/// A packet that waited.
#[derive(Copy, Clone, Debug)]
pub(super) struct Waiting {
    pub(super) packet: Packet,
    /// The output that sent it.
    pub(super) from: u32,
    /// When its head came.
    pub(super) arrived: u64,
    /// What it asked for; of the first of a buffer.
    pub(super) request: Request,
}

/// What is kept of a packet that waits: what neither its buffer nor its destination tell. Half a line of the cache.
#[derive(Copy, Clone, Debug)]
#[repr(align(32))]
struct Kept {
    dest: NodeId,
    via: RouterId,
    origin: u32,
    router: RouterId,
    /// When its head came, modulo 2^32: see [`Packet::origin`].
    arrived: u32,
    next: u32,
    flits: u16,
    hops: u16,
    wakes: u16,
    phase: u8,
    tag: u8,
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
#[repr(align(32))]
struct Buffer {
    /// The internal step from which on the next packet may cross the switch; from [`WAITS`] on the first packet waits for
    /// room, and what is above is its place in the pool. Of a buffer that is not taken it means nothing.
    ready: u64,
    /// What is behind its first packet.
    behind: Ends,
    /// What its first packet asks for while it waits for room.
    request: Request,
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
    pool: Slots<Kept>,
    /// By node: its router.
    targets: Vec<RouterId>,
    /// By output: [`Packet::back`] of what it sends.
    backs: Vec<u32>,
}

impl Queues {
    /// Nobody waits. Routers take so many cycles to use a credit.
    pub(super) fn new(network: &Network, vcs: usize, credit_delay: u32) -> Self {
        let (ports, nodes) = (network.ports().len(), network.nodes() as usize);
        let buffers = (ports + nodes) * vcs;
        let of_ports = network.ports().iter().map(|port| match port.peer {
            Peer::Port(_) => port.latency + credit_delay,
            // Nothing waits behind it.
            Peer::Node(_) => 0,
        });
        let of_nodes =
            (0..network.nodes()).map(|node| network.port(network.node_port(node)).latency);
        Self {
            asking: Asking::new(network, vcs),
            nodes: vec![EMPTY; nodes],
            ports: ports as u32,
            vcs: vcs as u32,
            buffers: vec![
                Buffer {
                    ready: 0,
                    behind: EMPTY,
                    request: Request::NOTHING,
                };
                buffers
            ],
            taken: Bits::new(buffers),
            pool: Slots::new(),
            targets: (0..network.nodes())
                .map(|node| network.router_of(node))
                .collect(),
            backs: of_ports.chain(of_nodes).collect(),
        }
    }

    /// Whether a packet that could cross the switch at this internal step is the first of its buffer.
    #[inline]
    pub(super) fn is_first(&self, buffer: u32, step: u64) -> bool {
        !self.taken.get(buffer) || {
            let Buffer { ready, behind, .. } = self.buffers[buffer as usize];
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
        let Buffer { ready, behind, .. } = self.buffers[buffer as usize];
        (behind.first != NONE && ready < WAITS).then_some(ready)
    }

    /// A packet that has not left its node waits for the node's channel from now on.
    pub(super) fn push(&mut self, node: u32, packet: &Packet, arrived: u64) {
        let own = self.put(packet, arrived);
        append(&mut self.nodes[node as usize], &mut self.pool, own);
    }

    /// The first packet of a buffer waits from now on, for the output that it asks for.
    #[inline]
    pub(super) fn block(&mut self, buffer: u32, packet: &Packet, arrived: u64, request: Request) {
        let own = self.put(packet, arrived);
        self.stays(own, buffer, request);
    }

    /// The packet in this place is the first of a buffer, and waits from now on for the output that it asks for.
    pub(super) fn stays(&mut self, own: u32, buffer: u32, request: Request) {
        self.taken.set(buffer);
        let waits = &mut self.buffers[buffer as usize];
        waits.ready = WAITS + u64::from(own);
        waits.request = request;
        let (from, vc) = (buffer / self.vcs, (buffer % self.vcs) as u8);
        self.asking.ask(request.port, from, vc);
    }

    /// The packet in this place has left.
    pub(super) fn goes(&mut self, own: u32) {
        self.pool.free(own);
    }

    /// A packet comes to a buffer that others are in. The internal step from which on it may cross the switch, if it is the
    /// next one and that is known.
    pub(super) fn follow(&mut self, buffer: u32, packet: &Packet, arrived: u64) -> Option<u64> {
        let own = self.put(packet, arrived);
        let Buffer { ready, behind, .. } = &mut self.buffers[buffer as usize];
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

    /// The packet that is the first of a buffer from now on, with its place: [`Self::goes`] or [`Self::stays`] says what
    /// becomes of it.
    #[inline(always)]
    pub(super) fn following(&mut self, buffer: u32, now: u64) -> Option<(u32, Waiting)> {
        let ends = &mut self.buffers[buffer as usize].behind;
        let own = ends.first;
        if own == NONE {
            return None;
        }
        ends.first = self.pool[own].next;
        if ends.first == NONE {
            ends.last = NONE;
        }
        let from = buffer / self.vcs;
        Some((own, self.waiting(own, from, Request::NOTHING, now)))
    }

    /// The first packet of a buffer if it waits for a port: it does so no more.
    pub(super) fn unblock(&mut self, buffer: u32, now: u64) -> Option<Waiting> {
        let waits = self.buffers[buffer as usize];
        let own = waits.blocked()?;
        self.pool.free(own);
        Some(self.waiting(own, buffer / self.vcs, waits.request, now))
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
    #[inline(always)]
    pub(super) fn take<'a>(
        &mut self,
        (output, vc): (u32, u8),
        now: u64,
        asked: impl Fn(u32) -> &'a [Request],
    ) -> Option<Waiting> {
        let (own, from, request) = match output.checked_sub(self.ports) {
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
                (own, NONE, Request::NOTHING)
            }
            None => {
                let (vcs, buffers) = (self.vcs, &self.buffers);
                let number = |from: u32, own_vc: u8| from * vcs + u32::from(own_vc);
                let (from, own_vc) = self.asking.take(output, |from, own_vc| {
                    let buffer = number(from, own_vc);
                    let waits = &buffers[buffer as usize];
                    waits.ready >= WAITS
                        && match asked(buffer) {
                            [] => waits.request.allows(vc),
                            several => several
                                .iter()
                                .any(|own| own.port == output && own.allows(vc)),
                        }
                })?;
                let waits = &buffers[number(from, own_vc) as usize];
                (waits.blocked()?, from, waits.request)
            }
        };
        self.pool.free(own);
        Some(self.waiting(own, from, request, now))
    }

    /// Inlined, so that its fields are written where they stay.
    #[inline(always)]
    fn put(&mut self, packet: &Packet, arrived: u64) -> u32 {
        self.pool.put(Kept {
            dest: packet.dest,
            via: packet.via,
            origin: packet.origin,
            router: packet.router,
            arrived: arrived as u32,
            next: NONE,
            flits: packet.flits,
            hops: packet.hops,
            wakes: packet.wakes,
            phase: packet.phase,
            tag: packet.tag,
        })
    }

    /// The packet in this place, which an output sent; [`NONE`] if it has not left its node.
    #[inline(always)]
    fn waiting(&self, own: u32, from: u32, request: Request, now: u64) -> Waiting {
        let kept = &self.pool[own];
        let packet = Packet {
            dest: kept.dest,
            target: self.targets[kept.dest as usize],
            via: kept.via,
            origin: kept.origin,
            router: kept.router,
            back: self.backs.get(from as usize).copied().unwrap_or(0),
            flits: kept.flits,
            hops: kept.hops,
            wakes: kept.wakes,
            phase: kept.phase,
            tag: kept.tag,
        };
        Waiting {
            packet,
            from,
            arrived: now - u64::from((now as u32).wrapping_sub(kept.arrived)),
            request,
        }
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

fn append(ends: &mut Ends, pool: &mut Slots<Kept>, own: u32) {
    match ends.last {
        NONE => ends.first = own,
        before => pool[before].next = own,
    }
    ends.last = own;
}
