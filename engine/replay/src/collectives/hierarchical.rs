//! HAN: collectives within nodes and between them (coll_han_*.c of Open MPI 5.0.8).
//!
//! Between nodes all segments of allreduce and reduce, and of bcast all but the first, go by libnbc's algorithms; the rest
//! goes by `tuned`'s tables. `evaluation/accuracy/collectives_han.py` compares bytes and messages with HAN of 4.1.4 and 5.0.7.
//!
//! Where nodes hold unequal numbers of ranks, HAN of 5.0.7 exchanges 8 bytes within nodes and 12 between them before each
//! call that it leaves to others. This is not modelled.
//!
//! Simplification. HAN moves the next 64 KiB between nodes while this segment is on its way within a node; here a rank
//! ends one before it begins the other, so that bcast, reduce and allreduce of several segments take longer.

use super::action::{Actions, nothing, renamed};
use super::blocks::Segments;
use super::tree::Shape;
use super::{Algorithm, Collective, Kind, Library, actions as by_choice, actions_by};

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

/// An operation of a part of the ranks.
struct Phase {
    /// `None` within each node; else between the ranks with this place in their nodes.
    across: Option<u32>,
    /// By libnbc.
    beside: bool,
    kind: Kind,
    /// Number in this part.
    root: u32,
    bytes: u64,
}

fn within(kind: Kind, root: u32, bytes: u64) -> Phase {
    Phase {
        across: None,
        beside: false,
        kind,
        root,
        bytes,
    }
}

fn across(low: u32, kind: Kind, root: u32, bytes: u64) -> Phase {
    Phase {
        across: Some(low),
        beside: false,
        kind,
        root,
        bytes,
    }
}

fn beside(low: u32, kind: Kind, root: u32, bytes: u64) -> Phase {
    Phase {
        beside: true,
        ..across(low, kind, root, bytes)
    }
}

type Phases = Box<dyn Iterator<Item = Phase> + Send>;

fn in_turn<const N: usize>(phases: [Phase; N]) -> Phases {
    Box::new(phases.into_iter())
}

/// The phases of an operation whose root is number `low` in its node, and number `up` of those in this place.
fn phases(collective: &Collective, low: u32, up: u32, on_node: u32) -> Phases {
    let bytes = collective.bytes;
    let together = u64::from(on_node) * bytes;
    let everything = u64::from(collective.ranks) * bytes;
    let segments = Segments::new(bytes, collective.element_bytes(), SEGMENT);
    let count = segments.count;
    let segments = (0..count).map(move |segment| segments.of(segment));
    match collective.kind {
        Kind::Barrier => in_turn([
            within(Kind::Barrier, 0, 0),
            across(0, Kind::Barrier, 0, 0),
            within(Kind::Barrier, 0, 0),
        ]),
        Kind::Bcast => Box::new(segments.enumerate().flat_map(move |(segment, bytes)| {
            let first = segment == 0;
            let to_nodes = if first { across } else { beside };
            [
                to_nodes(low, Kind::Bcast, up, bytes),
                within(Kind::Bcast, low, bytes),
            ]
        })),
        Kind::Reduce => Box::new(segments.flat_map(move |bytes| {
            [
                within(Kind::Reduce, low, bytes),
                beside(low, Kind::Reduce, up, bytes),
            ]
        })),
        Kind::Allreduce => Box::new(segments.flat_map(|bytes| {
            [
                within(Kind::Reduce, 0, bytes),
                beside(0, Kind::Reduce, 0, bytes),
                beside(0, Kind::Bcast, 0, bytes),
                within(Kind::Bcast, 0, bytes),
            ]
        })),
        Kind::Gather => in_turn([
            within(Kind::Gather, low, bytes),
            across(low, Kind::Gather, up, together),
        ]),
        Kind::Scatter => in_turn([
            across(low, Kind::Scatter, up, together),
            within(Kind::Scatter, low, bytes),
        ]),
        _ => in_turn([
            within(Kind::Gather, 0, bytes),
            across(0, Kind::Allgather, 0, together),
            within(Kind::Bcast, 0, everything),
        ]),
    }
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

pub(super) fn actions(library: Library, collective: &Collective, rank: u32) -> Option<Actions> {
    if !applies(collective) {
        return None;
    }
    let nodes = collective.nodes.clone()?;
    let (low, up) = (nodes.low(collective.root), nodes.up(collective.root));
    let phases = phases(collective, low, up, nodes.within(rank).len() as u32);
    let whole = collective.clone();
    // More tags than an algorithm without segments uses: 2P round a ring, 2,048 in a scatter-allgather.
    let tags = 2 * collective.ranks + 4096;
    let numbered = phases.zip((0u32..).map(move |i| i.wrapping_mul(tags)));
    Some(Box::new(numbered.flat_map(move |(phase, later)| {
        let (members, number) = match phase.across {
            None => (nodes.within(rank), nodes.low(rank)),
            Some(low) if low == nodes.low(rank) => (nodes.across(rank), nodes.up(rank)),
            Some(_) => return nothing(),
        };
        let part = Collective {
            ranks: members.len() as u32,
            nodes: None,
            ..whole.part(phase.kind, phase.root, phase.bytes)
        };
        let members = members.clone();
        let own = if phase.beside {
            by_libnbc(library, &part, number).unwrap_or_else(nothing)
        } else {
            by_choice(library, &part, number)
        };
        renamed(own, move |member| members[member as usize], later)
    })))
}
