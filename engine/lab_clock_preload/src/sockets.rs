//! Sockets: the kernel's time stamps on packets, and receive timeouts.

use core::ffi::{c_int, c_uint, c_void};
use core::sync::atomic::{AtomicI64, Ordering};

use lab_clock::Page;

use crate::now::{self, page, stamp_ns};
use crate::{polls, raw, rings};

const STAMP: c_int = 29; // SO_TIMESTAMP, also of its message
const STAMP_NS: c_int = 35;
const STAMPING: c_int = 37;
const STAMP_64: c_int = 63;
const STAMP_NS_64: c_int = 64;
const STAMPING_64: c_int = 65;
const TIMEOUT_64: c_int = 66; // SO_RCVTIMEO_NEW
const SIOCGSTAMP: u64 = 0x8906;
const SIOCGSTAMPNS: u64 = 0x8907;

const DESCRIPTORS: usize = 4096;
/// Receive timeouts in lab time by descriptor; 0: none.
static TIMEOUT_NS: [AtomicI64; DESCRIPTORS] = [const { AtomicI64::new(0) }; DESCRIPTORS];

unsafe fn convert_timespec(page: &Page, at: *mut libc::timespec) {
    // SAFETY: a message that holds a time; it may lie unaligned.
    unsafe {
        let stamp = at.read_unaligned();
        if stamp.tv_sec != 0 || stamp.tv_nsec != 0 {
            at.write_unaligned(now::timespec(stamp_ns(page, now::ns(&stamp))));
        }
    }
}

unsafe fn convert_timeval(page: &Page, at: *mut libc::timeval) {
    // SAFETY: as above.
    unsafe {
        let stamp = at.read_unaligned();
        at.write_unaligned(now::timeval(stamp_ns(page, now::timeval_ns(&stamp))));
    }
}

/// Kernel stamps of a message in lab time. A stamp of the network card's own clock (the third of SCM_TIMESTAMPING) stays.
unsafe fn convert(page: &Page, message: *mut libc::msghdr) {
    // SAFETY: control messages as the kernel has just written them.
    unsafe {
        let mut control = libc::CMSG_FIRSTHDR(message);
        while !control.is_null() {
            if (*control).cmsg_level == libc::SOL_SOCKET {
                let data = libc::CMSG_DATA(control);
                match (*control).cmsg_type {
                    STAMP | STAMP_64 => convert_timeval(page, data.cast()),
                    STAMP_NS | STAMP_NS_64 | STAMPING | STAMPING_64 => {
                        convert_timespec(page, data.cast())
                    }
                    _ => {}
                }
            }
            control = libc::CMSG_NXTHDR(message, control);
        }
    }
}

/// Wait for a socket with a receive timeout; false: it is over, and `errno` is set.
unsafe fn readable(fd: c_int, flags: c_int) -> bool {
    let timeout = usize::try_from(fd)
        .ok()
        .and_then(|fd| TIMEOUT_NS.get(fd))
        .map_or(0, |t| t.load(Ordering::Relaxed));
    if timeout == 0 || flags & libc::MSG_DONTWAIT != 0 {
        return true;
    }
    let mut wanted = libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: one descriptor.
    match unsafe { polls::ppoll_for(&raw mut wanted, 1, Some(timeout), 0) } {
        0 => {
            raw::set_errno(libc::EAGAIN);
            false
        }
        result => result > 0,
    }
}

/// `recvmsg`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn recvmsg(fd: c_int, message: *mut libc::msghdr, flags: c_int) -> isize {
    // SAFETY: the caller's arguments.
    unsafe {
        if !readable(fd, flags) {
            return -1;
        }
        let result = raw::libc_call(
            libc::SYS_recvmsg,
            fd as usize,
            message as usize,
            flags as usize,
            0,
            0,
            0,
        );
        if let Some(page) = page().filter(|_| result >= 0) {
            convert(page, message);
        }
        result
    }
}

/// `recvmmsg`. Its own timeout is looked at between messages only, as the kernel does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn recvmmsg(
    fd: c_int,
    messages: *mut libc::mmsghdr,
    count: c_uint,
    flags: c_int,
    timeout: *mut libc::timespec,
) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe {
        if !readable(fd, flags) {
            return -1;
        }
        let result = raw::libc_call(
            libc::SYS_recvmmsg,
            fd as usize,
            messages as usize,
            count as usize,
            flags as usize,
            timeout as usize,
            0,
        ) as c_int;
        if let Some(page) = page() {
            for index in 0..result.max(0) as usize {
                convert(page, &raw mut (*messages.add(index)).msg_hdr);
            }
        }
        result
    }
}

/// `recvfrom`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn recvfrom(
    fd: c_int,
    buffer: *mut c_void,
    length: usize,
    flags: c_int,
    address: *mut libc::sockaddr,
    address_length: *mut libc::socklen_t,
) -> isize {
    // SAFETY: the caller's arguments.
    unsafe {
        if !readable(fd, flags) {
            return -1;
        }
        raw::libc_call(
            libc::SYS_recvfrom,
            fd as usize,
            buffer as usize,
            length,
            flags as usize,
            address as usize,
            address_length as usize,
        )
    }
}

/// `recv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn recv(
    fd: c_int,
    buffer: *mut c_void,
    length: usize,
    flags: c_int,
) -> isize {
    // SAFETY: passed on.
    unsafe {
        recvfrom(
            fd,
            buffer,
            length,
            flags,
            core::ptr::null_mut(),
            core::ptr::null_mut(),
        )
    }
}

/// `setsockopt`: a receive timeout is kept in lab time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn setsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    length: libc::socklen_t,
) -> c_int {
    if level == libc::SOL_SOCKET
        && (name == libc::SO_RCVTIMEO || name == TIMEOUT_64)
        && length >= 16
        && page().is_some()
    {
        if let Some(slot) = usize::try_from(fd).ok().and_then(|fd| TIMEOUT_NS.get(fd)) {
            // SAFETY: the caller's address, of that length.
            slot.store(
                now::timeval_ns(unsafe { &*value.cast::<libc::timeval>() }),
                Ordering::Relaxed,
            );
            return 0;
        }
    }
    // SAFETY: passed on.
    unsafe {
        let in_time = page().and_then(|_| rings::in_time(level, name, value, length));
        let given = in_time.as_ref().map_or(value, |ring| ring.as_ptr().cast());
        let result = raw::libc_call(
            libc::SYS_setsockopt,
            fd as usize,
            level as usize,
            name as usize,
            given as usize,
            length as usize,
            0,
        ) as c_int;
        if result == 0 && page().is_some() {
            rings::option_set(fd, level, name, value, length);
        }
        result
    }
}

/// `close`: a descriptor's receive timeout goes with it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn close(fd: c_int) -> c_int {
    if let Some(slot) = usize::try_from(fd).ok().and_then(|fd| TIMEOUT_NS.get(fd)) {
        if slot.load(Ordering::Relaxed) != 0 {
            slot.store(0, Ordering::Relaxed);
        }
    }
    rings::closed(fd);
    // SAFETY: passed on.
    unsafe { raw::libc_call(libc::SYS_close, fd as usize, 0, 0, 0, 0, 0) as c_int }
}

/// `ioctl`: the stamp of the last packet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ioctl(fd: c_int, request: u64, argument: usize) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe {
        let result = raw::libc_call(
            libc::SYS_ioctl,
            fd as usize,
            request as usize,
            argument,
            0,
            0,
            0,
        ) as c_int;
        if let Some(page) = page().filter(|_| result == 0) {
            match request {
                SIOCGSTAMP => convert_timeval(page, argument as *mut libc::timeval),
                SIOCGSTAMPNS => convert_timespec(page, argument as *mut libc::timespec),
                _ => {}
            }
        }
        result
    }
}
