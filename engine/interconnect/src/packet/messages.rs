//! Messages that nodes send: cut into packets at the sender's channel, complete when the last packet has come.
//!
//! A node sends one message after the other, in the order in which they were given, or takes turns, packet by packet,
//! between the nodes that it sends to ([`Messages::take_turns`]). In turns, messages to one node go in order, whichever
//! ranks they are of. Packets are as long as they can be, and the last one has what is left: it takes a place of a whole
//! packet in buffers, where a router that counts flits would fit more short packets.
//!
//! Nodes may acknowledge packets, as TCP does ([`Acknowledgements`]): by a packet to the sender, in front of all else that
//! they have to send. Nobody waits for one here. A real sender stops when its window is full, which messages longer than
//! the window would show on a path that sleeps.

use crate::network::NodeId;
use crate::prefetch::prefetch;
use crate::slots::Slots;

use super::streams::Streams;

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

/// How nodes acknowledge messages.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Acknowledgements {
    /// Packets of a message that one acknowledges; fewer at a message's end have none.
    pub packets: u32,
    /// Of an acknowledgement, which is one packet.
    pub flits: u16,
}

#[derive(Copy, Clone, Debug)]
struct Message {
    source: NodeId,
    dest: NodeId,
    /// [`NONE`]: an acknowledgement.
    token: u32,
    /// Whether the sender wants to hear when it has left.
    tells: bool,
    /// Flits that have not left their node.
    to_send: u64,
    /// Flits that have not arrived.
    to_come: u64,
    /// Packets that have come and are not acknowledged.
    open: u32,
    wakes: u16,
    next: u32,
}

impl Message {
    const fn new((source, dest): (NodeId, NodeId), flits: u64, token: u32, tells: bool) -> Self {
        Self {
            source,
            dest,
            token,
            tells,
            to_send: flits,
            to_come: flits,
            open: 0,
            wakes: 0,
            next: NONE,
        }
    }
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
    acknowledgements: Option<Acknowledgements>,
    /// None: nodes send one message after the other.
    streams: Option<Streams>,
}

/// What a packet is that has come.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Came {
    /// Of a message.
    Part,
    /// Of a message; the first node acknowledges it to the second.
    Acknowledged(NodeId, NodeId),
    /// An acknowledgement.
    Acknowledgement,
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
            acknowledgements: None,
            streams: None,
        }
    }

    /// From now on nodes take turns between the nodes that they send to. Nothing is under way yet.
    pub(super) fn take_turns(&mut self) {
        self.streams = Some(Streams::default());
    }

    /// From now on nodes acknowledge what comes.
    pub(super) fn acknowledge(&mut self, how: Acknowledgements) {
        self.acknowledgements = Some(how);
    }

    /// A node has another message to send. Whether its channel has to be asked for the next packet.
    pub(super) fn send(
        &mut self,
        (source, dest): (NodeId, NodeId),
        flits: u64,
        token: u32,
        tells: bool,
    ) -> bool {
        debug_assert!(token != NONE, "this token is an acknowledgement's");
        let own = self
            .pool
            .put(Message::new((source, dest), flits, token, tells));
        let waits = |streams: &mut Streams| !streams.join((source, dest), own);
        if self.streams.as_mut().is_some_and(waits) {
            return false;
        }
        self.append(source, own);
        !std::mem::replace(&mut self.channels[source as usize].busy, true)
    }

    /// A message is the last that a node's channel will turn to.
    fn append(&mut self, node: NodeId, message: u32) {
        let channel = &mut self.channels[node as usize];
        match channel.last {
            NONE => channel.first = message,
            before => self.pool[before].next = message,
        }
        channel.last = message;
    }

    /// The first node acknowledges what came from the second. Whether its channel has to be asked for the next packet.
    pub(super) fn answer(&mut self, (from, to): (NodeId, NodeId)) -> bool {
        let flits = self.acknowledgements.map_or(1, |how| how.flits);
        let channel = &mut self.channels[from as usize];
        let own = self.pool.put(Message {
            next: channel.first,
            ..Message::new((from, to), flits.into(), NONE, false)
        });
        channel.first = own;
        if channel.last == NONE {
            channel.last = own;
        }
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
        let has_left = message.to_send == 0;
        if has_left && message.tells {
            let token = message.token;
            self.signals.push(Signal::Left { token });
        }
        if has_left || self.streams.is_some() {
            channel.first = std::mem::replace(&mut message.next, NONE);
            if channel.first == NONE {
                channel.last = NONE;
            }
            let turns = message.token != NONE;
            let next = match &mut self.streams {
                Some(streams) if has_left && turns => streams.leave((source, part.dest)),
                _ => (!has_left).then_some(own),
            };
            if let Some(next) = next {
                self.append(source, next);
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

    /// A packet of a message has come, of so many flits.
    pub(super) fn came(&mut self, message: u32, flits: u16, wakes: u16) -> Came {
        let own = &mut self.pool[message];
        own.to_come -= u64::from(flits);
        own.wakes = own.wakes.max(wakes);
        own.open += 1;
        let is_enough = |how: Acknowledgements| own.open >= how.packets;
        let answered = self.acknowledgements.is_some_and(is_enough);
        if answered {
            own.open = 0;
        }
        let Message {
            source,
            dest,
            token,
            to_come,
            wakes,
            ..
        } = *own;
        if to_come == 0 {
            self.pool.free(message);
        }
        if token == NONE {
            return Came::Acknowledgement;
        }
        if to_come == 0 {
            self.signals.push(Signal::Arrived { token, wakes });
        }
        if answered {
            Came::Acknowledged(dest, source)
        } else {
            Came::Part
        }
    }

    /// Move out what happened since the last call, in order.
    pub(super) fn take_signals(&mut self, into: &mut Vec<Signal>) {
        into.append(&mut self.signals);
    }
}
