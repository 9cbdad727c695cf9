//! The TAP device of a host.

use std::io::{self, IoSlice};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use fabric::Frame;

use crate::wire::coalesce;
use crate::wire::segment::segment;
use crate::wire::vnet::{HEADER_BYTE, VnetHeader};

/// Size of the largest packet that a TAP returns: 64 KiB of IP, Ethernet header, two tags, vnet header.
pub const READ_BYTE: usize = 80 * 1024;

/// Result of one read.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Read {
    /// A packet, possibly of several frames.
    Packet,
    /// The queue is empty.
    Empty,
    /// The device is gone, or its interface is down and may come up again.
    Down,
}

/// A TAP opened with IFF_NO_PI | IFF_VNET_HDR.
///
/// Offloads of the NIC: it computes the checksums of TCP and UDP and takes TCP packets of up to 64 KiB (TSO). So one
/// read returns what the fabric carries as up to 45 frames of 1,500 bytes.
#[derive(Debug)]
pub struct Tap {
    fd: OwnedFd,
}

impl Tap {
    /// Take ownership of a descriptor.
    ///
    /// # Errors
    /// The descriptor is not such a TAP, or the kernel refuses the offloads.
    pub fn new(fd: OwnedFd) -> io::Result<Self> {
        let flags = interface_flags(fd.as_raw_fd())?;
        let wanted = (libc::IFF_TAP | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as i16;
        if flags & wanted != wanted {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "it must be a TAP opened with IFF_TAP | IFF_NO_PI | IFF_VNET_HDR",
            ));
        }
        let header_byte = HEADER_BYTE as libc::c_int;
        let offloads = libc::c_ulong::from(
            libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN,
        );
        // SAFETY: TUNSETVNETHDRSZ reads an int, TUNSETOFFLOAD takes its argument by value.
        unsafe {
            checked(libc::ioctl(
                fd.as_raw_fd(),
                libc::TUNSETVNETHDRSZ,
                &raw const header_byte,
            ))?;
            checked(libc::ioctl(fd.as_raw_fd(), libc::TUNSETOFFLOAD, offloads))?;
            let status = checked(libc::fcntl(fd.as_raw_fd(), libc::F_GETFL))?;
            checked(libc::fcntl(
                fd.as_raw_fd(),
                libc::F_SETFL,
                status | libc::O_NONBLOCK,
            ))?;
        }
        Ok(Self { fd })
    }

    /// Read one packet; its frames are appended to `out`. `scratch` has [`READ_BYTE`] bytes.
    ///
    /// A packet that contradicts its own header is dropped: the kernel generates none.
    pub fn read(&self, scratch: &mut [u8], out: &mut impl Extend<Frame>) -> Read {
        // SAFETY: the kernel writes at most `scratch.len()` bytes to `scratch`.
        let got = unsafe {
            libc::read(
                self.fd.as_raw_fd(),
                scratch.as_mut_ptr().cast(),
                scratch.len(),
            )
        };
        let Ok(got) = usize::try_from(got) else {
            return match io::Error::last_os_error().kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Read::Empty,
                _ => Read::Down,
            };
        };
        if let Some((head, packet)) = scratch[..got].split_first_chunk::<HEADER_BYTE>() {
            if let Some(header) = VnetHeader::decode(head) {
                segment(header, packet, out);
            }
        }
        Read::Packet
    }

    /// Write the first frames that form one packet; returns their number. The stack of the host has processed the
    /// packet when this returns. A host whose interface is down or that is out of memory loses it, like a real one.
    pub fn write(&self, frames: &[&Frame]) -> usize {
        let count = coalesce::run_length(frames);
        if count > 1 {
            let run = &frames[..count];
            let (header, head) = coalesce::join(run);
            let header = header.encode();
            let mut parts = Vec::with_capacity(count + 2);
            parts.push(IoSlice::new(&header));
            parts.push(IoSlice::new(&head));
            parts.extend(coalesce::payloads(run));
            self.write_parts(&parts);
        } else if let Some(frame) = frames.first() {
            let (bytes, csum) = frame.to_wire();
            let header = VnetHeader { csum, gso: None }.encode();
            self.write_parts(&[IoSlice::new(&header), IoSlice::new(&bytes)]);
        }
        count
    }

    /// Set the carrier of the host's interface.
    pub fn set_carrier(&self, on: bool) {
        let on = libc::c_int::from(on);
        // SAFETY: TUNSETCARRIER reads an int. Kernels before 5.0 refuse it: their hosts always see a carrier.
        unsafe { libc::ioctl(self.fd.as_raw_fd(), libc::TUNSETCARRIER, &raw const on) };
    }

    fn write_parts(&self, parts: &[IoSlice<'_>]) {
        // SAFETY: an IoSlice has the layout of an iovec, and all parts live until the call returns.
        unsafe {
            libc::writev(
                self.fd.as_raw_fd(),
                parts.as_ptr().cast(),
                parts.len() as libc::c_int,
            )
        };
    }
}

impl AsRawFd for Tap {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

fn interface_flags(fd: RawFd) -> io::Result<i16> {
    // SAFETY: an all-zero ifreq is valid; TUNGETIFF fills it; the flags are the union's active member then.
    unsafe {
        let mut request = std::mem::zeroed::<libc::ifreq>();
        checked(libc::ioctl(fd, libc::TUNGETIFF, &raw mut request))?;
        Ok(request.ifr_ifru.ifru_flags)
    }
}

fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_tap_is_refused() {
        let null = std::fs::File::open("/dev/null").expect("/dev/null");
        assert!(Tap::new(null.into()).is_err());
    }
}
