//! What hosts do next, in order of time, and of entry at equal times. What finds a processor busy is put off and keeps its
//! place among others of its new time, as in LogGOPSim's strict order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What is due.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// A rank goes on.
    Rank(u32),
    /// A collective call of a rank goes on.
    Call(u32),
    /// A message leaves its processor.
    Launch(u32),
    /// A message enters the network.
    Enter(u32),
    /// A message, or what announces it, has arrived without the network.
    Arrive(u32),
    /// A message has been received.
    Received(u32),
    /// A message's sender is free.
    Sent(u32),
    /// A job begins, or waits for free cores.
    Job(u32),
    /// Jobs that wait may begin, after all that begin to wait at this time.
    Schedule,
}

/// All that is due.
#[derive(Clone, Debug, Default)]
pub(crate) struct Agenda {
    heap: BinaryHeap<Reverse<(u64, u64, Event)>>,
    entered: u64,
    /// The entry that takes place.
    taken: u64,
}

impl Agenda {
    pub(crate) fn put(&mut self, at: u64, event: Event) {
        self.entered += 1;
        self.heap.push(Reverse((at, self.entered, event)));
    }

    /// The event that takes place does so later.
    pub(crate) fn put_off(&mut self, at: u64, event: Event) {
        self.heap.push(Reverse((at, self.taken, event)));
    }

    /// When the next event is due.
    pub(crate) fn next(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse((at, ..))| *at)
    }

    /// Take all events that are due at this time, in order, each with its entry.
    pub(crate) fn take(&mut self, at: u64, into: &mut Vec<(u64, Event)>) {
        while self.next() == Some(at) {
            if let Some(Reverse((_, entered, event))) = self.heap.pop() {
                into.push((entered, event));
            }
        }
    }

    /// This entry takes place now: see [`Self::put_off`].
    pub(crate) fn begin(&mut self, entered: u64) {
        self.taken = entered;
    }
}
