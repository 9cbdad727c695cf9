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
pub(super) struct Coming<'a> {
    words: &'a [u32],
    packets: &'a [Packet],
    ways: [Way; AHEAD],
}

impl PacketEngine {
    /// Let events take place, a few at a time, while what the next few need comes into the cache.
    pub(super) fn execute_ahead(&mut self, bucket: &Bucket) {
        let mut words = bucket.words.chunks(AHEAD);
        let mut packets = bucket.packets.as_slice();
        let mut now = self.look_far(&mut words, &mut packets);
        self.look_near(&now);
        let mut next = self.look_far(&mut words, &mut packets);
        while !now.words.is_empty() {
            let far = self.look_far(&mut words, &mut packets);
            self.look_near(&next);
            self.execute(now.words, now.packets, Some(&now.ways));
            now = std::mem::replace(&mut next, far);
        }
    }

    /// Take the next events; find the ways of their packets, as far as they do not depend on what happens before, and ask
    /// for what the events name.
    #[inline(always)]
    fn look_far<'a>(&self, chunks: &mut Chunks<'a, u32>, packets: &mut &'a [Packet]) -> Coming<'a> {
        let words = chunks.next().unwrap_or_default();
        let vcs = usize::from(self.parameters.vcs);
        let mut ways = [Way::Open; AHEAD];
        let mut known = 0;
        for &word in words {
            match Event::of(word) {
                Event::Arrive { from } => {
                    let Some(packet) = packets.get(known) else {
                        continue;
                    };
                    let way = self.way(packet);
                    ways[known] = way;
                    known += 1;
                    self.queues.prefetch(self.buffer(from, packet));
                    if let Way::Node(port) | Way::Hop(Request { port, .. }) = way {
                        prefetch(&self.outputs, port as usize);
                        prefetch(&self.room, port as usize * vcs);
                    }
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
                Event::Follow { buffer } => self.queues.prefetch(buffer),
                Event::Forget { .. } => {}
            }
        }
        let (own, behind) = packets.split_at(known);
        *packets = behind;
        Coming {
            words,
            packets: own,
            ways,
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
                Event::Credit { .. } | Event::Forget { .. } => {}
            }
        }
    }
}
