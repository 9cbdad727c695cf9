//! The EEE MIB of RADLAN/ROS switches under Dell's branch.
//!
//! Objects and types are those of CISCOSB-EEE-MIB (2010, .1.3.6.1.4.1.9.6.1.101.149). The same numbers under
//! .1.3.6.1.4.1.89.149 for Dell's ROS switches are derived from how the two branches correspond elsewhere, not
//! verified on a device. rlEeePortRemoteStatus is known only while this end advertises EEE too. The LLDP tables
//! (negotiated wake times) are left out: ports announce their wake times and negotiate nothing. The owner of the
//! configuration overrides rlEeeEnable with a plain entry.

use snmp::{TableBuilder, Value};

use crate::mib::copy::SwitchCopy;

const RL_EEE: [u32; 9] = [1, 3, 6, 1, 4, 1, 89, 149, 2];

/// BITS of rlEeePortSupported: 100M is bit 1, 1G is 2, 10G is 3 (EEE at 10M does not exist).
fn supported(best_mbps: u32) -> [u8; 1] {
    let speeds = [(100, 1), (1000, 2), (10_000, 3)];
    let bits = speeds
        .iter()
        .filter(|(speed, _)| *speed <= best_mbps)
        .fold(0, |bits, (_, bit)| bits | 0x80 >> bit);
    [bits]
}

/// rlEeePortTable.
pub fn put(table: &mut TableBuilder, copy: &SwitchCopy) {
    for port in copy.ports.iter().filter(|port| !port.place.is_lag) {
        let state = &port.state;
        let best_mbps = if port.place.best_mbps > 0 {
            port.place.best_mbps
        } else {
            state.speed_mbps
        };
        let abilities = if state.eee_supported {
            supported(best_mbps)
        } else {
            [0]
        };
        let mut cell = |column: u32, value: Value| {
            table.put(
                &[&RL_EEE[..], &[1, column]].concat(),
                &[port.place.if_index],
                &value,
            )
        };
        cell(1, Value::truth(state.eee_admin));
        cell(2, Value::octets(&abilities));
        cell(3, Value::truth(state.eee_active));
        cell(4, Value::truth(state.eee_active));
    }
}
