//! The fabric, its clock, and the lock between all who use it.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use fabric::{Fabric, Ps};

use crate::os::clock::WallClock;
use crate::os::inherit::{InheritGuard, InheritMutex};
use crate::os::wake::Wake;

/// What engine time is.
#[derive(Debug)]
pub enum Clock {
    /// The wall clock.
    Wall(WallClock),
    /// A number that its owner sets.
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

    /// Wait for a moment without giving the core away; returns the time it is then. A virtual clock does not wait.
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
/// Order of locks: whoever holds Python's GIL gives it up before taking the fabric's lock (`Python::detach`), and
/// nobody calls into Python while holding it.
pub struct Core {
    fabric: InheritMutex<Fabric>,
    clock: Clock,
    wake: Wake,
}

impl Core {
    /// A core around a fabric.
    ///
    /// # Errors
    /// If the process has no descriptor left.
    pub fn new(fabric: Fabric, clock: Clock) -> io::Result<Self> {
        Ok(Self {
            fabric: InheritMutex::new(fabric),
            clock,
            wake: Wake::new()?,
        })
    }

    /// Look at the fabric or change it, at the present engine time. Takes as long as the lock is held by others:
    /// microseconds. The live thread is told if it has to look again earlier or later.
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

    /// The fabric itself, for the one who drives it.
    pub(crate) fn lock(&self) -> InheritGuard<'_, Fabric> {
        self.fabric.lock()
    }

    /// The clock.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Signalled when the driver has to look at the fabric again.
    pub(crate) fn wake(&self) -> &Wake {
        &self.wake
    }
}
