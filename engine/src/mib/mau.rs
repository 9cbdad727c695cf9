//! MAU-MIB (RFC 4836): ifMauTable and ifMauAutoNegTable, one MAU per physical port.
//!
//! Types are those of full-duplex copper at the speed of the port, whatever the PHY (a fibre or backplane port differs
//! only in these numbers). Speeds without a bit of their own in IANAifMauAutoNegCapBits show as bOther.

use snmp::{TableBuilder, Value};

use crate::mib::copy::{PortCopy, SwitchCopy};

const MAU: [u32; 7] = [1, 3, 6, 1, 2, 1, 26];
const TYPES: [u32; 8] = [1, 3, 6, 1, 2, 1, 26, 4];
const OPERATIONAL: i32 = 3;
const SHUTDOWN: i32 = 5;
const AVAILABLE: i32 = 3;
const NOT_AVAILABLE: i32 = 4;
const NO_JABBER: i32 = 3;
const NO_RESTART: i32 = 2;

/// dot3MauType of full-duplex copper at a speed; zeroDotZero for 0 or an unknown speed.
fn mau_type(speed_mbps: u32) -> Vec<u32> {
    let number = match speed_mbps {
        10 => 11,
        100 => 16,
        1000 => 30,
        10_000 => 54,
        _ => return vec![0, 0],
    };
    [&TYPES[..], &[number]].concat()
}

/// BITS of IANAifMauAutoNegCapBits.
fn capability(speeds_mbps: &[u32], pause: bool) -> [u8; 2] {
    let mut bits = [0_u8; 2];
    let mut set = |bit: usize| bits[bit / 8] |= 0x80 >> (bit % 8);
    for speed in speeds_mbps {
        set(match speed {
            10 => 2,
            100 => 5,
            1000 => 15,
            _ => 0,
        });
    }
    if pause {
        set(8);
    }
    bits
}

/// BITS of IANAifMauTypeListBits: bit n is dot3MauType n.
fn type_list(speeds_mbps: &[u32]) -> [u8; 8] {
    let mut bits = [0_u8; 8];
    for speed in speeds_mbps {
        if let [.., number] = mau_type(*speed)[..] {
            bits[number as usize / 8] |= 0x80 >> (number % 8);
        }
    }
    bits
}

/// Speeds of the PHY: the best one and the usual lower ones of copper.
fn abilities(port: &PortCopy) -> Vec<u32> {
    let lowest = if port.place.best_mbps > 1000 { 100 } else { 10 };
    let ladder = [10, 100, 1000, 2500, 5000, 10_000];
    let known = |speed: &u32| (lowest..=port.place.best_mbps).contains(speed);
    if port.place.best_mbps == 0 {
        port.state.advertised_mbps.clone()
    } else {
        ladder.into_iter().filter(known).collect()
    }
}

/// ifMauAutoNegConfig: configuring(2), complete(3), disabled(4).
fn progress(port: &PortCopy) -> i32 {
    match (port.state.autoneg, port.state.oper_up) {
        (false, _) => 4,
        (true, true) => 3,
        (true, false) => 2,
    }
}

/// Add both tables.
pub fn put(table: &mut TableBuilder, copy: &SwitchCopy) {
    for port in copy.ports.iter().filter(|port| !port.place.is_lag) {
        let state = &port.state;
        let index = [port.place.if_index, 1];
        let wanted = state.advertised_mbps.iter().max().copied().unwrap_or(0);
        let mut mau = |column: u32, value: Value| {
            table.put(&[&MAU[..], &[2, 1, 1, column]].concat(), &index, &value)
        };
        mau(1, Value::Integer(port.place.if_index as i32));
        mau(2, Value::Integer(1));
        mau(3, Value::oid(&mau_type(state.speed_mbps)));
        mau(
            4,
            Value::Integer(if state.admin_up {
                OPERATIONAL
            } else {
                SHUTDOWN
            }),
        );
        mau(
            5,
            Value::Integer(if state.oper_up {
                AVAILABLE
            } else {
                NOT_AVAILABLE
            }),
        );
        mau(6, Value::low32(state.flaps / 2));
        mau(7, Value::Integer(NO_JABBER));
        mau(8, Value::Counter32(0));
        mau(9, Value::Counter32(0));
        mau(11, Value::oid(&mau_type(wanted)));
        mau(12, Value::truth(true));
        mau(13, Value::octets(&type_list(&abilities(port))));
        put_autoneg(table, port);
    }
}

/// The port's row of ifMauAutoNegTable.
fn put_autoneg(table: &mut TableBuilder, port: &PortCopy) {
    let state = &port.state;
    let index = [port.place.if_index, 1];
    let mut autoneg = |column: u32, value: Value| {
        table.put(&[&MAU[..], &[5, 1, 1, column]].concat(), &index, &value)
    };
    let complete = state.autoneg && state.oper_up;
    let offered = if state.autoneg {
        &state.advertised_mbps[..]
    } else {
        &[]
    };
    let received = if complete {
        std::slice::from_ref(&state.speed_mbps)
    } else {
        &[]
    };
    autoneg(1, Value::truth(state.autoneg));
    autoneg(2, Value::truth(complete));
    autoneg(4, Value::Integer(progress(port)));
    autoneg(8, Value::Integer(NO_RESTART));
    let speeds = abilities(port);
    autoneg(9, Value::octets(&capability(&speeds, true)));
    autoneg(
        10,
        Value::octets(&capability(offered, state.flow_control_admin)),
    );
    autoneg(
        11,
        Value::octets(&capability(received, state.flow_control_rx)),
    );
    autoneg(12, Value::Integer(1));
    autoneg(13, Value::Integer(1));
}
