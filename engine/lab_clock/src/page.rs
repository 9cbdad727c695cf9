//! A timeline on one shared page: one writer, any number of readers in any process, no lock (a sequence lock).

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering, fence};

use crate::timeline::{Piece, Rate, Timeline};

/// Bytes of the file.
pub const PAGE_BYTE: usize = 4096;
const MAGIC: u32 = 0x4c43_4c4b;
const VERSION: u32 = 1;

/// The page cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// It cannot be opened or mapped.
    #[error("the lab's clock {0} cannot be read: {1}")]
    Unreadable(String, io::Error),
    /// It is not a lab's clock, or one of another version.
    #[error("{0} is not a lab's clock of version {VERSION}: bring the lab down and up again")]
    Foreign(String),
}

#[repr(C)]
struct SharedPiece {
    wall_ns: AtomicI64,
    lab_ns: AtomicI64,
    lab: AtomicU32,
    wall: AtomicU32,
}

/// What the file holds, at its start.
#[repr(C)]
pub struct Page {
    magic: AtomicU32,
    version: AtomicU32,
    /// Odd while the writer writes.
    sequence: AtomicU32,
    /// Raised with each change of rate; sleepers wait on it as a futex.
    pub changes: AtomicU32,
    real_ahead_ns: AtomicI64,
    pieces: [SharedPiece; 3],
}

impl Page {
    /// The timeline as it is now, and the number of changes of rate that it includes.
    #[must_use]
    pub fn timeline(&self) -> (Timeline, u32) {
        loop {
            let before = self.sequence.load(Ordering::Acquire);
            if before & 1 == 1 {
                core::hint::spin_loop();
                continue;
            }
            let pieces = [0, 1, 2].map(|i| {
                let shared = &self.pieces[i];
                Piece {
                    wall_ns: shared.wall_ns.load(Ordering::Relaxed),
                    lab_ns: shared.lab_ns.load(Ordering::Relaxed),
                    rate: Rate {
                        lab: shared.lab.load(Ordering::Relaxed),
                        wall: shared.wall.load(Ordering::Relaxed),
                    },
                }
            });
            let real_ahead_ns = self.real_ahead_ns.load(Ordering::Relaxed);
            let changes = self.changes.load(Ordering::Relaxed);
            fence(Ordering::Acquire);
            if self.sequence.load(Ordering::Relaxed) == before {
                return (
                    Timeline {
                        pieces,
                        real_ahead_ns,
                    },
                    changes,
                );
            }
        }
    }

    pub(crate) fn write(&self, timeline: &Timeline, changed: bool) {
        let sequence = self.sequence.load(Ordering::Relaxed);
        self.sequence
            .store(sequence.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        for (shared, piece) in self.pieces.iter().zip(timeline.pieces) {
            shared.wall_ns.store(piece.wall_ns, Ordering::Relaxed);
            shared.lab_ns.store(piece.lab_ns, Ordering::Relaxed);
            shared.lab.store(piece.rate.lab, Ordering::Relaxed);
            shared.wall.store(piece.rate.wall, Ordering::Relaxed);
        }
        self.real_ahead_ns
            .store(timeline.real_ahead_ns, Ordering::Relaxed);
        if changed {
            self.changes.fetch_add(1, Ordering::Relaxed);
        }
        self.sequence
            .store(sequence.wrapping_add(2), Ordering::Release);
    }

    pub(crate) fn stamp(&self) {
        self.version.store(VERSION, Ordering::Relaxed);
        self.magic.store(MAGIC, Ordering::Release);
    }

    fn genuine(&self) -> bool {
        self.magic.load(Ordering::Acquire) == MAGIC
            && self.version.load(Ordering::Relaxed) == VERSION
    }
}

/// A mapping of the page; it stays for the life of the process.
pub(crate) fn map(file: &File, writable: bool) -> io::Result<&'static Page> {
    let protection = if writable {
        libc::PROT_READ | libc::PROT_WRITE
    } else {
        libc::PROT_READ
    };
    // SAFETY: a fresh shared mapping of a whole page of a file that is at least as long; it is never unmapped.
    let address = unsafe {
        libc::mmap(
            core::ptr::null_mut(),
            PAGE_BYTE,
            protection,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            0,
        )
    };
    if address == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: page-aligned, as long as a page, and all its fields are atomics that may hold any bits.
    Ok(unsafe { &*address.cast::<Page>() })
}

/// A reader of a lab's clock.
#[derive(Clone, Copy)]
pub struct Reader {
    page: &'static Page,
}

impl Reader {
    /// Open the clock of a lab.
    pub fn open(path: &Path) -> Result<Reader, PageError> {
        let name = || path.display().to_string();
        let file = File::open(path).map_err(|error| PageError::Unreadable(name(), error))?;
        let length = file
            .metadata()
            .map_err(|error| PageError::Unreadable(name(), error))?
            .len();
        if length < PAGE_BYTE as u64 {
            return Err(PageError::Foreign(name()));
        }
        let page = map(&file, false).map_err(|error| PageError::Unreadable(name(), error))?;
        if page.genuine() {
            Ok(Reader { page })
        } else {
            Err(PageError::Foreign(name()))
        }
    }

    /// The timeline of a lab's clock, read once.
    pub fn read_once(path: &Path) -> Result<Timeline, PageError> {
        let reader = Reader::open(path)?;
        let timeline = reader.timeline();
        // SAFETY: the mapping was made above, and no reference to it is left.
        unsafe {
            libc::munmap(
                core::ptr::from_ref(reader.page).cast_mut().cast(),
                PAGE_BYTE,
            )
        };
        Ok(timeline)
    }

    /// The page itself.
    #[must_use]
    pub fn page(&self) -> &'static Page {
        self.page
    }

    /// The timeline as it is now.
    #[must_use]
    pub fn timeline(&self) -> Timeline {
        self.page.timeline().0
    }
}
