//! TraceR's expansion (coll-events.C of 5152e57).

use super::action::{Action, Actions, Message, exchange};
use super::blocks::Segments;
use super::ranks::{after, below, distances};
use super::tree::{Shape, Tree};
use super::{Algorithm, Call, Collective, Kind, bcast, reduce};

/// Bytes of a block up to which an alltoall is Bruck's (`TRACER_A2A_ALG_CUTOFF`).
const ALLTOALL_CUTOFF: u64 = 512;
/// Bytes of all blocks up to which an allgather is Bruck's (`TRACER_ALLGATHER_ALG_CUTOFF`).
const ALLGATHER_CUTOFF: u64 = 163_840;
/// Sends of an alltoallv at a time (`TRACER_BLOCK_SIZE`).
const AT_ONCE: u32 = 32;

/// TraceR's choice. The reader of traces drops the operations that it does not know.
pub(super) fn choice(collective: &Collective) -> Algorithm {
    match collective.kind {
        Kind::Bcast | Kind::Reduce => Algorithm::Tree(Shape::Indexed, 0),
        Kind::Allreduce | Kind::Barrier => Algorithm::NonOverlapping,
        Kind::Alltoall if collective.bytes <= ALLTOALL_CUTOFF => Algorithm::Bruck,
        Kind::Alltoall if collective.ranks.is_power_of_two() => Algorithm::PairwiseXor,
        Kind::Alltoall => Algorithm::Pairwise,
        Kind::Alltoallv => Algorithm::Blocked { at_once: AT_ONCE },
        Kind::Allgather | Kind::Allgatherv => {
            if collective.bytes * u64::from(collective.ranks) <= ALLGATHER_CUTOFF {
                Algorithm::Bruck
            } else {
                Algorithm::Ring
            }
        }
        Kind::Scatter => Algorithm::Binomial,
        Kind::Gather
        | Kind::Gatherv
        | Kind::Scatterv
        | Kind::ReduceScatter
        | Kind::ReduceScatterBlock
        | Kind::Scan
        | Kind::Exscan => Algorithm::NotSent,
    }
}

/// What TraceR takes for a collective with blocks of several sizes: their mean, rounded down (otf2_reader.C). Of an alltoallv
/// it is the mean of what each rank sends, so that ranks which send unequal sums disagree on the bytes of their messages;
/// TraceR does not look.
pub(super) fn mean(collective: &Collective) -> Collective {
    let kind = match collective.kind {
        Kind::Allgatherv => Kind::Allgather,
        kind => kind,
    };
    let ranks = u64::from(collective.ranks);
    let bytes = match collective.kind {
        Kind::Allgatherv => collective.blocks().total() / ranks,
        Kind::Alltoallv if collective.sizes.is_some() => collective.blocks().total(),
        _ => collective.bytes,
    };
    Collective {
        in_place: false,
        ..collective.part(kind, collective.root, bytes)
    }
}

/// A bcast or reduce along the binary tree.
pub(super) fn tree(call: &Call, kind: Kind, root: u32, bytes: u64) -> Actions {
    let tree = Tree::new(Shape::Indexed, call.collective.ranks, root, call.rank);
    let segments = Segments::new(bytes, 1, 0);
    match kind {
        Kind::Bcast => bcast::down(tree, segments),
        _ => reduce::up(tree, segments),
    }
}

/// ⌈log2 P⌉ steps of P / 2 blocks, whatever their number is in truth.
pub(super) fn alltoall_bruck(call: &Call) -> Actions {
    let (ranks, rank) = (call.collective.ranks, call.rank);
    let bytes = call.collective.bytes * u64::from(ranks) / 2;
    Box::new(distances(ranks).flat_map(move |(round, distance)| {
        both(
            after(rank, distance, ranks),
            below(rank, distance, ranks),
            bytes,
            round,
        )
    }))
}

/// Doubling blocks, also in the last step.
pub(super) fn allgather_bruck(call: &Call) -> Actions {
    let (ranks, rank, block) = (call.collective.ranks, call.rank, call.collective.bytes);
    Box::new(distances(ranks).flat_map(move |(round, distance)| {
        let bytes = block * u64::from(distance);
        both(
            below(rank, distance, ranks),
            after(rank, distance, ranks),
            bytes,
            round,
        )
    }))
}

fn both(to: u32, from: u32, bytes: u64, round: u32) -> [Action; 3] {
    exchange(
        Message::new(to, bytes, round),
        Message::new(from, bytes, round),
    )
}
