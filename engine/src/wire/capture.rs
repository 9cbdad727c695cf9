//! A packet capture of a cable: a bounded queue and a thread that writes it to the reader.
//!
//! The live thread only appends to the queue and never waits for a reader. A packet that does not fit the queue is
//! lost and counted. The writing thread sleeps in `poll` until it is told to write, the reader takes more, or the reader
//! has closed.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use fabric::{Frame, Ps};
use parking_lot::Mutex;

use crate::os::wake::Wake;
use crate::wire::pcap;

/// Bytes that may wait for the reader.
const QUEUE_BYTE: usize = 16 * 1024 * 1024;

#[derive(Debug)]
struct Shared {
    waiting: Mutex<Vec<u8>>,
    wake: Wake,
    stop: AtomicBool,
    closed: AtomicBool,
    lost: AtomicU64,
}

/// A running capture. Dropping it writes what the reader takes without waiting, then closes the file.
#[derive(Debug)]
pub struct Capture {
    epoch_ps: u128,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Capture {
    /// Start writing to `fd`. `epoch_ps`: UTC of engine time 0, picoseconds since 1970.
    ///
    /// # Errors
    /// If the descriptor cannot be made non-blocking or a thread cannot be started.
    pub fn start(fd: OwnedFd, epoch_ps: u128) -> io::Result<Self> {
        set_nonblocking(&fd)?;
        let shared = Arc::new(Shared {
            waiting: Mutex::new(pcap::file_header()),
            wake: Wake::new()?,
            stop: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            lost: AtomicU64::new(0),
        });
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("twin-capture".into())
            .spawn(move || {
                write_all(&fd, &theirs);
                theirs.closed.store(true, Ordering::Release);
            })?;
        Ok(Self {
            epoch_ps,
            shared,
            thread: Some(thread),
        })
    }

    /// Queue one frame, or count it as lost. It is written when [`Capture::write_out`] is called.
    pub fn push(&self, at: Ps, frame: &Frame) {
        let record = pcap::record(self.epoch_ps, at, frame);
        let mut waiting = self.shared.waiting.lock();
        if waiting.len() + record.len() > QUEUE_BYTE {
            self.shared.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        waiting.extend(record);
    }

    /// Have the other thread write what is queued. Waking it takes the caller 14 us where a program is to give way to it
    /// (the interrupt to another virtual processor), so not while a frame is near.
    pub fn write_out(&self) {
        self.shared.wake.signal();
    }

    /// Whether the reader has closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.closed.load(Ordering::Acquire)
    }

    /// Packets lost because the reader was too slow.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.shared.lost.load(Ordering::Relaxed)
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        self.shared.wake.signal();
        if let Some(thread) = self.thread.take() {
            // A panic of the writer ends the capture only.
            drop(thread.join());
        }
    }
}

/// Write until the capture stops or the reader closes.
fn write_all(fd: &OwnedFd, shared: &Shared) {
    let mut chunk = Vec::new();
    let mut written = 0;
    loop {
        let stopping = shared.stop.load(Ordering::Acquire);
        if written == chunk.len() {
            chunk.clear();
            written = 0;
            std::mem::swap(&mut chunk, &mut shared.waiting.lock());
        }
        if written < chunk.len() {
            match write_some(fd, &chunk[written..]) {
                Ok(count) => {
                    written += count;
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return,
            }
        }
        if stopping {
            return;
        }
        let interest = if written < chunk.len() {
            libc::POLLOUT
        } else {
            0
        };
        let mut polled = [
            libc::pollfd {
                fd: fd.as_raw_fd(),
                events: interest,
                revents: 0,
            },
            libc::pollfd {
                fd: shared.wake.as_raw_fd(),
                events: libc::POLLIN,
                revents: 0,
            },
        ];
        // SAFETY: `polled` has two entries, both of open descriptors.
        unsafe { libc::poll(polled.as_mut_ptr(), 2, -1) };
        if polled[0].revents & (libc::POLLERR | libc::POLLHUP | libc::POLLNVAL) != 0 {
            return;
        }
        if polled[1].revents != 0 {
            shared.wake.clear();
        }
    }
}

fn write_some(fd: &OwnedFd, bytes: &[u8]) -> io::Result<usize> {
    // SAFETY: the kernel reads at most `bytes.len()` bytes.
    let written = unsafe { libc::write(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) };
    usize::try_from(written).map_err(|_| io::Error::last_os_error())
}

fn set_nonblocking(fd: &OwnedFd) -> io::Result<()> {
    // SAFETY: F_GETFL and F_SETFL touch no memory.
    unsafe {
        let flags = libc::fcntl(fd.as_raw_fd(), libc::F_GETFL);
        if flags < 0 || libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, flags | libc::O_NONBLOCK) < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Read;
    use std::os::fd::FromRawFd;

    fn pipe() -> (File, OwnedFd) {
        let mut ends = [0; 2];
        assert_eq!(
            unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) },
            0
        );
        // SAFETY: the kernel has just opened both for us alone.
        unsafe { (File::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) }
    }

    fn frame(payload_byte: usize) -> Frame {
        Frame {
            bytes: vec![5; payload_byte].into(),
            ..Frame::default()
        }
    }

    #[test]
    fn the_reader_gets_header_and_packets_in_order() {
        let (mut reader, writer) = pipe();
        let capture = Capture::start(writer, 0).expect("a capture");
        for at in 0..100 {
            capture.push(at * 1_000, &frame(100));
        }
        assert_eq!(capture.lost(), 0);
        drop(capture);
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).expect("all of it");
        assert_eq!(bytes.len(), 24 + 100 * 116);
        for (number, record) in bytes[24..].chunks(116).enumerate() {
            assert_eq!(record[4..8], (number as u32).to_ne_bytes());
        }
    }

    #[test]
    fn a_reader_that_does_not_read_loses_packets_and_they_are_counted() {
        let (mut reader, writer) = pipe();
        let capture = Capture::start(writer, 0).expect("a capture");
        let (big, count) = (frame(9_000), 6_000_u64);
        for at in 0..count {
            capture.push(at, &big);
        }
        capture.write_out();
        let lost = capture.lost();
        assert!(
            lost > 0,
            "6,000 packets of 9,016 bytes do not fit the queue and a pipe"
        );
        let kept = std::thread::scope(|scope| {
            let reading = scope.spawn(|| {
                let mut bytes = vec![0; 24 + 9_016 * (count - lost) as usize];
                reader.read_exact(&mut bytes).map(|()| bytes.len())
            });
            reading.join().expect("no panic")
        });
        assert!(kept.is_ok(), "what was not lost arrives: {kept:?}");
    }

    #[test]
    fn what_is_written_out_is_read_while_the_capture_goes_on() {
        let (mut reader, writer) = pipe();
        let capture = Capture::start(writer, 0).expect("a capture");
        let mut bytes = [0; 24];
        reader.read_exact(&mut bytes).expect("the header");
        for at in 0..3_u64 {
            capture.push(at * 1_000, &frame(100));
            capture.write_out();
            let mut record = [0; 116];
            reader.read_exact(&mut record).expect("the packet");
            assert_eq!(record[4..8], (at as u32).to_ne_bytes());
        }
    }

    #[test]
    fn a_reader_that_goes_ends_the_capture() {
        let (reader, writer) = pipe();
        let mut capture = Capture::start(writer, 0).expect("a capture");
        drop(reader);
        capture
            .thread
            .take()
            .expect("running")
            .join()
            .expect("it ends by itself");
        assert!(capture.is_closed());
    }
}
