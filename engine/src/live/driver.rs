//! The live thread: moves frames between TAPs and the fabric in real time.
//!
//! One turn: wait for events (or only poll), read TAPs, hand the frames to the fabric with the time of reading, pass
//! the time of the fabric, write the deliveries that are due. Engine time continues while the thread works, so an
//! overloaded thread falls behind by one turn, not by an ever-growing lag.
//!
//! Spans of the machine below (leads and lags) are the wall's, also where the clock is a lab's.
//!
//! Differences from hardware that a measurement could detect:
//! - A frame is stamped when the thread reads it, less [`READ_LAG`]. While the thread spins, the stamp is right to
//!   about one turn (1 µs, more under load). After a sleep it is late by the wake-up time (some 10 µs; the thread
//!   spins for `spin_us` after each frame, so this affects the first frame after a pause).
//! - A delivery is written [`WRITE_LEAD`] before its model time, so that the stack of the receiving host has it in
//!   time, or later; the histogram records how much later. For that the time of the fabric runs [`FABRIC_LEAD`] ahead
//!   of the clock while events are due, and a frame read at that moment counts as up to this much later. Each write
//!   runs the stack of the host (some µs, including any reply of its kernel), which delays what is due meanwhile.
//! - The queue of a host in front of its NIC is that of the TAP (`txqueuelen`); it is not read while the ring of the
//!   NIC is full.

mod deliveries;
mod events;
mod host;

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use fabric::frame::is_reserved;
use fabric::time::{PS_PER_MS, PS_PER_NS, PS_PER_S, PS_PER_US};
use fabric::{Alarm, CableId, Delivery, PortId, Ps, Tapped};

use self::events::wait_for_events;
use self::host::{Host, offer};
use crate::live::control::{Command, Control};
use crate::live::pace::{Pace, Wait};
use crate::live::warm::UnseenHost;
use crate::os::idle_processors::IdleProcessors;
use crate::os::sched::RunDelay;
use crate::wire::capture::Capture;
use crate::wire::tap::{READ_BYTE, Read, Tap};

/// Packets read in one turn: with TSO some 180 frames.
const READS_A_TURN: usize = 4;
/// Small packets read from one host in a turn: those that queue there share the turn's other costs.
const PACKETS_A_READ: usize = 8;
const HOT_HOSTS: usize = 4;
const EVENTS_A_TURN: usize = 64;
/// Time from the start of a write until the stack of the receiving host has the frame (measured: 1.0 to 1.2 µs).
/// Deliveries are written this much before their time.
const WRITE_LEAD: Ps = PS_PER_US;
/// How far the time of the fabric runs ahead of the clock, so that a delivery is ready when it must be written.
const FABRIC_LEAD: Ps = 4 * PS_PER_US;
/// Time from the driver of the sending host taking a frame until a spinning thread reads it (measured: 0.3 to 0.8 µs).
const READ_LAG: Ps = PS_PER_US / 2;
/// The event of the core's wake; hosts are numbered from 0.
const WAKE_EVENT: u64 = u64::MAX;
const NO_HOST: u32 = u32::MAX;
/// A stall or a delivery later than this (lab time) raises an alarm, at most one per second.
const LATE: Ps = 10 * PS_PER_MS;
/// So long after a delivery the way through a host's stack is kept warm ...
const WARM_FOR: Ps = 200 * PS_PER_US;
/// ... unless the next event is nearer than this.
const WARM_BEFORE: Ps = 30 * PS_PER_US;
/// Captured frames are written out when no frame is near, or after so long.
const WRITE_OUT_AFTER: Ps = 5 * PS_PER_MS;
/// A turn of a spinning thread, or a read, that took longer than this may have lost its processor meanwhile.
const STALL: Ps = 20 * PS_PER_US;

/// State of the live thread.
pub(crate) struct Driver {
    control: Arc<Control>,
    epoll: OwnedFd,
    pace: Pace,
    hosts: Vec<Host>,
    by_nic: Vec<u32>,
    /// Hosts to read from, round robin.
    readable: VecDeque<u32>,
    /// Hosts that sent last, latest first. The spinning thread reads them without waiting for an event: it finds a
    /// frame sooner and keeps this path in the caches.
    hot: Vec<u32>,
    /// Hosts whose NIC ring is full, frames pending.
    stalled: VecDeque<u32>,
    /// Hosts read in this turn, and when.
    arrived: Vec<(u32, Ps)>,
    captures: BTreeMap<u32, (CableId, Capture)>,
    /// Since when captures have frames that are not written out.
    captured: Option<Ps>,
    /// None where the process may not make one.
    unseen: Option<UnseenHost>,
    /// When a host's stack last ran in this thread.
    warm: Ps,
    deliveries: Vec<Delivery>,
    tapped: Vec<Tapped>,
    alarms: Vec<Alarm>,
    nic_links: Vec<(PortId, bool)>,
    next: Option<Ps>,
    woken: bool,
    last_turn: Ps,
    /// Kept awake for the hosts' programs while they are at work.
    idle_processors: IdleProcessors,
    /// None where the kernel does not tell.
    run_delay: Option<RunDelay>,
    /// How long the thread had to wait for a processor before this turn.
    waited: Ps,
    last_alarm: Option<Ps>,
    scratch: Vec<u8>,
}

impl Driver {
    /// A driver for the calling thread.
    ///
    /// # Errors
    /// The process has no free file descriptor.
    pub(crate) fn new(control: Arc<Control>, spin: Ps) -> io::Result<Self> {
        // SAFETY: no memory is passed; a descriptor that is returned belongs to nobody else.
        let epoll = unsafe {
            let fd = libc::epoll_create1(libc::EPOLL_CLOEXEC);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(fd)
        };
        let now = control.core.clock().now();
        let driver = Self {
            epoll,
            pace: Pace::take(spin, now),
            hosts: Vec::new(),
            by_nic: Vec::new(),
            readable: VecDeque::new(),
            hot: Vec::with_capacity(HOT_HOSTS + 1),
            stalled: VecDeque::new(),
            arrived: Vec::new(),
            captures: BTreeMap::new(),
            captured: None,
            unseen: UnseenHost::new().ok(),
            warm: now,
            deliveries: Vec::new(),
            tapped: Vec::new(),
            alarms: Vec::new(),
            nic_links: Vec::new(),
            next: None,
            woken: true,
            last_turn: now,
            idle_processors: IdleProcessors::new(),
            run_delay: RunDelay::of_this_thread().ok(),
            waited: 0,
            last_alarm: None,
            scratch: vec![0; READ_BYTE],
            control,
        };
        driver.watch(
            driver.control.core.wake().as_raw_fd(),
            libc::EPOLLIN as u32,
            WAKE_EVENT,
        )?;
        Ok(driver)
    }

    /// Run until `Control::stop` is set.
    pub(crate) fn run(mut self) {
        while !self.control.stop.load(Ordering::Acquire) {
            self.turn();
        }
    }

    fn now(&self) -> Ps {
        self.control.core.clock().now()
    }

    fn watch(&self, fd: RawFd, events: u32, number: u64) -> io::Result<()> {
        let mut event = libc::epoll_event {
            events,
            u64: number,
        };
        // SAFETY: `event` is read only.
        let done = unsafe {
            libc::epoll_ctl(
                self.epoll.as_raw_fd(),
                libc::EPOLL_CTL_ADD,
                fd,
                &raw mut event,
            )
        };
        if done < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    fn execute_commands(&mut self) {
        for command in self.control.take_commands() {
            match command {
                Command::Attach(nic, tap) => self.attach(nic, tap),
                Command::Capture(number, cable, capture) => {
                    self.captures.insert(number, (cable, capture));
                }
                Command::StopCapture(number) => self.stop_capture(number),
            }
        }
    }

    fn attach(&mut self, nic: PortId, tap: Tap) {
        let number = self.hosts.len() as u32;
        let slot = nic.0 as usize;
        if self.by_nic.len() <= slot {
            self.by_nic.resize(slot + 1, NO_HOST);
        }
        // Edge-triggered: frames that wait in a TAP must not wake the thread again while the NIC ring is full.
        if let Err(error) = self.watch(
            tap.as_raw_fd(),
            libc::EPOLLIN as u32 | libc::EPOLLET as u32,
            number.into(),
        ) {
            self.control.alarm(
                self.now(),
                format!("port {} cannot receive from its TAP: {error}", nic.0),
            );
            return;
        }
        let now = self.now();
        let state = self.control.core.lock().port(now, nic);
        tap.set_carrier(state.is_ok_and(|state| state.oper_up));
        self.by_nic[slot] = number;
        self.hosts.push(Host {
            nic,
            tap,
            pending: VecDeque::new(),
            readable: true,
        });
        self.readable.push_back(number);
    }

    fn stop_capture(&mut self, number: u32) {
        let Some((cable, capture)) = self.captures.remove(&number) else {
            self.control.answer(number);
            return;
        };
        let lost = capture.lost();
        drop(capture);
        if self.captures.values().all(|(other, _)| *other != cable) {
            // The cable exists: it was tapped when the capture began.
            drop(self.control.core.lock().set_tapped(cable, false));
        }
        self.control.capture_ended(number, lost);
    }

    fn turn(&mut self) {
        self.wait();
        if self.woken {
            self.execute_commands();
        }
        self.read();
        let now = self.now();
        let horizon = now + self.pace.on_clock(FABRIC_LEAD);
        let due = self.next.is_some_and(|next| next <= horizon);
        if due || self.woken || !self.arrived.is_empty() {
            self.woken = false;
            self.exchange();
            self.write();
            self.follow_links();
            self.record();
        }
    }

    fn wait(&mut self) {
        let now = self.now();
        let (rate, core_left) = self.control.rate();
        self.pace.set_rate(rate, core_left);
        let stalled = self.turn_took(now) > self.pace.on_clock(STALL);
        self.pace.rest(now);
        self.control.claimed_core.claim(self.pace.own_core());
        self.idle_processors.keep_awake(self.pace.in_use(now));
        let wait_limit = self
            .pace
            .wait_limit(now, self.next, !self.readable.is_empty());
        self.write_out(now, wait_limit);
        // SAFETY: an event is plain data, for which zero is valid.
        let mut events: [libc::epoll_event; EVENTS_A_TURN] = unsafe { std::mem::zeroed() };
        let count = wait_for_events(&self.epoll, &mut events, wait_limit);
        self.waited = 0;
        if wait_limit != Wait::Spin || stalled {
            let waited_ns = self.run_delay.as_mut().map_or(0, RunDelay::since_last_ns);
            self.waited = self.pace.on_clock(waited_ns * PS_PER_NS);
        }
        if wait_limit != Wait::Spin {
            let now = self.now();
            self.pace.slept_until(now);
            self.last_turn = now;
        }
        for event in &events[..count] {
            if event.u64 == WAKE_EVENT {
                self.control.core.wake().clear();
                self.woken = true;
            } else {
                self.mark_readable(event.u64 as u32);
            }
        }
        if wait_limit == Wait::Spin {
            if count == 0 {
                self.keep_warm(now);
            }
            for slot in 0..self.hot.len() {
                self.mark_readable(self.hot[slot]);
            }
        }
    }

    /// Before a sleep, when no frame is near, or when frames have waited for long.
    fn write_out(&mut self, now: Ps, wait_limit: Wait) {
        let Some(since) = self.captured else {
            return;
        };
        let at_work = !self.readable.is_empty();
        if wait_limit != Wait::Spin
            || self.pace.is_quiet(now, self.next, at_work)
            || now.saturating_sub(since) > self.pace.on_clock(WRITE_OUT_AFTER)
        {
            self.captured = None;
            for (_, capture) in self.captures.values() {
                capture.write_out();
            }
        }
    }

    fn keep_warm(&mut self, now: Ps) {
        let near = now + self.pace.on_clock(WARM_BEFORE);
        let due = now.saturating_sub(self.warm) > self.pace.on_clock(WARM_FOR);
        if due && self.next.is_none_or(|next| next > near) {
            if let Some(host) = &mut self.unseen {
                host.echo(&mut self.scratch);
                self.warm = self.now();
                self.last_turn = self.warm;
            }
        }
    }

    fn mark_readable(&mut self, number: u32) {
        let host = &mut self.hosts[number as usize];
        if !host.readable {
            host.readable = true;
            if host.pending.is_empty() {
                self.readable.push_back(number);
            }
        }
    }

    fn read(&mut self) {
        for _ in 0..READS_A_TURN {
            let Some(number) = self.readable.pop_front() else {
                break;
            };
            let clock = self.control.core.clock();
            let begun = clock.now();
            let host = &mut self.hosts[number as usize];
            let mut got = Read::Empty;
            for _ in 0..PACKETS_A_READ {
                let before = host.pending.len();
                got = host.tap.read(&mut self.scratch, &mut host.pending);
                // Of large packets one fills the ring; what follows small ones was sent before now, too.
                if got != Read::Packet || host.pending.len() != before + 1 {
                    break;
                }
            }
            if got != Read::Packet {
                host.readable = false;
                if host.pending.is_empty() {
                    continue;
                }
            }
            let read = clock.now();
            let took = read.saturating_sub(begun);
            // The host of a virtual machine may take the processor away in the middle; a frame may have been sent then.
            let (seen, waited) = if took > self.pace.on_clock(STALL) {
                (read, self.waited + took)
            } else {
                (begun, self.waited)
            };
            let stamp = seen.saturating_sub(self.pace.on_clock(READ_LAG));
            self.pace.frame_at(stamp);
            self.arrived.push((number, stamp));
            self.came_late(number, waited);
            if self.hot.first() != Some(&number) {
                self.hot.retain(|other| *other != number);
                self.hot.insert(0, number);
                self.hot.truncate(HOT_HOSTS);
            }
            // Goes back to `readable`, if there may be more, once the ring has taken what was read.
        }
    }

    /// Count the frames just read from a host as late if the thread had no processor when they came: their stamps hide
    /// it. An upper bound, as they may have come while it waited.
    fn came_late(&self, number: u32, waited: Ps) {
        if waited == 0 {
            return;
        }
        let came = self.hosts[number as usize].pending.iter();
        let traffic = came.filter(|frame| !is_reserved(frame.destination()));
        let mut lateness = self.control.lateness.lock();
        for _ in traffic {
            lateness.record(waited);
        }
    }

    /// Hand over the frames read, pass time, take the deliveries that are due.
    fn exchange(&mut self) {
        let mut fabric = self.control.core.lock();
        for (number, stamp) in self.arrived.drain(..) {
            offer(&mut fabric, &mut self.hosts[number as usize], stamp);
            self.stalled.push_back(number);
        }
        fabric.poll(
            self.control.core.clock().now() + self.pace.on_clock(WRITE_LEAD),
            &mut self.deliveries,
        );
        for _ in 0..self.stalled.len() {
            let Some(number) = self.stalled.pop_front() else {
                break;
            };
            let host = &mut self.hosts[number as usize];
            let now = fabric.now();
            offer(&mut fabric, host, now);
            if !host.pending.is_empty() {
                self.stalled.push_back(number);
            } else if host.readable {
                self.readable.push_back(number);
            }
        }
        self.next = fabric.poll_at();
        if !self.captures.is_empty() {
            fabric.take_tapped(&mut self.tapped);
        }
        fabric.take_alarms(&mut self.alarms);
        if fabric.nic_links_changed() {
            fabric.take_nic_links(&mut self.nic_links);
        }
    }

    /// The link of the cable is the carrier of the host's interface.
    fn follow_links(&mut self) {
        for (nic, up) in self.nic_links.drain(..) {
            let number = self.by_nic.get(nic.0 as usize).copied();
            if let Some(host) = number.and_then(|number| self.hosts.get(number as usize)) {
                host.tap.set_carrier(up);
            }
        }
    }

    /// Write the deliveries that are due, host by host in the order of their ports, the frames of each host in order
    /// of time. A frame to a reserved address (LLDP) is no traffic: the thread does not stay awake after it, nor is its
    /// lateness judged.
    fn record(&mut self) {
        for alarm in self.alarms.drain(..) {
            self.control.alarm(alarm.at, alarm.text);
        }
        for seen in self.tapped.drain(..) {
            for (cable, capture) in self.captures.values() {
                if *cable == seen.cable {
                    capture.push(seen.at, &seen.frame);
                    self.captured.get_or_insert(seen.at);
                }
            }
        }
        let ended = self
            .captures
            .iter()
            .find(|(_, (_, capture))| capture.is_closed());
        if let Some(number) = ended.map(|(number, _)| *number) {
            self.stop_capture(number);
        }
    }

    /// The time since the last turn; an alarm if it is too long.
    fn turn_took(&mut self, now: Ps) -> Ps {
        let gap = now.saturating_sub(self.last_turn);
        self.last_turn = now;
        if gap > LATE {
            let gap_ms = gap / PS_PER_MS;
            self.alarm_late(
                now,
                format!("the live thread stalled for {gap_ms} ms: other programs used its core"),
            );
        }
        gap
    }

    fn alarm_late(&mut self, now: Ps, text: String) {
        if self.last_alarm.is_none_or(|last| now - last > PS_PER_S) {
            self.last_alarm = Some(now);
            self.control.alarm(now, text);
        }
    }
}
