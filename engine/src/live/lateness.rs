//! Lateness of deliveries, wall clock minus model time, as a histogram. A frame that could not be read in time because the
//! live thread had to wait for a processor counts with that wait, beside its delivery.

use fabric::Ps;
use fabric::time::PS_PER_NS;

/// Buckets per octave: neighbouring bounds are 9 % apart.
const PER_OCTAVE: usize = 8;
/// Upper bound of the first bucket.
const FIRST_UPPER_NS: f64 = 125.0;
/// Octaves covered: 125 ns · 2²³ is 1.05 s.
const OCTAVES: usize = 23;
const BOUNDED: usize = PER_OCTAVE * OCTAVES + 1;

/// A histogram with buckets of equal ratio.
#[derive(Clone, Debug)]
pub struct Lateness {
    upper_ns: Box<[f64; BOUNDED]>,
    count: Box<[u64; BOUNDED + 1]>,
    total: u64,
    max_ns: u64,
}

impl Default for Lateness {
    fn default() -> Self {
        Self::new()
    }
}

impl Lateness {
    /// An empty histogram.
    #[must_use]
    pub fn new() -> Self {
        let mut upper_ns = Box::new([0.0; BOUNDED]);
        for (number, upper) in upper_ns.iter_mut().enumerate() {
            *upper = FIRST_UPPER_NS * (number as f64 / PER_OCTAVE as f64).exp2();
        }
        Self {
            upper_ns,
            count: Box::new([0; BOUNDED + 1]),
            total: 0,
            max_ns: 0,
        }
    }

    /// Count one delivery.
    pub fn record(&mut self, late: Ps) {
        let late_ns = late / PS_PER_NS;
        // The logarithm may be off by one bucket at a bound; the comparisons correct it.
        let guess = (late_ns as f64 / FIRST_UPPER_NS).log2() * PER_OCTAVE as f64;
        let mut bucket = (guess.ceil().max(0.0) as usize).min(BOUNDED);
        while bucket > 0 && late_ns as f64 <= self.upper_ns[bucket - 1] {
            bucket -= 1;
        }
        while bucket < BOUNDED && late_ns as f64 > self.upper_ns[bucket] {
            bucket += 1;
        }
        self.count[bucket] += 1;
        self.total += 1;
        self.max_ns = self.max_ns.max(late_ns);
    }

    /// Number of deliveries counted.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The maximum, in microseconds.
    #[must_use]
    pub fn max_us(&self) -> f64 {
        self.max_ns as f64 / 1e3
    }

    /// The lateness that a `fraction` of the deliveries does not exceed, in microseconds: the upper bound of its
    /// bucket, so at most 9 % too high and never too low. 0 for an empty histogram.
    #[must_use]
    pub fn quantile_us(&self, fraction: f64) -> f64 {
        let rank = (fraction * self.total as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (bucket, count) in self.count.iter().enumerate() {
            seen += count;
            if seen >= rank {
                let upper_us = self
                    .upper_ns
                    .get(bucket)
                    .map_or(f64::INFINITY, |ns| ns / 1e3);
                return upper_us.min(self.max_us());
            }
        }
        0.0
    }

    /// The same of the deliveries since an earlier state of this histogram; infinite beyond the last bound.
    #[must_use]
    pub fn quantile_since_us(&self, before: &Lateness, fraction: f64) -> f64 {
        let mut since = self.clone();
        for (count, earlier) in since.count.iter_mut().zip(before.count.iter()) {
            *count = count.saturating_sub(*earlier);
        }
        since.total = since.count.iter().sum();
        if since.total == 0 {
            0.0
        } else {
            since.quantile_us(fraction)
        }
    }

    /// Upper bounds of the buckets, in microseconds; the last bucket is open-ended.
    #[must_use]
    pub fn upper_us(&self) -> Vec<f64> {
        self.upper_ns.iter().map(|ns| ns / 1e3).collect()
    }

    /// Deliveries by bucket, one more than upper bounds; not cumulative.
    #[must_use]
    pub fn counts(&self) -> Vec<u64> {
        self.count.to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabric::time::{PS_PER_S, PS_PER_US};

    #[test]
    fn each_lateness_lies_in_its_bucket() {
        for late_ns in [
            0,
            1,
            124,
            125,
            126,
            249,
            250,
            251,
            3_000,
            999_999,
            1_048_576_000,
            9_000_000_000,
        ] {
            let mut histogram = Lateness::new();
            histogram.record(late_ns * PS_PER_NS);
            let bucket = histogram
                .counts()
                .iter()
                .position(|&count| count == 1)
                .expect("counted");
            let upper_us = histogram.upper_us();
            let late_us = late_ns as f64 / 1e3;
            assert!(
                bucket == upper_us.len() || late_us <= upper_us[bucket],
                "{late_ns} above {bucket}"
            );
            assert!(
                bucket == 0 || late_us > upper_us[bucket - 1],
                "{late_ns} below {bucket}"
            );
        }
    }

    #[test]
    fn quantiles_are_never_too_low_and_at_most_a_bucket_too_high() {
        let mut histogram = Lateness::new();
        for us in 1..=1000 {
            histogram.record(us * PS_PER_US);
        }
        for (fraction, truth_us) in [(0.5, 500.0), (0.9, 900.0), (0.99, 990.0)] {
            let found_us = histogram.quantile_us(fraction);
            assert!(
                (truth_us..=truth_us * 1.091).contains(&found_us),
                "{fraction}: {found_us}"
            );
        }
        assert!((histogram.max_us() - 1000.0).abs() < 1e-9);
        assert_eq!(histogram.total(), 1000);
        assert_eq!(histogram.counts().iter().sum::<u64>(), 1000);
    }

    #[test]
    fn the_open_bucket_counts_what_is_beyond_all_bounds() {
        let mut histogram = Lateness::new();
        histogram.record(100 * PS_PER_S);
        assert_eq!(histogram.counts().last(), Some(&1));
        assert!((histogram.quantile_us(0.5) - 1e8).abs() < 1.0);
        assert_eq!(histogram.counts().len(), histogram.upper_us().len() + 1);
    }

    #[test]
    fn an_empty_histogram_says_nothing_was_late() {
        assert!(Lateness::new().quantile_us(0.99).abs() < f64::EPSILON);
    }
}
