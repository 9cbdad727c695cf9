//! A program: the calls of each rank, checked once, so that a replay need not doubt them.

mod records;

use std::sync::Arc;

pub use records::{ROW, Records};

use crate::collectives::Kind;

/// Where a receive takes its message from.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A rank of the communicator: which of [`RankCalls::lanes`].
    Lane(u32),
    /// Any rank of it.
    Any,
    /// MPI_PROC_NULL.
    Nobody,
}

/// A communicator, and a rank of it.
pub type Place = (u32, u32);

/// When a sender is free.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum SendMode {
    /// By size: eager or rendezvous.
    Standard,
    /// When the receive has been matched, whatever the size.
    Synchronous,
    /// After the copy, whatever the size.
    Buffered,
}

/// What a call does.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// Nothing but computing.
    Compute,
    /// A send; with a request if it does not block.
    Send {
        /// Its mode.
        mode: SendMode,
        /// Which of [`RankCalls::channels`]; none to MPI_PROC_NULL.
        channel: Option<u32>,
        /// Tag.
        tag: i32,
        /// Of the message.
        bytes: u64,
        /// What is waited for later.
        request: Option<u32>,
    },
    /// A receive; with a request if it does not block.
    Receive {
        /// Source.
        from: Source,
        /// Tag; none for any.
        tag: Option<i32>,
        /// What is waited for later.
        request: Option<u32>,
    },
    /// Wait for the requests in the list.
    Wait,
    /// A receive that will not come.
    Cancel {
        /// Its request.
        request: u32,
    },
    /// A collective call; with a request if it does not block.
    Collective {
        /// Which.
        kind: Kind,
        /// Root; 0 where there is none.
        root: u32,
        /// As the table of calls says.
        bytes: u64,
        /// MPI_IN_PLACE.
        in_place: bool,
        /// Whether the operation of a reduction commutes.
        commutative: bool,
        /// What is waited for later.
        request: Option<u32>,
    },
    /// The calls up to the matching end, so many times.
    Loop {
        /// Passes.
        passes: u64,
        /// The call behind the end.
        behind: u32,
    },
    /// The end of a loop.
    End,
}

/// A call of a rank.
#[derive(Copy, Clone, Debug)]
pub struct Call {
    /// What it does.
    pub op: Op,
    /// Computing before it, in ns.
    pub compute_ns: u64,
    /// Number of its communicator.
    pub communicator: u32,
    /// The rank's own rank in that communicator.
    pub me: u32,
    list: (u32, u32),
}

/// The calls of a rank.
#[derive(Clone, Debug, Default)]
pub struct RankCalls {
    /// In order.
    pub calls: Vec<Call>,
    lists: Vec<u64>,
    /// Where the rank sends to, each once.
    pub channels: Vec<Place>,
    /// Where it receives from, each once.
    pub lanes: Vec<Place>,
    /// Requests are numbered from 0; so many are in use.
    pub requests: u32,
    /// Calls with those of loops as often as they are made.
    pub length: u64,
}

impl RankCalls {
    /// The list of a call: requests or sizes.
    #[must_use]
    pub fn list(&self, call: &Call) -> &[u64] {
        let (at, length) = call.list;
        &self.lists[at as usize..(at + length) as usize]
    }
}

/// A program.
#[derive(Clone, Debug)]
pub struct Program {
    /// By rank.
    pub ranks: Vec<RankCalls>,
    /// World ranks of each communicator, in the order of their ranks there.
    pub communicators: Vec<Arc<[u32]>>,
}

impl Program {
    /// Calls of all ranks, those of loops as often as they are made.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.ranks.iter().map(|rank| rank.length).sum()
    }
}
