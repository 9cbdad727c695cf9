//! Poisson arrivals at a NIC whose link to a switch sleeps, through the whole fabric, against the closed
//! form: share of time in LPI, mean wait, wakes per second, each within 1 %.

use crate::poisson::{Case, Dice, FRAME, FRAME_BYTE, Outcome, PS};
use bytes::Bytes;
use fabric::time::{PS_PER_S, Ps};
use fabric::{Delivery, Fabric, Frame, LpiChange, Mode, NicSpec, PortChange, PortId, SwitchSpec};

const COUNT: usize = 1_500_000;
/// Preamble, FCS and gap are on the wire and not in the frame.
const BESIDES_BYTE: usize = 8 + 4 + 12;
/// What one frame counts in a queue: without preamble and gap.
const QUEUED_BYTE: u32 = FRAME_BYTE - 8 - 12;

struct Bed {
    fabric: Fabric,
    sender: PortId,
}

/// A sender and a receiver on one switch; only the sender's transmitter sleeps.
fn bed(case: &Case) -> Bed {
    let mut fabric = Fabric::new(0, 0);
    let switch = fabric
        .add_switch(SwitchSpec::new("sw0", case.phy, 2))
        .unwrap();
    let nics = [1, 2].map(|host| {
        let mut spec = NicSpec::new("n", [2, 0, 0, 0, 0, host], case.phy);
        spec.ring_frames = 1_000_000;
        fabric.add_nic(spec).unwrap()
    });
    let timing = case.timing();
    for (port, mode, eee) in [
        (nics[0], Mode::Deep, true),
        (switch.ports[0], Mode::Off, true),
        (switch.ports[1], Mode::Off, false),
        (nics[1], Mode::Off, false),
    ] {
        let change = PortChange {
            eee: Some(eee),
            ..PortChange::default()
        };
        fabric.set_port(0, port, &change).unwrap();
        fabric.set_interruption(0, port, 0).unwrap();
        let change = LpiChange {
            mode: Some(mode),
            hold: Some(timing.hold),
            wake_during_sleep: Some(timing.wake_during_sleep),
            coalesce_byte: Some(if case.frames > 1 {
                QUEUED_BYTE * case.frames
            } else {
                0
            }),
            ..LpiChange::default()
        };
        fabric.set_lpi(0, port, &change).unwrap();
    }
    for (nic, port) in nics.iter().zip(&switch.ports) {
        fabric.connect(0, *port, *nic, 0.0).unwrap();
    }
    Bed {
        fabric,
        sender: nics[0],
    }
}

fn data() -> Frame {
    let mut bytes = vec![0; FRAME_BYTE as usize - BESIDES_BYTE];
    bytes[..12].copy_from_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1]);
    Frame {
        bytes: Bytes::from(bytes),
        ..Frame::default()
    }
}

fn simulate(case: &Case, seed: u64) -> Outcome {
    let Bed { mut fabric, sender } = bed(case);
    let mut dice = Dice(seed);
    let between = (case.service_ps() as f64 / case.load) as Ps;
    let start = 2 * PS_PER_S;
    let before = fabric.time_in_state(start, sender).unwrap();
    let frame = data();
    let bits: Ps = case.service_ps() - 12 * 8_000_000 / Ps::from(case.speed_mbps());
    let unavoidable = 2 * bits + 2_000_000;
    let mut arrivals = Vec::with_capacity(COUNT);
    let mut out: Vec<Delivery> = Vec::with_capacity(COUNT);
    let mut now = start;
    for _ in 0..COUNT {
        now += dice.exponential(between);
        arrivals.push(now);
        fabric.transmit(now, sender, frame.clone()).unwrap();
    }
    let after = fabric.time_in_state(now, sender).unwrap();
    fabric.poll(now + PS_PER_S, &mut out);
    let waited: f64 = arrivals
        .iter()
        .zip(&out)
        .map(|(arrival, delivery)| (delivery.at - arrival - unavoidable) as f64)
        .sum();
    assert!(
        out.len() + case.frames as usize > COUNT,
        "the last few may never fill the bunch"
    );
    assert_eq!(after.parts_ps(), after.total_ps);
    let total = (after.total_ps - before.total_ps) as f64;
    Outcome {
        lpi: (after.low_power_ps() - before.low_power_ps()) as f64 / total,
        wait_s: waited / out.len() as f64 * PS,
        wakes_per_s: (after.wakes - before.wakes) as f64 / (total * PS),
    }
}

fn check(case: Case) {
    case.compare(&simulate(&case, 5_548));
}

#[test]
fn frame_by_frame() {
    check(FRAME);
    check(Case {
        phy: "1000BASE-T",
        ..FRAME
    });
}

#[test]
fn with_hold() {
    check(Case {
        hold_us: 5.0,
        ..FRAME
    });
    check(Case {
        phy: "1000BASE-T",
        load: 0.02,
        hold_us: 500.0,
        ..FRAME
    });
}

#[test]
fn in_bunches_of_ten() {
    check(Case {
        frames: 10,
        ..FRAME
    });
}
