//! One thread serves all SNMP agents of the process. It sleeps in epoll until a datagram arrives.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use parking_lot::Mutex;
use snmp::config::SIZE_MAX_BYTE;
use snmp::{Agent, Bind, ErrorStatus, Step};

use crate::agent::view::MibView;
use crate::os::signals::block_signals;

/// Maximum number of datagrams of one agent per turn, so that the others are served too.
const TURN_DATAGRAMS: usize = 64;
const EVENTS: usize = 64;

/// Executes a SET: returns the error-status and the index (from 1) of the rejected binding.
pub type Setter = Box<dyn Fn(&[Bind]) -> (ErrorStatus, usize) + Send + Sync>;

/// An agent with its variables and, while it runs, its socket.
pub struct AgentServer {
    state: Mutex<State>,
    setter: Option<Setter>,
}

struct State {
    agent: Agent,
    view: MibView,
    socket: Option<UdpSocket>,
    started: Instant,
    starts: u32,
    loss: f64,
    random: u64,
}

impl AgentServer {
    /// An agent that does not run yet. Without a setter it is read-only.
    #[must_use]
    pub fn new(agent: Agent, setter: Option<Setter>, seed: u64) -> Arc<Self> {
        let state = State {
            agent,
            view: MibView::default(),
            socket: None,
            started: Instant::now(),
            starts: 0,
            loss: 0.0,
            random: seed | 1,
        };
        Arc::new(Self {
            state: Mutex::new(state),
            setter,
        })
    }

    /// Read or change the variables.
    pub fn with_view<R>(&self, work: impl FnOnce(&mut MibView) -> R) -> R {
        work(&mut self.state.lock().view)
    }

    /// Drop this share of requests.
    pub fn set_loss(&self, fraction: f64) {
        self.state.lock().loss = fraction;
    }

    /// Bind the socket and start answering. Each start after the first is a boot of the SNMP engine. No effect if the
    /// agent runs.
    ///
    /// # Errors
    /// The address cannot be bound, or the process has no free file descriptor.
    pub fn start(self: &Arc<Self>, address: SocketAddr) -> io::Result<()> {
        let mut state = self.state.lock();
        if state.socket.is_some() {
            return Ok(());
        }
        let socket = UdpSocket::bind(address)?;
        socket.set_nonblocking(true)?;
        Poller::get()?.add(&socket, self)?;
        if state.starts > 0 {
            state.agent.reboot();
        }
        state.starts += 1;
        state.started = Instant::now();
        state.view.started();
        state.socket = Some(socket);
        Ok(())
    }

    /// Close the socket. No effect if the agent does not run. Never waits for the thread, which may be the caller.
    pub fn stop(&self) {
        let socket = self.state.lock().socket.take();
        if let (Some(socket), Ok(poller)) = (socket, Poller::get()) {
            poller.remove(&socket);
        }
    }

    /// The bound address, while running.
    pub fn address(&self) -> Option<SocketAddr> {
        self.state
            .lock()
            .socket
            .as_ref()
            .and_then(|socket| socket.local_addr().ok())
    }

    fn turn(&self, buffer: &mut [u8]) {
        for _ in 0..TURN_DATAGRAMS {
            let mut state = self.state.lock();
            let State {
                agent,
                view,
                socket,
                started,
                loss,
                random,
                ..
            } = &mut *state;
            let Some(socket) = socket else { return };
            // ConnectionRefused is an ICMP error about an earlier answer and does not matter here.
            let (size_byte, from) = match socket.recv_from(buffer) {
                Ok(received) => received,
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => continue,
                Err(_) => return,
            };
            if *loss > 0.0 && random_fraction(random) < *loss {
                continue;
            }
            match agent.receive(started.elapsed(), &buffer[..size_byte], view) {
                Step::Silent => {}
                Step::Answer => send(socket, agent.answer(), from),
                Step::Set(pending) => {
                    drop(state);
                    let refused = (ErrorStatus::NotWritable, 1);
                    let outcome = self
                        .setter
                        .as_ref()
                        .map_or(refused, |setter| setter(&pending.binds));
                    let mut state = self.state.lock();
                    state.view.changed();
                    let State {
                        agent,
                        socket: Some(socket),
                        ..
                    } = &mut *state
                    else {
                        return;
                    };
                    if let Step::Answer = agent.finish_set(&pending, outcome) {
                        send(socket, agent.answer(), from);
                    }
                }
            }
        }
    }
}

/// An answer that cannot be sent is lost, as UDP permits; the manager retries.
fn send(socket: &UdpSocket, answer: &[u8], to: SocketAddr) {
    let _ = socket.send_to(answer, to);
}

/// A pseudo-random number in 0..1 (xorshift64*): the same losses for the same seed and requests.
fn random_fraction(random: &mut u64) -> f64 {
    *random ^= *random >> 12;
    *random ^= *random << 25;
    *random ^= *random >> 27;
    (random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1_u64 << 53) as f64
}

/// The thread and its epoll set: the agent behind each socket.
struct Poller {
    epoll: OwnedFd,
    servers: Mutex<BTreeMap<RawFd, Arc<AgentServer>>>,
}

impl Poller {
    /// The poller of this process; its thread starts with the first agent and sleeps after the last has stopped.
    fn get() -> io::Result<&'static Self> {
        static ONE: OnceLock<Poller> = OnceLock::new();
        if let Some(poller) = ONE.get() {
            return Ok(poller);
        }
        // SAFETY: epoll_create1 takes no pointers.
        let descriptor = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was just created and has no other owner.
        let epoll = unsafe { OwnedFd::from_raw_fd(descriptor) };
        let mut fresh = Some(Self {
            epoll,
            servers: Mutex::new(BTreeMap::new()),
        });
        let poller = ONE.get_or_init(|| fresh.take().expect("taken only here"));
        if fresh.is_none() {
            std::thread::Builder::new()
                .name("snmp".into())
                .spawn(|| poller.work())?;
        }
        Ok(poller)
    }

    fn add(&self, socket: &UdpSocket, server: &Arc<AgentServer>) -> io::Result<()> {
        let descriptor = socket.as_raw_fd();
        let mut event = libc::epoll_event {
            events: libc::EPOLLIN as u32,
            u64: descriptor as u64,
        };
        // SAFETY: both descriptors are open and `event` is valid during the call.
        let code = unsafe {
            libc::epoll_ctl(
                self.epoll.as_raw_fd(),
                libc::EPOLL_CTL_ADD,
                descriptor,
                &raw mut event,
            )
        };
        if code != 0 {
            return Err(io::Error::last_os_error());
        }
        self.servers.lock().insert(descriptor, Arc::clone(server));
        Ok(())
    }

    /// Closing the descriptor removes it from the epoll set.
    fn remove(&self, socket: &UdpSocket) {
        self.servers.lock().remove(&socket.as_raw_fd());
    }

    fn work(&self) {
        block_signals();
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; EVENTS];
        let mut buffer = vec![0; SIZE_MAX_BYTE];
        loop {
            // SAFETY: `events` is valid for EVENTS elements during the call.
            let count = unsafe {
                libc::epoll_wait(
                    self.epoll.as_raw_fd(),
                    events.as_mut_ptr(),
                    EVENTS as libc::c_int,
                    -1,
                )
            };
            for event in events.iter().take(usize::try_from(count).unwrap_or(0)) {
                let server = self.servers.lock().get(&(event.u64 as RawFd)).cloned();
                if let Some(server) = server {
                    server.turn(&mut buffer);
                }
            }
        }
    }
}
