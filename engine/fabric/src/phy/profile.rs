//! A PHY profile: its speeds, its EEE times and where each time was found.

use crate::lpi::{Mode, Timing};
use crate::time::Ps;

/// Source of a figure.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// Read in IEEE 802.3-2022.
    Standard,
    /// From memory, or with a digit lost in the copy that was read: unverified.
    Memory,
    /// Printed in the paper that the profile is named after.
    Paper,
    /// Read in a vendor's manual.
    Manual,
    /// Not given by the paper: taken from the PHY of the standard, or zero, as the profile documents.
    Filled,
}

/// A time with its permitted range and its source.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Figure {
    /// Minimum; the profile uses it.
    pub min: Ps,
    /// Maximum; equal to `min` where only one value is given.
    pub max: Ps,
    /// Source.
    pub source: Source,
}

/// Deep sleep of a PHY at one speed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct DeepSleep {
    /// Ts.
    pub sleep: Figure,
    /// Tq; zero: no refresh.
    pub quiet: Figure,
    /// Tr.
    pub refresh: Figure,
    /// `Tw_sys_tx`: from the wake request to the first bit.
    pub wake: Figure,
    /// `Tw_sys_tx` when the wake was requested before Ts was over ("case 1" of the BASE-T PHYs from 2.5 Gb/s).
    pub wake_during_sleep: Figure,
    /// `Tw_phy`: the part of it that the PHY itself needs.
    pub wake_phy: Figure,
}

/// EEE of a PHY at one speed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Eee {
    /// Deep sleep, where it exists.
    pub deep: Option<DeepSleep>,
    /// `Tw_sys_tx` of fast wake, where it exists.
    pub fast_wake: Option<Figure>,
    /// Hold (power-down threshold): idle time before LPI.
    pub hold: Ps,
    /// Wake when this many bytes wait; zero: no limit.
    pub coalesce_byte: u32,
    /// Wake when the first frame has waited this long; zero: no limit.
    pub coalesce: Ps,
}

impl Eee {
    /// Times for the LPI machine: the minimum of each range, and zero for a mode that the PHY does not have. Hybrid
    /// enters deep sleep after one Ts of fast wake, the shortest value that Georgakoudis tries.
    #[must_use]
    pub fn timing(&self) -> Timing {
        let deep = |figure: fn(&DeepSleep) -> Figure| {
            self.deep.as_ref().map_or(0, |deep| figure(deep).min)
        };
        Timing {
            hold: self.hold,
            sleep: deep(|deep| deep.sleep),
            quiet: deep(|deep| deep.quiet),
            refresh: deep(|deep| deep.refresh),
            wake: deep(|deep| deep.wake),
            wake_during_sleep: deep(|deep| deep.wake_during_sleep),
            fast_wake: self.fast_wake.map_or(0, |figure| figure.min),
            deep_after: deep(|deep| deep.sleep),
            coalesce_byte: self.coalesce_byte,
            coalesce: self.coalesce,
        }
    }

    /// The mode that the PHY uses by default: deep sleep where it exists, else fast wake.
    #[must_use]
    pub const fn mode(&self) -> Mode {
        if self.deep.is_some() {
            Mode::Deep
        } else {
            Mode::Fast
        }
    }

    /// Whether the PHY supports a mode.
    #[must_use]
    pub const fn permits(&self, mode: Mode) -> bool {
        match mode {
            Mode::Off => true,
            Mode::Deep => self.deep.is_some(),
            Mode::Fast => self.fast_wake.is_some(),
            Mode::Hybrid => self.deep.is_some() && self.fast_wake.is_some(),
        }
    }
}

/// Medium of a PHY. Ends of different media get no link.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Medium {
    /// Four (or two) twisted pairs and an RJ45 plug.
    TwistedPair,
    /// Traces on a board.
    Backplane,
    /// Twinaxial copper.
    Twinax,
    /// An optical module, or a passive copper cable in its place.
    Module,
}

/// One speed of a PHY.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Mb/s.
    pub speed_mbps: u32,
    /// EEE at this speed, if it exists.
    pub eee: Option<Eee>,
}

/// A kind of port.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Phy {
    /// Key, for instance `1000BASE-T`.
    pub name: &'static str,
    /// Medium.
    pub medium: Medium,
    /// Usual link-up time: negotiation and training. From memory for every PHY; devices differ widely.
    pub interruption: Ps,
    /// Its speeds, fastest first.
    pub rates: &'static [Rate],
}

impl Phy {
    /// Its nominal speed: the fastest.
    #[must_use]
    pub const fn speed_mbps(&self) -> u32 {
        self.rates[0].speed_mbps
    }

    /// Its speeds, slowest first.
    pub fn speeds_mbps(&self) -> impl Iterator<Item = u32> + use<> {
        self.rates.iter().rev().map(|rate| rate.speed_mbps)
    }

    /// EEE at a speed; `None` without EEE at that speed, or for an unknown speed.
    #[must_use]
    pub fn eee_at(&self, speed_mbps: u32) -> Option<&'static Eee> {
        self.rates
            .iter()
            .find(|rate| rate.speed_mbps == speed_mbps)
            .and_then(|rate| rate.eee.as_ref())
    }
}
