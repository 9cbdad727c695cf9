//! LPI as hosts feel it: through the whole fabric, to the picosecond.

use crate::poisson::{Case, Dice, FRAME, FRAME_BYTE, Outcome, PS};
use bytes::Bytes;
use fabric::lpi::Mode;
use fabric::time::{PS_PER_S, PS_PER_US};
use fabric::{Delivery, Fabric, Frame, LpiChange, LpiState, Mac, NicSpec, PortId, Ps, SwitchSpec};

const A: Mac = [2, 0, 0, 0, 0, 1];
const B: Mac = [2, 0, 0, 0, 0, 2];
/// Preamble, FCS and gap around what a host sends.
const OVERHEAD_BYTE: usize = 8 + 4 + 12;
const GAP_BYTE: Ps = 12;
const UP_BY: Ps = 10 * PS_PER_S;

fn frame(wire_byte: usize) -> Frame {
    let mut bytes = vec![0; wire_byte - OVERHEAD_BYTE];
    bytes[..6].copy_from_slice(&B);
    bytes[6..12].copy_from_slice(&A);
    bytes[12..14].copy_from_slice(&[0x88, 0xb5]);
    Frame {
        bytes: Bytes::from(bytes),
        ..Frame::default()
    }
}

fn poll(fabric: &mut Fabric, now: Ps) -> Vec<Delivery> {
    let mut out = Vec::new();
    fabric.poll(now, &mut out);
    out
}

/// Two NICs and a cable of 2 m, up.
fn pair(phy: &str) -> (Fabric, PortId, PortId) {
    let mut fabric = Fabric::new(1, 0);
    let a = fabric.add_nic(NicSpec::new("a", A, phy)).unwrap();
    let b = fabric.add_nic(NicSpec::new("b", B, phy)).unwrap();
    fabric.connect(0, a, b, 2.0).unwrap();
    poll(&mut fabric, UP_BY);
    (fabric, a, b)
}

/// Miwa's ping experiment: a switch with hold 1 ms and wake 60 µs, the receiving NIC with EEE, the sending one
/// without. Each packet's delay beyond that of an awake link is zero in the hold, the rest of Ts and Tw in Ts, Tw later.
#[test]
fn a_ping_interval_scan_shows_hold_ts_and_tw() {
    let mut fabric = Fabric::new(1, 0);
    let switch = fabric
        .add_switch(SwitchSpec::new("sw", "powerconnect-5548", 2))
        .unwrap();
    let node_1 = fabric
        .add_nic(NicSpec::new("node1", A, "1000BASE-T-no-EEE"))
        .unwrap();
    let node_0 = fabric
        .add_nic(NicSpec::new("node0", B, "1000BASE-T"))
        .unwrap();
    fabric.connect(0, switch.ports[0], node_1, 2.0).unwrap();
    fabric.connect(0, switch.ports[1], node_0, 2.0).unwrap();
    let mut now = UP_BY;
    assert!(fabric.port(now, switch.ports[1]).unwrap().eee_active);
    assert!(!fabric.port(now, switch.ports[0]).unwrap().eee_active);

    let (hold, sleep, wake) = (1_000 * PS_PER_US, 182 * PS_PER_US, 60 * PS_PER_US);
    let byte = 8_000;
    let sent = (88 - GAP_BYTE) * byte;
    // Twice over the wire, 2 m each, and 2 µs through the switch.
    let awake = 2 * sent + 2 * 10_000 + 2 * PS_PER_US;
    for idle_us in [1, 500, 999, 1000, 1001, 1100, 1181, 1182, 1183, 2000, 4000] {
        let idle = idle_us * PS_PER_US;
        // The first packet finds the link asleep and wakes it; the second comes when it has idled for so long again.
        let first = now + 100_000 * PS_PER_US;
        let second = first + wake + 88 * byte + idle;
        now = second + 10_000 * PS_PER_US;
        fabric.transmit(first, node_1, frame(88)).unwrap();
        fabric.transmit(second, node_1, frame(88)).unwrap();
        let found = poll(&mut fabric, now);
        assert_eq!((found.len(), found[0].nic), (2, node_0));
        assert_eq!(found[0].at - first, awake + wake, "from deep sleep");
        let extra = if idle <= hold {
            0
        } else if idle < hold + sleep {
            hold + sleep - idle + wake
        } else {
            wake
        };
        assert_eq!(found[1].at - second, awake + extra, "after {idle_us} µs");
    }
}

#[test]
fn the_first_second_of_a_link_is_awake() {
    let mut fabric = Fabric::new(1, 0);
    let a = fabric.add_nic(NicSpec::new("a", A, "1000BASE-T")).unwrap();
    let b = fabric.add_nic(NicSpec::new("b", B, "1000BASE-T")).unwrap();
    fabric.set_interruption(0, a, 2 * PS_PER_S).unwrap();
    fabric.set_interruption(0, b, PS_PER_S).unwrap();
    let cable = fabric.connect(0, a, b, 2.0).unwrap();
    let state = |fabric: &mut Fabric, at| fabric.port(at, a).unwrap().lpi_now;
    assert_eq!(state(&mut fabric, 2 * PS_PER_S - 1), LpiState::Off);
    assert_eq!(state(&mut fabric, 3 * PS_PER_S), LpiState::Hold);
    assert_eq!(state(&mut fabric, 3 * PS_PER_S + 1), LpiState::Sleeping);
    assert_eq!(state(&mut fabric, 4 * PS_PER_S), LpiState::Quiet);
    fabric.cut(4 * PS_PER_S, cable).unwrap();
    fabric.mend(5 * PS_PER_S, cable).unwrap();
    assert_eq!(state(&mut fabric, 8 * PS_PER_S), LpiState::Hold);
    let ledger = fabric.time_in_state(9 * PS_PER_S, a).unwrap();
    assert_eq!(ledger.parts_ps(), 9 * PS_PER_S);
    assert_eq!(ledger.down_ps, 5 * PS_PER_S);
    assert_eq!(ledger.up_by_mbps[&1000], 4 * PS_PER_S);
}

/// Frames from one NIC to another by Poisson arrivals; the transmitter of the first against the closed form.
fn run(case: &Case, count: usize) -> Outcome {
    let (mut fabric, a, _) = pair(case.phy);
    let timing = case.timing();
    let octets = FRAME_BYTE - 20;
    let change = LpiChange {
        mode: Some(Mode::Deep),
        hold: Some(timing.hold),
        wake_during_sleep: Some(timing.wake_during_sleep),
        coalesce_byte: (case.frames > 1).then_some(octets * case.frames),
        ..LpiChange::default()
    };
    fabric.set_lpi(UP_BY, a, &change).unwrap();
    let service = case.service_ps();
    let between = (service as f64 / case.load) as Ps;
    let byte = service / Ps::from(FRAME_BYTE);
    let on_the_way = service - GAP_BYTE * byte + 10_000;
    let before = fabric.time_in_state(UP_BY, a).unwrap();
    let mut dice = Dice(2_012);
    let mut now = UP_BY;
    let mut waited = 0i128;
    let mut arrived: usize = 0;
    let mut deliveries = Vec::new();
    let sent = frame(FRAME_BYTE as usize);
    for _ in 0..count {
        now += dice.exponential(between);
        fabric.transmit(now, a, sent.clone()).unwrap();
        waited -= i128::from(now + on_the_way);
        fabric.poll(now, &mut deliveries);
        for delivery in deliveries.drain(..) {
            waited += i128::from(delivery.at);
            arrived += 1;
        }
    }
    let ledger = fabric.time_in_state(now, a).unwrap();
    let elapsed = (now - UP_BY) as f64;
    // The last few never fill the bunch: they leave with the time that they have waited so far.
    waited += (count - arrived) as i128 * i128::from(now + on_the_way);
    Outcome {
        lpi: (ledger.low_power_ps() - before.low_power_ps()) as f64 / elapsed,
        wait_s: waited as f64 / count as f64 * PS,
        wakes_per_s: (ledger.wakes - before.wakes) as f64 / (elapsed * PS),
    }
}

#[test]
fn poisson_arrivals_through_the_fabric_match_the_closed_form() {
    for (load, hold_us, frames) in [(0.1, 0.0, 1), (0.1, 5.0, 1), (0.2, 0.0, 8)] {
        let case = Case {
            load,
            hold_us,
            frames,
            ..FRAME
        };
        case.compare(&run(&case, 300_000));
    }
}
