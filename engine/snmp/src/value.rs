//! The SMIv2 types of a variable's value (RFC 2578 §7.1).

use std::borrow::Cow;

use crate::ber::{self, BerError, Prepender};

/// A variable's value; long contents may be borrowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value<'a> {
    /// INTEGER, Integer32 and enumerations.
    Integer(i32),
    /// Gauge32 and Unsigned32.
    Unsigned(u32),
    /// Counter32: wraps.
    Counter32(u32),
    /// Counter64.
    Counter64(u64),
    /// TimeTicks, hundredths of a second.
    Ticks(u32),
    /// OCTET STRING and its derived types.
    Octets(Cow<'a, [u8]>),
    /// OBJECT IDENTIFIER.
    Oid(Cow<'a, [u32]>),
    /// IpAddress.
    Ip([u8; 4]),
    /// NULL, the value in a read request.
    Null,
}

impl<'a> Value<'a> {
    /// An OCTET STRING that borrows.
    pub fn octets(bytes: &'a [u8]) -> Self {
        Self::Octets(Cow::Borrowed(bytes))
    }

    /// An OBJECT IDENTIFIER that borrows.
    pub fn oid(name: &'a [u32]) -> Self {
        Self::Oid(Cow::Borrowed(name))
    }

    /// A 64-bit counter as a Counter32: its low half (RFC 2863 §3.1.6).
    pub fn low32(count: u64) -> Self {
        Self::Counter32(count as u32)
    }

    /// A TruthValue: true(1), false(2) (RFC 2579).
    pub fn truth(yes: bool) -> Self {
        Self::Integer(if yes { 1 } else { 2 })
    }

    /// Puts the encoded value before what `out` holds.
    pub fn prepend(&self, out: &mut Prepender) {
        match self {
            Self::Integer(value) => out.integer(*value),
            Self::Unsigned(value) => out.unsigned(ber::UNSIGNED32, u64::from(*value)),
            Self::Counter32(value) => out.unsigned(ber::COUNTER32, u64::from(*value)),
            Self::Counter64(value) => out.unsigned(ber::COUNTER64, *value),
            Self::Ticks(value) => out.unsigned(ber::TICKS, u64::from(*value)),
            Self::Octets(bytes) => out.element(ber::OCTETS, bytes),
            Self::Oid(name) => out.oid(name),
            Self::Ip(address) => out.element(ber::IP, address),
            Self::Null => out.header(ber::NULL, 0),
        }
    }

    /// A value from its tag and content.
    pub fn parse(tag: u8, content: &'a [u8]) -> Result<Self, BerError> {
        let narrow =
            |content| u32::try_from(ber::unsigned(content)?).map_err(|_| BerError::Integer);
        Ok(match tag {
            ber::INTEGER => Self::Integer(ber::signed(content)?),
            ber::UNSIGNED32 => Self::Unsigned(narrow(content)?),
            ber::COUNTER32 => Self::Counter32(narrow(content)?),
            ber::COUNTER64 => Self::Counter64(ber::unsigned(content)?),
            ber::TICKS => Self::Ticks(narrow(content)?),
            ber::OCTETS => Self::octets(content),
            ber::OID => {
                let mut name = Vec::with_capacity(content.len() + 1);
                ber::oid(content, &mut name)?;
                Self::Oid(Cow::Owned(name))
            }
            ber::IP => Self::Ip(content.try_into().map_err(|_| BerError::Length)?),
            ber::NULL if content.is_empty() => Self::Null,
            found => {
                return Err(BerError::Tag {
                    expected: ber::NULL,
                    found,
                });
            }
        })
    }

    /// The same value, owning its content.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Self::Integer(value) => Value::Integer(value),
            Self::Unsigned(value) => Value::Unsigned(value),
            Self::Counter32(value) => Value::Counter32(value),
            Self::Counter64(value) => Value::Counter64(value),
            Self::Ticks(value) => Value::Ticks(value),
            Self::Octets(bytes) => Value::Octets(Cow::Owned(bytes.into_owned())),
            Self::Oid(name) => Value::Oid(Cow::Owned(name.into_owned())),
            Self::Ip(address) => Value::Ip(address),
            Self::Null => Value::Null,
        }
    }
}
