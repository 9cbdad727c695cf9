//! Polls without a timeout, again and again in vain: a program that spins until something comes, as MPI does.
//!
//! On real nodes each rank spins on a processor of its own. Ranks of a slow lab share a few processors, and a rank that
//! only spins takes turns from one that computes. So where the clock is slower than the wall's, a poll after many in
//! vain waits for [`WAIT_LAB_NS`]: whatever comes ends it at once, and the program cannot tell it from a slow poll.
//!
//! A rank of Open MPI that is alone on its host hears of all messages through descriptors, so it waits for longer,
//! [`ALONE_LAB_NS`]: each poll costs some 10 microseconds of a processor, and where a quota capped the host's, a rank that
//! only waited had none left when its message came. HPL of order 2000 on 12 hosts with half a core each, whose ranks
//! waited for 50 us, used 465 ms of a processor a rank at 1/50 and 350 ms at 1/10; 335 and 270 ms since it is 1 ms.
//!
//! Simplification: what comes by shared memory, and not through a descriptor, is seen up to that much later; a ping-pong
//! of two ranks on one host shows it. So is the end of a time for which a program polls.

use core::cell::Cell;
use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, Ordering};

use lab_clock::Page;

use crate::now::wall_ns;
use crate::raw;

/// How long such a poll waits (lab time).
const WAIT_LAB_NS: i64 = 2_000;
/// How long one waits of a rank that is alone on its host (lab time).
const ALONE_LAB_NS: i64 = 1_000_000;
/// Polls in vain before the first that waits.
const IN_VAIN: u32 = 64;
/// So many of them again after something came or the program did something else: one that spins handles a message, and
/// spins on. One that computes between two polls soon has none.
const AGAIN: u32 = 8;
/// So many of a rank that is alone on its host.
const AGAIN_ALONE: u32 = 1;
/// A program that does something else between two polls for so long (wall) was not idle.
const ELSEWHERE_NS: i64 = 5_000;
/// So much longer (wall) it may take after a `sched_yield` in which others ran, as they leave it cold caches.
/// Simplification: a program that computes for so long between such a yield and the next poll counts as one that spins,
/// and sees a message later by one wait. The time is chosen, not measured.
const COLD_NS: i64 = 20_000;
const TIMER_SLACK_NS: u32 = 1_000;

thread_local! {
    static POLLS: Cell<(u32, i64)> = const { Cell::new((0, 0)) };
}

static ALONE: AtomicBool = AtomicBool::new(false);

/// Before the program begins: find out whether it is the only rank of its job on this host.
pub fn at_start() {
    let alone = raw::variable(raw::RANKS_HERE) == Some(c"1");
    ALONE.store(alone, Ordering::Relaxed);
}

/// (how long a poll in vain waits, lab time; polls that do not, once something came).
fn manners() -> (i64, u32) {
    if ALONE.load(Ordering::Relaxed) {
        (ALONE_LAB_NS, AGAIN_ALONE)
    } else {
        (WAIT_LAB_NS, AGAIN)
    }
}

/// How long a poll without a timeout waits (wall): mostly not at all.
pub fn wait_ns(page: &Page) -> i64 {
    let Ok((in_vain, at)) = POLLS.try_with(Cell::get) else {
        return 0;
    };
    let now = wall_ns();
    if now - at > ELSEWHERE_NS {
        let _ = POLLS.try_with(|polls| polls.set((in_vain.saturating_sub(manners().1), at)));
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
        wake_in_time();
    }
    rate.wall_ns(manners().0)
}

/// Let this thread's waits end when they should: the kernel may wait 50 us longer.
pub fn wake_in_time() {
    // SAFETY: no memory is passed.
    unsafe {
        let call = libc::PR_SET_TIMERSLACK as usize;
        raw::call(libc::SYS_prctl, call, TIMER_SLACK_NS as usize, 0, 0, 0, 0);
    }
}

/// Whether a poll now is one more of a program that spins: it follows closely upon one in vain.
pub fn spins() -> bool {
    POLLS
        .try_with(Cell::get)
        .is_ok_and(|(in_vain, at)| in_vain > 0 && wall_ns() - at <= ELSEWHERE_NS)
}

/// This thread was away for so long (wall), which is not its work.
pub fn was_away(ns: i64) {
    let _ = POLLS.try_with(|polls| {
        let (in_vain, at) = polls.get();
        polls.set((in_vain, at + ns));
    });
}

/// `sched_yield`, which a rank that spins calls between two polls: how long others run meanwhile is not its work.
#[unsafe(no_mangle)]
pub extern "C" fn sched_yield() -> c_int {
    let began = wall_ns();
    // SAFETY: no memory is passed.
    let result = unsafe { raw::call(libc::SYS_sched_yield, 0, 0, 0, 0, 0, 0) };
    let away = wall_ns() - began;
    let others_ran = away > ELSEWHERE_NS;
    was_away(if others_ran { away + COLD_NS } else { away });
    raw::returned(result) as c_int
}

/// A poll without a timeout has returned.
pub fn polled(in_vain: bool) {
    let _ = POLLS.try_with(|polls| {
        let before = polls.get().0;
        let after = if in_vain {
            (before + 1).min(IN_VAIN + 1)
        } else {
            before.min(IN_VAIN).saturating_sub(manners().1)
        };
        polls.set((after, wall_ns()));
    });
}
