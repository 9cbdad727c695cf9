//! 802.3x PAUSE frames and their quanta (802.3 clause 31 and annex 31B).

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
