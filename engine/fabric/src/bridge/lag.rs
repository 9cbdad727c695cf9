//! Choice of the LAG member that sends a frame.
//!
//! The hash is of the kind that switch ASICs offer as "source/destination MAC, IP and TCP/UDP port". It covers Layer 2
//! addresses, EtherType and VLAN of every frame; of IPv4 and IPv6 also addresses and protocol; of TCP and UDP also the
//! ports, unless the packet is a fragment (later fragments have no ports, and all must take one path). So a flow stays
//! on one member and in order. Members that are up are numbered in order of their ports; the hash modulo their number
//! selects one. When a member fails, flows on the others may move too, as on most switches of this class.
//!
//! Simplification: real hash functions are vendors' secrets. Which of two members a certain flow takes is not the same
//! as on hardware; how evenly many flows spread is.

use crate::frame::Frame;

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// Hash of the flow of a frame; `seed` differs between fabrics like the hash seed of a switch.
pub(crate) fn flow_hash(frame: &Frame, vid: u16, seed: u64) -> u32 {
    let bytes = &frame.bytes[..];
    let mut hash = mix(seed, u64::from(vid) << 16 | u64::from(frame.ethertype()));
    hash = mix_bytes(hash, bytes.get(..12).unwrap_or(bytes));
    let payload = bytes.get(14..).unwrap_or_default();
    hash = match frame.ethertype() {
        IPV4 => ipv4(hash, payload),
        IPV6 => ipv6(hash, payload),
        _ => hash,
    };
    (hash >> 32) as u32
}

fn ipv4(hash: u64, packet: &[u8]) -> u64 {
    let Some(addresses) = packet.get(12..20) else {
        return hash;
    };
    let protocol = packet[9];
    let hash = mix(mix_bytes(hash, addresses), u64::from(protocol));
    let fragment = u16::from_be_bytes([packet[6], packet[7]]) & 0x3fff != 0;
    let header_byte = usize::from(packet[0] & 0x0f) * 4;
    if fragment {
        hash
    } else {
        transport(
            hash,
            protocol,
            packet.get(header_byte..).unwrap_or_default(),
        )
    }
}

fn ipv6(hash: u64, packet: &[u8]) -> u64 {
    let Some(addresses) = packet.get(8..40) else {
        return hash;
    };
    let protocol = packet[6];
    let hash = mix(mix_bytes(hash, addresses), u64::from(protocol));
    transport(hash, protocol, &packet[40..])
}

fn transport(hash: u64, protocol: u8, segment: &[u8]) -> u64 {
    match (protocol, segment.get(..4)) {
        (TCP | UDP, Some(ports)) => mix_bytes(hash, ports),
        _ => hash,
    }
}

fn mix_bytes(hash: u64, bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(hash, |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        mix(hash, u64::from_be_bytes(word))
    })
}

const fn mix(hash: u64, word: u64) -> u64 {
    let mixed = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn udp(source_port: u16, fragment: u16) -> Frame {
        let mut bytes = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x08, 0x00];
        bytes.extend([0x45, 0, 0, 32, 0, 0]);
        bytes.extend(fragment.to_be_bytes());
        bytes.extend([64, UDP, 0, 0, 198, 19, 0, 1, 198, 19, 0, 2]);
        bytes.extend(source_port.to_be_bytes());
        bytes.extend([0x13, 0x88, 0, 12, 0, 0]);
        Frame::from_wire(Bytes::from(bytes))
    }

    #[test]
    fn flows_spread_evenly_over_four_members() {
        let mut load = [0; 4];
        for port in 0..4_000 {
            load[flow_hash(&udp(port, 0), 1, 0) as usize % 4] += 1;
        }
        assert!(
            load.iter().all(|flows| (900..1_100).contains(flows)),
            "{load:?}"
        );
    }

    #[test]
    fn fragments_of_one_pair_go_one_way() {
        let first = flow_hash(&udp(1, 0x2000), 1, 0);
        assert!((2..100).all(|port| flow_hash(&udp(port, 0x2000), 1, 0) == first));
    }

    #[test]
    fn truncated_packets_are_hashed_as_far_as_they_go() {
        let whole = udp(1, 0).bytes;
        for length in 0..whole.len() {
            flow_hash(&Frame::from_wire(whole.slice(..length)), 1, 0);
        }
    }
}
