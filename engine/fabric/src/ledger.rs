//! Time in state of one transmitter.

use std::collections::BTreeMap;

use crate::time::Ps;

/// LPI state of a transmitter; [`LpiState::name`] is its name in Python.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum LpiState {
    /// No link; or a link that is idle and on which this end never asserts LPI (EEE not negotiated, or mode off).
    Off,
    /// Bits of a frame are on the wire.
    Active,
    /// Idle at full power, ready to send; LPI follows.
    Hold,
    /// Ts: entering sleep, at full power; cannot be interrupted.
    Sleeping,
    /// Deep sleep, signal off.
    Quiet,
    /// Deep sleep, refresh signal on.
    Refresh,
    /// Tw: waking at full power, not yet ready to send.
    Waking,
    /// The low power of fast wake.
    Fast,
}

impl LpiState {
    /// Lower-case name, as Python shows it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Active => "active",
            Self::Hold => "hold",
            Self::Sleeping => "sleeping",
            Self::Quiet => "quiet",
            Self::Refresh => "refresh",
            Self::Waking => "waking",
            Self::Fast => "fast",
        }
    }

    /// True while LPI is signalled, Ts included: what an LPI duration counter counts.
    #[must_use]
    pub const fn is_lpi(self) -> bool {
        matches!(
            self,
            Self::Sleeping | Self::Quiet | Self::Refresh | Self::Fast
        )
    }
}

/// Picoseconds of one transmitter by state, and how often it changed them.
///
/// `down + active + sleep + quiet + refresh + wake + fast == total`, always. `transmit_ps` is a part of
/// `active_ps`, and `up_by_mbps` divides the same time another way; neither is an addend.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// No link.
    pub down_ps: Ps,
    /// Link up and not in LPI: frames, or idle and ready.
    pub active_ps: Ps,
    /// Bits of frames on the wire.
    pub transmit_ps: Ps,
    /// Ts.
    pub sleep_ps: Ps,
    /// Tq.
    pub quiet_ps: Ps,
    /// Tr.
    pub refresh_ps: Ps,
    /// Tw.
    pub wake_ps: Ps,
    /// Low power of fast wake.
    pub fast_ps: Ps,
    /// Age of the transmitter, measured independently of its parts.
    pub total_ps: Ps,
    /// Number of wakes, whether for a frame or for a change of policy.
    pub wakes: u64,
    /// Number of LPI assertions. Fast wake followed by deep sleep counts once.
    pub lpi_events: u64,
    /// Link-up time by speed in Mb/s.
    pub up_by_mbps: BTreeMap<u32, Ps>,
}

impl Ledger {
    /// Sum of the parts; equals `total_ps`.
    #[must_use]
    pub const fn parts_ps(&self) -> Ps {
        self.down_ps + self.active_ps + self.low_power_ps() + self.sleep_ps + self.wake_ps
    }

    /// Time at which power is saved: quiet, refresh and fast wake's low power, without Ts and Tw.
    #[must_use]
    pub const fn low_power_ps(&self) -> Ps {
        self.quiet_ps + self.refresh_ps + self.fast_ps
    }

    /// Time in which LPI was signalled, Ts included: the LPI duration counter of this direction. Devices differ in
    /// whether theirs includes Ts; a measurement with many short sleeps shows it.
    #[must_use]
    pub const fn lpi_ps(&self) -> Ps {
        self.low_power_ps() + self.sleep_ps
    }
}
