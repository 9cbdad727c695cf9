//! HAN of Open MPI 5.0: within nodes and between them.

use super::{Outcome, run_all};
use proptest::prelude::*;
use replay::collectives::{Algorithm, Collective, Kind, Library, Nodes, algorithm, steps};
use replay::step::Step;
use std::collections::HashMap;
use std::sync::Arc;

/// Bytes of a segment.
const SEGMENT: u64 = 65_536;

const HANDLED: [Kind; 7] = [
    Kind::Barrier,
    Kind::Bcast,
    Kind::Reduce,
    Kind::Allreduce,
    Kind::Gather,
    Kind::Scatter,
    Kind::Allgather,
];

fn call(kind: Kind, nodes: &[u32], bytes: u64) -> Collective {
    Collective {
        nodes: Some(Arc::new(Nodes::new(nodes))),
        ..Collective::new(kind, nodes.len() as u32, bytes)
    }
}

/// Messages and bytes between nodes.
fn between(outcome: &Outcome, nodes: &[u32]) -> (u64, u64) {
    let crossing =
        |&(&(from, to), _): &(&(u32, u32), &(u64, u64))| nodes[from as usize] != nodes[to as usize];
    let pairs = outcome.pairs.iter().filter(crossing);
    pairs.fold((0, 0), |sum, (_, pair)| (sum.0 + pair.0, sum.1 + pair.1))
}

#[test]
fn han_is_for_several_ranks_on_several_nodes() {
    for kind in Kind::ALL {
        let chosen = |nodes: &[u32]| algorithm(Library::OpenMpi50, &call(kind, nodes, 64));
        let flat = algorithm(Library::OpenMpi50, &Collective::new(kind, 4, 64));
        assert_eq!(chosen(&[0, 1, 2, 3]), flat);
        assert_eq!(chosen(&[5, 5, 5, 5]), flat);
        let even = chosen(&[0, 0, 1, 1]);
        assert_eq!(even == Algorithm::Hierarchical, HANDLED.contains(&kind));
        let uneven = chosen(&[0, 0, 0, 1]) == Algorithm::Hierarchical;
        assert_eq!(uneven, [Kind::Barrier, Kind::Allreduce].contains(&kind));
        let ordered = Collective {
            commutative: false,
            ..call(kind, &[0, 0, 1, 1], 64)
        };
        let ordered = algorithm(Library::OpenMpi50, &ordered);
        if [Kind::Reduce, Kind::Allreduce].contains(&kind) {
            assert_ne!(ordered, Algorithm::Hierarchical);
        }
    }
}

#[test]
fn data_cross_to_each_node_once() {
    // Four nodes of six ranks, dealt out in turn.
    let nodes: Vec<u32> = (0..24).map(|rank| rank % 4).collect();
    for (kind, bytes, messages, crossing) in [
        (Kind::Bcast, 1000, 3, 3000),
        (Kind::Bcast, 65_536 * 2 + 8, 9, 3 * (65_536 * 2 + 8)),
        (Kind::Reduce, 8, 3, 24),
        // Halves, then quarters, are exchanged and gathered: 12 + 2 messages, and back to three nodes.
        (Kind::Reduce, 1024, 11, 4 * 512 + 4 * 256 + 2 * 256 + 512),
        (Kind::Allreduce, 8, 6, 48),
        // Bruck and recursive doubling of four: two messages each, three nodes' blocks.
        (Kind::Allgather, 10, 8, 4 * 3 * 60),
    ] {
        let outcome = run_all(Library::OpenMpi50, &call(kind, &nodes, bytes));
        assert_eq!(between(&outcome, &nodes), (messages, crossing), "{kind:?}");
    }
}

/// What Open MPI 4.1.4 sends with HAN before tuned, by pml monitoring: two ranks on each node. Rank, to and bytes.
#[test]
fn nodes_exchange_what_open_mpi_sends() {
    let nodes: Vec<u32> = (0..12).map(|rank| rank / 2).collect();
    let sends = |kind, bytes, rank: u32| {
        let outcome = run_all(Library::OpenMpi50, &call(kind, &nodes, bytes));
        let of_rank = outcome.pairs.iter().filter(|((from, _), _)| *from == rank);
        let mut sends: Vec<_> = of_rank
            .map(|(&(_, to), &(messages, bytes))| (to, messages, bytes))
            .collect();
        sends.sort_unstable();
        sends
    };
    assert_eq!(sends(Kind::Reduce, 8, 10), [(8, 1, 8)]);
    assert_eq!(sends(Kind::Reduce, 8, 8), [(0, 1, 8)]);
    let (whole, half, quarter) = (65_536, 32_768, 16_384);
    assert_eq!(
        sends(Kind::Reduce, whole, 4),
        [(0, 2, 2 * half), (6, 1, half), (10, 1, quarter)]
    );
    assert_eq!(
        sends(Kind::Allreduce, whole, 0),
        [
            (1, 1, whole),
            (2, 2, half + whole),
            (4, 2, half + whole),
            (8, 2, quarter + whole)
        ]
    );
    // The first segment to each node in turn, the second by libnbc's tree, each then within the node.
    assert_eq!(
        sends(Kind::Bcast, 2 * whole, 0),
        [
            (1, 2, 2 * whole),
            (2, 2, 2 * whole),
            (4, 2, 2 * whole),
            (6, 1, whole),
            (8, 2, 2 * whole),
            (10, 1, whole)
        ]
    );
    let pairs: Vec<u32> = (0..8).map(|rank| rank / 4).collect();
    let two = run_all(Library::OpenMpi50, &call(Kind::Reduce, &pairs, whole));
    assert_eq!(two.pairs[&(4, 0)], (8, whole), "a chain of 8 KiB");
}

/// Which ranks begin parts of a call.
fn beginners(call: &Collective) -> Vec<u32> {
    let begins = |&rank: &u32| {
        let mut steps = steps(Library::OpenMpi50, call, rank);
        steps.any(|step| step == Step::Begin)
    };
    (0..call.ranks).filter(begins).collect()
}

#[test]
fn leaders_begin_parts_from_the_second_segment_on() {
    let nodes: Vec<u32> = (0..12).map(|rank| rank / 4).collect();
    for kind in HANDLED {
        let segmented = [Kind::Bcast, Kind::Reduce, Kind::Allreduce].contains(&kind);
        for (bytes, segments) in [(65_535, 1), (65_536, 1), (65_537, 2), (400_000, 7)] {
            let begin = beginners(&call(kind, &nodes, bytes));
            let wanted: &[u32] = if segmented && segments > 1 {
                &[0, 4, 8]
            } else {
                &[]
            };
            assert_eq!(begin, wanted, "{kind:?} of {bytes}");
        }
    }
}

fn placed() -> impl Strategy<Value = Vec<u32>> {
    let even = (2..5u32, 1..7u32).prop_flat_map(|(nodes, each)| {
        let blocks: Vec<u32> = (0..nodes * each).map(|rank| rank / each).collect();
        Just(blocks).prop_shuffle()
    });
    prop_oneof![even, prop::collection::vec(0..4u32, 2..25)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn calls_end_on_all_placements(
        nodes in placed(),
        kind in prop::sample::select(&Kind::ALL[..]),
        root in 0..30u32,
        bytes in prop_oneof![1..100u64, 1..300_000u64],
        commutative in any::<bool>(),
    ) {
        let rooted = [Kind::Bcast, Kind::Reduce, Kind::Gather, Kind::Scatter].contains(&kind);
        let root = if rooted { root % nodes.len() as u32 } else { 0 };
        let call = Collective { root, commutative, ..call(kind, &nodes, bytes) };
        let outcome = run_all(Library::OpenMpi50, &call);
        for (rank, known) in outcome.known.iter().enumerate() {
            let rank = rank as u32;
            for other in 0..call.ranks {
                let needed = match kind {
                    Kind::Bcast | Kind::Scatter => other == root,
                    Kind::Reduce | Kind::Gather => rank == root,
                    Kind::Barrier | Kind::Allreduce | Kind::Allgather => true,
                    _ => false,
                };
                prop_assert!(known.has(other) || !needed, "nothing of {other} reaches {rank}");
            }
        }
        if kind == Kind::Reduce {
            prop_assert_eq!(outcome.combined(), bytes * u64::from(call.ranks - 1));
        }
    }
    /// The segments of a reduce or allreduce send what calls of their own would; of a bcast the first goes by another
    /// algorithm, and all others alike.
    #[test]
    fn segments_send_what_they_would_alone(
        nodes in placed(),
        kind in prop::sample::select(&[Kind::Bcast, Kind::Reduce, Kind::Allreduce][..]),
        full in 1..5u64,
        rest in 1..8192u64,
    ) {
        let pairs = |bytes: u64| run_all(Library::OpenMpi50, &call(kind, &nodes, bytes)).pairs;
        let whole = pairs(full * SEGMENT + 8 * rest);
        let call = call(kind, &nodes, SEGMENT);
        prop_assume!(algorithm(Library::OpenMpi50, &call) == Algorithm::Hierarchical);
        let parts = match kind {
            Kind::Bcast => vec![(1, pairs(SEGMENT + 8 * rest)), (full - 1, pairs(2 * SEGMENT)), (1u64.wrapping_sub(full), pairs(SEGMENT))],
            _ => vec![(full, pairs(SEGMENT)), (1, pairs(8 * rest))],
        };
        let mut summed = HashMap::new();
        for (times, part) in parts {
            for (pair, (messages, bytes)) in part {
                let sum: &mut (u64, u64) = summed.entry(pair).or_default();
                sum.0 = sum.0.wrapping_add(times.wrapping_mul(messages));
                sum.1 = sum.1.wrapping_add(times.wrapping_mul(bytes));
            }
        }
        summed.retain(|_, sum| *sum != (0, 0));
        prop_assert_eq!(whole, summed);
    }
}
