//! Which algorithm an MPI library takes for a collective call, and what each rank does in it.
//!
//! | module | contents |
//! | --- | --- |
//! | `choice`, `tables`, `rules` | which algorithm: tables of Open MPI 4.1 and 5.0, rules of 4.0, TraceR's limits |
//! | `barrier`, `bcast`, `reduce`, … | what the ranks do in it, one module an operation |
//! | `hierarchical` | within and between nodes (HAN of Open MPI 5.0) |
//! | `tree`, `ranks`, `blocks`, `nodes` | trees, partners, cuts of vectors, ranks of nodes |
//! | `action` | what algorithms are written in, and its numbering as [`Steps`] |
//!
//! Sources are named by file and version. Where an element's size matters (ring, Rabenseifner, segments), it is
//! [`Collective::element`], as traces do not record it. Simplifications, all of them without an influence on messages or
//! bytes:
//!
//! * Open MPI sends some messages of barriers synchronously; here they are like any other.
//! * Copies within a rank take no time.
//! * Waiting for any of several requests does not occur: linear algorithms post all at once, as they do by default.

mod action;
mod algorithm;
mod allgather;
mod allreduce;
mod alltoall;
mod barrier;
mod bcast;
mod blocks;
mod choice;
mod gather;
mod halving;
mod hierarchical;
mod nodes;
mod ranks;
mod reduce;
mod reduce_scatter;
mod rules;
mod scan;
mod scatter;
mod tables;
mod tracer;
mod tree;

pub use algorithm::Algorithm;
pub use choice::algorithm;
pub use nodes::Nodes;
pub use tree::Shape;

use crate::step::Steps;
use action::{Actions, nothing};
use blocks::Blocks;
use std::sync::Arc;

/// Whose choice of algorithms.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Library {
    /// Open MPI up to 4.0 (v4.0.7).
    OpenMpi40,
    /// Open MPI 4.1 (v4.1.4).
    OpenMpi41,
    /// Open MPI 5.0 (v5.0.8): the tables of 4.1, and HAN where nodes have several ranks.
    OpenMpi50,
    /// TraceR (5152e57).
    Tracer,
    /// No tricks: over the root, or all pairs.
    Linear,
}

impl Library {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::OpenMpi40,
        Self::OpenMpi41,
        Self::OpenMpi50,
        Self::Tracer,
        Self::Linear,
    ];

    /// Its name in descriptions.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenMpi40 => "ompi-4.0",
            Self::OpenMpi41 => "ompi-4.1",
            Self::OpenMpi50 => "ompi-5.0",
            Self::Tracer => "tracer",
            Self::Linear => "linear",
        }
    }

    /// The library with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|library| library.name() == name)
    }
}

/// A collective operation.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "MPI's names")]
pub enum Kind {
    Barrier,
    Bcast,
    Reduce,
    Allreduce,
    Gather,
    Gatherv,
    Scatter,
    Scatterv,
    Allgather,
    Allgatherv,
    Alltoall,
    Alltoallv,
    ReduceScatter,
    ReduceScatterBlock,
    Scan,
    Exscan,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::Barrier,
        Self::Bcast,
        Self::Reduce,
        Self::Allreduce,
        Self::Gather,
        Self::Gatherv,
        Self::Scatter,
        Self::Scatterv,
        Self::Allgather,
        Self::Allgatherv,
        Self::Alltoall,
        Self::Alltoallv,
        Self::ReduceScatter,
        Self::ReduceScatterBlock,
        Self::Scan,
        Self::Exscan,
    ];
}

/// A collective call, as one rank makes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collective {
    /// The operation.
    pub kind: Kind,
    /// Ranks of the communicator.
    pub ranks: u32,
    /// The root; 0 if the operation has none.
    pub root: u32,
    /// Bytes: of the message or vector (bcast, reduce, allreduce, scan, exscan), of a block (gather, scatter, allgather,
    /// alltoall, reduce_scatter_block), of the rank's own block (gatherv, scatterv, allgatherv), of the whole vector
    /// (reduce_scatter), or that the rank sends in all (alltoallv).
    pub bytes: u64,
    /// Bytes of an element. What does not divide `bytes` is taken as their greatest common divisor.
    pub element: u64,
    /// MPI_IN_PLACE.
    pub in_place: bool,
    /// The operation of a reduction commutes.
    pub commutative: bool,
    /// Bytes of all blocks, rank by rank (gatherv and scatterv at the root, allgatherv, reduce_scatter); of the blocks sent
    /// to each rank and then of those received (alltoallv). Without them blocks are equal: a reduce_scatter's and an
    /// alltoallv's are so many parts of `bytes`, the others' as large as this rank's.
    pub sizes: Option<Arc<[u64]>>,
    /// Which ranks share a node. Without it every rank has a node of its own.
    pub nodes: Option<Arc<Nodes>>,
}

impl Collective {
    /// A call with the most usual properties: root 0, elements of 8 bytes, not in place, commutative, equal blocks, and
    /// one rank a node.
    pub fn new(kind: Kind, ranks: u32, bytes: u64) -> Self {
        Self {
            kind,
            ranks,
            root: 0,
            bytes,
            element: 8,
            in_place: false,
            commutative: true,
            sizes: None,
            nodes: None,
        }
    }

    /// The same ranks call another operation.
    fn part(&self, kind: Kind, root: u32, bytes: u64) -> Self {
        Self {
            kind,
            root,
            bytes,
            element: self.element,
            sizes: None,
            nodes: self.nodes.clone(),
            ..*self
        }
    }

    /// Bytes of an element that divides the vector.
    fn element_bytes(&self) -> u64 {
        let (mut larger, mut smaller) = (self.bytes, self.element.max(1));
        while larger != 0 {
            (larger, smaller) = (smaller % larger, larger);
        }
        smaller
    }

    fn elements(&self) -> u64 {
        self.bytes / self.element_bytes()
    }

    /// The ranks' blocks: those sent, of an alltoallv.
    fn blocks(&self) -> Blocks {
        let ranks = self.ranks;
        match (&self.sizes, self.kind) {
            (Some(sizes), _) => Blocks::Each {
                sizes: sizes.clone(),
                first: 0,
                ranks,
            },
            (None, Kind::ReduceScatter) => Blocks::Even {
                elements: self.elements(),
                element: self.element_bytes(),
                ranks,
            },
            (None, Kind::Alltoallv) => Blocks::Equal {
                bytes: self.bytes / u64::from(ranks),
                ranks,
            },
            (None, _) => Blocks::Equal {
                bytes: self.bytes,
                ranks,
            },
        }
    }

    /// The blocks that an alltoall or alltoallv receives.
    fn received(&self) -> Blocks {
        match (&self.sizes, self.kind) {
            (Some(sizes), Kind::Alltoallv) => Blocks::Each {
                sizes: sizes.clone(),
                first: self.ranks,
                ranks: self.ranks,
            },
            _ => self.blocks(),
        }
    }

    /// No messages: a single rank, or nothing to move (the checks in ompi/mpi/c/*.c of Open MPI 4.1.4). Alltoallv, gatherv
    /// and scatterv look at each block instead.
    fn is_empty(&self) -> bool {
        self.ranks < 2
            || match self.kind {
                Kind::Barrier | Kind::Alltoallv | Kind::Gatherv | Kind::Scatterv => false,
                Kind::Allgatherv | Kind::ReduceScatter => self.blocks().total() == 0,
                _ => self.bytes == 0,
            }
    }
}

/// What `rank` does in the call, by the library's choice.
///
/// Every rank of the communicator has to be asked with the same `kind`, `ranks`, `root`, `element`, `commutative` and
/// `nodes`, and with matching `bytes` and `sizes`; otherwise messages do not match.
///
/// # Panics
///
/// If `rank` or `root` is not below `ranks`, or `sizes` or `nodes` are too few.
pub fn steps(library: Library, collective: &Collective, rank: u32) -> Steps {
    action::steps(actions(library, collective, rank))
}

/// What `rank` does in the call by this algorithm, whatever the library's choice; operations within the call are done by the
/// library's choice. `None` if the operation has no such algorithm.
///
/// # Panics
///
/// As [`steps`].
pub fn steps_by(
    algorithm: Algorithm,
    library: Library,
    collective: &Collective,
    rank: u32,
) -> Option<Steps> {
    Some(action::steps(actions_by(
        algorithm, library, collective, rank,
    )?))
}

fn actions(library: Library, collective: &Collective, rank: u32) -> Actions {
    let chosen = algorithm(library, collective);
    actions_by(chosen, library, collective, rank).expect("the tables have each operation's own")
}

fn actions_by(
    algorithm: Algorithm,
    library: Library,
    collective: &Collective,
    rank: u32,
) -> Option<Actions> {
    assert!(rank < collective.ranks && collective.root < collective.ranks);
    let mean = (library == Library::Tracer).then(|| tracer::mean(collective));
    let collective = mean.as_ref().unwrap_or(collective);
    if collective.is_empty() || algorithm == Algorithm::NotSent {
        return Some(nothing());
    }
    if algorithm == Algorithm::Hierarchical {
        return hierarchical::actions(library, collective, rank);
    }
    let call = Call {
        library,
        collective,
        algorithm,
        rank,
    };
    match collective.kind {
        Kind::Barrier => barrier::actions(&call),
        Kind::Bcast => bcast::actions(&call),
        Kind::Reduce => reduce::actions(&call),
        Kind::Allreduce => allreduce::actions(&call),
        Kind::Gather | Kind::Gatherv => gather::actions(&call),
        Kind::Scatter | Kind::Scatterv => scatter::actions(&call),
        Kind::Allgather | Kind::Allgatherv => allgather::actions(&call),
        Kind::Alltoall | Kind::Alltoallv => alltoall::actions(&call),
        Kind::ReduceScatter | Kind::ReduceScatterBlock => reduce_scatter::actions(&call),
        Kind::Scan | Kind::Exscan => scan::actions(&call),
    }
}

/// A rank's part in a call by one algorithm.
#[derive(Copy, Clone)]
struct Call<'a> {
    library: Library,
    collective: &'a Collective,
    algorithm: Algorithm,
    rank: u32,
}

impl Call<'_> {
    /// This operation within the call, by the library's choice for it.
    fn nested(&self, kind: Kind, root: u32, bytes: u64) -> Actions {
        self.nested_call(&self.collective.part(kind, root, bytes))
    }

    fn nested_call(&self, collective: &Collective) -> Actions {
        actions(self.library, collective, self.rank)
    }
}
