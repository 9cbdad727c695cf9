//! Scheduling of threads: their attributes (sched_getattr(2) and sched_setattr(2), which the libc crate lacks), and how
//! long they wait for a processor.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// `struct sched_attr`, first version.
#[repr(C)]
#[derive(Copy, Clone, Debug, Default)]
pub struct SchedAttr {
    pub(crate) size: u32,
    /// `SCHED_OTHER` and so on.
    pub policy: u32,
    pub(crate) flags: u64,
    /// Of an ordinary thread.
    pub nice: i32,
    /// Of a real-time thread.
    pub priority: u32,
    /// Runtime per period in `SCHED_DEADLINE`; of an ordinary thread its time slice (since Linux 6.12).
    pub runtime_ns: u64,
    /// In `SCHED_DEADLINE`.
    pub deadline_ns: u64,
    /// In `SCHED_DEADLINE`.
    pub period_ns: u64,
}

impl SchedAttr {
    /// Attributes of a thread (0: the calling one); `None` if it does not exist or access is denied.
    #[must_use]
    pub fn get(thread: i32) -> Option<Self> {
        let mut found = Self::default();
        // SAFETY: no more than the size that is passed is written.
        let code = unsafe {
            libc::syscall(
                libc::SYS_sched_getattr,
                thread,
                &raw mut found,
                size_of::<Self>(),
                0,
            )
        };
        (code == 0).then_some(found)
    }

    /// Apply the attributes to a thread (0: the calling one); false if the kernel refuses.
    #[must_use]
    pub fn set(mut self, thread: i32) -> bool {
        self.size = size_of::<Self>() as u32;
        // SAFETY: the attributes are read only and say their own size.
        unsafe { libc::syscall(libc::SYS_sched_setattr, thread, &raw const self, 0) == 0 }
    }
}

/// From a thread's `schedstat`: nanoseconds waited for a processor, and the number of turns on one.
#[must_use]
pub fn waits_of(schedstat: &str) -> Option<(u64, u64)> {
    let mut fields = schedstat.split_ascii_whitespace().skip(1);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

/// How long a thread has waited for a processor while it could have run: `/proc/[pid]/schedstat`, second number.
#[derive(Debug)]
pub struct RunDelay {
    file: File,
    seen_ns: u64,
}

impl RunDelay {
    /// Of the calling thread, from now on.
    ///
    /// # Errors
    /// The kernel keeps no such statistics.
    pub fn of_this_thread() -> io::Result<Self> {
        let mut delay = Self {
            file: File::open("/proc/thread-self/schedstat")?,
            seen_ns: 0,
        };
        delay.since_last_ns();
        Ok(delay)
    }

    /// Nanoseconds waited since the last call.
    pub fn since_last_ns(&mut self) -> u64 {
        let mut text = [0; 64];
        let length = self.file.read_at(&mut text, 0).unwrap_or(0);
        let waited_ns = std::str::from_utf8(&text[..length])
            .ok()
            .and_then(waits_of)
            .map_or(self.seen_ns, |(ns, _)| ns);
        let since_ns = waited_ns.saturating_sub(self.seen_ns);
        self.seen_ns = waited_ns;
        since_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn stay_on(cpu: usize) {
        // SAFETY: a set of processors is plain data, for which zero is valid; the calling thread exists.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(cpu, &mut set);
            assert_eq!(
                libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set),
                0
            );
        }
    }

    #[test]
    fn a_thread_that_shares_its_processor_waits() {
        // SAFETY: no arguments.
        let cpu = usize::try_from(unsafe { libc::sched_getcpu() }).unwrap();
        let over = Arc::new(AtomicBool::new(false));
        let other = std::thread::spawn({
            let over = Arc::clone(&over);
            move || {
                stay_on(cpu);
                while !over.load(Ordering::Relaxed) {}
            }
        });
        let waiter = std::thread::spawn(move || {
            stay_on(cpu);
            let mut delay = RunDelay::of_this_thread().unwrap();
            let mut waited_ns = 0;
            while waited_ns < 1_000_000 {
                waited_ns += delay.since_last_ns();
            }
            waited_ns
        });
        assert!(waiter.join().unwrap() >= 1_000_000);
        over.store(true, Ordering::Relaxed);
        other.join().unwrap();
    }
}
