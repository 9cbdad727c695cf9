//! Cells of the tables and rules, read from the sources by hand.

use replay::collectives::{Algorithm, Collective, Kind, Library, Shape, algorithm};

const K: u64 = 1024;
const M: u64 = K * K;

fn tree(shape: Shape) -> Algorithm {
    Algorithm::Tree(shape, 0)
}

fn chosen(library: Library, kind: Kind, ranks: u32, bytes: u64) -> Algorithm {
    algorithm(library, &Collective::new(kind, ranks, bytes))
}

/// One below and at a limit.
fn changes(library: Library, kind: Kind, ranks: u32, bytes: u64) -> (Algorithm, Algorithm) {
    (
        chosen(library, kind, ranks, bytes - 1),
        chosen(library, kind, ranks, bytes),
    )
}

#[test]
fn tables_of_open_mpi_41() {
    use Algorithm::*;
    let ring = SegmentedRing { segment: 0 };
    let parts = LinearSync { first: 0 };
    let (bin, chain) = (tree(Shape::Binary), tree(Shape::Chain));
    let (binomial, knomial) = (tree(Shape::Binomial), tree(Shape::Knomial));
    let in_order = tree(Shape::InOrderBinomial);
    for (kind, ranks, bytes, below, from) in [
        (Kind::Allreduce, 3, 64 * K, Ring, ring),
        (Kind::Allreduce, 7, 16, Ring, RecursiveDoubling),
        (Kind::Allreduce, 8, 8 * K, RecursiveDoubling, Rabenseifner),
        (Kind::Allreduce, 31, 64, ring, RecursiveDoubling),
        (Kind::Allreduce, 32, 128, ring, Rabenseifner),
        (
            Kind::Allreduce,
            255,
            128 * K,
            NonOverlapping,
            RecursiveDoubling,
        ),
        (Kind::Allreduce, 4096, 2 * K, NonOverlapping, ring),
        (Kind::Bcast, 2, 32, chain, bin),
        (Kind::Bcast, 3, M, binomial, bin),
        (Kind::Bcast, 16, M, binomial, ScatterAllgather),
        (Kind::Bcast, 63, 2 * K, binomial, knomial),
        (
            Kind::Bcast,
            256,
            16 * K,
            knomial,
            SplitBinary { segment: 0 },
        ),
        (Kind::Bcast, 5000, 256 * K, knomial, ScatterAllgather),
        (Kind::Reduce, 3, 8, Rabenseifner, bin),
        (Kind::Reduce, 4, 512 * K, Linear, in_order),
        (Kind::Reduce, 300, 8 * K, in_order, InOrderBinary),
        (Kind::Alltoall, 2, 2, Pairwise, TwoRanks),
        (Kind::Alltoall, 31, 4, Linear, Bruck),
        (Kind::Alltoall, 64, 256 * K, Linear, Pairwise),
        (Kind::Alltoall, 4096, 2 * K, Bruck, Linear),
        (Kind::Allgather, 32, K, RecursiveDoubling, Neighbour),
        (Kind::Allgather, 511, 128 * K, Neighbour, Ring),
        (Kind::Allgather, 4096, 2, RecursiveDoubling, Bruck),
        (Kind::Allgatherv, 2, 2 * K, Ring, TwoRanks),
        (Kind::Allgatherv, 16, 128, NonOverlapping, Bruck),
        (Kind::Allgatherv, 600, M, Neighbour, Ring),
        (Kind::Gather, 2, 128 * K, Binomial, parts),
        (Kind::Gather, 500, 8 * K, Linear, Binomial),
        (Kind::Scatter, 4, 32 * K, Linear, LinearNonBlocking),
        (Kind::Scatter, 63, 8 * K, LinearNonBlocking, Binomial),
        (Kind::ReduceScatter, 4, 8, NonOverlapping, RecursiveHalving),
        (Kind::ReduceScatter, 33, 512 * K, Butterfly, Ring),
        (
            Kind::ReduceScatterBlock,
            2,
            128 * K,
            Butterfly,
            NonOverlapping,
        ),
        (
            Kind::ReduceScatterBlock,
            100,
            4,
            RecursiveHalving,
            NonOverlapping,
        ),
    ] {
        for library in [Library::OpenMpi41, Library::OpenMpi50] {
            let found = changes(library, kind, ranks, bytes);
            assert_eq!(found, (below, from), "{kind:?} of {ranks} at {bytes}");
        }
    }
    for (ranks, barrier, alltoallv) in [
        (2, RecursiveDoubling, Pairwise),
        (4, Linear, Linear),
        (63, RecursiveDoubling, Linear),
        (64, Bruck, Pairwise),
        (256, UpAndDown, Pairwise),
        (600, Bruck, Pairwise),
        (1024, UpAndDown, Linear),
        (4096, Bruck, Linear),
    ] {
        assert_eq!(chosen(Library::OpenMpi41, Kind::Barrier, ranks, 0), barrier);
        assert_eq!(
            chosen(Library::OpenMpi41, Kind::Alltoallv, ranks, 64),
            alltoallv
        );
    }
}

#[test]
fn operations_that_do_not_commute_have_tables_of_their_own() {
    let chosen = |library, kind, ranks, bytes| {
        let call = Collective {
            commutative: false,
            ..Collective::new(kind, ranks, bytes)
        };
        algorithm(library, &call)
    };
    use Algorithm::*;
    for (kind, ranks, bytes, expected) in [
        (Kind::Allreduce, 3, 128 * K, Linear),
        (Kind::Allreduce, 8, M, NonOverlapping),
        (Kind::Allreduce, 512, 2 * K, RecursiveDoubling),
        (Kind::Reduce, 2, 7, InOrderBinary),
        (Kind::Reduce, 8, 16 * K, Linear),
        (Kind::Reduce, 200, 512, Linear),
        (Kind::Reduce, 200, K, InOrderBinary),
        (Kind::ReduceScatter, 9, 64, NonOverlapping),
        (Kind::ReduceScatterBlock, 9, 64, NonOverlapping),
    ] {
        assert_eq!(chosen(Library::OpenMpi41, kind, ranks, bytes), expected);
    }
    assert_eq!(chosen(Library::OpenMpi40, Kind::Reduce, 11, 2047), Linear);
    assert_eq!(
        chosen(Library::OpenMpi40, Kind::Reduce, 12, 2047),
        InOrderBinary
    );
    assert_eq!(
        chosen(Library::OpenMpi40, Kind::Allreduce, 12, 10_000),
        NonOverlapping
    );
}

#[test]
fn rules_of_open_mpi_40() {
    use Algorithm::*;
    let chain = |kib: u64| Tree(Shape::Chain, kib * K);
    let in_order = |kib: u64| Tree(Shape::InOrderBinomial, kib * K);
    for (kind, ranks, bytes, below, from) in [
        (Kind::Allreduce, 4, 10_000, RecursiveDoubling, Ring),
        (
            Kind::Allreduce,
            4,
            4 * M + 1,
            Ring,
            SegmentedRing { segment: M },
        ),
        (Kind::Alltoall, 13, 200, Bruck, Linear),
        (Kind::Alltoall, 13, 3000, Linear, Pairwise),
        (
            Kind::Bcast,
            8,
            2048,
            tree(Shape::Binomial),
            SplitBinary { segment: K },
        ),
        (
            Kind::Bcast,
            12,
            370_728,
            SplitBinary { segment: K },
            SplitBinary { segment: 8 * K },
        ),
        (
            Kind::Bcast,
            2,
            370_728,
            SplitBinary { segment: K },
            chain(128),
        ),
        (
            Kind::Bcast,
            13,
            370_728,
            SplitBinary { segment: K },
            chain(8),
        ),
        (Kind::Reduce, 7, 512, Linear, in_order(0)),
        (Kind::Reduce, 8, 2048, in_order(0), in_order(1)),
        (Kind::Gather, 11, 1024, Binomial, Linear),
        (Kind::Gather, 11, 6001, Linear, LinearSync { first: K }),
        (
            Kind::Gather,
            11,
            92_161,
            LinearSync { first: K },
            LinearSync { first: 32 * K },
        ),
        (Kind::Scatter, 11, 300, Binomial, Linear),
        (Kind::Allgather, 4, 12_500, RecursiveDoubling, Neighbour),
        (Kind::Allgather, 5, 10_000, Bruck, Ring),
        (Kind::Allgatherv, 4, 12_500, Bruck, Neighbour),
        (Kind::ReduceScatter, 6, 12 * K + 1, RecursiveHalving, Ring),
        (Kind::ReduceScatter, 8, 256 * K + 1, RecursiveHalving, Ring),
    ] {
        let found = changes(Library::OpenMpi40, kind, ranks, bytes);
        assert_eq!(found, (below, from), "{kind:?} of {ranks} at {bytes}");
    }
    let barrier = |ranks| chosen(Library::OpenMpi40, Kind::Barrier, ranks, 0);
    assert_eq!(
        [2, 3, 8, 9].map(barrier),
        [TwoRanks, Bruck, RecursiveDoubling, Bruck]
    );
    // One element is never cut.
    let one = Collective {
        element: 4096,
        ..Collective::new(Kind::Bcast, 8, 4096)
    };
    assert_eq!(algorithm(Library::OpenMpi40, &one), tree(Shape::Binomial));
}

#[test]
fn limits_of_tracer() {
    use Algorithm::*;
    let changes = |kind, ranks, bytes| changes(Library::Tracer, kind, ranks, bytes);
    assert_eq!(changes(Kind::Alltoall, 8, 513), (Bruck, PairwiseXor));
    assert_eq!(changes(Kind::Alltoall, 6, 513), (Bruck, Pairwise));
    assert_eq!(changes(Kind::Allgather, 10, 16_385), (Bruck, Ring));
    let chosen = |kind| chosen(Library::Tracer, kind, 9, 64);
    assert_eq!(chosen(Kind::Bcast), tree(Shape::Indexed));
    assert_eq!(chosen(Kind::Alltoallv), Blocked { at_once: 32 });
    assert_eq!(chosen(Kind::Scan), NotSent);
}

#[test]
fn in_place_is_another_alltoall() {
    for (library, expected) in [
        (Library::OpenMpi40, Algorithm::InPlaceByRank),
        (Library::OpenMpi41, Algorithm::InPlace),
        (Library::OpenMpi50, Algorithm::InPlace),
        (Library::Tracer, Algorithm::Bruck),
        (Library::Linear, Algorithm::InPlace),
    ] {
        let call = Collective {
            in_place: true,
            ..Collective::new(Kind::Alltoall, 16, 64)
        };
        assert_eq!(algorithm(library, &call), expected);
    }
}

#[test]
fn libraries_have_names() {
    for library in Library::ALL {
        assert_eq!(Library::named(library.name()), Some(library));
    }
    assert_eq!(Library::named("mpich"), None);
}
