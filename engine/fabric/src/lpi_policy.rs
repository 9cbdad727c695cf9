//! When a transmitter sleeps: which low-power modes it uses, and their times.

use crate::time::Ps;

/// Which low-power modes the transmitter uses.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    /// Never asserts LPI.
    #[default]
    Off,
    /// Hold, then deep sleep.
    Deep,
    /// Hold, then fast wake's low power.
    Fast,
    /// Hold, then fast wake's low power, then deep sleep.
    Hybrid,
}

/// Times of the machine, all in picoseconds. Zero is allowed everywhere.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct Timing {
    /// Hold (power-down threshold): idle time before LPI is asserted.
    pub hold: Ps,
    /// Ts.
    pub sleep: Ps,
    /// Tq; zero: no refresh, quiet until the wake.
    pub quiet: Ps,
    /// Tr.
    pub refresh: Ps,
    /// Tw after Quiet or Refresh.
    pub wake: Ps,
    /// Tw when the wake was requested during Ts.
    pub wake_during_sleep: Ps,
    /// Tw after Fast.
    pub fast_wake: Ps,
    /// Hybrid: time in Fast before Ts begins.
    pub deep_after: Ps,
    /// Wake when this many bytes wait; zero: no limit.
    pub coalesce_byte: u32,
    /// Wake when the first frame has waited this long; zero: no limit. With both limits zero nothing coalesces. With a
    /// byte limit alone a single short frame may wait forever, as configured.
    pub coalesce: Ps,
}
