//! Fat trees, as extended generalised fat trees XGFT(h; m₁ … mₕ; w₁ … wₕ) (Öhring et al. 1995): a switch of level l has
//! mₗ children and wₗ₊₁ parents. The k-ary n-tree is XGFT(n; k …; 1, k …), the three-level fat tree of switches with k
//! ports XGFT(3; k/2, k/2, k; 1, k/2, k/2).

use super::{Digits, Shape, product};
use crate::error::SimulationError;
use crate::network::{Builder, Network, RouterId};

/// Sizes of a tree. Switches are numbered level by level from the leaves. The ports of a switch are those to its children
/// first, then those to its parents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// Children of a switch, by level from the leaves.
    pub children: Vec<u32>,
    /// Parents of a node (one), of a leaf switch, and so on; as many as `children`.
    pub parents: Vec<u32>,
}

impl Tree {
    /// The k-ary n-tree (Petrini, Vanneschi 1997).
    #[must_use]
    pub fn k_ary(k: u32, n: usize) -> Self {
        let mut parents = vec![k; n];
        if let Some(first) = parents.first_mut() {
            *first = 1;
        }
        Self {
            children: vec![k; n],
            parents,
        }
    }

    /// The three-level fat tree of switches with `ports` ports (Al-Fares et al. 2008): `ports` pods.
    ///
    /// # Errors
    /// If `ports` is odd or 0.
    pub fn three_level(ports: u32) -> Result<Self, SimulationError> {
        if ports == 0 || ports % 2 == 1 {
            return SimulationError::topology(
                "a three-level fat tree has switches with an even number of ports",
            );
        }
        let half = ports / 2;
        Ok(Self {
            children: vec![half, half, ports],
            parents: vec![1, half, half],
        })
    }

    /// Number of levels of switches.
    #[must_use]
    pub fn levels(&self) -> usize {
        self.children.len()
    }

    /// Radix of each digit of a switch's number within level `level` (from 1): below and at the level, parents
    /// chosen on the way up; above it, the children's branch.
    fn radix(&self, level: usize) -> Vec<u32> {
        let mut radix = self.parents[..level].to_vec();
        radix.extend(&self.children[level..]);
        radix
    }

    fn switches(&self, level: usize) -> u32 {
        self.radix(level).iter().product()
    }

    /// Level (from 1) of a switch and its number within the level.
    #[must_use]
    pub fn place(&self, router: RouterId) -> (usize, u32) {
        let mut rest = router;
        for level in 1..self.levels() {
            let count = self.switches(level);
            if rest < count {
                return (level, rest);
            }
            rest -= count;
        }
        (self.levels(), rest)
    }

    fn router(&self, level: usize, index: u32) -> RouterId {
        (1..level).map(|below| self.switches(below)).sum::<u32>() + index
    }

    /// The network.
    ///
    /// # Errors
    /// If a size is 0, a node has more than one parent, or the network would be too large.
    pub fn build(self) -> Result<Network, SimulationError> {
        let levels = self.levels();
        if levels == 0 || self.parents.len() != levels {
            return SimulationError::topology(
                "a tree has as many numbers of parents as of children",
            );
        }
        if self.parents[0] != 1 {
            return SimulationError::topology("a node of a tree has one parent");
        }
        let nodes = product("the number of nodes", self.children.iter().copied())?;
        let mut degrees = Vec::new();
        for level in 1..=levels {
            let count = product("the number of switches of a level", self.radix(level))?;
            let parents = self.parents.get(level).copied().unwrap_or(0);
            let degree = self.children[level - 1] + parents;
            product("the number of ports of a level", [count, degree])?;
            degrees.extend(vec![degree; count as usize]);
        }
        let mut builder = Builder::new(&degrees, nodes);
        for node in 0..nodes {
            builder.attach(node, node / self.children[0], node % self.children[0]);
        }
        for level in 1..levels {
            let radix = self.radix(level);
            let above = self.radix(level + 1);
            let branches = Digits { radix: &radix };
            for index in 0..self.switches(level) {
                let branch = branches.get(index, level);
                for parent in 0..self.parents[level] {
                    // The same digits, but the branch's place holds which parent it is.
                    let digits: Vec<u32> = (0..levels)
                        .map(|i| {
                            if i == level {
                                parent
                            } else {
                                branches.get(index, i)
                            }
                        })
                        .collect();
                    let upper: u32 = digits
                        .iter()
                        .enumerate()
                        .map(|(i, digit)| digit * Digits { radix: &above }.unit(i))
                        .sum();
                    let here = self.children[level - 1] + parent;
                    builder.join(
                        (self.router(level, index), here),
                        (self.router(level + 1, upper), branch),
                        1,
                    );
                }
            }
        }
        Ok(builder.build(Shape::Tree(self)))
    }
}
