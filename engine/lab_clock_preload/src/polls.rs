//! Waits for file descriptors: in slices, each of which reads the clock again.

use core::ffi::{c_int, c_void};

use lab_clock::Page;

use crate::now::{self, lab_ns, page, slice_ns};
use crate::{idle, raw, rings, work};

const SIGSET_BYTE: usize = 8;

/// Call `wait` with a wall timeout, slice after slice, until it returns something or lab time is up.
///
/// `timeout_ns` is lab time; none: without end.
fn until_ready(
    timeout_ns: Option<i64>,
    wait: impl FnMut(Option<&libc::timespec>) -> isize,
) -> isize {
    let Some(page) = page() else {
        return wait_in_slices(timeout_ns, wait);
    };
    rings::exchange(page);
    let result = if timeout_ns == Some(0) {
        poll_once(page, wait)
    } else {
        work::settle(page);
        let result = wait_in_slices(timeout_ns, wait);
        work::resume(page);
        result
    };
    rings::exchange(page);
    result
}

/// Without a timeout: a program that spins waits all the same.
fn poll_once(page: &Page, mut wait: impl FnMut(Option<&libc::timespec>) -> isize) -> isize {
    work::before_poll(page);
    let wait_ns = idle::wait_ns(page);
    let result = wait(Some(&now::timespec(wait_ns)));
    idle::polled(result == 0);
    if wait_ns > 0 {
        work::resume(page);
    }
    result
}

fn wait_in_slices(
    timeout_ns: Option<i64>,
    mut wait: impl FnMut(Option<&libc::timespec>) -> isize,
) -> isize {
    let Some(timeout) = timeout_ns else {
        return wait(None);
    };
    let Some(page) = page().filter(|_| timeout >= 0) else {
        return wait(Some(&now::timespec(timeout)));
    };
    let deadline = lab_ns(page).saturating_add(timeout);
    loop {
        let slice = slice_ns(page, deadline);
        let result = wait(Some(&now::timespec(slice)));
        if result != 0 || is_past(page, deadline) {
            return result;
        }
    }
}

fn is_past(page: &Page, deadline_ns: i64) -> bool {
    lab_ns(page) >= deadline_ns
}

fn address(time: Option<&libc::timespec>, copy: &mut libc::timespec) -> usize {
    time.map_or(0, |time| {
        *copy = *time; // the kernel writes what is left
        core::ptr::from_mut(copy) as usize
    })
}

pub unsafe fn ppoll_for(
    fds: *mut libc::pollfd,
    count: libc::nfds_t,
    timeout_ns: Option<i64>,
    mask: usize,
) -> c_int {
    let mut copy = now::timespec(0);
    until_ready(timeout_ns, |time| {
        let time = address(time, &mut copy);
        // SAFETY: the caller's addresses.
        unsafe {
            raw::libc_call(
                libc::SYS_ppoll,
                fds as usize,
                count as usize,
                time,
                mask,
                SIGSET_BYTE,
                0,
            )
        }
    }) as c_int
}

fn of_ms(ms: c_int) -> Option<i64> {
    (ms >= 0).then(|| i64::from(ms) * 1_000_000)
}

/// `poll`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn poll(fds: *mut libc::pollfd, count: libc::nfds_t, ms: c_int) -> c_int {
    // SAFETY: passed on.
    unsafe { ppoll_for(fds, count, of_ms(ms), 0) }
}

/// `poll` of programs built with checks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __poll_chk(
    fds: *mut libc::pollfd,
    count: libc::nfds_t,
    ms: c_int,
    _size: usize,
) -> c_int {
    // SAFETY: passed on.
    unsafe { poll(fds, count, ms) }
}

/// `ppoll`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ppoll(
    fds: *mut libc::pollfd,
    count: libc::nfds_t,
    timeout: *const libc::timespec,
    mask: *const libc::sigset_t,
) -> c_int {
    // SAFETY: the caller's addresses.
    unsafe { ppoll_for(fds, count, timeout.as_ref().map(now::ns), mask as usize) }
}

/// `ppoll` of programs built with checks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __ppoll_chk(
    fds: *mut libc::pollfd,
    count: libc::nfds_t,
    timeout: *const libc::timespec,
    mask: *const libc::sigset_t,
    _size: usize,
) -> c_int {
    // SAFETY: passed on.
    unsafe { ppoll(fds, count, timeout, mask) }
}

const SET_BYTE: usize = 8192 / 8;

unsafe fn select_for(
    count: c_int,
    sets: [*mut libc::fd_set; 3],
    timeout_ns: Option<i64>,
    mask: usize,
) -> c_int {
    let byte = (count.max(0) as usize).div_ceil(64) * 8;
    if byte > SET_BYTE {
        raw::set_errno(libc::EINVAL);
        return -1;
    }
    let mut kept = [[0u8; SET_BYTE]; 3];
    for (set, kept) in sets.iter().zip(&mut kept) {
        if !set.is_null() {
            // SAFETY: a set has as many bytes as its highest descriptor needs.
            unsafe { core::ptr::copy_nonoverlapping(set.cast::<u8>(), kept.as_mut_ptr(), byte) };
        }
    }
    let signals = [mask, SIGSET_BYTE];
    let mut copy = now::timespec(0);
    let mut again = false;
    until_ready(timeout_ns, |time| {
        if core::mem::replace(&mut again, true) {
            for (set, kept) in sets.iter().zip(&kept) {
                if !set.is_null() {
                    // SAFETY: as above.
                    unsafe {
                        core::ptr::copy_nonoverlapping(kept.as_ptr(), set.cast::<u8>(), byte)
                    };
                }
            }
        }
        let [reads, writes, errors] = sets.map(|set| set as usize);
        let time = address(time, &mut copy);
        // SAFETY: the caller's addresses.
        unsafe {
            raw::libc_call(
                libc::SYS_pselect6,
                count as usize,
                reads,
                writes,
                errors,
                time,
                signals.as_ptr() as usize,
            )
        }
    }) as c_int
}

/// `select`, which leaves the rest of its timeout behind as Linux does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn select(
    count: c_int,
    reads: *mut libc::fd_set,
    writes: *mut libc::fd_set,
    errors: *mut libc::fd_set,
    timeout: *mut libc::timeval,
) -> c_int {
    // SAFETY: the caller's addresses.
    unsafe {
        let wanted = timeout.as_ref().map(now::timeval_ns);
        let began = page().map(lab_ns);
        let result = select_for(count, [reads, writes, errors], wanted, 0);
        if let (Some(wanted), Some(page), Some(began)) = (wanted, page(), began) {
            *timeout = now::timeval(wanted - (lab_ns(page) - began));
        }
        result
    }
}

/// `pselect`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pselect(
    count: c_int,
    reads: *mut libc::fd_set,
    writes: *mut libc::fd_set,
    errors: *mut libc::fd_set,
    timeout: *const libc::timespec,
    mask: *const libc::sigset_t,
) -> c_int {
    // SAFETY: the caller's addresses.
    unsafe {
        select_for(
            count,
            [reads, writes, errors],
            timeout.as_ref().map(now::ns),
            mask as usize,
        )
    }
}

unsafe fn epoll_for(
    epoll: c_int,
    events: *mut c_void,
    most: c_int,
    timeout_ns: Option<i64>,
    mask: usize,
) -> c_int {
    let mut copy = now::timespec(0);
    until_ready(timeout_ns, |time| {
        let ms = time.map_or(-1, |time| (now::ns(time) + 999_999) / 1_000_000);
        let time = address(time, &mut copy);
        // SAFETY: the caller's addresses.
        unsafe {
            let result = raw::call(
                libc::SYS_epoll_pwait2,
                epoll as usize,
                events as usize,
                most as usize,
                time,
                mask,
                SIGSET_BYTE,
            );
            if result != -(libc::ENOSYS as isize) {
                return raw::returned(result);
            }
            raw::libc_call(
                libc::SYS_epoll_pwait,
                epoll as usize,
                events as usize,
                most as usize,
                ms as usize,
                mask,
                SIGSET_BYTE,
            )
        }
    }) as c_int
}

/// `epoll_wait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn epoll_wait(
    epoll: c_int,
    events: *mut libc::epoll_event,
    most: c_int,
    ms: c_int,
) -> c_int {
    // SAFETY: passed on.
    unsafe { epoll_for(epoll, events.cast(), most, of_ms(ms), 0) }
}

/// `epoll_pwait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn epoll_pwait(
    epoll: c_int,
    events: *mut libc::epoll_event,
    most: c_int,
    ms: c_int,
    mask: *const libc::sigset_t,
) -> c_int {
    // SAFETY: passed on.
    unsafe { epoll_for(epoll, events.cast(), most, of_ms(ms), mask as usize) }
}

/// `epoll_pwait2`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn epoll_pwait2(
    epoll: c_int,
    events: *mut libc::epoll_event,
    most: c_int,
    timeout: *const libc::timespec,
    mask: *const libc::sigset_t,
) -> c_int {
    // SAFETY: the caller's addresses.
    unsafe {
        epoll_for(
            epoll,
            events.cast(),
            most,
            timeout.as_ref().map(now::ns),
            mask as usize,
        )
    }
}
