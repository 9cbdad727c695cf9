//! The table of PHYs. Variants of one PHY follow it with the choice in their name.

use crate::phy::figures::{
    ANDUJAR, CR10, CR10_FEC, FAST_ONLY, FAST_WAKE, FOUR_LANES, FOUR_LANES_FEC, GEORGAKOUDIS_25G,
    GEORGAKOUDIS_40G_100G, KR_10G, KR_10G_FEC, KX_1000, KX4_10G, MIWA_T_10G, MIWA_T_1000,
    MIWA_TX_100, POWERCONNECT_1000, POWERCONNECT_HOLD, T_10G, T_25G, T_40G, T_1000, T_2500, T_5000,
    TX_100, manual,
};
use crate::phy::profile::{Eee, Medium, Phy, Rate};
use crate::time::{PS_PER_MS, PS_PER_US};

const fn rate(speed_mbps: u32, eee: Eee) -> Rate {
    Rate {
        speed_mbps,
        eee: Some(eee),
    }
}

const fn plain(speed_mbps: u32) -> Rate {
    Rate {
        speed_mbps,
        eee: None,
    }
}

const AT_10: Rate = plain(10);
const AT_100: Rate = rate(100, TX_100.eee());
const AT_1000: Rate = rate(1_000, T_1000.eee());

const fn twisted(name: &'static str, interruption_ms: u64, rates: &'static [Rate]) -> Phy {
    phy(name, Medium::TwistedPair, interruption_ms, rates)
}

const fn phy(
    name: &'static str,
    medium: Medium,
    interruption_ms: u64,
    rates: &'static [Rate],
) -> Phy {
    Phy {
        name,
        medium,
        interruption: interruption_ms * PS_PER_MS,
        rates,
    }
}

impl Phy {
    /// The profile of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        PHYS.iter().find(|phy| phy.name == name)
    }

    /// All profiles.
    #[must_use]
    pub const fn all() -> &'static [Self] {
        PHYS
    }
}

const PHYS: &[Phy] = &[
    twisted("10BASE-T", 1_000, &[AT_10]),
    twisted("100BASE-TX", 1_500, &[AT_100, AT_10]),
    twisted("1000BASE-T", 2_500, &[AT_1000, AT_100, AT_10]),
    // A NIC or port from before 802.3az, for instance the laptop in Miwa's ping experiment.
    twisted(
        "1000BASE-T-no-EEE",
        2_500,
        &[plain(1_000), plain(100), AT_10],
    ),
    twisted(
        "2.5GBASE-T",
        3_000,
        &[rate(2_500, T_2500.eee()), AT_1000, AT_100],
    ),
    twisted(
        "5GBASE-T",
        3_000,
        &[
            rate(5_000, T_5000.eee()),
            rate(2_500, T_2500.eee()),
            AT_1000,
            AT_100,
        ],
    ),
    twisted(
        "10GBASE-T",
        4_000,
        &[rate(10_000, T_10G.eee()), AT_1000, AT_100],
    ),
    // Every wake as if requested before the sleep was over.
    twisted(
        "10GBASE-T-case-1",
        4_000,
        &[
            rate(
                10_000,
                T_10G
                    .with_wake(T_10G.wake_during_sleep, T_10G.wake_phy)
                    .eee(),
            ),
            AT_1000,
            AT_100,
        ],
    ),
    // Every wake as if requested after the sleep was over.
    twisted(
        "10GBASE-T-case-2",
        4_000,
        &[
            rate(10_000, T_10G.with_wake(T_10G.wake, T_10G.wake_phy).eee()),
            AT_1000,
            AT_100,
        ],
    ),
    twisted(
        "10GBASE-T-multi-gigabit",
        4_000,
        &[
            rate(10_000, T_10G.eee()),
            rate(5_000, T_5000.eee()),
            rate(2_500, T_2500.eee()),
            AT_1000,
            AT_100,
        ],
    ),
    twisted("25GBASE-T", 5_000, &[rate(25_000, T_25G.eee())]),
    twisted("40GBASE-T", 5_000, &[rate(40_000, T_40G.eee())]),
    phy(
        "1000BASE-KX",
        Medium::Backplane,
        500,
        &[rate(1_000, KX_1000.eee())],
    ),
    phy(
        "10GBASE-KR",
        Medium::Backplane,
        1_000,
        &[rate(10_000, KR_10G.eee())],
    ),
    phy(
        "10GBASE-KR-FEC",
        Medium::Backplane,
        1_000,
        &[rate(10_000, KR_10G_FEC.eee())],
    ),
    phy(
        "10GBASE-KX4",
        Medium::Backplane,
        500,
        &[rate(10_000, KX4_10G.eee())],
    ),
    // SFP+ with whatever module: 802.3 defines no EEE for 10GBASE-SR, -LR and direct-attach copper [memory].
    phy("10GBASE-R", Medium::Module, 100, &[plain(10_000)]),
    phy(
        "25GBASE-KR",
        Medium::Backplane,
        1_000,
        &[rate(25_000, KR_10G.eee().with_fast_wake(FAST_WAKE))],
    ),
    phy(
        "25GBASE-KR-FEC",
        Medium::Backplane,
        1_000,
        &[rate(25_000, KR_10G_FEC.eee().with_fast_wake(FAST_WAKE))],
    ),
    phy(
        "25GBASE-KR-RS-FEC",
        Medium::Backplane,
        1_000,
        &[rate(25_000, KR_10G.eee().with_fast_wake(FAST_WAKE))],
    ),
    phy(
        "25GBASE-CR",
        Medium::Twinax,
        1_000,
        &[rate(25_000, KR_10G.eee().with_fast_wake(FAST_WAKE))],
    ),
    phy(
        "25GBASE-CR-FEC",
        Medium::Twinax,
        1_000,
        &[rate(25_000, KR_10G_FEC.eee().with_fast_wake(FAST_WAKE))],
    ),
    phy(
        "25GBASE-CR-RS-FEC",
        Medium::Twinax,
        1_000,
        &[rate(25_000, KR_10G.eee().with_fast_wake(FAST_WAKE))],
    ),
    phy(
        "40GBASE-KR4",
        Medium::Backplane,
        1_000,
        &[rate(40_000, FOUR_LANES.eee().with_fast_wake(FAST_WAKE))],
    ),
    phy(
        "40GBASE-KR4-FEC",
        Medium::Backplane,
        1_000,
        &[rate(40_000, FOUR_LANES_FEC.eee().with_fast_wake(FAST_WAKE))],
    ),
    phy(
        "40GBASE-CR4",
        Medium::Twinax,
        1_000,
        &[rate(40_000, FOUR_LANES.eee().with_fast_wake(FAST_WAKE))],
    ),
    phy(
        "40GBASE-CR4-FEC",
        Medium::Twinax,
        1_000,
        &[rate(40_000, FOUR_LANES_FEC.eee().with_fast_wake(FAST_WAKE))],
    ),
    phy(
        "100GBASE-KR4",
        Medium::Backplane,
        1_000,
        &[rate(100_000, FOUR_LANES.eee().with_fast_wake(FAST_WAKE))],
    ),
    phy(
        "100GBASE-KP4",
        Medium::Backplane,
        1_000,
        &[rate(100_000, FOUR_LANES.eee().with_fast_wake(FAST_WAKE))],
    ),
    phy(
        "100GBASE-CR4",
        Medium::Twinax,
        1_000,
        &[rate(100_000, FOUR_LANES.eee().with_fast_wake(FAST_WAKE))],
    ),
    phy(
        "100GBASE-CR10",
        Medium::Twinax,
        1_000,
        &[rate(100_000, CR10.eee().with_fast_wake(FAST_WAKE))],
    ),
    phy(
        "100GBASE-CR10-FEC",
        Medium::Twinax,
        1_000,
        &[rate(100_000, CR10_FEC.eee().with_fast_wake(FAST_WAKE))],
    ),
    phy("25GBASE-R", Medium::Module, 100, &[rate(25_000, FAST_ONLY)]),
    phy("40GBASE-R", Medium::Module, 100, &[rate(40_000, FAST_ONLY)]),
    phy("50GBASE-R", Medium::Module, 100, &[rate(50_000, FAST_ONLY)]),
    phy(
        "100GBASE-R",
        Medium::Module,
        100,
        &[rate(100_000, FAST_ONLY)],
    ),
    phy(
        "200GBASE-R",
        Medium::Module,
        100,
        &[rate(200_000, FAST_ONLY)],
    ),
    phy(
        "400GBASE-R",
        Medium::Module,
        100,
        &[rate(400_000, FAST_ONLY)],
    ),
    twisted(
        "miwa-100BASE-TX",
        1_500,
        &[rate(100, MIWA_TX_100.eee()), AT_10],
    ),
    twisted(
        "miwa-1000BASE-T",
        2_500,
        &[
            rate(1_000, MIWA_T_1000.eee()),
            rate(100, MIWA_TX_100.eee()),
            AT_10,
        ],
    ),
    twisted(
        "miwa-10GBASE-T",
        4_000,
        &[
            rate(10_000, MIWA_T_10G.eee()),
            rate(1_000, MIWA_T_1000.eee()),
            rate(100, MIWA_TX_100.eee()),
        ],
    ),
    // The hold is assumed to be the device's at every speed.
    twisted(
        "powerconnect-5548",
        2_500,
        &[
            rate(1_000, POWERCONNECT_1000),
            rate(100, TX_100.eee().with_hold(POWERCONNECT_HOLD)),
            AT_10,
        ],
    ),
    // Andújar's power-down threshold is the hold: none, 10 µs and 100 µs.
    twisted(
        "andujar",
        4_000,
        &[rate(10_000, ANDUJAR.eee()), AT_1000, AT_100],
    ),
    twisted(
        "andujar-hold-10us",
        4_000,
        &[
            rate(10_000, ANDUJAR.eee().with_hold(10 * PS_PER_US)),
            AT_1000,
            AT_100,
        ],
    ),
    twisted(
        "andujar-hold-100us",
        4_000,
        &[
            rate(10_000, ANDUJAR.eee().with_hold(100 * PS_PER_US)),
            AT_1000,
            AT_100,
        ],
    ),
    phy(
        "georgakoudis-25GBASE-R",
        Medium::Backplane,
        1_000,
        &[rate(25_000, GEORGAKOUDIS_25G)],
    ),
    phy(
        "georgakoudis-40GBASE-R",
        Medium::Backplane,
        1_000,
        &[rate(40_000, GEORGAKOUDIS_40G_100G)],
    ),
    phy(
        "georgakoudis-100GBASE-R",
        Medium::Backplane,
        1_000,
        &[rate(100_000, GEORGAKOUDIS_40G_100G)],
    ),
    // Microchip/Vitesse switches coalesce up to 3000 bytes or 48 µs; their wake takes 17 µs (30 µs below 1 Gb/s).
    twisted(
        "microchip-1000BASE-T",
        2_500,
        &[
            rate(
                1_000,
                T_1000
                    .with_wake(manual(17_000), manual(17_000).filled())
                    .eee()
                    .with_coalescing(3_000, 48 * PS_PER_US),
            ),
            rate(
                100,
                TX_100
                    .with_wake(manual(30_000), manual(30_000).filled())
                    .eee()
                    .with_coalescing(3_000, 48 * PS_PER_US),
            ),
            AT_10,
        ],
    ),
];
