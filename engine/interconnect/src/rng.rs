//! A seeded generator of random numbers: xoshiro256++ (Blackman, Vigna 2019), seeded by splitmix64.
//!
//! Written here so that the same seed gives the same bytes whatever a library's next version does.

/// Trials with a probability of success.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Trials {
    p: f64,
    /// Logarithm of the probability of a failure.
    log_failure: f64,
}

impl Trials {
    /// Trials that succeed with probability `p`.
    #[must_use]
    pub fn new(p: f64) -> Self {
        Self {
            p,
            log_failure: (-p).ln_1p(),
        }
    }

    /// The probability of success.
    #[must_use]
    pub const fn probability(&self) -> f64 {
        self.p
    }
}

/// Random numbers. Equal seeds give equal sequences.
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// A generator for a seed; every seed is good.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut x = seed;
        let state = std::array::from_fn(|_| {
            x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = x;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        });
        Self { state }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.state;
        let out = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let t = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= t;
        *d = d.rotate_left(45);
        out
    }

    /// A whole number from 0 to `bound - 1`. The bias is below `bound / 2^64`.
    pub fn below(&mut self, bound: u32) -> u32 {
        debug_assert!(bound > 0);
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u32
    }

    /// A number in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Number of trials up to and including the first success: at least 1. `u64::MAX` for a probability of 0.
    pub fn trials(&mut self, trials: &Trials) -> u64 {
        if trials.p >= 1.0 {
            return 1;
        }
        if trials.p <= 0.0 {
            return u64::MAX;
        }
        let failures = (1.0 - self.uniform()).ln() / trials.log_failure;
        (failures as u64).saturating_add(1)
    }

    /// Put the items into a random order (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u32 + 1) as usize);
        }
    }
}
