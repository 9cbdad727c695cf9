//! Ethernet switches, cables and hosts' NICs with Energy-Efficient Ethernet (IEEE 802.3az) on every link; without
//! clock, thread or I/O.
//!
//! # Shape
//!
//! Frames and commands go in with the time, deliveries come out with the time, and [`Fabric::poll_at`] returns the
//! time of the next event. The same core therefore runs on the wall clock (with TAP devices around it), on a clock
//! that jumps from event to event, and in a test. Time is [`Ps`], picoseconds in 64 bits: a byte takes a whole number
//! of them at every Ethernet rate.
//!
//! ```
//! use bytes::Bytes;
//! use fabric::time::PS_PER_S;
//! use fabric::{Fabric, Frame, NicSpec, SwitchSpec};
//!
//! # fn main() -> Result<(), fabric::FabricError> {
//! let mut fabric = Fabric::new(0, 0);
//! let switch = fabric.add_switch(SwitchSpec::new("sw1", "1000BASE-T", 8))?;
//! let [a, b] = [1, 2].map(|host| NicSpec::new("host", [2, 0, 0, 0, 0, host], "1000BASE-T"));
//! let (a, b) = (fabric.add_nic(a)?, fabric.add_nic(b)?);
//! fabric.connect(0, switch.ports[0], a, 2.0)?;
//! fabric.connect(0, switch.ports[1], b, 2.0)?;
//!
//! let now = 10 * PS_PER_S; // links are up, and asleep
//! let hello = Frame::from_wire(Bytes::from([&[0xff; 6][..], &[2, 0, 0, 0, 0, 1, 0x88, 0xb5, 42]].concat()));
//! fabric.transmit(now, a, hello).expect("the ring has room");
//! let mut out = Vec::new();
//! while let Some(at) = fabric.poll_at() {
//!     fabric.poll(at, &mut out);
//! }
//! assert_eq!((out.len(), out[0].nic), (1, b));
//! # Ok(())
//! # }
//! ```
//!
//! # The path of a frame
//!
//! ```text
//! host ──> ring ──> transmitter ──> cable ──> latency ──> bridge ──> queue ──> transmitter ──> …
//! ```
//! - ring (`fabric::polling`): the transmit ring of a NIC. A full ring hands the frame back.
//! - transmitter (`fabric::sending`): PAUSE first, then first come, first served. It waits for the partner's PAUSE and
//!   for the link to wake; then it sends preamble, bytes, FCS and gap at link speed. [`lpi`] decides when a sleeping
//!   transmitter can start; [`ledger`] records its time in each state.
//! - cable (`cable`, [`link`], [`phy`]): 5 ns/m; negotiation of speed, PAUSE and EEE; cuts and link-up times.
//! - bridge (`fabric::receiving`, `bridge`): 802.1Q classification and ingress rules, learning, lookup or flooding,
//!   egress tagging, and the LAG hash.
//! - buffer (`buffer`, `store`, `pause`): a shared buffer, egress limits, 802.3x PAUSE per ingress port.
//! - LLDP ([`lldp`], `fabric::announcing`): each port announces itself and keeps what it hears, if it is told to.
//! - storm (`bridge::budget`): a limit on frames per second for the whole fabric, and an alarm.
//!
//! Configuration is in `fabric::{building, port_config, bridge_config}`, observation in `fabric::observe`. Input
//! values are in [`spec`], output values in [`report`]. `fabric::agenda` is the event queue.
//!
//! # Events
//!
//! A hop costs two events: the transmitter is free again, and the frame has reached the partner. An event is a hint,
//! not an order: the port stores what it expects (`Phase`, the frames on the cable) and ignores an event that does not
//! match. So a lost link or a rescheduled wake removes nothing from the queue. State changes without visible effect
//! (falling asleep, refresh, FDB ageing, the second before LPI is permitted) have no event. They are computed when
//! someone reads them, so an idle fabric costs nothing.
//!
//! # Determinism
//!
//! The same calls give the same results, and reading state in between changes nothing. Events of one moment run in the
//! order in which they were entered, and tables are listed in order. The seed enters only the LAG hash, like the hash
//! seed of a switch.
//!
//! # Laws
//!
//! `tests/` checks them, most as properties of random fabrics under random calls:
//! - [`Frames`]: offered + copies = delivered + consumed + dropped + in flight, at every moment.
//! - The times in all states add up to the age of the transmitter ([`Ledger`]).
//! - One switch forwards exactly like a textbook bridge; a frame leaves only on members of its VLAN.
//! - In a tree no host gets a frame twice.
//! - Asymmetric VLANs flood forever under independent learning, and not with static entries.
//! - Poisson arrivals at a sleeping link match the closed form.
//!
//! # Simplifications
//!
//! Each is documented where it is made, with the measurement that could tell the difference: [`link`] (negotiation),
//! `buffer` (thresholds), `lag` (hash), `budget` (real switches have none). In addition:
//! - A switch counts and processes a frame when its latency is over, not when its last bit arrives: counters lag by
//!   microseconds. MAC control frames take effect at their last bit.
//! - The packet counters of a port leave PAUSE frames out; its octet counters include them.
//! - One queue per port: frames carry their priority in the tag, but none overtakes another. A measurement with
//!   802.1p-marked traffic under congestion would show it.
//! - The fabric has no bit errors, so no FCS errors and no counter of them.
//! - The kernel of a host takes what its NIC receives at once; NICs do not filter addresses.

mod bridge;
mod buffer;
mod cable;
mod error;
mod fabric;
pub mod frame;
mod id;
pub mod ledger;
pub mod link;
pub mod lldp;
mod lldp_agent;
pub mod lpi;
pub mod lpi_policy;
mod pause;
pub mod phy;
mod port;
pub mod report;
pub mod spec;
mod store;
pub mod time;

pub use error::FabricError;
pub use fabric::Fabric;
pub use frame::{CsumOffload, Frame, MAX_FRAME_BYTE, Mac, Tag};
pub use id::{CableId, PortId, SwitchId};
pub use ledger::{Ledger, LpiState};
pub use lpi::Mode;
pub use report::{
    Alarm, BridgeState, Delivery, FdbEntry, Frames, Heard, PortCounters, PortState, Tapped,
    VlanPorts,
};
pub use spec::{
    Acceptable, BridgeChange, LldpSetting, LpiChange, NicSpec, PortChange, PortVlanChange,
    SwitchHandle, SwitchSpec,
};
pub use time::Ps;
