//! The fabric: Ethernet switches, cables and hosts' NICs, with Energy-Efficient Ethernet on every link;
//! without clock, thread or I/O.
//!
//! # Shape
//!
//! Frames and commands go in with the time, deliveries come out with the time, and [`Fabric::poll_at`] says
//! when the fabric wants to be called next. The same core therefore runs on the wall clock (with TAP devices
//! around it), on a clock that jumps from event to event, and in a test. Time is [`Ps`], picoseconds in 64
//! bits: a byte takes a whole number of them at every Ethernet rate.
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
//! # The way of a frame
//!
//! ```text
//! host ──> ring ──> transmitter ──> cable ──> latency ──> bridge ──> queue ──> transmitter ──> …
//! ```
//! - ring (`fabric`): a NIC's ring of frames; when it is full the frame is handed back.
//! - transmitter (`sending`): PAUSE first, then first come first served; waits for the partner's PAUSE and for the
//!   link to wake; then preamble, bytes, FCS and gap at the speed of the link. When a sleeping transmitter can
//!   start, and what it did with its time, is the matter of [`lpi`] and [`ledger`].
//! - cable (`cable`, [`link`], [`phy`]): 5 ns/m; negotiation of speed, PAUSE and EEE; cuts and interruptions.
//! - bridge (`receiving`, `switch`, `vlan`, `fdb`, `lag`): 802.1Q classification and ingress rules, learning,
//!   lookup or flooding, egress tags, and the LAG's hash.
//! - buffer (`receiving`, `store`, `pause`): a shared buffer, egress limits, 802.3x generation per ingress port.
//! - storm (`budget`): frames a second for the whole fabric, and an alarm.
//!
//! Configuration is in `cable` (ports, links, power) and `bridge` (VLANs, tables, LAGs), observation in
//! `observe`; values that go in are in [`spec`], those that come out in [`report`]; the event queue is
//! `agenda`.
//!
//! # Events
//!
//! A hop costs two events: the transmitter is free again, and the frame is at the partner. An event is a
//! hint, not an order: the port holds what it expects (`Phase`, what is in the air), and an event that does
//! not fit is ignored, so nothing has to be taken out of the queue when a link is lost or a wake moves. What
//! changes nothing visible (falling asleep, refresh, ageing of addresses, the second before LPI is permitted)
//! has no event: it is computed when someone asks, so an idle fabric costs nothing.
//!
//! # Determinism
//!
//! Same calls, same results, and however often someone looks between: events of one moment run in the order
//! in which they were entered, tables are shown in order, and the seed enters only the LAG hash, as switches'
//! hash seeds do.
//!
//! # Laws
//!
//! `tests/` holds them, most as properties of random fabrics under random calls:
//! - [`Frames`]: offered + copies = delivered + consumed + dropped + in flight, at every moment.
//! - Time in state adds up to the age of the transmitter ([`Ledger`]).
//! - One switch does what a plainly written textbook bridge does; a frame leaves only on members of its VLAN.
//! - In a tree no host gets a frame twice.
//! - Asymmetric VLANs flood for ever under independent learning, and not with static entries.
//! - Poisson arrivals at a sleeping link match the closed form.
//!
//! # Simplifications
//!
//! Each is written where it is made, with what a measurement could tell apart: [`link`] (negotiation),
//! `pause` (thresholds), `lag` (hash), `budget` (no switch has one). Besides those:
//! - A switch counts and judges a frame when its latency is over, not when its last bit arrives: counters lag
//!   by microseconds. MAC control frames are taken at their last bit.
//! - A port's counters of packets leave PAUSE frames out and its octets include them.
//! - One queue a port: priorities are carried in the tag and do not overtake. A measurement with
//!   802.1p-marked traffic under congestion would tell.
//! - Bits are never damaged: there are no FCS errors, so no counter of them.
//! - A host's kernel takes what its NIC receives at once; NICs filter no addresses.

mod bridge;
mod buffer;
mod cable;
mod error;
mod fabric;
pub mod frame;
mod id;
pub mod ledger;
pub mod link;
pub mod lpi;
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
    Alarm, BridgeState, Delivery, FdbEntry, Frames, PortCounters, PortState, Tapped, VlanPorts,
};
pub use spec::{
    Acceptable, BridgeChange, LpiChange, NicSpec, PortChange, PortVlanChange, SwitchHandle,
    SwitchSpec,
};
pub use time::Ps;
