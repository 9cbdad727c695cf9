//! The lab's timeline in this process, and conversions between lab time and the wall's.

use core::sync::atomic::{AtomicPtr, AtomicU8, Ordering};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use lab_clock::{Page, Reader, Timeline};

use crate::raw;

const SECOND_NS: i64 = 1_000_000_000;

static PAGE: AtomicPtr<Page> = AtomicPtr::new(core::ptr::null_mut());
static STATE: AtomicU8 = AtomicU8::new(0); // 0: not looked for, 1: being opened, 2: known

/// The lab's page; none if this process is in no lab.
pub fn page() -> Option<&'static Page> {
    if STATE.load(Ordering::Acquire) != 2 {
        open();
    }
    // SAFETY: null, or a mapping that stays.
    unsafe { PAGE.load(Ordering::Relaxed).as_ref() }
}

#[cold]
fn open() {
    if STATE
        .compare_exchange(0, 1, Ordering::AcqRel, Ordering::Acquire)
        .is_err()
    {
        return; // another thread opens it, or this one does: the wall's time until then
    }
    if let Some(name) = raw::variable(c"LAB_CLOCK") {
        let path = Path::new(std::ffi::OsStr::from_bytes(name.to_bytes()));
        if let Ok(reader) = Reader::open(path) {
            PAGE.store(
                core::ptr::from_ref(reader.page()).cast_mut(),
                Ordering::Release,
            );
        }
    }
    STATE.store(2, Ordering::Release);
}

/// A clock of the wall, by the vDSO where there is one.
pub fn wall_clock_ns(clock: libc::clockid_t) -> i64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let real = raw::next!(c"clock_gettime" => unsafe extern "C" fn(libc::clockid_t, *mut libc::timespec) -> i32);
    // SAFETY: a clock of the kernel and a valid address.
    unsafe { real(clock, &raw mut time) };
    ns(&time)
}

/// The wall's `CLOCK_MONOTONIC`.
pub fn wall_ns() -> i64 {
    wall_clock_ns(libc::CLOCK_MONOTONIC)
}

/// Lab time of a page, monotonic.
pub fn lab_ns(page: &Page) -> i64 {
    page.timeline().0.lab_ns(wall_ns())
}

/// Which of a lab's two clocks a clock of the kernel stands for; none: not a clock of time, such as CPU clocks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Seconds since some start.
    Monotonic,
    /// Seconds since 1970.
    Real,
}

/// The kind of a clock.
pub fn kind(clock: libc::clockid_t) -> Option<Kind> {
    match clock {
        libc::CLOCK_MONOTONIC
        | libc::CLOCK_MONOTONIC_RAW
        | libc::CLOCK_MONOTONIC_COARSE
        | libc::CLOCK_BOOTTIME
        | libc::CLOCK_BOOTTIME_ALARM => Some(Kind::Monotonic),
        libc::CLOCK_REALTIME
        | libc::CLOCK_REALTIME_COARSE
        | libc::CLOCK_REALTIME_ALARM
        | libc::CLOCK_TAI => Some(Kind::Real),
        _ => None,
    }
}

/// A lab's clock.
pub fn lab_clock_ns(page: &Page, kind: Kind) -> i64 {
    let timeline = page.timeline().0;
    let monotonic = timeline.lab_ns(wall_ns());
    if kind == Kind::Real {
        monotonic + timeline.real_ahead_ns
    } else {
        monotonic
    }
}

/// A moment of a lab's clock as one of its monotonic clock.
pub fn monotonic_of(timeline: &Timeline, kind: Kind, ns: i64) -> i64 {
    if kind == Kind::Real {
        ns.saturating_sub(timeline.real_ahead_ns)
    } else {
        ns
    }
}

/// A kernel's stamp (the wall's `CLOCK_REALTIME`) in the lab's.
pub fn stamp_ns(page: &Page, stamp_ns: i64) -> i64 {
    let ahead = wall_clock_ns(libc::CLOCK_REALTIME) - wall_ns();
    let timeline = page.timeline().0;
    timeline.lab_ns(stamp_ns - ahead) + timeline.real_ahead_ns
}

/// How long to wait now (wall) for a moment of lab time before looking at the page again; 0: it is past.
pub fn slice_ns(page: &Page, lab_deadline_ns: i64) -> i64 {
    lab_clock::wait_ns(&page.timeline().0, wall_ns(), lab_deadline_ns)
}

/// Nanoseconds of a `timespec`.
pub fn ns(time: &libc::timespec) -> i64 {
    time.tv_sec
        .saturating_mul(SECOND_NS)
        .saturating_add(time.tv_nsec)
}

/// A `timespec` of nanoseconds, none below zero.
pub fn timespec(ns: i64) -> libc::timespec {
    let ns = ns.max(0);
    libc::timespec {
        tv_sec: ns / SECOND_NS,
        tv_nsec: ns % SECOND_NS,
    }
}

/// Nanoseconds of a `timeval`.
pub fn timeval_ns(time: &libc::timeval) -> i64 {
    time.tv_sec
        .saturating_mul(SECOND_NS)
        .saturating_add(time.tv_usec.saturating_mul(1000))
}

/// A `timeval` of nanoseconds; rounded up to a microsecond where it would be zero.
pub fn timeval(ns: i64) -> libc::timeval {
    let ns = if ns > 0 { ns.max(1000) } else { 0 };
    libc::timeval {
        tv_sec: ns / SECOND_NS,
        tv_usec: ns % SECOND_NS / 1000,
    }
}
