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

/// Beyond the wall's pace a rate is announced so much earlier for each doubling of it.
///
/// So a wait of a second looks at the page five times a second of the wall, where one that had to expect [`Rate::FASTEST`] at any
/// time would look thirty times: where a host has a hundredth of a processor that is some percent of what it has.
pub const DOUBLED_NS: i64 = 40_000_000;

/// Nothing that is announced from now on is in force so soon, with some time to wake up.
const UNCHANGED_NS: i64 = ANNOUNCED_NS * 2 / 3;

/// From when on (wall) a rate that is set now is in force.
///
/// No timeline that others read meanwhile, with whatever was set before, lets them expect that rate later than then.
fn from_ns(timeline: &Timeline, now_ns: i64, rate: Rate) -> i64 {
    let in_force = timeline.at(now_ns).rate;
    if !rate.faster_than(in_force) {
        return now_ns;
    }
    let announced = &timeline.pieces[1];
    let known = if announced.wall_ns > now_ns && rate.faster_than(announced.rate) {
        announced
    } else {
        timeline.at(now_ns)
    };
    let more_ns = doubling_ns(known.rate.factor(), rate.factor());
    (now_ns + ANNOUNCED_NS + more_ns).max(known.wall_ns + more_ns)
}

/// How much earlier than [`ANNOUNCED_NS`] a rate is announced where another one is expected.
fn doubling_ns(known: f64, rate: f64) -> i64 {
    let times = rate.max(1.0) / known.max(1.0);
    (DOUBLED_NS as f64 * times.log2()).ceil().max(0.0) as i64
}

/// How long to wait now (wall) for a moment of lab time before looking at the page again; 0: it is past.
///
/// Until that moment, unless rates that are announced meanwhile could pass it earlier. So a long wait seldom looks, and
/// costs nothing where processors are scarce.
#[must_use]
pub fn wait_ns(timeline: &Timeline, now_ns: i64, lab_deadline_ns: i64) -> i64 {
    let left = timeline.wall_ns(lab_deadline_ns).saturating_sub(now_ns);
    let then = lab_deadline_ns.saturating_sub(timeline.lab_ns(now_ns + UNCHANGED_NS));
    left.clamp(0, UNCHANGED_NS + soonest_ns(timeline, then))
}

/// The least time (wall) in which so much lab time may pass, from [`UNCHANGED_NS`] after now on.
///
/// The rate then is at most the fastest one that was known, or the wall's pace, and doubles in [`DOUBLED_NS`] at most.
fn soonest_ns(timeline: &Timeline, lab_ns: i64) -> i64 {
    if lab_ns <= 0 {
        return 0;
    }
    let known = timeline.pieces.map(|piece| piece.rate.factor());
    let begin = known.into_iter().fold(1.0, f64::max);
    let fastest = Rate::FASTEST.factor();
    let doubled_ns = DOUBLED_NS as f64;
    // the integral of begin * 2^(t / doubled), until it is the fastest
    let scale_ns = begin * doubled_ns / core::f64::consts::LN_2;
    let growing_ns = scale_ns * (fastest / begin - 1.0);
    let lab_ns = lab_ns as f64;
    let wall_ns = if lab_ns <= growing_ns {
        doubled_ns * (lab_ns / scale_ns).ln_1p() / core::f64::consts::LN_2
    } else {
        doubled_ns * (fastest / begin).log2() + (lab_ns - growing_ns) / fastest
    };
    wall_ns as i64
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

    /// Set the rate: a slower one at once, a faster one after [`ANNOUNCED_NS`], or later where it is beyond the wall's
    /// pace ([`DOUBLED_NS`]).
    pub fn set(&mut self, rate: Rate) {
        let now = now_ns();
        let timeline = self.page.timeline().0;
        let from = from_ns(&timeline, now, rate);
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
        fn no_rates_that_are_announced_meanwhile_make_a_wait_too_long(
            before in prop::collection::vec((rates(), 0i64..400_000_000), 1..5),
            left_ns in prop_oneof![0i64..100_000_000, 0i64..100_000_000_000],
            later in prop::collection::vec((rates(), 0f64..=1.0), 0..6),
            ahead in any::<bool>(),
        ) {
            let mut now = 5_000_000_000;
            let mut line = Timeline::wall(0);
            let set = |line: &Timeline, now, rate| {
                let from = from_ns(line, now, rate);
                line.bent(now, from, rate, from + LEASE_NS)
            };
            for (rate, since_ns) in before {
                line = set(&line, now, rate);
                now += since_ns;
            }
            let deadline = line.lab_ns(now) + left_ns;
            let wait = wait_ns(&line, now, deadline);
            prop_assert!(wait > 0 || left_ns == 0);
            prop_assert!(line.lab_ns(now + wait - 1) <= deadline);
            let mut shares: Vec<f64> = later.iter().map(|(_, share)| share.powi(if ahead { 4 } else { 1 })).collect();
            shares.sort_by(f64::total_cmp);
            for ((rate, _), share) in later.into_iter().zip(shares) {
                let changed = now + (share * wait as f64) as i64;
                line = set(&line, changed, rate);
            }
            prop_assert!(line.lab_ns(now + wait - 1) <= deadline, "{}", wait);
        }
    }

    #[test]
    fn a_rate_beyond_the_walls_pace_is_announced_earlier_and_none_before_one_that_is_awaited() {
        let rate = |lab| Rate::new(lab, 1).unwrap();
        let slow = Timeline::wall(0).bent(0, 0, Rate::new(1, 50).unwrap(), i64::MAX);
        assert_eq!(from_ns(&slow, 7, Rate::SLOWEST), 7);
        assert_eq!(from_ns(&slow, 7, rate(1)), 7 + ANNOUNCED_NS);
        let four_ns = ANNOUNCED_NS + 2 * DOUBLED_NS;
        assert_eq!(from_ns(&slow, 0, rate(4)), four_ns);
        let awaited = slow.bent(0, four_ns, rate(4), i64::MAX);
        assert_eq!(from_ns(&awaited, 1, rate(8)), four_ns + DOUBLED_NS);
        assert_eq!(from_ns(&awaited, 1, rate(2)), 1 + ANNOUNCED_NS + DOUBLED_NS);
    }

    #[test]
    fn a_long_wait_seldom_looks() {
        let line = Timeline::wall(0).bent(0, 0, Rate::new(1, 50).unwrap(), i64::MAX);
        let second = 1_000_000_000;
        assert!((10_000_000..11_000_000).contains(&wait_ns(&line, 0, 1_000_000)));
        assert!(wait_ns(&line, 0, 100_000_000) >= 60_000_000);
        assert!(wait_ns(&line, 0, second) >= 170_000_000);
        assert!(wait_ns(&line, 0, 30 * second) >= 700_000_000);
        assert_eq!(wait_ns(&line, 10, 0), 0);
    }
}
