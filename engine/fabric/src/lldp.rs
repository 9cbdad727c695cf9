//! LLDP (IEEE 802.1AB-2009): what a station announces of itself, as the TLVs of an LLDPDU and back. Pure.
//!
//! Written are the mandatory TLVs (chassis ID, port ID, time to live), port description, system name, system
//! description, system capabilities, one IPv4 management address (clause 8.5), and the EEE TLV (IEEE 802.3 clause
//! 79.3.5). Other TLVs are skipped when read.

use bytes::{BufMut, Bytes, BytesMut};

use crate::frame::{Frame, Mac};

/// Nearest bridge group address (clause 7.1): no bridge forwards it.
pub const NEAREST_BRIDGE: Mac = [0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e];
/// EtherType of LLDP.
pub const LLDP_ETHERTYPE: u16 = 0x88cc;
/// Subtype of a chassis ID that is a MAC address (table 8-2).
pub const CHASSIS_MAC: u8 = 4;
/// Subtype of a port ID that is the interface's name (table 8-3).
pub const PORT_INTERFACE_NAME: u8 = 5;
/// Longest chassis ID or port ID, without its subtype.
pub const ID_MAX_BYTE: usize = 255;
/// Longest description or name.
pub const TEXT_MAX_BYTE: usize = 255;

const HEADER_BYTE: usize = 14;
const OUI_8023: [u8; 3] = [0x00, 0x12, 0x0f];
const EEE_SUBTYPE: u8 = 5;
const IPV4: u8 = 1;
const BY_IF_INDEX: u8 = 2;

const END: u8 = 0;
const CHASSIS: u8 = 1;
const PORT: u8 = 2;
const TTL: u8 = 3;
const PORT_DESCRIPTION: u8 = 4;
const SYSTEM_NAME: u8 = 5;
const SYSTEM_DESCRIPTION: u8 = 6;
const CAPABILITIES: u8 = 7;
const MANAGEMENT: u8 = 8;
const ORGANIZATION: u8 = 127;

/// A chassis ID or port ID: what kind of name it is, and the name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Id {
    /// Table 8-2 or 8-3.
    pub subtype: u8,
    /// 1 to 255 octets.
    pub value: Bytes,
}

/// Wake times in whole microseconds (IEEE 802.3, 79.3.5).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct EeeTimes {
    /// Tw_sys_tx: what the transmitter grants.
    pub tx_us: u16,
    /// Tw_sys_rx: what the receiver asks for.
    pub rx_us: u16,
    /// What the receiver would fall back to.
    pub fallback_us: u16,
    /// The partner's Tw_sys_tx, as received.
    pub echo_tx_us: u16,
    /// The partner's Tw_sys_rx, as received.
    pub echo_rx_us: u16,
}

/// An IPv4 management address and the ifIndex that it belongs to.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Management {
    /// The address.
    pub address: [u8; 4],
    /// ifIndex.
    pub if_index: u32,
}

/// What a port announces.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Announcement {
    /// The station.
    pub chassis: Id,
    /// Its port.
    pub port: Id,
    /// How long this is valid, in seconds; 0: no longer.
    pub ttl_s: u16,
    /// ifDescr or ifAlias; absent or up to 255 octets.
    pub port_description: Option<Bytes>,
    /// sysName.
    pub system_name: Option<Bytes>,
    /// sysDescr.
    pub system_description: Option<Bytes>,
    /// System capabilities and those enabled: bits of table 8-4.
    pub capabilities: Option<(u16, u16)>,
    /// Management address.
    pub management: Option<Management>,
    /// Wake times.
    pub eee: Option<EeeTimes>,
}

/// Why octets are no LLDPDU (clause 9.2.7.7.1).
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LldpError {
    /// A TLV reaches beyond the end.
    #[error("a TLV is longer than what is left of the LLDPDU")]
    Truncated,
    /// The first three TLVs are not chassis ID, port ID and time to live.
    #[error("the LLDPDU does not begin with chassis ID, port ID and time to live")]
    Order,
    /// A TLV has a length that its type does not allow.
    #[error("a TLV of type {0} has an invalid length")]
    Length(u8),
}

impl Announcement {
    /// The LLDPDU.
    #[must_use]
    pub fn encode(&self) -> Bytes {
        let mut out = BytesMut::with_capacity(256);
        put_id(&mut out, CHASSIS, &self.chassis);
        put_id(&mut out, PORT, &self.port);
        put(&mut out, TTL, &self.ttl_s.to_be_bytes());
        if self.ttl_s > 0 {
            self.put_optional(&mut out);
        }
        put(&mut out, END, &[]);
        out.freeze()
    }

    fn put_optional(&self, out: &mut BytesMut) {
        for (kind, text) in [
            (PORT_DESCRIPTION, &self.port_description),
            (SYSTEM_NAME, &self.system_name),
            (SYSTEM_DESCRIPTION, &self.system_description),
        ] {
            if let Some(text) = text {
                put(out, kind, &text[..text.len().min(TEXT_MAX_BYTE)]);
            }
        }
        if let Some((can, does)) = self.capabilities {
            put(
                out,
                CAPABILITIES,
                &[can.to_be_bytes(), does.to_be_bytes()].concat(),
            );
        }
        if let Some(management) = self.management {
            let mut value = vec![1 + 4, IPV4];
            value.extend(management.address);
            value.push(BY_IF_INDEX);
            value.extend(management.if_index.to_be_bytes());
            value.push(0); // no object identifier
            put(out, MANAGEMENT, &value);
        }
        if let Some(eee) = self.eee {
            let mut value = [&OUI_8023[..], &[EEE_SUBTYPE]].concat();
            for time_us in [
                eee.tx_us,
                eee.rx_us,
                eee.fallback_us,
                eee.echo_tx_us,
                eee.echo_rx_us,
            ] {
                value.extend(time_us.to_be_bytes());
            }
            put(out, ORGANIZATION, &value);
        }
    }

    /// The frame that carries the LLDPDU.
    #[must_use]
    pub fn frame(&self, source: Mac) -> Frame {
        let pdu = self.encode();
        let mut bytes = BytesMut::with_capacity(HEADER_BYTE + pdu.len());
        bytes.put_slice(&NEAREST_BRIDGE);
        bytes.put_slice(&source);
        bytes.put_u16(LLDP_ETHERTYPE);
        bytes.put_slice(&pdu);
        Frame {
            bytes: bytes.freeze(),
            tag: None,
            csum: None,
        }
    }

    /// Read an LLDPDU; what follows its end is padding. A TLV that came before counts, a later one of its type does not.
    ///
    /// # Errors
    /// The octets are no LLDPDU.
    pub fn parse(pdu: &Bytes) -> Result<Self, LldpError> {
        let mut rest = pdu.clone();
        let chassis = id(&mut rest, CHASSIS)?;
        let port = id(&mut rest, PORT)?;
        let ttl = match next(&mut rest)? {
            Some((TTL, value)) => value,
            _ => return Err(LldpError::Order),
        };
        let ttl_s = match ttl[..] {
            [high, low, ..] => u16::from_be_bytes([high, low]),
            _ => return Err(LldpError::Length(TTL)),
        };
        let mut read = Self {
            chassis,
            port,
            ttl_s,
            ..Self::default()
        };
        if ttl_s == 0 {
            return Ok(read);
        }
        while let Some((kind, value)) = next(&mut rest)? {
            read.take(kind, value)?;
        }
        Ok(read)
    }

    fn take(&mut self, kind: u8, value: Bytes) -> Result<(), LldpError> {
        match kind {
            CHASSIS | PORT | TTL => return Err(LldpError::Order),
            PORT_DESCRIPTION => take_text(&mut self.port_description, kind, value)?,
            SYSTEM_NAME => take_text(&mut self.system_name, kind, value)?,
            SYSTEM_DESCRIPTION => take_text(&mut self.system_description, kind, value)?,
            CAPABILITIES => match value[..] {
                [a, b, c, d, ..] => {
                    let both = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
                    self.capabilities.get_or_insert(both);
                }
                _ => return Err(LldpError::Length(kind)),
            },
            MANAGEMENT => {
                if let [5, IPV4, a, b, c, d, numbering, w, x, y, z, ..] = value[..] {
                    let if_index = if numbering == BY_IF_INDEX {
                        u32::from_be_bytes([w, x, y, z])
                    } else {
                        0
                    };
                    self.management.get_or_insert(Management {
                        address: [a, b, c, d],
                        if_index,
                    });
                }
            }
            ORGANIZATION => {
                if let Some(times) = eee_times(&value) {
                    self.eee.get_or_insert(times);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// The LLDPDU of a frame; `None` if it carries none.
#[must_use]
pub fn pdu_of(frame: &Frame) -> Option<Bytes> {
    let is = frame.tag.is_none()
        && frame.destination() == NEAREST_BRIDGE
        && frame.ethertype() == LLDP_ETHERTYPE;
    is.then(|| frame.bytes.slice(HEADER_BYTE..))
}

fn eee_times(value: &Bytes) -> Option<EeeTimes> {
    let times = value
        .strip_prefix(&OUI_8023)?
        .strip_prefix(&[EEE_SUBTYPE])?;
    let time_us = |at: usize| Some(u16::from_be_bytes([*times.get(at)?, *times.get(at + 1)?]));
    Some(EeeTimes {
        tx_us: time_us(0)?,
        rx_us: time_us(2)?,
        fallback_us: time_us(4)?,
        echo_tx_us: time_us(6)?,
        echo_rx_us: time_us(8)?,
    })
}

fn take_text(field: &mut Option<Bytes>, kind: u8, value: Bytes) -> Result<(), LldpError> {
    if value.len() > TEXT_MAX_BYTE {
        return Err(LldpError::Length(kind));
    }
    field.get_or_insert(value);
    Ok(())
}

fn put(out: &mut BytesMut, kind: u8, value: &[u8]) {
    out.put_u16(u16::from(kind) << 9 | value.len() as u16);
    out.put_slice(value);
}

fn put_id(out: &mut BytesMut, kind: u8, id: &Id) {
    let value = &id.value[..id.value.len().min(ID_MAX_BYTE)];
    put(out, kind, &[&[id.subtype][..], value].concat());
}

/// The next TLV: type (7 bits), length (9 bits), value. `None` at the end.
fn next(rest: &mut Bytes) -> Result<Option<(u8, Bytes)>, LldpError> {
    if rest.is_empty() {
        return Ok(None); // the end TLV is optional since 2009
    }
    if rest.len() < 2 {
        return Err(LldpError::Truncated);
    }
    let head = rest.split_to(2);
    let length = usize::from(u16::from_be_bytes([head[0] & 1, head[1]]));
    let kind = head[0] >> 1;
    if length > rest.len() {
        return Err(LldpError::Truncated);
    }
    let value = rest.split_to(length);
    Ok((kind != END).then_some((kind, value)))
}

fn id(rest: &mut Bytes, kind: u8) -> Result<Id, LldpError> {
    match next(rest)? {
        Some((found, value)) if found == kind => {
            if !(2..=1 + ID_MAX_BYTE).contains(&value.len()) {
                return Err(LldpError::Length(kind));
            }
            Ok(Id {
                subtype: value[0],
                value: value.slice(1..),
            })
        }
        _ => Err(LldpError::Order),
    }
}
