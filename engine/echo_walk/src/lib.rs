//! Delays that sleeping transmitters add to echoes, and the likelihood of round trips under them. Pure.
//!
//! A transmitter that was idle for longer than its hold falls asleep: that takes Ts and cannot be interrupted. Then a
//! frame that arrives waits for Tw (Miwa 2013, section 4.1; IEEE 802.3 clause 78). Echoes pass the transmitters of a path
//! one after the other; the delay of one echo shortens the idle time before the next, so they are walked in order.
//!
//! A fit tries hundreds of thousands of candidates on a thousand echoes: that is why this is not Python.

mod likelihood;
mod walk;

pub use likelihood::{Candidate, Lateness, Observed, error_densities, log_likelihood};
pub use walk::{Echoes, Sleeper, Timing, delays};
