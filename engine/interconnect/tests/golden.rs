//! Results of fixed runs, to the last bit: a change that is only about speed keeps them.

use crate::networks::{flat, flit_engine, routing, torus};
use interconnect::consolidation::Consolidation;
use interconnect::flit::stages::Stages;
use interconnect::link::{LinkLedger, LinkPolicy, Mode, Timing};
use interconnect::rng::Rng;
use interconnect::routing::Algorithm;
use interconnect::topology::{Dragonfly, Tree};
use interconnect::traffic::{Destinations, Pattern};
use interconnect::{Network, PacketEngine, RouterParameters, Switching};

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
        ends_sleep: false,
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
    let at = (cut_through(), 0.4, sleepy());
    let (found, ledgers) = packets_at(network, algorithm, pattern, at);
    (
        found.0,
        found.1,
        found.2,
        ledgers.iter().map(LinkLedger::low_power).sum(),
    )
}

/// Packets, sum of latencies, sum of hops, and 99th percentile of the latency; and all links' ledgers.
fn packets_at(
    network: &Network,
    algorithm: Algorithm,
    pattern: &Pattern,
    (parameters, load, policy): (RouterParameters, f64, LinkPolicy),
) -> (Found, Vec<LinkLedger>) {
    let destinations = Destinations::new(pattern, network.nodes(), &mut Rng::new(7)).unwrap();
    let routing = routing(network, algorithm, parameters.vcs);
    let mut engine =
        PacketEngine::new(network.clone(), routing, parameters, destinations, load, 7).unwrap();
    engine.set_links(policy).unwrap();
    engine.measure(true);
    let found = engine.advance(3000);
    let late = engine.measurement().latencies().quantile(0.99).unwrap();
    let ledgers = (0..network.ports().len() as u32).map(|port| engine.link(port).unwrap());
    (
        (found.packets, found.latency, found.hops, late),
        ledgers.collect(),
    )
}

/// Packets that wait, a history window, channels longer than the agenda, every low-power mode.
#[test]
fn equal_packets_in_every_version() {
    let butterfly = flat(&[4, 4], 4, 1).with_link_latency(5).unwrap();
    let trunked = flat(&[3, 4, 2], 2, 2);
    let cube = torus(&[4, 4], true);
    let far = torus(&[4, 3], false).with_link_latency(300).unwrap();
    let dragonfly = Dragonfly::balanced(2).build().unwrap();
    let tornado = Pattern::Tornado { base: 4, digits: 3 };
    let tight = RouterParameters {
        buffer_flits: 5,
        packet_flits: 4,
        vcs: 3,
        speedup: 1,
        ..cut_through()
    };
    let window = RouterParameters {
        history_window: 15,
        packet_flits: 1,
        speedup: 3,
        ..cut_through()
    };
    let single = RouterParameters {
        packet_flits: 1,
        ..cut_through()
    };
    let mode = |mode: Mode| LinkPolicy {
        mode,
        timing: Timing {
            hold: 2,
            sleep: 4,
            quiet: 9,
            refresh: 2,
            wake: 7,
            wake_during_sleep: 5,
            fast_wake: 3,
            deep_after: 6,
            ..Timing::default()
        },
        flit_cycles: 1,
        ends_sleep: false,
    };
    let uniform = &Pattern::Uniform;
    let found = [
        (
            &butterfly,
            Algorithm::DimensionOrder,
            uniform,
            tight,
            0.8,
            Mode::Deep,
        ),
        (
            &butterfly,
            Algorithm::Ugal,
            &tornado,
            window,
            0.45,
            Mode::Hybrid,
        ),
        (
            &butterfly,
            Algorithm::Progressive,
            &tornado,
            window,
            0.45,
            Mode::Fast,
        ),
        (
            &trunked,
            Algorithm::DimensionOrder,
            uniform,
            single,
            0.5,
            Mode::Deep,
        ),
        (
            &cube,
            Algorithm::DimensionOrder,
            uniform,
            tight,
            0.6,
            Mode::Hybrid,
        ),
        (
            &far,
            Algorithm::Shortest,
            uniform,
            RouterParameters { vcs: 6, ..single },
            0.01,
            Mode::Deep,
        ),
        (
            &dragonfly,
            Algorithm::DragonflyMinimal,
            uniform,
            single,
            0.3,
            Mode::Deep,
        ),
        (
            &dragonfly,
            Algorithm::UpDown,
            &Pattern::UniformOthers,
            tight,
            0.3,
            Mode::Off,
        ),
    ]
    .map(|(network, algorithm, pattern, parameters, load, modes)| {
        let at = (parameters, load, mode(modes));
        let (found, ledgers) = packets_at(network, algorithm, pattern, at);
        let sum = |of: fn(&LinkLedger) -> u64| ledgers.iter().map(of).sum::<u64>();
        let wakes = (
            sum(|own| own.wakes),
            sum(|own| own.wake),
            sum(|own| own.sleeps),
        );
        let low = (
            sum(|own| own.sleep),
            sum(|own| own.refresh),
            sum(|own| own.fast),
        );
        (
            found,
            (sum(|own| own.transmit), sum(|own| own.idle)),
            wakes,
            low,
        )
    });
    assert_eq!(
        found,
        [
            (
                (15792, 13854681, 23493, 1792),
                (158276, 150025),
                (10070, 68808, 10098),
                (40377, 5431, 0)
            ),
            (
                (73448, 16269631, 208867, 602),
                (291193, 151640),
                (6437, 20457, 6441),
                (1612, 150, 15736)
            ),
            (
                (85259, 4189348, 251181, 80),
                (339252, 117800),
                (2927, 8781, 2934),
                (0, 0, 14924)
            ),
            (
                (71716, 1420548, 137551, 36),
                (210072, 182528),
                (43571, 272881, 43650),
                (174534, 13984, 0)
            ),
            (
                (4417, 1886070, 8948, 1805),
                (53816, 44391),
                (6744, 32402, 6778),
                (13571, 9124, 35230)
            ),
            (
                (293, 181788, 584, 1543),
                (1035, 37176),
                (696, 4842, 726),
                (2904, 16164, 0)
            ),
            (
                (64258, 1362151, 147888, 36),
                (213011, 231545),
                (27068, 161578, 27099),
                (108361, 1448, 0)
            ),
            (
                (16020, 374664, 40192, 48),
                (226080, 530261),
                (0, 0, 0),
                (0, 0, 0)
            )
        ]
    );
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
            (76585, 1520663, 175730, 356),
            (12725, 447493, 15380, 282),
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
            (9349, 754390, 27163, 17501),
            (73338, 7974976, 206916, 530),
            (2465, 92407, 5007, 100141),
            (8016, 287989, 25850, 78187),
            (18918, 524686, 28330, 46857),
            (18909, 919959, 52778, 4961),
            (4768, 130053, 10752, 89781),
            (7944, 274442, 24628, 83847)
        ]
    );
}
