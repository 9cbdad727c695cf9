//! The forwarding database (FDB) of a bridge.
//!
//! Independent learning (IVL) looks an address up in the VLAN of the frame, shared learning (SVL) in one table for all
//! VLANs. No timer ages entries: the age of an entry is checked when the entry is used.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::frame::Mac;
use crate::time::Ps;

/// Key of an entry: filtering database id (VLAN, or 0 if shared) and MAC address in one word.
type Key = u64;

/// One entry.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Bridge port index.
    pub(crate) port: u16,
    /// VLAN in which the address was last seen, or of the static entry.
    pub(crate) vid: u16,
    pub(crate) is_static: bool,
    pub(crate) seen: Ps,
}

/// Multiplicative hash: keys are well spread, and the order of the map is never visible.
#[derive(Default)]
pub(crate) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, word: u64) {
        let mixed = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The forwarding database of one bridge.
#[derive(Debug)]
pub(crate) struct Fdb {
    entries: HashMap<Key, Entry, BuildHasherDefault<KeyHasher>>,
    size: usize,
    ageing: Ps,
    shared: bool,
    discards: u64,
    /// No learned entry expires before this moment: until then a full table is not searched for expired entries.
    none_expires_before: Ps,
}

impl Fdb {
    pub(crate) fn new(size: usize, ageing: Ps, shared: bool) -> Self {
        Self {
            entries: HashMap::default(),
            size,
            ageing,
            shared,
            discards: 0,
            none_expires_before: 0,
        }
    }

    fn key(&self, vid: u16, mac: Mac) -> Key {
        let [a, b, c, d, e, f] = mac;
        let fid = if self.shared { 0 } else { vid };
        u64::from(fid) << 48 | u64::from_be_bytes([0, 0, a, b, c, d, e, f])
    }

    const fn expired(entry: &Entry, ageing: Ps, now: Ps) -> bool {
        !entry.is_static && ageing != 0 && now - entry.seen >= ageing
    }

    /// A frame from `mac` arrived at `port`. Static entries stay as they are; a full table learns no new address.
    pub(crate) fn learn(&mut self, now: Ps, vid: u16, mac: Mac, port: u16) {
        let key = self.key(vid, mac);
        if let Some(entry) = self.entries.get_mut(&key) {
            if !entry.is_static {
                (entry.port, entry.vid, entry.seen) = (port, vid, now);
            }
            return;
        }
        if !self.make_room(now) {
            self.discards += 1;
            return;
        }
        self.entries.insert(
            key,
            Entry {
                port,
                vid,
                is_static: false,
                seen: now,
            },
        );
    }

    /// The port of `mac`, if it is known.
    pub(crate) fn lookup(&self, now: Ps, vid: u16, mac: Mac) -> Option<u16> {
        let entry = self.entries.get(&self.key(vid, mac))?;
        (!Self::expired(entry, self.ageing, now)).then_some(entry.port)
    }

    /// Add a static entry; false: the table is full.
    pub(crate) fn set_static(&mut self, now: Ps, vid: u16, mac: Mac, port: u16) -> bool {
        let key = self.key(vid, mac);
        if !self.entries.contains_key(&key) && !self.make_room(now) && !self.forget_one_learned() {
            return false;
        }
        self.entries.insert(
            key,
            Entry {
                port,
                vid,
                is_static: true,
                seen: now,
            },
        );
        true
    }

    /// Remove a static entry; false: it was missing.
    pub(crate) fn remove_static(&mut self, vid: u16, mac: Mac) -> bool {
        let key = self.key(vid, mac);
        let found = self.entries.get(&key).is_some_and(|entry| entry.is_static);
        if found {
            self.entries.remove(&key);
        }
        found
    }

    /// Remove the learned entries that `gone` selects.
    pub(crate) fn flush(&mut self, gone: impl Fn(&Entry) -> bool) {
        self.entries
            .retain(|_, entry| entry.is_static || !gone(entry));
        self.none_expires_before = 0;
    }

    /// Remove all entries that `gone` selects, static entries included.
    pub(crate) fn erase(&mut self, gone: impl Fn(&Entry) -> bool) {
        self.entries.retain(|_, entry| !gone(entry));
        self.none_expires_before = 0;
    }

    /// Entries that have not expired, ordered by VLAN and address.
    pub(crate) fn list(&self, now: Ps) -> Vec<(Mac, Entry)> {
        let mut rows: Vec<(Mac, Entry)> = self
            .entries
            .iter()
            .filter(|(_, entry)| !Self::expired(entry, self.ageing, now))
            .map(|(key, entry)| {
                let [_, _, mac @ ..] = key.to_be_bytes();
                (mac, *entry)
            })
            .collect();
        rows.sort_unstable_by_key(|(mac, entry)| (entry.vid, *mac));
        rows
    }

    pub(crate) fn set_ageing(&mut self, ageing: Ps) {
        self.ageing = ageing;
        self.none_expires_before = 0;
    }

    /// Switch between shared and independent learning. Learned entries are flushed; static entries are kept (of two
    /// for one address in two VLANs, the one of the higher VLAN).
    pub(crate) fn set_shared(&mut self, shared: bool) {
        if shared == self.shared {
            return;
        }
        self.flush(|_| true);
        self.shared = shared;
        let rows = self.list(0);
        self.entries.clear();
        for (mac, entry) in rows {
            self.entries.insert(self.key(entry.vid, mac), entry);
        }
    }

    pub(crate) const fn ageing(&self) -> Ps {
        self.ageing
    }

    pub(crate) const fn is_shared(&self) -> bool {
        self.shared
    }

    pub(crate) const fn size(&self) -> usize {
        self.size
    }

    pub(crate) const fn discards(&self) -> u64 {
        self.discards
    }

    /// Whether one more entry fits, after expired ones were removed if necessary. The search runs again only when an
    /// entry may have expired since, so a flood of new addresses at a full table stays cheap.
    fn make_room(&mut self, now: Ps) -> bool {
        if self.entries.len() < self.size {
            return true;
        }
        if self.ageing == 0 || now < self.none_expires_before {
            return false;
        }
        let ageing = self.ageing;
        self.entries
            .retain(|_, entry| !Self::expired(entry, ageing, now));
        self.none_expires_before = self
            .entries
            .values()
            .filter(|entry| !entry.is_static)
            .map(|entry| entry.seen + ageing)
            .min()
            .unwrap_or(Ps::MAX);
        self.entries.len() < self.size
    }

    /// A static entry replaces the learned entry that was seen least recently.
    fn forget_one_learned(&mut self) -> bool {
        let oldest = self
            .entries
            .iter()
            .filter(|(_, entry)| !entry.is_static)
            .map(|(key, entry)| (entry.seen, *key))
            .min();
        oldest.is_some_and(|(_, key)| self.entries.remove(&key).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::PS_PER_S;

    const A: Mac = [2, 0, 0, 0, 0, 1];
    const B: Mac = [2, 0, 0, 0, 0, 2];
    const C: Mac = [2, 0, 0, 0, 0, 3];

    #[test]
    fn independent_learning_keeps_vlans_apart_and_shared_learning_does_not() {
        let mut ivl = Fdb::new(8, 0, false);
        ivl.learn(0, 11, A, 3);
        assert_eq!(
            (ivl.lookup(1, 11, A), ivl.lookup(1, 12, A)),
            (Some(3), None)
        );
        let mut svl = Fdb::new(8, 0, true);
        svl.learn(0, 11, A, 3);
        assert_eq!(svl.lookup(1, 12, A), Some(3));
    }

    #[test]
    fn an_entry_lives_until_its_ageing_time_and_moves_with_its_station() {
        let mut fdb = Fdb::new(8, 300 * PS_PER_S, false);
        fdb.learn(0, 1, A, 3);
        assert_eq!(fdb.lookup(300 * PS_PER_S - 1, 1, A), Some(3));
        assert_eq!(fdb.lookup(300 * PS_PER_S, 1, A), None);
        fdb.learn(400 * PS_PER_S, 1, A, 5);
        assert_eq!(fdb.lookup(500 * PS_PER_S, 1, A), Some(5));
        assert_eq!(fdb.list(400 * PS_PER_S).len(), 1);
    }

    #[test]
    fn a_full_table_learns_again_when_something_has_expired() {
        let mut fdb = Fdb::new(2, 10, false);
        fdb.learn(0, 1, A, 1);
        fdb.learn(5, 1, B, 2);
        fdb.learn(6, 1, C, 3);
        assert_eq!((fdb.lookup(6, 1, C), fdb.discards()), (None, 1));
        fdb.learn(11, 1, C, 3);
        assert_eq!(
            (fdb.lookup(11, 1, C), fdb.lookup(11, 1, A)),
            (Some(3), None)
        );
    }

    #[test]
    fn a_static_entry_is_neither_learned_over_nor_flushed_and_takes_its_room() {
        let mut fdb = Fdb::new(2, 0, false);
        fdb.learn(0, 1, A, 1);
        fdb.learn(1, 1, B, 1);
        assert!(fdb.set_static(2, 1, C, 7));
        assert_eq!(fdb.lookup(2, 1, A), None, "the oldest made room");
        fdb.learn(3, 1, C, 2);
        fdb.flush(|_| true);
        assert_eq!(fdb.lookup(4, 1, C), Some(7));
        assert!(fdb.set_static(5, 1, A, 7));
        assert!(!fdb.set_static(5, 1, B, 7), "full of static entries");
    }
}
