//! IF-MIB (RFC 2863): ifTable and ifXTable.
//!
//! ifSpeed and ifHighSpeed of a port without link are 0. (Some switches show the configured speed; the difference
//! matters only to a reader that ignores ifOperStatus.)

use snmp::{TableBuilder, Value};

use crate::mib::copy::{PortCopy, SwitchCopy};

const INTERFACES: [u32; 7] = [1, 3, 6, 1, 2, 1, 2];
const IF_ENTRY: [u32; 9] = [1, 3, 6, 1, 2, 1, 2, 2, 1];
const IF_X_ENTRY: [u32; 10] = [1, 3, 6, 1, 2, 1, 31, 1, 1, 1];
const ETHERNET_CSMACD: i32 = 6;
const IEEE8023AD_LAG: i32 = 161;
/// Header of an untagged Ethernet frame, which ifMtu does not count.
const HEADER_BYTE: usize = 14;

/// up(1) or down(2).
fn up_down(up: bool) -> Value<'static> {
    Value::truth(up)
}

/// ifMtu: without header. A LAG has no MAC of its own and shows the standard value.
fn mtu_byte(port: &PortCopy) -> i32 {
    const USUAL_BYTE: i32 = 1500;
    if port.place.is_lag {
        USUAL_BYTE
    } else {
        port.state.mtu_byte.saturating_sub(HEADER_BYTE) as i32
    }
}

/// ifNumber and ifTable.
pub fn put_table(table: &mut TableBuilder, copy: &SwitchCopy) {
    table.put(
        &[&INTERFACES[..], &[1]].concat(),
        &[0],
        &Value::Integer(copy.ports.len() as i32),
    );
    for port in &copy.ports {
        let mut cell = |column: u32, value: Value| {
            let mut object = [0; 10];
            object[..9].copy_from_slice(&IF_ENTRY);
            object[9] = column;
            table.put(&object, &[port.place.if_index], &value);
        };
        let (state, counters) = (&port.state, &port.counters);
        cell(1, Value::Integer(port.place.if_index as i32));
        cell(2, Value::octets(state.name.as_bytes()));
        cell(
            3,
            Value::Integer(if port.place.is_lag {
                IEEE8023AD_LAG
            } else {
                ETHERNET_CSMACD
            }),
        );
        cell(4, Value::Integer(mtu_byte(port)));
        cell(
            5,
            Value::Unsigned(state.speed_mbps.saturating_mul(1_000_000)),
        );
        cell(6, Value::octets(&port.mac));
        cell(7, up_down(state.admin_up));
        cell(8, up_down(state.oper_up));
        cell(9, Value::Ticks(port.changed_ticks));
        cell(10, Value::low32(counters.in_octets));
        cell(11, Value::low32(counters.in_ucast));
        cell(13, Value::low32(counters.in_discards));
        cell(14, Value::low32(counters.in_errors));
        cell(15, Value::Counter32(0));
        cell(16, Value::low32(counters.out_octets));
        cell(17, Value::low32(counters.out_ucast));
        cell(19, Value::low32(counters.out_discards));
        cell(20, Value::low32(counters.out_errors));
    }
}

/// ifXTable. ifAlias is empty here; the owner of the configuration overrides it with a plain entry.
pub fn put_extension(table: &mut TableBuilder, copy: &SwitchCopy) {
    for port in &copy.ports {
        let mut cell = |column: u32, value: Value| {
            let mut object = [0; 11];
            object[..10].copy_from_slice(&IF_X_ENTRY);
            object[10] = column;
            table.put(&object, &[port.place.if_index], &value);
        };
        extension_row(port, &mut cell);
    }
}

fn extension_row(port: &PortCopy, cell: &mut impl FnMut(u32, Value)) {
    const DISABLED: i32 = 2;
    let (state, counters) = (&port.state, &port.counters);
    cell(1, Value::octets(state.name.as_bytes()));
    cell(2, Value::low32(counters.in_mcast));
    cell(3, Value::low32(counters.in_bcast));
    cell(4, Value::low32(counters.out_mcast));
    cell(5, Value::low32(counters.out_bcast));
    cell(6, Value::Counter64(counters.in_octets));
    cell(7, Value::Counter64(counters.in_ucast));
    cell(8, Value::Counter64(counters.in_mcast));
    cell(9, Value::Counter64(counters.in_bcast));
    cell(10, Value::Counter64(counters.out_octets));
    cell(11, Value::Counter64(counters.out_ucast));
    cell(12, Value::Counter64(counters.out_mcast));
    cell(13, Value::Counter64(counters.out_bcast));
    cell(14, Value::Integer(DISABLED));
    cell(15, Value::Unsigned(state.speed_mbps));
    cell(16, Value::truth(true));
    cell(17, Value::truth(!port.place.is_lag));
    cell(18, Value::octets(b""));
    cell(19, Value::Ticks(port.discontinuity_ticks));
}
