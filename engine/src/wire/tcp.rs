//! Field offsets of a TCP frame, for segmentation and coalescing.

use fabric::CsumOffload;

use crate::wire::checksum;
use crate::wire::vnet::Family;

const ETHERNET_BYTE: usize = 14;
const PROTOCOL_TCP: u8 = 6;
/// Offset of the checksum in the TCP header.
const TCP_CHECKSUM_AT: u16 = 16;

/// FIN flag.
pub const FIN: u8 = 0x01;
/// PSH flag.
pub const PSH: u8 = 0x08;
/// ACK flag.
pub const ACK: u8 = 0x10;
/// Congestion window reduced.
pub const CWR: u8 = 0x80;

/// Offsets into an untagged TCP frame whose IP header carries no IPv4 options or IPv6 extensions.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// IP version.
    pub family: Family,
    /// Offset of the TCP header.
    pub tcp: usize,
    /// Offset of the payload.
    pub payload: usize,
}

impl Layout {
    /// The layout of a frame; `None` unless it is unfragmented TCP.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let (family, tcp) = match (*bytes.get(12)?, *bytes.get(13)?, *bytes.get(14)?) {
            (0x08, 0x00, 0x45) => (Family::V4, ETHERNET_BYTE + 20),
            (0x86, 0xdd, version) if version >> 4 == 6 => (Family::V6, ETHERNET_BYTE + 40),
            _ => return None,
        };
        let is_tcp = match family {
            // The flags' MF bit and the fragment offset must be 0.
            Family::V4 => {
                *bytes.get(23)? == PROTOCOL_TCP && bytes[20] & 0x3f == 0 && bytes[21] == 0
            }
            Family::V6 => *bytes.get(20)? == PROTOCOL_TCP,
        };
        let payload = tcp + usize::from(*bytes.get(tcp + 12)? >> 4) * 4;
        (is_tcp && payload >= tcp + 20 && payload <= bytes.len()).then_some(Self {
            family,
            tcp,
            payload,
        })
    }

    /// The checksum offload of such a frame.
    #[must_use]
    pub fn csum(&self) -> CsumOffload {
        CsumOffload {
            start: self.tcp as u16,
            offset: TCP_CHECKSUM_AT,
        }
    }

    /// TCP sequence number.
    #[must_use]
    pub fn sequence(&self, bytes: &[u8]) -> u32 {
        let at = self.tcp + 4;
        u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
    }

    /// Write a TCP sequence number.
    pub fn set_sequence(&self, bytes: &mut [u8], sequence: u32) {
        bytes[self.tcp + 4..self.tcp + 8].copy_from_slice(&sequence.to_be_bytes());
    }

    /// TCP flags (the low eight).
    #[must_use]
    pub fn flags(&self, bytes: &[u8]) -> u8 {
        bytes[self.tcp + 13]
    }

    /// Write the TCP flags.
    pub fn set_flags(&self, bytes: &mut [u8], flags: u8) {
        bytes[self.tcp + 13] = flags;
    }

    /// IPv4 identification; 0 for IPv6.
    #[must_use]
    pub fn identification(&self, bytes: &[u8]) -> u16 {
        match self.family {
            Family::V4 => u16::from_be_bytes([bytes[18], bytes[19]]),
            Family::V6 => 0,
        }
    }

    /// Write the IPv4 identification; no effect for IPv6.
    pub fn set_identification(&self, bytes: &mut [u8], identification: u16) {
        if self.family == Family::V4 {
            bytes[18..20].copy_from_slice(&identification.to_be_bytes());
        }
    }

    /// Length after the Ethernet header, according to the IP header.
    #[must_use]
    pub fn ip_byte(&self, bytes: &[u8]) -> usize {
        match self.family {
            Family::V4 => usize::from(u16::from_be_bytes([bytes[16], bytes[17]])),
            Family::V6 => 40 + usize::from(u16::from_be_bytes([bytes[18], bytes[19]])),
        }
    }

    /// Write IP length, IPv4 header checksum and TCP's partial checksum for `payload_byte` bytes of payload.
    pub fn set_lengths(&self, bytes: &mut [u8], payload_byte: usize) {
        let tcp_byte = self.payload - self.tcp + payload_byte;
        let addresses = match self.family {
            Family::V4 => {
                bytes[16..18].copy_from_slice(&((tcp_byte + 20) as u16).to_be_bytes());
                bytes[24..26].copy_from_slice(&[0, 0]);
                let check = !checksum::sum(&bytes[14..34], 0);
                bytes[24..26].copy_from_slice(&check.to_be_bytes());
                &bytes[26..34]
            }
            Family::V6 => {
                bytes[18..20].copy_from_slice(&(tcp_byte as u16).to_be_bytes());
                &bytes[22..54]
            }
        };
        let partial = checksum::pseudo_header(addresses, PROTOCOL_TCP, tcp_byte);
        let at = self.tcp + usize::from(TCP_CHECKSUM_AT);
        bytes[at..at + 2].copy_from_slice(&partial.to_be_bytes());
    }
}
