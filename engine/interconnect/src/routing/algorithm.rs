//! Routing algorithms and their names.

use crate::error::SimulationError;

/// A routing algorithm.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// Lowest dimension first; a torus has a dateline in each ring.
    DimensionOrder,
    /// Any minimal hop on the adaptive virtual channels, dimension order on the escape channels (Duato 1993).
    MinimalAdaptive,
    /// As [`Algorithm::MinimalAdaptive`], but links that were awake when the packet arrived are preferred.
    MinimalAwake,
    /// BookSim2's min_adapt as it runs (commit 28f4329). Its set of outputs keeps one of each priority, so the adaptive
    /// hop is that of the lowest dimension, too. A packet that has taken an escape channel never leaves them. On a torus
    /// channel 3 alone is adaptive, however many there are, and adaptive hops halfway around a ring go downwards.
    MinimalBookSim,
    /// Up over a random parent to the nearest common ancestor, then down.
    TreeRandom,
    /// Up over the parent that the destination's digit names (d-mod-k), then down.
    TreeByDestination,
    /// As [`Algorithm::TreeByDestination`], on the virtual channel that the destination names (destination-based buffer
    /// management, Nachiondo et al. 2006).
    Dbbm,
    /// Up over the less congested of two random parents (BookSim2's anca), then down.
    TreeAdaptive,
    /// At most one global link: local, global, local.
    DragonflyMinimal,
    /// Decided at the source by the queues of its router (UGAL-L, Kim et al. 2008): minimally, or over a random other group.
    DragonflyUgal,
    /// Decided at the source: minimally, or over a random intermediate router (Singh 2005).
    Ugal,
    /// Decided in each dimension anew: directly, or over a random intermediate router of the dimension (TCEP's
    /// UGAL_p).
    Progressive,
    /// As [`Algorithm::Progressive`], where links may be off: PAL. A packet whose detour ends at a link that was turned
    /// off meanwhile goes on over the hub, the router with coordinate 0 in the dimension (TCEP section IV-E). Where
    /// all links are on, it never does.
    PowerAware,
    /// SLaC's: row first; or, from the source, a column link to a row in which the links are on. Where all links are on,
    /// it never does.
    Staged,
    /// Any shortest path; the virtual channel is the number of hops behind.
    Shortest,
    /// Shortest paths that first go up, then down, in a spanning tree from router 0 (Schroeder et al. 1991).
    UpDown,
    /// Along the tree of the node that sends, as in multi-tree VLAN routing (Koibuchi et al. 2011); the virtual channel
    /// is the number of hops behind.
    GivenTrees,
}

impl Algorithm {
    /// All algorithms with their names.
    pub const ALL: [(&'static str, Self); 17] = [
        ("dor", Self::DimensionOrder),
        ("min_adaptive", Self::MinimalAdaptive),
        ("min_awake", Self::MinimalAwake),
        ("min_booksim2", Self::MinimalBookSim),
        ("tree_random", Self::TreeRandom),
        ("tree_dmodk", Self::TreeByDestination),
        ("tree_dbbm", Self::Dbbm),
        ("tree_adaptive", Self::TreeAdaptive),
        ("dragonfly_min", Self::DragonflyMinimal),
        ("dragonfly_ugal", Self::DragonflyUgal),
        ("ugal", Self::Ugal),
        ("ugal_p", Self::Progressive),
        ("pal", Self::PowerAware),
        ("slac", Self::Staged),
        ("shortest", Self::Shortest),
        ("up_down", Self::UpDown),
        ("trees", Self::GivenTrees),
    ];

    /// The algorithm of a name.
    ///
    /// # Errors
    /// If no algorithm has the name.
    pub fn named(name: &str) -> Result<Self, SimulationError> {
        match Self::ALL.iter().find(|(own, _)| *own == name) {
            Some((_, algorithm)) => Ok(*algorithm),
            None => SimulationError::routing(format!(
                "{name:?} is unknown; known are {}",
                Self::ALL.map(|(own, _)| own).join(", ")
            )),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(_, algorithm)| *algorithm == self)
            .map_or("", |(name, _)| name)
    }
}
