//! Every routing leads to its destination, over the shortest path where it claims so, and cannot deadlock; where it
//! could, the cycle is named, and it is one.

use crate::networks::{flat, flit_engine, graphs, pairs, routing, torus};
use interconnect::network::Peer;
use interconnect::rng::Rng;
use interconnect::routing::dependency::{Proof, prove};
use interconnect::routing::{Algorithm, Congestion, Header, Routing};
use interconnect::topology::graph::{self, Edge};
use interconnect::topology::{Dragonfly, Tree};
use interconnect::traffic::Pattern;
use interconnect::{Network, RouterParameters};
use proptest::prelude::*;

struct Random(u64);

impl Congestion for Random {
    fn queued(&self, port: u32) -> u32 {
        Rng::new(self.0 ^ u64::from(port)).below(20)
    }
}

/// Links that a packet takes when every choice is random.
fn walk(network: &Network, routing: &Routing, source: u32, dest: u32, rng: &mut Rng) -> u32 {
    let congestion = Random(rng.bits());
    let mut header = routing.start(routing.header(source, dest), &congestion, 2, rng);
    let mut port = network.node_port(source);
    let mut requests = Vec::new();
    for hop in 0..100 {
        let router = network.port(port).router;
        routing.choose((router, port), &header, &congestion, 2, rng, &mut requests);
        let request = requests[rng.below(requests.len() as u32) as usize];
        assert!(request.first_vc <= request.last_vc && request.last_vc < routing.vcs());
        assert_eq!(network.port(request.port).router, router);
        header = Header {
            phase: request.phase,
            via: request.via,
            ..header
        };
        match network.port(request.port).peer {
            Peer::Node(node) => {
                assert_eq!(node, dest);
                return hop;
            }
            Peer::Port(next) => port = next,
        }
    }
    panic!("no arrival from {source} at {dest}");
}

#[test]
fn packets_arrive_over_the_shortest_path() {
    let mut rng = Rng::new(1);
    for (name, network, algorithm, vcs) in pairs() {
        let routing = routing(&network, algorithm, vcs);
        let diameter = *network.distances_from(0).iter().max().unwrap();
        let most = |least: u32| match algorithm {
            Algorithm::Ugal => 2 * diameter,
            Algorithm::Progressive => 2 * least,
            // Over the hub as well, as `walk` takes any request.
            Algorithm::PowerAware => 3 * least,
            // A global link, and before and behind it a hop in each of the group's dimensions.
            Algorithm::DragonflyMinimal => {
                if name.starts_with("row") {
                    5
                } else {
                    3
                }
            }
            Algorithm::DragonflyUgal => {
                if name.starts_with("row") {
                    8
                } else {
                    5
                }
            }
            Algorithm::UpDown => network.routers(),
            _ => least,
        };
        for source in 0..network.nodes() {
            let distances = network.distances_from(network.router_of(source));
            for dest in 0..network.nodes() {
                let least = distances[network.router_of(dest) as usize];
                let hops = walk(&network, &routing, source, dest, &mut rng);
                assert!(
                    hops >= least && hops <= most(least),
                    "{name}: {hops} links from {source} to {dest}, shortest {least}"
                );
            }
        }
    }
}

#[test]
fn no_routing_of_the_table_can_deadlock() {
    for (name, network, algorithm, vcs) in pairs() {
        let proof = prove(&network, &routing(&network, algorithm, vcs));
        let Proof::Acyclic {
            channels,
            dependencies,
        } = proof
        else {
            panic!("{name}: {proof:?}");
        };
        // Where one link is the whole way, no packet holds one and waits for another.
        assert!(channels > 0, "{name}");
        assert!(dependencies > 0 || name.starts_with("complete"), "{name}");
    }
}

/// Virtual channels of two links after one another are a cycle if each ends where the next begins.
fn check_cycle(network: &Network, proof: &Proof) {
    let Proof::Cycle(cycle) = proof else {
        panic!("no cycle: {proof:?}");
    };
    assert!(cycle.len() > 1);
    for (one, next) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
        let Peer::Port(end) = network.port(one.port).peer else {
            panic!("a node holds no channel");
        };
        assert_eq!(network.port(end).router, network.port(next.port).router);
    }
}

#[test]
fn a_cycle_is_named() {
    // All virtual channels of a ring without a dateline: shortest paths with one virtual channel.
    let ring = torus(&[5], true);
    check_cycle(
        &ring,
        &prove(&ring, &routing(&ring, Algorithm::Shortest, 1)),
    );
    // The dragonfly needs a virtual channel a hop, if they are counted: three, not two.
    let dragonfly = Dragonfly::balanced(2).build().unwrap();
    let two = routing(&dragonfly, Algorithm::Shortest, 2);
    check_cycle(&dragonfly, &prove(&dragonfly, &two));
    let three = prove(&dragonfly, &routing(&dragonfly, Algorithm::Shortest, 3));
    assert!(matches!(three, Proof::Acyclic { .. }));
}

#[test]
fn dependencies_of_a_ring_are_those_counted_by_hand() {
    // Four routers; a packet takes one or two links, upwards or downwards. From router r upwards to r + 1 and to r + 2:
    // behind the dateline (half 1) the links 2-3 and 3-0 from router 2, 3-0 and 0-1 from router 3.
    let ring = torus(&[4], true);
    let proof = prove(&ring, &routing(&ring, Algorithm::DimensionOrder, 2));
    // Upwards half 0: links 0, 1, 2 with 0-1 and 1-2; half 1: links 2, 3, 0 with 2-3 and 3-0. Downwards alike.
    assert_eq!(
        proof,
        Proof::Acyclic {
            channels: 12,
            dependencies: 8
        }
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let refused = |network: &Network, algorithm, vcs| {
        Routing::new(network, algorithm, vcs)
            .unwrap_err()
            .to_string()
    };
    let ring = torus(&[4], true);
    assert!(refused(&ring, Algorithm::DimensionOrder, 1).contains("at least 2"));
    assert!(refused(&ring, Algorithm::MinimalAdaptive, 2).contains("at least 3"));
    assert!(refused(&ring, Algorithm::Ugal, 4).contains("does not work on a torus"));
    assert!(refused(&ring, Algorithm::UpDown, 0).contains("1 to 64"));
    assert!(refused(&flat(&[4], 1, 1), Algorithm::Ugal, 1).contains("at least 2"));
    assert!(
        Algorithm::named("dijkstra")
            .unwrap_err()
            .to_string()
            .contains("known are dor")
    );
    for (name, algorithm) in Algorithm::ALL {
        assert_eq!(Algorithm::named(name), Ok(algorithm));
        assert_eq!(algorithm.name(), name);
    }
}

#[test]
fn trees_spread_over_all_parents() {
    let network = Tree::k_ary(4, 2).build().unwrap();
    let by_destination = routing(&network, Algorithm::TreeByDestination, 1);
    let at_random = routing(&network, Algorithm::TreeRandom, 1);
    let port = network.node_port(0);
    let mut out = Vec::new();
    let mut taken = Vec::new();
    for dest in 4..8 {
        by_destination.requests(0, port, &by_destination.header(0, dest), &mut out);
        taken.extend(out.iter().map(|request| request.port));
        at_random.requests(0, port, &at_random.header(0, dest), &mut out);
        assert_eq!(out.len(), 4);
    }
    taken.sort_unstable();
    taken.dedup();
    assert_eq!(taken.len(), 4);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn up_down_works_on_any_graph(network in graphs(), seed in any::<u64>()) {
        let routing = routing(&network, Algorithm::UpDown, 1);
        let proof = prove(&network, &routing);
        prop_assert!(matches!(proof, Proof::Acyclic { .. }), "{proof:?}");
        let mut rng = Rng::new(seed);
        for dest in 0..network.nodes() {
            walk(&network, &routing, 0, dest, &mut rng);
        }
    }

    #[test]
    fn shortest_paths_with_a_channel_a_hop_work_on_any_graph(network in graphs(), seed in any::<u64>()) {
        let routing = routing(&network, Algorithm::Shortest, 8);
        let proof = prove(&network, &routing);
        prop_assert!(matches!(proof, Proof::Acyclic { .. }), "{proof:?}");
        let mut rng = Rng::new(seed);
        for source in 0..network.nodes() {
            let distances = network.distances_from(network.router_of(source));
            for dest in 0..network.nodes() {
                let hops = walk(&network, &routing, source, dest, &mut rng);
                prop_assert_eq!(hops, distances[network.router_of(dest) as usize]);
            }
        }
    }

    #[test]
    fn dimension_order_works_on_any_torus(
        radix in prop::collection::vec(2..6u32, 1..4),
        wraps in any::<bool>(),
    ) {
        let network = torus(&radix, wraps);
        for (algorithm, vcs) in [(Algorithm::DimensionOrder, 2), (Algorithm::MinimalAdaptive, 3)] {
            let proof = prove(&network, &routing(&network, algorithm, vcs));
            prop_assert!(matches!(proof, Proof::Acyclic { .. }), "{proof:?}");
        }
    }
}

#[test]
fn a_dragonfly_takes_each_of_the_links_between_two_groups_and_no_other() {
    let network = Dragonfly {
        concentration: 1,
        group: vec![4],
        global: 4,
        groups: 3,
    }
    .build()
    .unwrap();
    let routing = routing(&network, Algorithm::DragonflyMinimal, 2);
    let mut rng = Rng::new(4);
    let (mut every, mut found) = (Vec::new(), Vec::new());
    for (source, dest) in (0..12).flat_map(|source| (0..12).map(move |dest| (source, dest))) {
        let header = routing.header(source, dest);
        let at = network.node_port(source);
        routing.requests(source, at, &header, &mut every);
        let mut seen = Vec::new();
        for _ in 0..40 * every.len() {
            routing.choose((source, at), &header, &Random(1), 2, &mut rng, &mut found);
            let [one] = found[..] else {
                panic!("{found:?} from {source} to {dest}");
            };
            if !seen.contains(&one) {
                seen.push(one);
            }
        }
        every.dedup();
        assert!(
            every.iter().all(|one| seen.contains(one)),
            "{source} {dest}"
        );
        assert!(
            seen.iter().all(|one| every.contains(one)),
            "{source} {dest}"
        );
    }
}

#[test]
fn adaptive_traffic_on_an_even_torus_goes_both_ways_alike() {
    for algorithm in [Algorithm::MinimalAdaptive, Algorithm::MinimalAwake] {
        for radix in [vec![8], vec![4, 4]] {
            let network = torus(&radix, true);
            let parameters = RouterParameters {
                vcs: 4,
                ..RouterParameters::default()
            };
            let mut engine =
                flit_engine(&network, algorithm, &Pattern::Uniform, parameters, 0.3, 11);
            engine.advance(20_000);
            for dimension in 0..radix.len() as u32 {
                let sent = |way: u32| -> u64 {
                    let local = 1 + 2 * dimension + way;
                    let ports = (0..network.routers()).map(|router| network.port_of(router, local));
                    ports.map(|port| engine.sent(port)).sum()
                };
                let [up, down] = [sent(0), sent(1)].map(|flits| flits as f64);
                assert!(
                    (up / down - 1.0).abs() < 0.03,
                    "{algorithm:?}, {radix:?}: {up} {down}"
                );
            }
        }
    }
}

/// Flits a node and cycle that are accepted, links that a packet takes, and its latency.
fn carried(
    network: &Network,
    (algorithm, vcs): (Algorithm, u8),
    pattern: &Pattern,
    load: f64,
) -> [f64; 3] {
    let parameters = RouterParameters {
        vcs,
        ..RouterParameters::default()
    };
    let mut engine = flit_engine(network, algorithm, pattern, parameters, load, 5);
    engine.advance(2_000);
    let found = engine.advance(4_000);
    let accepted = found.flits as f64 / f64::from(network.nodes()) / 4_000.0;
    let packets = found.packets as f64;
    [
        accepted,
        found.hops as f64 / packets,
        found.latency as f64 / packets,
    ]
}

#[test]
fn detours_of_a_dragonfly_carry_what_its_minimal_ways_cannot_and_are_few_without_need() {
    let network = Dragonfly::balanced(2).build().unwrap();
    let [minimal, detours] = [Algorithm::DragonflyMinimal, Algorithm::DragonflyUgal];
    // Eight nodes of a group send over the one link to the next group: 1/8 at most.
    let worst = Pattern::NextGroup { size: 8 };
    let [by_minimal, ..] = carried(&network, (minimal, 6), &worst, 0.4);
    let [by_detours, ..] = carried(&network, (detours, 6), &worst, 0.4);
    assert!(by_minimal < 0.13, "{by_minimal}");
    assert!(by_detours > 0.3, "{by_detours}");
    let [_, least, _] = carried(&network, (minimal, 6), &Pattern::Uniform, 0.05);
    let [_, hops, _] = carried(&network, (detours, 6), &Pattern::Uniform, 0.05);
    assert!(hops < 1.02 * least, "{hops} {least}");
}

#[test]
fn adaptive_ways_up_a_tree_carry_more_than_fixed_ones_and_sooner_than_random_ones() {
    let network = Tree::k_ary(4, 3).build().unwrap();
    let found =
        |algorithm, pattern: &Pattern, load| carried(&network, (algorithm, 4), pattern, load);
    let [fixed, ..] = found(Algorithm::TreeByDestination, &Pattern::BitReversal, 0.9);
    let [adaptive, ..] = found(Algorithm::TreeAdaptive, &Pattern::BitReversal, 0.9);
    assert!(adaptive > 0.89 && fixed < 0.5, "{adaptive} {fixed}");
    let [.., random] = found(Algorithm::TreeRandom, &Pattern::Uniform, 0.8);
    let [.., adaptive] = found(Algorithm::TreeAdaptive, &Pattern::Uniform, 0.8);
    assert!(adaptive < random, "{adaptive} {random}");
}

/// Three routers in a triangle with a node each. Nodes 0 and 1 send over router 1, node 2 over router 0.
fn triangle(of_node: Vec<u32>, second: Vec<u32>) -> Result<Network, interconnect::SimulationError> {
    let edges = [(0, 1), (1, 2), (2, 0)].map(|(one, other)| Edge {
        one,
        other,
        latency: 1,
    });
    graph::build_with_trees(3, &[0, 1, 2], &edges, &[vec![0, 1], second], of_node)
}

#[test]
fn packets_stay_in_the_tree_of_the_node_that_sent_them() {
    let network = triangle(vec![0, 0, 1], vec![2, 0]).unwrap();
    let routing = routing(&network, Algorithm::GivenTrees, 2);
    let mut rng = Rng::new(1);
    let hops: Vec<u32> = [(0, 1), (0, 2), (1, 2), (2, 0), (2, 1)]
        .iter()
        .map(|&(source, dest)| walk(&network, &routing, source, dest, &mut rng))
        .collect();
    assert_eq!(hops, [1, 2, 1, 1, 2]);
    assert!(matches!(prove(&network, &routing), Proof::Acyclic { .. }));
}

#[test]
fn trees_that_do_not_fit_are_refused() {
    let message = |of_node, second| triangle(of_node, second).unwrap_err().to_string();
    assert!(message(vec![0, 0], vec![2]).contains("each node needs one of the trees"));
    assert!(message(vec![0, 0, 2], vec![2]).contains("each node needs one of the trees"));
    assert!(message(vec![0, 0, 1], vec![3]).contains("a link that does not exist"));
    let apart = triangle(vec![0, 0, 1], vec![2]).unwrap();
    let refused = Routing::new(&apart, Algorithm::GivenTrees, 2).unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("the tree of node 2 does not reach node 1")
    );
    let without = graph::build(1, &[0, 0], &[]).unwrap();
    let refused = Routing::new(&without, Algorithm::GivenTrees, 1).unwrap_err();
    assert!(refused.to_string().contains("has no trees"));
}
