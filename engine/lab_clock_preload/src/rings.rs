//! Memory-mapped packet rings (AF_PACKET, `PACKET_RX_RING`), whose frames carry the kernel's time stamps.
//!
//! The program gets a mirror of the ring. Before and after each poll, blocks that the program gave back go to the
//! kernel, and blocks that are full are copied to the mirror with their stamps in lab time: the kernel's side shows
//! readiness as without this library. Layouts: `linux/if_packet.h`; all three versions.
//!
//! Simplification: a program that looks at the ring without ever polling sees nothing.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU8, AtomicU32, AtomicUsize, Ordering, fence};
use std::sync::{Mutex, PoisonError};

use lab_clock::{Page, Rate};

use crate::now::{self, stamp_ns};
use crate::raw;

const SOL_PACKET: c_int = 263;
const PACKET_RX_RING: c_int = 5;
const PACKET_VERSION: c_int = 10;
/// `TPACKET_V1` is 0, `V2` 1, `V3` 2; stored one higher, as 0 stands for no packet socket.
const STATUS_USER: u32 = 1;
const DESCRIPTORS: usize = 4096;

static VERSION: [AtomicU8; DESCRIPTORS] = [const { AtomicU8::new(0) }; DESCRIPTORS];
/// Rings that are mapped.
static MAPPED: AtomicUsize = AtomicUsize::new(0);
static RINGS: Mutex<Vec<Ring>> = Mutex::new(Vec::new());

/// A unit of a ring that changes hands: a block in version 3, a frame in the others.
struct Ring {
    fd: c_int,
    version: u8,
    unit_byte: usize,
    units_a_block: usize,
    block_byte: usize,
    /// Addresses of the kernel's ring and of the mirror; 0 until it is mapped.
    kernel: usize,
    mirror: usize,
    byte: usize,
    /// Units whose content the mirror has.
    copied: Vec<bool>,
}

fn rings() -> std::sync::MutexGuard<'static, Vec<Ring>> {
    RINGS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A ring whose blocks the kernel hands over in time at every rate, if this option asks for one with a timeout.
///
/// # Safety
/// The arguments are those of a `setsockopt`.
pub unsafe fn in_time(
    level: c_int,
    name: c_int,
    value: *const c_void,
    length: u32,
) -> Option<[u32; 7]> {
    if level != SOL_PACKET
        || name != PACKET_RX_RING
        || length as usize != size_of::<[u32; 7]>()
        || value.is_null()
    {
        return None;
    }
    // SAFETY: `struct tpacket_req3` of that length.
    let mut ring = unsafe { value.cast::<[u32; 7]>().read_unaligned() };
    let wait_ms = &mut ring[4];
    if *wait_ms > 0 {
        *wait_ms = (*wait_ms * Rate::FASTEST.wall / Rate::FASTEST.lab).max(1);
    }
    Some(ring)
}

/// A socket's option was set: note versions and rings.
///
/// # Safety
/// The arguments are those of a `setsockopt` that succeeded.
pub unsafe fn option_set(fd: c_int, level: c_int, name: c_int, value: *const c_void, length: u32) {
    if level != SOL_PACKET {
        return;
    }
    let Some(known) = usize::try_from(fd).ok().and_then(|fd| VERSION.get(fd)) else {
        return;
    };
    if name == PACKET_VERSION && length >= 4 {
        // SAFETY: an int, as the kernel has read it.
        let version = unsafe { value.cast::<u32>().read_unaligned() } as u8;
        known.store(version + 1, Ordering::Relaxed);
    } else if name == PACKET_RX_RING && length >= 16 {
        // SAFETY: `struct tpacket_req`, as the kernel has read it.
        let [block_byte, blocks, frame_byte, frames] =
            unsafe { value.cast::<[u32; 4]>().read_unaligned() }.map(|field| field as usize);
        let mut rings = rings();
        rings.retain(|ring| ring.fd != fd || ring.mirror != 0);
        if blocks > 0 && frames >= blocks {
            known.fetch_max(1, Ordering::Relaxed);
            let version = known.load(Ordering::Relaxed) - 1;
            let (unit_byte, units) = if version == 2 {
                (block_byte, blocks)
            } else {
                (frame_byte, frames)
            };
            rings.push(Ring {
                fd,
                version,
                unit_byte,
                units_a_block: units / blocks,
                block_byte,
                kernel: 0,
                mirror: 0,
                byte: block_byte * blocks,
                copied: vec![false; units],
            });
        }
    }
}

/// A descriptor is closed.
pub fn closed(fd: c_int) {
    let Some(version) = usize::try_from(fd).ok().and_then(|fd| VERSION.get(fd)) else {
        return;
    };
    if version.swap(0, Ordering::Relaxed) != 0 {
        let mut rings = rings();
        rings.retain(|ring| ring.fd != fd || ring.mirror != 0);
        for ring in rings.iter_mut().filter(|ring| ring.fd == fd) {
            ring.fd = -1;
        }
    }
}

/// `mmap` of a descriptor with a ring: its mirror; none: an ordinary mapping.
pub fn map(length: usize, protection: c_int, flags: c_int, fd: c_int) -> Option<isize> {
    let version = usize::try_from(fd).ok().and_then(|fd| VERSION.get(fd))?;
    if version.load(Ordering::Relaxed) == 0 {
        return None;
    }
    let mut rings = rings();
    let ring = rings
        .iter_mut()
        .find(|ring| ring.fd == fd && ring.mirror == 0 && ring.byte == length)?;
    let both = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    let shared = flags | libc::MAP_ANONYMOUS;
    // SAFETY: new mappings at addresses that the kernel chooses.
    let (kernel, mirror) = unsafe {
        (
            raw::call(
                libc::SYS_mmap,
                0,
                length,
                both,
                libc::MAP_SHARED as usize,
                fd as usize,
                0,
            ),
            raw::call(
                libc::SYS_mmap,
                0,
                length,
                protection as usize,
                shared as usize,
                usize::MAX,
                0,
            ),
        )
    };
    if raw::is_error(kernel) || raw::is_error(mirror) {
        for (made, failed) in [(kernel, mirror), (mirror, kernel)] {
            if !raw::is_error(made) {
                // SAFETY: the mapping that was just made.
                unsafe { raw::call(libc::SYS_munmap, made as usize, length, 0, 0, 0, 0) };
                return Some(failed);
            }
        }
        return Some(kernel);
    }
    ring.kernel = kernel as usize;
    ring.mirror = mirror as usize;
    MAPPED.fetch_add(1, Ordering::Relaxed);
    Some(mirror)
}

/// A mapping is about to be removed: the kernel's side of a mirror goes with it.
pub fn unmapped(address: usize) {
    if MAPPED.load(Ordering::Relaxed) == 0 {
        return;
    }
    rings().retain(|ring| {
        let ends = ring.mirror != 0 && ring.mirror == address;
        if ends {
            MAPPED.fetch_sub(1, Ordering::Relaxed);
            // SAFETY: the kernel's side, which only this library knows.
            unsafe { raw::call(libc::SYS_munmap, ring.kernel, ring.byte, 0, 0, 0, 0) };
        }
        !ends
    });
}

/// Exchange units between the kernel and all mirrors.
pub fn exchange(page: &Page) {
    if MAPPED.load(Ordering::Relaxed) == 0 {
        return;
    }
    for ring in rings().iter_mut().filter(|ring| ring.mirror != 0) {
        for unit in 0..ring.copied.len() {
            // SAFETY: the unit lies in both mappings.
            unsafe { ring.exchange(page, unit) };
        }
    }
}

impl Ring {
    /// Offset of the word with a unit's status.
    fn status_at(&self) -> usize {
        if self.version == 2 { 8 } else { 0 }
    }

    unsafe fn exchange(&mut self, page: &Page, unit: usize) {
        let offset = unit / self.units_a_block * self.block_byte
            + unit % self.units_a_block * self.unit_byte;
        let (kernel, mirror) = (self.kernel + offset, self.mirror + offset);
        // SAFETY: aligned words of both mappings, which the kernel and the program change too.
        let (theirs, ours) = unsafe {
            (
                &*((kernel + self.status_at()) as *const AtomicU32),
                &*((mirror + self.status_at()) as *const AtomicU32),
            )
        };
        if self.copied[unit] && ours.load(Ordering::Acquire) & STATUS_USER == 0 {
            self.copied[unit] = false;
            theirs.store(0, Ordering::Release);
        }
        let status = theirs.load(Ordering::Acquire);
        if status & STATUS_USER == 0 || self.copied[unit] {
            return;
        }
        let head = self.status_at() + 4;
        // SAFETY: the unit is the program's now, and the program waits for the status below.
        unsafe {
            let copy = |from: usize, byte: usize| {
                core::ptr::copy_nonoverlapping(
                    (kernel + from) as *const u8,
                    (mirror + from) as *mut u8,
                    byte,
                );
            };
            copy(0, self.status_at());
            copy(head, self.unit_byte - head);
            self.convert(page, mirror);
        }
        self.copied[unit] = true;
        fence(Ordering::Release);
        ours.store(status, Ordering::Release);
    }

    /// Stamps of a unit of the mirror in lab time.
    unsafe fn convert(&self, page: &Page, unit: usize) {
        let word = |at: usize| (unit + at) as *mut u32;
        // SAFETY: fields of the unit's headers; offsets of frames are the kernel's, and are checked to lie in the unit.
        unsafe {
            match self.version {
                0 => convert_stamp(page, word(20), 1_000),
                1 => convert_stamp(page, word(16), 1),
                _ => {
                    convert_stamp(page, word(32), 1);
                    convert_stamp(page, word(40), 1);
                    let mut at = word(16).read() as usize;
                    for _ in 0..word(12).read() {
                        if at + 48 > self.unit_byte {
                            return;
                        }
                        convert_stamp(page, word(at + 4), 1);
                        at += word(at).read() as usize;
                    }
                }
            }
        }
    }
}

/// Seconds, and units of `unit_ns`, side by side.
unsafe fn convert_stamp(page: &Page, at: *mut u32, unit_ns: i64) {
    // SAFETY: two words of a header.
    unsafe {
        let (seconds, part) = (i64::from(at.read()), i64::from(at.add(1).read()));
        if seconds != 0 {
            let lab = now::timespec(stamp_ns(page, seconds * 1_000_000_000 + part * unit_ns));
            at.write(lab.tv_sec as u32);
            at.add(1).write((lab.tv_nsec / unit_ns) as u32);
        }
    }
}

/// `mmap`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap(
    address: *mut c_void,
    length: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: libc::off_t,
) -> *mut c_void {
    if fd >= 0 && offset == 0 && now::page().is_some() {
        if let Some(result) = map(length, protection, flags, fd) {
            return raw::returned(result) as *mut c_void;
        }
    }
    // SAFETY: the caller's arguments.
    unsafe {
        raw::libc_call(
            libc::SYS_mmap,
            address as usize,
            length,
            protection as usize,
            flags as usize,
            fd as usize,
            offset as usize,
        ) as *mut c_void
    }
}

/// `mmap` of programs with large files.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap64(
    address: *mut c_void,
    length: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: libc::off64_t,
) -> *mut c_void {
    // SAFETY: passed on.
    unsafe { mmap(address, length, protection, flags, fd, offset) }
}

/// `munmap`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn munmap(address: *mut c_void, length: usize) -> c_int {
    unmapped(address as usize);
    // SAFETY: the caller's arguments.
    unsafe { raw::libc_call(libc::SYS_munmap, address as usize, length, 0, 0, 0, 0) as c_int }
}
