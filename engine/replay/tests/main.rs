//! Laws of replay.
