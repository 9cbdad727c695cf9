//! The packet buffer of a switch: how much is in use, who caused it, and when 802.3x flow control acts.
//!
//! A switch charges each waiting frame to its ingress port, once however many copies wait, until the last copy has
//! been sent. The share of a port is the buffer divided by the number of physical ports. When a port uses more than
//! half of its share, the switch stops the partner (XOFF, the longest PAUSE, repeated at half its time while it
//! holds). At a quarter it lets the partner continue (XON, a PAUSE of zero). What the partner has already sent, and a
//! frame that it is sending, fit into the other half, so nothing is lost as long as half a share holds two of the
//! largest frames. Frames from a port that can stop its partner may exceed the limit of an egress queue: the shared
//! buffer bounds them.
//!
//! Simplification: real switches set these thresholds dynamically and differently. Where they lie shows in how much a
//! congested host has sent before it is stopped, and not in throughput. Hosts honour PAUSE and never send it: what
//! their kernel does not take in time is lost there and not here.
//!
//! This module only decides and counts. `sending` sends the PAUSE frames.

use crate::pause::{XOFF, XON, quanta_time};
use crate::time::Ps;

/// The buffer that all ports of a switch share.
#[derive(Debug)]
pub(crate) struct SharedBuffer {
    size_byte: usize,
    used_byte: usize,
    stop_byte: usize,
    start_byte: usize,
}

impl SharedBuffer {
    /// An empty buffer shared by `ports` physical ports.
    pub(crate) const fn new(size_byte: usize, ports: usize) -> Self {
        let share = size_byte / if ports == 0 { 1 } else { ports };
        Self {
            size_byte,
            used_byte: 0,
            stop_byte: share / 2,
            start_byte: share / 4,
        }
    }

    /// Take room for a frame; false: the buffer is full.
    pub(crate) const fn reserve(&mut self, octets: u32) -> bool {
        let fits = self.used_byte + octets as usize <= self.size_byte;
        if fits {
            self.used_byte += octets as usize;
        }
        fits
    }

    /// Bytes in use.
    pub(crate) const fn used_byte(&self) -> usize {
        self.used_byte
    }
}

/// Bytes in the buffer that came in at one port, and whether its partner is stopped.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    held_byte: usize,
    stopped: bool,
    /// When the PAUSE has to be repeated.
    again_at: Ps,
}

impl Backlog {
    /// Charge a frame to this port. Returns the quanta of the PAUSE to send, if one is due; `can_stop`: this port may
    /// send PAUSE frames now.
    pub(crate) const fn charge(
        &mut self,
        octets: u32,
        buffer: &SharedBuffer,
        can_stop: bool,
    ) -> Option<u16> {
        self.held_byte += octets as usize;
        if can_stop && !self.stopped && self.held_byte > buffer.stop_byte {
            return Some(XOFF);
        }
        None
    }

    /// The last copy of a frame has been sent or discarded: free its room. Returns the quanta of the PAUSE to send, if
    /// one is due.
    pub(crate) const fn release(&mut self, octets: u32, buffer: &mut SharedBuffer) -> Option<u16> {
        buffer.used_byte -= octets as usize;
        self.held_byte -= octets as usize;
        if self.stopped && self.held_byte <= buffer.start_byte {
            return Some(XON);
        }
        None
    }

    /// A PAUSE of `quanta` is about to be sent on a link where a byte takes `byte`. Returns when to repeat it.
    pub(crate) const fn paused(&mut self, now: Ps, quanta: u16, byte: Ps) -> Option<Ps> {
        self.stopped = quanta != XON;
        if !self.stopped {
            return None;
        }
        self.again_at = now + quanta_time(XOFF, byte) / 2;
        Some(self.again_at)
    }

    /// Whether the PAUSE has to be repeated now.
    pub(crate) const fn repeats_at(&self, now: Ps) -> bool {
        self.stopped && self.again_at == now
    }

    /// The link is lost, and with it the PAUSE that held the partner.
    pub(crate) const fn link_lost(&mut self) {
        self.stopped = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_partner_is_stopped_above_half_of_a_share_and_started_at_a_quarter() {
        let mut buffer = SharedBuffer::new(8_000, 2);
        let mut backlog = Backlog::default();
        assert!(buffer.reserve(2_000) && buffer.reserve(1_000));
        assert_eq!(backlog.charge(2_000, &buffer, true), None);
        assert_eq!(backlog.charge(1_000, &buffer, true), Some(XOFF));
        let again_at = backlog.paused(5, XOFF, 8).expect("a PAUSE is repeated");
        assert!(backlog.repeats_at(again_at) && !backlog.repeats_at(again_at - 1));
        assert_eq!(backlog.release(1_000, &mut buffer), None);
        assert_eq!(backlog.release(1_000, &mut buffer), Some(XON));
        assert_eq!(backlog.paused(6, XON, 8), None);
        assert_eq!(buffer.used_byte(), 1_000);
    }

    #[test]
    fn a_full_buffer_takes_no_more() {
        let mut buffer = SharedBuffer::new(1_000, 1);
        assert!(buffer.reserve(1_000));
        assert!(!buffer.reserve(1));
        assert_eq!(buffer.used_byte(), 1_000);
    }
}
