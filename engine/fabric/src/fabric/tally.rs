//! Frame counts behind the conservation law.

/// Frames counted where they enter, multiply or leave. Frames in flight are not counted here; `Fabric::frames` counts
/// them one by one.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Handed in by hosts and accepted.
    pub(crate) offered: u64,
    /// Extra copies made by flooding, and PAUSE frames generated.
    pub(crate) copies: u64,
    /// Handed to hosts.
    pub(crate) delivered: u64,
    /// Terminated in a MAC or bridge.
    pub(crate) consumed: u64,
    /// Lost.
    pub(crate) dropped: u64,
}
