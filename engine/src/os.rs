//! Operating-system primitives: clocks, locks, scheduling classes, signals, wake-ups.

pub mod clock;
pub mod inherit;
pub mod quota;
pub mod sched;
pub mod signals;
pub mod wake;
