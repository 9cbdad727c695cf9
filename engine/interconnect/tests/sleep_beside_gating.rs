//! Links that sleep beside links that TCEP turns off, in the packet engine: laws.

use crate::networks::{
    cut_through, flat, flit_engine, law_of_packets, packet_engine, ports, sleepy,
};
use interconnect::consolidation::Consolidation;
use interconnect::link::{LinkLedger, LinkPolicy, Mode, Timing};
use interconnect::routing::Algorithm;
use interconnect::tcep::LinkState;
use interconnect::traffic::Pattern;
use interconnect::{Network, PacketEngine};
use proptest::prelude::*;

fn quick() -> Consolidation {
    Consolidation {
        epoch: 100,
        deactivation_epochs: 5,
        wake: 70,
        ..Consolidation::default()
    }
}

/// Hybrid: all states there are, and short.
fn hybrid(hold: u64) -> LinkPolicy {
    LinkPolicy {
        mode: Mode::Hybrid,
        timing: Timing {
            hold,
            deep_after: 30,
            sleep: 5,
            quiet: 40,
            refresh: 3,
            wake: 17,
            wake_during_sleep: 17,
            fast_wake: 4,
            ..Timing::default()
        },
        ..LinkPolicy::default()
    }
}

fn network() -> Network {
    flat(&[4, 4], 2, 1).with_link_latency(3).unwrap()
}

fn engine(
    (flits, load, seed): (u32, f64, u64),
    links: LinkPolicy,
    tcep: Option<Consolidation>,
) -> PacketEngine {
    let pal = Algorithm::PowerAware;
    let mut engine = packet_engine(&network(), pal, cut_through(flits), load, seed).unwrap();
    engine.set_links(links).unwrap();
    if let Some(tcep) = tcep {
        engine.set_consolidation(tcep).unwrap();
    }
    engine.measure(true);
    engine
}

/// All that can be seen of an engine: packets, latencies, TCEP's counts, and each link's time.
fn seen(engine: &PacketEngine) -> impl PartialEq + std::fmt::Debug + use<> {
    let latencies = engine.measurement().latencies();
    let figures = (latencies.count(), latencies.sum(), latencies.largest());
    let links: Vec<(LinkLedger, u64, u64)> = ports(engine.network())
        .into_iter()
        .map(|port| {
            let ledger = engine.link(port).unwrap();
            (
                ledger,
                engine.off_cycles(port),
                engine.turning_on_cycles(port),
            )
        })
        .collect();
    (
        engine.packets(),
        figures,
        engine.hops(),
        engine.consolidation(),
        links,
    )
}

fn after(mut engine: PacketEngine, cycles: u64) -> PacketEngine {
    engine.advance(cycles);
    engine
}

/// Each link's time adds up to its age, or to the end of what it has been promised to; of a link without power there is
/// nothing of that.
fn law_of_time(engine: &PacketEngine, since: u64) -> Result<(), TestCaseError> {
    for port in ports(engine.network()) {
        let ledger = engine.link(port).unwrap();
        let (off, on) = (engine.off_cycles(port), engine.turning_on_cycles(port));
        let age = ledger.total() + off + on;
        prop_assert!(age >= engine.now() - since, "{port}: {ledger:?} {off} {on}");
        let gated = matches!(
            engine.link_state(port),
            Some(LinkState::Off | LinkState::Waking)
        );
        let of_node = engine.node_link(0).unwrap().total();
        prop_assert!(of_node >= engine.now() - since);
        if gated {
            prop_assert_eq!(age, engine.now() - since, "{}: {:?}", port, ledger);
        }
    }
    Ok(())
}

fn tceps() -> impl Strategy<Value = Consolidation> {
    (20..200u64, 1..6u32, 0..300u64, 0.0..1.0f64, any::<bool>()).prop_map(
        |(epoch, deactivation_epochs, wake, high_water_mark, begins_with_root)| Consolidation {
            epoch,
            deactivation_epochs,
            wake,
            high_water_mark,
            begins_with_root,
        },
    )
}

fn policies() -> impl Strategy<Value = LinkPolicy> {
    (0..3usize, 0..120u64, any::<bool>()).prop_map(|(mode, hold, ends_sleep)| LinkPolicy {
        mode: [Mode::Deep, Mode::Fast, Mode::Hybrid][mode],
        ends_sleep,
        ..hybrid(hold)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn nothing_is_lost_and_all_time_is_in_one_state(
        (flits, load, seed) in (1..5u32, 0.0..0.7f64, any::<u64>()),
        tcep in tceps(),
        links in policies(),
    ) {
        let mut engine = engine((flits, load, seed), links, Some(tcep));
        for cycles in [1, 50, 333, 1111] {
            engine.advance(cycles);
            law_of_time(&engine, 0)?;
        }
        law_of_packets(&mut engine, [1, 7, 300, 1001], 4000)?;
        // Nothing but a control packet is ahead of time.
        let soon = engine.now() + 100;
        for port in ports(engine.network()) {
            let on = engine.link(port).unwrap().total();
            prop_assert!(on + engine.off_cycles(port) + engine.turning_on_cycles(port) < soon);
        }
        law_of_time(&engine, 0)?;
    }

    #[test]
    fn equal_seeds_give_equal_links_and_packets(
        (load, seed) in (0.01..0.5f64, any::<u64>()),
        tcep in tceps(),
        links in policies(),
    ) {
        let two = [0, 1].map(|_| seen(&after(engine((2, load, seed), links, Some(tcep)), 2000)));
        prop_assert_eq!(&two[0], &two[1]);
    }

    #[test]
    fn with_an_endless_hold_it_is_gating_alone(
        (flits, load, seed) in (1..5u32, 0.0..0.7f64, any::<u64>()),
        tcep in tceps(),
        mut links in policies(),
    ) {
        links.timing.hold = u64::MAX;
        let joint = seen(&after(engine((flits, load, seed), links, Some(tcep)), 3000));
        let alone = seen(&after(engine((flits, load, seed), LinkPolicy::default(), Some(tcep)), 3000));
        prop_assert_eq!(joint, alone);
    }

    #[test]
    fn without_an_end_of_an_epoch_it_is_sleep_alone(
        (flits, load, seed) in (1..5u32, 0.0..0.7f64, any::<u64>()),
        links in policies(),
    ) {
        let never = Consolidation { epoch: 1 << 40, ..quick() };
        let joint = seen(&after(engine((flits, load, seed), links, Some(never)), 3000));
        let alone = seen(&after(engine((flits, load, seed), links, None), 3000));
        prop_assert_eq!(joint, alone);
    }
}

/// Energy of links between routers, to that of links always on: a share `low` in low power, nothing while off.
fn energy(engine: &PacketEngine, low: f64) -> f64 {
    let network = engine.network();
    let own: Vec<f64> = ports(network)
        .into_iter()
        .map(|port| {
            let ledger = engine.link(port).unwrap();
            let full = ledger.total() - ledger.low_power() + engine.turning_on_cycles(port);
            full as f64 + low * ledger.low_power() as f64
        })
        .collect();
    own.iter().sum::<f64>() / own.len() as f64 / engine.now() as f64
}

#[test]
fn at_low_load_both_together_take_less_than_either_alone() {
    for load in [0.0, 0.002, 0.01] {
        let run = |links: LinkPolicy, tcep: Option<Consolidation>| {
            energy(&after(engine((1, load, 5), links, tcep), 200_000), 0.1)
        };
        let none = LinkPolicy::default();
        let gated = run(none, Some(quick()));
        let asleep = run(sleepy(), None);
        let joint = run(sleepy(), Some(quick()));
        println!("{load}: gated {gated:.4}, asleep {asleep:.4}, both {joint:.4}");
        assert!(
            joint < gated.min(asleep) * 1.01,
            "{load}: {gated} {asleep} {joint}"
        );
    }
}

#[test]
fn a_link_that_is_gated_leaves_its_sleep_and_wakes_by_tcep() {
    let mut engine = engine((1, 0.0, 1), sleepy(), Some(quick()));
    engine.advance(100_000);
    let off: Vec<u32> = ports(engine.network())
        .into_iter()
        .filter(|&port| engine.link_state(port) == Some(LinkState::Off))
        .collect();
    assert_eq!(off.len(), 48, "all but the root network");
    let before: Vec<LinkLedger> = off.iter().map(|&port| engine.link(port).unwrap()).collect();
    // It slept while it was on, and rests in none of its states now.
    assert!(before.iter().all(|ledger| ledger.quiet > 0));
    engine.advance(1_000);
    let after: Vec<LinkLedger> = off.iter().map(|&port| engine.link(port).unwrap()).collect();
    assert_eq!(before, after);
    assert!(off.iter().all(|&port| engine.turning_on_cycles(port) == 0));
}

#[test]
fn turning_on_takes_the_wake_of_tcep_and_not_that_of_the_policy() {
    let wake = 700;
    let root = Consolidation {
        wake,
        begins_with_root: true,
        ..quick()
    };
    let mut engine = engine((1, 0.5, 2), sleepy(), Some(root));
    engine.advance(20_000);
    let mut turned_on = 0;
    for port in ports(engine.network()) {
        let cycles = engine.turning_on_cycles(port);
        let under_way = engine.link_state(port) == Some(LinkState::Waking);
        assert!(under_way || cycles % wake == 0, "{port}: {cycles}");
        turned_on += cycles / wake;
    }
    // Both directions of each link.
    let waking = ports(engine.network())
        .into_iter()
        .filter(|&port| engine.link_state(port) == Some(LinkState::Waking));
    assert_eq!(
        turned_on + waking.count() as u64,
        2 * engine.consolidation().activations
    );
    assert!(turned_on > 0);
}

#[test]
fn the_flit_engine_refuses_and_says_which_engine_has_both() {
    let algorithm = Algorithm::PowerAware;
    let mut flit = flit_engine(
        &network(),
        algorithm,
        &Pattern::Uniform,
        cut_through(1),
        0.1,
        1,
    );
    flit.set_links(sleepy());
    let refused = flit.set_consolidation(quick()).unwrap_err().to_string();
    assert!(refused.contains("the packet engine has both"), "{refused}");
}
