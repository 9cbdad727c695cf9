//! The algorithms of all operations.

use super::tree::Shape;

/// How a collective operation is done. Some fall back on another one, as in the library: each says when.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// Over the root one by one, or all pairs at once; scan and exscan: from rank to rank.
    Linear,
    /// Scatter: the root begins all sends before it waits.
    LinearNonBlocking,
    /// Gather: the root asks each rank in turn, which answers with its first bytes and then the rest.
    LinearSync {
        /// Bytes of the first part; 0 is everything, and an empty second part.
        first: u64,
    },
    /// Along a tree: bcast and reduce, in segments of so many bytes; 0 is one segment.
    Tree(Shape, u64),
    /// Gather, scatter: along a binomial tree, which moves the blocks of subtrees.
    Binomial,
    /// Reduce: a binary tree in the order of ranks with root P − 1, then to the root.
    InOrderBinary,
    /// Bcast: a half of the data down each side of a binary tree, then pairs exchange halves. Too little for both: chain.
    SplitBinary {
        /// Bytes of a segment; 0 is one segment.
        segment: u64,
    },
    /// Bcast: a binomial scatter, then an allgather by recursive doubling. Fewer elements than ranks: linear.
    ScatterAllgather,
    /// Exchanges with rank XOR 2^k. Allgather on other than a power of two: Bruck.
    RecursiveDoubling,
    /// Round the ring, P − 1 steps. Allreduce of fewer elements than ranks: recursive doubling.
    Ring,
    /// Allreduce: a ring whose blocks are cut. Less than a segment a rank: ring.
    SegmentedRing {
        /// Bytes of a segment; 0 is everything.
        segment: u64,
    },
    /// Vector halving and distance doubling, then the way back. Fewer elements than the power of two below P, or an
    /// operation that does not commute: linear.
    Rabenseifner,
    /// One operation after the other, each by its own choice: reduce and bcast, reduce and scatter(v), gatherv and bcast.
    NonOverlapping,
    /// Allgather: P / 2 exchanges with alternating neighbours. Odd P: ring.
    Neighbour,
    /// ⌈log2 P⌉ steps to rank ± 2^k.
    Bruck,
    /// Alltoall: in step s to rank + s, from rank − s.
    Pairwise,
    /// Alltoall: in step s with rank XOR s.
    PairwiseXor,
    /// Alltoallv: to rank + s, from rank − s, so many at a time.
    Blocked {
        /// Steps at a time.
        at_once: u32,
    },
    /// Alltoall in place: exchanges with rank + s and rank − s.
    InPlace,
    /// Alltoall in place: exchanges with rank 0, 1, 2 …
    InPlaceByRank,
    /// The exchange of two ranks.
    TwoRanks,
    /// Barrier: up and down a tree.
    UpAndDown,
    /// Reduce_scatter: halves by halved distance.
    RecursiveHalving,
    /// Reduce_scatter: halves by doubled distance, then to where they belong.
    Butterfly,
    /// Within nodes and between their leaders, each by its own choice (HAN).
    Hierarchical,
    /// TraceR drops the operation from traces.
    NotSent,
}
