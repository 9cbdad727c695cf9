//! The pcap file format with nanoseconds (draft-ietf-opsawg-pcap), Ethernet link type.

use fabric::time::{PS_PER_NS, PS_PER_S};
use fabric::{Frame, Ps};

use crate::wire::checksum;

const MAGIC_NANOSECOND: u32 = 0xa1b2_3c4d;
const SNAP_BYTE: u32 = 65_535;
const LINKTYPE_ETHERNET: u32 = 1;

/// The file header, in the byte order of the machine, as the format allows.
#[must_use]
pub fn file_header() -> Vec<u8> {
    let mut bytes = Vec::with_capacity(24);
    bytes.extend(MAGIC_NANOSECOND.to_ne_bytes());
    bytes.extend(2_u16.to_ne_bytes());
    bytes.extend(4_u16.to_ne_bytes());
    bytes.extend([0; 8]);
    bytes.extend(SNAP_BYTE.to_ne_bytes());
    bytes.extend(LINKTYPE_ETHERNET.to_ne_bytes());
    bytes
}

/// One packet: its record header and the frame as on the wire without FCS. `epoch_ps` is the UTC time of engine
/// time 0, in picoseconds since 1970.
#[must_use]
pub fn record(epoch_ps: u128, at: Ps, frame: &Frame) -> Vec<u8> {
    let wire = checksum::wire_bytes(frame);
    let utc_ps = epoch_ps + u128::from(at);
    let second = (utc_ps / u128::from(PS_PER_S)) as u32;
    let nanosecond = (utc_ps % u128::from(PS_PER_S) / u128::from(PS_PER_NS)) as u32;
    let length = wire.len() as u32;
    let mut bytes = Vec::with_capacity(16 + wire.len());
    for field in [second, nanosecond, length, length] {
        bytes.extend(field.to_ne_bytes());
    }
    bytes.extend(wire);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use fabric::Tag;

    #[test]
    fn a_record_carries_time_length_and_the_frame_with_its_tag() {
        let frame = Frame {
            bytes: Bytes::from(vec![9; 100]),
            tag: Some(Tag::new(11)),
            csum: None,
        };
        let bytes = record(
            1_700_000_000 * u128::from(PS_PER_S),
            2 * PS_PER_S + 5_678,
            &frame,
        );
        let field =
            |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        assert_eq!((field(0), field(4)), (1_700_000_002, 5));
        assert_eq!((field(8), field(12)), (104, 104));
        assert_eq!(bytes[16 + 12..16 + 16], [0x81, 0x00, 0x00, 11]);
        assert_eq!(bytes.len(), 16 + 104);
    }

    #[test]
    fn the_file_header_has_24_bytes_and_the_nanosecond_magic() {
        let header = file_header();
        assert_eq!(header.len(), 24);
        assert_eq!(header[..4], 0xa1b2_3c4d_u32.to_ne_bytes());
    }
}
