//! Queues, buffers, PAUSE, rings: what happens under overload.

use crate::lab::{self, Lab, unicast};
use fabric::time::{PS_PER_MS, PS_PER_S, PS_PER_US};
use fabric::{CableId, PortChange, PortId, SwitchSpec};

/// Three hosts at 1 Gb/s, two of which send to the third; returns what was lost.
fn incast(flow_control: bool, buffer_byte: usize, frame_byte: usize) -> (Lab, u64) {
    let mut lab = Lab::new(0);
    lab.switch(SwitchSpec {
        buffer_byte,
        egress_queue_byte: 20_000,
        ..SwitchSpec::new("sw0", "1000BASE-T", 4)
    });
    for port in 0..3 {
        lab.host(0, port);
    }
    let ports: Vec<PortId> = (0..3)
        .map(|port| lab.port(0, port))
        .chain(lab.hosts.clone())
        .collect();
    for port in ports {
        let change = PortChange {
            flow_control: Some(flow_control),
            mtu_byte: Some(9_216),
            ..PortChange::default()
        };
        lab.fabric.set_port(lab.now, port, &change).unwrap();
    }
    lab.settle();
    lab.reached(2, 0);
    let mut delivered = 0;
    for _ in 0..2_000 {
        for host in [0, 1] {
            while lab.fabric.ring_free(lab.hosts[host]) > 0 {
                lab.send(host, unicast(host, 2, frame_byte));
            }
        }
        delivered += lab.run(20 * PS_PER_US).len();
        lab.assert_conserved();
    }
    assert!(delivered > 0);
    let dropped = lab.fabric.frames(lab.now).dropped;
    (lab, dropped)
}

#[test]
fn without_flow_control_an_incast_overflows_the_egress_queue_and_each_loss_is_counted() {
    let (mut lab, dropped) = incast(false, 2_097_152, 1_514);
    assert!(dropped > 100, "{dropped}");
    let port = lab.port(0, 2);
    let counters = lab.fabric.counters(lab.now, port).unwrap();
    assert_eq!(counters.out_discards, dropped);
    assert!(lab.fabric.port(lab.now, port).unwrap().queue_byte <= 20_000);
}

#[test]
fn with_flow_control_nothing_is_lost_and_the_bottleneck_stays_full() {
    for frame_byte in [1_514, 9_216, 60] {
        let (mut lab, dropped) = incast(true, 262_144, frame_byte);
        assert_eq!(dropped, 0, "{frame_byte}");
        let port = lab.port(0, 0);
        let counters = lab.fabric.counters(lab.now, port).unwrap();
        assert!(counters.out_pause > 1, "{counters:?}");
        let nic = lab.hosts[0];
        assert_eq!(
            lab.fabric.counters(lab.now, nic).unwrap().in_pause,
            counters.out_pause
        );
        let sink = lab.port(0, 2);
        let before = lab.fabric.time_in_state(lab.now, sink).unwrap();
        let busy = before.transmit_ps as f64 / (2_000.0 * 20.0 * PS_PER_US as f64);
        assert!(busy > 0.99, "{frame_byte}: {busy}");
        let frames = lab.fabric.frames(lab.now);
        assert!(frames.consumed >= counters.out_pause);
    }
}

#[test]
fn both_senders_get_their_share_under_flow_control() {
    let (mut lab, _) = incast(true, 262_144, 1_514);
    let sent = [0, 1].map(|host| {
        let port = lab.port(0, host);
        lab.fabric.counters(lab.now, port).unwrap().in_ucast as f64
    });
    assert!((sent[0] / sent[1] - 1.0).abs() < 0.1, "{sent:?}");
}

#[test]
fn a_full_ring_gives_the_frame_back_and_takes_it_later() {
    let mut lab = Lab::star(2);
    let nic = lab.hosts[0];
    let mut accepted = 0;
    let back = loop {
        match lab.fabric.transmit(lab.now, nic, unicast(0, 1, 1_514)) {
            Ok(()) => accepted += 1,
            Err(frame) => break frame,
        }
    };
    assert_eq!(accepted, 1_025, "the ring and the frame being sent");
    assert_eq!(back, unicast(0, 1, 1_514));
    assert_eq!(lab.fabric.ring_free(nic), 0);
    lab.run(13 * PS_PER_US);
    assert_eq!(lab.fabric.ring_free(nic), 1);
    lab.assert_conserved();
}

#[test]
fn the_shared_buffer_bounds_all_queues_together() {
    let mut lab = Lab::new(0);
    lab.switch(SwitchSpec {
        buffer_byte: 16_000,
        ..SwitchSpec::new("sw0", "1000BASE-T", 4)
    });
    for port in 0..4 {
        lab.host(0, port);
    }
    lab.settle();
    let switch = lab.switches[0].switch;
    for host in [2, 3] {
        lab.reached(host, 0);
    }
    for _ in 0..100 {
        for (host, sink) in [(0, 2), (1, 2), (0, 3), (1, 3)] {
            lab.send(host, unicast(host, sink, 1_514));
        }
    }
    for _ in 0..400 {
        lab.run(10 * PS_PER_US);
        assert!(lab.fabric.bridge(lab.now, switch).unwrap().buffered_byte <= 16_000);
        lab.assert_conserved();
    }
    lab.run(PS_PER_MS);
    assert_eq!(lab.fabric.bridge(lab.now, switch).unwrap().buffered_byte, 0);
}

#[test]
fn a_pause_written_by_a_host_stops_the_switch_for_its_quanta() {
    let mut lab = Lab::star(2);
    for port in [lab.port(0, 1), lab.hosts[1]] {
        let change = PortChange {
            flow_control: Some(true),
            ..PortChange::default()
        };
        lab.fabric.set_port(lab.now, port, &change).unwrap();
    }
    lab.settle();
    lab.reached(1, 0);
    let mut pause = unicast(1, 0, 60).bytes.to_vec();
    pause[..6].copy_from_slice(&[0x01, 0x80, 0xc2, 0, 0, 1]);
    pause[12..18].copy_from_slice(&[0x88, 0x08, 0, 1, 0x10, 0]);
    lab.send(1, fabric::Frame::from_wire(pause.into()));
    lab.run(5 * PS_PER_US);
    lab.send(0, unicast(0, 1, 1_514));
    assert_eq!(lab.run(2 * PS_PER_MS).len(), 0, "4096 quanta are 2.097 ms");
    assert_eq!(lab.run(PS_PER_MS).len(), 1);
    let port = lab.port(0, 1);
    assert_eq!(lab.fabric.counters(lab.now, port).unwrap().in_pause, 1);
    lab.assert_conserved();
}

#[test]
fn frames_lost_at_link_down_are_counted() {
    let mut lab = Lab::star(2);
    lab.reached(1, 0);
    for _ in 0..10 {
        lab.send(0, unicast(0, 1, 1_514));
    }
    lab.run(30 * PS_PER_US);
    let nic = lab.hosts[0];
    let down = PortChange {
        admin_up: Some(false),
        ..PortChange::default()
    };
    lab.fabric.set_port(lab.now, nic, &down).unwrap();
    lab.assert_conserved();
    let counters = lab.fabric.counters(lab.now, nic).unwrap();
    assert_eq!(
        (
            counters.out_ucast,
            counters.out_errors,
            counters.out_discards
        ),
        (3, 1, 7)
    );
    let before = lab.fabric.frames(lab.now);
    assert_eq!(before.dropped, 8, "one on the cable, seven in the ring");
    assert_eq!(lab.run(PS_PER_S).len(), 1, "one was in the switch");
    lab.assert_conserved();
}

#[test]
fn a_frame_that_has_arrived_at_a_switch_is_not_lost_with_the_link_it_came_over() {
    let mut lab = Lab::star(2);
    lab.reached(1, 0);
    lab.send(0, unicast(0, 1, 1_514));
    let arrived = 1_526 * 8_000 + 10_000;
    lab.run(arrived + PS_PER_US);
    lab.fabric.cut(lab.now, CableId(0)).unwrap();
    assert_eq!(lab.run(PS_PER_MS).len(), 1);
    lab.send(1, unicast(1, 0, 1_514));
    lab.fabric.mend(lab.now, CableId(0)).unwrap();
    lab.settle();
    lab.send(0, unicast(0, 1, 1_514));
    lab.run(arrived - 1);
    lab.fabric.cut(lab.now, CableId(0)).unwrap();
    assert_eq!(
        lab.run(PS_PER_MS).len(),
        0,
        "its last bit was still under way"
    );
    lab.assert_conserved();
}

#[test]
fn a_link_that_returns_at_once_ignores_events_planned_before() {
    let mut lab = Lab::star(2);
    lab.reached(1, 0);
    let (port, nic) = (lab.port(0, 0), lab.hosts[0]);
    for end in [port, nic] {
        lab.fabric
            .set_interruption(lab.now, end, PS_PER_US)
            .unwrap();
    }
    for size_byte in [1_514, 1_000] {
        lab.send(0, unicast(0, 1, size_byte));
    }
    lab.run(2 * PS_PER_US);
    lab.fabric.cut(lab.now, CableId(0)).unwrap();
    lab.fabric.mend(lab.now, CableId(0)).unwrap();
    lab.run(PS_PER_US);
    let sent = lab.now;
    for _ in 0..3 {
        lab.send(0, unicast(0, 1, 1_514));
    }
    let at: Vec<u64> = lab
        .run(PS_PER_MS)
        .iter()
        .map(|delivery| delivery.at - sent)
        .collect();
    let first = lab::path_time(1_514, 1);
    let frame_time = 1_538 * 8_000;
    assert_eq!(at, [first, first + frame_time, first + 2 * frame_time]);
    assert_eq!(lab.fabric.frames(lab.now).dropped, 2);
}
