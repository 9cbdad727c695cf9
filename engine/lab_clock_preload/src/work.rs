//! Work at the speed of a host's processors (`LAB_CPU_RATIO`, the `cpu_ratio` of the truth file).
//!
//! In lab time this machine's processors compute 1/rate times as fast as at the wall's pace. So a thread of a host with a
//! ratio owes what it computed: before it does anything that others see (a message leaves, it looks for one, sleeps, or
//! reads a clock) it waits until a processor of that speed would have come so far. What a quota of a control group does
//! not give, this does at every rate: a quota lets a host compute at full speed, and stops it some milliseconds later.
//! HPL of order 2000 on 12 hosts with half a core each, by quotas alone: 0.67 and 0.69 s at 1/10, 0.84 s at 1/50.
//!
//! Ranks of Open MPI that share a host have equal parts of its ratio, as if each had a core of its own.
//!
//! Simplifications: what a thread computes is owed only when it makes one of these calls; what it waits for in any other
//! (a lock without a time limit, a blocking `read`, a futex by `syscall`) looks like having been late for a processor,
//! for which up to [`CREDIT_LAB_NS`] are made good. Processor time is the kernel's, so a cold cache is work, too.

use core::cell::Cell;
use core::ffi::{CStr, c_int, c_uint, c_void};
use core::sync::atomic::{AtomicU64, Ordering};

use lab_clock::Page;

use crate::now::{self, lab_ns, page, wall_ns};
use crate::{idle, raw, waits};

/// How far a thread that was late for a processor may catch up (lab time).
const CREDIT_LAB_NS: i64 = 1_000_000;
/// What may be owed without waiting (lab time): a wait takes some 20 us of a processor, so there are as many at each rate.
const OWED_LAB_NS: i64 = 20_000;

/// Cores of this machine that a thread computes as, in lab time, as the bits of a float; 0: as fast as the machine.
static RATIO: AtomicU64 = AtomicU64::new(0);

#[derive(Clone, Copy)]
struct Work {
    /// Processor time of this thread that is accounted for.
    cpu_ns: i64,
    /// When the host's processor is done with it (lab time).
    done_ns: i64,
}

thread_local! {
    static WORK: Cell<Option<Work>> = const { Cell::new(None) };
}

fn number(name: &CStr) -> Option<f64> {
    raw::variable(name)?.to_str().ok()?.parse().ok()
}

/// Before the program begins: find out how fast its host is.
pub fn at_start() {
    if let Some(ratio) = number(c"LAB_CPU_RATIO").filter(|ratio| *ratio > 0.0) {
        let ranks = number(raw::RANKS_HERE).map_or(1.0, |ranks| ranks.max(1.0));
        RATIO.store((ratio / ranks).to_bits(), Ordering::Relaxed);
    }
}

fn cpu_ns() -> i64 {
    let mut time = now::timespec(0);
    // SAFETY: a clock of the kernel and a valid address.
    unsafe {
        raw::call(
            libc::SYS_clock_gettime,
            libc::CLOCK_THREAD_CPUTIME_ID as usize,
            (&raw mut time) as usize,
            0,
            0,
            0,
            0,
        );
    }
    now::ns(&time)
}

fn ratio() -> Option<f64> {
    match RATIO.load(Ordering::Relaxed) {
        0 => None,
        bits => Some(f64::from_bits(bits)),
    }
}

/// When work of so much processor time is done (lab time), begun when the work before it was or at `now`, whichever is later
/// but for what a thread may catch up.
fn done_ns(before_ns: i64, cpu_ns: i64, ratio: f64, now_ns: i64) -> i64 {
    let owed = (cpu_ns.max(0) as f64 / ratio) as i64;
    before_ns.saturating_add(owed).max(now_ns - CREDIT_LAB_NS)
}

/// Wait until the host's processor has done what this thread computed.
pub fn settle(page: &Page) {
    let Some(ratio) = ratio() else {
        return;
    };
    let wall = wall_ns();
    let timeline = page.timeline().0;
    let rate = timeline.at(wall).rate;
    if ratio * rate.lab as f64 >= rate.wall as f64 {
        resume(page); // one of this machine's is not faster
        return;
    }
    let Ok(Some(before)) = WORK.try_with(Cell::get) else {
        resume(page);
        idle::wake_in_time();
        return;
    };
    let cpu = cpu_ns();
    let lab = timeline.lab_ns(wall);
    let done = done_ns(before.done_ns, cpu - before.cpu_ns, ratio, lab);
    let mut after = Work {
        cpu_ns: cpu,
        done_ns: done,
    };
    if done - lab > OWED_LAB_NS {
        while !waits::sleep_until(page, done) {}
        after.cpu_ns = cpu_ns(); // to wait is no work
        idle::was_away(wall_ns() - wall);
    }
    let _ = WORK.try_with(|work| work.set(Some(after)));
}

/// Before a poll without a timeout: to spin is no work.
pub fn before_poll(page: &Page) {
    if ratio().is_none() {
        return;
    }
    if idle::spins() {
        resume(page);
    } else {
        settle(page);
    }
}

/// This thread has waited for something, which is no work, and goes on now.
pub fn resume(page: &Page) {
    if ratio().is_none() {
        return;
    }
    let (cpu_ns, lab) = (cpu_ns(), lab_ns(page));
    let _ = WORK.try_with(|work| {
        let done_ns = work.get().map_or(lab, |work| work.done_ns.max(lab));
        work.set(Some(Work { cpu_ns, done_ns }));
    });
}

/// Functions of libc by which something leaves a process: what it computed comes first.
macro_rules! after_work {
    ($($doc:literal $name:ident $symbol:literal ($($argument:ident: $type:ty),*) -> $result:ty;)+) => {$(
        #[doc = $doc]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            if ratio().is_some() {
                if let Some(page) = page() {
                    settle(page);
                }
            }
            let real = raw::next!($symbol => unsafe extern "C" fn($($type),*) -> $result);
            // SAFETY: passed on.
            unsafe { real($($argument),*) }
        }
    )+};
}

after_work! {
    "`write`."
        write c"write" (fd: c_int, buffer: *const c_void, length: usize) -> isize;
    "`writev`, by which Open MPI sends."
        writev c"writev" (fd: c_int, parts: *const libc::iovec, count: c_int) -> isize;
    "`send`."
        send c"send" (fd: c_int, buffer: *const c_void, length: usize, flags: c_int) -> isize;
    "`sendto`."
        sendto c"sendto" (
            fd: c_int,
            buffer: *const c_void,
            length: usize,
            flags: c_int,
            address: *const libc::sockaddr,
            address_length: libc::socklen_t
        ) -> isize;
    "`sendmsg`."
        sendmsg c"sendmsg" (fd: c_int, message: *const libc::msghdr, flags: c_int) -> isize;
    "`sendmmsg`."
        sendmmsg c"sendmmsg" (fd: c_int, messages: *mut libc::mmsghdr, count: c_uint, flags: c_int) -> c_int;
}

#[cfg(test)]
mod tests {
    use super::{CREDIT_LAB_NS, done_ns};

    #[test]
    fn work_is_done_when_the_hosts_processor_comes_to_it() {
        assert_eq!(done_ns(5_000, 1_000, 0.5, 5_100), 7_000);
        assert_eq!(done_ns(7_000, 1_000, 2.0, 7_100), 7_500);
        assert_eq!(done_ns(7_000, -5, 2.0, 7_100), 7_000);
    }

    #[test]
    fn a_thread_that_was_late_catches_up_for_a_while_only() {
        assert_eq!(done_ns(0, 1_000, 1.0, 900_000), 1_000);
        assert_eq!(
            done_ns(0, 1_000, 1.0, 90_000_000),
            90_000_000 - CREDIT_LAB_NS
        );
    }
}
