//! One program for all integration tests of the crate: it is built and linked once.

mod acknowledgements;
mod adaptive;
mod batches;
mod consolidation;
mod flit_laws;
mod gating;
mod golden;
mod link;
mod networks;
mod packet;
mod routing;
mod saturation;
mod sleep_beside_gating;
mod stages;
mod tcep;
mod topologies;
mod traffic;
mod turns;
