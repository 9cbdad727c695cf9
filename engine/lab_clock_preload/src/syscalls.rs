//! `syscall`: programs and runtimes (Rust's among them) that make system calls by number.

use core::ffi::{c_int, c_long};

use crate::now::{self, Kind, lab_ns, monotonic_of, page, slice_ns, wall_ns};
use crate::{clocks, polls, raw, sleeps, timers};

const PRIVATE: usize = libc::FUTEX_PRIVATE_FLAG as usize;
const REAL: usize = libc::FUTEX_CLOCK_REALTIME as usize;

/// `syscall`: variadic in C; with six arguments it reads what a caller passed in registers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syscall(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> c_long {
    // SAFETY: the caller's arguments, for the call that it names.
    unsafe {
        match number {
            libc::SYS_futex => futex(a, b, c, d, e, f) as c_long,
            libc::SYS_clock_gettime => {
                c_long::from(clocks::clock_gettime(a as c_int, b as *mut libc::timespec))
            }
            libc::SYS_gettimeofday => {
                c_long::from(clocks::gettimeofday(a as *mut libc::timeval, b as *mut _))
            }
            libc::SYS_nanosleep => c_long::from(sleeps::nanosleep(
                a as *const libc::timespec,
                b as *mut libc::timespec,
            )),
            libc::SYS_clock_nanosleep => {
                let error = sleeps::clock_nanosleep(
                    a as c_int,
                    b as c_int,
                    c as *const libc::timespec,
                    d as *mut libc::timespec,
                );
                raw::returned(-(error as isize)) as c_long
            }
            libc::SYS_ppoll => {
                let timeout = (c as *const libc::timespec).as_ref().map(now::ns);
                c_long::from(polls::ppoll_for(
                    a as *mut libc::pollfd,
                    b as libc::nfds_t,
                    timeout,
                    d,
                ))
            }
            libc::SYS_epoll_pwait2 => c_long::from(polls::epoll_pwait2(
                a as c_int,
                b as *mut libc::epoll_event,
                c as c_int,
                d as *const libc::timespec,
                e as *const libc::sigset_t,
            )),
            libc::SYS_timerfd_settime => c_long::from(timers::timerfd_settime(
                a as c_int,
                b as c_int,
                c as *const libc::itimerspec,
                d as *mut libc::itimerspec,
            )),
            _ => raw::libc_call(number, a, b, c, d, e, f) as c_long,
        }
    }
}

/// A futex's timed waits, slice after slice: the kernel compares the word each time, so no wake-up is lost.
unsafe fn futex(
    word: usize,
    operation: usize,
    value: usize,
    timeout: usize,
    word2: usize,
    value3: usize,
) -> isize {
    let kind = operation & !(PRIVATE | REAL);
    let relative = kind == libc::FUTEX_WAIT as usize;
    let absolute = kind == libc::FUTEX_WAIT_BITSET as usize
        || kind == libc::FUTEX_LOCK_PI as usize
        || kind == libc::FUTEX_WAIT_REQUEUE_PI as usize;
    let call = |timeout: usize| {
        // SAFETY: the caller's arguments.
        unsafe {
            raw::call(
                libc::SYS_futex,
                word,
                operation,
                value,
                timeout,
                word2,
                value3,
            )
        }
    };
    let Some(page) = page().filter(|_| timeout != 0 && (relative || absolute)) else {
        return raw::returned(call(timeout));
    };
    // SAFETY: the caller's address.
    let wanted = now::ns(unsafe { &*(timeout as *const libc::timespec) });
    let real = operation & REAL != 0 || kind == libc::FUTEX_LOCK_PI as usize;
    let deadline = if relative {
        lab_ns(page).saturating_add(wanted)
    } else {
        monotonic_of(
            &page.timeline().0,
            if real { Kind::Real } else { Kind::Monotonic },
            wanted,
        )
    };
    loop {
        let slice = slice_ns(page, deadline);
        let now = if real {
            now::wall_clock_ns(libc::CLOCK_REALTIME)
        } else {
            wall_ns()
        };
        let time = now::timespec(if relative { slice } else { now + slice });
        let result = call((&raw const time) as usize);
        if result != -(libc::ETIMEDOUT as isize) || lab_ns(page) >= deadline {
            return raw::returned(result);
        }
    }
}
