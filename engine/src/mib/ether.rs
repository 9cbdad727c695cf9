//! EtherLike-MIB (RFC 3635): dot3StatsTable and dot3PauseTable of the physical ports.
//!
//! The fabric has no bit errors, half duplex or collisions; their counters stay 0.

use snmp::{TableBuilder, Value};

use crate::mib::copy::SwitchCopy;

const STATS_ENTRY: [u32; 10] = [1, 3, 6, 1, 2, 1, 10, 7, 2, 1];
const PAUSE_ENTRY: [u32; 10] = [1, 3, 6, 1, 2, 1, 10, 7, 10, 1];
const DUPLEX_UNKNOWN: i32 = 1;
const DUPLEX_FULL: i32 = 3;

/// dot3PauseAdminMode and dot3PauseOperMode.
fn pause_mode(sends: bool, receives: bool) -> Value<'static> {
    Value::Integer(match (sends, receives) {
        (false, false) => 1,
        (true, false) => 2,
        (false, true) => 3,
        (true, true) => 4,
    })
}

/// Add both tables.
pub fn put(table: &mut TableBuilder, copy: &SwitchCopy) {
    for port in copy.ports.iter().filter(|port| !port.place.is_lag) {
        let (state, counters) = (&port.state, &port.counters);
        let mut cell = |entry: &[u32; 10], column: u32, value: Value| {
            let mut object = [0; 11];
            object[..10].copy_from_slice(entry);
            object[10] = column;
            table.put(&object, &[port.place.if_index], &value);
        };
        cell(&STATS_ENTRY, 1, Value::Integer(port.place.if_index as i32));
        // Alignment, FCS, single, multiple, SQE, deferred, late, excessive, internal transmit, carrier sense.
        for column in 2..=11 {
            cell(&STATS_ENTRY, column, Value::Counter32(0));
        }
        cell(&STATS_ENTRY, 13, Value::low32(counters.in_too_long));
        cell(&STATS_ENTRY, 16, Value::Counter32(0));
        cell(&STATS_ENTRY, 18, Value::Counter32(0));
        cell(
            &STATS_ENTRY,
            19,
            Value::Integer(if state.oper_up {
                DUPLEX_FULL
            } else {
                DUPLEX_UNKNOWN
            }),
        );
        cell(&STATS_ENTRY, 20, Value::truth(false));
        cell(&STATS_ENTRY, 21, Value::Integer(1));
        cell(
            &PAUSE_ENTRY,
            1,
            pause_mode(state.flow_control_admin, state.flow_control_admin),
        );
        cell(
            &PAUSE_ENTRY,
            2,
            pause_mode(state.flow_control_tx, state.flow_control_rx),
        );
        cell(&PAUSE_ENTRY, 3, Value::low32(counters.in_pause));
        cell(&PAUSE_ENTRY, 4, Value::low32(counters.out_pause));
        cell(&PAUSE_ENTRY, 5, Value::Counter64(counters.in_pause));
        cell(&PAUSE_ENTRY, 6, Value::Counter64(counters.out_pause));
    }
}
