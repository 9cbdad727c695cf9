//! What a router knows of the links of a subnetwork.

use crate::tcep::LinkTable;

/// Which links may be used, and how new that is.
#[derive(Clone, Debug)]
pub(crate) struct Knowledge {
    pub(crate) table: LinkTable,
    size: u32,
    versions: Vec<u32>,
}

impl Knowledge {
    pub(crate) fn new(size: u32) -> Self {
        Self {
            table: LinkTable::new(size),
            size,
            versions: vec![0; (size * size) as usize],
        }
    }

    /// News of a link; older ones than what is known count for nothing.
    pub(crate) fn learn(&mut self, one: u32, other: u32, active: bool, version: u32) {
        let known = &mut self.versions[(one.min(other) * self.size + one.max(other)) as usize];
        if version >= *known {
            *known = version;
            self.table.set(one, other, active);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_state_counts_in_whatever_order_it_comes() {
        let mut known = Knowledge::new(4);
        known.learn(1, 2, true, 2);
        known.learn(2, 1, false, 1);
        assert!(known.table.is_active(1, 2));
        known.learn(2, 1, false, 3);
        assert!(!known.table.is_active(1, 2) && known.table.is_active(1, 3));
    }
}
