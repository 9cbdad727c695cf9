//! Input of the fabric: switches, NICs and changes of their configuration.
//!
//! A change is a value; its absent fields keep the present setting.

use crate::frame::Mac;
use crate::id::{PortId, SwitchId};
use crate::lldp::Announcement;
use crate::lpi::{Mode, Timing};
use crate::phy::{Eee, Phy};
use crate::time::{PS_PER_S, PS_PER_US, Ps};

/// A switch to be added.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchSpec {
    /// Name, for alarms and errors.
    pub name: String,
    /// PHY profile of each physical port, for instance `"1000BASE-T"`; it also does its lower speeds.
    pub phys: Vec<String>,
    /// Name of each physical port; as many as `phys`.
    pub port_names: Vec<String>,
    /// Address of the switch. Its PAUSE frames carry it plus the bridge port number.
    pub base_mac: Mac,
    /// Number of LAGs, empty at first. Their bridge ports follow the physical ones.
    pub lag_count: usize,
    /// Time from the loss of a member's link until a LAG spreads flows over the others. Until then those of the lost
    /// member are lost. 0: at once, so none is.
    pub lag_rehash: Ps,
    /// Time from the last bit of a frame received to its place in an egress queue.
    pub latency: Ps,
    /// Bytes that may wait at one egress port.
    pub egress_queue_byte: usize,
    /// Bytes that may wait in the whole switch.
    pub buffer_byte: usize,
    /// Shared learning (SVL): one forwarding database for all VLANs, instead of one per VLAN (IVL).
    pub shared_learning: bool,
    /// Capacity of the forwarding database, static entries included.
    pub fdb_size: usize,
    /// FDB ageing time; 0: never.
    pub ageing: Ps,
}

impl SwitchSpec {
    /// A store-and-forward switch of `ports` equal ports named `1`, `2`, …: 2 µs latency, 256 KiB per egress queue, 2
    /// MiB in all, independent learning, 16 384 FDB entries, 300 s ageing.
    #[must_use]
    pub fn new(name: &str, phy: &str, ports: usize) -> Self {
        Self {
            name: name.to_owned(),
            phys: vec![phy.to_owned(); ports],
            port_names: (1..=ports).map(|number| number.to_string()).collect(),
            base_mac: [0x02, 0x5e, 0, 0, 0, 0],
            lag_count: 0,
            lag_rehash: 0,
            latency: 2 * PS_PER_US,
            egress_queue_byte: 262_144,
            buffer_byte: 2_097_152,
            shared_learning: false,
            fdb_size: 16_384,
            ageing: 300 * PS_PER_S,
        }
    }
}

/// The identifiers that `add_switch` assigned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchHandle {
    /// The switch.
    pub switch: SwitchId,
    /// Physical ports; index 0 is bridge port 1.
    pub ports: Vec<PortId>,
    /// LAGs.
    pub lags: Vec<PortId>,
}

/// A host's NIC to be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NicSpec {
    /// Name, for alarms and errors.
    pub name: String,
    /// Address, the source of its PAUSE frames.
    pub mac: Mac,
    /// PHY profile.
    pub phy: String,
    /// Frames that may wait in its transmit ring.
    pub ring_frames: usize,
}

impl NicSpec {
    /// A NIC with a ring of 1024 frames.
    #[must_use]
    pub fn new(name: &str, mac: Mac, phy: &str) -> Self {
        Self {
            name: name.to_owned(),
            mac,
            phy: phy.to_owned(),
            ring_frames: 1024,
        }
    }
}

/// Which frames a port admits (dot1qPortAcceptableFrameTypes).
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Acceptable {
    /// All.
    #[default]
    All,
    /// Only VLAN-tagged frames; untagged and priority-tagged ones are discarded.
    Tagged,
    /// Only untagged and priority-tagged frames.
    Untagged,
}

/// A change of a port's physical layer.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct PortChange {
    /// Administratively up.
    pub admin_up: Option<bool>,
    /// Autonegotiation; without it, the one advertised speed is forced.
    pub autoneg: Option<bool>,
    /// Speeds offered to the partner.
    pub advertised_mbps: Option<Vec<u32>>,
    /// Offer 802.3x PAUSE in both directions.
    pub flow_control: Option<bool>,
    /// Offer EEE.
    pub eee: Option<bool>,
    /// Largest frame taken and sent, without FCS and tag; at most 9216.
    pub mtu_byte: Option<usize>,
}

/// A change of a bridge port's VLAN rules.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct PortVlanChange {
    /// PVID: the VLAN of untagged frames received.
    pub pvid: Option<u16>,
    /// Which frames are admitted.
    pub acceptable: Option<Acceptable>,
    /// Discard received frames of VLANs that the port is not in.
    pub ingress_filtering: Option<bool>,
}

/// A change of a whole bridge.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct BridgeChange {
    /// Ageing time; 0: never.
    pub ageing: Option<Ps>,
    /// Shared learning (SVL). A change flushes the learned entries.
    pub shared_learning: Option<bool>,
}

/// A change of the LPI policy of a port's transmitter; it is merged into the timing set before.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct LpiChange {
    /// Mode.
    pub mode: Option<Mode>,
    /// Hold (power-down threshold): idle time before LPI is asserted.
    pub hold: Option<Ps>,
    /// Ts, cannot be cut short.
    pub sleep: Option<Ps>,
    /// Tq.
    pub quiet: Option<Ps>,
    /// Tr.
    pub refresh: Option<Ps>,
    /// Tw.
    pub wake: Option<Ps>,
    /// Tw when the frame arrived during Ts. Defaults to `wake` where that is set.
    pub wake_during_sleep: Option<Ps>,
    /// Tw of fast wake.
    pub fast_wake: Option<Ps>,
    /// Hybrid: time in fast wake before deep sleep.
    pub deep_after: Option<Ps>,
    /// Wake when this many bytes wait; 0: no limit.
    pub coalesce_byte: Option<u32>,
    /// Wake when the first frame has waited this long; 0: no limit.
    pub coalesce: Option<Ps>,
}

impl LpiChange {
    /// This change overridden by a later one.
    #[must_use]
    pub const fn merged(&self, later: &Self) -> Self {
        macro_rules! latest {
            ($($field:ident),*) => {
                Self { $($field: if later.$field.is_some() { later.$field } else { self.$field }),* }
            };
        }
        latest!(
            mode,
            hold,
            sleep,
            quiet,
            refresh,
            wake,
            wake_during_sleep,
            fast_wake,
            deep_after,
            coalesce_byte,
            coalesce
        )
    }

    /// Whether a PHY supports a mode at a speed, or the configured times provide for it.
    pub(crate) fn permits(&self, phy: &Phy, speed_mbps: u32, mode: Mode) -> bool {
        let eee = phy.eee_at(speed_mbps);
        let deep = self.sleep.is_some() && self.wake.is_some();
        let fast = self.fast_wake.is_some();
        match mode {
            Mode::Off => true,
            Mode::Deep => deep || eee.is_some_and(|eee| eee.permits(Mode::Deep)),
            Mode::Fast => fast || eee.is_some_and(|eee| eee.permits(Mode::Fast)),
            Mode::Hybrid => {
                self.permits(phy, speed_mbps, Mode::Deep)
                    && self.permits(phy, speed_mbps, Mode::Fast)
            }
        }
    }

    /// Mode and times of a transmitter: the configured ones, else those of its PHY at that speed. A mode that the
    /// speed does not support falls back to the default of the PHY.
    pub(crate) fn policy(&self, phy: &Phy, speed_mbps: u32) -> (Mode, Timing) {
        let eee = phy.eee_at(speed_mbps);
        let own = eee.map_or(Mode::Off, Eee::mode);
        let mode = self
            .mode
            .filter(|mode| self.permits(phy, speed_mbps, *mode))
            .unwrap_or(own);
        let base = eee.map(Eee::timing).unwrap_or_default();
        let wake = self.wake.unwrap_or(base.wake);
        let timing = Timing {
            hold: self.hold.unwrap_or(base.hold),
            sleep: self.sleep.unwrap_or(base.sleep),
            quiet: self.quiet.unwrap_or(base.quiet),
            refresh: self.refresh.unwrap_or(base.refresh),
            wake,
            wake_during_sleep: self.wake_during_sleep.unwrap_or(if self.wake.is_some() {
                wake
            } else {
                base.wake_during_sleep
            }),
            fast_wake: self.fast_wake.unwrap_or(base.fast_wake),
            deep_after: self.deep_after.unwrap_or(base.deep_after),
            coalesce_byte: self.coalesce_byte.unwrap_or(base.coalesce_byte),
            coalesce: self.coalesce.unwrap_or(base.coalesce),
        };
        (mode, timing)
    }
}

/// Configuration of a port's LLDP agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LldpSetting {
    /// What it announces; wake times are added when EEE is in force and this has any.
    pub announcement: Announcement,
    /// It announces.
    pub transmit: bool,
    /// It listens.
    pub receive: bool,
    /// Time between announcements.
    pub interval: Ps,
}
