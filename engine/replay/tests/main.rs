//! One program for all integration tests of the crate: it is built and linked once.

mod collectives;
