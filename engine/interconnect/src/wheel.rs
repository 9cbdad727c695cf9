//! A timing wheel: a slot for each of the next cycles.

/// Events of the next cycles, in the order in which they were entered.
#[derive(Clone, Debug)]
pub(crate) struct Wheel<T> {
    slots: Vec<Vec<T>>,
}

impl<T> Wheel<T> {
    /// A wheel for events at most `ahead` cycles away.
    pub(crate) fn new(ahead: u64) -> Self {
        let slots = (ahead + 1).next_power_of_two() as usize;
        Self {
            slots: std::iter::repeat_with(Vec::new).take(slots).collect(),
        }
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
        self.slots[slot].push(event);
    }

    /// Take a cycle's events; give the emptied list back with [`Self::put_back`].
    pub(crate) fn take(&mut self, at: u64) -> Vec<T> {
        let slot = self.slot(at);
        std::mem::take(&mut self.slots[slot])
    }

    /// Keep the list's memory.
    pub(crate) fn put_back(&mut self, at: u64, mut list: Vec<T>) {
        list.clear();
        let slot = self.slot(at);
        if self.slots[slot].is_empty() {
            self.slots[slot] = list;
        }
    }

    /// All events that wait.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().flatten()
    }
}
