//! One transmitter under Poisson arrivals against the closed form for hold, uninterruptible sleep, wake and coalescing
//! of N frames: share of time in LPI, mean wait, wakes per second, each within 1 %.

use std::collections::VecDeque;

use crate::poisson::{Case, Dice, FRAME, FRAME_BYTE, Outcome, PS, Service};
use fabric::Ps;
use fabric::lpi::{LpiTx, Mode, Start};

const COUNT: usize = 600_000;

/// A FIFO in front of the transmitter, event by event.
fn simulate(case: &Case, seed: u64) -> Outcome {
    let service = case.service_ps();
    let between = (service as f64 / case.load) as Ps;
    let mut dice = Dice(seed);
    let mut tx = LpiTx::new(0);
    tx.set_policy(0, Mode::Deep, case.timing());
    tx.link_up(0, 0, true, case.speed_mbps());

    let mut queue: VecDeque<Ps> = VecDeque::new();
    let mut arrival = dice.exponential(between);
    let mut arrived = 0;
    let mut free = 0;
    let mut waited = 0.0;
    let mut start: Option<Start> = None;
    while arrived < COUNT || !queue.is_empty() {
        let due = match start {
            Some(Start::At(at)) if at <= arrival || arrived >= COUNT => Some(at),
            _ => None,
        };
        if let Some(at) = due {
            waited += (at - queue.pop_front().unwrap()) as f64;
            tx.began(at);
            free = at
                + match case.service {
                    Service::Fixed => service,
                    Service::Exponential => dice.exponential(service),
                };
            tx.ended(free);
            start = (!queue.is_empty()).then_some(Start::At(free));
            continue;
        }
        if arrived >= COUNT {
            // The last few never fill the bunch.
            break;
        }
        queue.push_back(arrival);
        arrived += 1;
        if !matches!(start, Some(Start::At(_))) {
            let byte = FRAME_BYTE * queue.len() as u32;
            start = Some(tx.request(arrival.max(free), byte));
        }
        arrival += dice.exponential(between);
    }
    let ledger = tx.ledger(free);
    assert_eq!(ledger.parts_ps(), ledger.total_ps);
    Outcome {
        lpi: ledger.low_power_ps() as f64 / ledger.total_ps as f64,
        wait_s: waited / (COUNT - queue.len()) as f64 * PS,
        wakes_per_s: ledger.wakes as f64 / (ledger.total_ps as f64 * PS),
    }
}

fn check(case: Case) {
    case.compare(&simulate(&case, 20_130_402));
}

#[test]
fn the_closed_form_gives_its_printed_examples() {
    let close = |found: f64, wanted: f64| assert!((found / wanted - 1.0).abs() < 0.02, "{found}");
    let at_once = FRAME.closed_form();
    close(at_once.lpi, 0.506);
    close(at_once.wait_s, 4.2e-6);
    let held = Case {
        hold_us: 50.0,
        ..FRAME
    };
    close(held.closed_form().lpi, 0.011);
    let bunched = Case {
        frames: 10,
        ..FRAME
    };
    close(bunched.closed_form().lpi, 0.85);
    close(bunched.closed_form().wait_s, 57e-6);
    let gigabit = Case {
        phy: "1000BASE-T",
        ..FRAME
    };
    close(gigabit.closed_form().lpi, 0.105);
    close(gigabit.closed_form().wait_s, 90e-6);
}

#[test]
fn frame_by_frame_without_hold() {
    for load in [0.02, 0.1, 0.3] {
        for service in [Service::Fixed, Service::Exponential] {
            check(Case {
                load,
                service,
                ..FRAME
            });
        }
    }
    for load in [0.01, 0.1] {
        check(Case {
            phy: "1000BASE-T",
            load,
            ..FRAME
        });
    }
}

#[test]
fn frame_by_frame_with_hold() {
    for (load, hold_us) in [(0.1, 5.0), (0.05, 20.0), (0.3, 4.0)] {
        check(Case {
            load,
            hold_us,
            ..FRAME
        });
    }
    check(Case {
        phy: "powerconnect-5548",
        load: 0.01,
        hold_us: 1000.0,
        ..FRAME
    });
}

#[test]
fn in_bunches_without_hold() {
    for (load, frames) in [(0.1, 2), (0.1, 10), (0.3, 5), (0.5, 20)] {
        check(Case {
            load,
            frames,
            ..FRAME
        });
    }
    check(Case {
        phy: "1000BASE-T",
        frames: 4,
        ..FRAME
    });
}

#[test]
fn in_bunches_with_hold() {
    for (load, frames, hold_us) in [(0.1, 3, 5.0), (0.2, 10, 3.0)] {
        check(Case {
            load,
            frames,
            hold_us,
            ..FRAME
        });
    }
}

#[test]
fn a_wake_requested_during_ts_takes_longer() {
    for (load, frames, hold_us) in [(0.1, 1, 0.0), (0.3, 1, 2.0), (0.3, 3, 0.0)] {
        check(Case {
            load,
            frames,
            hold_us,
            one_wake: false,
            ..FRAME
        });
    }
}
