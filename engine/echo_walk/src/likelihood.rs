//! How likely round trips are under a candidate's times.
//!
//! A round trip less the hosts' own time is the delay of sleeping transmitters plus an error: Student-t with three degrees
//! of freedom, so that late interrupts have little weight. The moment at which a frame really left is known only to
//! within an error of the same size; near a hold that decides whether a transmitter slept. So the density is a mixture
//! over [`NODES`], a rough rule for errors with long tails. Some frames come later than that to their first switch, as
//! their host, or whoever polls its card, was busy ([`LATE_US`], [`MET`]). That holds for every echo, near a hold or not:
//! else late ones would speak for a hold that is near. Where a host is busy for long, late echoes follow late ones, and
//! several frames of one echo are late: a second late frame is allowed for as often as that ([`Lateness::again`]).
//!
//! A late frame also leaves transmitters less time to fall asleep before the next one. By how much is seen in its own
//! round trip, as that exceeds what the candidate explains; how likely it was late at all follows from the same densities.
//! What a transmitter did near a hold, and with it how long the next frame finds it idle, follows the likeliest of all
//! that may have happened, as the round trip shows it.
//! Simplifications: an echo after one that does not count, as its round trip says nothing, follows one on time; a frame
//! that is late in an echo that was late already meets no transmitter later by that.

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
/// Which of a round trip's transmitters a late frame meets later: the request's and the answer's, or the answer's alone; or
/// none, as it was late when it was received. One is taken to be as frequent as another.
const MET: [[f64; 2]; 2] = [[1.0, 1.0], [0.0, 1.0]];
const RECEIVED: [f64; 2] = [0.0, 0.0];
const WAYS: f64 = 3.0;
/// Of two late frames the first, by [`MET`]: the request in two pairs of three, the answer in one.
const FIRST: [f64; 2] = [2.0 / 3.0, 1.0 / 3.0];
/// How late such a frame comes, microseconds: a third of them between each two of these. A frame that finds a transmitter
/// on its way into low power waits until the same moment, however late it came.
const LATE_US: [f64; 4] = [2.0, 9.0, 18.0, 60.0];
const STEPS: usize = LATE_US.len() - 1;
const LATEST_US: f64 = LATE_US[STEPS];
/// Two late frames make no error as small as this: all of their density there is that of the spreads' tails.
const TWICE_US: f64 = LATE_US[0];
/// An echo less likely to be late than this is taken to have been on time by the one after it.
const LEAST_LATE: f64 = 0.02;
/// Above this a product of densities is turned into a logarithm; a single factor stays far below its square.
const LARGE: f64 = 1e100;

/// What was seen: echoes, and which of them count.
#[derive(Clone, Copy, Debug)]
pub struct Observed<'a> {
    /// All echoes.
    pub echoes: &'a Echoes,
    /// Whether each one's round trip counts.
    pub kept: &'a [bool],
    /// How often frames are late.
    pub late: Lateness,
}

/// How often frames come late, or are late when they are received.
#[derive(Clone, Copy, Debug)]
pub struct Lateness {
    /// The share of echoes with a late frame.
    pub share: f64,
    /// Of these, the share with another one.
    pub again: f64,
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

/// Densities of errors, as multiples of the highest one, of frames that waited for nothing that their lateness changed.
struct Errors {
    noise2: f64,
    again: f64,
    /// Of a frame on time, then of late ones, by their steps.
    each: [Spread; STEPS + 1],
    /// Of two late ones, by the steps of both.
    twice: [Spread; STEPS * STEPS],
}

impl Errors {
    fn new(noise_us: f64, again: f64) -> Self {
        let noise2 = noise_us * noise_us;
        let each = std::array::from_fn(|step| match step {
            0 => Spread::between(0.0, 0.0, noise2),
            _ => Spread::between(LATE_US[step - 1], LATE_US[step], noise2),
        });
        let twice = std::array::from_fn(|pair| {
            let (one, other) = (pair / STEPS, pair % STEPS);
            let (from_us, to_us) = (
                LATE_US[one] + LATE_US[other],
                LATE_US[one + 1] + LATE_US[other + 1],
            );
            Spread::between(from_us, to_us, noise2)
        });
        Self {
            noise2,
            again,
            each,
            twice,
        }
    }

    /// On time, and late.
    fn of(&self, error_us: f64) -> [f64; 2] {
        let [on_time, once] = self.once(error_us);
        if error_us < TWICE_US || self.again == 0.0 {
            return [on_time, self.mixed(once, 0.0)];
        }
        let density = |one: &Spread| one.density(error_us);
        let twice = self.twice.iter().map(density).sum::<f64>() / self.twice.len() as f64;
        [on_time, self.mixed(once, twice)]
    }

    /// On time, and with one late frame.
    fn once(&self, error_us: f64) -> [f64; 2] {
        let each = self.each.map(|one| one.density(error_us));
        [each[0], each[1..].iter().sum::<f64>() / STEPS as f64]
    }

    /// Of echoes with late frames, from those with one and those with two.
    fn mixed(&self, once: f64, twice: f64) -> f64 {
        (1.0 - self.again) * once + self.again * twice
    }

    fn on_time(&self, error_us: f64) -> f64 {
        self.each[0].density(error_us)
    }

    /// With a late frame that has so much more delay at either end of a step, once and with another one.
    fn late_with(&self, left_us: f64, ends_us: &[f64]) -> [f64; 2] {
        let density = |more: &[f64]| {
            Spread::between(ends_us[0] + more[0], ends_us[1] + more[1], self.noise2)
                .density(left_us)
        };
        if self.again == 0.0 {
            return [density(&[0.0, 0.0]), 0.0];
        }
        let twice: f64 = LATE_US.windows(2).map(density).sum();
        [density(&[0.0, 0.0]), twice / STEPS as f64]
    }
}

/// Errors anywhere within an interval, and the noise: about as Student-t, with the variance of both.
#[derive(Clone, Copy)]
struct Spread {
    middle_us: f64,
    height: f64,
    precision: f64,
}

impl Spread {
    fn between(from_us: f64, to_us: f64, noise2: f64) -> Self {
        let width_us = to_us - from_us;
        let scale2 = noise2 + width_us * width_us / 12.0;
        Self {
            middle_us: f64::midpoint(from_us, to_us),
            height: (noise2 / scale2).sqrt(),
            precision: 1.0 / (3.0 * scale2),
        }
    }

    fn density(&self, error_us: f64) -> f64 {
        let beyond_us = error_us - self.middle_us;
        let root = 1.0 / (1.0 + beyond_us * beyond_us * self.precision);
        self.height * root * root
    }
}

/// What most likely happened to an echo: how much longer its transmitters were idle than the walk took them to be.
#[derive(Clone, Copy, Default)]
struct Likeliest {
    weight: f64,
    longer_us: [f64; 2],
}

impl Likeliest {
    fn consider(&mut self, weight: f64, longer_us: [f64; 2]) {
        if weight > self.weight {
            *self = Self { weight, longer_us };
        }
    }
}

/// How likely the echo passed last is, on time and late, had its transmitters been idle for so much longer. `share`: of
/// echoes, the late ones; `prior`: of what is considered to be likeliest.
fn densities(
    walk: &Walk,
    errors: &Errors,
    (left_us, error_us, share): (f64, f64, f64),
    longer_us: [f64; 2],
    (prior, likeliest): (f64, &mut Likeliest),
) -> [f64; 2] {
    let moved = |way: [f64; 2], more_us: f64| {
        [
            longer_us[0] + way[0] * more_us,
            longer_us[1] + way[1] * more_us,
        ]
    };
    let delay_us = |way: [f64; 2], more_us: f64| {
        let [request_us, answer_us] = moved(way, more_us);
        walk.otherwise(request_us, answer_us)
    };
    let mut on_time = 0.0;
    for (node, weight) in NODES {
        let both = [1.0, 1.0];
        let density = weight * errors.on_time(left_us - delay_us(both, node * error_us));
        on_time += density;
        likeliest.consider(
            prior * (1.0 - share) * density,
            moved(both, node * error_us),
        );
    }
    let [_, received] = errors.once(left_us - delay_us(RECEIVED, 0.0));
    let mut late = errors.mixed(received / WAYS, 0.0);
    likeliest.consider(prior * share * late, longer_us);
    for (way, first) in MET.into_iter().zip(FIRST) {
        let delays_us = LATE_US.map(|late_us| late_us + delay_us(way, late_us));
        for (step, ends) in delays_us.windows(2).enumerate() {
            let [once, twice] = errors.late_with(left_us, ends);
            let density = errors.mixed(once / WAYS, first * twice) / STEPS as f64;
            late += density;
            let middle_us = f64::midpoint(LATE_US[step], LATE_US[step + 1]);
            likeliest.consider(prior * share * density, moved(way, middle_us));
        }
    }
    [on_time, late]
}

/// The same over all that the echo before may have met: `each` is how likely either way is by which it was late.
fn densities_all_ways(
    walk: &Walk,
    errors: &Errors,
    seen: (f64, f64, f64),
    (each, excess_us): (f64, f64),
    likeliest: &mut Likeliest,
) -> [f64; 2] {
    let mut found = [0.0; 2];
    for (way, prior) in [RECEIVED, MET[0], MET[1]]
        .into_iter()
        .zip([1.0 - 2.0 * each, each, each])
    {
        if prior > 0.0 {
            let longer_us = way.map(|part| -part * excess_us);
            let now = densities(walk, errors, seen, longer_us, (prior, likeliest));
            found = [found[0] + prior * now[0], found[1] + prior * now[1]];
        }
    }
    found
}

/// Densities of errors of echoes that met nothing asleep, as multiples of the highest: on time, and with one late frame.
#[must_use]
pub fn error_densities(left_us: &[f64], noise_us: f64) -> Vec<[f64; 2]> {
    let errors = Errors::new(noise_us, 0.0);
    left_us.iter().map(|left| errors.once(*left)).collect()
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
    let late_share = observed.late.share;
    let mut walk = Walk::new(observed.echoes, sleepers, times, later_share);
    let mut product = Product {
        factor: 1.0,
        log: 0.0,
    };
    let errors = Errors::new(noise_us, observed.late.again);
    let mut lefts = left_us.iter();
    // Of the echo before: how likely it is, as a late one and in all, and its error.
    let (mut late_before, mut before, mut excess_us) = (0.0, 1.0, 0.0_f64);
    for &kept in observed.kept {
        let mut delay_us = walk.step();
        if !kept {
            late_before = 0.0;
            continue;
        }
        let Some(left) = lefts.next() else {
            break;
        };
        if late_before < LEAST_LATE * before || excess_us <= 0.0 {
            (late_before, excess_us) = (0.0, 0.0);
        }
        let near_us = FARTHEST * error_us;
        let [on_time, late];
        if error_us == 0.0 || walk.firm(near_us.max(excess_us), near_us.max(LATEST_US)) {
            [on_time, late] = errors.of(left - delay_us);
        } else {
            let mut likeliest = Likeliest::default();
            let seen = (*left, error_us, late_share);
            let before = (late_before / before / WAYS, excess_us);
            [on_time, late] = densities_all_ways(&walk, &errors, seen, before, &mut likeliest);
            if likeliest.longer_us != RECEIVED {
                let [request_us, answer_us] = likeliest.longer_us;
                delay_us = walk.settle(request_us, answer_us);
            }
        }
        late_before = late_share * late;
        before = (1.0 - late_share) * on_time + late_before;
        product.times(before.max(least));
        excess_us = left - delay_us;
    }
    // Gamma(2) / (Gamma(3/2) sqrt(3 pi)) is 2 / (pi sqrt(3)).
    let constant = (2.0 / (PI * 3.0_f64.sqrt() * noise_us)).ln();
    product.log + product.factor.ln() + left_us.len() as f64 * constant
}

#[cfg(test)]
mod tests;
