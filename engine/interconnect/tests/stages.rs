//! SLaC on a network: its first stage alone at low load, more with the load, nothing lost, and no detours around a crowd.

use crate::networks::{flat, flit_engine, routing, torus};
use interconnect::flit::stages::Stages;
use interconnect::measure::Interval;
use interconnect::network::Peer;
use interconnect::rng::Rng;
use interconnect::routing::Algorithm;
use interconnect::tcep::LinkState;
use interconnect::traffic::{Destinations, Pattern};
use interconnect::{FlitEngine, Network, RouterParameters};
use proptest::prelude::*;

fn parameters() -> RouterParameters {
    RouterParameters {
        speedup: 3,
        ..RouterParameters::default()
    }
}

fn engine(
    network: &Network,
    pattern: &Pattern,
    load: f64,
    parameters: RouterParameters,
    seed: u64,
) -> FlitEngine {
    flit_engine(network, Algorithm::Staged, pattern, parameters, load, seed)
}

fn latency(interval: &Interval) -> f64 {
    interval.latency as f64 / interval.packets as f64
}

fn accepted(engine: &mut FlitEngine, cycles: u64) -> f64 {
    let nodes = f64::from(engine.network().nodes());
    engine.advance(cycles).flits as f64 / cycles as f64 / nodes
}

/// The network of TCEP's paper: 32.7 cycles there, 32.57 in closed form, 84 of 448 links on.
#[test]
fn at_low_load_the_first_stage_is_left_and_latency_is_the_papers() {
    let network = flat(&[8, 8], 8, 1).with_link_latency(10).unwrap();
    let mut engine = engine(&network, &Pattern::Uniform, 0.005, parameters(), 1);
    engine.set_stages(Stages::default()).unwrap();
    engine.advance(2_000);
    let interval = engine.advance(20_000);
    assert!(
        (latency(&interval) - 32.5747).abs() < 0.3,
        "{}",
        latency(&interval)
    );
    assert_eq!(engine.stages(), Some(1));
    let on = network
        .links()
        .filter(|(port, _)| engine.link_state(*port) == LinkState::Active);
    assert_eq!(on.count(), 84);
    for (one, other) in network.links() {
        let row = network.port(one).router.min(network.port(other).router) / 8;
        assert_eq!(engine.off_cycles(one), if row == 0 { 0 } else { 22_000 });
    }
}

#[test]
fn stages_follow_the_load_up_and_down() {
    let network = flat(&[4, 4], 4, 1).with_link_latency(5).unwrap();
    let mut engine = engine(&network, &Pattern::Uniform, 0.6, parameters(), 2);
    engine
        .set_stages(Stages {
            cycles_per_link: 10,
            off_after: 2_000,
            ..Stages::default()
        })
        .unwrap();
    engine.advance(30_000);
    let busy = accepted(&mut engine, 10_000);
    assert!((busy - 0.6).abs() < 0.05, "{busy}");
    assert!(engine.stages() > Some(2));
    engine.stop_traffic();
    engine.advance(10_000);
    assert_eq!(engine.stages(), Some(1));
    let counts = engine.consolidation();
    assert_eq!(counts.activations, counts.deactivations);
    assert_eq!(counts.control_packets, 0);
}

/// Tornado: the four nodes of a router share one link of each dimension, and SLaC knows no way around.
#[test]
fn adversarial_traffic_gets_no_detours() {
    let network = flat(&[4, 4], 4, 1).with_link_latency(5).unwrap();
    let tornado = Pattern::Tornado { base: 4, digits: 3 };
    let mut engine = engine(&network, &tornado, 0.5, parameters(), 3);
    engine
        .set_stages(Stages {
            cycles_per_link: 10,
            off_after: 2_000,
            ..Stages::default()
        })
        .unwrap();
    engine.advance(20_000);
    let found = accepted(&mut engine, 10_000);
    assert_eq!(engine.stages(), Some(4));
    assert!((found - 0.25).abs() < 0.01, "{found}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn nothing_is_lost_while_stages_come_and_go(
        sizes in (2..6u32, 2..6u32),
        (concentration, latency, flits) in (1..4u32, 1..8u32, 1..5u32),
        (cycles_per_link, off_after, high, low) in (0..20u64, 0..200u64, 0.1..0.8f64, 0.0..0.1f64),
        load in 0.0..1.0f64,
        seed in any::<u64>(),
    ) {
        let network = flat(&[sizes.0, sizes.1], concentration, 1).with_link_latency(latency).unwrap();
        let parameters = RouterParameters { packet_flits: flits, buffer_flits: 6, vcs: 3, ..parameters() };
        let mut engine = engine(&network, &Pattern::Uniform, load, parameters, seed);
        engine.set_stages(Stages { cycles_per_link, high, low, off_after }).unwrap();
        engine.measure(true);
        for _ in 0..4 {
            engine.advance(400);
            let found = engine.flits();
            prop_assert_eq!(found.injected, found.ejected + found.in_flight);
            prop_assert_eq!(engine.check_credits(), Ok(()));
            for port in 0..network.ports().len() as u32 {
                prop_assert!(engine.off_cycles(port) <= engine.now());
                let on = matches!(network.port(port).peer, Peer::Node(_)) || engine.link_state(port) != LinkState::Off;
                prop_assert!(on || engine.sent(port) == 0 || engine.consolidation().deactivations > 0);
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
        let flits = engine.flits();
        prop_assert_eq!(flits.injected, flits.ejected);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let text = |network: &Network, algorithm: Algorithm, stages: Stages| {
        let destinations =
            Destinations::new(&Pattern::Uniform, network.nodes(), &mut Rng::new(0)).unwrap();
        let own = routing(network, algorithm, 6);
        let router = RouterParameters::default();
        let mut engine =
            FlitEngine::new(network.clone(), own, router, destinations, 0.1, 0).unwrap();
        engine.set_stages(stages).unwrap_err().to_string()
    };
    let fine = Stages::default();
    assert!(text(&torus(&[4], true), Algorithm::DimensionOrder, fine).contains("routing slac"));
    let crossed = Stages { low: 0.9, ..fine };
    assert!(text(&flat(&[4, 4], 1, 1), Algorithm::Staged, crossed).contains("thresholds"));
    let three = flat(&[2, 2, 2], 1, 1);
    assert!(
        interconnect::routing::Routing::new(&three, Algorithm::Staged, 4)
            .unwrap_err()
            .to_string()
            .contains("two dimensions")
    );
}
