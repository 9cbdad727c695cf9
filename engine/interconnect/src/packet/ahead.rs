//! Large networks: what the next events need comes into the cache while others take place.
//!
//! In a large network none of it is there. Events go through three stages, a few at a time: first what they name is asked
//! for, then what that refers to, and then they take place.

use std::slice::Chunks;

use super::PacketEngine;
use super::agenda::{Bucket, Event};
use super::state::{Packet, Way};
use crate::prefetch::prefetch;
use crate::routing::Request;

/// Events that are looked at together before they take place.
const AHEAD: usize = 10;

/// A few events with their packets, and the ways of these.
struct Coming<'a> {
    words: &'a [u32],
    packets: &'a [Packet],
    ways: [Way; AHEAD],
}

impl Coming<'_> {
    const NOTHING: Self = Self {
        words: &[],
        packets: &[],
        ways: [Way::Open; AHEAD],
    };
}

impl PacketEngine {
    /// Let events take place, a few at a time, while what the next few need comes into the cache.
    pub(super) fn execute_ahead(&mut self, bucket: &Bucket) {
        let mut words = bucket.words.chunks(AHEAD);
        let mut packets = bucket.packets.as_slice();
        let mut stages = [const { Coming::NOTHING }; 3];
        let [now, next, _] = &mut stages;
        self.look_far(&mut words, &mut packets, now);
        self.look_near(now);
        self.look_far(&mut words, &mut packets, next);
        for turn in 0.. {
            self.look_far(&mut words, &mut packets, &mut stages[(turn + 2) % 3]);
            self.look_near(&stages[(turn + 1) % 3]);
            let now = &stages[turn % 3];
            if now.words.is_empty() {
                return;
            }
            self.execute(now.words, now.packets, Some(&now.ways));
        }
    }

    /// Take the next events; find the ways of their packets, as far as they do not depend on what happens before, and ask
    /// for what the events name.
    #[inline(always)]
    fn look_far<'a>(
        &self,
        chunks: &mut Chunks<'a, u32>,
        packets: &mut &'a [Packet],
        coming: &mut Coming<'a>,
    ) {
        let words = chunks.next().unwrap_or_default();
        let vcs = usize::from(self.parameters.vcs);
        let mut known = 0;
        for &word in words {
            match Event::of(word) {
                Event::Arrive { from } => {
                    let Some(packet) = packets.get(known) else {
                        continue;
                    };
                    let way = self.way(packet);
                    coming.ways[known] = way;
                    known += 1;
                    self.queues.prefetch(self.buffer(from, packet));
                    self.prefetch_way(way);
                }
                Event::Credit { buffer } => {
                    prefetch(&self.room, buffer as usize);
                    self.queues
                        .prefetch_turn(buffer / u32::from(self.parameters.vcs));
                }
                Event::Make { node } => {
                    let output = self.node_output(node) as usize;
                    prefetch(&self.outputs, output);
                    prefetch(&self.room, output * vcs);
                    self.prefetch_channel(node);
                }
                Event::Follow { buffer } | Event::Look { buffer } => self.queues.prefetch(buffer),
                Event::Release { channel } => prefetch(&self.room, channel as usize),
                Event::Forget { .. } | Event::Control { .. } => {}
            }
        }
        (coming.packets, *packets) = packets.split_at(known);
        coming.words = words;
    }

    /// Ask for the output that a packet takes, if that is known.
    #[inline(always)]
    pub(super) fn prefetch_way(&self, way: Way) {
        if let Way::Node(port) | Way::Hop(Request { port, .. }) = way {
            prefetch(&self.outputs, port as usize);
            prefetch(&self.room, port as usize * usize::from(self.parameters.vcs));
        }
    }

    /// Ask for what refers to others: by now it is in the cache.
    #[inline(always)]
    fn look_near(&self, coming: &Coming<'_>) {
        let mut packets = coming.packets.iter();
        for &word in coming.words {
            match Event::of(word) {
                Event::Arrive { from } => {
                    if let Some(packet) = packets.next() {
                        self.queues.prefetch_last(self.buffer(from, packet));
                    }
                }
                Event::Credit { buffer } if self.room[buffer as usize] == 0 => {
                    self.queues
                        .prefetch_asking(buffer / u32::from(self.parameters.vcs));
                }
                Event::Make { node } => self.prefetch_message(node),
                Event::Follow { buffer } => self.queues.prefetch_next(buffer),
                Event::Credit { .. }
                | Event::Forget { .. }
                | Event::Release { .. }
                | Event::Look { .. }
                | Event::Control { .. } => {}
            }
        }
    }
}
