//! How likely round trips are under a candidate's times.
//!
//! A round trip less the hosts' own time is the delay of sleeping transmitters plus an error: Student-t with three degrees
//! of freedom, so that late interrupts have little weight. The moment at which a frame really left is known only to
//! within an error of the same size; near a hold that decides whether a transmitter slept. So the density is a mixture
//! over [`NODES`], a rough rule for errors with long tails. Some frames come later than that to their first switch, as
//! their host, or whoever polls its card, was busy ([`LATE_US`]): the request with all that follows, or the answer alone.
//! That holds for every echo, near a hold or not: else late ones would speak for a hold that is near. The gap after a late
//! frame is shorter by as much.

use std::f64::consts::PI;

use crate::walk::{Echoes, Sleeper, Walk};

/// Errors of a gap, in scales of the noise, and their weights.
const NODES: [(f64, f64); 5] = [
    (0.0, 0.5),
    (-1.2, 0.2),
    (1.2, 0.2),
    (-4.0, 0.05),
    (4.0, 0.05),
];
const FARTHEST: f64 = 4.0;
/// How late such a frame comes, microseconds; one as often as the other, and the answer as often as the request. A frame
/// that finds a transmitter on its way into low power waits until the same moment, however late it came: two steps cover
/// what is between them.
const LATE_US: [f64; 2] = [8.0, 25.0];
const LATEST_US: f64 = LATE_US[1];
/// Above this a product of densities is turned into a logarithm; a single factor stays far below its square.
const LARGE: f64 = 1e100;

/// What was seen: echoes, and which of them count.
#[derive(Clone, Copy, Debug)]
pub struct Observed<'a> {
    /// All echoes.
    pub echoes: &'a Echoes,
    /// Whether each one's round trip counts.
    pub kept: &'a [bool],
    /// The share of echoes with a late frame.
    pub late_share: f64,
}

/// One candidate.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// Times of its sleepers, by their columns.
    pub times: &'a [f64],
    /// Round trips of the echoes that count, less the hosts' own time.
    pub left_us: &'a [f64],
    /// Scale of the error of round trips.
    pub noise_us: f64,
    /// Scale of the error of gaps; 0: they are exact, which takes less time.
    pub error_us: f64,
    /// Share of the echoes' `later_us` that delays answers.
    pub later_share: f64,
    /// Of the highest density, what the density of one echo is at least: a stray frame may have kept a transmitter awake.
    pub least: f64,
}

/// A sum of logarithms of positive factors, which takes few logarithms.
struct Product {
    factor: f64,
    log: f64,
}

impl Product {
    fn times(&mut self, factor: f64) {
        self.factor *= factor;
        if !(1.0 / LARGE..LARGE).contains(&self.factor) {
            self.log += self.factor.ln();
            self.factor = 1.0;
        }
    }
}

/// The log-likelihood of a candidate.
#[must_use]
pub fn log_likelihood(observed: &Observed, sleepers: &[Sleeper], candidate: &Candidate) -> f64 {
    let Candidate {
        times,
        left_us,
        noise_us,
        error_us,
        later_share,
        least,
    } = *candidate;
    let mut walk = Walk::new(observed.echoes, sleepers, times, later_share);
    let mut product = Product {
        factor: 1.0,
        log: 0.0,
    };
    let precision = 1.0 / (3.0 * noise_us * noise_us);
    let density = |error_us: f64| {
        let root = 1.0 / (1.0 + error_us * error_us * precision);
        root * root
    };
    let mut lefts = left_us.iter();
    for &kept in observed.kept {
        let delay_us = walk.step();
        if !kept {
            continue;
        }
        let Some(left) = lefts.next() else {
            break;
        };
        let firm = error_us == 0.0 || walk.firm(LATEST_US.max(FARTHEST * error_us));
        let on_time: f64 = if firm {
            density(left - delay_us)
        } else {
            let near: f64 = NODES
                .iter()
                .map(|(node, weight)| weight * density(left - walk.with_error(node * error_us)))
                .sum();
            let after_late: f64 = LATE_US
                .iter()
                .map(|late_us| density(left - walk.with_error(-late_us)))
                .sum();
            (1.0 - observed.late_share) * near
                + observed.late_share / LATE_US.len() as f64 * after_late
        };
        let late: f64 = LATE_US
            .iter()
            .map(|&late_us| {
                if firm {
                    return density(left - delay_us - late_us);
                }
                let either = [false, true].map(|answer| walk.if_late(late_us, answer));
                either.map(|one| density(left - one) / 2.0).iter().sum()
            })
            .sum();
        let found = (1.0 - observed.late_share) * on_time
            + observed.late_share / LATE_US.len() as f64 * late;
        product.times(found.max(least));
    }
    // Gamma(2) / (Gamma(3/2) sqrt(3 pi)) is 2 / (pi sqrt(3)).
    let constant = (2.0 / (PI * 3.0_f64.sqrt() * noise_us)).ln();
    product.log + product.factor.ln() + left_us.len() as f64 * constant
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::{Timing, delays};
    use proptest::prelude::*;

    const PORT: Sleeper = Sleeper {
        place: 0,
        timing: Timing::Deep,
        column: 0,
    };

    fn echoes(gaps_us: Vec<f64>) -> Echoes {
        let count = gaps_us.len();
        Echoes {
            gap_us: vec![gaps_us; 2],
            echo_byte: 84.0,
            burst_byte: vec![84.0; count],
            byte_us: vec![0.008; 2],
            stores: vec![false; 2],
            later_us: vec![0.0; count],
        }
    }

    fn height(
        echoes: &Echoes,
        times: &[f64],
        left_us: &[f64],
        noise_us: f64,
        error_us: f64,
    ) -> f64 {
        forgiving(echoes, times, left_us, noise_us, error_us, 0.0)
    }

    fn forgiving(
        echoes: &Echoes,
        times: &[f64],
        left_us: &[f64],
        noise_us: f64,
        error_us: f64,
        least: f64,
    ) -> f64 {
        with_late(echoes, times, left_us, (noise_us, error_us), least, 0.0)
    }

    fn with_late(
        echoes: &Echoes,
        times: &[f64],
        left_us: &[f64],
        (noise_us, error_us): (f64, f64),
        least: f64,
        late_share: f64,
    ) -> f64 {
        let kept = vec![true; echoes.count()];
        let observed = Observed {
            echoes,
            kept: &kept,
            late_share,
        };
        let candidate = Candidate {
            times,
            left_us,
            noise_us,
            error_us,
            later_share: 0.0,
            least,
        };
        log_likelihood(&observed, &[PORT], &candidate)
    }

    #[test]
    fn the_density_is_students() {
        // At 0 and at one scale with three degrees of freedom: 0.3675525970 and 0.2067483358.
        let none = [1e9, 0.0, 0.0];
        for (left_us, density) in [(0.0, 0.367_552_597_0), (1.0, 0.206_748_335_8_f64)] {
            let found = height(&echoes(vec![100.0]), &none, &[left_us], 1.0, 0.0);
            assert!((found - density.ln()).abs() < 1e-9, "{found}");
        }
    }

    #[test]
    fn late_echoes_do_not_speak_for_a_hold_that_is_near() {
        let seen = echoes(vec![980.0; 20]);
        let of = |hold_us: f64, late_share| {
            let times = [hold_us, 180.0, 60.0];
            with_late(&seen, &times, &[9.5; 20], (0.3, 0.3), 0.0, late_share)
        };
        assert!(of(1000.0, 0.05) < of(2000.0, 0.05) + 1.0);
        assert!(of(2000.0, 0.05) > of(2000.0, 0.0) + 20.0);
    }

    #[test]
    fn the_gap_after_a_late_frame_may_be_shorter() {
        let seen = echoes(vec![1006.0]);
        let of = |late_share| {
            let times = [1000.0, 180.0, 60.0];
            with_late(&seen, &times, &[0.2], (0.3, 0.3), 0.0, late_share)
        };
        assert!(of(0.05) > of(0.0) + 3.0);
    }

    #[test]
    fn one_echo_costs_no_more_than_it_may() {
        let none = [1e9, 0.0, 0.0];
        let seen = echoes(vec![100.0; 3]);
        let of = |left_us: &[f64; 3], least| forgiving(&seen, &none, left_us, 1.0, 1.0, least);
        let (near, far) = ([0.5, 0.0, -0.5], [0.5, 300.0, -0.5]);
        assert!((of(&near, 1e-6) - of(&near, 0.0)).abs() < 1e-12);
        assert!((of(&near, 0.0) - of(&far, 1e-6) - 1e6_f64.ln()).abs() < 1e-9);
        assert!(of(&far, 0.0) < of(&far, 1e-6));
    }

    proptest! {
        #[test]
        fn the_truth_is_likelier_than_times_that_are_far_off(
            gaps_us in prop::collection::vec(20.0f64..3000.0, 50..400), factor in 0.3f64..0.8,
        ) {
            let seen = echoes(gaps_us);
            let truth = [700.0, 150.0, 60.0];
            let left_us = delays(&seen, &[PORT], &truth, 0.0);
            let other = truth.map(|time| time * factor);
            prop_assert!(height(&seen, &truth, &left_us, 1.0, 1.0) > height(&seen, &other, &left_us, 1.0, 1.0));
        }

        #[test]
        fn a_long_product_is_the_sum_of_its_logarithms(left_us in prop::collection::vec(-1e6f64..1e6, 1..300)) {
            let seen = echoes(vec![50.0; left_us.len()]);
            let none = [1e9, 0.0, 0.0];
            let whole = height(&seen, &none, &left_us, 0.5, 0.5);
            let one = echoes(vec![50.0]);
            let parts: f64 = left_us.iter().map(|left| height(&one, &none, &[*left], 0.5, 0.5)).sum();
            prop_assert!((whole - parts).abs() < 1e-6 * parts.abs().max(1.0));
        }
    }
}
