//! Laws of one transmitter, and the time-in-state tables of Georgakoudis et al. 2019.

use crate::drawn;
use fabric::Ps;
use fabric::lpi::{Ledger, LpiState, LpiTx, Mode, Start, Timing};
use fabric::phy::Phy;
use proptest::prelude::*;

const US: Ps = 1_000_000;

fn timing_of(phy: &str) -> Timing {
    let phy = Phy::named(phy).unwrap();
    phy.eee_at(phy.speed_mbps()).unwrap().timing()
}

/// A link that has been up since 0 and may sleep at once.
fn up(mode: Mode, timing: Timing) -> LpiTx {
    let mut tx = LpiTx::new(0);
    tx.set_policy(0, mode, timing);
    tx.link_up(0, 0, true, 1000);
    tx
}

fn modes() -> impl Strategy<Value = Mode> {
    prop_oneof![
        Just(Mode::Off),
        Just(Mode::Deep),
        Just(Mode::Fast),
        Just(Mode::Hybrid),
    ]
}

fn timings() -> impl Strategy<Value = Timing> {
    drawn::timings(200 * US, 9_000, 200 * US)
}

#[derive(Clone, Debug)]
enum Call {
    Request(u32),
    Send(Ps),
    Policy(Mode, Timing),
    Up(Ps, bool, u32),
    Down,
}

fn calls() -> impl Strategy<Value = Call> {
    prop_oneof![
        3 => (0..9_000u32).prop_map(Call::Request),
        4 => (0..200 * US).prop_map(Call::Send),
        2 => (modes(), timings()).prop_map(|(mode, timing)| Call::Policy(mode, timing)),
        1 => (0..300 * US, any::<bool>(), prop_oneof![Just(100), Just(1000)])
            .prop_map(|(wait, eee, speed)| Call::Up(wait, eee, speed)),
        1 => Just(Call::Down),
    ]
}

fn quick() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Weighted time, a tenth in deep sleep and six tenths in fast wake, as Georgakoudis sets them.
fn energy(ledger: &Ledger) -> u128 {
    let full = ledger.active_ps + ledger.sleep_ps + ledger.wake_ps + ledger.refresh_ps;
    u128::from(full) * 10 + u128::from(ledger.fast_ps) * 6 + u128::from(ledger.quiet_ps)
}

/// Frames of `length` offered at `arrivals`, first come first served; the ledger long after.
fn serve(mode: Mode, timing: Timing, arrivals: &[Ps], length: Ps) -> Ledger {
    let mut tx = up(mode, timing);
    let mut free = 0;
    for &arrival in arrivals {
        let now = arrival.max(free);
        let Start::At(at) = tx.request(now, 1500) else {
            panic!("nothing coalesces here")
        };
        tx.began(at);
        free = at + length;
        tx.ended(free);
    }
    tx.ledger(arrivals.last().unwrap() + 10_000_000 * US)
}

proptest! {
    #![proptest_config(quick())]

    #[test]
    fn parts_add_up_to_the_age_whatever_the_calls(
        born in 0..1_000 * US,
        gaps_and_calls in prop::collection::vec((0..500 * US, calls()), 1..60),
        last in 0..1_000_000 * US,
    ) {
        let mut tx = LpiTx::new(born);
        let mut now = born;
        for (gap, call) in gaps_and_calls {
            now += gap;
            match call {
                Call::Request(byte) => {
                    if let Start::At(at) | Start::Coalescing { until: at } = tx.request(now, byte) {
                        prop_assert!(at >= now);
                    }
                }
                Call::Send(length) => {
                    if let Start::At(at) = tx.request(now, u32::MAX) {
                        tx.began(at);
                        now = at + length;
                        tx.ended(now);
                    }
                }
                Call::Policy(mode, timing) => tx.set_policy(now, mode, timing),
                Call::Up(wait, eee, speed) => tx.link_up(now, now + wait, eee, speed),
                Call::Down => tx.link_down(now),
            }
            for later in [now, now + last] {
                let ledger = tx.ledger(later);
                prop_assert_eq!(ledger.total_ps, later - born);
                prop_assert_eq!(ledger.parts_ps(), ledger.total_ps);
                let up: Ps = ledger.up_by_mbps.values().sum();
                prop_assert_eq!(up + ledger.down_ps, ledger.total_ps);
                prop_assert!(ledger.transmit_ps <= ledger.active_ps);
                prop_assert!(ledger.wakes <= ledger.lpi_events);
            }
        }
    }

    #[test]
    fn reading_the_state_changes_nothing(mode in modes(), timing in timings(), idle in 0..1_000 * US) {
        let asked = up(mode, timing);
        for step in 0..20 {
            let _ = (asked.state(idle / 20 * step), asked.ledger(idle / 20 * step));
        }
        let fresh = up(mode, timing);
        prop_assert_eq!(asked.ledger(idle), fresh.ledger(idle));
    }

    #[test]
    fn a_promised_start_is_kept_and_no_frame_is_ready_before_it(
        mode in modes(),
        timing in timings(),
        idle in 0..2_000 * US,
        changed in (modes(), timings()),
        share in 0.0..1.0f64,
    ) {
        let mut tx = up(mode, timing);
        let asleep = tx.state(idle).is_lpi();
        let Start::At(start) = tx.request(idle, u32::MAX) else {
            panic!("what is urgent does not coalesce")
        };
        prop_assert!(start == idle || asleep);
        let between = idle + ((start - idle) as f64 * share) as Ps;
        tx.set_policy(between.min(start), changed.0, changed.1);
        if between < start {
            prop_assert!(matches!(tx.state(between), LpiState::Sleeping | LpiState::Waking));
            prop_assert!(matches!(tx.state(start - 1), LpiState::Sleeping | LpiState::Waking));
        }
        prop_assert_eq!(tx.request(start, 1), Start::At(start));
        tx.began(start);
    }

    #[test]
    fn a_frame_in_ts_waits_for_the_rest_of_ts_and_then_tw(
        phy in prop::sample::select(vec!["100BASE-TX", "1000BASE-T", "10GBASE-T", "10GBASE-KR", "powerconnect-5548"]),
        share in 0.0..1.0f64,
    ) {
        let timing = timing_of(phy);
        let mut tx = up(Mode::Deep, timing);
        let into = 1 + ((timing.sleep - 2) as f64 * share) as Ps;
        let arrival = timing.hold + into;
        let Start::At(start) = tx.request(arrival, 64) else { panic!("no coalescing") };
        prop_assert_eq!(start - arrival, timing.sleep - into + timing.wake_during_sleep);
        prop_assert_eq!(tx.ledger(start).low_power_ps(), 0);
    }

    #[test]
    fn energy_never_rises_when_sleep_costs_nothing(
        gaps in prop::collection::vec(0..300 * US, 1..40),
        hold in 0..200 * US,
        longer in 0..200 * US,
        deep_after in 0..200 * US,
        quiet in 0..50 * US,
        refresh in 0..50 * US,
        length in 0..100 * US,
    ) {
        let arrivals: Vec<Ps> = gaps.iter().scan(0, |at, gap| { *at += gap; Some(*at) }).collect();
        let free = Timing { hold, deep_after, quiet, refresh, ..Timing::default() };
        let spent = |mode, timing| energy(&serve(mode, timing, &arrivals, length));
        let without_refresh = Timing { refresh: 0, ..free };
        for mode in [Mode::Deep, Mode::Fast, Mode::Hybrid] {
            prop_assert!(spent(mode, free) <= spent(Mode::Off, free));
            // Waiting longer before going to sleep saves nothing.
            let lazier = Timing { hold: hold + longer, ..without_refresh };
            prop_assert!(spent(mode, without_refresh) <= spent(mode, lazier));
        }
        prop_assert!(spent(Mode::Deep, without_refresh) <= spent(Mode::Hybrid, without_refresh));
        prop_assert!(spent(Mode::Hybrid, without_refresh) <= spent(Mode::Fast, without_refresh));
    }

    #[test]
    fn no_lpi_before_it_is_permitted(
        hold in 0..3_000_000 * US,
        permitted in 0..3_000_000 * US,
        at in 1..6_000_000 * US,
    ) {
        let mut tx = LpiTx::new(0);
        tx.set_policy(0, Mode::Deep, Timing { hold, sleep: US, ..Timing::default() });
        tx.link_up(0, permitted, true, 1000);
        prop_assert_eq!(tx.state(at).is_lpi(), at > hold.max(permitted));
    }
}

#[test]
fn without_agreement_a_link_stays_awake() {
    let mut tx = LpiTx::new(0);
    tx.set_policy(0, Mode::Deep, timing_of("1000BASE-T"));
    tx.link_up(0, 0, false, 1000);
    assert_eq!(tx.state(3_600_000_000 * US), LpiState::Off);
    assert_eq!(tx.ledger(3_600_000_000 * US).active_ps, 3_600_000_000 * US);
}

#[test]
fn an_hour_of_idle_time_is_refreshed_as_often_as_the_standard_says() {
    let timing = timing_of("10GBASE-T");
    let tx = up(Mode::Deep, timing);
    let ledger = tx.ledger(3_600_000_000 * US);
    let slept = ledger.quiet_ps + ledger.refresh_ps;
    assert_eq!(slept, 3_600_000_000 * US - timing.sleep);
    // 1.28 of 40.96 µs.
    let duty = ledger.refresh_ps as f64 / slept as f64;
    assert!((duty - 0.03125).abs() < 1e-6, "{duty}");
    assert_eq!((ledger.lpi_events, ledger.wakes), (1, 0));
}

#[test]
fn a_lost_link_cuts_everything_short() {
    let timing = timing_of("1000BASE-T");
    let mut tx = up(Mode::Deep, timing);
    tx.link_down(100 * US);
    assert_eq!(tx.state(101 * US), LpiState::Off);
    assert_eq!(tx.request(101 * US, 64), Start::NoLink);
    let ledger = tx.ledger(150 * US);
    assert_eq!((ledger.sleep_ps, ledger.down_ps), (100 * US, 50 * US));

    tx.link_up(150 * US, 150 * US, true, 1000);
    tx.began(150 * US);
    tx.ended(170 * US);
    tx.link_down(160 * US);
    let ledger = tx.ledger(200 * US);
    assert_eq!((ledger.transmit_ps, ledger.down_ps), (10 * US, 90 * US));
    assert_eq!(ledger.up_by_mbps[&1000], 110 * US);
}

#[test]
fn coalescing_wakes_by_bytes_or_by_time() {
    let timing = timing_of("microchip-1000BASE-T");
    let wake = timing.wake;
    assert_eq!(
        (wake, timing.coalesce_byte, timing.coalesce),
        (17 * US, 3000, 48 * US)
    );
    let asleep = timing.sleep + 100 * US;

    let mut by_time = up(Mode::Deep, timing);
    let until = asleep + 48 * US;
    assert_eq!(
        by_time.request(asleep, 64),
        Start::Coalescing { until },
        "one short frame waits"
    );
    assert_eq!(
        by_time.request(asleep + 20 * US, 128),
        Start::Coalescing { until },
        "the timer is the first frame's"
    );
    assert_eq!(by_time.state(until - 1), LpiState::Quiet);
    assert_eq!(by_time.state(until), LpiState::Waking);
    assert_eq!(by_time.request(until, 128), Start::At(until + wake));

    let mut by_byte = up(Mode::Deep, timing);
    by_byte.request(asleep, 1500);
    let second = asleep + 10 * US;
    assert_eq!(by_byte.request(second, 3000), Start::At(second + wake));
}

/// Where Tables II to IV of Georgakoudis put a packet, and what they say about it. Time zero is the end of the
/// packet before. With their erratum corrected: low-power time is the time since `t_q` less the refreshes that passed.
/// One difference is intended: they let a packet that arrives in Ts wait Tw alone, where Ts cannot be cut short here.
fn georgakoudis(mode: Mode, hold: Ps, at: Ps) -> (Ps, Ps, Ps) {
    let timing = Timing {
        hold,
        deep_after: hold,
        ..timing_of("georgakoudis-100GBASE-R")
    };
    let mut tx = up(mode, timing);
    let Start::At(start) = tx.request(at, 1500) else {
        panic!("no coalescing in the paper")
    };
    let ledger = tx.ledger(start);
    (start - at, ledger.quiet_ps, ledger.fast_ps)
}

const TS: Ps = 1_100_000;
const TQ: Ps = 1_700 * US;
const TR: Ps = 5_900_000;
const TW_DEEP: Ps = 5_500_000;
const TW_FAST: Ps = 340_000;

#[test]
fn georgakoudis_table_2_deep_sleep() {
    let deep = |hold, at| georgakoudis(Mode::Deep, hold, at);
    for hold in [0, TS, 2 * TS, 4 * TS] {
        let tq = hold + TS;
        assert_eq!(deep(hold, 0), (0, 0, 0), "1: back to back");
        assert_eq!(deep(hold, hold / 2), (0, 0, 0), "2: in the hold");
        let rest = TS - 400_000;
        assert_eq!(
            deep(hold, hold + 400_000),
            (rest + TW_DEEP, 0, 0),
            "3: in Ts"
        );
        assert_eq!(
            deep(hold, tq + 7 * US),
            (TW_DEEP, 7 * US, 0),
            "4: first quiet"
        );
        let third = tq + 2 * (TQ + TR) + 9 * US;
        assert_eq!(
            deep(hold, third),
            (TW_DEEP, 2 * TQ + 9 * US, 0),
            "4: third quiet"
        );
        let second = tq + TQ + TR + TQ + US;
        assert_eq!(
            deep(hold, second),
            (TW_DEEP, 2 * TQ, 0),
            "5: second refresh"
        );
    }
}

#[test]
fn georgakoudis_table_3_fast_wake() {
    let fast = |hold, at| georgakoudis(Mode::Fast, hold, at);
    for hold in [0, TS, 2 * TS, 4 * TS] {
        assert_eq!(fast(hold, 0), (0, 0, 0), "1: back to back");
        assert_eq!(fast(hold, hold), (0, 0, 0), "2: in the hold");
        for since in [1, US, 5_000_000 * US] {
            assert_eq!(
                fast(hold, hold + since),
                (TW_FAST, 0, since),
                "3: in fast wake"
            );
        }
    }
}

#[test]
fn georgakoudis_table_4_hybrid() {
    let hybrid = |hold, at| georgakoudis(Mode::Hybrid, hold, at);
    for hold in [TS, 2 * TS, 4 * TS] {
        let ts = 2 * hold;
        let tq = ts + TS;
        assert_eq!(hybrid(hold, 0), (0, 0, 0), "1: back to back");
        assert_eq!(hybrid(hold, hold / 2), (0, 0, 0), "2: in the hold");
        assert_eq!(
            hybrid(hold, hold + 600_000),
            (TW_FAST, 0, 600_000),
            "3: in fast wake"
        );
        let rest = TS - 300_000;
        assert_eq!(
            hybrid(hold, ts + 300_000),
            (rest + TW_DEEP, 0, hold),
            "4: in Ts"
        );
        assert_eq!(
            hybrid(hold, tq + 3 * US),
            (TW_DEEP, 3 * US, hold),
            "5: quiet"
        );
        assert_eq!(
            hybrid(hold, tq + TQ + US),
            (TW_DEEP, TQ, hold),
            "6: refresh"
        );
    }
}
