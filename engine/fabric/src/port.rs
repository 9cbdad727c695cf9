//! A physical port: MAC and PHY of a switch port or of a host's NIC.

use std::collections::VecDeque;

use crate::buffer::Backlog;
use crate::frame::{Frame, MAX_FRAME_BYTE, Mac, Tag, is_broadcast, is_group};
use crate::id::PortId;
use crate::link::{End, Pause};
use crate::lldp_agent::LldpAgent;
use crate::lpi::LpiTx;
use crate::phy::Phy;
use crate::report::PortCounters;
use crate::spec::LpiChange;
use crate::store::Slot;
use crate::time::Ps;

/// Largest frame of a switch port without jumbo frames: 1518 bytes less the FCS.
pub(crate) const STANDARD_FRAME_BYTE: usize = 1_514;

/// Owner of a port.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A host's.
    Nic {
        /// Frames that may wait in its ring.
        ring_frames: usize,
    },
    /// A switch's.
    Switch {
        /// Index of the switch.
        switch: u32,
        /// Its bridge port index when it is not in a LAG.
        index: u16,
    },
}

/// A copy of a frame that waits to be sent.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Queued {
    pub(crate) slot: Slot,
    /// The tag with which it leaves here.
    pub(crate) tag: Option<Tag>,
    /// With that tag, FCS and padding.
    pub(crate) octets: u32,
}

/// A frame on a cable, or behind it in the latency of the switch.
#[derive(Debug)]
pub(crate) struct InAir {
    /// When the partner processes it: last bit received, plus the latency of a switch.
    pub(crate) due: Ps,
    /// When its last bit leaves.
    pub(crate) sent: Ps,
    pub(crate) frame: Frame,
}

/// A PAUSE frame on a cable. It takes effect at the MAC, before data frames that the switch is still processing.
#[derive(Copy, Clone, Debug)]
pub(crate) struct PauseInAir {
    pub(crate) due: Ps,
    pub(crate) quanta: u16,
}

/// Phase of a transmitter.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing to send, or paused.
    Idle,
    /// Too little waits to wake the link.
    Coalescing {
        /// When the coalescing timer expires.
        until: Ps,
    },
    /// The link wakes.
    Waking {
        /// When bits can start.
        at: Ps,
    },
    /// Bits of a frame or the gap behind it.
    Sending {
        /// When the next frame can start.
        until: Ps,
    },
}

/// The sending half of a port.
#[derive(Debug)]
pub(crate) struct Transmitter {
    pub(crate) phase: Phase,
    pub(crate) queue: VecDeque<Queued>,
    pub(crate) queue_byte: usize,
    /// A PAUSE frame to send before anything else, by its quanta.
    pub(crate) pause_due: Option<u16>,
    /// The partner's PAUSE holds until then.
    pub(crate) paused_until: Ps,
    /// The frame being sent; it occupies the buffer until its last bit has left.
    pub(crate) sending: Option<Slot>,
    pub(crate) air: VecDeque<InAir>,
    pub(crate) pause_air: VecDeque<PauseInAir>,
    pub(crate) lpi: LpiTx,
}

impl Transmitter {
    fn new(now: Ps) -> Self {
        Self {
            phase: Phase::Idle,
            queue: VecDeque::new(),
            queue_byte: 0,
            pause_due: None,
            paused_until: 0,
            sending: None,
            air: VecDeque::new(),
            pause_air: VecDeque::new(),
            lpi: LpiTx::new(now),
        }
    }

    /// Whether a frame may be sent now: PAUSE always, data unless paused.
    pub(crate) fn has_work(&self, now: Ps) -> bool {
        self.pause_due.is_some() || !self.queue.is_empty() && now >= self.paused_until
    }

    /// Frames in the queue and on the cable.
    pub(crate) fn in_flight(&self) -> u64 {
        (self.queue.len() + self.air.len() + self.pause_air.len()) as u64
    }
}

/// State of the link, in the form that each frame needs.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Carrier {
    pub(crate) up: bool,
    pub(crate) speed_mbps: u32,
    /// Transmission time of one byte.
    pub(crate) byte: Ps,
    /// Propagation delay.
    pub(crate) propagation: Ps,
    /// Propagation delay, plus the latency of the partner if it is a switch.
    pub(crate) arrival: Ps,
    pub(crate) pause: Pause,
    pub(crate) eee: bool,
}

/// LPI figures at the last reset of the counters.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct LpiBase {
    pub(crate) tx_events: u64,
    pub(crate) tx: Ps,
    pub(crate) rx_events: u64,
    pub(crate) rx: Ps,
}

/// A physical port.
#[derive(Debug)]
pub(crate) struct Port {
    pub(crate) id: PortId,
    pub(crate) name: String,
    pub(crate) mac: Mac,
    pub(crate) owner: Owner,
    /// Index of the bridge port that its frames belong to: its own or its LAG's.
    pub(crate) bridge_port: u16,
    pub(crate) end: End,
    /// Cable index and side.
    pub(crate) cable: Option<(u32, usize)>,
    /// The port at the other end of the cable; its own index without cable.
    pub(crate) peer: u32,
    pub(crate) tapped: bool,
    pub(crate) mtu_byte: usize,
    pub(crate) lpi_change: LpiChange,
    pub(crate) carrier: Carrier,
    pub(crate) since: Ps,
    pub(crate) flaps: u64,
    pub(crate) tx: Transmitter,
    pub(crate) backlog: Backlog,
    pub(crate) counters: PortCounters,
    pub(crate) lpi_base: LpiBase,
    pub(crate) lldp: LldpAgent,
}

impl Port {
    pub(crate) fn new(
        now: Ps,
        id: PortId,
        index: u32,
        name: String,
        mac: Mac,
        owner: Owner,
        phy: &'static Phy,
    ) -> Self {
        let (bridge_port, mtu_byte) = match owner {
            Owner::Nic { .. } => (0, MAX_FRAME_BYTE),
            Owner::Switch { index, .. } => (index, STANDARD_FRAME_BYTE),
        };
        let mut port = Self {
            id,
            name,
            mac,
            owner,
            bridge_port,
            end: End::new(phy),
            cable: None,
            peer: index,
            tapped: false,
            mtu_byte,
            lpi_change: LpiChange::default(),
            carrier: Carrier::default(),
            since: now,
            flaps: 0,
            tx: Transmitter::new(now),
            backlog: Backlog::default(),
            counters: PortCounters::default(),
            lpi_base: LpiBase::default(),
            lldp: LldpAgent::default(),
        };
        port.apply_lpi_policy(now);
        port
    }

    /// Set the transmitter to the times of its PHY at the present (or best) speed, overridden by what was configured.
    pub(crate) fn apply_lpi_policy(&mut self, now: Ps) {
        let best = self.end.phy.speed_mbps();
        let speed_mbps = if self.carrier.up {
            self.carrier.speed_mbps
        } else {
            best
        };
        let (mode, timing) = self.lpi_change.policy(self.end.phy, speed_mbps);
        self.tx.lpi.set_policy(now, mode, timing);
    }

    /// Set the counters to zero; those of LPI count from `base` on.
    pub(crate) fn reset_counters(&mut self, base: LpiBase) {
        self.lpi_base = base;
        self.counters = PortCounters::default();
    }

    pub(crate) fn count_in(&mut self, frame: &Frame) {
        let counters = &mut self.counters;
        counters.in_octets += frame.octets();
        let destination = frame.destination();
        if !is_group(destination) {
            counters.in_ucast += 1;
        } else if is_broadcast(destination) {
            counters.in_bcast += 1;
        } else {
            counters.in_mcast += 1;
        }
    }

    pub(crate) fn count_out(&mut self, frame: &Frame, octets: u32) {
        let counters = &mut self.counters;
        counters.out_octets += u64::from(octets);
        let destination = frame.destination();
        if !is_group(destination) {
            counters.out_ucast += 1;
        } else if is_broadcast(destination) {
            counters.out_bcast += 1;
        } else {
            counters.out_mcast += 1;
        }
    }
}
