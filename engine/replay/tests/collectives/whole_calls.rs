//! Every call ends, even if each send waits for its receive; its messages match; and its result can be there.

use super::{Everyone, Outcome, run_by, sizes};
use proptest::prelude::*;
use replay::collectives::{Algorithm, Collective, Kind, Library, Shape, algorithm};

const ROOTED: [Kind; 6] = [
    Kind::Bcast,
    Kind::Reduce,
    Kind::Gather,
    Kind::Gatherv,
    Kind::Scatter,
    Kind::Scatterv,
];

/// Whether data of one rank have to reach another.
fn needs(everyone: &Everyone, from: u32, to: u32) -> bool {
    let call = &everyone.call;
    match call.kind {
        Kind::Barrier => true,
        Kind::Bcast | Kind::Scatter => from == call.root && call.bytes > 0,
        Kind::Scatterv => from == call.root && everyone.block(to) > 0,
        Kind::Reduce | Kind::Gather => to == call.root && call.bytes > 0,
        Kind::Gatherv => to == call.root && everyone.block(from) > 0,
        Kind::Scan => from <= to && call.bytes > 0,
        Kind::Exscan => from < to && call.bytes > 0,
        Kind::Allgatherv => everyone.block(from) > 0,
        Kind::ReduceScatter => everyone.block(to) > 0,
        Kind::Alltoallv => everyone.block(from * call.ranks + to) > 0,
        _ => call.bytes > 0,
    }
}

/// Every rank knows all whose data its result has, and reductions combine each vector once.
fn check(everyone: &Everyone, outcome: &Outcome, library: Library) {
    let call = &everyone.call;
    if algorithm(library, call) == Algorithm::NotSent {
        return;
    }
    for (to, known) in outcome.known.iter().enumerate() {
        for from in 0..call.ranks {
            assert!(
                known.has(from) || !needs(everyone, from, to as u32),
                "{library:?} {everyone:?}: nothing of {from} reaches {to}"
            );
        }
    }
    if !matches!(
        call.kind,
        Kind::Reduce
            | Kind::Allreduce
            | Kind::ReduceScatter
            | Kind::ReduceScatterBlock
            | Kind::Scan
            | Kind::Exscan
    ) {
        assert_eq!(outcome.combined(), 0);
    }
    if call.kind == Kind::Reduce {
        assert_eq!(outcome.combined(), u64::from(call.ranks - 1) * call.bytes);
    }
}

fn equal(call: Collective) -> Everyone {
    Everyone { call, sizes: None }
}

/// Of all libraries and operations: on each side of each size at which the algorithm changes.
fn around_thresholds(ranks: u32, most: u64) {
    for library in Library::ALL {
        for kind in Kind::ALL {
            let mut calls = Vec::new();
            let mut before: Option<(u64, Algorithm)> = None;
            for bytes in sizes(ranks, most) {
                let chosen = algorithm(library, &Collective::new(kind, ranks, bytes));
                if before.is_none_or(|(_, other)| other != chosen) {
                    calls.extend(before.map(|(bytes, _)| bytes));
                    calls.extend([bytes, bytes + 1]);
                }
                before = Some((bytes, chosen));
            }
            calls.dedup();
            for bytes in calls {
                let roots: &[u32] = if ROOTED.contains(&kind) {
                    &[0, ranks / 2, ranks - 1]
                } else {
                    &[0]
                };
                for &root in roots {
                    let call = Collective {
                        root,
                        ..Collective::new(kind, ranks, bytes)
                    };
                    let everyone = equal(call);
                    check(&everyone, &everyone.run(library), library);
                }
            }
        }
    }
}

#[test]
fn calls_of_few_ranks_end_at_all_thresholds() {
    for ranks in 1..=40 {
        around_thresholds(ranks, if ranks <= 16 { 1 << 20 } else { 1 << 16 });
    }
}

#[test]
fn calls_of_many_ranks_end_at_thresholds() {
    for ranks in [64, 130] {
        around_thresholds(ranks, 1 << 10);
    }
}

/// Operations and their algorithms.
fn algorithms() -> Vec<(Kind, Vec<Algorithm>)> {
    let trees = [
        Shape::Chain,
        Shape::Binary,
        Shape::Binomial,
        Shape::InOrderBinomial,
        Shape::Knomial,
        Shape::Indexed,
    ];
    let along = |segment| trees.map(|shape| Algorithm::Tree(shape, segment));
    let trees: Vec<Algorithm> = [along(0), along(100)].concat();
    let split = [0, 100].map(|segment| Algorithm::SplitBinary { segment });
    let rings = [0, 8, 100].map(|segment| Algorithm::SegmentedRing { segment });
    use Algorithm::*;
    vec![
        (
            Kind::Barrier,
            vec![Linear, RecursiveDoubling, Bruck, UpAndDown],
        ),
        (
            Kind::Bcast,
            [&trees[..], &split, &[Linear, ScatterAllgather]].concat(),
        ),
        (
            Kind::Reduce,
            [&trees[..], &[Linear, InOrderBinary, Rabenseifner]].concat(),
        ),
        (
            Kind::Allreduce,
            [
                &rings[..],
                &[
                    Linear,
                    NonOverlapping,
                    RecursiveDoubling,
                    Ring,
                    Rabenseifner,
                ],
            ]
            .concat(),
        ),
        (
            Kind::Gather,
            vec![
                Linear,
                Binomial,
                LinearSync { first: 0 },
                LinearSync { first: 100 },
            ],
        ),
        (Kind::Gatherv, vec![Linear]),
        (Kind::Scatter, vec![Linear, Binomial, LinearNonBlocking]),
        (Kind::Scatterv, vec![Linear]),
        (
            Kind::Allgather,
            vec![
                Linear,
                Bruck,
                RecursiveDoubling,
                Ring,
                Neighbour,
                NonOverlapping,
            ],
        ),
        (
            Kind::Allgatherv,
            vec![Linear, Bruck, Ring, Neighbour, NonOverlapping],
        ),
        (
            Kind::Alltoall,
            vec![
                Linear,
                Pairwise,
                Bruck,
                InPlace,
                InPlaceByRank,
                Blocked { at_once: 3 },
            ],
        ),
        (
            Kind::Alltoallv,
            vec![
                Linear,
                Pairwise,
                InPlace,
                InPlaceByRank,
                Blocked { at_once: 3 },
            ],
        ),
        (
            Kind::ReduceScatter,
            vec![NonOverlapping, RecursiveHalving, Ring, Butterfly],
        ),
        (
            Kind::ReduceScatterBlock,
            vec![
                NonOverlapping,
                RecursiveHalving,
                RecursiveDoubling,
                Butterfly,
            ],
        ),
        (Kind::Scan, vec![Linear]),
        (Kind::Exscan, vec![Linear]),
    ]
}

#[test]
fn every_algorithm_ends_whatever_the_ranks() {
    for (kind, known) in algorithms() {
        for algorithm in known {
            for ranks in 2..=34 {
                for bytes in [1, 8, 8 * u64::from(ranks) - 1, 8 * u64::from(ranks), 1000] {
                    let call = Collective {
                        root: if ROOTED.contains(&kind) { ranks / 3 } else { 0 },
                        ..Collective::new(kind, ranks, bytes)
                    };
                    let outcome = run_by(algorithm, &call);
                    // 4.1 leaves no operation out.
                    check(&equal(call), &outcome, Library::OpenMpi41);
                }
            }
        }
    }
}

fn everyone() -> impl Strategy<Value = (Library, Everyone)> {
    let call = (
        prop::sample::select(&Library::ALL[..]),
        prop::sample::select(&Kind::ALL[..]),
        1..50u32,
        0..50u32,
        prop_oneof![0..40u64, 0..5000u64, 0..200_000u64],
        prop::sample::select(&[1, 2, 4, 8, 16][..]),
        any::<(bool, bool)>(),
        prop::collection::vec(prop_oneof![Just(0), 0..40u64, 0..3000u64], 50 * 50),
        any::<bool>(),
    );
    call.prop_map(
        |(library, kind, ranks, root, bytes, element, (in_place, commutative), many, varied)| {
            let root = if ROOTED.contains(&kind) {
                root % ranks
            } else {
                0
            };
            let call = Collective {
                root,
                element,
                commutative,
                in_place,
                ..Collective::new(kind, ranks, bytes)
            };
            let place = |i, j| many[(i * 50 + j) as usize];
            let sizes = match kind {
                // TraceR takes the mean of what a rank sends, and its messages need not match.
                _ if library == Library::Tracer => None,
                Kind::Alltoallv if in_place => {
                    let pairs =
                        (0..ranks).flat_map(|i| (0..ranks).map(move |j| (i.min(j), i.max(j))));
                    Some(pairs.map(|(i, j)| place(i, j)).collect())
                }
                Kind::Alltoallv => {
                    let pairs = (0..ranks).flat_map(|i| (0..ranks).map(move |j| (i, j)));
                    Some(pairs.map(|(i, j)| place(i, j)).collect())
                }
                Kind::Gatherv | Kind::Scatterv | Kind::Allgatherv | Kind::ReduceScatter => {
                    Some((0..ranks).map(|i| place(i, 0)).collect())
                }
                _ => None,
            };
            let sizes = sizes.filter(|_| varied);
            (library, Everyone { call, sizes })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn calls_end_and_their_results_can_be_there((library, everyone) in everyone()) {
        check(&everyone, &everyone.run(library), library);
    }
}
