//! The live engine: a thread that runs the fabric on the wall clock, between the TAPs of the hosts.

pub mod auto;
mod control;
mod driver;
pub mod engine;
pub mod lateness;
mod pace;
mod room;
mod warm;
