//! Topologies: parameters in, a [`crate::network::Network`] out. Channels between routers take
//! one cycle; [`crate::network::Network::with_link_latency`] changes that.
//!
//! | topology | parameters | routers | nodes |
//! | --- | --- | --- | --- |
//! | [`torus`] | k₁ … kₙ, concentration c, trunk t | Πk | c·Πk |
//! | [`tree`], k-ary n-tree | k, n | n·kⁿ⁻¹ | kⁿ |
//! | [`tree`], three-level fat tree | radix k | 5k²/4 | k³/4 |
//! | [`dragonfly`] | p, group of a (or rows × columns), h, g | a·g | p·a·g |
//! | [`hyperx`], flattened butterfly, complete graph | s₁ … sₙ, concentration c, trunk t | Πs | c·Πs |
//! | [`graph`] | links and nodes, one by one | | |

pub mod dragonfly;
pub mod graph;
pub mod hyperx;
pub mod torus;
pub mod tree;

pub use dragonfly::Dragonfly;
pub use hyperx::HyperX;
pub use torus::Torus;
pub use tree::Tree;

use crate::error::SimulationError;

/// A topology's parameters, for the arithmetic of routing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// k-ary n-cube, or mesh.
    Torus(Torus),
    /// Extended generalised fat tree.
    Tree(Tree),
    /// Dragonfly.
    Dragonfly(Dragonfly),
    /// HyperX, flattened butterfly, complete graph.
    HyperX(HyperX),
    /// Any graph; routing by tables, or along given trees.
    Graph(graph::Trees),
}

impl Shape {
    /// Its name in messages.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Torus(torus) if torus.wraps => "torus",
            Self::Torus(_) => "mesh",
            Self::Tree(_) => "tree",
            Self::Dragonfly(_) => "dragonfly",
            Self::HyperX(_) => "hyperx",
            Self::Graph(_) => "graph",
        }
    }
}

/// The most nodes or ports that a network may have.
const LARGEST: u64 = 1 << 26;

/// Product of the factors, refused where the network would be too large to be meant.
fn product(what: &str, factors: impl IntoIterator<Item = u32>) -> Result<u32, SimulationError> {
    let mut total = 1u64;
    for factor in factors {
        total = total.saturating_mul(u64::from(factor));
    }
    if total == 0 {
        return SimulationError::topology(format!("{what} would be 0: every size is at least 1"));
    }
    if total > LARGEST {
        return SimulationError::topology(format!("{what} would exceed {LARGEST}"));
    }
    Ok(total as u32)
}

/// Coordinates of a number in a mixed radix, lowest first.
#[derive(Copy, Clone)]
struct Digits<'a> {
    radix: &'a [u32],
}

impl Digits<'_> {
    /// Value of a digit's unit.
    fn unit(self, position: usize) -> u32 {
        self.radix[..position].iter().product()
    }

    fn get(self, number: u32, position: usize) -> u32 {
        number / self.unit(position) % self.radix[position]
    }

    fn with(self, number: u32, position: usize, digit: u32) -> u32 {
        number - self.get(number, position) * self.unit(position) + digit * self.unit(position)
    }
}
