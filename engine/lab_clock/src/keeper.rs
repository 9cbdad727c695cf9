//! A thread that renews the lease of a writer. It lives in the wall's time.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use crate::raw;
use crate::timeline::Rate;
use crate::writer::Writer;

static RENEWED_EACH: libc::timespec = libc::timespec {
    tv_sec: 0,
    tv_nsec: 500_000_000,
};

/// The rate that was set last, for threads that ask often.
#[derive(Debug)]
pub struct SharedRate(AtomicU64);

impl SharedRate {
    fn new(rate: Rate) -> Self {
        Self(AtomicU64::new(rate.factor().to_bits()))
    }

    fn set(&self, rate: Rate) {
        self.0.store(rate.factor().to_bits(), Ordering::Relaxed);
    }

    /// Lab time per wall time.
    #[must_use]
    pub fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }
}

struct Shared {
    writer: Mutex<Writer>,
    ended: AtomicU32,
}

impl Shared {
    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn renew_until_ended(&self) {
        while self.ended.load(Ordering::Acquire) == 0 {
            self.writer().renew();
            // SAFETY: a futex word that outlives the call, and a constant time.
            unsafe {
                raw::call(
                    libc::SYS_futex,
                    self.ended.as_ptr() as usize,
                    libc::FUTEX_WAIT as usize,
                    0,
                    (&raw const RENEWED_EACH) as usize,
                    0,
                    0,
                );
            }
        }
    }
}

/// Keeps a lab's clock until it is dropped; then lab time goes on at the wall's pace.
pub struct Keeper {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    rate: Arc<SharedRate>,
}

impl Keeper {
    /// Keep the clock of a writer. An error if no thread can be started.
    pub fn start(writer: Writer) -> std::io::Result<Keeper> {
        let rate = Arc::new(SharedRate::new(writer.rate()));
        let shared = Arc::new(Shared {
            writer: Mutex::new(writer),
            ended: AtomicU32::new(0),
        });
        let own = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("lab-clock".into())
            .spawn(move || own.renew_until_ended())?;
        Ok(Keeper {
            shared,
            thread: Some(thread),
            rate,
        })
    }

    /// Set the rate.
    pub fn set(&self, rate: Rate) {
        self.shared.writer().set(rate);
        self.rate.set(rate);
    }

    /// The rate that was set last, as others see it change.
    #[must_use]
    pub fn shared_rate(&self) -> Arc<SharedRate> {
        Arc::clone(&self.rate)
    }

    /// The rate that was set last.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.shared.writer().rate()
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.shared.ended.store(1, Ordering::Release);
        // SAFETY: as in `renew_until_ended`.
        unsafe {
            raw::call(
                libc::SYS_futex,
                self.shared.ended.as_ptr() as usize,
                libc::FUTEX_WAKE as usize,
                1,
                0,
                0,
                0,
            );
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        self.shared.writer().release();
        self.rate.set(Rate::WALL);
    }
}
