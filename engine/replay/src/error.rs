//! What a program or a replay's parameters can get wrong.

/// A mistake, in a sentence for whoever wrote the program or the parameters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// A program contradicts itself.
    #[error("rank {rank}, call {call}: {what}")]
    Program {
        /// Rank in the program.
        rank: u32,
        /// Number of the call in the rank, from 0.
        call: usize,
        /// What is wrong.
        what: String,
    },
    /// The parameters contradict each other.
    #[error("{0}")]
    Parameter(String),
}

impl ReplayError {
    pub(crate) fn program<T>(rank: u32, call: usize, what: impl Into<String>) -> Result<T, Self> {
        Err(Self::Program {
            rank,
            call,
            what: what.into(),
        })
    }

    pub(crate) fn parameter<T>(what: impl Into<String>) -> Result<T, Self> {
        Err(Self::Parameter(what.into()))
    }
}
