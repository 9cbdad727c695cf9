//! Timed waits for locks, conditions, semaphores, threads and signals.

use core::ffi::{c_int, c_void};

use lab_clock::Page;

use crate::now::{self, Kind, kind, lab_ns, monotonic_of, page, slice_ns, wall_ns};
use crate::{raw, work};

/// A clock and a moment of it.
type Until = (libc::clockid_t, libc::timespec);

fn deadline_of(page: &Page, kind: Kind, until: &libc::timespec) -> i64 {
    monotonic_of(&page.timeline().0, kind, now::ns(until))
}

/// A slice's end on the wall's clock of that kind.
fn slice_end(page: &Page, clock: libc::clockid_t, deadline_ns: i64) -> libc::timespec {
    let slice = slice_ns(page, deadline_ns);
    now::timespec(
        if clock == libc::CLOCK_REALTIME {
            now::wall_clock_ns(clock)
        } else {
            wall_ns()
        } + slice,
    )
}

/// Wait slice after slice: `wait` returns ETIMEDOUT when a slice is over.
fn until_held(
    clock: libc::clockid_t,
    until: *const libc::timespec,
    mut wait: impl FnMut(Until) -> c_int,
) -> c_int {
    // SAFETY: the caller's address.
    let wanted = unsafe { *until };
    let (Some(page), Some(kind)) = (page(), kind(clock)) else {
        return wait((clock, wanted));
    };
    if !(0..1_000_000_000).contains(&wanted.tv_nsec) {
        return wait((clock, wanted));
    }
    let deadline = deadline_of(page, kind, &wanted);
    work::settle(page);
    loop {
        let result = wait((clock, slice_end(page, clock, deadline)));
        if result != libc::ETIMEDOUT || lab_ns(page) >= deadline {
            work::resume(page);
            return result;
        }
    }
}

/// Wait for one slice at most, and return 0 if it is over before the time: a spurious wake-up, which every user of a
/// condition has to expect. To wait again here could miss a signal that came between two slices.
fn until_woken(
    clock: libc::clockid_t,
    until: *const libc::timespec,
    wait: impl FnOnce(Until) -> c_int,
) -> c_int {
    // SAFETY: the caller's address.
    let wanted = unsafe { *until };
    let (Some(page), Some(kind)) = (page(), kind(clock)) else {
        return wait((clock, wanted));
    };
    if !(0..1_000_000_000).contains(&wanted.tv_nsec) {
        return wait((clock, wanted));
    }
    let deadline = deadline_of(page, kind, &wanted);
    work::settle(page);
    let result = wait((clock, slice_end(page, clock, deadline)));
    work::resume(page);
    if result == libc::ETIMEDOUT && lab_ns(page) < deadline {
        0
    } else {
        result
    }
}

/// Which clock a condition's time is of: the one that is nearer, as they are decades apart.
fn clock_near(until: *const libc::timespec) -> libc::clockid_t {
    let Some(page) = page() else {
        return libc::CLOCK_REALTIME;
    };
    // SAFETY: the caller's address.
    let wanted = now::ns(unsafe { &*until });
    let timeline = page.timeline().0;
    let monotonic = timeline.lab_ns(wall_ns());
    if (wanted - monotonic).abs() < (wanted - monotonic - timeline.real_ahead_ns).abs() {
        libc::CLOCK_MONOTONIC
    } else {
        libc::CLOCK_REALTIME
    }
}

/// `pthread_cond_timedwait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cond_timedwait(
    condition: *mut libc::pthread_cond_t,
    mutex: *mut libc::pthread_mutex_t,
    until: *const libc::timespec,
) -> c_int {
    type Wait = unsafe extern "C" fn(
        *mut libc::pthread_cond_t,
        *mut libc::pthread_mutex_t,
        *const libc::timespec,
    ) -> c_int;
    let real = raw::next!(c"pthread_cond_timedwait", c"GLIBC_2.3.2" => Wait);
    // SAFETY: the caller's addresses.
    until_woken(clock_near(until), until, |(_, until)| unsafe {
        real(condition, mutex, &raw const until)
    })
}

/// `pthread_cond_clockwait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cond_clockwait(
    condition: *mut libc::pthread_cond_t,
    mutex: *mut libc::pthread_mutex_t,
    clock: libc::clockid_t,
    until: *const libc::timespec,
) -> c_int {
    type Wait = unsafe extern "C" fn(
        *mut libc::pthread_cond_t,
        *mut libc::pthread_mutex_t,
        libc::clockid_t,
        *const libc::timespec,
    ) -> c_int;
    let real = raw::next!(c"pthread_cond_clockwait" => Wait);
    // SAFETY: the caller's addresses.
    until_woken(clock, until, |(clock, until)| unsafe {
        real(condition, mutex, clock, &raw const until)
    })
}

/// Functions that take (object, until) on `CLOCK_REALTIME`, and their like that take (object, clock, until).
macro_rules! timed {
    ($($doc:literal $timed:ident $clocked:ident $name:literal $object:ty),+ $(,)?) => {$(
        #[doc = $doc]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $timed(object: *mut $object, until: *const libc::timespec) -> c_int {
            // SAFETY: passed on.
            unsafe { $clocked(object, libc::CLOCK_REALTIME, until) }
        }

        #[doc = $doc]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $clocked(
            object: *mut $object,
            clock: libc::clockid_t,
            until: *const libc::timespec,
        ) -> c_int {
            let real = raw::next!($name => unsafe extern "C" fn(*mut $object, libc::clockid_t, *const libc::timespec) -> c_int);
            // SAFETY: the caller's addresses.
            until_held(clock, until, |(clock, until)| unsafe { real(object, clock, &raw const until) })
        }
    )+};
}

timed! {
    "`pthread_mutex_timedlock` and `..._clocklock`."
        pthread_mutex_timedlock pthread_mutex_clocklock c"pthread_mutex_clocklock" libc::pthread_mutex_t,
    "`pthread_rwlock_timedrdlock` and `..._clockrdlock`."
        pthread_rwlock_timedrdlock pthread_rwlock_clockrdlock c"pthread_rwlock_clockrdlock" libc::pthread_rwlock_t,
    "`pthread_rwlock_timedwrlock` and `..._clockwrlock`."
        pthread_rwlock_timedwrlock pthread_rwlock_clockwrlock c"pthread_rwlock_clockwrlock" libc::pthread_rwlock_t,
}

/// `sem_clockwait`: -1 and `errno`, unlike the others.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_clockwait(
    semaphore: *mut libc::sem_t,
    clock: libc::clockid_t,
    until: *const libc::timespec,
) -> c_int {
    let real = raw::next!(c"sem_clockwait" => unsafe extern "C" fn(*mut libc::sem_t, libc::clockid_t, *const libc::timespec) -> c_int);
    let error = until_held(clock, until, |(clock, until)| {
        // SAFETY: the caller's addresses.
        if unsafe { real(semaphore, clock, &raw const until) } == 0 {
            0
        } else {
            raw::errno()
        }
    });
    if error == 0 {
        return 0;
    }
    raw::set_errno(error);
    -1
}

/// `sem_timedwait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_timedwait(
    semaphore: *mut libc::sem_t,
    until: *const libc::timespec,
) -> c_int {
    // SAFETY: passed on.
    unsafe { sem_clockwait(semaphore, libc::CLOCK_REALTIME, until) }
}

/// `pthread_clockjoin_np`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_clockjoin_np(
    thread: libc::pthread_t,
    result: *mut *mut c_void,
    clock: libc::clockid_t,
    until: *const libc::timespec,
) -> c_int {
    type Join = unsafe extern "C" fn(
        libc::pthread_t,
        *mut *mut c_void,
        libc::clockid_t,
        *const libc::timespec,
    ) -> c_int;
    let real = raw::next!(c"pthread_clockjoin_np" => Join);
    if until.is_null() {
        // SAFETY: passed on.
        return unsafe { real(thread, result, clock, until) };
    }
    // SAFETY: the caller's addresses.
    until_held(clock, until, |(clock, until)| unsafe {
        real(thread, result, clock, &raw const until)
    })
}

/// `pthread_timedjoin_np`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_timedjoin_np(
    thread: libc::pthread_t,
    result: *mut *mut c_void,
    until: *const libc::timespec,
) -> c_int {
    // SAFETY: passed on.
    unsafe { pthread_clockjoin_np(thread, result, libc::CLOCK_REALTIME, until) }
}

/// `sigtimedwait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigtimedwait(
    set: *const libc::sigset_t,
    info: *mut libc::siginfo_t,
    timeout: *const libc::timespec,
) -> c_int {
    // SAFETY: the caller's address or null.
    let wanted = unsafe { timeout.as_ref() }.map(now::ns);
    let deadline = page()
        .zip(wanted)
        .map(|(page, wanted)| (page, lab_ns(page).saturating_add(wanted)));
    loop {
        let slice = deadline.map(|(page, deadline)| now::timespec(slice_ns(page, deadline)));
        let time = slice.as_ref().map_or(timeout, core::ptr::from_ref);
        // SAFETY: the caller's addresses.
        let result = unsafe {
            raw::call(
                libc::SYS_rt_sigtimedwait,
                set as usize,
                info as usize,
                time as usize,
                8,
                0,
                0,
            )
        };
        let over = deadline.is_none_or(|(page, deadline)| lab_ns(page) >= deadline);
        if result != -(libc::EAGAIN as isize) || over {
            return raw::returned(result) as c_int;
        }
    }
}
