//! Who an agent is, and the frame of its SNMPv3 messages.

use crate::ber::{self, Prepender};
use crate::counters::Counters;
use crate::keys::{AuthKey, DIGEST_MAX_BYTE};
use crate::table::TableBuilder;
use crate::usm::{EngineTime, Level};
use crate::value::Value;

pub(crate) const VERSION_3: i32 = 3;
pub(crate) const USM_MODEL: i32 = 3;
const SNMP_ENGINE: [u32; 9] = [1, 3, 6, 1, 6, 3, 10, 2, 1];

/// Identity, time and counters of the agent.
#[derive(Debug)]
pub struct Own {
    pub(crate) engine_id: Vec<u8>,
    pub(crate) boots: u32,
    pub(crate) time_s: u32,
    pub(crate) size_max_byte: usize,
    /// The agent's counters.
    pub counters: Counters,
}

impl Own {
    pub(crate) fn engine(&self) -> EngineTime<'_> {
        EngineTime {
            id: &self.engine_id,
            boots: self.boots,
            time_s: self.time_s,
        }
    }

    /// Adds snmpEngine and the agent's counters to a table.
    pub fn put_into(&self, table: &mut TableBuilder) {
        let mut engine = |number: u32, value: &Value| {
            table.put(&[&SNMP_ENGINE[..], &[number]].concat(), &[0], value)
        };
        engine(1, &Value::octets(&self.engine_id));
        engine(2, &Value::Integer(self.boots as i32));
        engine(3, &Value::Integer(self.time_s as i32));
        engine(4, &Value::Integer(self.size_max_byte as i32));
        self.counters.put_into(table);
    }
}

/// Puts security parameters, header and version before the (encrypted) scoped PDU in `out`, and signs.
pub(crate) fn write_frame(
    out: &mut Prepender,
    message_id: i32,
    level: Level,
    own: &Own,
    user: &[u8],
    signer: Option<&AuthKey>,
    salt: &[u8],
) {
    let mark = out.size_byte();
    out.element(ber::OCTETS, salt);
    let digest_byte = signer.map_or(0, AuthKey::digest_byte);
    out.raw(&[0; DIGEST_MAX_BYTE][..digest_byte]);
    let digest_from_end = out.size_byte();
    out.header(ber::OCTETS, digest_byte);
    out.element(ber::OCTETS, user);
    out.integer(own.time_s as i32);
    out.integer(own.boots as i32);
    out.element(ber::OCTETS, &own.engine_id);
    out.wrap(ber::SEQUENCE, mark);
    out.wrap(ber::OCTETS, mark);
    let mark = out.size_byte();
    out.integer(USM_MODEL);
    out.element(ber::OCTETS, &[level.flags()]);
    out.integer(own.size_max_byte as i32);
    out.integer(message_id);
    out.wrap(ber::SEQUENCE, mark);
    out.integer(VERSION_3);
    out.wrap(ber::SEQUENCE, 0);
    if let Some(key) = signer {
        let digest = key.digest([out.written(), &[], &[]]);
        let at = out.size_byte() - digest_from_end;
        out.written_mut()[at..at + digest_byte].copy_from_slice(digest.octets());
    }
}
