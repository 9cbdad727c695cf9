//! What will happen when: the event queue.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::time::Ps;

/// Something that is due. Numbers are indices of ports and cables.
///
/// An event may be stale when it comes up (a link was lost, a wake was moved): whoever handles it compares
/// the present moment with the moment that the port or cable expects, and ignores the event if they differ.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// The head of what this port has in the air reaches the partner.
    Arrive(u32),
    /// The PAUSE frame that this port has in the air reaches the partner.
    ArrivePause(u32),
    /// This port's transmitter has woken, or its coalescing time is over.
    Start(u32),
    /// This port's transmitter is free again.
    Free(u32),
    /// The partner's PAUSE of this port runs out.
    PauseEnd(u32),
    /// Time to repeat the PAUSE that holds this port's partner.
    PauseAgain(u32),
    /// The link over this cable comes up.
    LinkUp(u32),
}

/// Events in order of time; at one moment, in the order in which they were entered.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    heap: BinaryHeap<Reverse<(Ps, u64, Event)>>,
    entered: u64,
}

impl Agenda {
    pub(crate) fn enter(&mut self, at: Ps, event: Event) {
        self.heap.push(Reverse((at, self.entered, event)));
        self.entered += 1;
    }

    pub(crate) fn next_at(&self) -> Option<Ps> {
        self.heap.peek().map(|Reverse((at, _, _))| *at)
    }

    /// The next event if it is due by `now`.
    pub(crate) fn pop_due(&mut self, now: Ps) -> Option<(Ps, Event)> {
        if self.next_at()? > now {
            return None;
        }
        self.heap.pop().map(|Reverse((at, _, event))| (at, event))
    }
}
