//! The rules of Open MPI up to 4.0 (coll_tuned_decision_fixed.c of v4.0.7), measured at 2 Gb/s and 64 nodes.

use super::tree::Shape;
use super::{Algorithm, Collective, Kind};

const KIB: u64 = 1024;

/// The choice of Open MPI 4.0.
pub(super) fn open_mpi_40(collective: &Collective) -> Algorithm {
    let (ranks, bytes) = (collective.ranks, collective.bytes);
    match collective.kind {
        Kind::Barrier => match ranks {
            2 => Algorithm::TwoRanks,
            _ if ranks.is_power_of_two() => Algorithm::RecursiveDoubling,
            _ => Algorithm::Bruck,
        },
        Kind::Bcast => bcast(collective),
        Kind::Reduce => reduce(collective),
        Kind::Allreduce => allreduce(collective),
        Kind::Gather => gather(ranks, bytes),
        Kind::Scatter if ranks > 10 && bytes < 300 => Algorithm::Binomial,
        Kind::Alltoall | Kind::Alltoallv if collective.in_place => Algorithm::InPlaceByRank,
        Kind::Alltoall => match ranks {
            2 => Algorithm::TwoRanks,
            _ if bytes < 200 && ranks > 12 => Algorithm::Bruck,
            _ if bytes < 3000 => Algorithm::Linear,
            _ => Algorithm::Pairwise,
        },
        Kind::Alltoallv => Algorithm::Pairwise,
        Kind::Allgather | Kind::Allgatherv => allgather(collective),
        Kind::ReduceScatter => reduce_scatter(collective),
        Kind::ReduceScatterBlock => Algorithm::NonOverlapping,
        Kind::Scatter | Kind::Gatherv | Kind::Scatterv | Kind::Scan | Kind::Exscan => {
            Algorithm::Linear
        }
    }
}

/// Ranks below a line over the bytes.
fn below_line(ranks: u32, bytes: u64, slope: f64, at_zero: f64) -> bool {
    f64::from(ranks) < slope * bytes as f64 + at_zero
}

fn above_line(ranks: u32, bytes: u64, slope_per_kib: f64, at_zero: f64) -> bool {
    f64::from(ranks) > slope_per_kib / 1024.0 * bytes as f64 + at_zero
}

fn bcast(vector: &Collective) -> Algorithm {
    let (ranks, bytes) = (vector.ranks, vector.bytes);
    let chain = |kib| Algorithm::Tree(Shape::Chain, kib * KIB);
    if bytes < 2048 || vector.elements() <= 1 {
        Algorithm::Tree(Shape::Binomial, 0)
    } else if bytes < 370_728 {
        Algorithm::SplitBinary { segment: KIB }
    } else if below_line(ranks, bytes, 1.6134e-6, 2.1102) {
        chain(128)
    } else if ranks < 13 {
        Algorithm::SplitBinary { segment: 8 * KIB }
    } else if below_line(ranks, bytes, 2.3679e-6, 1.1787) {
        chain(64)
    } else if below_line(ranks, bytes, 3.2118e-6, 8.7936) {
        chain(16)
    } else {
        chain(8)
    }
}

fn reduce(vector: &Collective) -> Algorithm {
    let (ranks, bytes) = (vector.ranks, vector.bytes);
    let along = |shape, kib| Algorithm::Tree(shape, kib * KIB);
    if !vector.commutative {
        if ranks < 12 && bytes < 2048 {
            Algorithm::Linear
        } else {
            Algorithm::InOrderBinary
        }
    } else if ranks < 8 && bytes < 512 {
        Algorithm::Linear
    } else if (ranks < 8 && bytes < 20_480) || bytes < 2048 || vector.elements() <= 1 {
        along(Shape::InOrderBinomial, 0)
    } else if above_line(ranks, bytes, 0.6016, 1.3496) {
        along(Shape::InOrderBinomial, 1)
    } else if above_line(ranks, bytes, 0.0410, 9.7128) {
        along(Shape::Chain, 1)
    } else if above_line(ranks, bytes, 0.0422, 1.1614) {
        along(Shape::Binary, 32)
    } else if above_line(ranks, bytes, 0.0033, 1.6761) {
        along(Shape::Chain, 32)
    } else {
        along(Shape::Chain, 64)
    }
}

fn allreduce(vector: &Collective) -> Algorithm {
    const SEGMENT: u64 = 1024 * KIB;
    let ranks = u64::from(vector.ranks);
    if vector.bytes < 10_000 {
        Algorithm::RecursiveDoubling
    } else if !vector.commutative || vector.elements() <= ranks {
        Algorithm::NonOverlapping
    } else if ranks * SEGMENT >= vector.bytes {
        Algorithm::Ring
    } else {
        Algorithm::SegmentedRing { segment: SEGMENT }
    }
}

fn gather(ranks: u32, bytes: u64) -> Algorithm {
    if bytes > 92_160 {
        Algorithm::LinearSync { first: 32 * KIB }
    } else if bytes > 6000 {
        Algorithm::LinearSync { first: KIB }
    } else if ranks > 60 || (ranks > 10 && bytes < 1024) {
        Algorithm::Binomial
    } else {
        Algorithm::Linear
    }
}

fn allgather(collective: &Collective) -> Algorithm {
    let ranks = collective.ranks;
    if ranks == 2 {
        Algorithm::TwoRanks
    } else if collective.blocks().total() < 50_000 {
        if ranks.is_power_of_two() && collective.kind == Kind::Allgather {
            Algorithm::RecursiveDoubling
        } else {
            Algorithm::Bruck
        }
    } else if ranks % 2 == 0 {
        Algorithm::Neighbour
    } else {
        Algorithm::Ring
    }
}

fn reduce_scatter(vector: &Collective) -> Algorithm {
    let (ranks, total) = (vector.ranks, vector.blocks().total());
    if !vector.commutative {
        Algorithm::NonOverlapping
    } else if total <= 12 * KIB
        || (total <= 256 * KIB && ranks.is_power_of_two())
        || f64::from(ranks) >= 0.0012 * total as f64 + 8.0
    {
        Algorithm::RecursiveHalving
    } else {
        Algorithm::Ring
    }
}
