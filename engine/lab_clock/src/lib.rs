//! Lab time: the clock that everything in a virtual lab reads.
//!
//! Lab time is a continuous, strictly increasing, piecewise linear function of the wall's `CLOCK_MONOTONIC`. Its rate
//! (lab nanoseconds per wall nanosecond) may change while the lab runs; in the field this is called time dilation
//! (Gupta et al., NSDI 2006).
//!
//! * [`timeline`]: the function and its inverse. Pure.
//! * [`page`]: the function on one shared page that many processes read without a lock.
//! * [`writer`]: the one process that sets the rate.
//! * [`keeper`]: a thread that keeps the writer's lease.
//! * [`pace`]: what somebody asks of it.
//! * [`regulator`]: which rate a lab needs now. Pure.
//! * [`raw`]: system calls, as the writer lives in the wall's time even where lab time is preloaded.
//!
//! Simplification: processors are not slowed down. A process computes `1/rate` times as fast as the wall shows, unless
//! its control group is capped; a program's run time against one on an uncapped machine would show it.

pub mod keeper;
pub mod pace;
pub mod page;
pub mod raw;
pub mod regulator;
pub mod timeline;
pub mod writer;

pub use keeper::{Keeper, SharedRate};
pub use pace::{Bound, Pace, PaceError};
pub use page::{Page, PageError, Reader};
pub use timeline::{Piece, Rate, RateError, Timeline};
pub use writer::{ANNOUNCED_NS, DOUBLED_NS, LEASE_NS, Writer, wait_ns};
