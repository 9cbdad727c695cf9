//! Signals of the process.

/// Block all signals in the calling thread: they interrupt the main thread only.
pub fn block_signals() {
    // SAFETY: the set is filled before it is used, and the mask is that of the calling thread only.
    unsafe {
        let mut all = std::mem::zeroed::<libc::sigset_t>();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, std::ptr::null_mut());
    }
}
