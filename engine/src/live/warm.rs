//! Keeps the kernel's path through a host's network stack in the caches while the live thread spins.
//!
//! A frame that is delivered runs the stack of its host within the thread's write, up to the answer to an echo. On two
//! virtual cores of a shared machine that path is cold after some milliseconds without a frame: a bare TAP answered an
//! echo after 4 us of the wall where it was warm, and 30 to 55 us after pauses of 3 and 15 ms (medians of 1,000). How cold
//! it is depends on what else the machine does, so round trips drift; and where ports sleep more time passes between two
//! deliveries, so that they seem to sleep deeper than they do. With an echo each 200 us to a host that nobody sees, hosts
//! of a lab at a tenth of the wall's pace answered after 2.3, 3.0 and 2.3 us of lab time, without it after 7.1, 4.9 and
//! 4.0 (medians of 120 after pauses of 1.25 ms and more, three rounds in turns).
//!
//! That host is a TAP in a network namespace without a name, which lives as long as the TAP. The rest of a host's own
//! path (its sockets, its programs) stays as cold as it is.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::thread;

use bytes::Bytes;
use fabric::Frame;

use crate::wire::checksum;
use crate::wire::tap::{Read, Tap};

const HOST: [u8; 4] = [198, 18, 0, 2];
const OTHER: [u8; 4] = [198, 18, 0, 1];
const MASK: [u8; 4] = [255, 255, 255, 0];
const OTHER_MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
const NAME: &[u8] = b"warm0";
const PAYLOAD_BYTE: usize = 56;

/// A host that nobody sees, and an echo for it.
pub(crate) struct UnseenHost {
    tap: Tap,
    echo: Frame,
    answers: Vec<Frame>,
}

impl UnseenHost {
    /// Make it.
    ///
    /// # Errors
    /// This process may not make network namespaces or TAPs.
    pub(crate) fn new() -> io::Result<Self> {
        let (tap, mac) = thread::spawn(in_own_namespace)
            .join()
            .map_err(|_| io::Error::other("the thread that makes a host panicked"))??;
        Ok(Self {
            tap: Tap::new(tap)?,
            echo: Frame::from_wire(echo_to(mac)),
            answers: Vec::new(),
        })
    }

    /// Send it an echo; returns whether it answered at once.
    pub(crate) fn echo(&mut self, scratch: &mut [u8]) -> bool {
        self.tap.write(&[&self.echo]);
        while self.tap.read(scratch, &mut self.answers) == Read::Packet {}
        let answered = !self.answers.is_empty();
        self.answers.clear();
        answered
    }
}

/// A TAP whose interface is up with an address, and its MAC address. The calling thread moves to a new network namespace.
fn in_own_namespace() -> io::Result<(OwnedFd, [u8; 6])> {
    // SAFETY: no memory is passed; it concerns this thread alone.
    checked(unsafe { libc::unshare(libc::CLONE_NEWNET) })?;
    let tap: OwnedFd = File::options()
        .read(true)
        .write(true)
        .open("/dev/net/tun")?
        .into();
    let flags = libc::IFF_TAP | libc::IFF_NO_PI | libc::IFF_VNET_HDR;
    request(&tap, libc::TUNSETIFF, |ask| {
        ask.ifr_ifru.ifru_flags = flags as i16;
    })?;
    // It would send packets of its own; a kernel without IPv6 has no such file.
    drop(fs::write("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1"));
    // SAFETY: no memory is passed; a descriptor that is returned belongs to nobody else.
    let socket = unsafe {
        let fd = checked(libc::socket(
            libc::AF_INET,
            libc::SOCK_DGRAM | libc::SOCK_CLOEXEC,
            0,
        ))?;
        OwnedFd::from_raw_fd(fd)
    };
    for (what, address) in [(libc::SIOCSIFADDR, HOST), (libc::SIOCSIFNETMASK, MASK)] {
        request(&socket, what, |ask| {
            ask.ifr_ifru.ifru_addr = internet(address);
        })?;
    }
    // Without ARP it answers at once, to its own MAC address.
    let up = libc::IFF_UP | libc::IFF_NOARP;
    request(&socket, libc::SIOCSIFFLAGS, |ask| {
        ask.ifr_ifru.ifru_flags = up as i16;
    })?;
    let told = request(&socket, libc::SIOCGIFHWADDR, |_| {})?;
    // SAFETY: the kernel has filled this member.
    let data = unsafe { told.ifr_ifru.ifru_hwaddr.sa_data };
    Ok((tap, std::array::from_fn(|at| data[at] as u8)))
}

/// An ioctl about the interface.
fn request(
    fd: &OwnedFd,
    what: libc::c_ulong,
    fill: impl FnOnce(&mut libc::ifreq),
) -> io::Result<libc::ifreq> {
    // SAFETY: an all-zero ifreq is valid.
    let mut ask: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in ask.ifr_name.iter_mut().zip(NAME) {
        *to = *from as libc::c_char;
    }
    fill(&mut ask);
    // SAFETY: the kernel reads and writes an ifreq, which outlives the call.
    checked(unsafe { libc::ioctl(fd.as_raw_fd(), what as _, &raw mut ask) })?;
    Ok(ask)
}

fn internet(address: [u8; 4]) -> libc::sockaddr {
    let [a, b, c, d] = address.map(|byte| byte as libc::c_char);
    libc::sockaddr {
        sa_family: libc::AF_INET as u16,
        sa_data: [0, 0, a, b, c, d, 0, 0, 0, 0, 0, 0, 0, 0],
    }
}

fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}

/// An ICMP echo request as a host's neighbour sends it.
fn echo_to(mac: [u8; 6]) -> Bytes {
    let mut icmp = vec![8, 0, 0, 0, 0, 1, 0, 1];
    icmp.resize(8 + PAYLOAD_BYTE, 0);
    let sum = !checksum::sum(&icmp, 0);
    icmp[2..4].copy_from_slice(&sum.to_be_bytes());
    let total = (20 + icmp.len()) as u16;
    let mut ip = vec![0x45, 0];
    ip.extend(total.to_be_bytes());
    ip.extend([0, 0, 0, 0, 64, 1, 0, 0]);
    ip.extend(OTHER);
    ip.extend(HOST);
    let sum = !checksum::sum(&ip, 0);
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    [&mac[..], &OTHER_MAC, &[8, 0], &ip, &icmp].concat().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::tap::READ_BYTE;

    #[test]
    fn it_answers_within_the_write_and_the_caller_stays_in_its_namespace() {
        let before = fs::read_link("/proc/thread-self/ns/net").unwrap();
        match UnseenHost::new() {
            Ok(mut host) => {
                let mut scratch = vec![0; READ_BYTE];
                host.echo(&mut scratch);
                for _ in 0..100 {
                    assert!(host.echo(&mut scratch));
                }
            }
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{error}"),
        }
        assert_eq!(fs::read_link("/proc/thread-self/ns/net").unwrap(), before);
    }
}
