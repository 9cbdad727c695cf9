//! TCEP on a network: it shrinks to the root network and grows with the load, loses nothing, and never uses a link that is
//! off.

use crate::networks::{flat, flit_engine, routing, torus};
use interconnect::consolidation::Consolidation;
use interconnect::measure::Interval;
use interconnect::network::Peer;
use interconnect::rng::Rng;
use interconnect::routing::Algorithm;
use interconnect::tcep::LinkState;
use interconnect::traffic::{Destinations, Pattern};
use interconnect::{FlitEngine, Network, RouterParameters};
use proptest::prelude::*;

fn engine(
    network: &Network,
    pattern: &Pattern,
    load: f64,
    parameters: RouterParameters,
    seed: u64,
) -> FlitEngine {
    flit_engine(
        network,
        Algorithm::PowerAware,
        pattern,
        parameters,
        load,
        seed,
    )
}

/// Routers of one cycle, and UGAL that does not count flits under way.
fn parameters() -> RouterParameters {
    RouterParameters {
        speedup: 3,
        history_window: 25,
        ..RouterParameters::default()
    }
}

fn quick() -> Consolidation {
    Consolidation {
        epoch: 200,
        wake: 200,
        begins_with_root: true,
        ..Consolidation::default()
    }
}

/// Share of the links that are in a state.
fn share(engine: &FlitEngine, state: LinkState) -> f64 {
    let links: Vec<_> = engine.network().links().collect();
    let found = links
        .iter()
        .filter(|(port, _)| engine.link_state(*port) == state)
        .count();
    found as f64 / links.len() as f64
}

fn latency(interval: &Interval) -> f64 {
    interval.latency as f64 / interval.packets as f64
}

#[test]
fn at_low_load_the_root_network_is_left_and_latency_is_the_papers() {
    let network = flat(&[8, 8], 8, 1).with_link_latency(10).unwrap();
    let mut engine = engine(&network, &Pattern::Uniform, 0.005, parameters(), 1);
    let root = Consolidation {
        begins_with_root: true,
        ..Consolidation::default()
    };
    engine.set_consolidation(root).unwrap();
    engine.advance(2_000);
    let interval = engine.advance(20_000);
    // 112 of 448 links are on; 37.69 cycles in closed form, 37.8 in the paper.
    assert_eq!(share(&engine, LinkState::Active), 0.25);
    assert!(
        (latency(&interval) - 37.69).abs() < 0.3,
        "{}",
        latency(&interval)
    );
    assert_eq!(engine.consolidation().activations, 0);
    for (port, _) in network.links() {
        let off = engine.link_state(port) == LinkState::Off;
        assert_eq!(engine.off_cycles(port), if off { 22_000 } else { 0 });
    }
}

#[test]
fn links_follow_the_load_up_and_down() {
    let network = flat(&[4, 4], 4, 1).with_link_latency(5).unwrap();
    let mut engine = engine(&network, &Pattern::Uniform, 0.6, parameters(), 2);
    engine.set_consolidation(quick()).unwrap();
    assert_eq!(share(&engine, LinkState::Active), 0.5);
    engine.advance(20_000);
    let busy = engine.advance(10_000);
    assert!(share(&engine, LinkState::Active) > 0.8);
    let accepted = busy.flits as f64 / 10_000.0 / f64::from(network.nodes());
    assert!((accepted - 0.6).abs() < 0.01, "{accepted}");
    // Once the traffic is over, all but the root network is turned off, and nothing of it.
    engine.stop_traffic();
    engine.advance(60_000);
    assert_eq!(share(&engine, LinkState::Active), 0.5);
    assert_eq!(share(&engine, LinkState::Off), 0.5);
    let counts = engine.consolidation();
    assert!(counts.activations > 0 && counts.deactivations == counts.activations);
    let hubs = |port| {
        let router = network.port(port).router;
        [router % 4, router / 4]
    };
    for (one, other) in network.links() {
        let (a, b) = (hubs(one), hubs(other));
        let root = if a[1] == b[1] {
            a[0].min(b[0]) == 0
        } else {
            a[1].min(b[1]) == 0
        };
        assert_eq!(engine.link_state(one) == LinkState::Active, root);
    }
}

#[test]
fn adversarial_traffic_gets_its_detours() {
    // Every router's nodes send to one other router of each dimension: minimally a quarter of the load could pass.
    let network = flat(&[4, 4], 4, 1).with_link_latency(5).unwrap();
    let tornado = Pattern::Tornado { base: 4, digits: 3 };
    let accepted = |consolidates: bool| {
        let mut engine = engine(&network, &tornado, 0.35, parameters(), 3);
        if consolidates {
            engine.set_consolidation(quick()).unwrap();
        }
        engine.advance(30_000);
        engine.advance(10_000).flits as f64 / 10_000.0 / f64::from(network.nodes())
    };
    let (always_on, tcep) = (accepted(false), accepted(true));
    assert!((always_on - 0.35).abs() < 0.01, "{always_on}");
    assert!((tcep - always_on).abs() < 0.02, "{tcep} {always_on}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn nothing_is_lost_while_links_come_and_go(
        sizes in prop::collection::vec(2..6u32, 1..3),
        (concentration, latency, flits) in (1..4u32, 1..8u32, 1..5u32),
        (epoch, deactivation_epochs, wake, mark) in (5..80u64, 1..4u32, 0..60u64, 0.05..1.0f64),
        load in 0.0..1.0f64,
        (seed, begins_with_root) in any::<(u64, bool)>(),
    ) {
        let network = flat(&sizes, concentration, 1).with_link_latency(latency).unwrap();
        let parameters = RouterParameters { packet_flits: flits, buffer_flits: 6, vcs: 4, ..parameters() };
        let mut engine = engine(&network, &Pattern::Uniform, load, parameters, seed);
        engine
            .set_consolidation(Consolidation { epoch, deactivation_epochs, wake, high_water_mark: mark, begins_with_root })
            .unwrap();
        engine.measure(true);
        for _ in 0..4 {
            engine.advance(500);
            let found = engine.flits();
            prop_assert_eq!(found.injected, found.ejected + found.in_flight);
            prop_assert_eq!(engine.check_credits(), Ok(()));
            // A router has at most one shadow link.
            for router in 0..network.routers() {
                let shadows = network
                    .ports_of(router)
                    .filter(|&port| matches!(network.port(port).peer, Peer::Port(_)))
                    .filter(|&port| engine.link_state(port) == LinkState::Shadow)
                    .count();
                prop_assert!(shadows <= 1);
            }
        }
        engine.stop_traffic();
        for _ in 0..1000 {
            engine.advance(100);
            if engine.measurement().outstanding() == 0 {
                break;
            }
        }
        prop_assert_eq!(engine.measurement().outstanding(), 0);
        // Control packets may be under way still.
        let flits = engine.flits();
        prop_assert_eq!(flits.injected, flits.ejected + flits.in_flight);
        let counts = engine.consolidation();
        prop_assert!(counts.control_arrived <= counts.control_packets);
        prop_assert_eq!(engine.check_credits(), Ok(()));
        for port in 0..network.ports().len() as u32 {
            prop_assert!(engine.off_cycles(port) <= engine.now());
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_links(seed in any::<u64>(), load in 0.05..0.8f64) {
        let network = flat(&[4, 3], 3, 1).with_link_latency(3).unwrap();
        let run = |steps: &[u64]| {
            let mut engine = engine(&network, &Pattern::Uniform, load, parameters(), seed);
            engine.set_consolidation(Consolidation { epoch: 100, wake: 50, ..quick() }).unwrap();
            engine.measure(true);
            for &step in steps {
                engine.advance(step);
            }
            let latencies = engine.measurement().latencies().clone();
            (engine.consolidation(), engine.flits(), latencies)
        };
        prop_assert_eq!(run(&[2_500]), run(&[1, 1_000, 1_499]));
    }
}

/// On links of five cycles a control packet takes 6 cycles to a neighbour, and over the hub a router and as much again.
#[test]
fn control_packets_take_time_and_bandwidth() {
    let network = flat(&[4, 4], 4, 1).with_link_latency(5).unwrap();
    let mut engine = engine(&network, &Pattern::Uniform, 0.0, parameters(), 4);
    engine
        .set_consolidation(Consolidation {
            begins_with_root: false,
            ..quick()
        })
        .unwrap();
    engine.advance(60_000);
    assert_eq!(share(&engine, LinkState::Off), 0.5);
    let counts = engine.consolidation();
    assert_eq!(counts.control_packets, counts.control_arrived);
    let mean = counts.control_latency as f64 / counts.control_arrived as f64;
    assert!((6.0..16.0).contains(&mean), "{mean}");
    // Nothing else was sent: every flit over a link is one of theirs.
    let sent: u64 = (0..network.ports().len() as u32)
        .map(|port| engine.sent(port))
        .sum();
    assert!(sent >= counts.control_packets && sent <= 2 * counts.control_packets);
    assert_eq!(engine.flits().injected, counts.control_packets);
    // For each link turned off: its request, its answer, and the news to two others of four; refused requests besides.
    assert!(counts.control_packets >= 4 * counts.deactivations);
}

/// Packets of many epochs count flit by flit: while one passes, the routers at its link see it used all the time, and
/// have no bandwidth to give that they would turn a link off for.
#[test]
fn long_packets_count_as_they_pass() {
    let network = flat(&[4], 1, 1).with_link_latency(2).unwrap();
    let long = RouterParameters {
        packet_flits: 5_000,
        ..parameters()
    };
    let mut engine = engine(&network, &Pattern::Uniform, 0.0, long, 5);
    let short = Consolidation {
        epoch: 50,
        wake: 20,
        high_water_mark: 0.3,
        begins_with_root: false,
        ..quick()
    };
    engine.set_consolidation(short).unwrap();
    assert!(engine.offer(2, 3));
    // Three links are the root network; by their lack of traffic alone the other three would be off by now.
    engine.advance(4_900);
    assert_eq!(share(&engine, LinkState::Active), 1.0);
    let flits = engine.flits().ejected - engine.consolidation().control_arrived;
    assert!((4_880..4_900).contains(&flits), "{flits}");
    engine.advance(5_000);
    assert_eq!(share(&engine, LinkState::Off), 0.5);
}

#[test]
fn what_does_not_fit_is_refused() {
    let text = |network: &Network, algorithm: Algorithm, parameters: Consolidation| {
        let destinations =
            Destinations::new(&Pattern::Uniform, network.nodes(), &mut Rng::new(0)).unwrap();
        let own = routing(network, algorithm, 6);
        let router = RouterParameters::default();
        let mut engine =
            FlitEngine::new(network.clone(), own, router, destinations, 0.1, 0).unwrap();
        engine
            .set_consolidation(parameters)
            .unwrap_err()
            .to_string()
    };
    let fine = Consolidation::default();
    assert!(text(&torus(&[4], true), Algorithm::DimensionOrder, fine).contains("routing pal"));
    assert!(text(&flat(&[4], 1, 2), Algorithm::PowerAware, fine).contains("single links"));
    let endless = Consolidation { epoch: 0, ..fine };
    assert!(text(&flat(&[4], 1, 1), Algorithm::PowerAware, endless).contains("at least 1 cycle"));
}
