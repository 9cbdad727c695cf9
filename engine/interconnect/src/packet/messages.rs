//! Messages that nodes send: cut into packets at the sender's channel, complete when the last packet has come.
//!
//! A node sends one message after the other, in the order in which they were given; real adapters may take turns between
//! messages to several destinations, which only the order in which these complete could show. Packets are as long as
//! they can be, and the last one has what is left: it takes a place of a whole packet in buffers, where a router that counts
//! flits would fit more short packets.

use crate::network::NodeId;
use crate::prefetch::prefetch;
use crate::slots::Slots;

const NONE: u32 = u32::MAX;

/// What happened to a message; `token` is what the sender gave it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The node's channel has taken its last packet.
    Left {
        /// Which.
        token: u32,
    },
    /// Its last packet has arrived.
    Arrived {
        /// Which.
        token: u32,
        /// The most wakes of links that a packet of it waited for.
        wakes: u16,
    },
}

impl Signal {
    /// Of which message.
    #[must_use]
    pub const fn token(self) -> u32 {
        match self {
            Self::Left { token } | Self::Arrived { token, .. } => token,
        }
    }
}

#[derive(Copy, Clone, Debug)]
struct Message {
    dest: NodeId,
    token: u32,
    /// Whether the sender wants to hear when it has left.
    tells: bool,
    /// Flits that have not left their node.
    to_send: u64,
    /// Flits that have not arrived.
    to_come: u64,
    wakes: u16,
    next: u32,
}

#[derive(Copy, Clone, Debug)]
struct Channel {
    first: u32,
    last: u32,
    /// A packet of it waits for room, or it will ask for the next one.
    busy: bool,
}

/// All messages under way.
#[derive(Clone, Debug)]
pub(super) struct Messages {
    pool: Slots<Message>,
    channels: Vec<Channel>,
    signals: Vec<Signal>,
}

/// A packet of a message.
#[derive(Copy, Clone, Debug)]
pub(super) struct Part {
    pub(super) dest: NodeId,
    pub(super) message: u32,
    pub(super) flits: u16,
}

impl Messages {
    pub(super) fn new(nodes: u32) -> Self {
        let idle = Channel {
            first: NONE,
            last: NONE,
            busy: false,
        };
        Self {
            pool: Slots::new(),
            channels: vec![idle; nodes as usize],
            signals: Vec::new(),
        }
    }

    /// A node has another message to send. Whether its channel has to be asked for the next packet.
    pub(super) fn send(
        &mut self,
        (source, dest): (NodeId, NodeId),
        flits: u64,
        token: u32,
        tells: bool,
    ) -> bool {
        let own = self.pool.put(Message {
            dest,
            token,
            tells,
            to_send: flits,
            to_come: flits,
            wakes: 0,
            next: NONE,
        });
        let channel = &mut self.channels[source as usize];
        match channel.last {
            NONE => channel.first = own,
            before => self.pool[before].next = own,
        }
        channel.last = own;
        !std::mem::replace(&mut channel.busy, true)
    }

    /// The next packet of a node, of so many flits at most; none if it has nothing to send.
    pub(super) fn next(&mut self, source: NodeId, most: u32) -> Option<Part> {
        let channel = &mut self.channels[source as usize];
        let own = channel.first;
        if own == NONE {
            channel.busy = false;
            return None;
        }
        let message = &mut self.pool[own];
        let flits = message.to_send.min(most.into()) as u16;
        message.to_send -= u64::from(flits);
        let part = Part {
            dest: message.dest,
            message: own,
            flits,
        };
        if message.to_send == 0 {
            if message.tells {
                let token = message.token;
                self.signals.push(Signal::Left { token });
            }
            channel.first = message.next;
            if channel.first == NONE {
                channel.last = NONE;
            }
        }
        Some(part)
    }

    /// Bring a message into the cache.
    #[inline]
    pub(super) fn prefetch(&self, message: u32) {
        self.pool.prefetch(message);
    }

    /// Bring into the cache what a node has to send, as a list.
    #[inline]
    pub(super) fn prefetch_channel(&self, node: NodeId) {
        prefetch(&self.channels, node as usize);
    }

    /// Bring into the cache the message whose packet a node sends next.
    #[inline]
    pub(super) fn prefetch_next(&self, node: NodeId) {
        self.pool.prefetch(self.channels[node as usize].first);
    }

    /// So many flits of a message have come.
    pub(super) fn came(&mut self, message: u32, flits: u16, wakes: u16) {
        let own = &mut self.pool[message];
        own.to_come -= u64::from(flits);
        own.wakes = own.wakes.max(wakes);
        if own.to_come == 0 {
            let Message { token, wakes, .. } = *own;
            self.signals.push(Signal::Arrived { token, wakes });
            self.pool.free(message);
        }
    }

    /// Move out what happened since the last call, in order.
    pub(super) fn take_signals(&mut self, into: &mut Vec<Signal>) {
        into.append(&mut self.signals);
    }
}
