//! Polls without a timeout, again and again in vain: a program that spins until something comes, as MPI does.
//!
//! On real nodes each rank spins on a processor of its own. Ranks of a slow lab share a few processors, and a rank that
//! only spins takes turns from one that computes. So where the clock is slower than the wall's, a poll after many in
//! vain waits for [`WAIT_LAB_NS`]: whatever comes ends it at once, and the program cannot tell it from a slow poll.
//!
//! Simplification: what comes by shared memory, and not through a descriptor, is seen up to that much later; a ping-pong
//! of two ranks on one host shows it.

use core::cell::Cell;

use lab_clock::Page;

use crate::now::wall_ns;
use crate::raw;

/// How long such a poll waits (lab time).
const WAIT_LAB_NS: i64 = 2_000;
/// Polls in vain before the first that waits.
const IN_VAIN: u32 = 64;
/// A program that does something else between two polls for so long (wall) is not idle.
const ELSEWHERE_NS: i64 = 5_000;
const TIMER_SLACK_NS: u32 = 1_000;

thread_local! {
    static POLLS: Cell<(u32, i64)> = const { Cell::new((0, 0)) };
}

/// How long a poll without a timeout waits (wall): mostly not at all.
pub fn wait_ns(page: &Page) -> i64 {
    let Ok((in_vain, at)) = POLLS.try_with(Cell::get) else {
        return 0;
    };
    let now = wall_ns();
    if now - at > ELSEWHERE_NS {
        let _ = POLLS.try_with(|polls| polls.set((0, at)));
        return 0;
    }
    if in_vain < IN_VAIN {
        return 0;
    }
    let rate = page.timeline().0.at(now).rate;
    if rate.lab >= rate.wall {
        return 0;
    }
    if in_vain == IN_VAIN {
        // SAFETY: no memory is passed. Without it the kernel may wait 50 us longer.
        unsafe {
            let call = libc::PR_SET_TIMERSLACK as usize;
            raw::call(libc::SYS_prctl, call, TIMER_SLACK_NS as usize, 0, 0, 0, 0);
        }
    }
    rate.wall_ns(WAIT_LAB_NS)
}

/// A poll without a timeout has returned.
pub fn polled(in_vain: bool) {
    let _ = POLLS.try_with(|polls| {
        let before = polls.get().0;
        polls.set((
            if in_vain { before.saturating_add(1) } else { 0 },
            wall_ns(),
        ));
    });
}
