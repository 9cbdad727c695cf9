//! Waiting for events.

use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;

use fabric::time::{PS_PER_NS, PS_PER_S};

use crate::live::pace::Wait;

/// Wait as long as is allowed; how many events there are.
pub(super) fn wait_for_events(
    epoll: &OwnedFd,
    events: &mut [libc::epoll_event],
    wait_limit: Wait,
) -> usize {
    let fd = epoll.as_raw_fd();
    let most = events.len() as libc::c_int;
    let limit = match wait_limit {
        Wait::For(span) => span,
        Wait::Spin | Wait::Forever => 0,
    };
    let time = libc::timespec {
        tv_sec: (limit / PS_PER_S) as libc::time_t,
        tv_nsec: (limit % PS_PER_S / PS_PER_NS) as libc::c_long,
    };
    // SAFETY: the kernel writes at most `most` events; `time` is read only. An interrupted call returns no event.
    let count = unsafe {
        match wait_limit {
            // Not by the library: a lab's preloaded clock takes a thread that polls again and again for an idle rank,
            // and lets it sleep.
            Wait::Spin => {
                let found = lab_clock::raw::call(
                    libc::SYS_epoll_pwait,
                    fd as usize,
                    events.as_mut_ptr() as usize,
                    most as usize,
                    0,
                    0,
                    0,
                );
                found as libc::c_int
            }
            Wait::Forever => libc::epoll_wait(fd, events.as_mut_ptr(), most, -1),
            // By number: glibc has the function since 2.35.
            Wait::For(_) => libc::syscall(
                libc::SYS_epoll_pwait2,
                fd,
                events.as_mut_ptr(),
                most,
                &raw const time,
                ptr::null::<libc::sigset_t>(),
                0_usize,
            ) as libc::c_int,
        }
    };
    usize::try_from(count).unwrap_or(0)
}
