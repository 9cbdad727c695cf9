//! 802.3x PAUSE (802.3 clause 31 and annex 31B): the frame, its quanta, and when a switch stops its partner.
//!
//! A switch charges each waiting frame to the port that it came in at, once however many copies wait, until
//! the last copy has been sent. Each port's share of the shared buffer is the buffer divided by the physical
//! ports. When half of the share is used the partner is stopped (XOFF, the longest PAUSE, repeated at half
//! its time while it holds), and started again (XON, a PAUSE of zero) at a quarter. What the partner has
//! already sent, and a frame that it is sending, fit into the other half, so nothing is lost as long as half
//! a share holds two of the largest frames; and frames that came in at a port that can stop its partner are
//! admitted to egress queues beyond their limit, since the shared buffer bounds them.
//!
//! Simplification: switches set these thresholds dynamically and differently. Where they lie shows in how
//! much a congested host has sent before it is stopped, and not in throughput. Hosts honour PAUSE and never
//! send it: what their kernel does not take in time is lost there and not here.

use bytes::Bytes;

use crate::frame::{Frame, Mac};
use crate::time::Ps;

/// EtherType of MAC control frames.
pub(crate) const MAC_CONTROL: u16 = 0x8808;
/// The longest PAUSE.
pub(crate) const XOFF: u16 = u16::MAX;
/// The end of a PAUSE.
pub(crate) const XON: u16 = 0;
/// A PAUSE frame with FCS.
pub(crate) const PAUSE_OCTETS: u32 = 64;

const DESTINATION: Mac = [0x01, 0x80, 0xc2, 0x00, 0x00, 0x01];
const OPCODE_PAUSE: [u8; 2] = [0, 1];
/// A quantum is 512 bits.
const QUANTUM_BYTE: Ps = 64;

/// How long `quanta` last where a byte takes `byte`.
pub(crate) const fn quanta_time(quanta: u16, byte: Ps) -> Ps {
    quanta as Ps * QUANTUM_BYTE * byte
}

/// When a switch stops and starts the partner of one port, in bytes held for that port.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Thresholds {
    pub(crate) stop_byte: usize,
    pub(crate) start_byte: usize,
}

impl Thresholds {
    pub(crate) const fn share(buffer_byte: usize, ports: usize) -> Self {
        let share = buffer_byte / if ports == 0 { 1 } else { ports };
        Self {
            stop_byte: share / 2,
            start_byte: share / 4,
        }
    }
}

/// A PAUSE frame from `source`.
pub(crate) fn pause_frame(source: Mac, quanta: u16) -> Frame {
    let mut bytes = [0; 60];
    bytes[..6].copy_from_slice(&DESTINATION);
    bytes[6..12].copy_from_slice(&source);
    bytes[12..14].copy_from_slice(&MAC_CONTROL.to_be_bytes());
    bytes[14..16].copy_from_slice(&OPCODE_PAUSE);
    bytes[16..18].copy_from_slice(&quanta.to_be_bytes());
    Frame {
        bytes: Bytes::copy_from_slice(&bytes),
        ..Frame::default()
    }
}

/// The quanta of a PAUSE frame; `None` of any other frame.
pub(crate) fn read_pause(frame: &Frame) -> Option<u16> {
    let right = frame.ethertype() == MAC_CONTROL && frame.bytes.get(14..16)? == OPCODE_PAUSE;
    let quanta = frame.bytes.get(16..18)?;
    right.then(|| u16::from_be_bytes([quanta[0], quanta[1]]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{PS_PER_NS, byte_ps};

    #[test]
    fn a_pause_frame_reads_back() {
        let frame = pause_frame([2, 0, 0, 0, 0, 1], 0x1234);
        assert_eq!(read_pause(&frame), Some(0x1234));
        assert_eq!(frame.octets(), u64::from(PAUSE_OCTETS));
    }

    #[test]
    fn a_quantum_is_512_bit_times() {
        assert_eq!(quanta_time(1, byte_ps(1_000)), 512 * PS_PER_NS);
    }
}
