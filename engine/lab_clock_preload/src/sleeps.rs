//! Sleeps.

use core::ffi::{c_int, c_uint};

use crate::now::{self, kind, lab_ns, monotonic_of, page};
use crate::waits::sleep_until;
use crate::{raw, work};

unsafe fn keep_rest(rest: *mut libc::timespec, ns: i64) {
    if !rest.is_null() {
        // SAFETY: the caller's address.
        unsafe { *rest = now::timespec(ns) };
    }
}

/// `clock_nanosleep`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_nanosleep(
    clock: libc::clockid_t,
    flags: c_int,
    request: *const libc::timespec,
    rest: *mut libc::timespec,
) -> c_int {
    let (Some(page), Some(kind)) = (page(), kind(clock)) else {
        // SAFETY: passed on.
        let result = unsafe {
            raw::call(
                libc::SYS_clock_nanosleep,
                clock as usize,
                flags as usize,
                request as usize,
                rest as usize,
                0,
                0,
            )
        };
        return -result as c_int;
    };
    // SAFETY: the caller's address.
    let wanted = unsafe { &*request };
    if !(0..1_000_000_000).contains(&wanted.tv_nsec) || wanted.tv_sec < 0 {
        return libc::EINVAL;
    }
    work::settle(page);
    let absolute = flags & libc::TIMER_ABSTIME != 0;
    let deadline = if absolute {
        monotonic_of(&page.timeline().0, kind, now::ns(wanted))
    } else {
        lab_ns(page).saturating_add(now::ns(wanted))
    };
    let slept = sleep_until(page, deadline);
    work::resume(page);
    if slept {
        return 0;
    }
    if !absolute {
        // SAFETY: the caller's address or null.
        unsafe { keep_rest(rest, deadline - lab_ns(page)) };
    }
    libc::EINTR
}

/// `nanosleep`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nanosleep(
    request: *const libc::timespec,
    rest: *mut libc::timespec,
) -> c_int {
    // SAFETY: passed on.
    let error = unsafe { clock_nanosleep(libc::CLOCK_MONOTONIC, 0, request, rest) };
    if error == 0 {
        return 0;
    }
    raw::set_errno(error);
    -1
}

/// `usleep`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn usleep(us: c_uint) -> c_int {
    let request = now::timespec(i64::from(us) * 1000);
    // SAFETY: valid addresses.
    unsafe { nanosleep(&raw const request, core::ptr::null_mut()) }
}

/// `sleep`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sleep(seconds: c_uint) -> c_uint {
    let request = now::timespec(i64::from(seconds) * 1_000_000_000);
    let mut rest = now::timespec(0);
    // SAFETY: valid addresses.
    if unsafe { nanosleep(&raw const request, &raw mut rest) } == 0 {
        return 0;
    }
    rest.tv_sec as c_uint + c_uint::from(rest.tv_nsec > 0)
}
