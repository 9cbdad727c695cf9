//! Counters of the agent: SNMPv2-MIB (RFC 3418), USM (RFC 3414 §5), message processing (RFC 3412 §5).

use crate::table::TableBuilder;
use crate::value::Value;

const SNMP: [u32; 7] = [1, 3, 6, 1, 2, 1, 11];
const MPD_STATS: [u32; 9] = [1, 3, 6, 1, 6, 3, 11, 2, 1];
const USM_STATS: [u32; 9] = [1, 3, 6, 1, 6, 3, 15, 1, 1];
const TARGET_OBJECTS: [u32; 8] = [1, 3, 6, 1, 6, 3, 12, 1];
/// Number of snmpUnknownContexts below snmpTargetObjects.
const UNKNOWN_CONTEXTS: u32 = 5;

/// Errors of the User-based Security Model; the number is the object below usmStats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsmFailure {
    /// The user has no keys for this security level.
    UnsupportedSecLevel = 1,
    /// Replayed, too old, or the manager does not have our time yet.
    NotInTimeWindow = 2,
    /// Unknown user.
    UnknownUserName = 3,
    /// Another engine, or discovery.
    UnknownEngineId = 4,
    /// Wrong digest: another password, or the message was altered.
    WrongDigest = 5,
    /// The decrypted data is not a PDU.
    DecryptionError = 6,
}

/// The agent's own counters; all wrap at 32 bits.
#[derive(Debug, Clone, Default)]
pub struct Counters {
    /// snmpInPkts: datagrams that came in.
    pub in_pkts: u32,
    /// snmpInBadVersions.
    pub in_bad_versions: u32,
    /// snmpInBadCommunityNames.
    pub in_bad_community_names: u32,
    /// snmpInASNParseErrs.
    pub in_asn_parse_errs: u32,
    /// snmpSilentDrops: responses too large for a datagram.
    pub silent_drops: u32,
    /// snmpUnknownSecurityModels.
    pub unknown_security_models: u32,
    /// snmpInvalidMsgs: flags that contradict each other.
    pub invalid_msgs: u32,
    /// snmpUnknownPDUHandlers: PDU classes that agents do not serve.
    pub unknown_pdu_handlers: u32,
    /// snmpUnknownContexts.
    pub unknown_contexts: u32,
    usm: [u32; 6],
}

impl Counters {
    /// Counts an error and returns the variable for the report.
    pub fn refuse(&mut self, why: UsmFailure) -> (Vec<u32>, Value<'static>) {
        let count = &mut self.usm[why as usize - 1];
        *count = count.wrapping_add(1);
        (
            [&USM_STATS[..], &[why as u32, 0]].concat(),
            Value::Counter32(*count),
        )
    }

    /// Counts a message for an unknown context and returns the variable for the report.
    pub fn refuse_context(&mut self) -> (Vec<u32>, Value<'static>) {
        count(&mut self.unknown_contexts);
        (
            [&TARGET_OBJECTS[..], &[UNKNOWN_CONTEXTS, 0]].concat(),
            Value::Counter32(self.unknown_contexts),
        )
    }

    /// Adds the counters' variables.
    pub fn put_into(&self, table: &mut TableBuilder) {
        let mut counter = |object: &[u32], number: u32, count: u32| {
            let object = [object, &[number]].concat();
            table.put(&object, &[0], &Value::Counter32(count));
        };
        counter(&SNMP, 1, self.in_pkts);
        counter(&SNMP, 3, self.in_bad_versions);
        counter(&SNMP, 4, self.in_bad_community_names);
        counter(&SNMP, 6, self.in_asn_parse_errs);
        counter(&SNMP, 31, self.silent_drops);
        counter(&MPD_STATS, 1, self.unknown_security_models);
        counter(&MPD_STATS, 2, self.invalid_msgs);
        counter(&MPD_STATS, 3, self.unknown_pdu_handlers);
        for (number, &count) in (1..).zip(&self.usm) {
            counter(&USM_STATS, number, count);
        }
        counter(&TARGET_OBJECTS, UNKNOWN_CONTEXTS, self.unknown_contexts);
    }
}

/// Increments, wrapping like a Counter32.
pub fn count(counter: &mut u32) {
    *counter = counter.wrapping_add(1);
}
