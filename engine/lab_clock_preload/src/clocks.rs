//! Clocks that are read.

use core::ffi::c_int;

use crate::now::{self, kind, lab_clock_ns, page};
use crate::{raw, work};

/// `clock_gettime`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: libc::clockid_t, time: *mut libc::timespec) -> c_int {
    if let (Some(page), Some(kind)) = (page(), kind(clock)) {
        work::settle(page);
        // SAFETY: the caller's address.
        unsafe { *time = now::timespec(lab_clock_ns(page, kind)) };
        return 0;
    }
    let real = raw::next!(c"clock_gettime" => unsafe extern "C" fn(libc::clockid_t, *mut libc::timespec) -> c_int);
    // SAFETY: passed on.
    unsafe { real(clock, time) }
}

/// The name that some libraries were linked with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __clock_gettime(
    clock: libc::clockid_t,
    time: *mut libc::timespec,
) -> c_int {
    // SAFETY: passed on.
    unsafe { clock_gettime(clock, time) }
}

fn real_ns() -> i64 {
    page().map_or_else(
        || now::wall_clock_ns(libc::CLOCK_REALTIME),
        |page| {
            work::settle(page);
            lab_clock_ns(page, now::Kind::Real)
        },
    )
}

/// `gettimeofday`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gettimeofday(time: *mut libc::timeval, _zone: *mut libc::c_void) -> c_int {
    if !time.is_null() {
        let ns = real_ns();
        // SAFETY: the caller's address.
        unsafe {
            *time = libc::timeval {
                tv_sec: ns / 1_000_000_000,
                tv_usec: ns % 1_000_000_000 / 1000,
            }
        };
    }
    0
}

/// `time`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn time(seconds: *mut libc::time_t) -> libc::time_t {
    let now = real_ns() / 1_000_000_000;
    if !seconds.is_null() {
        // SAFETY: the caller's address.
        unsafe { *seconds = now };
    }
    now
}

/// `timespec_get` of C11, which C++ uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timespec_get(time: *mut libc::timespec, base: c_int) -> c_int {
    if base != 1 {
        return 0;
    }
    // SAFETY: the caller's address.
    unsafe { *time = now::timespec(real_ns()) };
    base
}
