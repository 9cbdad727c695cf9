//! Q-BRIDGE-MIB (RFC 4363): VLANs, their filtering databases, static addresses.
//!
//! dot1qVlanFdbId follows the learning mode: one number per VLAN under independent learning, 1 for all under shared
//! learning. dot1qVlanCurrentTable has only rows with TimeMark 0, so a manager that filters by time gets all rows.
//! (Most switches do the same; the TimeFilter of RFC 4502 would repeat each row for every mark.) dot1qVlanCreationTime
//! is 0. dot1qVlanStaticTable shows the active configuration; a device family with inactive configuration overrides it
//! with plain entries.

use fabric::spec::Acceptable;
use snmp::{TableBuilder, Value};

use crate::mib::bridge::{LEARNED, MANAGED};
use crate::mib::copy::SwitchCopy;

const Q_BRIDGE: [u32; 9] = [1, 3, 6, 1, 2, 1, 17, 7, 1];
const DISABLED: i32 = 2;
const ACTIVE: i32 = 1;
const VLAN_PERMANENT: i32 = 2;
const STATIC_PERMANENT: i32 = 3;
const INDEPENDENT: i32 = 1;
const SHARED: i32 = 2;
const VIDS: i32 = 4094;

fn object(below: &[u32]) -> Vec<u32> {
    [&Q_BRIDGE[..], below].concat()
}

/// Add all groups.
pub fn put(table: &mut TableBuilder, copy: &SwitchCopy) {
    let mut scalar = |below: &[u32], value| table.put(&object(below), &[0], &value);
    scalar(&[1, 1], Value::Integer(1));
    scalar(&[1, 2], Value::Integer(VIDS));
    scalar(&[1, 3], Value::Unsigned(VIDS as u32));
    scalar(&[1, 4], Value::Unsigned(copy.vlans.len() as u32));
    scalar(&[1, 5], Value::Integer(DISABLED));
    scalar(&[4, 1], Value::Counter32(0));
    scalar(&[4, 9], Value::Integer(65_535));
    scalar(
        &[4, 10],
        Value::Integer(if copy.bridge.shared_learning {
            SHARED
        } else {
            INDEPENDENT
        }),
    );
    put_forwarding(table, copy);
    put_vlans(table, copy);
    put_ports(table, copy);
}

fn put_forwarding(table: &mut TableBuilder, copy: &SwitchCopy) {
    let rows = copy.fdb_rows();
    let mut learned: std::collections::BTreeMap<u32, u32> = copy
        .vlans
        .keys()
        .map(|&vid| (copy.fdb_id(vid), 0))
        .collect();
    for (&(fdb_id, mac), entry) in &rows {
        let index = [
            fdb_id,
            mac[0].into(),
            mac[1].into(),
            mac[2].into(),
            mac[3].into(),
            mac[4].into(),
            mac[5].into(),
        ];
        let number = copy.bridge_port(entry.port).unwrap_or(0);
        let status = if entry.is_static { MANAGED } else { LEARNED };
        table.put(
            &object(&[2, 2, 1, 2]),
            &index,
            &Value::Integer(number as i32),
        );
        table.put(&object(&[2, 2, 1, 3]), &index, &Value::Integer(status));
        if entry.is_static {
            let received_on_any = [&index[..], &[0]].concat();
            let goes_to = copy.port_list(&[entry.port]);
            table.put(
                &object(&[3, 1, 1, 3]),
                &received_on_any,
                &Value::octets(&goes_to),
            );
            table.put(
                &object(&[3, 1, 1, 4]),
                &received_on_any,
                &Value::Integer(STATIC_PERMANENT),
            );
        } else {
            *learned.entry(fdb_id).or_default() += 1;
        }
    }
    for (fdb_id, count) in learned {
        table.put(&object(&[2, 1, 1, 2]), &[fdb_id], &Value::Counter32(count));
    }
}

fn put_vlans(table: &mut TableBuilder, copy: &SwitchCopy) {
    let nobody = copy.port_list(&[]);
    for (&vid, (members, untagged)) in &copy.vlans {
        let vlan = u32::from(vid);
        let (egress, untagged) = (copy.port_list(members), copy.port_list(untagged));
        let mut current =
            |column, value| table.put(&object(&[4, 2, 1, column]), &[0, vlan], &value);
        current(3, Value::Unsigned(copy.fdb_id(vid)));
        current(4, Value::octets(&egress));
        current(5, Value::octets(&untagged));
        current(6, Value::Integer(VLAN_PERMANENT));
        current(7, Value::Ticks(0));
        let mut configured =
            |column, value| table.put(&object(&[4, 3, 1, column]), &[vlan], &value);
        configured(1, Value::octets(b""));
        configured(2, Value::octets(&egress));
        configured(3, Value::octets(&nobody));
        configured(4, Value::octets(&untagged));
        configured(5, Value::Integer(ACTIVE));
    }
}

fn put_ports(table: &mut TableBuilder, copy: &SwitchCopy) {
    for port in &copy.ports {
        let Some(number) = port.place.bridge_port else {
            continue;
        };
        let mut cell = |column, value| table.put(&object(&[4, 5, 1, column]), &[number], &value);
        cell(1, Value::Unsigned(u32::from(port.state.pvid)));
        cell(2, Value::Integer(acceptable(port.state.acceptable)));
        cell(3, Value::truth(port.state.ingress_filtering));
        cell(4, Value::Integer(DISABLED));
        cell(5, Value::Counter32(0));
    }
}

/// admitAll(1), admitOnlyVlanTagged(2). The RFC has no number for untagged frames only; 3 is the value of ROS
/// switches, from memory and not verified.
fn acceptable(acceptable: Acceptable) -> i32 {
    match acceptable {
        Acceptable::All => 1,
        Acceptable::Tagged => 2,
        Acceptable::Untagged => 3,
    }
}
