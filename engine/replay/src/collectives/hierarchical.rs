//! HAN: collectives within nodes and between them (coll_han_*.c of Open MPI 5.0.8).
//!
//! A call is a table of stages, each a collective of the ranks of a node, or of those in one place of all nodes. Bcast,
//! reduce and allreduce pass through it in segments, as a pipeline of rounds (HAN's tasks t0 to t3): in a round, stages
//! between nodes are begun (`ibcast` and `ireduce` of libnbc), those within nodes block, one after the other, and at the
//! end a rank waits for what it began. S segments so take all stages once and S - 1 times the slowest, not S times all. The
//! other operations have one segment, and stages that block.
//!
//! What is begun goes by libnbc's algorithms; the rest, and the first segment of a bcast between nodes, by `tuned`'s tables.
//! `evaluation/accuracy/collectives_han.py` compares bytes and messages with HAN of 4.1.4 and 5.0.7.
//!
//! Where nodes hold unequal numbers of ranks, HAN of 5.0.7 exchanges 8 bytes within nodes and 12 between them before each
//! call that it leaves to others. This is not modelled.
//!
//! Simplification. libnbc takes its next step when its rank is in an MPI call, as a rank in a stage that blocks is; here it
//! takes it at once, so that a rank's slow combining of vectors does not delay what it began.

use super::action::{Actions, beside, nothing, renamed};
use super::blocks::Segments;
use super::tree::Shape;
use super::{Algorithm, Collective, Kind, Library, Nodes, actions as by_choice, actions_by};
use std::sync::Arc;

/// `han_bcast_segsize`, `han_reduce_segsize`, `han_allreduce_segsize`.
const SEGMENT: u64 = 64 * 1024;

/// Whether HAN takes the call: there are several nodes, and some with several ranks (coll_han_subcomms.c). With unequal
/// numbers a node only allreduce and barrier are left (`are_ppn_imbalanced`), and no operation that does not commute.
pub(super) fn applies(collective: &Collective) -> bool {
    let Some(nodes) = &collective.nodes else {
        return false;
    };
    let handled = match collective.kind {
        Kind::Barrier => true,
        Kind::Allreduce => collective.commutative,
        Kind::Reduce => collective.commutative && nodes.are_even(),
        Kind::Bcast | Kind::Gather | Kind::Scatter | Kind::Allgather => nodes.are_even(),
        _ => false,
    };
    handled && nodes.are_shared()
}

/// Whose collective a stage is.
#[derive(Copy, Clone)]
enum Members {
    /// The ranks of each node.
    Node,
    /// The ranks in the root's place of each node.
    Leaders,
}

/// How a rank makes the collective of a stage.
#[derive(Copy, Clone)]
enum Manner {
    /// By a call that blocks.
    Blocking,
    /// Begun, and waited for at the end of the round.
    Begun,
    /// Begun, but for the first segment, which nothing is beside.
    BegunLater,
}

/// What of the call's bytes a stage moves.
#[derive(Copy, Clone)]
enum Part {
    Segment,
    /// The blocks of a node's ranks.
    OfNode,
    /// The blocks of all ranks.
    OfAll,
}

/// What every segment passes through.
#[derive(Copy, Clone)]
struct Stage {
    members: Members,
    manner: Manner,
    kind: Kind,
    part: Part,
    /// In round r the stage is that of segment r - `behind`.
    behind: u32,
}

const fn within(kind: Kind, part: Part, behind: u32) -> Stage {
    Stage {
        members: Members::Node,
        manner: Manner::Blocking,
        kind,
        part,
        behind,
    }
}

const fn between(manner: Manner, kind: Kind, part: Part, behind: u32) -> Stage {
    Stage {
        members: Members::Leaders,
        manner,
        ..within(kind, part, behind)
    }
}

use Manner::{Begun, BegunLater, Blocking};
use Part::{OfAll, OfNode, Segment};

/// The stages of an operation, in the order in which a round makes them. Roots are the call's; of operations without one
/// that is rank 0, whose place is the first of its node.
fn stages(kind: Kind) -> &'static [Stage] {
    const BARRIER: &[Stage] = &[
        within(Kind::Barrier, Segment, 0),
        between(Blocking, Kind::Barrier, Segment, 1),
        within(Kind::Barrier, Segment, 2),
    ];
    const BCAST: &[Stage] = &[
        between(BegunLater, Kind::Bcast, Segment, 0),
        within(Kind::Bcast, Segment, 1),
    ];
    const REDUCE: &[Stage] = &[
        between(Begun, Kind::Reduce, Segment, 1),
        within(Kind::Reduce, Segment, 0),
    ];
    const ALLREDUCE: &[Stage] = &[
        between(Begun, Kind::Bcast, Segment, 2),
        between(Begun, Kind::Reduce, Segment, 1),
        within(Kind::Reduce, Segment, 0),
        within(Kind::Bcast, Segment, 3),
    ];
    const GATHER: &[Stage] = &[
        within(Kind::Gather, Segment, 0),
        between(Blocking, Kind::Gather, OfNode, 1),
    ];
    const SCATTER: &[Stage] = &[
        between(Blocking, Kind::Scatter, OfNode, 0),
        within(Kind::Scatter, Segment, 1),
    ];
    const ALLGATHER: &[Stage] = &[
        within(Kind::Gather, Segment, 0),
        between(Blocking, Kind::Allgather, OfNode, 1),
        within(Kind::Bcast, OfAll, 2),
    ];
    match kind {
        Kind::Barrier => BARRIER,
        Kind::Bcast => BCAST,
        Kind::Reduce => REDUCE,
        Kind::Allreduce => ALLREDUCE,
        Kind::Gather => GATHER,
        Kind::Scatter => SCATTER,
        _ => ALLGATHER,
    }
}

/// How the call's vector is cut.
fn segments(collective: &Collective) -> Segments {
    let segment = match collective.kind {
        Kind::Bcast | Kind::Reduce | Kind::Allreduce => SEGMENT,
        _ => 0,
    };
    Segments::new(collective.bytes, collective.element_bytes(), segment)
}

/// A bcast or a commutative reduce by libnbc (nbc_ibcast.c, nbc_ireduce.c of Open MPI 4.1.4).
fn by_libnbc(library: Library, part: &Collective, rank: u32) -> Option<Actions> {
    /// From here on, few ranks send in a chain, by segments.
    const LONG: u64 = 65_536;
    const CHAINED: u64 = 8192;
    let (ranks, root) = (part.ranks, part.root);
    let whole = 1 << ranks.ilog2();
    let algorithm = match part.kind {
        Kind::Bcast if ranks <= 4 => Algorithm::Linear,
        Kind::Bcast => Algorithm::Tree(Shape::Binomial, 0),
        _ if ranks > 2 && part.elements() >= whole => Algorithm::Rabenseifner,
        _ if ranks > 4 || part.bytes < LONG => Algorithm::Tree(Shape::InOrderBinomial, 0),
        _ => Algorithm::Tree(Shape::Chain, CHAINED),
    };
    if !matches!(algorithm, Algorithm::Tree(..)) {
        return actions_by(algorithm, library, part, rank);
    }
    // Its trees begin at 0, which changes places with the root.
    let place = move |rank| match rank {
        0 => root,
        _ if rank == root => 0,
        _ => rank,
    };
    let rooted = Collective {
        root: 0,
        ..part.clone()
    };
    let tree = actions_by(algorithm, library, &rooted, place(rank))?;
    Some(renamed(tree, place, 0))
}

/// A rank's part of a call.
struct Rank {
    library: Library,
    collective: Collective,
    nodes: Arc<Nodes>,
    rank: u32,
    segments: Segments,
}

impl Rank {
    /// What it does in a stage with a segment; `None` if it is not one of the members.
    fn stage(&self, stage: Stage, segment: u32) -> Option<Actions> {
        let (nodes, whole) = (&self.nodes, &self.collective);
        let (low, up) = (nodes.low(whole.root), nodes.up(whole.root));
        let (members, number, root) = match stage.members {
            Members::Node => (nodes.within(self.rank), nodes.low(self.rank), low),
            Members::Leaders if low == nodes.low(self.rank) => {
                (nodes.across(self.rank), nodes.up(self.rank), up)
            }
            Members::Leaders => return None,
        };
        let bytes = match stage.part {
            Segment => self.segments.of(segment),
            OfNode => whole.bytes * nodes.within(self.rank).len() as u64,
            OfAll => whole.bytes * u64::from(whole.ranks),
        };
        let part = Collective {
            ranks: members.len() as u32,
            nodes: None,
            ..whole.part(stage.kind, root, bytes)
        };
        let own = match stage.manner {
            Blocking => by_choice(self.library, &part, number),
            BegunLater if segment == 0 => by_choice(self.library, &part, number),
            Begun | BegunLater => by_libnbc(self.library, &part, number).unwrap_or_else(nothing),
        };
        let members = Arc::clone(members);
        // More tags than an algorithm without segments uses: 2P round a ring, 2,048 in a scatter-allgather.
        let tags = 2 * whole.ranks + 4096;
        let stages = stages(whole.kind).len() as u32;
        let place = stages.wrapping_mul(segment) + stage.behind;
        let later = place.wrapping_mul(tags);
        Some(renamed(own, move |member| members[member as usize], later))
    }

    /// What it does in a round.
    fn round(&self, round: u32) -> Actions {
        let (mut begun, mut blocking) = (Vec::new(), Vec::new());
        for stage in stages(self.collective.kind) {
            let segment = round.checked_sub(stage.behind);
            let segment = segment.filter(|&segment| segment < self.segments.count);
            let Some(own) = segment.and_then(|segment| self.stage(*stage, segment)) else {
                continue;
            };
            match stage.manner {
                Blocking => blocking.push(own),
                Begun | BegunLater => begun.push(own),
            }
        }
        beside(begun, blocking)
    }
}

pub(super) fn actions(library: Library, collective: &Collective, rank: u32) -> Option<Actions> {
    if !applies(collective) {
        return None;
    }
    let own = Rank {
        library,
        collective: collective.clone(),
        nodes: collective.nodes.clone()?,
        rank,
        segments: segments(collective),
    };
    let behind = stages(collective.kind).iter().map(|stage| stage.behind);
    let rounds = own.segments.count + behind.max().unwrap_or(0);
    Some(Box::new(
        (0..rounds).flat_map(move |round| own.round(round)),
    ))
}
