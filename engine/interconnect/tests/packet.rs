//! The packet engine: its laws, its latency without other traffic, and its results beside the flit engine's.

use crate::networks::{flat, graphs, law_of_packets, packet_engine, pairs, routing, sleepy, torus};
use interconnect::link::{LinkPolicy, Timing};
use interconnect::network::Peer;
use interconnect::rng::Rng;
use interconnect::routing::Algorithm;
use interconnect::topology::{Dragonfly, Tree};
use interconnect::traffic::{Destinations, Pattern};
use interconnect::{FlitEngine, Network, RouterParameters, Switching, zero_load};
use proptest::prelude::*;

fn cut_through() -> RouterParameters {
    RouterParameters {
        switching: Switching::CutThrough,
        ..RouterParameters::default()
    }
}

fn stored() -> RouterParameters {
    RouterParameters {
        switching: Switching::StoreAndForward,
        ..RouterParameters::default()
    }
}

fn destinations(network: &Network, pattern: &Pattern) -> Destinations {
    Destinations::new(pattern, network.nodes(), &mut Rng::new(1)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn nothing_is_lost_on_any_graph(
        network in graphs(),
        (vcs, flits, more, speedup) in (1..5u8, 1..9u32, 0..20u16, 1..4u8),
        window in 0..20u32,
        load in 0.0..1.0f64,
        seed in any::<u64>(),
        sleeps in any::<bool>(),
        stores in any::<bool>(),
    ) {
        let base = if stores { stored() } else { cut_through() };
        let parameters = RouterParameters {
            vcs,
            packet_flits: flits,
            buffer_flits: flits as u16 + more,
            speedup,
            history_window: window,
            ..base
        };
        let mut engine = packet_engine(&network, Algorithm::UpDown, parameters, load, seed).unwrap();
        if sleeps {
            engine.set_links(sleepy()).unwrap();
        }
        law_of_packets(&mut engine, [1, 7, 30, 201], 2000)?;
        if sleeps {
            let total: u64 = (0..network.ports().len() as u32)
                .filter(|&port| matches!(network.port(port).peer, Peer::Node(_)))
                .map(|port| engine.link(port).unwrap().transmit)
                .sum();
            let (_, done) = engine.packets();
            prop_assert_eq!(total, done * u64::from(flits));
            for port in 0..network.ports().len() as u32 {
                prop_assert_eq!(engine.link(port).unwrap().total(), engine.now());
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_run(network in graphs(), load in 0.0..1.0f64, seed in any::<u64>()) {
        let run = |steps: &[u64]| {
            let mut engine = packet_engine(&network, Algorithm::UpDown, cut_through(), load, seed).unwrap();
            engine.measure(true);
            for &step in steps {
                engine.advance(step);
            }
            (engine.measurement().latencies().clone(), engine.packets())
        };
        prop_assert_eq!(run(&[700]), run(&[1, 299, 400]));
    }
}

#[test]
fn latency_without_other_traffic_is_the_closed_form() {
    for (name, network, algorithm, vcs) in pairs() {
        if algorithm == Algorithm::MinimalBookSim {
            continue; // for the flit engine
        }
        let network = network.with_link_latency(4).unwrap();
        let packets = [(1, 1), (2, 1), (3, 1), (2, 5), (1, 8)];
        let every = [cut_through(), stored()].map(|base| packets.map(|own| (base, own)));
        for (base, (speedup, packet_flits)) in every.into_iter().flatten() {
            let parameters = RouterParameters {
                vcs,
                speedup,
                packet_flits,
                ..base
            };
            let mut engine = packet_engine(&network, algorithm, parameters, 0.0, 9).unwrap();
            engine.measure(true);
            for source in (0..network.nodes()).step_by(7) {
                for dest in 0..network.nodes() {
                    engine.offer(source, dest);
                    let (mut hops, before) = (0, engine.measurement().latencies().sum());
                    while engine.measurement().outstanding() > 0 {
                        hops += engine.advance(1).hops;
                    }
                    let wanted = zero_load::latency(&parameters, hops + 1, 4 * hops);
                    assert_eq!(
                        engine.measurement().latencies().sum() - before,
                        wanted,
                        "{name}: {source} to {dest}"
                    );
                    engine.advance(10); // the node's channel is free again
                }
            }
        }
    }
}

/// Mean latencies of both engines, in cycles.
fn both(
    network: &Network,
    algorithm: Algorithm,
    parameters: RouterParameters,
    load: f64,
    policy: Option<LinkPolicy>,
    cycles: u64,
) -> [f64; 2] {
    let all = destinations(network, &Pattern::Uniform);
    let own = routing(network, algorithm, parameters.vcs);
    let mut flit = FlitEngine::new(network.clone(), own, parameters, all, load, 11).unwrap();
    let mut packet = packet_engine(network, algorithm, parameters, load, 12).unwrap();
    if let Some(policy) = policy {
        flit.set_links(policy);
        packet.set_links(policy).unwrap();
    }
    flit.advance(cycles / 4);
    flit.measure(true);
    flit.advance(cycles);
    packet.advance(cycles / 4);
    packet.measure(true);
    packet.advance(cycles);
    [
        flit.measurement().latencies().mean().unwrap(),
        packet.measurement().latencies().mean().unwrap(),
    ]
}

/// Within 1 % on flattened butterflies, within 2 % elsewhere up to a load of 0.5: seeds differ, so noise is part of it.
#[test]
fn both_engines_agree() {
    let long = RouterParameters {
        vcs: 4,
        buffer_flits: 32,
        packet_flits: 8,
        ..cut_through()
    };
    let long_stored = RouterParameters {
        switching: Switching::StoreAndForward,
        ..long
    };
    let small = |network: Network| network.with_link_latency(3).unwrap();
    for (name, network, algorithm, parameters, loads, within) in [
        (
            "butterfly",
            flat(&[4, 4], 4, 1),
            Algorithm::DimensionOrder,
            cut_through(),
            [0.3, 0.8],
            0.01,
        ),
        (
            "butterfly, ugal",
            flat(&[4, 4], 4, 1),
            Algorithm::Ugal,
            cut_through(),
            [0.2, 0.4],
            0.01,
        ),
        (
            "torus",
            torus(&[4, 4], true),
            Algorithm::DimensionOrder,
            long,
            [0.2, 0.5],
            0.02,
        ),
        (
            "torus, stored first",
            torus(&[4, 4], true),
            Algorithm::DimensionOrder,
            long_stored,
            [0.2, 0.5],
            0.02,
        ),
        (
            "tree",
            Tree::k_ary(4, 2).build().unwrap(),
            Algorithm::TreeRandom,
            long,
            [0.2, 0.5],
            0.02,
        ),
        (
            "tree, stored first",
            Tree::k_ary(4, 2).build().unwrap(),
            Algorithm::TreeRandom,
            long_stored,
            [0.2, 0.5],
            0.02,
        ),
        (
            "dragonfly",
            Dragonfly::balanced(2).build().unwrap(),
            Algorithm::DragonflyMinimal,
            long,
            [0.1, 0.3],
            0.02,
        ),
    ] {
        let network = small(network);
        for load in loads {
            let [flit, packet] = both(&network, algorithm, parameters, load, None, 20_000);
            assert!(
                (packet / flit - 1.0).abs() < within,
                "{name} at {load}: flit engine {flit:.3}, packet engine {packet:.3}"
            );
        }
    }
}

#[test]
fn both_engines_agree_when_links_sleep() {
    let network = flat(&[4, 4], 4, 1).with_link_latency(3).unwrap();
    for load in [0.01, 0.1] {
        let [flit, packet] = both(
            &network,
            Algorithm::DimensionOrder,
            cut_through(),
            load,
            Some(sleepy()),
            60_000,
        );
        let [awake, _] = both(
            &network,
            Algorithm::DimensionOrder,
            cut_through(),
            load,
            None,
            60_000,
        );
        assert!(
            (packet / flit - 1.0).abs() < 0.01,
            "at {load}: {flit:.3} and {packet:.3}"
        );
        assert!(
            flit > 1.02 * awake,
            "links sleep at {load}: {flit:.3}, awake {awake:.3}"
        );
    }
}

/// Four packets from one node, cycle by cycle: three over a long link with room for two, then one over a short link.
/// Latencies in the order of arrival.
fn behind_a_full_link(mut step: impl FnMut(u64, Option<u32>) -> Option<u64>) -> Vec<u64> {
    let dests = [1, 1, 1, 2];
    (0..600)
        .filter_map(|now| {
            let dest = (now % 4 == 0).then(|| dests.get(now as usize / 4).copied());
            step(now, dest.flatten())
        })
        .collect()
}

#[test]
fn a_packet_without_room_holds_up_those_behind_it() {
    let edge = |other, latency| interconnect::topology::graph::Edge {
        one: 0,
        other,
        latency,
    };
    let edges = [edge(1, 100), edge(2, 1)];
    let network = interconnect::topology::graph::build(3, &[0, 1, 2], &edges).unwrap();
    let parameters = RouterParameters {
        vcs: 1,
        buffer_flits: 8,
        packet_flits: 4,
        ..cut_through()
    };
    let mut packets = packet_engine(&network, Algorithm::UpDown, parameters, 0.0, 0).unwrap();
    let by_packet = behind_a_full_link(|_, dest| {
        if let Some(dest) = dest {
            packets.offer(0, dest);
        }
        let found = packets.advance(1);
        (found.packets > 0).then_some(found.latency)
    });
    let mut flits = FlitEngine::new(
        network.clone(),
        routing(&network, Algorithm::UpDown, 1),
        parameters,
        destinations(&network, &Pattern::Uniform),
        0.0,
        0,
    )
    .unwrap();
    let by_flit = behind_a_full_link(|_, dest| {
        if let Some(dest) = dest {
            assert!(flits.offer(0, dest));
        }
        let found = flits.advance(1);
        (found.packets > 0).then_some(found.latency)
    });
    assert_eq!(by_flit.len(), 4);
    assert_eq!(by_packet, by_flit);
    // The last one waits for a credit of the long link, which is not its own.
    assert!(by_flit[2] > 200, "{by_flit:?}");
}

#[test]
fn what_it_cannot_do_it_refuses_or_doubts() {
    let network = flat(&[4], 2, 1);
    let refused = |parameters| {
        packet_engine(&network, Algorithm::DimensionOrder, parameters, 0.1, 0)
            .unwrap_err()
            .to_string()
    };
    assert!(refused(RouterParameters::default()).contains("choose the flit engine"));
    let as_booksim = RouterParameters {
        vcs: 4,
        ..cut_through()
    };
    let as_booksim = packet_engine(
        &torus(&[4], true),
        Algorithm::MinimalBookSim,
        as_booksim,
        0.1,
        0,
    );
    assert!(
        as_booksim
            .unwrap_err()
            .to_string()
            .contains("min_adaptive, or the flit engine")
    );
    assert!(
        refused(RouterParameters {
            packet_flits: 40,
            ..cut_through()
        })
        .contains("whole packet")
    );
    let mut engine =
        packet_engine(&network, Algorithm::DimensionOrder, cut_through(), 0.1, 0).unwrap();
    let coalescing = LinkPolicy {
        timing: Timing {
            coalesce: 5,
            ..Timing::default()
        },
        ..sleepy()
    };
    assert!(
        engine
            .set_links(coalescing)
            .unwrap_err()
            .to_string()
            .contains("flit engine")
    );
    assert_eq!(engine.doubts(), Vec::<String>::new());
    let tight = RouterParameters {
        vcs: 2,
        buffer_flits: 4,
        packet_flits: 4,
        ..cut_through()
    };
    let doubts = packet_engine(
        &network.with_link_latency(10).unwrap(),
        Algorithm::DimensionOrder,
        tight,
        0.1,
        0,
    )
    .unwrap()
    .doubts();
    assert_eq!(doubts.len(), 2, "{doubts:?}");
    let slow = RouterParameters {
        speedup: 1,
        ..cut_through()
    };
    let slow = packet_engine(&flat(&[4], 2, 1), Algorithm::Ugal, slow, 0.1, 0).unwrap();
    assert!(slow.doubts()[0].contains("speedup") && slow.doubts()[1].contains("queues"));
    // Everybody's packets cross one link: past saturation.
    let edge = interconnect::topology::graph::Edge {
        one: 0,
        other: 1,
        latency: 1,
    };
    let narrow =
        interconnect::topology::graph::build(2, &[0, 0, 0, 0, 1, 1, 1, 1], &[edge]).unwrap();
    let mut engine = packet_engine(&narrow, Algorithm::UpDown, cut_through(), 0.9, 1).unwrap();
    engine.advance(20_000);
    assert!(
        engine
            .doubts()
            .iter()
            .any(|doubt| doubt.contains("saturation"))
    );
}
