//! The header before each packet of a TAP with IFF_VNET_HDR (virtio 1.2, 5.1.6: `struct virtio_net_hdr`).

use fabric::CsumOffload;

/// Bytes of the header (legacy layout, without a buffer count).
pub const HEADER_BYTE: usize = 10;

const NEEDS_CSUM: u8 = 1;
const GSO_NONE: u8 = 0;
const GSO_TCPV4: u8 = 1;
const GSO_TCPV6: u8 = 4;
const GSO_ECN: u8 = 0x80;

/// IP version of a packet of several segments.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Family {
    /// TCP over IPv4.
    V4,
    /// TCP over IPv6.
    V6,
}

/// Segmentation of a packet of several segments.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Gso {
    /// IP version.
    pub family: Family,
    /// Payload bytes of each segment but the last.
    pub size_byte: u16,
    /// Bytes of all headers, Ethernet included.
    pub header_byte: u16,
    /// The congestion-window-reduced flag is set and belongs to the first segment.
    pub ecn: bool,
}

/// The header.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct VnetHeader {
    /// A checksum not yet filled in.
    pub csum: Option<CsumOffload>,
    /// Segmentation left to the NIC.
    pub gso: Option<Gso>,
}

impl VnetHeader {
    /// Decode a header, native byte order. `None`: a kind of segmentation that was not offered.
    #[must_use]
    pub fn decode(bytes: &[u8; HEADER_BYTE]) -> Option<Self> {
        let word = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        let family = match bytes[1] & !GSO_ECN {
            GSO_NONE => None,
            GSO_TCPV4 => Some(Family::V4),
            GSO_TCPV6 => Some(Family::V6),
            _ => return None,
        };
        Some(Self {
            csum: (bytes[0] & NEEDS_CSUM != 0).then(|| CsumOffload {
                start: word(6),
                offset: word(8),
            }),
            gso: family.map(|family| Gso {
                family,
                size_byte: word(4),
                header_byte: word(2),
                ecn: bytes[1] & GSO_ECN != 0,
            }),
        })
    }

    /// Encode a header, native byte order.
    #[must_use]
    pub fn encode(&self) -> [u8; HEADER_BYTE] {
        let mut bytes = [0; HEADER_BYTE];
        if let Some(csum) = self.csum {
            bytes[0] = NEEDS_CSUM;
            bytes[6..8].copy_from_slice(&csum.start.to_ne_bytes());
            bytes[8..10].copy_from_slice(&csum.offset.to_ne_bytes());
        }
        if let Some(gso) = self.gso {
            bytes[1] = match gso.family {
                Family::V4 => GSO_TCPV4,
                Family::V6 => GSO_TCPV6,
            } | if gso.ecn { GSO_ECN } else { 0 };
            bytes[2..4].copy_from_slice(&gso.header_byte.to_ne_bytes());
            bytes[4..6].copy_from_slice(&gso.size_byte.to_ne_bytes());
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let header = VnetHeader {
            csum: Some(CsumOffload {
                start: 34,
                offset: 16,
            }),
            gso: Some(Gso {
                family: Family::V6,
                size_byte: 1428,
                header_byte: 86,
                ecn: true,
            }),
        };
        assert_eq!(VnetHeader::decode(&header.encode()), Some(header));
        assert_eq!(VnetHeader::default().encode(), [0; HEADER_BYTE]);
        assert_eq!(
            VnetHeader::decode(&[0; HEADER_BYTE]),
            Some(VnetHeader::default())
        );
    }

    #[test]
    fn an_unknown_segmentation_is_refused() {
        assert_eq!(VnetHeader::decode(&[0, 3, 0, 0, 0, 0, 0, 0, 0, 0]), None);
    }
}
