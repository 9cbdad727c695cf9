//! Frames, MAC addresses and 802.1Q tags.

use bytes::{BufMut, Bytes, BytesMut};

/// A MAC address.
pub type Mac = [u8; 6];

/// The largest frame that any port takes, in bytes without FCS and without 802.1Q tag.
pub const MAX_FRAME_BYTE: usize = 9_216;
/// Preamble and start delimiter in front of each frame, in bytes.
pub const PREAMBLE_BYTE: usize = 8;
/// The gap after each frame, in bytes.
pub const GAP_BYTE: usize = 12;
/// The frame check sequence: counted, not carried.
pub const FCS_BYTE: usize = 4;
/// Minimum frame size on the wire: with FCS, without preamble and gap.
pub const MIN_WIRE_BYTE: usize = 64;
/// An 802.1Q tag on the wire.
pub const TAG_BYTE: usize = 4;

const TPID: [u8; 2] = [0x81, 0x00];
const ETHERTYPE_AT: usize = 12;

/// An 802.1Q tag (IEEE 802.1Q clause 9): priority, drop eligibility and VLAN id.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Tag {
    /// VLAN id, 0..=4095; 0 marks a priority tag.
    pub vid: u16,
    /// Priority code point, 0..=7.
    pub pcp: u8,
    /// Drop eligible indicator.
    pub dei: bool,
}

impl Tag {
    /// A tag of priority 0.
    #[must_use]
    pub const fn new(vid: u16) -> Self {
        Self {
            vid,
            pcp: 0,
            dei: false,
        }
    }

    const fn from_tci(tci: u16) -> Self {
        Self {
            vid: tci & 0x0fff,
            pcp: (tci >> 13) as u8,
            dei: tci & 0x1000 != 0,
        }
    }

    const fn tci(self) -> u16 {
        (self.vid & 0x0fff) | ((self.dei as u16) << 12) | ((self.pcp as u16 & 7) << 13)
    }
}

/// A checksum that the sending host left to its NIC and that the receiving host need not verify (virtio-net's
/// `VIRTIO_NET_HDR_F_NEEDS_CSUM`). The fabric carries it unchanged. Offsets count from the first byte of
/// `Frame::bytes`, so they stay valid when a tag is removed or inserted.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct CsumOffload {
    /// Offset at which the sum starts.
    pub start: u16,
    /// Offset of the checksum field, counted from `start`.
    pub offset: u16,
}

/// An Ethernet frame without FCS; its 802.1Q tag is held separately.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Frame {
    /// Destination, source, EtherType and payload; no outer 802.1Q tag, no FCS, padding not required.
    pub bytes: Bytes,
    /// The outermost 802.1Q tag.
    pub tag: Option<Tag>,
    /// A checksum not yet filled in.
    pub csum: Option<CsumOffload>,
}

impl Frame {
    /// A frame from bytes in wire format; an 802.1Q tag (TPID 0x8100) moves from the bytes into `tag`. Copies the
    /// bytes only if they have a tag.
    #[must_use]
    pub fn from_wire(bytes: Bytes) -> Self {
        Self {
            bytes,
            tag: None,
            csum: None,
        }
        .with_tag_lifted()
    }

    /// The same frame with a tag in `bytes` moved into `tag`. If `tag` is already set, an inner tag stays part of the
    /// payload.
    #[must_use]
    pub fn with_tag_lifted(self) -> Self {
        if self.tag.is_some()
            || self.bytes.len() < ETHERTYPE_AT + TAG_BYTE
            || self.bytes[ETHERTYPE_AT..ETHERTYPE_AT + 2] != TPID
        {
            return self;
        }
        let tci = u16::from_be_bytes([self.bytes[14], self.bytes[15]]);
        let mut bytes = BytesMut::with_capacity(self.bytes.len() - TAG_BYTE);
        bytes.put_slice(&self.bytes[..ETHERTYPE_AT]);
        bytes.put_slice(&self.bytes[ETHERTYPE_AT + TAG_BYTE..]);
        let csum = self.csum.map(|csum| CsumOffload {
            start: csum.start.saturating_sub(TAG_BYTE as u16),
            ..csum
        });
        Self {
            bytes: bytes.freeze(),
            tag: Some(Tag::from_tci(tci)),
            csum,
        }
    }

    /// The bytes in wire format (tag in place, no FCS, no padding), with matching checksum offload. Copies only if the
    /// frame has a tag.
    #[must_use]
    pub fn to_wire(&self) -> (Bytes, Option<CsumOffload>) {
        let Some(tag) = self.tag else {
            return (self.bytes.clone(), self.csum);
        };
        let at = ETHERTYPE_AT.min(self.bytes.len());
        let mut bytes = BytesMut::with_capacity(self.bytes.len() + TAG_BYTE);
        bytes.put_slice(&self.bytes[..at]);
        bytes.put_slice(&TPID);
        bytes.put_u16(tag.tci());
        bytes.put_slice(&self.bytes[at..]);
        let csum = self.csum.map(|csum| CsumOffload {
            start: csum.start.saturating_add(TAG_BYTE as u16),
            ..csum
        });
        (bytes.freeze(), csum)
    }

    /// Destination address; a truncated frame reads as zero.
    #[must_use]
    pub fn destination(&self) -> Mac {
        mac_at(&self.bytes, 0)
    }

    /// Source address; a truncated frame reads as zero.
    #[must_use]
    pub fn source(&self) -> Mac {
        mac_at(&self.bytes, 6)
    }

    /// EtherType after the outermost tag; 0 for a truncated frame.
    #[must_use]
    pub fn ethertype(&self) -> u16 {
        match self.bytes.get(ETHERTYPE_AT..ETHERTYPE_AT + 2) {
            Some(two) => u16::from_be_bytes([two[0], two[1]]),
            None => 0,
        }
    }

    /// Octets as IF-MIB counts them: with tag and FCS, padded to 64, without preamble and gap.
    #[must_use]
    pub fn octets(&self) -> u64 {
        let tag = if self.tag.is_some() { TAG_BYTE } else { 0 };
        (self.bytes.len() + tag + FCS_BYTE).max(MIN_WIRE_BYTE) as u64
    }
}

fn mac_at(bytes: &[u8], at: usize) -> Mac {
    bytes
        .get(at..at + 6)
        .and_then(|six| six.try_into().ok())
        .unwrap_or_default()
}

/// Whether an address is a group address (broadcast included).
#[must_use]
pub const fn is_group(mac: Mac) -> bool {
    mac[0] & 1 == 1
}

/// Whether an address is the broadcast address.
#[must_use]
pub const fn is_broadcast(mac: Mac) -> bool {
    matches!(mac, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff])
}

/// Whether a bridge must not forward frames to this address (802.1Q table 8-1: 01-80-C2-00-00-00 to -0F).
#[must_use]
pub const fn is_reserved(mac: Mac) -> bool {
    matches!(mac, [0x01, 0x80, 0xc2, 0x00, 0x00, last] if last < 0x10)
}

/// An address as text, colon separated.
#[must_use]
pub fn mac_text(mac: Mac) -> String {
    mac.map(|byte| format!("{byte:02x}")).join(":")
}
