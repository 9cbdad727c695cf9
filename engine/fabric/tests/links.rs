//! Links that come and go: speed, interruption, LAG failover, cables tapped and cut.

use crate::lab::{Lab, broadcast, frame, mac, path_time, unicast};
use fabric::link::LinkState;
use fabric::lpi::Mode;
use fabric::time::{PS_PER_MS, PS_PER_S, PS_PER_US, Ps};
use fabric::{CableId, Fabric, LpiChange, LpiState, NicSpec, PortChange, PortId, SwitchSpec};

#[test]
fn a_speed_change_interrupts_for_the_longer_of_both_ends_and_then_takes_ten_times_as_long() {
    let mut lab = Lab::star(2);
    lab.reached(1, 0);
    let (port, nic) = (lab.port(0, 1), lab.hosts[1]);
    lab.fabric
        .set_interruption(lab.now, port, 2 * PS_PER_S)
        .unwrap();
    lab.fabric
        .set_interruption(lab.now, nic, 3 * PS_PER_S)
        .unwrap();
    let slow = PortChange {
        advertised_mbps: Some(vec![100]),
        ..PortChange::default()
    };
    lab.fabric.set_port(lab.now, port, &slow).unwrap();
    assert_eq!(lab.fabric.port(lab.now, port).unwrap().speed_mbps, 0);
    lab.run(3 * PS_PER_S - 1);
    assert!(!lab.fabric.port(lab.now, port).unwrap().oper_up);
    assert!(matches!(
        lab.fabric.link(lab.now, CableId(1)),
        Ok(LinkState::ComingUp { .. })
    ));
    lab.run(1);
    let state = lab.fabric.port(lab.now, port).unwrap();
    assert_eq!(
        (state.speed_mbps, state.flaps, state.since),
        (100, 3, lab.now)
    );
    let sent = lab.now;
    lab.send(0, unicast(0, 1, 1_514));
    let got = lab.settle();
    let at_a_tenth = 1_526 * 80_000 + 10_000;
    assert_eq!(
        got[0].at - sent,
        1_526 * 8_000 + 10_000 + 2 * PS_PER_US + at_a_tenth
    );
    let ledger = lab.fabric.time_in_state(lab.now, port).unwrap();
    assert_eq!(ledger.down_ps, PS_PER_MS + 3 * PS_PER_S);
    assert_eq!(
        ledger.up_by_mbps.keys().copied().collect::<Vec<_>>(),
        [100, 1_000]
    );
}

#[test]
fn a_cut_cable_carries_nothing_until_it_is_mended() {
    let mut lab = Lab::star(2);
    let (cable, port) = (CableId(1), lab.port(0, 1));
    lab.fabric.cut(lab.now, cable).unwrap();
    assert_eq!(lab.reached(0, 1), []);
    let state = lab.fabric.port(lab.now, port).unwrap();
    assert!(state.admin_up && !state.oper_up);
    lab.fabric.mend(lab.now, cable).unwrap();
    lab.settle();
    assert_eq!(lab.reached(0, 1), [1]);
    lab.assert_conserved();
}

#[test]
fn a_tapped_cable_shows_both_directions_as_they_stood_on_the_wire() {
    let mut lab = Lab::star(2);
    lab.vlan(0, 1, &[0, 1], &[0]);
    lab.fabric.set_tapped(CableId(1), true).unwrap();
    lab.reached(0, 1);
    lab.sent_to(1, broadcast(1));
    lab.fabric.set_tapped(CableId(1), false).unwrap();
    lab.reached(0, 1);
    let mut seen = Vec::new();
    lab.fabric.take_tapped(&mut seen);
    let rows: Vec<_> = seen
        .iter()
        .map(|tapped| (tapped.from_port, tapped.frame.to_wire().0.len()))
        .collect();
    assert_eq!(rows, [(lab.port(0, 1), 104), (lab.hosts[1], 60)]);
    assert!(seen[0].at < seen[1].at);
}

/// Two switches with a LAG of two cables, a host on each.
fn lagged() -> (Lab, [PortId; 2], [CableId; 2]) {
    lagged_with(0)
}

fn lagged_with(lag_rehash: Ps) -> (Lab, [PortId; 2], [CableId; 2]) {
    let mut lab = Lab::new(0);
    for name in ["a", "b"] {
        lab.switch(SwitchSpec {
            lag_count: 2,
            lag_rehash,
            ..SwitchSpec::new(name, "1000BASE-T", 4)
        });
    }
    let lags = [0, 1].map(|switch| {
        let members = [lab.port(switch, 2), lab.port(switch, 3)];
        let lag = lab.switches[switch].lags[0];
        lab.fabric.set_lag(0, lag, &members).unwrap();
        lag
    });
    let cables = [2, 3].map(|port| lab.trunk((0, port), (1, port)));
    lab.host(0, 0);
    lab.host(1, 0);
    lab.settle();
    (lab, lags, cables)
}

#[test]
fn a_lag_neither_loops_nor_duplicates_and_spreads_flows() {
    let (mut lab, lags, _) = lagged();
    assert_eq!(lab.sent_to(0, broadcast(0)), [(1, None)]);
    for flow in 0..200 {
        lab.send(0, frame(mac(1_000 + flow), mac(1), 60));
    }
    assert_eq!(lab.settle().len(), 200);
    let load = [2, 3].map(|port| {
        let port = lab.port(0, port);
        lab.fabric.counters(lab.now, port).unwrap().out_ucast
    });
    assert_eq!(load[0] + load[1], 200);
    assert!(load.iter().all(|frames| *frames > 70), "{load:?}");
    let switch = lab.switches[1].switch;
    let learned = lab.fabric.fdb(lab.now, switch).unwrap();
    assert!(
        learned
            .iter()
            .filter(|row| row.mac != mac(1))
            .all(|row| row.port == lags[1])
    );
    assert_eq!(
        lab.fabric.counters(lab.now, lags[0]).unwrap().out_ucast,
        200
    );
    assert_eq!(lab.fabric.port(lab.now, lags[0]).unwrap().speed_mbps, 2_000);
    let member = lab.port(0, 2);
    assert_eq!(lab.fabric.port(lab.now, member).unwrap().lag, Some(lags[0]));
}

#[test]
fn a_lag_survives_the_loss_of_a_member_and_forgets_with_the_last() {
    let (mut lab, lags, cables) = lagged();
    lab.reached(0, 1);
    lab.reached(1, 0);
    lab.fabric.cut(lab.now, cables[0]).unwrap();
    let switch = lab.switches[0].switch;
    assert_eq!(
        lab.fabric.fdb(lab.now, switch).unwrap().len(),
        2,
        "nothing forgotten"
    );
    for flow in 0..20 {
        lab.send(0, frame(mac(1_000 + flow), mac(1), 60));
    }
    assert_eq!(lab.settle().len(), 20);
    lab.fabric.cut(lab.now, cables[1]).unwrap();
    assert!(!lab.fabric.port(lab.now, lags[0]).unwrap().oper_up);
    let left = lab.fabric.fdb(lab.now, switch).unwrap();
    assert!(left.iter().all(|row| row.port != lags[0]));
    lab.fabric.mend(lab.now, cables[0]).unwrap();
    lab.settle();
    assert_eq!(lab.reached(0, 1), [1]);
    lab.assert_conserved();
}

/// Sends a frame of each of so many flows, all at once; those that arrive, and those that the first switch counts as
/// lost at each cable of its LAG.
fn arrived(lab: &mut Lab, flows: usize) -> (usize, [u64; 2]) {
    let lost = |lab: &mut Lab| {
        [2, 3].map(|port| {
            let port = lab.port(0, port);
            lab.fabric.counters(lab.now, port).unwrap().out_discards
        })
    };
    let before = lost(lab);
    for flow in 0..flows {
        lab.send(0, frame(mac(1_000 + flow), mac(1), 60));
    }
    let got = lab.run(PS_PER_S / 1_000).len();
    let after = lost(lab);
    (got, [after[0] - before[0], after[1] - before[1]])
}

#[test]
fn flows_of_a_lost_member_are_lost_until_the_switch_has_followed() {
    let gap = 20 * PS_PER_S / 1_000;
    let (mut lab, _, cables) = lagged_with(gap);
    lab.reached(1, 0);
    let (all, none) = arrived(&mut lab, 100);
    assert_eq!((all, none), (100, [0, 0]));
    let cut_at = lab.now;
    lab.fabric.cut(lab.now, cables[0]).unwrap();
    let (fewer, lost) = arrived(&mut lab, 100);
    assert!(lost[0] > 30, "{lost:?}");
    assert_eq!(
        (fewer as u64 + lost[0], lost[1]),
        (100, 0),
        "all others go on"
    );
    lab.run(cut_at + gap - lab.now - PS_PER_S / 500);
    assert_eq!(
        arrived(&mut lab, 100),
        (fewer, lost),
        "until the gap is over"
    );
    lab.run(PS_PER_S / 500);
    assert_eq!(arrived(&mut lab, 100), (100, [0, 0]));
    lab.fabric.mend(lab.now, cables[0]).unwrap();
    for _ in 0..100 {
        assert_eq!(arrived(&mut lab, 10).0, 10, "one that comes costs nothing");
    }
    lab.assert_conserved();
}

#[test]
fn a_lag_that_follows_at_once_loses_none() {
    let (mut lab, _, cables) = lagged();
    lab.reached(1, 0);
    lab.fabric.cut(lab.now, cables[0]).unwrap();
    assert_eq!(arrived(&mut lab, 100), (100, [0, 0]));
}

#[test]
fn ports_leave_a_lag_and_a_port_is_in_one_at_most() {
    let (mut lab, lags, cables) = lagged();
    let (member, other) = (lab.port(0, 2), lab.switches[0].lags[1]);
    let refused = lab.fabric.set_lag(lab.now, other, &[member]).unwrap_err();
    assert!(
        refused.to_string().contains("is in another LAG: remove it"),
        "{refused}"
    );
    lab.fabric.cut(lab.now, cables[1]).unwrap();
    for lag in lags {
        lab.fabric.set_lag(lab.now, lag, &[]).unwrap();
    }
    assert_eq!(lab.fabric.port(lab.now, member).unwrap().lag, None);
    assert_eq!(
        lab.reached(0, 1),
        [1],
        "over the one cable, now a plain one"
    );
}

/// Two NICs on one cable with EEE and hold 100 µs, Ts 182 µs, Tw 60 µs.
fn sleepy() -> (Fabric, [PortId; 2]) {
    let mut fabric = Fabric::new(0, 0);
    let nics = [0, 1].map(|host| {
        let nic = fabric
            .add_nic(NicSpec::new(&format!("n{host}"), mac(host), "1000BASE-T"))
            .unwrap();
        fabric.set_interruption(0, nic, 0).unwrap();
        let change = LpiChange {
            mode: Some(Mode::Deep),
            hold: Some(100 * PS_PER_US),
            sleep: Some(182 * PS_PER_US),
            wake: Some(60 * PS_PER_US),
            ..LpiChange::default()
        };
        fabric.set_lpi(0, nic, &change).unwrap();
        nic
    });
    fabric.connect(0, nics[0], nics[1], 2.0).unwrap();
    (fabric, nics)
}

#[test]
fn a_sleeping_link_delays_by_its_wake_and_a_falling_asleep_one_by_the_rest_of_ts_too() {
    let (mut fabric, nics) = sleepy();
    let mut out = Vec::new();
    let start = 2 * PS_PER_S;
    let mut delay = |at, expected_state| {
        assert_eq!(fabric.port(at, nics[0]).unwrap().lpi_now, expected_state);
        fabric.transmit(at, nics[0], unicast(0, 1, 1_514)).unwrap();
        fabric.poll(at + 10 * PS_PER_MS, &mut out);
        out.pop().unwrap().at - at - path_time(1_514, 0)
    };
    assert_eq!(delay(start, LpiState::Quiet), 60 * PS_PER_US);
    let second = start + PS_PER_S;
    assert_eq!(delay(second, LpiState::Quiet), 60 * PS_PER_US);
    let sent = second + 60 * PS_PER_US + (1_526 + 12) * 8_000;
    let third = start + 3 * PS_PER_S;
    assert_eq!(delay(third, LpiState::Quiet), 60 * PS_PER_US);
    let fourth = third + (sent - second) + 10 * PS_PER_MS;
    assert_eq!(delay(fourth, LpiState::Quiet), 60 * PS_PER_US);
}

#[test]
fn an_arrival_during_ts_waits_for_its_end_and_one_during_hold_does_not_wait() {
    let (mut fabric, nics) = sleepy();
    let mut out = Vec::new();
    let first = 2 * PS_PER_S;
    let busy = 60 * PS_PER_US + 1_538 * 8_000;
    for (gap, extra) in [(50, 0), (100, 0), (150, 132 + 60), (281, 1 + 60)] {
        let base = first + gap * 10 * PS_PER_MS;
        fabric
            .transmit(base, nics[0], unicast(0, 1, 1_514))
            .unwrap();
        let at = base + busy + gap * PS_PER_US;
        fabric.poll(at - 1, &mut out);
        out.clear();
        fabric.transmit(at, nics[0], unicast(0, 1, 1_514)).unwrap();
        fabric.poll(at + PS_PER_MS, &mut out);
        assert_eq!(
            out[0].at - at,
            path_time(1_514, 0) + extra * PS_PER_US,
            "gap {gap} us"
        );
    }
}

#[test]
fn lpi_counters_of_one_end_mirror_the_other_and_restart_when_cleared() {
    let (mut fabric, nics) = sleepy();
    let now = 5 * PS_PER_S;
    let sender = fabric.counters(now, nics[0]).unwrap();
    let receiver = fabric.counters(now, nics[1]).unwrap();
    assert_eq!(
        (sender.tx_lpi_events, sender.tx_lpi),
        (1, 4 * PS_PER_S),
        "no LPI in the first second"
    );
    assert_eq!(
        (receiver.rx_lpi_events, receiver.rx_lpi),
        (sender.tx_lpi_events, sender.tx_lpi)
    );
    fabric.clear_counters(now, nics[1]).unwrap();
    let receiver = fabric.counters(now + PS_PER_MS, nics[1]).unwrap();
    assert_eq!((receiver.rx_lpi_events, receiver.rx_lpi), (0, PS_PER_MS));
    assert_eq!(
        fabric.counters(now + PS_PER_MS, nics[0]).unwrap().tx_lpi,
        sender.tx_lpi + PS_PER_MS
    );
}

#[test]
fn coalescing_sends_waiting_frames_together() {
    let (mut fabric, nics) = sleepy();
    let change = LpiChange {
        coalesce_byte: Some(3_000),
        coalesce: Some(48 * PS_PER_US),
        ..LpiChange::default()
    };
    fabric.set_lpi(0, nics[0], &change).unwrap();
    let mut out = Vec::new();
    let at = 3 * PS_PER_S;
    fabric.transmit(at, nics[0], unicast(0, 1, 1_514)).unwrap();
    fabric.poll(at + PS_PER_MS, &mut out);
    assert_eq!(
        out[0].at - at,
        path_time(1_514, 0) + (48 + 60) * PS_PER_US,
        "by time"
    );
    out.clear();
    let at = 4 * PS_PER_S;
    fabric.transmit(at, nics[0], unicast(0, 1, 1_514)).unwrap();
    fabric
        .transmit(at + 10 * PS_PER_US, nics[0], unicast(0, 1, 1_514))
        .unwrap();
    fabric.poll(at + PS_PER_MS, &mut out);
    assert_eq!(
        out[0].at - at,
        path_time(1_514, 0) + (10 + 60) * PS_PER_US,
        "by bytes"
    );
    assert_eq!(out[1].at - out[0].at, 1_538 * 8_000);
}

#[test]
fn an_idle_fabric_schedules_nothing() {
    let (mut fabric, nics) = sleepy();
    fabric
        .transmit(PS_PER_S, nics[0], unicast(0, 1, 100))
        .unwrap();
    fabric.poll(10 * PS_PER_S, &mut Vec::new());
    assert_eq!(fabric.poll_at(), None);
}

#[test]
fn a_nic_is_notified_once_of_each_change_of_its_link() {
    let mut lab = Lab::star(2);
    lab.settle();
    let mut changes = Vec::new();
    lab.fabric.take_nic_links(&mut changes);
    assert_eq!(changes, [(lab.hosts[0], true), (lab.hosts[1], true)]);
    lab.fabric.cut(lab.now, CableId(1)).unwrap();
    assert!(lab.fabric.nic_links_changed());
    changes.clear();
    lab.fabric.take_nic_links(&mut changes);
    assert_eq!(changes, [(lab.hosts[1], false)]);
    lab.fabric.mend(lab.now, CableId(1)).unwrap();
    lab.fabric.cut(lab.now, CableId(1)).unwrap();
    lab.fabric.mend(lab.now, CableId(1)).unwrap();
    lab.run(10 * PS_PER_S);
    changes.clear();
    lab.fabric.take_nic_links(&mut changes);
    assert_eq!(changes, [(lab.hosts[1], true)]);
    assert!(!lab.fabric.nic_links_changed());
}
