//! Results of fixed runs, to the last bit: a change that is only about speed keeps them.

mod networks;

use interconnect::flit::consolidation::Consolidation;
use interconnect::flit::stages::Stages;
use interconnect::link::{LinkPolicy, Mode, Timing};
use interconnect::rng::Rng;
use interconnect::routing::Algorithm;
use interconnect::topology::Tree;
use interconnect::traffic::{Destinations, Pattern};
use interconnect::{Network, PacketEngine, RouterParameters, Switching};
use networks::{flat, flit_engine, routing, torus};

fn sleepy() -> LinkPolicy {
    LinkPolicy {
        mode: Mode::Deep,
        timing: Timing {
            hold: 6,
            sleep: 4,
            wake: 7,
            wake_during_sleep: 5,
            ..Timing::default()
        },
        flit_cycles: 1,
    }
}

/// Packets, sum of latencies, sum of hops, and cycles in low power.
type Found = (u64, u64, u64, u64);

fn cut_through() -> RouterParameters {
    RouterParameters {
        switching: Switching::CutThrough,
        packet_flits: 4,
        ..RouterParameters::default()
    }
}

fn by_flit(
    network: &Network,
    algorithm: Algorithm,
    pattern: &Pattern,
    parameters: RouterParameters,
) -> Found {
    let mut engine = flit_engine(network, algorithm, pattern, parameters, 0.4, 7);
    engine.set_links(sleepy());
    let found = engine.advance(3000);
    let low = (0..network.ports().len() as u32).map(|port| engine.link(port).unwrap().low_power());
    (found.packets, found.latency, found.hops, low.sum())
}

fn by_packet(network: &Network, algorithm: Algorithm, pattern: &Pattern) -> Found {
    let destinations = Destinations::new(pattern, network.nodes(), &mut Rng::new(7)).unwrap();
    let routing = routing(network, algorithm, cut_through().vcs);
    let mut engine = PacketEngine::new(
        network.clone(),
        routing,
        cut_through(),
        destinations,
        0.4,
        7,
    )
    .unwrap();
    engine.set_links(sleepy()).unwrap();
    let found = engine.advance(3000);
    let low = (0..network.ports().len() as u32).map(|port| engine.link(port).unwrap().low_power());
    (found.packets, found.latency, found.hops, low.sum())
}

/// Packets, sum of latencies, cycles in which links were off, and control packets.
fn with_links_off(algorithm: Algorithm, pattern: &Pattern, flits: u32) -> Found {
    let network = flat(&[4, 4], 4, 1).with_link_latency(5).unwrap();
    let parameters = RouterParameters {
        packet_flits: flits,
        history_window: 16,
        ..RouterParameters::default()
    };
    let mut engine = flit_engine(&network, algorithm, pattern, parameters, 0.2, 7);
    if algorithm == Algorithm::Staged {
        let quick = Stages {
            cycles_per_link: 10,
            off_after: 200,
            ..Stages::default()
        };
        engine.set_stages(quick).unwrap();
    } else {
        let quick = Consolidation {
            epoch: 100,
            wake: 100,
            deactivation_epochs: 3,
            ..Consolidation::default()
        };
        engine.set_consolidation(quick).unwrap();
    }
    let found = engine.advance(6000);
    let off = (0..network.ports().len() as u32).map(|port| engine.off_cycles(port));
    let control = engine.consolidation().control_packets;
    (found.packets, found.latency, off.sum(), control)
}

#[test]
fn equal_links_are_off_in_every_version() {
    let tornado = Pattern::Tornado { base: 4, digits: 3 };
    let found = [
        with_links_off(Algorithm::PowerAware, &Pattern::Uniform, 1),
        with_links_off(Algorithm::PowerAware, &tornado, 6),
        with_links_off(Algorithm::Staged, &Pattern::Uniform, 1),
        with_links_off(Algorithm::Staged, &tornado, 6),
    ];
    assert_eq!(
        found,
        [
            (76350, 1494400, 161124, 424),
            (12650, 442084, 15576, 270),
            (76578, 1776250, 360000, 0),
            (12542, 7009894, 52060, 0)
        ]
    );
}

#[test]
fn equal_descriptions_give_equal_bytes_in_every_version() {
    let butterfly = flat(&[4, 4], 4, 1).with_link_latency(5).unwrap();
    let cube = torus(&[4, 4], true);
    let tree = Tree::k_ary(3, 3).build().unwrap();
    let tornado = Pattern::Tornado { base: 4, digits: 3 };
    let plain = RouterParameters::default();
    let long = RouterParameters {
        packet_flits: 8,
        history_window: 15,
        ..plain
    };
    let found = [
        by_flit(
            &butterfly,
            Algorithm::DimensionOrder,
            &Pattern::Uniform,
            plain,
        ),
        by_flit(&butterfly, Algorithm::Progressive, &tornado, long),
        by_flit(&butterfly, Algorithm::Ugal, &tornado, plain),
        by_flit(&cube, Algorithm::MinimalAdaptive, &Pattern::Uniform, long),
        by_flit(
            &tree,
            Algorithm::TreeRandom,
            &Pattern::UniformOthers,
            cut_through(),
        ),
        by_packet(&butterfly, Algorithm::DimensionOrder, &Pattern::Uniform),
        by_packet(&butterfly, Algorithm::Progressive, &tornado),
        by_packet(&cube, Algorithm::DimensionOrder, &Pattern::Permutation),
        by_packet(&tree, Algorithm::TreeRandom, &Pattern::Uniform),
    ];
    assert_eq!(
        found,
        [
            (76383, 1361356, 114325, 2905),
            (9260, 739760, 26936, 18109),
            (73338, 7974976, 206916, 530),
            (2411, 88092, 4817, 103963),
            (7903, 281210, 25432, 80406),
            (18918, 524685, 28330, 46857),
            (18713, 883593, 52148, 5021),
            (4768, 130053, 10752, 89781),
            (7944, 274442, 24628, 83847)
        ]
    );
}
