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
/// Whoever waits with a timeout looks at the page again after [`wait_ns`], so nobody oversleeps. A slower rate takes
/// effect at once: a wait that ends too soon is taken up again.
pub const ANNOUNCED_NS: i64 = 15_000_000;

/// Nothing that is announced from now on is in force so soon, with some time to wake up.
const UNCHANGED_NS: i64 = ANNOUNCED_NS * 2 / 3;

/// How long to wait now (wall) for a moment of lab time before looking at the page again; 0: it is past.
///
/// Until that moment, unless the fastest rate, announced meanwhile, could pass it earlier. So a long wait seldom looks,
/// and costs nothing where processors are scarce.
#[must_use]
pub fn wait_ns(timeline: &Timeline, now_ns: i64, lab_deadline_ns: i64) -> i64 {
    let left = timeline.wall_ns(lab_deadline_ns).saturating_sub(now_ns);
    let then = lab_deadline_ns.saturating_sub(timeline.lab_ns(now_ns + UNCHANGED_NS));
    left.clamp(0, UNCHANGED_NS + Rate::FASTEST.wall_ns(then.max(0)))
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rates() -> impl Strategy<Value = Rate> {
        prop_oneof![
            (1u32..=1000).prop_map(|wall| Rate::new(1, wall).unwrap()),
            (1u32..=50).prop_map(|lab| Rate::new(lab, 1).unwrap()),
        ]
    }

    proptest! {
        #[test]
        fn no_rate_that_is_announced_meanwhile_makes_a_wait_too_long(
            rate in rates(),
            left_ns in 0i64..100_000_000_000,
            lease_ns in 0i64..LEASE_NS,
            later in 0f64..=1.0,
            then in rates(),
        ) {
            let now = 5_000_000_000;
            let line = Timeline::wall(0).bent(now - 1, now - 1, rate, now + lease_ns);
            let deadline = line.lab_ns(now) + left_ns;
            let wait = wait_ns(&line, now, deadline);
            prop_assert!(wait > 0 || left_ns == 0);
            prop_assert!(line.lab_ns(now + wait - 1) <= deadline);
            let changed = now + (later * wait as f64) as i64;
            let from = changed + ANNOUNCED_NS;
            let line = line.bent(changed, from, then, from + LEASE_NS);
            prop_assert!(line.lab_ns(now + wait - 1) <= deadline, "{}", wait);
        }
    }

    #[test]
    fn a_long_wait_seldom_looks() {
        let line = Timeline::wall(0).bent(0, 0, Rate::new(1, 50).unwrap(), i64::MAX);
        assert!((10_000_000..11_000_000).contains(&wait_ns(&line, 0, 1_000_000)));
        assert!(wait_ns(&line, 0, 30_000_000_000) >= 600_000_000);
        assert_eq!(wait_ns(&line, 10, 0), 0);
    }
}
