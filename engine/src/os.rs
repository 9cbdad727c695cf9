//! Operating-system primitives: clocks, idle processors, locks, scheduling classes, timers of kernels, signals, wake-ups.

pub mod clock;
pub mod idle_processors;
pub mod inherit;
pub mod kernel_timers;
pub mod quota;
pub mod sched;
pub mod signals;
pub mod wake;
