//! Loops: a storm stays within the frame budget and raises one alarm.

use crate::lab::{Lab, broadcast, unicast};
use fabric::SwitchSpec;
use fabric::time::PS_PER_S;

/// Three switches in a ring, no spanning tree.
fn ring(frame_budget_per_s: u64) -> Lab {
    let mut lab = Lab::new(frame_budget_per_s);
    for name in ["a", "b", "c"] {
        lab.switch(SwitchSpec::new(name, "1000BASE-T", 4));
    }
    for (a, b) in [(0, 1), (1, 2), (2, 0)] {
        lab.trunk((a, 1), (b, 2));
    }
    for switch in 0..3 {
        lab.host(switch, 0);
    }
    lab.settle();
    lab
}

#[test]
fn a_storm_is_limited_to_the_budget_and_reported_once() {
    let mut lab = ring(20_000);
    lab.send(0, broadcast(0));
    lab.run(PS_PER_S / 10);
    let mut alarms = Vec::new();
    lab.fabric.take_alarms(&mut alarms);
    let early = lab.fabric.frames(lab.now).copies;
    lab.run(PS_PER_S);
    let late = lab.fabric.frames(lab.now);
    lab.assert_conserved();
    assert!(late.copies - early <= 22_000, "{late:?}");
    lab.fabric.take_alarms(&mut alarms);
    assert_eq!(alarms.len(), 1, "{alarms:?}");
    assert!(
        alarms[0]
            .text
            .starts_with("storm: the switches forward more than 20000 frames/s, and switch ")
    );
    let drops: u64 = (0..3)
        .flat_map(|switch| lab.switches[switch].ports.clone())
        .map(|port| lab.fabric.counters(lab.now, port).unwrap().storm_drops)
        .sum();
    assert!(drops > 0 && drops <= late.dropped);
}

#[test]
fn a_ring_without_a_storm_raises_nothing_and_a_blocked_port_prevents_it() {
    let mut lab = ring(20_000);
    let port = lab.port(2, 1);
    lab.fabric.set_blocked(lab.now, port, true).unwrap();
    assert_eq!(lab.reached(0, 1), [1, 2]);
    assert_eq!(lab.reached(1, 0), [0]);
    for _ in 0..100 {
        lab.send(0, unicast(0, 1, 100));
    }
    assert_eq!(lab.settle().len(), 100);
    let mut alarms = Vec::new();
    lab.fabric.take_alarms(&mut alarms);
    assert!(alarms.is_empty());
}

#[test]
fn a_storm_ends_when_the_loop_is_opened() {
    let mut lab = ring(20_000);
    lab.send(0, broadcast(0));
    lab.run(PS_PER_S);
    lab.fabric.cut(lab.now, fabric::CableId(0)).unwrap();
    lab.run(PS_PER_S);
    assert_eq!(lab.fabric.poll_at(), None, "silence");
    assert_eq!(lab.fabric.frames(lab.now).in_flight, 0);
    assert_eq!(lab.reached(0, 1), [1, 2]);
}
