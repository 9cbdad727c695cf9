//! TCEP's control packets: one flit each, on a virtual channel of their own, which all links have besides those for data.
//!
//! A router's control unit puts at most one packet a cycle straight into an output queue, if the buffer behind it has
//! room; the crossbar is not in its way. It takes packets for its router as they come. On the way, over the hub, a control
//! packet waits for allocation as all do. Routes are a link to the receiver, or one to the hub and one from there, so no
//! control packets can wait for each other in a circle.

use std::collections::VecDeque;

use crate::network::RouterId;
use crate::slots::Slots;
use crate::tcep::Request;

/// What a router tells another one.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) enum Message {
    /// To change a link.
    Request(Request),
    /// A request is not followed.
    Refused,
    /// A request is followed, or a link has changed.
    State {
        link: u32,
        active: bool,
        version: u32,
    },
}

/// A control packet.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Control {
    pub(crate) from: RouterId,
    pub(crate) to: RouterId,
    pub(crate) message: Message,
    /// When it was made.
    pub(crate) made: u64,
}

/// Control packets under way, and those that wait for their first link.
#[derive(Clone, Debug)]
pub(crate) struct Mail {
    /// The virtual channel.
    pub(crate) vc: u8,
    pub(crate) packets: Slots<Control>,
    outboxes: Vec<VecDeque<Control>>,
    /// Routers whose outboxes are not empty.
    posting: Vec<RouterId>,
}

impl Mail {
    pub(crate) fn new(routers: u32, vc: u8) -> Self {
        Self {
            vc,
            packets: Slots::new(),
            outboxes: vec![VecDeque::new(); routers as usize],
            posting: Vec::new(),
        }
    }

    pub(crate) fn post(&mut self, control: Control) {
        let outbox = &mut self.outboxes[control.from as usize];
        if outbox.is_empty() {
            self.posting.push(control.from);
        }
        outbox.push_back(control);
    }

    /// The first packet of each router that has one, if `room` says that there is room for it.
    pub(crate) fn send(&mut self, mut room: impl FnMut(&Control) -> bool) -> Vec<(RouterId, u32)> {
        let mut sent = Vec::new();
        let (outboxes, packets) = (&mut self.outboxes, &mut self.packets);
        self.posting.retain(|&router| {
            let outbox = &mut outboxes[router as usize];
            if let Some(&control) = outbox.front().filter(|control| room(control)) {
                outbox.pop_front();
                sent.push((router, packets.put(control)));
            }
            !outbox.is_empty()
        });
        sent
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.posting.is_empty()
    }

    /// A control packet has come to its end.
    pub(crate) fn take(&mut self, number: u32) -> Control {
        let control = self.packets[number];
        self.packets.free(number);
        control
    }
}
