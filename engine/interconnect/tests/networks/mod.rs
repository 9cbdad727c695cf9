//! Networks that several tests use.

use interconnect::link::{LinkPolicy, Mode, Timing};
use interconnect::network::Peer;
use interconnect::rng::Rng;
use interconnect::routing::{Algorithm, Routing};
use interconnect::topology::graph::{Edge, build};
use interconnect::topology::{Dragonfly, HyperX, Torus, Tree};
use interconnect::traffic::{Destinations, Pattern};
use interconnect::{
    FlitEngine, Network, PacketEngine, RouterParameters, SimulationError, Switching,
};
use proptest::prelude::*;

pub fn cut_through(packet_flits: u32) -> RouterParameters {
    RouterParameters {
        switching: Switching::CutThrough,
        packet_flits,
        ..RouterParameters::default()
    }
}

/// Ports to other routers.
pub fn ports(network: &Network) -> Vec<u32> {
    (0..)
        .zip(network.ports())
        .filter(|(_, port)| matches!(port.peer, Peer::Port(_)))
        .map(|(id, _)| id)
        .collect()
}

pub fn torus(radix: &[u32], wraps: bool) -> Network {
    trunked(radix, wraps, 1, 1)
}

pub fn trunked(radix: &[u32], wraps: bool, concentration: u32, trunk: u32) -> Network {
    Torus {
        radix: radix.to_vec(),
        concentration,
        trunk,
        wraps,
    }
    .build()
    .unwrap()
}

pub fn flat(sizes: &[u32], concentration: u32, trunk: u32) -> Network {
    HyperX {
        sizes: sizes.to_vec(),
        concentration,
        trunk,
    }
    .build()
    .unwrap()
}

pub fn row_column(concentration: u32) -> Network {
    Dragonfly {
        concentration,
        group: vec![3, 2],
        global: 1,
        groups: 4,
    }
    .build()
    .unwrap()
}

/// A flit engine that offers `load` in this pattern; the seed draws the pattern too.
/// With uniform traffic, or why the engine refuses it.
pub fn packet_engine(
    network: &Network,
    algorithm: Algorithm,
    parameters: RouterParameters,
    load: f64,
    seed: u64,
) -> Result<PacketEngine, SimulationError> {
    let all = Destinations::new(&Pattern::Uniform, network.nodes(), &mut Rng::new(1)).unwrap();
    let routing = routing(network, algorithm, parameters.vcs);
    PacketEngine::new(network.clone(), routing, parameters, all, load, seed)
}

/// Links that sleep deeply, and soon.
pub fn sleepy() -> LinkPolicy {
    LinkPolicy {
        mode: Mode::Deep,
        timing: Timing {
            hold: 20,
            sleep: 5,
            wake: 17,
            wake_during_sleep: 17,
            ..Timing::default()
        },
        ..LinkPolicy::default()
    }
}

pub fn flit_engine(
    network: &Network,
    algorithm: Algorithm,
    pattern: &Pattern,
    parameters: RouterParameters,
    load: f64,
    seed: u64,
) -> FlitEngine {
    let destinations = Destinations::new(pattern, network.nodes(), &mut Rng::new(seed)).unwrap();
    let routing = routing(network, algorithm, parameters.vcs);
    FlitEngine::new(
        network.clone(),
        routing,
        parameters,
        destinations,
        load,
        seed,
    )
    .unwrap()
}

/// Every algorithm on the topologies that it is for, with the fewest virtual channels that it needs, or a few more.
pub fn pairs() -> Vec<(String, Network, Algorithm, u8)> {
    let mut all = Vec::new();
    let mut add = |name: &str, network: &Network, algorithm: Algorithm, vcs: u8| {
        let name = format!("{name} {} {vcs}", algorithm.name());
        all.push((name, network.clone(), algorithm, vcs));
    };
    for (name, network) in [
        ("torus 4x4x4", torus(&[4, 4, 4], true)),
        ("torus 5x3", torus(&[5, 3], true)),
        ("torus 2x3", torus(&[2, 3], true)),
        ("trunked torus", trunked(&[4, 3], true, 2, 2)),
    ] {
        add(name, &network, Algorithm::DimensionOrder, 2);
        add(name, &network, Algorithm::DimensionOrder, 5);
        add(name, &network, Algorithm::MinimalAdaptive, 4);
        add(name, &network, Algorithm::MinimalAwake, 3);
        add(name, &network, Algorithm::MinimalBookSim, 4);
    }
    for (name, network) in [
        ("mesh 4x3", torus(&[4, 3], false)),
        ("trunked mesh", trunked(&[3, 3], false, 2, 3)),
    ] {
        add(name, &network, Algorithm::DimensionOrder, 1);
        add(name, &network, Algorithm::MinimalAdaptive, 2);
        add(name, &network, Algorithm::MinimalBookSim, 3);
    }
    for (name, network) in [
        ("4-ary 3-tree", Tree::k_ary(4, 3).build().unwrap()),
        (
            "fat tree of 4",
            Tree::three_level(4).unwrap().build().unwrap(),
        ),
    ] {
        add(name, &network, Algorithm::TreeRandom, 1);
        add(name, &network, Algorithm::TreeAdaptive, 2);
        add(name, &network, Algorithm::TreeByDestination, 2);
        add(name, &network, Algorithm::Dbbm, 4);
    }
    for (name, network) in [
        ("dragonfly 72", Dragonfly::balanced(2).build().unwrap()),
        ("row-column", row_column(2)),
    ] {
        add(name, &network, Algorithm::DragonflyMinimal, 2);
        add(name, &network, Algorithm::DragonflyUgal, 3);
        add(name, &network, Algorithm::DragonflyUgal, 7);
        add(name, &network, Algorithm::Shortest, 5);
    }
    for (name, network) in [
        ("flattened butterfly", flat(&[4, 4], 4, 1)),
        ("hyperx", flat(&[3, 4, 2], 2, 2)),
        ("complete", flat(&[6], 3, 1)),
    ] {
        add(name, &network, Algorithm::DimensionOrder, 1);
        add(name, &network, Algorithm::MinimalAdaptive, 3);
        add(name, &network, Algorithm::MinimalAwake, 2);
        add(name, &network, Algorithm::Ugal, 2);
        add(name, &network, Algorithm::Progressive, 2);
        add(name, &network, Algorithm::PowerAware, 2);
        add(name, &network, Algorithm::UpDown, 1);
    }
    add("rows", &flat(&[4, 3], 2, 1), Algorithm::Staged, 2);
    add("rows", &flat(&[3, 5], 1, 1), Algorithm::Staged, 5);
    all
}

/// Connected graphs with parallel links, up to three nodes a router.
pub fn graphs() -> impl Strategy<Value = Network> {
    (2..9u32)
        .prop_flat_map(|routers| {
            let tree = (1..routers).map(|r| 0..r).collect::<Vec<_>>();
            let more = prop::collection::vec((0..routers, 0..routers, 1..4u32), 0..12);
            let nodes = prop::collection::vec(0..routers, 1..3 * routers as usize);
            (Just(routers), tree, more, nodes, 1..4u32)
        })
        .prop_map(|(routers, tree, more, nodes, latency)| {
            let mut edges: Vec<Edge> = (1..)
                .zip(tree)
                .map(|(one, other)| Edge {
                    one,
                    other,
                    latency,
                })
                .collect();
            edges.extend(more.into_iter().filter(|(one, other, _)| one != other).map(
                |(one, other, latency)| Edge {
                    one,
                    other,
                    latency,
                },
            ));
            build(routers, &nodes, &edges).unwrap()
        })
}

pub fn routing(network: &Network, algorithm: Algorithm, vcs: u8) -> Routing {
    Routing::new(network, algorithm, vcs).unwrap()
}

/// Both ends of every port agree, and every node is where it says.
pub fn check_consistent(network: &Network) {
    for (id, port) in (0..).zip(network.ports()) {
        match port.peer {
            Peer::Port(peer) => {
                assert_eq!(network.port(peer).peer, Peer::Port(id));
                assert_eq!(network.port(peer).latency, port.latency);
                assert_ne!(network.port(peer).router, port.router);
            }
            Peer::Node(node) => assert_eq!(network.node_port(node), id),
        }
        assert_eq!(network.port_of(port.router, network.local(id)), id);
    }
}

/// Packets are made, under way or done at any time; once the traffic stops, all arrive and nothing of them stays.
pub fn law_of_packets(
    engine: &mut PacketEngine,
    cycles: [u64; 4],
    most: u32,
) -> Result<(), TestCaseError> {
    engine.measure(true);
    for cycles in cycles {
        engine.advance(cycles);
        let (made, done) = engine.packets();
        prop_assert_eq!(made, done + engine.in_flight());
    }
    engine.stop_traffic();
    for _ in 0..most {
        if engine.measurement().outstanding() == 0 && engine.is_clean() {
            break;
        }
        engine.advance(50);
    }
    prop_assert!(engine.is_clean());
    let (made, done) = engine.packets();
    let measured = engine.measurement().latencies().count();
    prop_assert_eq!((made, measured), (done, done));
    Ok(())
}
