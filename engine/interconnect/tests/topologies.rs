//! Counts of routers, nodes, links, diameter and mean distance, against the formulas of the topologies' papers.

use crate::networks::{check_consistent, flat, graphs, pairs, row_column, torus, trunked};
use interconnect::Network;
use interconnect::topology::graph::{Edge, build};
use interconnect::topology::{Dragonfly, HyperX, Torus, Tree};
use proptest::prelude::*;

/// Routers, nodes, links between routers, diameter in links.
fn counts(network: &Network) -> (u32, u32, usize, u32) {
    check_consistent(network);
    let diameter = (0..network.routers())
        .flat_map(|router| network.distances_from(router))
        .max()
        .unwrap();
    (
        network.routers(),
        network.nodes(),
        network.links().count(),
        diameter,
    )
}

/// Links between the routers of two random nodes, the same node included.
fn mean_distance(network: &Network) -> f64 {
    let total: u64 = (0..network.nodes())
        .map(|node| {
            let distances = network.distances_from(network.router_of(node));
            (0..network.nodes())
                .map(|other| u64::from(distances[network.router_of(other) as usize]))
                .sum::<u64>()
        })
        .sum();
    total as f64 / f64::from(network.nodes()).powi(2)
}

#[test]
fn torus_and_mesh() {
    assert_eq!(counts(&torus(&[4, 4, 4], true)), (64, 64, 192, 6));
    assert_eq!(counts(&torus(&[5, 3], true)), (15, 15, 30, 3));
    assert_eq!(counts(&torus(&[4, 3], false)), (12, 12, 17, 5));
    assert_eq!(counts(&trunked(&[4, 4], true, 3, 2)), (16, 48, 64, 4));
    // Two routers in a ring are joined by two links.
    assert_eq!(counts(&torus(&[2], true)), (2, 2, 2, 1));
    // k/4 a dimension for even k.
    assert_eq!(mean_distance(&torus(&[4, 4, 4], true)), 3.0);
}

#[test]
fn trees() {
    // n·k^(n-1) switches, k^n nodes, (n-1)·k^n links.
    assert_eq!(
        counts(&Tree::k_ary(4, 3).build().unwrap()),
        (48, 64, 128, 4)
    );
    assert_eq!(counts(&Tree::k_ary(2, 4).build().unwrap()), (32, 16, 48, 6));
    // 5k²/4 switches, k³/4 nodes, k³/2 links between switches.
    for k in [4, 8, 24] {
        let network = Tree::three_level(k).unwrap().build().unwrap();
        let (switches, nodes) = (5 * k * k / 4, k * k * k / 4);
        check_consistent(&network);
        assert_eq!((network.routers(), network.nodes()), (switches, nodes));
        assert_eq!(network.links().count() as u32, k * k * k / 2);
        assert!((0..network.routers()).all(|router| network.degree(router) == k));
    }
    // Mean number of links in the 4-ary 3-tree: 2 levels up and down for 3 of 4 nodes, and so on.
    let tree = Tree::k_ary(4, 3).build().unwrap();
    assert_eq!(mean_distance(&tree), (48.0 * 4.0 + 12.0 * 2.0) / 64.0);
}

#[test]
fn dragonflies() {
    // a·p·(a·h + 1) nodes.
    assert_eq!(
        counts(&Dragonfly::balanced(2).build().unwrap()),
        (36, 72, 36 * 5 / 2, 3)
    );
    let bigger = Dragonfly::balanced(4).build().unwrap();
    assert_eq!((bigger.routers(), bigger.nodes()), (264, 1056));
    let row_column = row_column(2);
    // In a group of 3 x 2 a router has 2 + 1 local links, and one global.
    assert_eq!((row_column.routers(), row_column.nodes()), (24, 48));
    assert_eq!(counts(&row_column).2, 24 * 4 / 2);
    // Every pair of groups is joined as often as every other.
    let shape = Dragonfly {
        concentration: 1,
        group: vec![4],
        global: 3,
        groups: 5,
    };
    let network = shape.clone().build().unwrap();
    for one in 0..5 {
        for other in one + 1..5 {
            let joined = network
                .links()
                .filter(|&(a, b)| {
                    let groups = [a, b].map(|p| shape.group_of(network.port(p).router));
                    groups == [one, other] || groups == [other, one]
                })
                .count();
            assert_eq!(joined, 3);
        }
    }
}

#[test]
fn hyperx_and_kin() {
    // TCEP's network: 8 x 8 routers with 8 nodes each, 2 · 8 · 28 links.
    assert_eq!(counts(&flat(&[8, 8], 8, 1)), (64, 512, 448, 2));
    assert_eq!(mean_distance(&flat(&[8, 8], 8, 1)), 1.75);
    assert_eq!(
        counts(&HyperX::complete(6, 3).build().unwrap()),
        (6, 18, 15, 1)
    );
    assert_eq!(
        counts(&flat(&[3, 4, 2], 2, 2)),
        (24, 48, 2 * (8 * 3 + 6 * 6 + 12), 3)
    );
    // Georgakoudis' HyperX has 4,608 nodes.
    let large = flat(&[16, 16], 18, 1);
    assert_eq!((large.routers(), large.nodes()), (256, 4608));
}

#[test]
fn mistakes_are_named() {
    let text = |result: Result<Network, interconnect::SimulationError>| {
        result
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    assert!(text(Torus::cube(1, 2).build()).contains("at least two routers"));
    assert!(text(Tree::three_level(5).and_then(Tree::build)).contains("even"));
    let shape = Dragonfly {
        groups: 4,
        ..Dragonfly::balanced(2)
    };
    assert!(text(shape.build()).contains("share equally"));
    assert!(text(HyperX::complete(60_000, 60_000).build()).contains("exceed"));
    let edge = |one, other| Edge {
        one,
        other,
        latency: 1,
    };
    assert!(text(build(3, &[0], &[edge(0, 1)])).contains("connected"));
    assert!(text(build(2, &[2], &[edge(0, 1)])).contains("missing"));
    assert!(text(build(2, &[0], &[edge(1, 1)])).contains("1-1"));
}

#[test]
fn every_network_of_the_tests_is_consistent() {
    for (_, network, _, _) in pairs() {
        check_consistent(&network);
    }
}

proptest! {
    #[test]
    fn random_graphs_are_consistent(network in graphs()) {
        check_consistent(&network);
    }

    #[test]
    fn random_tori_and_hyperx_are_regular(
        sizes in prop::collection::vec(2..6u32, 1..4),
        concentration in 1..4u32,
        trunk in 1..3u32,
    ) {
        let routers: u32 = sizes.iter().product();
        let ring = trunked(&sizes, true, concentration, trunk);
        let (r, n, links, diameter) = counts(&ring);
        prop_assert_eq!((r, n), (routers, routers * concentration));
        prop_assert_eq!(links as u32, routers * trunk * sizes.len() as u32);
        prop_assert_eq!(diameter, sizes.iter().map(|k| k / 2).sum::<u32>());
        let all = flat(&sizes, concentration, trunk);
        let degree: u32 = sizes.iter().map(|s| s - 1).sum();
        let (r, n, links, diameter) = counts(&all);
        prop_assert_eq!((r, n), (routers, routers * concentration));
        prop_assert_eq!(links as u32, routers * trunk * degree / 2);
        prop_assert_eq!(diameter as usize, sizes.len());
    }
}
