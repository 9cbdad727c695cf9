//! The link machine against the twin's, call by call; its ledger; and the closed form under Poisson arrivals.

use fabric::lpi::{LpiTx, Start};
use interconnect::link::{LinkPolicy, LinkTx, Mode, Ready, Timing};
use interconnect::rng::Rng;
use proptest::prelude::*;

fn policies() -> impl Strategy<Value = LinkPolicy> {
    let mode = prop_oneof![
        Just(Mode::Off),
        Just(Mode::Deep),
        Just(Mode::Fast),
        Just(Mode::Hybrid)
    ];
    let times = prop::collection::vec(prop_oneof![Just(0u64), 0..6u64, 0..80u64], 8);
    (mode, times, 0..4u32, 0..30u64, 1..5u32, any::<bool>()).prop_map(
        |(mode, t, coalesce_byte, coalesce, flit_cycles, coalesces)| LinkPolicy {
            mode,
            timing: Timing {
                hold: t[0],
                sleep: t[1],
                quiet: t[2],
                refresh: t[3],
                wake: t[4],
                wake_during_sleep: t[5],
                fast_wake: t[6],
                deep_after: t[7],
                coalesce_byte: if coalesces { coalesce_byte } else { 0 },
                coalesce: if coalesces { coalesce } else { 0 },
            },
            flit_cycles,
            ends_sleep: false,
        },
    )
}

/// The twin's transmitter with the same policy.
fn twin(policy: &LinkPolicy) -> LpiTx {
    let mut twin = LpiTx::new(0);
    twin.set_policy(0, policy.mode, policy.timing);
    twin.link_up(0, 0, true, 1000);
    twin
}

fn compare_ledgers(link: &LinkTx, twin: &LpiTx, now: u64) {
    let (own, other) = (link.ledger(now), twin.ledger(now));
    assert_eq!(own.total(), now, "every cycle is in one state: {own:?}");
    assert_eq!(
        (
            own.transmit,
            own.transmit + own.idle,
            own.sleep,
            own.quiet,
            own.refresh
        ),
        (
            other.transmit_ps,
            other.active_ps,
            other.sleep_ps,
            other.quiet_ps,
            other.refresh_ps
        ),
        "at {now}"
    );
    assert_eq!(
        (own.fast, own.wake, own.wakes, own.sleeps),
        (other.fast_ps, other.wake_ps, other.wakes, other.lpi_events),
        "at {now}"
    );
}

fn agree(ready: Ready, start: Start) {
    match (ready, start) {
        (Ready::At(own), Start::At(other)) => assert_eq!(own, other),
        (Ready::Coalescing { until }, Start::Coalescing { until: other }) => {
            assert_eq!(until, other);
        }
        pair => panic!("{pair:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// Flits come at random; the link is asked, read at random moments, and sends when it may.
    #[test]
    fn the_twin_decides_and_counts_alike(
        policy in policies(),
        gaps in prop::collection::vec((prop_oneof![0..4u64, 0..60u64, 0..400u64], any::<bool>()), 1..60),
    ) {
        let (mut link, mut twin) = (LinkTx::new(0, policy), twin(&policy));
        let mut now = 0;
        let mut queued = 0u32;
        for (gap, read) in gaps {
            now += gap;
            if read {
                compare_ledgers(&link, &twin, now);
            }
            queued += 1;
            let ready = link.request(now, queued);
            agree(ready, twin.request(now, queued));
            compare_ledgers(&link, &twin, now);
            // At the end of coalescing, ask again.
            let ready = match ready {
                Ready::Coalescing { until } if until < now + 50 => {
                    now = until;
                    let ready = link.request(now, queued);
                    agree(ready, twin.request(now, queued));
                    ready
                }
                ready => ready,
            };
            let Ready::At(at) = ready else { continue };
            now = now.max(at);
            while queued > 0 {
                let ready = link.request(now, queued);
                agree(ready, twin.request(now, queued));
                let Ready::At(at) = ready else { panic!("awake, and {ready:?}") };
                now = at;
                link.send(now);
                twin.began(now);
                twin.ended(now + u64::from(policy.flit_cycles));
                queued -= 1;
            }
        }
        for later in [0, 1, 17, 1000] {
            compare_ledgers(&link, &twin, now + 10 + later);
        }
    }
}

/// Deep sleep under Poisson arrivals of single flits that occupy the link for `service` cycles: an M/D/1 queue whose
/// server, when the queue runs empty, waits for the hold and then takes a vacation: Ts, the rest until an arrival,
/// and Tw. The next busy period serves all that arrived meanwhile.
struct Vacation {
    rate: f64,
    service: f64,
    hold: f64,
    sleep: f64,
    wake: f64,
}

impl Vacation {
    /// Share of time in quiet, mean wait before service in cycles, wakes a cycle.
    fn closed_form(&self) -> [f64; 3] {
        let &Self {
            rate,
            service,
            hold,
            sleep,
            wake,
        } = self;
        let load = rate * service;
        let asleep = (-rate * hold).exp();
        let none_in_ts = (-rate * sleep).exp();
        // From the hold's end: Ts; if nothing came, an exponential rest; Tw.
        let vacation = sleep + none_in_ts / rate + wake;
        // Idle time without sleep, up to the first arrival, or the vacation.
        let mean_idle = (1.0 - asleep) / rate + asleep * vacation;
        // Arrivals in a vacation wait for its end: one that ends Quiet waits Tw; those in Ts and Tw wait for the rest.
        let waiting_area = rate * sleep * sleep / 2.0
            + rate * sleep * wake
            + none_in_ts * wake
            + rate * wake * wake / 2.0;
        let wait = rate * service * service / (2.0 * (1.0 - load))
            + asleep * waiting_area / (rate * mean_idle);
        let cycles = (1.0 - load) / mean_idle;
        [cycles * asleep * none_in_ts / rate, wait, cycles * asleep]
    }

    /// The same measured on a link, flit by flit, with times in 1/1000 of a unit so that rounding does not show.
    fn simulated(&self, flits: u32, seed: u64) -> [f64; 3] {
        let fine = |time: f64| (time * 1000.0) as u64;
        let policy = LinkPolicy {
            mode: Mode::Deep,
            timing: Timing {
                hold: fine(self.hold),
                sleep: fine(self.sleep),
                wake: fine(self.wake),
                wake_during_sleep: fine(self.wake),
                ..Timing::default()
            },
            flit_cycles: fine(self.service) as u32,
            ends_sleep: false,
        };
        let mut link = LinkTx::new(0, policy);
        let mut rng = Rng::new(seed);
        let (mut arrival, mut waited, mut free) = (0.0, 0.0, 0);
        for _ in 0..flits {
            arrival -= (1.0 - rng.uniform()).ln() * (1000.0 / self.rate);
            let mut at = (arrival as u64).max(free);
            // A flit that comes while others are served is first asked for when its turn comes.
            while let Ready::At(ready) = link.request(at, 1) {
                if ready == at {
                    break;
                }
                at = ready;
            }
            link.send(at);
            free = at + u64::from(policy.flit_cycles);
            waited += at as f64 - arrival;
        }
        let ledger = link.ledger(free);
        assert_eq!(ledger.total(), free);
        let total = free as f64;
        [
            ledger.quiet as f64 / total,
            waited / f64::from(flits) / 1000.0,
            ledger.wakes as f64 / total * 1000.0,
        ]
    }
}

#[test]
fn poisson_arrivals_match_the_closed_form() {
    for (load, hold, sleep, wake) in [
        (0.02, 0.0, 2.88, 4.48),
        (0.1, 0.0, 2.88, 4.48),
        (0.3, 0.0, 2.88, 4.48),
        (0.1, 5.0, 2.88, 4.48),
        (0.5, 1.0, 0.0, 3.0),
        (0.05, 2.0, 20.0, 10.0),
    ] {
        let case = Vacation {
            rate: load / 1.2,
            service: 1.2,
            hold,
            sleep,
            wake,
        };
        let (wanted, found) = (case.closed_form(), case.simulated(600_000, 2013));
        for (what, (found, wanted)) in ["quiet", "wait", "wakes"]
            .iter()
            .zip(found.into_iter().zip(wanted))
        {
            assert!(
                (found / wanted - 1.0).abs() < 0.01,
                "load {load}, hold {hold}, Ts {sleep}, Tw {wake}: {what} {found:.5}, closed form {wanted:.5}"
            );
        }
    }
}

proptest! {
    #[test]
    fn a_flit_in_ts_ends_it_where_asked_and_pays_the_wake_alone(
        (hold, sleep, wake) in (0..50u64, 1..60u64, 0..60u64),
        at in 1..300u64,
    ) {
        let policy = |ends_sleep| LinkPolicy {
            mode: Mode::Deep,
            timing: Timing {
                hold,
                sleep,
                wake,
                wake_during_sleep: wake,
                ..Timing::default()
            },
            ends_sleep,
            ..LinkPolicy::default()
        };
        let [mut whole, mut ended] = [false, true].map(|ends| LinkTx::new(0, policy(ends)));
        let [Ready::At(late), Ready::At(soon)] = [&mut whole, &mut ended].map(|link| link.request(at, 1)) else {
            panic!("it does not coalesce");
        };
        let ends = at > hold && at < hold + sleep;
        prop_assert_eq!(late - soon, if ends { hold + sleep - at } else { 0 });
        if at > hold {
            prop_assert_eq!(soon, at + wake);
        }
        let ledger = ended.ledger(soon);
        prop_assert_eq!(ledger.total(), soon);
        prop_assert_eq!(ledger.sleep, at.saturating_sub(hold).min(sleep));
        for now in 0..soon {
            prop_assert_eq!(ended.ledger(now.max(at)).total(), now.max(at));
        }
    }
}

#[test]
fn a_slow_link_takes_longer() {
    for flit_cycles in [1, 2, 4] {
        let policy = LinkPolicy {
            flit_cycles,
            ..LinkPolicy::default()
        };
        let mut link = LinkTx::new(0, policy);
        link.send(0);
        assert_eq!(link.request(0, 1), Ready::At(u64::from(flit_cycles)));
        assert_eq!(link.ledger(10).transmit, u64::from(flit_cycles));
    }
}
