//! The fabric: switches, links and their EEE state, without clock, thread or I/O.
