//! Receive coalescing like GRO: consecutive segments of one TCP flow that are due together reach the host as one large
//! packet. This relieves the stack of the host, not the wire: in the fabric each segment is a frame.
//!
//! Simplification: only segments that are due in the same turn of the live thread and follow one another at the same
//! NIC are joined. A capture inside the host shows large packets, as with GRO on hardware, but `ethtool -K eth0 gro
//! off` in the host does not undo it. A capture on the cable shows the frames.

use std::io::IoSlice;

use fabric::Frame;

use crate::wire::tcp::{ACK, FIN, Layout, PSH};
use crate::wire::vnet::{Gso, VnetHeader};

/// Maximum number of frames per write: header and tail fit an `iovec` list of 1024 with room.
pub const MOST_FRAMES: usize = 64;
const MOST_IP_BYTE: usize = 65_535;

/// How many of the first `frames` form one large packet; at least 1 unless `frames` is empty.
#[must_use]
pub fn run_length(frames: &[&Frame]) -> usize {
    let Some((first, rest)) = frames.split_first() else {
        return 0;
    };
    let Some(layout) = layout_of_bulk(first) else {
        return 1;
    };
    let size = first.bytes.len() - layout.payload;
    let mut joined = 1;
    let mut total = size;
    for next in rest.iter().take(MOST_FRAMES - 1) {
        let before = frames[joined - 1];
        let full = before.bytes.len() - layout.payload == size;
        let open = layout.flags(&before.bytes) & (PSH | FIN) == 0;
        let part = next.bytes.len().saturating_sub(layout.payload);
        let fits = part <= size && layout.payload - 14 + total + part <= MOST_IP_BYTE;
        if !(full && open && fits && follows(before, next, layout)) {
            break;
        }
        joined += 1;
        total += part;
    }
    joined
}

/// The layout of a frame that may start or continue a large packet: a data segment without unusual flags and with an
/// offloaded checksum.
fn layout_of_bulk(frame: &Frame) -> Option<Layout> {
    let layout = Layout::of(&frame.bytes)?;
    let plain = layout.flags(&frame.bytes) & !(PSH | FIN) == ACK;
    let exact = layout.ip_byte(&frame.bytes) + 14 == frame.bytes.len();
    let carries = frame.bytes.len() > layout.payload;
    (frame.csum == Some(layout.csum()) && plain && exact && carries).then_some(layout)
}

/// Whether `next` continues `before`: same headers except for length, identification, sequence number, checksums, PSH
/// and FIN.
fn follows(before: &Frame, next: &Frame, layout: Layout) -> bool {
    if next.tag != before.tag || layout_of_bulk(next) != Some(layout) {
        return false;
    }
    let (a, b) = (&before.bytes[..], &next.bytes[..]);
    let payload_byte = (a.len() - layout.payload) as u32;
    let ip_equal = match layout.family {
        crate::wire::vnet::Family::V4 => {
            a[..16] == b[..16]
                && a[20..24] == b[20..24]
                && a[26..34] == b[26..34]
                && layout.identification(b) == layout.identification(a).wrapping_add(1)
        }
        crate::wire::vnet::Family::V6 => a[..18] == b[..18] && a[20..54] == b[20..54],
    };
    let tcp = layout.tcp;
    ip_equal
        && a[tcp..tcp + 4] == b[tcp..tcp + 4]
        && layout.sequence(b) == layout.sequence(a).wrapping_add(payload_byte)
        && a[tcp + 8..tcp + 13] == b[tcp + 8..tcp + 13]
        && a[tcp + 14..tcp + 16] == b[tcp + 14..tcp + 16]
        && a[tcp + 18..layout.payload] == b[tcp + 18..layout.payload]
}

/// The header and first bytes of a packet made of `frames`, a run found by [`run_length`]. The payloads of all frames
/// follow in order. Needs two frames or more.
#[must_use]
pub fn join(frames: &[&Frame]) -> (VnetHeader, Vec<u8>) {
    let (first, last) = (frames[0], frames[frames.len() - 1]);
    let layout = Layout::of(&first.bytes).expect("a run consists of TCP frames");
    let payload_byte = frames
        .iter()
        .map(|frame| frame.bytes.len() - layout.payload)
        .sum();
    let mut head = first.bytes[..layout.payload].to_vec();
    layout.set_flags(&mut head, layout.flags(&last.bytes));
    layout.set_lengths(&mut head, payload_byte);
    let (wire, csum) = Frame {
        bytes: head.into(),
        tag: first.tag,
        csum: Some(layout.csum()),
    }
    .to_wire();
    let header = VnetHeader {
        csum,
        gso: Some(Gso {
            family: layout.family,
            size_byte: (first.bytes.len() - layout.payload) as u16,
            header_byte: wire.len() as u16,
            ecn: false,
        }),
    };
    (header, wire.into())
}

/// The payloads of a run, to be written after the result of [`join`].
pub fn payloads<'a>(frames: &[&'a Frame]) -> impl Iterator<Item = IoSlice<'a>> {
    let at = Layout::of(&frames[0].bytes).map_or(0, |layout| layout.payload);
    frames
        .iter()
        .map(move |frame| IoSlice::new(&frame.bytes[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::segment::segment;
    use crate::wire::vnet::Family;
    use bytes::Bytes;

    fn bulk(family: Family, payload_byte: usize, flags: u8) -> Vec<u8> {
        crate::wire::segment::tests::packet(family, payload_byte, flags)
    }

    fn cut(family: Family, whole: &[u8], size_byte: u16) -> Vec<Frame> {
        let header = crate::wire::segment::tests::header(family, size_byte, false);
        let mut out = Vec::new();
        assert!(segment(header, whole, &mut out));
        out
    }

    fn joined(frames: &[&Frame]) -> (VnetHeader, Vec<u8>) {
        let (header, mut bytes) = join(frames);
        for part in payloads(frames) {
            bytes.extend_from_slice(&part);
        }
        (header, bytes)
    }

    #[test]
    fn what_was_cut_is_joined_to_the_same_packet() {
        for family in [Family::V4, Family::V6] {
            let whole = bulk(family, 10_000, ACK | PSH);
            let frames = cut(family, &whole, 1_448);
            let frames: Vec<&Frame> = frames.iter().collect();
            assert_eq!(run_length(&frames), 7);
            let (header, bytes) = joined(&frames);
            assert_eq!(bytes, whole);
            assert_eq!(
                header.gso.map(|gso| (gso.family, gso.size_byte)),
                Some((family, 1_448))
            );
        }
    }

    #[test]
    fn a_tag_goes_back_in_front() {
        let whole = bulk(Family::V4, 200, ACK);
        let mut frames = cut(Family::V4, &whole, 100);
        for frame in &mut frames {
            frame.tag = Some(fabric::Tag::new(7));
        }
        let frames: Vec<&Frame> = frames.iter().collect();
        let (header, bytes) = joined(&frames);
        assert_eq!(bytes[12..18], [0x81, 0x00, 0, 7, 0x08, 0x00]);
        assert_eq!(header.csum.map(|csum| csum.start), Some(38));
        assert_eq!(header.gso.map(|gso| gso.header_byte), Some(70));
    }

    #[test]
    fn a_run_ends_where_the_flow_is_interrupted() {
        let whole = bulk(Family::V4, 500, ACK);
        let frames = cut(Family::V4, &whole, 100);
        let with = |change: &dyn Fn(&mut Vec<Frame>)| {
            let mut changed = frames.clone();
            change(&mut changed);
            run_length(&changed.iter().collect::<Vec<_>>())
        };
        let edit = |frame: &mut Frame, at: usize, value: u8| {
            let mut bytes = frame.bytes.to_vec();
            bytes[at] = value;
            frame.bytes = bytes.into();
        };
        assert_eq!(with(&|_| ()), 5);
        assert_eq!(with(&|all| all.swap(2, 3)), 2, "out of order");
        assert_eq!(with(&|all| drop(all.remove(2))), 2, "one lost");
        assert_eq!(
            with(&|all| all[3].csum = None),
            3,
            "checksum not vouched for"
        );
        assert_eq!(
            with(&|all| all[1].tag = Some(fabric::Tag::new(1))),
            1,
            "another VLAN"
        );
        assert_eq!(
            with(&|all| edit(&mut all[2], 34 + 13, ACK | PSH)),
            3,
            "pushed"
        );
        assert_eq!(
            with(&|all| edit(&mut all[2], 34 + 13, ACK | 0x02)),
            2,
            "SYN"
        );
        assert_eq!(
            with(&|all| edit(&mut all[2], 34 + 11, 9)),
            2,
            "another acknowledgement"
        );
        assert_eq!(
            with(&|all| edit(&mut all[2], 15, 3)),
            2,
            "congestion experienced"
        );
        assert_eq!(
            with(&|all| edit(&mut all[2], 60, 3)),
            2,
            "another time stamp"
        );
    }

    #[test]
    fn other_frames_stand_alone() {
        let other = Frame::from_wire(Bytes::from_static(&[0xff; 60]));
        assert_eq!(run_length(&[&other, &other]), 1);
        assert_eq!(run_length(&[]), 0);
    }
}
