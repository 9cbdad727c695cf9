//! Output of the fabric: states, counters, tables, alarms. Plain values, computed when they are read.

use crate::frame::{Frame, Mac};
use crate::id::{CableId, PortId};
use crate::ledger::LpiState;
use crate::lldp::Announcement;
use crate::lpi::Mode;
use crate::spec::Acceptable;
use crate::time::Ps;

/// A frame that reached a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The NIC that received it.
    pub nic: PortId,
    /// When its last bit arrived.
    pub at: Ps,
    /// The frame.
    pub frame: Frame,
}

/// A frame seen on a tapped cable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tapped {
    /// The cable.
    pub cable: CableId,
    /// When its first bit was sent.
    pub at: Ps,
    /// The port that sent it.
    pub from_port: PortId,
    /// The frame; `Frame::to_wire` gives the bytes as they stood on the wire.
    pub frame: Frame,
}

/// A condition that an operator should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alarm {
    /// When.
    pub at: Ps,
    /// One sentence.
    pub text: String,
}

/// State of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortState {
    /// Name.
    pub name: String,
    /// Administratively up.
    pub admin_up: bool,
    /// Link up; of a LAG: at least one member up.
    pub oper_up: bool,
    /// Cable plugged in.
    pub cable: Option<CableId>,
    /// Speed; 0 when down. Of a LAG: the sum of its members that are up.
    pub speed_mbps: u32,
    /// Speeds offered.
    pub advertised_mbps: Vec<u32>,
    /// Autonegotiation is on.
    pub autoneg: bool,
    /// Honours PAUSE (negotiated).
    pub flow_control_rx: bool,
    /// Sends PAUSE (negotiated).
    pub flow_control_tx: bool,
    /// Flow control is offered.
    pub flow_control_admin: bool,
    /// EEE is offered.
    pub eee_admin: bool,
    /// The PHY supports EEE at the present speed, or when down at its best speed.
    pub eee_supported: bool,
    /// Both ends support and advertise EEE, and the link is up.
    pub eee_active: bool,
    /// LPI policy of the transmitter.
    pub lpi_mode: Mode,
    /// LPI state of the transmitter.
    pub lpi_now: LpiState,
    /// PVID; 0 on a NIC.
    pub pvid: u16,
    /// Frames admitted.
    pub acceptable: Acceptable,
    /// Ingress filtering.
    pub ingress_filtering: bool,
    /// In the discarding state of spanning tree.
    pub blocked: bool,
    /// The LAG it is in.
    pub lag: Option<PortId>,
    /// Largest frame, without FCS and tag.
    pub mtu_byte: usize,
    /// When the link last went up or down.
    pub since: Ps,
    /// How often the link went up or down.
    pub flaps: u64,
    /// Bytes waiting in the egress queue or NIC ring.
    pub queue_byte: usize,
}

/// IF-MIB, EtherLike-MIB and LPI counters since creation or the switch's boot. A LAG shows its members' sums.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct PortCounters {
    /// Octets received, FCS included (ifHCInOctets).
    pub in_octets: u64,
    /// Unicast frames received.
    pub in_ucast: u64,
    /// Multicast frames received.
    pub in_mcast: u64,
    /// Broadcast frames received.
    pub in_bcast: u64,
    /// Received and discarded: VLAN rules, acceptable frame types, blocked, budget, buffer full.
    pub in_discards: u64,
    /// Received in error (too long).
    pub in_errors: u64,
    /// Octets sent, FCS included.
    pub out_octets: u64,
    /// Unicast frames sent.
    pub out_ucast: u64,
    /// Multicast frames sent.
    pub out_mcast: u64,
    /// Broadcast frames sent.
    pub out_bcast: u64,
    /// Not sent: queue or buffer full, larger than the port's MTU, link lost.
    pub out_discards: u64,
    /// Truncated by a link loss.
    pub out_errors: u64,
    /// PAUSE frames received.
    pub in_pause: u64,
    /// PAUSE frames sent.
    pub out_pause: u64,
    /// Frames received beyond the MTU (dot3StatsFrameTooLongs).
    pub in_too_long: u64,
    /// Times this end's transmitter entered LPI.
    pub tx_lpi_events: u64,
    /// Time this end's transmitter was in LPI, in picoseconds.
    pub tx_lpi: Ps,
    /// Times the partner's transmitter entered LPI.
    pub rx_lpi_events: u64,
    /// Time the partner's transmitter was in LPI, in picoseconds.
    pub rx_lpi: Ps,
    /// Received and discarded because the frame budget was used up; part of `in_discards`.
    pub storm_drops: u64,
}

/// Members of a VLAN and its untagged members, in order of ports.
pub type VlanPorts = (Vec<PortId>, Vec<PortId>);

/// One entry of a forwarding database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FdbEntry {
    /// VLAN. Of a learned entry under shared learning: the VLAN in which the address was last seen.
    pub vid: u16,
    /// Address.
    pub mac: Mac,
    /// Port or LAG.
    pub port: PortId,
    /// A static entry.
    pub is_static: bool,
    /// Time since the address was last seen; 0 for a static entry.
    pub age: Ps,
}

/// The conservation law: `offered + copies == delivered + consumed + dropped + in_flight` at every moment.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct Frames {
    /// Handed in by hosts and accepted.
    pub offered: u64,
    /// Extra frames made by flooding (n egress ports count n − 1), and PAUSE frames made.
    pub copies: u64,
    /// Handed to hosts.
    pub delivered: u64,
    /// Terminated: PAUSE and other link-local frames, and frames without an egress port.
    pub consumed: u64,
    /// Lost: queues, rules, links, budget.
    pub dropped: u64,
    /// In a ring, in a queue, on a cable, or waiting to be polled. Counted one by one, not as the difference of the
    /// others.
    pub in_flight: u64,
}

/// State of a bridge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BridgeState {
    /// Name of the switch.
    pub name: String,
    /// Address of the switch.
    pub base_mac: Mac,
    /// Switched on.
    pub powered: bool,
    /// Ageing time; 0: never.
    pub ageing: Ps,
    /// Shared learning (SVL).
    pub shared_learning: bool,
    /// Capacity of the forwarding database.
    pub fdb_size: usize,
    /// Addresses not learned because the forwarding database was full (dot1dTpLearnedEntryDiscards).
    pub fdb_discards: u64,
    /// Bytes waiting in the whole switch.
    pub buffered_byte: usize,
}

impl PortCounters {
    pub(crate) const fn plus(&self, other: &Self) -> Self {
        macro_rules! sum {
            ($($field:ident),*) => { Self { $($field: self.$field + other.$field),* } };
        }
        sum!(
            in_octets,
            in_ucast,
            in_mcast,
            in_bcast,
            in_discards,
            in_errors,
            out_octets,
            out_ucast,
            out_mcast,
            out_bcast,
            out_discards,
            out_errors,
            in_pause,
            out_pause,
            in_too_long,
            tx_lpi_events,
            tx_lpi,
            rx_lpi_events,
            rx_lpi,
            storm_drops
        )
    }
}

/// A neighbour that a port hears by LLDP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    /// What it announced last.
    pub announcement: Announcement,
    /// When its first announcement came, or the last one that was different.
    pub since: Ps,
    /// When the last announcement came.
    pub at: Ps,
    /// Number among all neighbours that the port has ever had, from 1 (lldpRemIndex).
    pub index: u32,
}
