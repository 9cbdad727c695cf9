//! The Internet checksum (RFC 1071), whole and partial.

use fabric::{CsumOffload, Frame};

/// Ones' complement sum of big-endian 16-bit words, folded; an odd last byte counts as a word's high byte.
#[must_use]
pub fn sum(bytes: &[u8], start: u16) -> u16 {
    let mut total = u64::from(start);
    let mut words = bytes.chunks_exact(4);
    for word in &mut words {
        total += u64::from(u32::from_be_bytes([word[0], word[1], word[2], word[3]]));
    }
    let rest = words.remainder();
    if !rest.is_empty() {
        let mut last = [0; 4];
        last[..rest.len()].copy_from_slice(rest);
        total += u64::from(u32::from_be_bytes(last));
    }
    while total > 0xffff {
        total = (total & 0xffff) + (total >> 16);
    }
    total as u16
}

/// Sum of the pseudo header of TCP or UDP: a host leaves it in the checksum field for its NIC to complete. `addresses`
/// are source and destination, 8 bytes of IPv4 or 32 of IPv6 (RFC 9293 3.1, RFC 8200 8.1).
#[must_use]
pub fn pseudo_header(addresses: &[u8], protocol: u8, length: usize) -> u16 {
    let length = (length as u32).to_be_bytes();
    sum(addresses, sum(&length, u16::from(protocol)))
}

/// The bytes as a NIC would send them: tag in place, offloaded checksum filled in, padded to 60 bytes.
#[must_use]
pub fn wire_bytes(frame: &Frame) -> Vec<u8> {
    let (bytes, csum) = frame.to_wire();
    let mut bytes = bytes.to_vec();
    if let Some(csum) = csum {
        fill(&mut bytes, csum);
    }
    if bytes.len() < 60 {
        bytes.resize(60, 0);
    }
    bytes
}

/// Complete an offloaded checksum. Offsets outside the frame leave it unchanged.
pub fn fill(bytes: &mut [u8], csum: CsumOffload) {
    let start = usize::from(csum.start);
    let at = start + usize::from(csum.offset);
    if at + 2 > bytes.len() {
        return;
    }
    // The field holds the sum of the pseudo header, so the sum over everything from `start` is complete.
    let value = !sum(&bytes[start..], 0);
    // UDP (field at 6): zero means "no checksum", so a computed zero is sent as 0xffff.
    let value = if value == 0 && csum.offset == 6 {
        0xffff
    } else {
        value
    };
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    #[test]
    fn the_example_of_rfc_1071() {
        assert_eq!(
            sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7], 0),
            0xddf2
        );
        assert_eq!(sum(&[0x01], 0), 0x0100);
        assert_eq!(
            sum(&[0xff, 0xff, 0xff, 0xff, 0x01], 0),
            sum(&[0x01], 0xffff)
        );
    }

    #[test]
    fn a_filled_checksum_sums_to_ones() {
        let mut packet: Vec<u8> = (0..101).collect();
        let before = sum(&packet[14..], 0);
        assert_ne!(before, 0xffff);
        packet[30..32].copy_from_slice(&[0, 0]);
        fill(
            &mut packet,
            CsumOffload {
                start: 14,
                offset: 16,
            },
        );
        assert_eq!(sum(&packet[14..], 0), 0xffff);
    }

    #[test]
    fn the_wire_shows_tag_checksum_and_padding() {
        let frame = Frame {
            bytes: Bytes::from([vec![7_u8; 30], vec![0; 2], vec![7; 9]].concat()),
            tag: Some(fabric::Tag::new(12)),
            csum: Some(CsumOffload {
                start: 14,
                offset: 16,
            }),
        };
        let wire = wire_bytes(&frame);
        assert_eq!(wire.len(), 60);
        assert_eq!(wire[12..16], [0x81, 0x00, 0x00, 12]);
        assert_eq!(sum(&wire[18..45], 0), 0xffff);
    }

    #[test]
    fn offsets_beyond_the_frame_change_nothing() {
        let mut short = vec![1, 2, 3, 4];
        fill(
            &mut short,
            CsumOffload {
                start: 2,
                offset: 1,
            },
        );
        assert_eq!(short, [1, 2, 3, 4]);
    }
}
