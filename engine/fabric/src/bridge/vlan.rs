//! Sets of bridge ports, and the VLANs of a switch.

/// Maximum number of bridge ports (physical ports and LAGs) of a switch.
pub(crate) const MAX_BRIDGE_PORTS: usize = 256;
/// The highest VLAN id in use; 4095 is reserved (802.1Q table 9-2).
pub(crate) const MAX_VID: u16 = 4_094;

const WORDS: usize = MAX_BRIDGE_PORTS / 64;

/// A set of bridge ports of one switch, by index from 0.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PortSet([u64; WORDS]);

impl PortSet {
    pub(crate) fn insert(&mut self, index: u16) {
        self.0[index as usize / 64] |= 1 << (index % 64);
    }

    pub(crate) fn remove(&mut self, index: u16) {
        self.0[index as usize / 64] &= !(1 << (index % 64));
    }

    pub(crate) fn put(&mut self, index: u16, present: bool) {
        if present {
            self.insert(index);
        } else {
            self.remove(index);
        }
    }

    pub(crate) const fn contains(&self, index: u16) -> bool {
        self.0[index as usize / 64] >> (index % 64) & 1 == 1
    }

    pub(crate) fn and(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }

    pub(crate) fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u16> + use<> {
        let words = self.0;
        (0..WORDS).flat_map(move |word| {
            let mut left = words[word];
            std::iter::from_fn(move || {
                if left == 0 {
                    return None;
                }
                let bit = left.trailing_zeros();
                left &= left - 1;
                Some(word as u16 * 64 + bit as u16)
            })
        })
    }
}

impl FromIterator<u16> for PortSet {
    fn from_iter<I: IntoIterator<Item = u16>>(indices: I) -> Self {
        let mut set = Self::default();
        for index in indices {
            set.insert(index);
        }
        set
    }
}

/// The members of a VLAN, and those that send its frames untagged.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Vlan {
    pub(crate) members: PortSet,
    pub(crate) untagged: PortSet,
}

/// The VLANs of a switch, by id.
#[derive(Debug)]
pub(crate) struct VlanTable(Vec<Option<Box<Vlan>>>);

impl VlanTable {
    /// VLAN 1, untagged on `ports`.
    pub(crate) fn factory(ports: impl Iterator<Item = u16>) -> Self {
        let mut table = Self((0..=MAX_VID).map(|_| None).collect());
        let all: PortSet = ports.collect();
        table.set(
            1,
            Vlan {
                members: all,
                untagged: all,
            },
        );
        table
    }

    pub(crate) fn get(&self, vid: u16) -> Option<&Vlan> {
        self.0.get(vid as usize)?.as_deref()
    }

    pub(crate) fn set(&mut self, vid: u16, vlan: Vlan) {
        self.0[vid as usize] = Some(Box::new(vlan));
    }

    /// Remove a VLAN; false: it was missing.
    pub(crate) fn remove(&mut self, vid: u16) -> bool {
        self.0
            .get_mut(vid as usize)
            .and_then(Option::take)
            .is_some()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u16, &Vlan)> {
        self.0
            .iter()
            .enumerate()
            .filter_map(|(vid, vlan)| Some((vid as u16, vlan.as_deref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_gives_back_what_was_put_in() {
        let set: PortSet = [0, 63, 64, 130, 255].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 64, 130, 255]);
        assert_eq!(set.len(), 5);
        assert!(set.contains(130) && !set.contains(129));
    }

    #[test]
    fn vid_4095_is_no_vlan() {
        assert!(VlanTable::factory(0..4).get(4095).is_none());
    }
}
