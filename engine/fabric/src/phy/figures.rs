//! The figures: IEEE 802.3-2022 clause 78, the papers, a manual. All in nanoseconds here.

use crate::phy::profile::{DeepSleep, Eee, Figure, Source};
use crate::time::{PS_PER_NS, PS_PER_US, Ps};

/// A figure read in the standard.
pub(super) const fn read(min_ns: u64, max_ns: u64) -> Figure {
    figure(min_ns, max_ns, Source::Standard)
}

/// A figure from memory.
pub(super) const fn memory(min_ns: u64, max_ns: u64) -> Figure {
    figure(min_ns, max_ns, Source::Memory)
}

pub(super) const fn paper(ns: u64) -> Figure {
    figure(ns, ns, Source::Paper)
}

pub(super) const fn manual(ns: u64) -> Figure {
    figure(ns, ns, Source::Manual)
}

pub(super) const fn figure(min_ns: u64, max_ns: u64, source: Source) -> Figure {
    Figure {
        min: min_ns * PS_PER_NS,
        max: max_ns * PS_PER_NS,
        source,
    }
}

impl Figure {
    pub(super) const fn filled(self) -> Self {
        Self {
            source: Source::Filled,
            ..self
        }
    }
}

pub(super) const NO_REFRESH: Figure = figure(0, 0, Source::Filled);

impl DeepSleep {
    /// All wakes of one length.
    pub(super) const fn with_wake(self, wake: Figure, wake_phy: Figure) -> Self {
        Self {
            wake,
            wake_during_sleep: wake,
            wake_phy,
            ..self
        }
    }

    const fn with_sleep(self, sleep: Figure) -> Self {
        Self { sleep, ..self }
    }

    /// Tq and Tr marked as taken from the standard.
    const fn with_filled_refresh(self) -> Self {
        Self {
            quiet: self.quiet.filled(),
            refresh: self.refresh.filled(),
            ..self
        }
    }

    pub(super) const fn eee(self) -> Eee {
        Eee {
            deep: Some(self),
            fast_wake: None,
            hold: 0,
            coalesce_byte: 0,
            coalesce: 0,
        }
    }
}

impl Eee {
    pub(super) const fn with_fast_wake(self, wake: Figure) -> Self {
        Self {
            fast_wake: Some(wake),
            ..self
        }
    }

    pub(super) const fn with_hold(self, hold: Ps) -> Self {
        Self { hold, ..self }
    }

    pub(super) const fn with_coalescing(self, coalesce_byte: u32, coalesce: Ps) -> Self {
        Self {
            coalesce_byte,
            coalesce,
            ..self
        }
    }
}

/// Twisted pair at 100 Mb/s.
pub(super) const TX_100: DeepSleep = DeepSleep {
    sleep: memory(200_000, 220_000),
    quiet: memory(20_000_000, 22_000_000),
    refresh: memory(200_000, 220_000),
    wake: memory(30_000, 30_000),
    wake_during_sleep: memory(30_000, 30_000),
    wake_phy: read(20_500, 20_500),
};
/// Twisted pair at 1 Gb/s. The receiving end shrinks the wake by 2.5 µs (master) or 9.74 µs (slave), which matters
/// to the PHYs alone: the system waits `Tw_sys_tx`.
pub(super) const T_1000: DeepSleep = DeepSleep {
    sleep: memory(182_000, 202_000),
    quiet: memory(20_000_000, 24_000_000),
    refresh: memory(198_000, 218_200),
    wake: read(16_500, 16_500),
    wake_during_sleep: read(16_500, 16_500),
    wake_phy: read(16_500, 16_500),
};
pub(super) const KX_1000: DeepSleep = DeepSleep {
    sleep: read(19_900, 20_100),
    quiet: memory(2_500_000, 2_600_000),
    refresh: read(19_900, 20_100),
    wake: read(13_260, 13_260),
    wake_during_sleep: read(13_260, 13_260),
    wake_phy: read(11_250, 11_250),
};
pub(super) const T_2500: DeepSleep = DeepSleep {
    sleep: read(11_520, 12_800),
    quiet: read(76_800, 76_800),
    refresh: read(5_120, 5_120),
    wake: read(17_920, 17_920),
    wake_during_sleep: read(29_440, 29_440),
    wake_phy: read(17_920, 17_920),
};
pub(super) const T_5000: DeepSleep = DeepSleep {
    sleep: read(5_760, 6_400),
    quiet: read(38_400, 38_400),
    refresh: read(2_560, 2_560),
    wake: read(8_960, 8_960),
    wake_during_sleep: read(14_720, 14_720),
    wake_phy: read(8_960, 8_960),
};
pub(super) const T_10G: DeepSleep = DeepSleep {
    sleep: read(2_880, 3_200),
    quiet: read(39_680, 39_680),
    refresh: read(1_280, 1_280),
    wake: read(4_480, 4_480),
    wake_during_sleep: read(7_360, 7_360),
    wake_phy: read(4_480, 4_480),
};
pub(super) const T_25G: DeepSleep = DeepSleep {
    sleep: read(768, 896),
    quiet: read(15_616, 15_616),
    refresh: read(768, 768),
    wake: read(1_792, 1_792),
    wake_during_sleep: read(2_560, 2_560),
    wake_phy: read(1_792, 1_792),
};
pub(super) const T_40G: DeepSleep = DeepSleep {
    sleep: read(480, 560),
    quiet: read(9_760, 9_760),
    refresh: read(480, 480),
    wake: read(1_120, 1_120),
    wake_during_sleep: read(1_600, 1_600),
    wake_phy: read(1_120, 1_120),
};
pub(super) const KR_10G: DeepSleep = DeepSleep {
    sleep: read(4_900, 5_100),
    quiet: memory(1_700_000, 1_800_000),
    refresh: read(16_900, 17_500),
    wake: read(15_380, 15_380),
    wake_during_sleep: read(15_380, 15_380),
    wake_phy: read(12_250, 12_250),
};
pub(super) const KX4_10G: DeepSleep = DeepSleep {
    sleep: read(19_900, 20_100),
    quiet: memory(2_500_000, 2_600_000),
    refresh: read(19_900, 20_100),
    wake: read(12_380, 12_380),
    wake_during_sleep: read(12_380, 12_380),
    wake_phy: read(9_250, 9_250),
};
/// 40 and 100 Gb/s over copper.
pub(super) const FOUR_LANES: DeepSleep = DeepSleep {
    sleep: read(900, 1_100),
    quiet: memory(1_700_000, 1_800_000),
    refresh: read(5_900, 6_500),
    wake: read(5_500, 5_500),
    wake_during_sleep: read(5_500, 5_500),
    wake_phy: read(5_500, 5_500),
};
pub(super) const KR_10G_FEC: DeepSleep =
    KR_10G.with_wake(read(17_380, 17_380), read(14_250, 14_250));
pub(super) const FOUR_LANES_FEC: DeepSleep =
    FOUR_LANES.with_wake(read(6_500, 6_500), read(6_500, 6_500));
/// `Tw_phy` of 100GBASE-CR10 is missing in our source; `Tw_sys` replaces it.
pub(super) const CR10: DeepSleep = FOUR_LANES.with_wake(read(5_500, 5_500), memory(5_500, 5_500));
pub(super) const CR10_FEC: DeepSleep =
    FOUR_LANES.with_wake(read(7_500, 7_500), memory(7_500, 7_500));

/// `Tw_sys_tx` of fast wake, the same from 25 to 400 Gb/s (`Tw_phy` 0.3 µs, `Tw_sys_rx` 0.25 µs).
pub(super) const FAST_WAKE: Figure = read(340, 340);
/// Optical PHYs from 25 Gb/s and all PHYs at 50, 200 and 400 Gb/s: no deep sleep.
pub(super) const FAST_ONLY: Eee = Eee {
    deep: None,
    fast_wake: Some(FAST_WAKE),
    hold: 0,
    coalesce_byte: 0,
    coalesce: 0,
};

pub(super) const MIWA_TX_100: DeepSleep = TX_100
    .with_sleep(paper(200_000))
    .with_wake(paper(30_000), paper(30_000).filled())
    .with_filled_refresh();
pub(super) const MIWA_T_1000: DeepSleep = T_1000
    .with_sleep(paper(182_000))
    .with_wake(paper(16_000), paper(16_000).filled())
    .with_filled_refresh();
pub(super) const MIWA_T_10G: DeepSleep = T_10G
    .with_sleep(paper(2_880))
    .with_wake(paper(4_480), paper(4_480).filled())
    .with_filled_refresh();
/// Hold and wake as Miwa found them on the device at 1 Gb/s; its Ts is not given.
pub(super) const POWERCONNECT_1000: Eee = T_1000
    .with_sleep(T_1000.sleep.filled())
    .with_wake(paper(60_000), paper(60_000).filled())
    .with_filled_refresh()
    .eee()
    .with_hold(POWERCONNECT_HOLD);
pub(super) const POWERCONNECT_HOLD: Ps = 1_000 * PS_PER_US;
/// Andújar gives 4.16 µs for the wake where the standard has 4.48 µs, and no refresh.
pub(super) const ANDUJAR: DeepSleep = DeepSleep {
    sleep: paper(2_880),
    quiet: NO_REFRESH,
    refresh: NO_REFRESH,
    wake: paper(4_160),
    wake_during_sleep: paper(4_160),
    wake_phy: paper(4_160).filled(),
};
/// Georgakoudis gives Ts 1.1 µs (for 100 Gb/s; also used for its other two) and both wakes.
pub(super) const GEORGAKOUDIS_25G: Eee = KR_10G
    .with_sleep(paper(1_100))
    .with_wake(paper(14_250), paper(14_250).filled())
    .with_filled_refresh()
    .eee()
    .with_fast_wake(paper(340));
pub(super) const GEORGAKOUDIS_40G_100G: Eee = FOUR_LANES
    .with_sleep(paper(1_100))
    .with_wake(paper(5_500), paper(5_500).filled())
    .with_filled_refresh()
    .eee()
    .with_fast_wake(paper(340));
