//! A timing wheel: a slot for each of the next cycles.

/// Events of the next cycles, in the order in which they were entered.
#[derive(Clone, Debug)]
pub(crate) struct Wheel<T> {
    slots: Vec<Vec<T>>,
    /// Emptied lists: the last one is used next, while it is in the cache.
    spare: Vec<Vec<T>>,
}

impl<T> Wheel<T> {
    /// A wheel for events at most `ahead` cycles away.
    pub(crate) fn new(ahead: u64) -> Self {
        let slots = (ahead + 1).next_power_of_two() as usize;
        Self {
            slots: std::iter::repeat_with(Vec::new).take(slots).collect(),
            spare: Vec::new(),
        }
    }

    /// Reach so far ahead, if it is further. The next cycle to be taken is `now`.
    pub(crate) fn widen(&mut self, now: u64, ahead: u64) {
        if ahead <= self.reach() {
            return;
        }
        let mut wider = Self::new(ahead);
        for at in now..=now + self.reach() {
            let (from, to) = (self.slot(at), wider.slot(at));
            wider.slots[to] = std::mem::take(&mut self.slots[from]);
        }
        *self = wider;
    }

    fn slot(&self, at: u64) -> usize {
        at as usize & (self.slots.len() - 1)
    }

    /// Cycles that the wheel reaches ahead.
    pub(crate) fn reach(&self) -> u64 {
        self.slots.len() as u64 - 1
    }

    pub(crate) fn put(&mut self, at: u64, event: T) {
        let slot = self.slot(at);
        let list = &mut self.slots[slot];
        if list.capacity() == 0 {
            if let Some(spare) = self.spare.pop() {
                *list = spare;
            }
        }
        list.push(event);
    }

    /// Take a cycle's events; give the emptied list back with [`Self::put_back`].
    pub(crate) fn take(&mut self, at: u64) -> Vec<T> {
        let slot = self.slot(at);
        std::mem::take(&mut self.slots[slot])
    }

    /// Keep the list's memory.
    pub(crate) fn put_back(&mut self, mut list: Vec<T>) {
        list.clear();
        if list.capacity() > 0 {
            self.spare.push(list);
        }
    }

    /// All events that wait.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().flatten()
    }
}
