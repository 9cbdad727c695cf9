//! The fabric, its clock, and the lock between its users.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use fabric::{Fabric, Ps};

use crate::os::clock::WallClock;
use crate::os::inherit::{InheritGuard, InheritMutex};
use crate::os::wake::Wake;

/// Source of engine time.
#[derive(Debug)]
pub enum Clock {
    /// The wall clock.
    Wall(WallClock),
    /// A value that its owner advances.
    Virtual(AtomicU64),
}

impl Clock {
    /// Engine time.
    #[must_use]
    pub fn now(&self) -> Ps {
        match self {
            Self::Wall(clock) => clock.now(),
            Self::Virtual(now) => now.load(Ordering::Acquire),
        }
    }

    /// Busy-wait until `at`; returns the time then. A virtual clock does not wait.
    pub fn spin_until(&self, at: Ps) -> Ps {
        loop {
            let now = self.now();
            if now >= at || matches!(self, Self::Virtual(_)) {
                return now;
            }
            std::hint::spin_loop();
        }
    }
}

/// A fabric shared by the live thread, Python threads and the SNMP thread.
///
/// Lock order: a thread that holds the GIL of Python releases it before it takes the lock of the fabric
/// (`Python::detach`), and never calls Python while it holds that lock.
pub struct Core {
    fabric: InheritMutex<Fabric>,
    clock: Clock,
    wake: Wake,
}

impl Core {
    /// A core around a fabric.
    ///
    /// # Errors
    /// The process has no free file descriptor.
    pub fn new(fabric: Fabric, clock: Clock) -> io::Result<Self> {
        Ok(Self {
            fabric: InheritMutex::new(fabric),
            clock,
            wake: Wake::new()?,
        })
    }

    /// Read or change the fabric at the present engine time. Waits while other threads hold the lock: microseconds.
    /// Wakes the live thread if the next event moved.
    pub fn with<R>(&self, work: impl FnOnce(&mut Fabric, Ps) -> R) -> R {
        let mut fabric = self.fabric.lock();
        let now = self.clock.now().max(fabric.now());
        let before = fabric.poll_at();
        let result = work(&mut fabric, now);
        let moved = fabric.poll_at() != before || fabric.nic_links_changed();
        drop(fabric);
        if moved {
            self.wake.signal();
        }
        result
    }

    /// The locked fabric, for the thread that drives it.
    pub(crate) fn lock(&self) -> InheritGuard<'_, Fabric> {
        self.fabric.lock()
    }

    /// The clock.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Signalled when the driver must check the fabric again.
    pub(crate) fn wake(&self) -> &Wake {
        &self.wake
    }
}
