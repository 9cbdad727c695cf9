//! Time in picoseconds and what one byte costs at each Ethernet rate.

/// A point in engine time or a duration, in picoseconds. 2⁶⁴ ps are 213 days.
pub type Ps = u64;

/// Picoseconds in a nanosecond.
pub const PS_PER_NS: Ps = 1_000;
/// Picoseconds in a microsecond.
pub const PS_PER_US: Ps = 1_000_000;
/// Picoseconds in a millisecond.
pub const PS_PER_MS: Ps = 1_000_000_000;
/// Picoseconds in a second.
pub const PS_PER_S: Ps = 1_000_000_000_000;

/// How long one byte takes at `speed_mbps`; a whole number at every Ethernet rate from 10 Mb/s to 400 Gb/s.
///
/// # Panics
/// If `speed_mbps` is 0: a link that is down sends nothing.
#[must_use]
pub const fn byte_ps(speed_mbps: u32) -> Ps {
    8_000_000 / speed_mbps as Ps
}

/// Seconds as picoseconds, rounded to the nearest; negative and not-a-number become 0.
#[must_use]
pub fn seconds(value_s: f64) -> Ps {
    (value_s * PS_PER_S as f64).round() as Ps
}

/// Microseconds as picoseconds, rounded to the nearest; negative and not-a-number become 0.
#[must_use]
pub fn microseconds(value_us: f64) -> Ps {
    (value_us * PS_PER_US as f64).round() as Ps
}
