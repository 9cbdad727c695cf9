//! Engine time on the wall clock.

use fabric::Ps;
use fabric::time::PS_PER_NS;

/// Picoseconds since this clock was created, read from CLOCK_MONOTONIC (1 ns resolution; 2⁶⁴ ps are 213 days).
#[derive(Copy, Clone, Debug)]
pub struct WallClock {
    zero_ns: u64,
}

impl WallClock {
    /// A clock that reads 0 now.
    #[must_use]
    pub fn new() -> Self {
        Self {
            zero_ns: clock_ns(libc::CLOCK_MONOTONIC),
        }
    }

    /// Engine time.
    #[must_use]
    pub fn now(self) -> Ps {
        (clock_ns(libc::CLOCK_MONOTONIC) - self.zero_ns) * PS_PER_NS
    }
}

impl Default for WallClock {
    fn default() -> Self {
        Self::new()
    }
}

/// CPU time of the calling thread, in nanoseconds.
#[must_use]
pub fn thread_cpu_ns() -> u64 {
    clock_ns(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// CPU time of this process, in nanoseconds.
#[must_use]
pub fn process_cpu_ns() -> u64 {
    clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// The CPU-time clock of the calling thread, readable from other threads.
#[must_use]
pub fn own_cpu_clock() -> Option<libc::clockid_t> {
    let mut clock = 0;
    // SAFETY: the calling thread exists; `clock` is written to.
    let code = unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &raw mut clock) };
    (code == 0).then_some(clock)
}

/// Nanoseconds of any clock of the kernel, including CPU-time clocks of other threads.
#[must_use]
pub fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place to write to; an unknown clock leaves it at zero.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
