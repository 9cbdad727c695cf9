//! Timers of the hosts' kernels, by the rate of their lab's clock: they run by the wall's clock, so their spans change.
//!
//! Set over netlink in each host's network namespace (`linux/rtnetlink.h`, `linux/neighbour.h`), for its data network:
//! the least time before TCP sends again (200 ms of lab time), and ARP's times (30 s reachable, 60 s stale, 5 s before
//! the first probe, 1 s between probes). A delayed acknowledgement's 40 ms cannot be changed, so it is not delayed: at
//! 1/100 it would come after 0.4 ms of lab time, in the middle of a pause, and would keep links awake.
//!
//! Programs connect while a trial is prepared, at the wall's pace, for the slower trial to come. So times that last into
//! it are set for its rate, and the one between ARP's probes for the rate of now: it matters only while an address is
//! not known. At 1/500 a host whose first probe was lost would else have waited 500 s to ask again.
//!
//! Simplification: every segment is acknowledged by a frame of its own, where hosts at the wall's pace let data carry
//! most acknowledgements: more short frames, each right after the segment. A capture tells them apart. Not in lab time
//! remain: a connection's first try (1 s), its keepalives, and what a program sets on a socket. A connection that was
//! made at a faster rate keeps its shorter time before TCP sends again (the kernel raises its estimate only if round
//! trips vary more than that): made at the wall's pace, 2 ms of lab time at 1/100, so that whatever queues for longer is
//! sent twice. `ss -ti` shows it (`rto`, ms of the wall).

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd};

use parking_lot::Mutex;

const ROUTE: u16 = 24; // RTM_NEWROUTE
const NEIGHBOUR_TABLE: u16 = 67; // RTM_SETNEIGHTBL
const REPLACE: u16 = 0x1 | 0x4 | 0x100; // request, with an answer
const ERROR: u16 = 2;
const RETRANSMISSION_MS: f64 = 200.0;
const LONGEST_RETRANSMISSION_MS: f64 = 100_000.0; // the kernel's own limit is 120 s
/// Base reachable, stale and delay-probe time: attribute and ms (`enum` of `NDTPA_`).
const ARP_MS: [(u16, f64); 3] = [(4, 30_000.0), (6, 60_000.0), (7, 5_000.0)];
/// Between two probes (`NDTPA_RETRANS_TIME`).
const ARP_PROBE_MS: [(u16, f64); 1] = [(5, 1_000.0)];
/// Rates that differ by less leave the timers alone.
const STEP: f64 = 1.5;

/// A host's data network, as its kernel knows it.
#[derive(Debug)]
pub struct HostNetwork {
    /// A netlink socket (`NETLINK_ROUTE`) of the host's network namespace.
    pub netlink: OwnedFd,
    /// The interface's index.
    pub interface: u32,
    /// Its address.
    pub address: Ipv4Addr,
    /// Bits of the network's prefix.
    pub prefix: u8,
}

/// Timers of the kernels of a lab's hosts.
#[derive(Debug, Default)]
pub struct KernelTimers {
    hosts: Vec<HostNetwork>,
    set_for: Mutex<SetFor>,
}

/// The rates (lab time per wall time) that timers were set for last; None: never.
#[derive(Debug, Default)]
struct SetFor {
    lasting: Option<f64>,
    probes: Option<f64>,
}

impl KernelTimers {
    /// Of these hosts.
    #[must_use]
    pub fn new(hosts: Vec<HostNetwork>) -> Self {
        Self {
            hosts,
            set_for: Mutex::default(),
        }
    }

    /// Set all of them, where rates (lab time per wall time) differ enough from those of the last time.
    ///
    /// `rate`: of now, for ARP's probes. `lasting`: of the trial that runs or is prepared, for all others.
    ///
    /// # Errors
    /// A host's kernel refuses; the others' are set. An interface that is down or gone is no error.
    pub fn apply(&self, rate: f64, lasting: f64) -> io::Result<()> {
        let mut set_for = self.set_for.lock();
        let mut result = Ok(());
        if differs(set_for.lasting, lasting) {
            set_for.lasting = Some(lasting);
            result = self.each(|host| host.set(lasting));
        }
        if differs(set_for.probes, rate) {
            set_for.probes = Some(rate);
            result = result.and(self.each(|host| host.set_arp(&ARP_PROBE_MS, rate)));
        }
        result
    }

    /// The last error, if there is one.
    fn each(&self, set: impl Fn(&HostNetwork) -> io::Result<()>) -> io::Result<()> {
        let mut result = Ok(());
        for host in &self.hosts {
            match set(host) {
                Ok(()) => {}
                Err(error) if is_down(&error) => {}
                Err(error) => {
                    let text = format!("timers of the kernel of {}: {error}", host.address);
                    result = Err(io::Error::new(error.kind(), text));
                }
            }
        }
        result
    }
}

fn differs(before: Option<f64>, rate: f64) -> bool {
    before.is_none_or(|before| (before / rate).max(rate / before) >= STEP)
}

fn is_down(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::ENETDOWN | libc::ENODEV | libc::ENETUNREACH | libc::EINVAL)
    )
}

impl HostNetwork {
    /// Whatever lasts into a trial of that rate.
    fn set(&self, rate: f64) -> io::Result<()> {
        self.set_arp(&ARP_MS, rate)?;
        self.ask(&request(ROUTE, &self.route(rate)))
    }

    fn set_arp(&self, lab_ms: &[(u16, f64)], rate: f64) -> io::Result<()> {
        let times = arp_times(self.interface, lab_ms, rate);
        self.ask(&request(NEIGHBOUR_TABLE, &times))
    }

    /// The network's route as the kernel made it with the address, with metrics.
    fn route(&self, rate: f64) -> Vec<u8> {
        let mask = u32::MAX
            .checked_shl(32 - u32::from(self.prefix))
            .unwrap_or(0);
        let network = Ipv4Addr::from(u32::from(self.address) & mask);
        let again_ms = (RETRANSMISSION_MS / rate).clamp(4.0, LONGEST_RETRANSMISSION_MS);
        let metrics = [
            attribute(1, &(1u32 << 13).to_ne_bytes()), // RTAX_LOCK: the one below is not only a hint
            attribute(13, &(again_ms as u32).to_ne_bytes()), // RTAX_RTO_MIN
            attribute(15, &1u32.to_ne_bytes()),        // RTAX_QUICKACK
        ]
        .concat();
        // struct rtmsg: IPv4, main table, RTPROT_KERNEL, RT_SCOPE_LINK, RTN_UNICAST.
        let head = [2, self.prefix, 0, 0, 254, 2, 253, 1, 0, 0, 0, 0];
        [
            head.to_vec(),
            attribute(1, &network.octets()),             // RTA_DST
            attribute(4, &self.interface.to_ne_bytes()), // RTA_OIF
            attribute(7, &self.address.octets()),        // RTA_PREFSRC
            attribute(8, &metrics),                      // RTA_METRICS
        ]
        .concat()
    }

    fn ask(&self, message: &[u8]) -> io::Result<()> {
        let mut answer = [0u8; 1024];
        // SAFETY: buffers that live through both calls, with their lengths.
        let received = unsafe {
            let socket = self.netlink.as_raw_fd();
            if libc::send(socket, message.as_ptr().cast(), message.len(), 0) < 0 {
                return Err(io::Error::last_os_error());
            }
            libc::recv(socket, answer.as_mut_ptr().cast(), answer.len(), 0)
        };
        if received < 0 {
            return Err(io::Error::last_os_error());
        }
        // struct nlmsghdr, then struct nlmsgerr, which begins with a negative errno, or 0.
        let kind = u16::from_ne_bytes([answer[4], answer[5]]);
        let code = i32::from_ne_bytes([answer[16], answer[17], answer[18], answer[19]]);
        if received < 20 || kind != ERROR {
            return Err(io::Error::other(
                "the kernel's answer is no acknowledgement",
            ));
        }
        match code {
            0 => Ok(()),
            code => Err(io::Error::from_raw_os_error(-code)),
        }
    }
}

/// Some of ARP's times of an interface; the others stay.
fn arp_times(interface: u32, lab_ms: &[(u16, f64)], rate: f64) -> Vec<u8> {
    let mut times = attribute(1, &interface.to_ne_bytes()); // NDTPA_IFINDEX
    for &(kind, lab_ms) in lab_ms {
        let wall_ms = (lab_ms / rate).max(10.0) as u64;
        times.extend(attribute(kind, &wall_ms.to_ne_bytes()));
    }
    // struct ndtmsg: IPv4; NDTA_NAME, NDTA_PARMS.
    [
        vec![2, 0, 0, 0],
        attribute(1, b"arp_cache\0"),
        attribute(6, &times),
    ]
    .concat()
}

fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = 4 + value.len() as u16;
    let mut bytes = [length.to_ne_bytes(), kind.to_ne_bytes()].concat();
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn request(kind: u16, payload: &[u8]) -> Vec<u8> {
    let length = 16 + payload.len() as u32;
    let mut bytes = length.to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(REPLACE.to_ne_bytes());
    bytes.extend([0; 8]); // number and sender
    bytes.extend(payload);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_aligned_and_say_their_length() {
        for size in 0..9 {
            let bytes = attribute(3, &vec![7; size]);
            assert_eq!(bytes.len() % 4, 0);
            assert_eq!(u16::from_ne_bytes([bytes[0], bytes[1]]) as usize, 4 + size);
        }
        let message = request(ROUTE, &arp_times(2, &ARP_MS, 0.1));
        assert_eq!(
            u32::from_ne_bytes(message[..4].try_into().unwrap()) as usize,
            message.len()
        );
    }

    #[test]
    fn timers_are_set_anew_for_another_rate_only() {
        assert!(differs(None, 1.0));
        assert!(!differs(Some(1.0), 0.7));
        assert!(differs(Some(1.0), 0.1));
        assert!(differs(Some(0.1), 1.0));
    }

    #[test]
    fn a_network_is_the_address_under_its_prefix() {
        let (netlink, _) = std::os::unix::net::UnixStream::pair().unwrap();
        let host = HostNetwork {
            netlink: netlink.into(),
            interface: 2,
            address: Ipv4Addr::new(198, 19, 1, 4),
            prefix: 16,
        };
        let route = host.route(0.01);
        assert_eq!(route[12..20], [8, 0, 1, 0, 198, 19, 0, 0]);
        assert!(
            route
                .windows(8)
                .any(|bytes| bytes == [attribute(13, &20_000u32.to_ne_bytes())].concat())
        );
    }
}
