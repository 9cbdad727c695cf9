//! Packet-level simulation of lossless interconnects with links that sleep; without clock, thread or I/O.
//!
//! Time is counted in cycles of the routers' clock. The same description and the same seed give the same result, to the
//! last bit.
//!
//! | module | contents |
//! | --- | --- |
//! | [`rng`], [`error`] | random numbers by seed; what a description can get wrong |
//! | [`network`] | routers, ports, nodes, links |
//! | [`topology`] | torus, trees, dragonfly, HyperX, any graph |
//! | [`routing`] | where a packet may go next, and the proof that this cannot deadlock |
//! | [`traffic`] | who sends to whom |
//! | [`parameters`] | routers' virtual channels, buffers and pipeline; packets |
//! | [`link`] | one direction of a link: rate, low-power idle, time in state |
//! | [`measure`] | latencies, accepted traffic |
//! | [`flit`] | the flit engine: cycle by cycle |
//! | [`packet`] | the packet engine: an event a hop |
//! | [`tcep`] | which links are on: the decisions of TCEP |
//! | [`zero_load`] | latency without other traffic, in closed form |

pub mod consolidation;
pub mod error;
pub mod flit;
pub mod link;
pub mod measure;
pub mod network;
pub mod packet;
pub mod parameters;
pub mod prefetch;
pub mod rng;
pub mod routing;
mod slots;
pub mod tcep;
pub mod topology;
pub mod traffic;
mod wheel;
pub mod zero_load;

pub use error::SimulationError;
pub use flit::FlitEngine;
pub use network::Network;
pub use packet::PacketEngine;
pub use parameters::{RouterParameters, Switching};
