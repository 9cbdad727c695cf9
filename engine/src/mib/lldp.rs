//! LLDP-MIB (IEEE 802.1AB-2005, clause 12): settings, the local system and ports, and the neighbours that were heard.
//!
//! A port's number is its ifIndex, as with most agents. lldpRemTimeMark is sysUpTime when the neighbour was new or last
//! announced something else. Statistics, configuration of TLVs and the tables of organisations are left out, and so
//! is lldpLocManAddrTable.

use fabric::lldp::Announcement;
use fabric::time::PS_PER_S;
use snmp::{TableBuilder, Value};

use crate::mib::copy::{LldpCopy, SwitchCopy};

const LLDP_OBJECTS: [u32; 7] = [1, 0, 8802, 1, 1, 2, 1];
const HOLD_MULTIPLIER: u32 = 2;
const IPV4: u32 = 1;
const BY_IF_INDEX: i32 = 2;

fn object(below: &[u32]) -> Vec<u32> {
    [&LLDP_OBJECTS[..], below].concat()
}

/// lldpPortConfigAdminStatus: txOnly(1), rxOnly(2), txAndRx(3), disabled(4).
fn status(port: &LldpCopy) -> i32 {
    match (port.setting.transmit, port.setting.receive) {
        (true, false) => 1,
        (false, true) => 2,
        (true, true) => 3,
        (false, false) => 4,
    }
}

/// A capability map as BITS: bit 0 of table 8-4 is the first of the first octet.
fn capability_bits(capabilities: u16) -> [u8; 2] {
    capabilities.reverse_bits().to_be_bytes()
}

/// Add all tables.
pub fn put(table: &mut TableBuilder, copy: &SwitchCopy) {
    let Some(first) = copy.lldp.first() else {
        return;
    };
    put_settings(table, first);
    for port in &copy.lldp {
        table.put(
            &object(&[1, 6, 1, 2]),
            &[port.if_index],
            &Value::Integer(status(port)),
        );
    }
    put_local_system(table, &first.setting.announcement);
    for port in &copy.lldp {
        let own = &port.setting.announcement;
        let mut cell =
            |column, value: Value| table.put(&object(&[3, 7, 1, column]), &[port.if_index], &value);
        cell(2, Value::Integer(own.port.subtype.into()));
        cell(3, Value::octets(&own.port.value));
        let description = own.port_description.as_deref().unwrap_or_default();
        cell(4, Value::octets(description));
    }
    for port in &copy.lldp {
        for (heard, since_ticks) in &port.heard {
            let index = [*since_ticks, port.if_index, heard.index];
            put_neighbour(table, &index, &heard.announcement);
        }
    }
}

/// lldpMessageTxInterval and lldpMessageTxHoldMultiplier.
fn put_settings(table: &mut TableBuilder, port: &LldpCopy) {
    let interval_s = (port.setting.interval / PS_PER_S).max(1);
    let hold = u64::from(port.setting.announcement.ttl_s) / interval_s;
    for (below, value) in [(1, interval_s), (HOLD_MULTIPLIER, hold)] {
        table.put(&object(&[1, below]), &[0], &Value::Integer(value as i32));
    }
}

fn put_local_system(table: &mut TableBuilder, own: &Announcement) {
    let mut put = |below, value: Value| table.put(&object(&[3, below]), &[0], &value);
    put(1, Value::Integer(own.chassis.subtype.into()));
    put(2, Value::octets(&own.chassis.value));
    put(
        3,
        Value::octets(own.system_name.as_deref().unwrap_or_default()),
    );
    put(
        4,
        Value::octets(own.system_description.as_deref().unwrap_or_default()),
    );
    let (can, does) = own.capabilities.unwrap_or_default();
    put(5, Value::octets(&capability_bits(can)));
    put(6, Value::octets(&capability_bits(does)));
}

/// Rows of lldpRemTable and lldpRemManAddrTable.
fn put_neighbour(table: &mut TableBuilder, index: &[u32; 3], said: &Announcement) {
    let mut cell = |column, value: Value| table.put(&object(&[4, 1, 1, column]), index, &value);
    cell(4, Value::Integer(said.chassis.subtype.into()));
    cell(5, Value::octets(&said.chassis.value));
    cell(6, Value::Integer(said.port.subtype.into()));
    cell(7, Value::octets(&said.port.value));
    for (column, text) in [
        (8, &said.port_description),
        (9, &said.system_name),
        (10, &said.system_description),
    ] {
        cell(column, Value::octets(text.as_deref().unwrap_or_default()));
    }
    let (can, does) = said.capabilities.unwrap_or_default();
    cell(11, Value::octets(&capability_bits(can)));
    cell(12, Value::octets(&capability_bits(does)));
    if let Some(management) = said.management {
        let address = management.address.map(u32::from);
        let index = [&index[..], &[IPV4, 4], &address].concat();
        let mut cell =
            |column, value: Value| table.put(&object(&[4, 2, 1, column]), &index, &value);
        cell(3, Value::Integer(BY_IF_INDEX));
        cell(4, Value::Integer(management.if_index as i32));
        cell(5, Value::oid(&[0, 0]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bridge_is_the_third_bit() {
        assert_eq!(capability_bits(1 << 2), [0b0010_0000, 0]);
        assert_eq!(capability_bits(1 << 8), [0, 0b1000_0000]);
    }
}
