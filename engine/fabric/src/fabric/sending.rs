//! How a port sends: queue, wait for the link to wake, bits, gap, next.
//!
//! ```text
//!   Idle ──work──> (Coalescing) ──> (Waking) ──> Sending ──work──> Sending …
//!     ^                                             │ nothing to do, or paused
//!     └─────────────────────────────────────────────┘
//! ```
//! A frame occupies the transmitter for preamble, bytes, FCS and gap, and all of it counts as transmission time. It
//! reaches the partner when its last bit has travelled the cable (5 ns/m).

use crate::fabric::agenda::Event;
use crate::fabric::state::Fabric;
use crate::frame::{Frame, GAP_BYTE, PREAMBLE_BYTE};
use crate::id::CableId;
use crate::lpi::Start;
use crate::pause::{PAUSE_OCTETS, XOFF, pause_frame};
use crate::port::{InAir, PauseInAir, Phase, Port, Queued};
use crate::report::Tapped;
use crate::store::{Freed, NO_PORT, Slot};
use crate::time::Ps;

impl Fabric {
    /// Queue a copy at a port whose link is up.
    pub(crate) fn enqueue(&mut self, now: Ps, p: u32, copy: Queued) {
        let tx = &mut self.topology.port_mut(p).tx;
        tx.queue_byte += copy.octets as usize;
        tx.queue.push_back(copy);
        self.try_send(now, p);
    }

    /// Send, or wake the link, unless the transmitter is already sending or waking.
    pub(crate) fn try_send(&mut self, now: Ps, p: u32) {
        let tx = &mut self.topology.port_mut(p).tx;
        if matches!(tx.phase, Phase::Sending { .. } | Phase::Waking { .. }) {
            return;
        }
        if !tx.has_work(now) {
            tx.phase = Phase::Idle;
            return;
        }
        let waiting_byte = if tx.pause_due.is_some() {
            u32::MAX
        } else {
            u32::try_from(tx.queue_byte).unwrap_or(u32::MAX)
        };
        match tx.lpi.request(now, waiting_byte) {
            Start::At(at) if at <= now => self.begin(now, p),
            Start::At(at) => {
                tx.phase = Phase::Waking { at };
                self.agenda.enter(at, Event::Start(p));
            }
            Start::Coalescing { until } => {
                if tx.phase != (Phase::Coalescing { until }) {
                    tx.phase = Phase::Coalescing { until };
                    if until != Ps::MAX {
                        self.agenda.enter(until, Event::Start(p));
                    }
                }
            }
            Start::NoLink => tx.phase = Phase::Idle,
        }
    }

    /// The link has woken, or the coalescing timer has expired.
    pub(crate) fn on_start(&mut self, now: Ps, p: u32) {
        let tx = &mut self.topology.port_mut(p).tx;
        let expected = match tx.phase {
            Phase::Waking { at } => at == now,
            Phase::Coalescing { until } => until == now,
            Phase::Idle | Phase::Sending { .. } => false,
        };
        if expected {
            tx.phase = Phase::Idle;
            self.try_send(now, p);
        }
    }

    /// The gap behind a frame is over.
    pub(crate) fn on_free(&mut self, now: Ps, p: u32) {
        let tx = &mut self.topology.port_mut(p).tx;
        if tx.phase != (Phase::Sending { until: now }) {
            return;
        }
        let finished = tx.sending.take();
        if tx.has_work(now) {
            self.begin(now, p);
        } else {
            tx.phase = Phase::Idle;
        }
        self.finish(now, finished);
    }

    /// The first bit of the next frame leaves.
    fn begin(&mut self, now: Ps, p: u32) {
        let port = self.topology.port_mut(p);
        if let Some(quanta) = port.tx.pause_due.take() {
            self.begin_pause(now, p, quanta);
            return;
        }
        let Some(copy) = port.tx.queue.pop_front() else {
            return;
        };
        port.tx.queue_byte -= copy.octets as usize;
        let mut frame = self.store.begin(copy.slot);
        frame.tag = copy.tag;
        port.count_out(&frame, copy.octets);
        if port.tapped {
            self.outbox.tap(tap(port, now, frame.clone()));
        }
        let sent = self.occupy(now, p, copy.octets);
        let port = self.topology.port_mut(p);
        port.tx.sending = Some(copy.slot);
        let due = sent + port.carrier.arrival;
        port.tx.air.push_back(InAir { due, sent, frame });
        self.agenda.enter(due, Event::Arrive(p));
    }

    fn begin_pause(&mut self, now: Ps, p: u32, quanta: u16) {
        self.tally.copies += 1;
        let port = self.topology.port_mut(p);
        port.counters.out_pause += 1;
        port.counters.out_octets += u64::from(PAUSE_OCTETS);
        if port.tapped {
            let frame = pause_frame(port.mac, quanta);
            self.outbox.tap(tap(port, now, frame));
        }
        let sent = self.occupy(now, p, PAUSE_OCTETS);
        let port = self.topology.port_mut(p);
        let due = sent + port.carrier.propagation;
        port.tx.pause_air.push_back(PauseInAir { due, quanta });
        self.agenda.enter(due, Event::ArrivePause(p));
    }

    /// Occupy the transmitter with a frame of `octets`; returns when its last bit leaves.
    fn occupy(&mut self, now: Ps, p: u32, octets: u32) -> Ps {
        let port = self.topology.port_mut(p);
        let sent = now + (PREAMBLE_BYTE as Ps + Ps::from(octets)) * port.carrier.byte;
        let until = sent + GAP_BYTE as Ps * port.carrier.byte;
        port.tx.lpi.began(now);
        port.tx.lpi.ended(until);
        port.tx.phase = Phase::Sending { until };
        self.agenda.enter(until, Event::Free(p));
        sent
    }

    fn finish(&mut self, now: Ps, slot: Option<Slot>) {
        if let Some(slot) = slot {
            let freed = self.store.finish(slot);
            self.release(now, freed);
        }
    }

    /// A copy in a queue will not be sent.
    pub(crate) fn discard_copy(&mut self, now: Ps, slot: Slot) {
        let freed = self.store.discard(slot);
        self.release(now, freed);
    }

    /// The last copy of a frame is gone: its buffer is free, and a stopped partner may continue.
    fn release(&mut self, now: Ps, freed: Option<Freed>) {
        let Some(Freed { ingress, octets }) = freed else {
            return;
        };
        if ingress == NO_PORT {
            return;
        }
        let Some((port, switch)) = self.topology.switch_port_mut(ingress) else {
            return;
        };
        if let Some(quanta) = port.backlog.release(octets, &mut switch.buffer) {
            self.send_pause(now, ingress, quanta);
        }
    }

    /// Stop the partner of a switch port, or let it continue.
    pub(crate) fn send_pause(&mut self, now: Ps, p: u32, quanta: u16) {
        let port = self.topology.port_mut(p);
        port.tx.pause_due = Some(quanta);
        if let Some(again_at) = port.backlog.paused(now, quanta, port.carrier.byte) {
            self.agenda.enter(again_at, Event::PauseAgain(p));
        }
        self.try_send(now, p);
    }

    /// Half of a PAUSE is over.
    pub(crate) fn on_pause_again(&mut self, now: Ps, p: u32) {
        if self.topology.port(p).backlog.repeats_at(now) {
            self.send_pause(now, p, XOFF);
        }
    }

    /// The partner's PAUSE is over.
    pub(crate) fn on_pause_end(&mut self, now: Ps, p: u32) {
        if self.topology.port(p).tx.paused_until == now {
            self.try_send(now, p);
        }
    }

    /// The link of a port is lost, and with it the port's queue and what is on the cable. Frames whose last bit has
    /// arrived already belong to the partner.
    pub(crate) fn lose_frames(&mut self, now: Ps, p: u32) {
        let port = self.topology.port_mut(p);
        let propagation = port.carrier.propagation;
        let before = port.tx.air.len();
        let cut_off = port.tx.air.iter().any(|frame| frame.sent > now);
        port.tx.air.retain(|frame| frame.sent + propagation <= now);
        port.counters.out_errors += u64::from(cut_off);
        let lost = before - port.tx.air.len() + port.tx.queue.len() + port.tx.pause_air.len();
        self.tally.dropped += lost as u64;
        port.tx.pause_air.clear();
        port.tx.pause_due = None;
        port.tx.paused_until = 0;
        port.tx.phase = Phase::Idle;
        port.tx.queue_byte = 0;
        port.counters.out_discards += port.tx.queue.len() as u64;
        port.backlog.link_lost();
        let finished = port.tx.sending.take();
        let queue = std::mem::take(&mut port.tx.queue);
        self.finish(now, finished);
        for copy in queue {
            self.discard_copy(now, copy.slot);
        }
    }
}

fn tap(port: &Port, at: Ps, frame: Frame) -> Option<Tapped> {
    let (cable, _) = port.cable?;
    Some(Tapped {
        cable: CableId(cable),
        at,
        from_port: port.id,
        frame,
    })
}
