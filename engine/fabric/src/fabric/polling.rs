//! Passing time: hosts hand in frames, due events run, results are collected.

use crate::fabric::agenda::Event;
use crate::fabric::state::Fabric;
use crate::fabric::tally::Tally;
use crate::fabric::topology::Place;
use crate::frame::Frame;
use crate::id::PortId;
use crate::port::{Owner, Queued};
use crate::report::{Alarm, Delivery, Frames, Tapped};
use crate::store::NO_PORT;
use crate::time::Ps;

/// Least bytes of a frame: two addresses and an EtherType.
const HEADER_BYTE: usize = 14;

impl Fabric {
    /// A host hands a frame to its NIC.
    ///
    /// A frame that the NIC cannot send at all (no link, too long, too short) is dropped and counted. A tag in the
    /// bytes moves into `Frame::tag`.
    ///
    /// # Errors
    /// Returns the frame if the ring is full (or if `nic` is not a NIC). Offer it again when [`Fabric::ring_free`] is
    /// above 0.
    pub fn transmit(&mut self, now: Ps, nic: PortId, frame: Frame) -> Result<(), Frame> {
        let now = self.pass_time(now);
        let Ok(Place::Port(p)) = self.topology.place(nic) else {
            return Err(frame);
        };
        let port = self.topology.port_mut(p);
        let Owner::Nic { ring_frames } = port.owner else {
            return Err(frame);
        };
        if port.tx.queue.len() >= ring_frames {
            return Err(frame);
        }
        self.tally.offered += 1;
        let frame = frame.with_tag_lifted();
        let fits = (HEADER_BYTE..=port.mtu_byte).contains(&frame.bytes.len());
        if !fits || !port.carrier.up {
            port.counters.out_discards += 1;
            self.tally.dropped += 1;
            return Ok(());
        }
        let (tag, octets) = (frame.tag, frame.octets() as u32);
        let slot = self.store.keep(frame, 1, NO_PORT, octets);
        self.enqueue(now, p, Queued { slot, tag, octets });
        Ok(())
    }

    /// Free places in the transmit ring of a NIC; 0 for any other port.
    #[must_use]
    pub fn ring_free(&self, nic: PortId) -> usize {
        let Ok(Place::Port(p)) = self.topology.place(nic) else {
            return 0;
        };
        let port = &self.topology.port(p);
        match port.owner {
            Owner::Nic { ring_frames } => ring_frames.saturating_sub(port.tx.queue.len()),
            Owner::Switch { .. } => 0,
        }
    }

    /// Pass time up to and including `now`; frames that reached hosts are appended to `out` in order of time.
    pub fn poll(&mut self, now: Ps, out: &mut Vec<Delivery>) {
        self.pass_time(now);
        self.tally.delivered += self.outbox.deliveries().len() as u64;
        self.outbox.take_deliveries(out);
    }

    /// Time of the next event (a past moment if deliveries wait to be polled). `None`: nothing happens until the next
    /// call. Falling asleep, refresh and ageing (also of LLDP) are not events; they are computed on demand.
    #[must_use]
    pub fn poll_at(&self) -> Option<Ps> {
        match self.outbox.deliveries().first() {
            Some(delivery) => Some(delivery.at),
            None => self.agenda.next_at(),
        }
    }

    /// Frame counts of the whole fabric; they obey the conservation law.
    pub fn frames(&mut self, now: Ps) -> Frames {
        self.pass_time(now);
        let waiting: u64 = self
            .topology
            .ports()
            .iter()
            .map(|port| port.tx.in_flight())
            .sum();
        let Tally {
            offered,
            copies,
            delivered,
            consumed,
            dropped,
        } = self.tally;
        Frames {
            offered,
            copies,
            delivered,
            consumed,
            dropped,
            in_flight: waiting + self.outbox.deliveries().len() as u64,
        }
    }

    /// Move recorded frames of tapped cables to `out`, in order of time.
    pub fn take_tapped(&mut self, out: &mut Vec<Tapped>) {
        self.outbox.take_tapped(out);
    }

    /// Move alarms to `out`, in order of time.
    pub fn take_alarms(&mut self, out: &mut Vec<Alarm>) {
        self.outbox.take_alarms(out);
    }

    /// Move to `out` the NICs whose link came up (true) or went down (false) since the last call, in order of their
    /// ids. Of several changes of one NIC only the last is reported.
    pub fn take_nic_links(&mut self, out: &mut Vec<(PortId, bool)>) {
        self.outbox.take_nic_links(out);
    }

    /// Whether [`Fabric::take_nic_links`] has anything to report.
    #[must_use]
    pub fn nic_links_changed(&self) -> bool {
        self.outbox.has_nic_links()
    }

    /// Run what is due by `now`; returns the present moment.
    pub(crate) fn pass_time(&mut self, now: Ps) -> Ps {
        let now = now.max(self.now());
        while let Some((at, event)) = self.agenda.pop_due(now) {
            match event {
                Event::Arrive(port) => self.on_arrive(at, port),
                Event::ArrivePause(port) => self.on_arrive_pause(at, port),
                Event::Start(port) => self.on_start(at, port),
                Event::Free(port) => self.on_free(at, port),
                Event::PauseEnd(port) => self.on_pause_end(at, port),
                Event::PauseAgain(port) => self.on_pause_again(at, port),
                Event::LinkUp(cable) => self.on_link_up(at, cable),
                Event::Announce(port) => self.on_announce(at, port),
            }
        }
        self.agenda.set_now(now);
        now
    }
}
