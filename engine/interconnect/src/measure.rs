//! What a run measures: latencies of packets and what was accepted.

/// Latencies up to this many cycles have a bin each; longer ones share bins of 1/64 of their size.
const EXACT: u64 = 4096;
const FINE: u32 = 6;

/// A histogram of latencies in cycles: exact below 4096, within 1/64 above; mean and largest always exact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    bins: Vec<u64>,
    count: u64,
    sum: u64,
    largest: u64,
}

fn bin(value: u64) -> usize {
    if value < EXACT {
        return value as usize;
    }
    let scale = value.ilog2();
    let steps = (value >> (scale - FINE)) & ((1 << FINE) - 1);
    (EXACT + (u64::from(scale - EXACT.ilog2()) << FINE) + steps) as usize
}

/// The lowest value of a bin.
fn floor(bin: usize) -> u64 {
    let bin = bin as u64;
    if bin < EXACT {
        return bin;
    }
    let scale = ((bin - EXACT) >> FINE) as u32 + EXACT.ilog2();
    let steps = (bin - EXACT) & ((1 << FINE) - 1);
    ((1 << FINE) | steps) << (scale - FINE)
}

impl Histogram {
    /// Count a value.
    pub fn add(&mut self, value: u64) {
        let bin = bin(value);
        if bin >= self.bins.len() {
            self.bins.resize(bin + 1, 0);
        }
        self.bins[bin] += 1;
        self.count += 1;
        self.sum += value;
        self.largest = self.largest.max(value);
    }

    /// Number of values.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Sum of the values.
    #[must_use]
    pub const fn sum(&self) -> u64 {
        self.sum
    }

    /// Mean; `None` without values.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The largest value; 0 without values.
    #[must_use]
    pub const fn largest(&self) -> u64 {
        self.largest
    }

    /// The smallest value such that at least the share `q` of all values is not above it (above 4096: its bin's
    /// lowest value); `None` without values.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let wanted = ((q * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let mut seen = 0;
        for (bin, count) in self.bins.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return Some(floor(bin));
            }
        }
        None
    }
}

/// What happened between two moments of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// Cycles.
    pub cycles: u64,
    /// Packets whose tails left the network.
    pub packets: u64,
    /// Flits that left the network.
    pub flits: u64,
    /// Sum of the packets' latencies, from creation to the tail's arrival, in cycles.
    pub latency: u64,
    /// Sum of the links between routers that the packets took.
    pub hops: u64,
}

/// What an engine counts while it runs: each interval, and the latencies of the packets that are measured.
#[derive(Clone, Debug, Default)]
pub struct Measurement {
    on: bool,
    outstanding: u64,
    latencies: Histogram,
    pub(crate) interval: Interval,
}

impl Measurement {
    /// From now on, whether packets that are made count in [`Self::latencies`].
    pub(crate) fn switch(&mut self, on: bool) {
        self.on = on;
    }

    /// A packet is made; whether it is measured.
    pub(crate) fn made(&mut self) -> bool {
        self.outstanding += u64::from(self.on);
        self.on
    }

    /// A message's packet is given to its node's channel.
    pub(crate) fn given(&mut self, now: u64) {
        self.interval.latency = self.interval.latency.wrapping_sub(now);
    }

    /// A message's packet arrived. It does not carry the cycle of its making, so that the sum over packets has this and
    /// [`Self::given`] each by itself.
    pub(crate) fn came(&mut self, now: u64, hops: u64) {
        self.interval.packets += 1;
        self.interval.latency = self.interval.latency.wrapping_add(now);
        self.interval.hops += hops;
    }

    /// A packet's tail arrived, so many cycles after the packet was made.
    pub(crate) fn arrived(&mut self, latency: u64, hops: u64, measured: bool) {
        self.interval.packets += 1;
        self.interval.latency += latency;
        self.interval.hops += hops;
        if measured {
            self.latencies.add(latency);
            self.outstanding -= 1;
        }
    }

    /// Latencies of the packets that were made while measuring and have arrived.
    #[must_use]
    pub const fn latencies(&self) -> &Histogram {
        &self.latencies
    }

    /// Packets that were made while measuring and have not arrived.
    #[must_use]
    pub const fn outstanding(&self) -> u64 {
        self.outstanding
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_in_order_and_fine() {
        let mut last = 0;
        for value in (0..100_000).chain((0..40).map(|i| 1 << i)) {
            let low = floor(bin(value));
            assert!(low <= value && value - low <= value / 64, "{value} {low}");
            assert!(value < EXACT || low >= EXACT);
            last = last.max(bin(value));
        }
        assert!(last < 8192);
    }

    #[test]
    fn quantiles_are_those_of_the_sorted_values() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(0.5), None);
        for value in 1..=100 {
            histogram.add(value);
        }
        for (q, value) in [
            (0.0, 1),
            (0.01, 1),
            (0.5, 50),
            (0.99, 99),
            (0.991, 100),
            (1.0, 100),
        ] {
            assert_eq!(histogram.quantile(q), Some(value));
        }
        assert_eq!(histogram.mean(), Some(50.5));
        assert_eq!(histogram.largest(), 100);
    }
}
