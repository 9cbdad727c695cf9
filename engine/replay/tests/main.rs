//! One program for all integration tests of the crate: it is built and linked once.

mod closed_forms;
mod collectives;
mod jobs;
mod laws;
mod matching;
mod pipelines;
mod rendezvous;
mod support;
mod ti;
