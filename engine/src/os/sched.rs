//! Scheduling attributes of threads: sched_getattr(2) and sched_setattr(2), which libc does not offer.

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
    /// Share of each period in `SCHED_DEADLINE`; of an ordinary thread how long a turn of it lasts (since Linux 6.12).
    pub runtime_ns: u64,
    /// In `SCHED_DEADLINE`.
    pub deadline_ns: u64,
    /// In `SCHED_DEADLINE`.
    pub period_ns: u64,
}

impl SchedAttr {
    /// Of a thread, 0 for the calling one; None if there is none, or we may not know.
    #[must_use]
    pub fn of(thread: i32) -> Option<Self> {
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

    /// Give them to a thread, 0 for the calling one; whether that was granted.
    #[must_use]
    pub fn give(mut self, thread: i32) -> bool {
        self.size = size_of::<Self>() as u32;
        // SAFETY: the attributes are read only and say their own size.
        unsafe { libc::syscall(libc::SYS_sched_setattr, thread, &raw const self, 0) == 0 }
    }
}
