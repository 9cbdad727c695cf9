//! The fabric as a whole: what it is made of, and how time passes in it.

use std::collections::BTreeMap;

use crate::agenda::{Agenda, Event};
use crate::budget::Budget;
use crate::cable::Cable;
use crate::error::FabricError;
use crate::frame::Frame;
use crate::port::{Owner, Port, Queued};
use crate::report::{Alarm, Delivery, Frames, Tapped};
use crate::store::{NO_PORT, Store};
use crate::switch::Switch;
use crate::time::Ps;
use crate::{PortId, SwitchId};

/// Least bytes of a frame: two addresses and an EtherType.
const HEADER_BYTE: usize = 14;

/// Where a port id leads.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A physical port, by index.
    Port(u32),
    /// A LAG: index of its switch, and its bridge port index there.
    Lag(u32, u16),
}

/// Frame counts but those in flight, which are counted by looking.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) offered: u64,
    pub(crate) copies: u64,
    pub(crate) delivered: u64,
    pub(crate) consumed: u64,
    pub(crate) dropped: u64,
}

/// Switches, NICs and cables, and everything that happens between them.
///
/// Every call that takes `now` first lets time pass up to it; a `now` before an earlier one counts as the
/// latest. Frames that reach hosts meanwhile are kept for the next [`Fabric::poll`].
#[derive(Debug)]
pub struct Fabric {
    pub(crate) now: Ps,
    pub(crate) seed: u64,
    pub(crate) agenda: Agenda,
    pub(crate) places: Vec<Place>,
    pub(crate) ports: Vec<Port>,
    pub(crate) switches: Vec<Switch>,
    pub(crate) cables: Vec<Cable>,
    pub(crate) store: Store,
    pub(crate) budget: Budget,
    pub(crate) tally: Tally,
    pub(crate) deliveries: Vec<Delivery>,
    pub(crate) tapped: Vec<Tapped>,
    pub(crate) alarms: Vec<Alarm>,
    pub(crate) nic_links: BTreeMap<PortId, bool>,
}

impl Fabric {
    /// An empty fabric. `seed` goes into the LAGs' flow hash; `frame_budget_per_s` is how many frames the
    /// switches may forward in a second (0: no limit).
    #[must_use]
    pub fn new(seed: u64, frame_budget_per_s: u64) -> Self {
        Self {
            now: 0,
            seed,
            agenda: Agenda::default(),
            places: Vec::new(),
            ports: Vec::new(),
            switches: Vec::new(),
            cables: Vec::new(),
            store: Store::default(),
            budget: Budget::new(frame_budget_per_s),
            tally: Tally::default(),
            deliveries: Vec::new(),
            tapped: Vec::new(),
            alarms: Vec::new(),
            nic_links: BTreeMap::new(),
        }
    }

    /// A host hands a frame to its NIC.
    ///
    /// A frame that the NIC cannot send at all (no link, too long, too short) is dropped and counted there. A
    /// tag that stands inside the bytes is lifted out.
    ///
    /// # Errors
    /// Gives the frame back if the ring is full (or if `nic` is no NIC): offer it again when
    /// [`Fabric::ring_free`] says so.
    pub fn transmit(&mut self, now: Ps, nic: PortId, frame: Frame) -> Result<(), Frame> {
        let now = self.pass_time(now);
        let Some(Place::Port(p)) = self.places.get(nic.0 as usize).copied() else {
            return Err(frame);
        };
        let port = &mut self.ports[p as usize];
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

    /// Free places in a NIC's transmit ring; 0 of what is no NIC.
    #[must_use]
    pub fn ring_free(&self, nic: PortId) -> usize {
        let Some(Place::Port(p)) = self.places.get(nic.0 as usize) else {
            return 0;
        };
        let port = &self.ports[*p as usize];
        match port.owner {
            Owner::Nic { ring_frames } => ring_frames.saturating_sub(port.tx.queue.len()),
            Owner::Switch { .. } => 0,
        }
    }

    /// Let time pass up to and including `now`; frames that reached hosts are appended to `out` in order of
    /// time.
    pub fn poll(&mut self, now: Ps, out: &mut Vec<Delivery>) {
        self.pass_time(now);
        self.tally.delivered += self.deliveries.len() as u64;
        out.append(&mut self.deliveries);
    }

    /// When something happens next (a moment that has passed if a frame waits to be polled); `None`: nothing
    /// will until someone calls. Falling asleep, refresh and ageing are not among it: they are computed when
    /// asked for.
    #[must_use]
    pub fn poll_at(&self) -> Option<Ps> {
        match self.deliveries.first() {
            Some(delivery) => Some(delivery.at),
            None => self.agenda.next_at(),
        }
    }

    /// Engine time: the latest `now` that was given.
    #[must_use]
    pub const fn now(&self) -> Ps {
        self.now
    }

    /// The conservation law of the whole fabric.
    pub fn frames(&mut self, now: Ps) -> Frames {
        self.pass_time(now);
        let waiting: u64 = self.ports.iter().map(|port| port.tx.in_flight()).sum();
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
            in_flight: waiting + self.deliveries.len() as u64,
        }
    }

    /// Move recorded frames of tapped cables to `out`, in order of time.
    pub fn take_tapped(&mut self, out: &mut Vec<Tapped>) {
        out.append(&mut self.tapped);
    }

    /// Move alarms to `out`, in order of time.
    pub fn take_alarms(&mut self, out: &mut Vec<Alarm>) {
        out.append(&mut self.alarms);
    }

    /// Move to `out` which NICs have a link since the last call, or have lost it (false), in order of their ids; of
    /// several changes of one NIC the last.
    pub fn take_nic_links(&mut self, out: &mut Vec<(PortId, bool)>) {
        out.extend(std::mem::take(&mut self.nic_links));
    }

    /// Whether [`Fabric::take_nic_links`] has something to give.
    #[must_use]
    pub fn nic_links_changed(&self) -> bool {
        !self.nic_links.is_empty()
    }

    /// Run what is due by `now`; returns the present moment.
    pub(crate) fn pass_time(&mut self, now: Ps) -> Ps {
        let now = now.max(self.now);
        while let Some((at, event)) = self.agenda.pop_due(now) {
            self.now = at;
            match event {
                Event::Arrive(port) => self.on_arrive(at, port),
                Event::ArrivePause(port) => self.on_arrive_pause(at, port),
                Event::Start(port) => self.on_start(at, port),
                Event::Free(port) => self.on_free(at, port),
                Event::PauseEnd(port) => self.on_pause_end(at, port),
                Event::PauseAgain(port) => self.on_pause_again(at, port),
                Event::LinkUp(cable) => self.on_link_up(at, cable),
            }
        }
        self.now = now;
        now
    }

    pub(crate) fn place(&self, port: PortId) -> Result<Place, FabricError> {
        self.places
            .get(port.0 as usize)
            .copied()
            .ok_or(FabricError::UnknownPort(port))
    }

    /// Index of a physical port.
    pub(crate) fn physical(&self, port: PortId, wants: &'static str) -> Result<u32, FabricError> {
        match self.place(port)? {
            Place::Port(p) => Ok(p),
            Place::Lag(switch, index) => Err(FabricError::WrongKind {
                name: self.switches[switch as usize].bridge_ports[index as usize]
                    .name
                    .clone(),
                is: "a LAG",
                wants,
            }),
        }
    }

    /// Index of a switch and of one of its bridge ports.
    pub(crate) fn bridge_place(&self, port: PortId) -> Result<(u32, u16), FabricError> {
        match self.place(port)? {
            Place::Lag(switch, index) => Ok((switch, index)),
            Place::Port(p) => match self.ports[p as usize].owner {
                Owner::Switch { switch, index } => Ok((switch, index)),
                Owner::Nic { .. } => Err(FabricError::WrongKind {
                    name: self.ports[p as usize].name.clone(),
                    is: "a host's NIC",
                    wants: "this is about ports of switches",
                }),
            },
        }
    }

    pub(crate) fn switch_at(&mut self, switch: SwitchId) -> Result<&mut Switch, FabricError> {
        self.switches
            .get_mut(switch.0 as usize)
            .ok_or(FabricError::UnknownSwitch(switch))
    }
}
