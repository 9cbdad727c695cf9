//! Waits on the page as a futex, so that a change of rate wakes the sleeper to look at the clock again.

use lab_clock::Page;

use crate::now::{self, wall_ns};
use crate::raw;

/// Sleep until a moment of lab time; false: a signal was handled.
pub fn sleep_until(page: &Page, deadline_ns: i64) -> bool {
    loop {
        let (timeline, changes) = page.timeline();
        let now = wall_ns();
        if timeline.lab_ns(now) >= deadline_ns {
            return true;
        }
        let lease_end = timeline.pieces[2].wall_ns;
        let mut until = timeline.wall_ns(deadline_ns);
        if lease_end > now {
            until = until.min(lease_end); // it will have been renewed
        }
        let time = now::timespec(until);
        // SAFETY: a futex word that lives as long as the process, and a valid time.
        let result = unsafe {
            raw::call(
                libc::SYS_futex,
                page.changes.as_ptr() as usize,
                libc::FUTEX_WAIT_BITSET as usize,
                changes as usize,
                (&raw const time) as usize,
                0,
                u32::MAX as usize,
            )
        };
        if result == -(libc::EINTR as isize) {
            return false;
        }
    }
}
