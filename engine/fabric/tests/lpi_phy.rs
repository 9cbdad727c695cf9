//! The table of PHYs against the standard's numbers, written down here a second time and in microseconds.

use std::collections::BTreeSet;

use fabric::Ps;
use fabric::lpi::{Mode, Timing};
use fabric::phy::{Phy, Source};

fn ps(us: f64) -> Ps {
    (us * 1e6).round() as Ps
}

fn timing(name: &str) -> Timing {
    let phy = Phy::named(name).unwrap_or_else(|| panic!("no PHY {name}"));
    phy.eee_at(phy.speed_mbps()).unwrap().timing()
}

/// Name, Mb/s, then in µs: Ts, Tq, Tr, Tw, Tw during Ts, Tw of fast wake (0: none).
const WANTED: &[(&str, u32, [f64; 6])] = &[
    ("100BASE-TX", 100, [200.0, 20_000.0, 200.0, 30.0, 30.0, 0.0]),
    (
        "1000BASE-T",
        1_000,
        [182.0, 20_000.0, 198.0, 16.5, 16.5, 0.0],
    ),
    (
        "1000BASE-KX",
        1_000,
        [19.9, 2_500.0, 19.9, 13.26, 13.26, 0.0],
    ),
    ("2.5GBASE-T", 2_500, [11.52, 76.8, 5.12, 17.92, 29.44, 0.0]),
    ("5GBASE-T", 5_000, [5.76, 38.4, 2.56, 8.96, 14.72, 0.0]),
    ("10GBASE-T", 10_000, [2.88, 39.68, 1.28, 4.48, 7.36, 0.0]),
    (
        "10GBASE-T-case-1",
        10_000,
        [2.88, 39.68, 1.28, 7.36, 7.36, 0.0],
    ),
    (
        "10GBASE-T-case-2",
        10_000,
        [2.88, 39.68, 1.28, 4.48, 4.48, 0.0],
    ),
    (
        "10GBASE-KR",
        10_000,
        [4.9, 1_700.0, 16.9, 15.38, 15.38, 0.0],
    ),
    (
        "10GBASE-KR-FEC",
        10_000,
        [4.9, 1_700.0, 16.9, 17.38, 17.38, 0.0],
    ),
    (
        "10GBASE-KX4",
        10_000,
        [19.9, 2_500.0, 19.9, 12.38, 12.38, 0.0],
    ),
    (
        "25GBASE-T",
        25_000,
        [0.768, 15.616, 0.768, 1.792, 2.56, 0.0],
    ),
    (
        "25GBASE-KR",
        25_000,
        [4.9, 1_700.0, 16.9, 15.38, 15.38, 0.34],
    ),
    (
        "25GBASE-CR-FEC",
        25_000,
        [4.9, 1_700.0, 16.9, 17.38, 17.38, 0.34],
    ),
    (
        "25GBASE-CR-RS-FEC",
        25_000,
        [4.9, 1_700.0, 16.9, 15.38, 15.38, 0.34],
    ),
    ("40GBASE-T", 40_000, [0.48, 9.76, 0.48, 1.12, 1.6, 0.0]),
    ("40GBASE-CR4", 40_000, [0.9, 1_700.0, 5.9, 5.5, 5.5, 0.34]),
    (
        "40GBASE-KR4-FEC",
        40_000,
        [0.9, 1_700.0, 5.9, 6.5, 6.5, 0.34],
    ),
    ("100GBASE-KP4", 100_000, [0.9, 1_700.0, 5.9, 5.5, 5.5, 0.34]),
    (
        "100GBASE-CR10-FEC",
        100_000,
        [0.9, 1_700.0, 5.9, 7.5, 7.5, 0.34],
    ),
    ("400GBASE-R", 400_000, [0.0, 0.0, 0.0, 0.0, 0.0, 0.34]),
    (
        "miwa-100BASE-TX",
        100,
        [200.0, 20_000.0, 200.0, 30.0, 30.0, 0.0],
    ),
    (
        "miwa-1000BASE-T",
        1_000,
        [182.0, 20_000.0, 198.0, 16.0, 16.0, 0.0],
    ),
    (
        "miwa-10GBASE-T",
        10_000,
        [2.88, 39.68, 1.28, 4.48, 4.48, 0.0],
    ),
    (
        "powerconnect-5548",
        1_000,
        [182.0, 20_000.0, 198.0, 60.0, 60.0, 0.0],
    ),
    ("andujar", 10_000, [2.88, 0.0, 0.0, 4.16, 4.16, 0.0]),
    (
        "georgakoudis-25GBASE-R",
        25_000,
        [1.1, 1_700.0, 16.9, 14.25, 14.25, 0.34],
    ),
    (
        "georgakoudis-40GBASE-R",
        40_000,
        [1.1, 1_700.0, 5.9, 5.5, 5.5, 0.34],
    ),
    (
        "georgakoudis-100GBASE-R",
        100_000,
        [1.1, 1_700.0, 5.9, 5.5, 5.5, 0.34],
    ),
];

#[test]
fn the_least_times_are_the_standards_and_the_papers() {
    for &(name, speed_mbps, us) in WANTED {
        let phy = Phy::named(name).unwrap();
        let timing = timing(name);
        let found = [
            timing.sleep,
            timing.quiet,
            timing.refresh,
            timing.wake,
            timing.wake_during_sleep,
            timing.fast_wake,
        ];
        assert_eq!(phy.speed_mbps(), speed_mbps, "{name}");
        assert_eq!(found, us.map(ps), "{name}");
    }
}

#[test]
fn policies_equal_those_of_papers_and_vendors() {
    assert_eq!(timing("powerconnect-5548").hold, ps(1_000.0));
    assert_eq!(timing("andujar-hold-10us").hold, ps(10.0));
    assert_eq!(timing("andujar-hold-100us").hold, ps(100.0));
    assert_eq!(timing("1000BASE-T").hold, 0);
    let vendor = timing("microchip-1000BASE-T");
    assert_eq!(
        (vendor.coalesce_byte, vendor.coalesce, vendor.wake),
        (3_000, ps(48.0), ps(17.0))
    );
}

#[test]
fn eee_exists_where_the_standard_has_it() {
    for phy in Phy::all() {
        assert!(phy.eee_at(10).is_none(), "{}: no EEE at 10BASE-T", phy.name);
        assert!(
            phy.eee_at(12_345).is_none(),
            "{}: no EEE at no speed",
            phy.name
        );
    }
    for name in ["10BASE-T", "1000BASE-T-no-EEE", "10GBASE-R"] {
        let phy = Phy::named(name).unwrap();
        assert!(phy.speeds_mbps().all(|speed| phy.eee_at(speed).is_none()));
    }
    let at_100 = Phy::named("1000BASE-T").unwrap().eee_at(100).unwrap();
    assert_eq!(at_100.timing(), timing("100BASE-TX"));
    let fast = Phy::named("50GBASE-R").unwrap().eee_at(50_000).unwrap();
    assert_eq!(fast.mode(), Mode::Fast);
    assert!(!fast.permits(Mode::Deep) && !fast.permits(Mode::Hybrid) && fast.permits(Mode::Off));
    let deep = Phy::named("10GBASE-T").unwrap().eee_at(10_000).unwrap();
    assert_eq!(deep.mode(), Mode::Deep);
    assert!(!deep.permits(Mode::Fast) && !deep.permits(Mode::Hybrid));
    let both = Phy::named("100GBASE-CR4").unwrap();
    assert!(both.eee_at(100_000).unwrap().permits(Mode::Hybrid));
}

#[test]
fn names_are_unique_and_speeds_fall() {
    let names: BTreeSet<&str> = Phy::all().iter().map(|phy| phy.name).collect();
    assert_eq!(names.len(), Phy::all().len());
    for phy in Phy::all() {
        assert_eq!(Phy::named(phy.name).map(|found| found.name), Some(phy.name));
        let speeds: Vec<u32> = phy.speeds_mbps().collect();
        assert!(speeds.is_sorted() && speeds.last() == Some(&phy.speed_mbps()));
        assert!(phy.interruption > 0, "{}", phy.name);
    }
    assert!(Phy::named("1000base-t").is_none());
}

#[test]
fn ranges_and_wakes_are_in_order() {
    for phy in Phy::all() {
        for rate in phy.rates {
            let Some(deep) = rate.eee.and_then(|eee| eee.deep) else {
                continue;
            };
            for figure in [deep.sleep, deep.quiet, deep.refresh, deep.wake] {
                assert!(figure.min <= figure.max, "{}", phy.name);
            }
            assert!(deep.wake.min <= deep.wake_during_sleep.min, "{}", phy.name);
            assert!(deep.wake_phy.min <= deep.wake.min, "{}", phy.name);
        }
    }
}

#[test]
fn figures_without_a_source_are_marked() {
    let deep = |name: &str| {
        let phy = Phy::named(name).unwrap();
        phy.eee_at(phy.speed_mbps()).unwrap().deep.unwrap()
    };
    assert_eq!(deep("1000BASE-T").sleep.source, Source::Memory);
    assert_eq!(deep("1000BASE-T").wake.source, Source::Standard);
    assert_eq!(deep("10GBASE-T").sleep.source, Source::Standard);
    assert_eq!(deep("powerconnect-5548").wake.source, Source::Paper);
    assert_eq!(deep("powerconnect-5548").sleep.source, Source::Filled);
    assert_eq!(deep("microchip-1000BASE-T").wake.source, Source::Manual);
}
