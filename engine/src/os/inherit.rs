//! A mutex with priority inheritance: its holder inherits the priority of the threads that wait for it.
//!
//! The live thread runs in a real-time class where it may; the Python and SNMP threads do not. With an ordinary mutex,
//! a reader that lost its core to a busy MPI process in the middle of a copy would block the live thread for
//! milliseconds. The priority-inheriting futex of the kernel (PTHREAD_PRIO_INHERIT) boosts the reader instead. It also
//! hands the lock to the first in the queue, so that a spinning live thread cannot starve the readers.

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// Mutual exclusion with priority inheritance.
pub struct InheritMutex<T> {
    // Boxed: a pthread mutex must not move once it has been used.
    raw: Box<UnsafeCell<libc::pthread_mutex_t>>,
    value: UnsafeCell<T>,
}

// SAFETY: access to `value` is exclusive to the holder of `raw`, which any thread may lock.
unsafe impl<T: Send> Send for InheritMutex<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for InheritMutex<T> {}

impl<T> InheritMutex<T> {
    /// An unlocked mutex.
    pub fn new(value: T) -> Self {
        let raw = Box::new(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER));
        // SAFETY: the attribute is initialised before use and destroyed after, and `raw` is not yet shared.
        unsafe {
            let mut attribute = std::mem::zeroed::<libc::pthread_mutexattr_t>();
            libc::pthread_mutexattr_init(&raw mut attribute);
            libc::pthread_mutexattr_setprotocol(&raw mut attribute, libc::PTHREAD_PRIO_INHERIT);
            libc::pthread_mutex_init(raw.get(), &raw const attribute);
            libc::pthread_mutexattr_destroy(&raw mut attribute);
        }
        Self {
            raw,
            value: UnsafeCell::new(value),
        }
    }

    /// Take the lock, waiting for it.
    ///
    /// # Panics
    /// If the calling thread holds it already, as far as the kernel notices.
    pub fn lock(&self) -> InheritGuard<'_, T> {
        // SAFETY: `raw` is an initialised mutex that lives as long as `self`.
        let code = unsafe { libc::pthread_mutex_lock(self.raw.get()) };
        assert_eq!(code, 0, "the fabric's lock was taken twice by one thread");
        InheritGuard {
            mutex: self,
            not_send: PhantomData,
        }
    }
}

impl<T> Drop for InheritMutex<T> {
    fn drop(&mut self) {
        // SAFETY: nobody can hold the lock of something that is being dropped.
        unsafe { libc::pthread_mutex_destroy(self.raw.get()) };
    }
}

/// The lock, held.
pub struct InheritGuard<'a, T> {
    mutex: &'a InheritMutex<T>,
    // The locking thread must unlock.
    not_send: PhantomData<*const ()>,
}

impl<T> Deref for InheritGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the guard holds the lock.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T> DerefMut for InheritGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard holds the lock.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T> Drop for InheritGuard<'_, T> {
    fn drop(&mut self) {
        // SAFETY: this thread holds the lock: a guard cannot be sent.
        unsafe { libc::pthread_mutex_unlock(self.mutex.raw.get()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn one_at_a_time() {
        let total = Arc::new(InheritMutex::new(0_u64));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let total = Arc::clone(&total);
                std::thread::spawn(move || {
                    for _ in 0..10_000 {
                        let mut held = total.lock();
                        let read = *held;
                        std::hint::black_box(&mut held);
                        *held = read + 1;
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().expect("no thread panics");
        }
        assert_eq!(*total.lock(), 40_000);
    }
}
