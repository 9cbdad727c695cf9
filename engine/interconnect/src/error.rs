//! What can be wrong with a simulation's description.

/// A description that cannot be simulated. The text says what is wrong and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimulationError {
    /// The topology's parameters contradict each other.
    #[error("topology: {0}")]
    Topology(String),
    /// The routing does not fit the topology or the number of virtual channels.
    #[error("routing: {0}")]
    Routing(String),
    /// The traffic pattern does not fit the number of nodes.
    #[error("traffic: {0}")]
    Traffic(String),
    /// A parameter of the router, the link or the packets is out of range.
    #[error("parameter: {0}")]
    Parameter(String),
}

impl SimulationError {
    pub(crate) fn topology<T>(text: impl Into<String>) -> Result<T, Self> {
        Err(Self::Topology(text.into()))
    }

    pub(crate) fn routing<T>(text: impl Into<String>) -> Result<T, Self> {
        Err(Self::Routing(text.into()))
    }

    pub(crate) fn traffic<T>(text: impl Into<String>) -> Result<T, Self> {
        Err(Self::Traffic(text.into()))
    }

    pub(crate) fn parameter<T>(text: impl Into<String>) -> Result<T, Self> {
        Err(Self::Parameter(text.into()))
    }
}
