//! Messages and bytes against the closed forms of the algorithms.

use super::{Outcome, run_all, run_by, sends};
use replay::collectives::{Algorithm, Collective, Kind, Library, Shape};

const BLOCK: u64 = 48;

fn by(algorithm: Algorithm, kind: Kind, ranks: u32, bytes: u64) -> Outcome {
    run_by(algorithm, &Collective::new(kind, ranks, bytes))
}

fn log2_up(ranks: u32) -> u64 {
    u64::from(ranks.next_power_of_two().ilog2())
}

/// All ranks send so many messages and bytes.
fn each(outcome: &Outcome, messages: u64, bytes: u64) {
    assert!(
        outcome.sent.iter().all(|&sent| sent == (messages, bytes)),
        "{:?} is not {messages}, {bytes}",
        outcome.sent
    );
}

#[test]
fn barriers() {
    for ranks in 2..70 {
        let others = u64::from(ranks - 1);
        each(
            &by(Algorithm::Bruck, Kind::Barrier, ranks, 0),
            log2_up(ranks),
            0,
        );
        for algorithm in [Algorithm::Linear, Algorithm::UpAndDown] {
            assert_eq!(
                by(algorithm, Kind::Barrier, ranks, 0).messages(),
                2 * others
            );
        }
        if ranks.is_power_of_two() {
            each(
                &by(Algorithm::RecursiveDoubling, Kind::Barrier, ranks, 0),
                log2_up(ranks),
                0,
            );
        }
    }
}

#[test]
fn a_bcast_or_reduce_along_a_tree_has_a_message_an_edge_and_segment() {
    for shape in [
        Shape::Chain,
        Shape::Binary,
        Shape::Binomial,
        Shape::InOrderBinomial,
        Shape::Knomial,
        Shape::Indexed,
    ] {
        for ranks in 2..70 {
            let others = u64::from(ranks - 1);
            for kind in [Kind::Bcast, Kind::Reduce] {
                let whole = by(Algorithm::Tree(shape, 0), kind, ranks, 1000);
                assert_eq!((whole.messages(), whole.bytes()), (others, 1000 * others));
                // 125 elements of 8 bytes in segments of 12.
                let cut = by(Algorithm::Tree(shape, 100), kind, ranks, 1000);
                assert_eq!((cut.messages(), cut.bytes()), (11 * others, 1000 * others));
            }
        }
    }
}

#[test]
fn roots_of_trees() {
    for ranks in 2..70 {
        let at_root = |shape| by(Algorithm::Tree(shape, 0), Kind::Bcast, ranks, 8).sent[0].0;
        assert_eq!(at_root(Shape::Chain), 1);
        assert_eq!(at_root(Shape::Binomial), log2_up(ranks));
        assert_eq!(at_root(Shape::InOrderBinomial), log2_up(ranks));
        assert!(at_root(Shape::Binary) <= 2);
        assert!(at_root(Shape::Knomial) <= 3 * log2_up(ranks).div_ceil(2));
    }
    let knomial = by(Algorithm::Tree(Shape::Knomial, 0), Kind::Bcast, 64, 8);
    assert_eq!(knomial.sent[0].0, 9);
    let indexed = by(Algorithm::Tree(Shape::Indexed, 0), Kind::Bcast, 9, 8);
    assert_eq!(
        indexed.sent.iter().map(|sent| sent.0).collect::<Vec<_>>(),
        [2, 2, 2, 2, 0, 0, 0, 0, 0]
    );
}

#[test]
fn allreduces() {
    for ranks in 2..40u32 {
        let (all, n) = (u64::from(ranks), 8 * u64::from(ranks) * 60);
        // A ring moves and combines the least.
        for algorithm in [Algorithm::Ring, Algorithm::SegmentedRing { segment: 0 }] {
            let ring = by(algorithm, Kind::Allreduce, ranks, n);
            each(&ring, 2 * (all - 1), 2 * (all - 1) * n / all);
            assert_eq!(ring.combined(), (all - 1) * n);
        }
        // Blocks of 60 elements in segments of 12.
        let cut = by(
            Algorithm::SegmentedRing { segment: 96 },
            Kind::Allreduce,
            ranks,
            n,
        );
        each(&cut, 6 * (all - 1), 2 * (all - 1) * n / all);
        let doubling = by(Algorithm::RecursiveDoubling, Kind::Allreduce, ranks, n);
        let left = 1u64 << ranks.ilog2();
        let surplus = all - left;
        let exchanges = left * u64::from(ranks.ilog2());
        assert_eq!(doubling.messages(), exchanges + 2 * surplus);
        assert_eq!(doubling.bytes(), n * doubling.messages());
        assert_eq!(doubling.combined(), n * (exchanges + surplus));
        let halving = by(Algorithm::Rabenseifner, Kind::Allreduce, ranks, n);
        assert_eq!(halving.combined(), (all - 1) * n);
        if surplus == 0 && n % all == 0 {
            assert_eq!(halving.messages(), 2 * exchanges);
            assert_eq!(halving.bytes(), 2 * (all - 1) * n);
        }
        let linear = by(Algorithm::Linear, Kind::Allreduce, ranks, n);
        assert_eq!(
            (linear.messages(), linear.combined()),
            (2 * (all - 1), (all - 1) * n)
        );
    }
}

#[test]
fn allgathers_move_each_block_to_each_rank_once() {
    for ranks in 2..70 {
        let others = u64::from(ranks - 1);
        for (algorithm, messages) in [
            (Algorithm::Ring, others),
            (Algorithm::Bruck, log2_up(ranks)),
            (Algorithm::RecursiveDoubling, log2_up(ranks)),
            (
                Algorithm::Neighbour,
                if ranks % 2 == 0 {
                    u64::from(ranks / 2)
                } else {
                    others
                },
            ),
            (Algorithm::Linear, others),
        ] {
            each(
                &by(algorithm, Kind::Allgather, ranks, BLOCK),
                messages,
                others * BLOCK,
            );
        }
    }
}

#[test]
fn alltoalls() {
    for ranks in 2..70 {
        let others = u64::from(ranks - 1);
        for algorithm in [
            Algorithm::Linear,
            Algorithm::Pairwise,
            Algorithm::InPlace,
            Algorithm::InPlaceByRank,
            Algorithm::Blocked { at_once: 32 },
        ] {
            let outcome = by(algorithm, Kind::Alltoall, ranks, BLOCK);
            each(&outcome, others, others * BLOCK);
            assert!(outcome.pairs.values().all(|&pair| pair == (1, BLOCK)));
        }
        // A block whose index has k bits travels k times.
        let hops: u32 = (0..ranks).map(u32::count_ones).sum();
        let bruck = by(Algorithm::Bruck, Kind::Alltoall, ranks, BLOCK);
        each(&bruck, log2_up(ranks), u64::from(hops) * BLOCK);
    }
}

#[test]
fn gathers_and_scatters() {
    for ranks in 2..70u32 {
        let others = u64::from(ranks - 1);
        // A block moves once for each bit of its rank.
        let hops: u32 = (0..ranks).map(u32::count_ones).sum();
        for kind in [Kind::Gather, Kind::Scatter] {
            let tree = by(Algorithm::Binomial, kind, ranks, BLOCK);
            assert_eq!(
                (tree.messages(), tree.bytes()),
                (others, u64::from(hops) * BLOCK)
            );
            let linear = by(Algorithm::Linear, kind, ranks, BLOCK);
            assert_eq!(
                (linear.messages(), linear.bytes()),
                (others, others * BLOCK)
            );
        }
        let parts = by(
            Algorithm::LinearSync { first: 16 },
            Kind::Gather,
            ranks,
            BLOCK,
        );
        assert_eq!(
            (parts.messages(), parts.bytes()),
            (3 * others, others * BLOCK)
        );
    }
    // 8 ranks: 0 sends to 4, 2, 1, and 4 to 6, 5.
    let call = Collective::new(Kind::Scatter, 8, BLOCK);
    assert_eq!(
        sends(Library::Tracer, &call, 0),
        [(4, 4 * BLOCK), (2, 2 * BLOCK), (1, BLOCK)]
    );
    assert_eq!(
        sends(Library::Tracer, &call, 4),
        [(6, 2 * BLOCK), (5, BLOCK)]
    );
}

#[test]
fn reduce_scatters_combine_each_vector_once() {
    for ranks in 2..70u32 {
        let (others, total) = (u64::from(ranks - 1), u64::from(ranks) * BLOCK);
        for kind in [Kind::ReduceScatter, Kind::ReduceScatterBlock] {
            let bytes = if kind == Kind::ReduceScatter {
                total
            } else {
                BLOCK
            };
            for algorithm in [
                Algorithm::RecursiveHalving,
                Algorithm::Butterfly,
                Algorithm::Ring,
            ] {
                assert_eq!(by(algorithm, kind, ranks, bytes).combined(), others * total);
            }
            each(
                &by(Algorithm::Ring, kind, ranks, bytes),
                others,
                others * BLOCK,
            );
            if ranks.is_power_of_two() {
                each(
                    &by(Algorithm::RecursiveHalving, kind, ranks, bytes),
                    log2_up(ranks),
                    others * BLOCK,
                );
            }
        }
        if ranks.is_power_of_two() {
            // What a partner does not need is not sent: all but 1, 2, 4 … blocks.
            let doubling = by(
                Algorithm::RecursiveDoubling,
                Kind::ReduceScatterBlock,
                ranks,
                BLOCK,
            );
            each(
                &doubling,
                log2_up(ranks),
                log2_up(ranks) * total - others * BLOCK,
            );
        }
    }
}

#[test]
fn scatter_allgather_of_bcast() {
    for ranks in [2u32, 4, 8, 16, 32] {
        let all = u64::from(ranks);
        let n = 8 * all * 10;
        let outcome = by(Algorithm::ScatterAllgather, Kind::Bcast, ranks, n);
        let rounds = log2_up(ranks);
        assert_eq!(outcome.messages(), all - 1 + all * rounds);
        // Each round of the scatter moves half of everything, and the allgather all but the own block to each rank.
        assert_eq!(outcome.bytes(), rounds * n / 2 + (all - 1) * n);
    }
}

#[test]
fn split_binary_moves_everything_once() {
    for ranks in 3..70 {
        for segment in [0, 100] {
            let outcome = by(Algorithm::SplitBinary { segment }, Kind::Bcast, ranks, 1600);
            assert_eq!(outcome.bytes(), 1600 * u64::from(ranks - 1));
        }
    }
}

#[test]
fn tracer_s_trees_and_sizes() {
    let tracer =
        |kind, ranks, bytes| run_all(Library::Tracer, &Collective::new(kind, ranks, bytes));
    for ranks in 2..40u32 {
        let others = u64::from(ranks - 1);
        let barrier = tracer(Kind::Barrier, ranks, 0);
        assert_eq!((barrier.messages(), barrier.bytes()), (2 * others, 0));
        let allreduce = tracer(Kind::Allreduce, ranks, 8);
        assert_eq!(
            (allreduce.messages(), allreduce.bytes()),
            (2 * others, 16 * others)
        );
        let half = BLOCK * u64::from(ranks) / 2;
        each(
            &tracer(Kind::Alltoall, ranks, BLOCK),
            log2_up(ranks),
            half * log2_up(ranks),
        );
        let doubled = BLOCK * ((1 << log2_up(ranks)) - 1);
        each(
            &tracer(Kind::Allgather, ranks, BLOCK),
            log2_up(ranks),
            doubled,
        );
    }
    assert_eq!(tracer(Kind::Gather, 9, 8).messages(), 0);
}
