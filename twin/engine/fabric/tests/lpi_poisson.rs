//! One transmitter under Poisson arrivals against the closed form for hold, uninterruptible sleep, wake and coalescing
//! of N frames: share of time in LPI, mean wait, wakes per second, each within 1 %.

use std::collections::VecDeque;

use fabric::Ps;
use fabric::lpi::{LpiTx, Mode, Start, Timing};
use fabric::phy::Phy;

const PS: f64 = 1e-12;

/// splitmix64: a seeded source of uniform numbers.
struct Dice(u64);

impl Dice {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn exponential(&mut self, mean: Ps) -> Ps {
        (-(1.0 - self.uniform()).ln() * mean as f64).round() as Ps
    }
}

/// What is looked at: share of time in LPI, mean wait before the first bit in seconds, wakes per second.
#[derive(Debug)]
struct Outcome {
    lpi: f64,
    wait_s: f64,
    wakes_per_s: f64,
}

#[derive(Clone, Copy, Debug)]
enum Service {
    Fixed,
    Exponential,
}

#[derive(Clone, Copy, Debug)]
struct Case {
    phy: &'static str,
    service: Service,
    load: f64,
    hold_us: f64,
    /// Wake when so many frames wait.
    frames: u32,
    /// One length of wake wherever it is asked for, as the closed form has it, or the PHY's "case 1" in Ts.
    one_wake: bool,
}

const FRAME_BYTE: u32 = 1500;
const COUNT: usize = 600_000;

impl Case {
    fn speed_mbps(&self) -> u32 {
        Phy::named(self.phy).unwrap().speed_mbps()
    }

    fn timing(&self) -> Timing {
        let phy = Phy::named(self.phy).unwrap();
        let timing = phy.eee_at(phy.speed_mbps()).unwrap().timing();
        Timing {
            hold: (self.hold_us * 1e6) as Ps,
            wake_during_sleep: if self.one_wake {
                timing.wake
            } else {
                timing.wake_during_sleep
            },
            coalesce_byte: if self.frames > 1 {
                FRAME_BYTE * self.frames
            } else {
                0
            },
            ..timing
        }
    }

    fn service_ps(&self) -> Ps {
        Ps::from(FRAME_BYTE) * 8 * 1_000_000 / Ps::from(self.speed_mbps())
    }

    /// A FIFO in front of the transmitter, event by event.
    fn simulate(&self, seed: u64) -> Outcome {
        let service = self.service_ps();
        let between = (service as f64 / self.load) as Ps;
        let mut dice = Dice(seed);
        let mut tx = LpiTx::new(0);
        tx.set_policy(0, Mode::Deep, self.timing());
        tx.link_up(0, 0, true, self.speed_mbps());

        let mut queue: VecDeque<Ps> = VecDeque::new();
        let mut arrival = dice.exponential(between);
        let mut arrived = 0;
        let mut free = 0;
        let mut waited = 0.0;
        let mut start: Option<Start> = None;
        while arrived < COUNT || !queue.is_empty() {
            if let Some(Start::At(at)) = start
                && (at <= arrival || arrived >= COUNT)
            {
                waited += (at - queue.pop_front().unwrap()) as f64;
                tx.began(at);
                free = at
                    + match self.service {
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

    fn closed_form(&self) -> Outcome {
        let timing = self.timing();
        let service_s = self.service_ps() as f64 * PS;
        let moment_2 = service_s
            * service_s
            * match self.service {
                Service::Fixed => 1.0,
                Service::Exponential => 2.0,
            };
        let rate = self.load / service_s;
        let sleep = timing.sleep as f64 * PS;
        let wake = timing.wake as f64 * PS;
        let wake_in_ts = timing.wake_during_sleep as f64 * PS;
        let n = f64::from(self.frames);
        let x = rate * sleep;
        let p = (-rate * timing.hold as f64 * PS).exp();
        // pi_j: j frames arrived in Ts.
        let mut pi = vec![(-x).exp()];
        for j in 1..self.frames as usize {
            pi.push(pi[j - 1] * x / j as f64);
        }
        let below: f64 = pi.iter().sum();
        let sum = |f: &dyn Fn(f64) -> f64| -> f64 {
            pi.iter()
                .enumerate()
                .map(|(j, share)| share * f(j as f64))
                .sum()
        };
        let lpi = sum(&|j| n - j) / rate;
        let area_lpi = sum(&|j| (n * (n - 1.0) - j * (j - 1.0)) / 2.0) / rate;
        // Frames present when the wake begins, from Quiet and from Ts.
        let from_quiet = n * below;
        let from_ts = x - sum(&|j| j);
        let wake_mean = below * wake + (1.0 - below) * wake_in_ts;
        let wake_square = below * wake * wake + (1.0 - below) * wake_in_ts * wake_in_ts;
        let vacation = (1.0 - p) / rate + p * (sleep + lpi + wake_mean);
        let area = p
            * (rate * sleep * sleep / 2.0
                + area_lpi
                + from_quiet * wake
                + from_ts * wake_in_ts
                + rate * wake_square / 2.0);
        Outcome {
            lpi: (1.0 - self.load) * p * lpi / vacation,
            wait_s: rate * moment_2 / (2.0 * (1.0 - self.load)) + area / (rate * vacation),
            wakes_per_s: (1.0 - self.load) * p / vacation,
        }
    }

    fn check(&self) {
        let wanted = self.closed_form();
        let found = self.simulate(20_130_402);
        for (what, found, wanted) in [
            ("time in LPI", found.lpi, wanted.lpi),
            ("wait", found.wait_s, wanted.wait_s),
            ("wakes", found.wakes_per_s, wanted.wakes_per_s),
        ] {
            let error = (found / wanted - 1.0).abs();
            assert!(
                error < 0.01,
                "{self:?}: {what} {found:.6e}, closed form {wanted:.6e}: off by {:.2} %",
                error * 100.0
            );
        }
    }
}

const FRAME: Case = Case {
    phy: "10GBASE-T",
    service: Service::Fixed,
    load: 0.1,
    hold_us: 0.0,
    frames: 1,
    one_wake: true,
};

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
            Case {
                load,
                service,
                ..FRAME
            }
            .check();
        }
    }
    for load in [0.01, 0.1] {
        Case {
            phy: "1000BASE-T",
            load,
            ..FRAME
        }
        .check();
    }
}

#[test]
fn frame_by_frame_with_hold() {
    for (load, hold_us) in [(0.1, 5.0), (0.05, 20.0), (0.3, 4.0)] {
        Case {
            load,
            hold_us,
            ..FRAME
        }
        .check();
    }
    Case {
        phy: "powerconnect-5548",
        load: 0.01,
        hold_us: 1000.0,
        ..FRAME
    }
    .check();
}

#[test]
fn in_bunches_without_hold() {
    for (load, frames) in [(0.1, 2), (0.1, 10), (0.3, 5), (0.5, 20)] {
        Case {
            load,
            frames,
            ..FRAME
        }
        .check();
    }
    Case {
        phy: "1000BASE-T",
        frames: 4,
        ..FRAME
    }
    .check();
}

#[test]
fn in_bunches_with_hold() {
    for (load, frames, hold_us) in [(0.1, 3, 5.0), (0.2, 10, 3.0)] {
        Case {
            load,
            frames,
            hold_us,
            ..FRAME
        }
        .check();
    }
}

#[test]
fn a_longer_wake_when_it_is_asked_for_during_ts() {
    for (load, frames, hold_us) in [(0.1, 1, 0.0), (0.3, 1, 2.0), (0.3, 3, 0.0)] {
        Case {
            load,
            frames,
            hold_us,
            one_wake: false,
            ..FRAME
        }
        .check();
    }
}
