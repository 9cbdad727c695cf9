//! A way to wake a thread that sleeps in `epoll_wait` or `poll`.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// An eventfd: readable from `signal` to `clear`.
#[derive(Debug)]
pub struct Wake {
    fd: OwnedFd,
}

impl Wake {
    /// Not signalled.
    ///
    /// # Errors
    /// The process has no free file descriptor.
    pub fn new() -> io::Result<Self> {
        // SAFETY: no memory is passed; a descriptor that is returned belongs to nobody else.
        unsafe {
            let fd = libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(Self {
                fd: OwnedFd::from_raw_fd(fd),
            })
        }
    }

    /// Wake the sleeping thread, now or when it next sleeps.
    pub fn signal(&self) {
        let one = 1_u64;
        // SAFETY: eight bytes are read from `one`. A full counter is signalled anyway.
        unsafe { libc::write(self.fd.as_raw_fd(), (&raw const one).cast(), 8) };
    }

    /// Wait for a signal; a pending one ends the wait at once.
    pub fn wait(&self) {
        let mut poll = libc::pollfd {
            fd: self.fd.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one entry is passed, which outlives the call.
        while unsafe { libc::poll(&raw mut poll, 1, -1) } < 1 {}
    }

    /// Clear the signal.
    pub fn clear(&self) {
        let mut count = 0_u64;
        // SAFETY: eight bytes are written to `count`. Nothing to read means nothing to clear.
        unsafe { libc::read(self.fd.as_raw_fd(), (&raw mut count).cast(), 8) };
    }
}

impl AsRawFd for Wake {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}
