//! Packets that wait for room behind an output.

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
    /// What it asks for.
    pub(super) request: Request,
    next: u32,
}

/// Queues by output, first come, first served. An output at which nobody waits has 8 bytes.
#[derive(Clone, Debug)]
pub(super) struct Queues {
    /// First and last.
    ends: Vec<[u32; 2]>,
    pool: Slots<Waiting>,
}

impl Queues {
    /// Nobody waits.
    pub(super) fn new(outputs: usize) -> Self {
        Self {
            ends: vec![[NONE; 2]; outputs],
            pool: Slots::new(),
        }
    }

    /// A packet waits from now on, for the output that it asks for.
    pub(super) fn push(&mut self, packet: Packet, from: u32, arrived: u64, request: Request) {
        let own = self.pool.put(Waiting {
            packet,
            from,
            arrived,
            request,
            next: NONE,
        });
        let [first, last] = &mut self.ends[request.port as usize];
        match *last {
            NONE => *first = own,
            before => self.pool[before].next = own,
        }
        *last = own;
    }

    /// The first packet that waits for an output and takes this virtual channel.
    pub(super) fn take(&mut self, output: u32, vc: u8) -> Option<Waiting> {
        let [mut at, last] = self.ends[output as usize];
        let mut before = NONE;
        while at != NONE {
            let waiting = self.pool[at];
            if (waiting.request.first_vc..=waiting.request.last_vc).contains(&vc) {
                match before {
                    NONE => self.ends[output as usize][0] = waiting.next,
                    before => self.pool[before].next = waiting.next,
                }
                if at == last {
                    self.ends[output as usize][1] = before;
                }
                self.pool.free(at);
                return Some(waiting);
            }
            (before, at) = (at, waiting.next);
        }
        None
    }

    /// Number of packets that wait, counted one by one.
    pub(super) fn count(&self) -> usize {
        let of = |[first, _]: &[u32; 2]| {
            let next = |&at: &u32| Some(self.pool[at].next).filter(|&next| next != NONE);
            std::iter::successors(Some(*first).filter(|&first| first != NONE), next).count()
        };
        self.ends.iter().map(of).sum()
    }
}
