//! The one process that sets the rate: it renews the lease, and announces what would make lab time faster.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::page::{PAGE_BYTE, Page, PageError, Reader, map};
use crate::raw;
use crate::timeline::{Rate, Timeline};

/// Without a renewal for so long, lab time goes on at the wall's pace.
pub const LEASE_NS: i64 = 3_000_000_000;

/// A faster rate takes effect so long after it is written.
///
/// Whoever waits with a timeout looks at the page at least that often, so nobody oversleeps. A slower rate takes
/// effect at once: a wait that ends too soon is taken up again.
pub const ANNOUNCED_NS: i64 = 15_000_000;

/// The writer of a lab's clock.
pub struct Writer {
    page: &'static Page,
    rate: Rate,
}

impl Writer {
    /// Make a clock that shows the wall's time; an existing file is replaced.
    pub fn create(path: &Path) -> Result<Writer, PageError> {
        let unreadable = |error| PageError::Unreadable(path.display().to_string(), error);
        let fresh = path.with_extension("new");
        let file: File = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o644)
            .open(&fresh)
            .map_err(unreadable)?;
        file.set_len(PAGE_BYTE as u64).map_err(unreadable)?;
        let page = map(&file, true).map_err(unreadable)?;
        page.write(
            &Timeline::wall(clock_ns(libc::CLOCK_REALTIME) - now_ns()),
            false,
        );
        page.stamp();
        std::fs::rename(&fresh, path).map_err(unreadable)?;
        Ok(Writer {
            page,
            rate: Rate::WALL,
        })
    }

    /// The clock that another process made, from now on written by this one.
    pub fn open(path: &Path) -> Result<Writer, PageError> {
        Reader::open(path)?; // that it is one
        let unreadable = |error| PageError::Unreadable(path.display().to_string(), error);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .map_err(unreadable)?;
        Ok(Writer {
            page: map(&file, true).map_err(unreadable)?,
            rate: Rate::WALL,
        })
    }

    /// The rate that was set last.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Set the rate: a slower one at once, a faster one after [`ANNOUNCED_NS`].
    pub fn set(&mut self, rate: Rate) {
        let now = now_ns();
        let timeline = self.page.timeline().0;
        let from = if rate.faster_than(timeline.at(now).rate) {
            now + ANNOUNCED_NS
        } else {
            now
        };
        self.page
            .write(&timeline.bent(now, from, rate, from + LEASE_NS), true);
        self.rate = rate;
        wake(self.page);
    }

    /// Renew the lease; to be called at least once a second.
    pub fn renew(&mut self) {
        let now = now_ns();
        let timeline = self.page.timeline().0;
        if now >= timeline.pieces[2].wall_ns {
            self.set(self.rate);
        } else {
            let until = now.max(timeline.pieces[1].wall_ns) + LEASE_NS;
            self.page.write(&timeline.renewed(until), false);
        }
    }

    /// The wall's pace for ever, from now on.
    pub fn release(&mut self) {
        let now = now_ns();
        let timeline = self.page.timeline().0;
        self.page
            .write(&timeline.bent(now, now, Rate::WALL, now), true);
        self.rate = Rate::WALL;
        wake(self.page);
    }
}

fn wake(page: &Page) {
    // SAFETY: a futex word that lives as long as the process; waking needs no other precondition.
    unsafe {
        raw::call(
            libc::SYS_futex,
            page.changes.as_ptr() as usize,
            libc::FUTEX_WAKE as usize,
            i32::MAX as usize,
            0,
            0,
            0,
        );
    }
}

/// The wall's `CLOCK_MONOTONIC`.
#[must_use]
pub fn now_ns() -> i64 {
    clock_ns(libc::CLOCK_MONOTONIC)
}

fn clock_ns(clock: libc::clockid_t) -> i64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the clock exists and the address is valid.
    unsafe {
        raw::call(
            libc::SYS_clock_gettime,
            clock as usize,
            (&raw mut time) as usize,
            0,
            0,
            0,
            0,
        )
    };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}
