//! BRIDGE-MIB (RFC 4188): base, port states of the spanning tree, forwarding database.
//!
//! dot1dTpFdbTable has one row per address, though the bridge may have learned it in several VLANs: it shows the
//! lowest VLAN, like agents of independent-learning bridges. dot1qTpFdbTable has all.

use snmp::{TableBuilder, Value};

use crate::mib::copy::{PortCopy, SwitchCopy};

const BRIDGE: [u32; 7] = [1, 3, 6, 1, 2, 1, 17];
const TRANSPARENT_ONLY: i32 = 2;
const IEEE_8021D: i32 = 3;
const DEFAULT_PRIORITY: i32 = 32_768;
const DEFAULT_PORT_PRIORITY: i32 = 128;
/// Status of a learned address (dot1dTpFdbStatus, dot1qTpFdbStatus).
pub const LEARNED: i32 = 3;
/// Status of a static address.
pub const MANAGED: i32 = 5;

fn object(below: &[u32]) -> Vec<u32> {
    [&BRIDGE[..], below].concat()
}

/// dot1dStpPortState: disabled(1), blocking(2), forwarding(5).
fn stp_state(port: &PortCopy) -> i32 {
    match (port.state.oper_up, port.state.blocked) {
        (false, _) => 1,
        (true, true) => 2,
        (true, false) => 5,
    }
}

/// Add all groups.
pub fn put(table: &mut TableBuilder, copy: &SwitchCopy) {
    let ports: Vec<(u32, &PortCopy)> = copy
        .ports
        .iter()
        .filter_map(|port| Some((port.place.bridge_port?, port)))
        .collect();
    put_base(table, copy, &ports);
    put_spanning_tree(table, &ports);
    put_forwarding(table, copy, &ports);
}

fn put_base(table: &mut TableBuilder, copy: &SwitchCopy, ports: &[(u32, &PortCopy)]) {
    table.put(
        &object(&[1, 1]),
        &[0],
        &Value::octets(&copy.bridge.base_mac),
    );
    table.put(&object(&[1, 2]), &[0], &Value::Integer(ports.len() as i32));
    table.put(&object(&[1, 3]), &[0], &Value::Integer(TRANSPARENT_ONLY));
    for &(number, port) in ports {
        let mut cell = |column, value| table.put(&object(&[1, 4, 1, column]), &[number], &value);
        cell(1, Value::Integer(number as i32));
        cell(2, Value::Integer(port.place.if_index as i32));
        cell(3, Value::oid(&[0, 0]));
        cell(4, Value::Counter32(0));
        cell(5, Value::Counter32(0));
    }
}

/// Only meaningful objects. The owner of the configuration overrides dot1dStpPortEnable with a plain entry.
fn put_spanning_tree(table: &mut TableBuilder, ports: &[(u32, &PortCopy)]) {
    table.put(&object(&[2, 1]), &[0], &Value::Integer(IEEE_8021D));
    table.put(&object(&[2, 2]), &[0], &Value::Integer(DEFAULT_PRIORITY));
    for &(number, port) in ports {
        let mut cell = |column, value| {
            table.put(
                &object(&[2, 15, 1, column]),
                &[number],
                &Value::Integer(value),
            )
        };
        cell(1, number as i32);
        cell(2, DEFAULT_PORT_PRIORITY);
        cell(3, stp_state(port));
        cell(4, if port.state.admin_up { 1 } else { 2 });
    }
}

fn put_forwarding(table: &mut TableBuilder, copy: &SwitchCopy, ports: &[(u32, &PortCopy)]) {
    table.put(
        &object(&[4, 1]),
        &[0],
        &Value::low32(copy.bridge.fdb_discards),
    );
    let ageing_s = copy.bridge.ageing / fabric::time::PS_PER_S;
    table.put(
        &object(&[4, 2]),
        &[0],
        &Value::Integer(i32::try_from(ageing_s).unwrap_or(i32::MAX)),
    );
    let mut by_mac = std::collections::BTreeMap::new();
    for ((_, mac), entry) in copy.fdb_rows() {
        by_mac.entry(mac).or_insert(entry);
    }
    for (mac, entry) in by_mac {
        let index = mac.map(u32::from);
        let number = copy.bridge_port(entry.port).unwrap_or(0);
        table.put(&object(&[4, 3, 1, 1]), &index, &Value::octets(&mac));
        table.put(
            &object(&[4, 3, 1, 2]),
            &index,
            &Value::Integer(number as i32),
        );
        table.put(
            &object(&[4, 3, 1, 3]),
            &index,
            &Value::Integer(if entry.is_static { MANAGED } else { LEARNED }),
        );
    }
    for &(number, port) in ports {
        let counters = &port.counters;
        let mut cell = |column, value| table.put(&object(&[4, 4, 1, column]), &[number], &value);
        cell(1, Value::Integer(number as i32));
        cell(2, Value::Integer(port.state.mtu_byte as i32));
        cell(
            3,
            Value::low32(counters.in_ucast + counters.in_mcast + counters.in_bcast),
        );
        cell(
            4,
            Value::low32(counters.out_ucast + counters.out_mcast + counters.out_bcast),
        );
        cell(5, Value::low32(counters.in_discards));
    }
}
