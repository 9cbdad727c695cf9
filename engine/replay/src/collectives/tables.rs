//! The tables of Open MPI 4.1 and 5.0 (coll_tuned_decision_fixed.c, the same in v4.1.4, v4.1.8 and v5.0.9).

mod rooted;
mod scattering;
mod symmetric;

use super::{Algorithm, Collective, Kind};

/// From so many bytes on, this algorithm.
type Row = &'static [(u64, Algorithm)];
/// From so many ranks on, this row.
type Table = &'static [(u32, Row)];

const K: u64 = 1024;
const M: u64 = 1024 * 1024;

/// The choice of Open MPI 4.1, and of 5.0 without HAN.
pub(super) fn open_mpi_41(collective: &Collective) -> Algorithm {
    let commutative = collective.commutative;
    let table = match collective.kind {
        Kind::Barrier => symmetric::BARRIER,
        Kind::Bcast => rooted::BCAST,
        Kind::Reduce if commutative => rooted::REDUCE,
        Kind::Reduce => rooted::REDUCE_IN_ORDER,
        Kind::Allreduce if commutative => symmetric::ALLREDUCE,
        Kind::Allreduce => symmetric::ALLREDUCE_IN_ORDER,
        Kind::Gather => rooted::GATHER,
        Kind::Scatter => rooted::SCATTER,
        Kind::Allgather => symmetric::ALLGATHER,
        Kind::Allgatherv => symmetric::ALLGATHERV,
        Kind::Alltoall | Kind::Alltoallv if collective.in_place => return Algorithm::InPlace,
        Kind::Alltoall => symmetric::ALLTOALL,
        Kind::Alltoallv => symmetric::ALLTOALLV,
        Kind::ReduceScatter if commutative => scattering::REDUCE_SCATTER,
        Kind::ReduceScatterBlock if commutative => scattering::REDUCE_SCATTER_BLOCK,
        Kind::ReduceScatter | Kind::ReduceScatterBlock => return Algorithm::NonOverlapping,
        // Not in `tuned`: `basic` is linear.
        Kind::Gatherv | Kind::Scatterv | Kind::Scan | Kind::Exscan => return Algorithm::Linear,
    };
    // Allgatherv looks at the mean block, reduce_scatter at the whole vector.
    let bytes = match collective.kind {
        Kind::Allgatherv => collective.blocks().total() / u64::from(collective.ranks),
        Kind::ReduceScatter => collective.blocks().total(),
        _ => collective.bytes,
    };
    last_not_above(last_not_above(table, collective.ranks), bytes)
}

/// The entry with the greatest limit that is not above `value`.
fn last_not_above<L: Ord + Copy, E: Copy>(entries: &[(L, E)], value: L) -> E {
    let after = entries.partition_point(|(limit, _)| *limit <= value);
    // Limits begin at 0.
    entries[after - 1].1
}
