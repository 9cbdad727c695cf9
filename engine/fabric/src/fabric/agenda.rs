//! Engine time and the event queue.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::time::Ps;

/// Something that is due. Numbers are indices of ports and cables.
///
/// An event may be stale when it fires (a link was lost, a wake was moved). Its handler compares the present moment
/// with the moment that the port or cable expects, and ignores the event if they differ.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// The first frame that this port has on the cable reaches the partner.
    Arrive(u32),
    /// The PAUSE frame that this port has on the cable reaches the partner.
    ArrivePause(u32),
    /// This port's transmitter has woken, or its coalescing time is over.
    Start(u32),
    /// This port's transmitter is free again.
    Free(u32),
    /// The PAUSE that the partner imposed on this port expires.
    PauseEnd(u32),
    /// Time to repeat the PAUSE that holds this port's partner.
    PauseAgain(u32),
    /// The link over this cable comes up.
    LinkUp(u32),
    /// This port announces itself by LLDP.
    Announce(u32),
}

/// Events in order of time; at one moment, in the order in which they were entered.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    now: Ps,
    heap: BinaryHeap<Reverse<(Ps, u64, Event)>>,
    entered: u64,
}

impl Agenda {
    pub(crate) fn enter(&mut self, at: Ps, event: Event) {
        self.heap.push(Reverse((at, self.entered, event)));
        self.entered += 1;
    }

    pub(crate) const fn now(&self) -> Ps {
        self.now
    }

    /// Time has passed up to `now`, and nothing is due before it.
    pub(crate) const fn set_now(&mut self, now: Ps) {
        self.now = now;
    }

    pub(crate) fn next_at(&self) -> Option<Ps> {
        self.heap.peek().map(|Reverse((at, _, _))| *at)
    }

    /// The next event if it is due by `now`; time passes up to it.
    pub(crate) fn pop_due(&mut self, now: Ps) -> Option<(Ps, Event)> {
        if self.next_at()? > now {
            return None;
        }
        let Reverse((at, _, event)) = self.heap.pop()?;
        self.now = at;
        Some((at, event))
    }
}
