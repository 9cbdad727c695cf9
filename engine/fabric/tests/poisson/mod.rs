//! Poisson arrivals, and what a transmitter does under them in closed form: hold, uninterruptible sleep, wake and
//! coalescing of N frames. Share of time in LPI, mean wait, wakes per second.

use fabric::Ps;
use fabric::lpi::Timing;
use fabric::phy::Phy;

pub const PS: f64 = 1e-12;

/// splitmix64: a seeded source of uniform numbers.
pub struct Dice(pub u64);

impl Dice {
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn exponential(&mut self, mean: Ps) -> Ps {
        (-(1.0 - self.uniform()).ln() * mean as f64).round() as Ps
    }
}

/// The compared figures: share of time in LPI, mean wait before the first bit in seconds, wakes per second.
#[derive(Debug)]
pub struct Outcome {
    pub lpi: f64,
    pub wait_s: f64,
    pub wakes_per_s: f64,
}

#[derive(Clone, Copy, Debug)]
pub enum Service {
    Fixed,
    Exponential,
}

#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub phy: &'static str,
    pub service: Service,
    pub load: f64,
    pub hold_us: f64,
    /// Wake when so many frames wait.
    pub frames: u32,
    /// One duration for every wake, as in the closed form, or the PHY's "case 1" in Ts.
    pub one_wake: bool,
}

/// Bytes of a frame on the wire, with preamble and gap.
pub const FRAME_BYTE: u32 = 1500;

impl Case {
    pub fn speed_mbps(&self) -> u32 {
        Phy::named(self.phy).unwrap().speed_mbps()
    }

    pub fn timing(&self) -> Timing {
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

    pub fn service_ps(&self) -> Ps {
        Ps::from(FRAME_BYTE) * 8 * 1_000_000 / Ps::from(self.speed_mbps())
    }

    pub fn closed_form(&self) -> Outcome {
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

    /// Each figure within 1 % of the closed form.
    pub fn compare(&self, found: &Outcome) {
        let wanted = self.closed_form();
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

/// Single 1500-byte frames at a tenth of 10GBASE-T.
pub const FRAME: Case = Case {
    phy: "10GBASE-T",
    service: Service::Fixed,
    load: 0.1,
    hold_us: 0.0,
    frames: 1,
    one_wake: true,
};
