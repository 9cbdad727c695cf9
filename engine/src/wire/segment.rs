//! TCP segmentation like a NIC with TSO: one large packet of a host becomes frames on the wire.

use bytes::{Bytes, BytesMut};
use fabric::{Frame, Tag};

use crate::wire::tcp::{CWR, FIN, Layout, PSH};
use crate::wire::vnet::{Gso, VnetHeader};

const TPID: [u8; 2] = [0x81, 0x00];

/// Turn a packet from a TAP into frames, appended to `out` in order. All segments of a packet share one allocation.
/// `false`: the packet contradicts its header, and nothing was appended.
///
/// Same rules as in the kernel (RFC 9293 for the fields): sequence numbers and IPv4 identifications count up, FIN and
/// PSH are on the last segment only, CWR on the first only, checksums stay partial.
pub fn segment(header: VnetHeader, packet: &[u8], out: &mut impl Extend<Frame>) -> bool {
    let Some(gso) = header.gso else {
        out.extend([lifted(header, packet)]);
        return true;
    };
    if packet.get(12..14) == Some(&TPID) {
        let frame = lifted(header, packet);
        cut(&frame.bytes, frame.tag, gso, out)
    } else {
        cut(packet, None, gso, out)
    }
}

fn lifted(header: VnetHeader, packet: &[u8]) -> Frame {
    Frame {
        bytes: Bytes::copy_from_slice(packet),
        tag: None,
        csum: header.csum,
    }
    .with_tag_lifted()
}

fn cut(packet: &[u8], tag: Option<Tag>, gso: Gso, out: &mut impl Extend<Frame>) -> bool {
    let Some(layout) = Layout::of(packet) else {
        return false;
    };
    let (head, payload) = packet.split_at(layout.payload);
    if layout.family != gso.family || gso.size_byte == 0 || payload.is_empty() {
        return false;
    }
    let size = usize::from(gso.size_byte);
    let count = payload.len().div_ceil(size);
    let sequence = layout.sequence(head);
    let identification = layout.identification(head);
    let flags = layout.flags(head);
    let mut all = BytesMut::with_capacity(count * head.len() + payload.len());
    out.extend(payload.chunks(size).enumerate().map(|(number, part)| {
        all.extend_from_slice(head);
        all.extend_from_slice(part);
        layout.set_sequence(&mut all, sequence.wrapping_add((number * size) as u32));
        layout.set_identification(&mut all, identification.wrapping_add(number as u16));
        let first = if number == 0 { 0 } else { CWR };
        let last = if number + 1 == count { 0 } else { FIN | PSH };
        layout.set_flags(&mut all, flags & !(first | last));
        layout.set_lengths(&mut all, part.len());
        Frame {
            bytes: all.split().freeze(),
            tag,
            csum: Some(layout.csum()),
        }
    }));
    true
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::wire::checksum;
    use crate::wire::vnet::Family;

    /// A TCP packet of `payload_byte` counting bytes, with 12 bytes of TCP options.
    pub(crate) fn packet(family: Family, payload_byte: usize, flags: u8) -> Vec<u8> {
        let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
        match family {
            Family::V4 => {
                bytes.extend([
                    0x08, 0x00, 0x45, 0x02, 0, 0, 0xff, 0xfe, 0x40, 0, 64, 6, 0, 0,
                ]);
                bytes.extend([198, 19, 0, 1, 198, 19, 0, 2]);
            }
            Family::V6 => {
                bytes.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 0, 6, 64]);
                bytes.extend([0xfd; 16]);
                bytes.extend([0xfe; 16]);
            }
        }
        bytes.extend([
            0x9c, 0x40, 0x14, 0x51, 0xff, 0xff, 0xfa, 0x00, 0, 0, 0, 7, 0x80, flags, 1, 0, 0, 0, 0,
            0,
        ]);
        bytes.extend([1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]);
        bytes.extend((0..payload_byte).map(|number| number as u8));
        let layout = Layout::of(&bytes).expect("TCP");
        layout.set_lengths(&mut bytes, payload_byte);
        bytes
    }

    pub(crate) fn header(family: Family, size_byte: u16, ecn: bool) -> VnetHeader {
        let tcp = if family == Family::V4 { 34 } else { 54 };
        VnetHeader {
            csum: Some(fabric::CsumOffload {
                start: tcp,
                offset: 16,
            }),
            gso: Some(Gso {
                family,
                size_byte,
                header_byte: tcp + 32,
                ecn,
            }),
        }
    }

    #[test]
    fn segments_are_what_a_nic_would_send() {
        for family in [Family::V4, Family::V6] {
            let whole = packet(family, 3_000, crate::wire::tcp::ACK | PSH | FIN | CWR);
            let mut out = Vec::new();
            assert!(segment(header(family, 1_448, true), &whole, &mut out));
            assert_eq!(out.len(), 3);
            let mut payload = Vec::new();
            for (number, frame) in out.iter().enumerate() {
                let layout = Layout::of(&frame.bytes).expect("TCP");
                assert_eq!(layout.ip_byte(&frame.bytes) + 14, frame.bytes.len());
                assert_eq!(
                    layout.sequence(&frame.bytes),
                    0xffff_fa00_u32.wrapping_add(1_448 * number as u32)
                );
                let flags = layout.flags(&frame.bytes);
                assert_eq!(flags & CWR != 0, number == 0);
                assert_eq!(flags & (PSH | FIN) == PSH | FIN, number == 2);
                assert_ne!(flags & crate::wire::tcp::ACK, 0);
                if family == Family::V4 {
                    assert_eq!(
                        layout.identification(&frame.bytes),
                        0xfffe_u16.wrapping_add(number as u16)
                    );
                    assert_eq!(checksum::sum(&frame.bytes[14..34], 0), 0xffff);
                }
                // With the partial checksum completed, the receiver's check over pseudo header and segment holds.
                let wire = checksum::wire_bytes(frame);
                let addresses = if family == Family::V4 { 26..34 } else { 22..54 };
                let pseudo = checksum::pseudo_header(&wire[addresses], 6, wire.len() - layout.tcp);
                assert_eq!(checksum::sum(&wire[layout.tcp..], pseudo), 0xffff);
                payload.extend_from_slice(&frame.bytes[layout.payload..]);
            }
            assert_eq!(payload, whole[whole.len() - 3_000..]);
        }
    }

    #[test]
    fn a_tag_is_lifted_from_every_segment() {
        let mut tagged = packet(Family::V4, 100, crate::wire::tcp::ACK);
        tagged.splice(12..12, [0x81, 0x00, 0x00, 0x0b]);
        let mut header = header(Family::V4, 50, false);
        header.csum = Some(fabric::CsumOffload {
            start: 38,
            offset: 16,
        });
        let mut out = Vec::new();
        assert!(segment(header, &tagged, &mut out));
        assert_eq!(out.len(), 2);
        for frame in out {
            assert_eq!(frame.tag, Some(fabric::Tag::new(11)));
            assert_eq!(
                frame.csum,
                Some(fabric::CsumOffload {
                    start: 34,
                    offset: 16
                })
            );
            assert_eq!(frame.bytes.len(), 66 + 50);
        }
    }

    #[test]
    fn a_plain_packet_passes_as_it_is() {
        let packet = Bytes::from_static(&[0xff; 42]);
        let mut out = Vec::new();
        assert!(segment(VnetHeader::default(), &packet, &mut out));
        assert_eq!(
            out,
            [Frame {
                bytes: packet,
                tag: None,
                csum: None
            }]
        );
    }

    #[test]
    fn a_header_that_lies_yields_nothing() {
        let mut out: Vec<Frame> = Vec::new();
        let whole = packet(Family::V4, 300, crate::wire::tcp::ACK);
        assert!(!segment(header(Family::V6, 100, false), &whole, &mut out));
        assert!(!segment(header(Family::V4, 0, false), &whole, &mut out));
        assert!(!segment(
            header(Family::V4, 100, false),
            &whole[..40],
            &mut out
        ));
        assert!(out.is_empty());
    }
}
