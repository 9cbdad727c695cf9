//! Which buffers ask for an output, as a bit each: they take turns, and finding the next one looks at a few words.

use crate::network::{Network, Peer, RouterId};
use crate::prefetch::prefetch;

/// The buffers of each router by number, and for each output those that ask for it.
#[derive(Clone, Debug)]
pub(super) struct Asking {
    /// Virtual channels, rounded up to a power of two: bits of a feeder.
    stride: u32,
    /// Words of bits of an output.
    words: usize,
    /// By output: the bit that comes first in its next turn, and then the bits.
    bits: Vec<u64>,
    /// By output: its number among the outputs that send to the same router.
    number: Vec<u32>,
    /// By router: the outputs that send to it, in order; `first_feeder` says where those of a router begin.
    feeders: Vec<u32>,
    first_feeder: Vec<u32>,
    /// By port: its router.
    routers: Vec<RouterId>,
}

impl Asking {
    /// Nobody asks for anything.
    pub(super) fn new(network: &Network, vcs: usize) -> Self {
        let ports = network.ports();
        let to = ports.iter().map(|port| match port.peer {
            Peer::Port(peer) => Some(network.port(peer).router),
            Peer::Node(_) => None,
        });
        let from_nodes = (0..network.nodes()).map(|node| Some(network.router_of(node)));
        let to: Vec<Option<RouterId>> = to.chain(from_nodes).collect();
        let routers = network.routers() as usize;
        let mut feeders = vec![Vec::new(); routers];
        let mut number = vec![0; to.len()];
        for (output, router) in (0_u32..).zip(&to) {
            if let Some(router) = router {
                let list: &mut Vec<u32> = &mut feeders[*router as usize];
                number[output as usize] = list.len() as u32;
                list.push(output);
            }
        }
        let mut first_feeder = Vec::with_capacity(routers);
        let mut begun = 0;
        for list in &feeders {
            first_feeder.push(begun);
            begun += list.len() as u32;
        }
        let stride = vcs.next_power_of_two() as u32;
        let most = feeders.iter().map(Vec::len).max().unwrap_or(0);
        let words = (most * stride as usize).div_ceil(64).max(1);
        Self {
            stride,
            words,
            bits: vec![0; (words + 1) * ports.len()],
            number,
            feeders: feeders.concat(),
            first_feeder,
            routers: ports.iter().map(|port| port.router).collect(),
        }
    }

    /// The packet of a buffer, which an output sent on a virtual channel, asks for a port.
    #[inline]
    pub(super) fn ask(&mut self, port: u32, from: u32, vc: u8) {
        let bit = self.number[from as usize] * self.stride + u32::from(vc);
        let first = self.first(port);
        self.bits[first + bit as usize / 64] |= 1 << (bit % 64);
    }

    /// It asks for it no more.
    pub(super) fn forget(&mut self, port: u32, from: u32, vc: u8) {
        let bit = self.number[from as usize] * self.stride + u32::from(vc);
        let first = self.first(port);
        self.bits[first + bit as usize / 64] &= !(1 << (bit % 64));
    }

    /// Whether a buffer asks for a port.
    pub(super) fn is_asked(&self, port: u32) -> bool {
        let first = self.first(port);
        self.bits[first..first + self.words]
            .iter()
            .any(|&bits| bits != 0)
    }

    /// Where the bits of an output begin; its turn is in front of them.
    #[inline]
    fn first(&self, port: u32) -> usize {
        port as usize * (self.words + 1) + 1
    }

    /// Bring into the cache what belongs to an output.
    #[inline]
    pub(super) fn prefetch(&self, port: u32) {
        prefetch(&self.bits, self.first(port) - 1);
    }

    /// The next buffer in turn that asks for a port, whatever it asks for; perhaps none though one asks.
    #[inline]
    pub(super) fn next(&self, port: u32) -> Option<(u32, u8)> {
        let first = self.first(port);
        let turn = self.bits[first - 1];
        let at = turn as usize / 64;
        let bits = self.bits[first + at] & u64::MAX << (turn % 64);
        (bits != 0).then(|| self.buffer(port, at as u32 * 64 + bits.trailing_zeros()))
    }

    /// The output and the virtual channel of a bit.
    #[inline]
    fn buffer(&self, port: u32, bit: u32) -> (u32, u8) {
        let feeder = self.first_feeder[self.routers[port as usize] as usize];
        let from = self.feeders[(feeder + bit / self.stride) as usize];
        (from, (bit % self.stride) as u8)
    }

    /// The next buffer in turn that asks for a port and for which `takes` holds: which output sends to it, and on which
    /// virtual channel. It asks no more.
    #[inline]
    pub(super) fn take(
        &mut self,
        port: u32,
        mut takes: impl FnMut(u32, u8) -> bool,
    ) -> Option<(u32, u8)> {
        let first = self.first(port);
        let turn = self.bits[first - 1];
        let (word, low) = (turn as usize / 64, turn % 64);
        // From the turn on, then all words from the next one on, and at last what is before the turn.
        for step in 0..=self.words {
            let at = (word + step) % self.words;
            let mut bits = self.bits[first + at];
            if step == 0 {
                bits &= u64::MAX << low;
            } else if step == self.words {
                bits &= !(u64::MAX << low);
            }
            while bits != 0 {
                let bit = at as u32 * 64 + bits.trailing_zeros();
                let (from, vc) = self.buffer(port, bit);
                if takes(from, vc) {
                    self.bits[first + at] &= !(1 << (bit % 64));
                    let next = bit + 1;
                    let wraps = next as usize == self.words * 64;
                    self.bits[first - 1] = if wraps { 0 } else { next.into() };
                    return Some((from, vc));
                }
                bits &= bits - 1;
            }
        }
        None
    }
}
