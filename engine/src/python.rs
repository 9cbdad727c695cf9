//! The Python module `eee_engine`.

pub mod agent;
pub mod echo_walk;
pub mod engine;
pub mod error;
pub mod fabric;
pub mod interconnect;
pub mod lab_clock;
pub mod network_description;
pub mod read;
pub mod replay;
pub mod show;
pub mod trace;
pub mod virtual_engine;
