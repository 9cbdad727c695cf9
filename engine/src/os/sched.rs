//! Scheduling attributes of threads: sched_getattr(2) and sched_setattr(2), which the libc crate lacks.

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
