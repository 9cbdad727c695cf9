//! Timers of the kernel: set in the wall's time, and set anew by a thread whenever the rate changes.

use core::ffi::{c_int, c_uint};
use std::sync::{Mutex, MutexGuard, PoisonError};

use lab_clock::{Page, Timeline};

use crate::now::{self, kind, lab_ns, monotonic_of, page, wall_ns};
use crate::raw;

/// A timer of the kernel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Timer {
    Descriptor(c_int),
    Alarm,
    Posix(usize),
}

/// A timer that is set, in lab time.
#[derive(Clone, Copy)]
struct Armed {
    timer: Timer,
    due_ns: i64,
    every_ns: i64,
}

struct Armory {
    armed: Vec<Armed>,
    has_thread: bool,
}

static ARMORY: Mutex<Armory> = Mutex::new(Armory {
    armed: Vec::new(),
    has_thread: false,
});

fn armory() -> MutexGuard<'static, Armory> {
    ARMORY.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Armed {
    /// The next time that it is due; a periodic one has been due before.
    fn next_ns(&self, lab_ns: i64) -> Option<i64> {
        if self.due_ns > lab_ns {
            return Some(self.due_ns);
        }
        (self.every_ns > 0)
            .then(|| self.due_ns + ((lab_ns - self.due_ns) / self.every_ns + 1) * self.every_ns)
    }

    /// Value and interval in the wall's time.
    fn wall(&self, timeline: &Timeline, now_ns: i64, due_ns: i64) -> (i64, i64) {
        let at = timeline.wall_ns(due_ns);
        let every = if self.every_ns > 0 {
            timeline.wall_ns(due_ns + self.every_ns) - at
        } else {
            0
        };
        ((at - now_ns).max(1), every)
    }

    /// Set the kernel's timer; minus the error number.
    fn set(&self, value_ns: i64, every_ns: i64) -> isize {
        let spec = libc::itimerspec {
            it_interval: now::timespec(every_ns),
            it_value: now::timespec(value_ns),
        };
        let spec = (&raw const spec) as usize;
        // SAFETY: valid addresses; a descriptor or timer that is gone is an error and nothing else.
        unsafe {
            match self.timer {
                Timer::Descriptor(fd) => {
                    raw::call(libc::SYS_timerfd_settime, fd as usize, 0, spec, 0, 0, 0)
                }
                Timer::Posix(id) => {
                    let real = raw::next!(c"timer_settime", c"GLIBC_2.3.3" => unsafe extern "C" fn(usize, c_int, usize, usize) -> c_int);
                    if real(id, 0, spec, 0) == 0 {
                        0
                    } else {
                        -(raw::errno() as isize)
                    }
                }
                Timer::Alarm => {
                    let old = libc::itimerval {
                        it_interval: now::timeval(every_ns),
                        it_value: now::timeval(value_ns),
                    };
                    raw::call(
                        libc::SYS_setitimer,
                        libc::ITIMER_REAL as usize,
                        (&raw const old) as usize,
                        0,
                        0,
                        0,
                        0,
                    )
                }
            }
        }
    }
}

/// Set a timer by lab time, and remember it; value 0 disarms.
fn arm(page: &'static Page, armed: Armed, disarmed: bool) -> isize {
    let mut armory = armory();
    armory.armed.retain(|other| other.timer != armed.timer);
    if disarmed {
        return armed.set(0, 0);
    }
    let timeline = page.timeline().0;
    let (value, every) = armed.wall(&timeline, wall_ns(), armed.due_ns);
    let result = armed.set(value, every);
    if result == 0 {
        armory.armed.push(armed);
        if !armory.has_thread {
            armory.has_thread = start_thread(page);
        }
    }
    result
}

/// A thread that sets all timers anew when the rate changes; it takes no signal.
fn start_thread(page: &'static Page) -> bool {
    static ONCE: std::sync::Once = std::sync::Once::new();
    // SAFETY: a handler that only touches this module's own state, in a child that has one thread.
    ONCE.call_once(|| unsafe {
        libc::pthread_atfork(None, None, Some(forget_thread));
    });
    // SAFETY: signal sets of this thread.
    unsafe {
        let (mut all, mut before) = (core::mem::zeroed(), core::mem::zeroed());
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        let started = std::thread::Builder::new()
            .name("lab-clock".into())
            .stack_size(64 << 10)
            .spawn(move || follow(page));
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, core::ptr::null_mut());
        started.is_ok()
    }
}

extern "C" fn forget_thread() {
    if let Ok(mut armory) = ARMORY.try_lock() {
        armory.has_thread = false;
        armory
            .armed
            .retain(|armed| matches!(armed.timer, Timer::Descriptor(_))); // others are not inherited
    }
}

fn follow(page: &'static Page) {
    let mut known = page.timeline().1;
    loop {
        let lease_ns = page.timeline().0.pieces[2].wall_ns;
        let time = now::timespec(if lease_ns > wall_ns() {
            lease_ns
        } else {
            wall_ns() + lab_clock::LEASE_NS
        });
        // SAFETY: a futex word that stays, and a valid time.
        unsafe {
            raw::call(
                libc::SYS_futex,
                page.changes.as_ptr() as usize,
                libc::FUTEX_WAIT_BITSET as usize,
                known as usize,
                (&raw const time) as usize,
                0,
                u32::MAX as usize,
            );
        }
        let (timeline, changes) = page.timeline();
        known = changes;
        let mut armory = armory();
        let now = wall_ns();
        let lab = timeline.lab_ns(now);
        armory.armed.retain(|armed| {
            let Some(due) = armed.next_ns(lab) else {
                return false;
            };
            let (value, every) = armed.wall(&timeline, now, due);
            armed.set(value, every) == 0
        });
    }
}

fn deadline(page: &Page, clock: libc::clockid_t, absolute: bool, value_ns: i64) -> i64 {
    let timeline = page.timeline().0;
    if absolute {
        monotonic_of(
            &timeline,
            kind(clock).unwrap_or(now::Kind::Monotonic),
            value_ns,
        )
    } else {
        lab_ns(page).saturating_add(value_ns)
    }
}

/// What is left of a timer, in lab time.
fn in_lab(page: &Page, spec: &libc::itimerspec) -> libc::itimerspec {
    let (timeline, now) = (page.timeline().0, wall_ns());
    let lab = |wall: i64| {
        if wall == 0 {
            0
        } else {
            (timeline.lab_ns(now + wall) - timeline.lab_ns(now)).max(1)
        }
    };
    libc::itimerspec {
        it_interval: now::timespec(lab(now::ns(&spec.it_interval))),
        it_value: now::timespec(lab(now::ns(&spec.it_value))),
    }
}

/// The clock that a timer descriptor was made for, as the kernel shows it.
fn clock_of(fd: c_int) -> libc::clockid_t {
    std::fs::read_to_string(format!("/proc/self/fdinfo/{fd}"))
        .ok()
        .and_then(|text| {
            text.lines()
                .find_map(|line| line.strip_prefix("clockid:")?.trim().parse().ok())
        })
        .unwrap_or(libc::CLOCK_MONOTONIC)
}

/// `timerfd_settime`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timerfd_settime(
    fd: c_int,
    flags: c_int,
    new: *const libc::itimerspec,
    old: *mut libc::itimerspec,
) -> c_int {
    let Some(page) = page() else {
        // SAFETY: passed on.
        return unsafe {
            raw::libc_call(
                libc::SYS_timerfd_settime,
                fd as usize,
                flags as usize,
                new as usize,
                old as usize,
                0,
                0,
            ) as c_int
        };
    };
    if !old.is_null() {
        // SAFETY: the caller's address.
        unsafe { timerfd_gettime(fd, old) };
    }
    // SAFETY: the caller's address.
    let spec = unsafe { &*new };
    let value = now::ns(&spec.it_value);
    let absolute = flags & libc::TFD_TIMER_ABSTIME != 0;
    let due_ns = deadline(
        page,
        if absolute { clock_of(fd) } else { 0 },
        absolute,
        value,
    );
    let armed = Armed {
        timer: Timer::Descriptor(fd),
        due_ns,
        every_ns: now::ns(&spec.it_interval),
    };
    raw::returned(arm(page, armed, value == 0)) as c_int
}

/// `timerfd_gettime`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timerfd_gettime(fd: c_int, now: *mut libc::itimerspec) -> c_int {
    // SAFETY: the caller's address.
    unsafe {
        let result = raw::libc_call(
            libc::SYS_timerfd_gettime,
            fd as usize,
            now as usize,
            0,
            0,
            0,
            0,
        );
        if let (0, Some(page)) = (result, page()) {
            *now = in_lab(page, &*now);
        }
        result as c_int
    }
}

/// `timer_settime` of a timer by a clock of time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timer_settime(
    timer: usize,
    flags: c_int,
    new: *const libc::itimerspec,
    old: *mut libc::itimerspec,
) -> c_int {
    let Some(page) = page() else {
        let real = raw::next!(c"timer_settime", c"GLIBC_2.3.3" => unsafe extern "C" fn(usize, c_int, *const libc::itimerspec, *mut libc::itimerspec) -> c_int);
        // SAFETY: passed on.
        return unsafe { real(timer, flags, new, old) };
    };
    if !old.is_null() {
        // SAFETY: the caller's address.
        unsafe { timer_gettime(timer, old) };
    }
    // SAFETY: the caller's address.
    let spec = unsafe { &*new };
    let value = now::ns(&spec.it_value);
    let absolute = flags & libc::TIMER_ABSTIME != 0;
    let clock = if absolute && value > page.timeline().0.real_ahead_ns / 2 {
        libc::CLOCK_REALTIME
    } else {
        libc::CLOCK_MONOTONIC
    };
    let due_ns = deadline(page, clock, absolute, value);
    let armed = Armed {
        timer: Timer::Posix(timer),
        due_ns,
        every_ns: now::ns(&spec.it_interval),
    };
    raw::returned(arm(page, armed, value == 0)) as c_int
}

/// `timer_gettime`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timer_gettime(timer: usize, now: *mut libc::itimerspec) -> c_int {
    let real = raw::next!(c"timer_gettime", c"GLIBC_2.3.3" => unsafe extern "C" fn(usize, *mut libc::itimerspec) -> c_int);
    // SAFETY: the caller's address.
    unsafe {
        let result = real(timer, now);
        if let (0, Some(page)) = (result, page()) {
            *now = in_lab(page, &*now);
        }
        result
    }
}

/// `timer_delete`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timer_delete(timer: usize) -> c_int {
    armory()
        .armed
        .retain(|armed| armed.timer != Timer::Posix(timer));
    let real = raw::next!(c"timer_delete", c"GLIBC_2.3.3" => unsafe extern "C" fn(usize) -> c_int);
    // SAFETY: passed on.
    unsafe { real(timer) }
}

/// `setitimer`; timers of CPU time are the kernel's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn setitimer(
    which: c_int,
    new: *const libc::itimerval,
    old: *mut libc::itimerval,
) -> c_int {
    let Some(page) = page().filter(|_| which == libc::ITIMER_REAL as c_int) else {
        // SAFETY: passed on.
        return unsafe {
            raw::libc_call(
                libc::SYS_setitimer,
                which as usize,
                new as usize,
                old as usize,
                0,
                0,
                0,
            )
        } as c_int;
    };
    if !old.is_null() {
        // SAFETY: the caller's address.
        unsafe { getitimer(which, old) };
    }
    // SAFETY: the caller's address.
    let spec = unsafe { &*new };
    let value = now::timeval_ns(&spec.it_value);
    let armed = Armed {
        timer: Timer::Alarm,
        due_ns: lab_ns(page) + value,
        every_ns: now::timeval_ns(&spec.it_interval),
    };
    raw::returned(arm(page, armed, value == 0)) as c_int
}

/// `getitimer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getitimer(which: c_int, value: *mut libc::itimerval) -> c_int {
    // SAFETY: the caller's address.
    unsafe {
        let result = raw::libc_call(
            libc::SYS_getitimer,
            which as usize,
            value as usize,
            0,
            0,
            0,
            0,
        ) as c_int;
        if let (0, Some(page)) = (
            result,
            page().filter(|_| which == libc::ITIMER_REAL as c_int),
        ) {
            let spec = libc::itimerspec {
                it_interval: now::timespec(now::timeval_ns(&(*value).it_interval)),
                it_value: now::timespec(now::timeval_ns(&(*value).it_value)),
            };
            let lab = in_lab(page, &spec);
            *value = libc::itimerval {
                it_interval: now::timeval(now::ns(&lab.it_interval)),
                it_value: now::timeval(now::ns(&lab.it_value)),
            };
        }
        result
    }
}

/// `alarm`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn alarm(seconds: c_uint) -> c_uint {
    let zero = now::timeval(0);
    let new = libc::itimerval {
        it_interval: zero,
        it_value: libc::timeval {
            tv_sec: i64::from(seconds),
            tv_usec: 0,
        },
    };
    let mut old = libc::itimerval {
        it_interval: zero,
        it_value: zero,
    };
    // SAFETY: valid addresses.
    unsafe { setitimer(libc::ITIMER_REAL as c_int, &raw const new, &raw mut old) };
    old.it_value.tv_sec as c_uint + c_uint::from(old.it_value.tv_usec > 0)
}
