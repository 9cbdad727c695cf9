//! Keeps idle processors of the machine from sleeping, by the kernel's limit on how long one may take to wake (PM QoS,
//! `/dev/cpu_dma_latency`): they poll instead.
//!
//! A virtual processor that sleeps is given to others by the machine's host, and comes back cold. The same work of 139 µs
//! took a thread that had paused for 5, 20, 100 and 200 ms 155 - 189, 174 - 215, 181 - 216 and 199 - 212 µs of processor
//! time (ranges of medians of 100 and 30, three times), and with this limit, or beside a thread that spins whenever no
//! other runs, 155, 164, 170 - 197 and 170 - 175 µs (once each; two virtual cores of an Intel Xeon). So hosts that compute
//! a little, and wait, were slower than hosts that compute on.

use std::fs::File;
use std::io::Write;

const DEVICE: &str = "/dev/cpu_dma_latency";
/// Of a request that limits nothing (`PM_QOS_DEFAULT_VALUE`).
const NO_LIMIT: i32 = -1;

/// The limit of one caller, which ends with the value.
#[derive(Debug)]
pub struct IdleProcessors {
    /// None where the kernel has no such device, or this process may not open it: then nothing is limited.
    device: Option<File>,
    awake: bool,
}

impl IdleProcessors {
    /// They may sleep.
    #[must_use]
    pub fn new() -> Self {
        Self {
            device: File::options().write(true).open(DEVICE).ok(),
            awake: false,
        }
    }

    /// Keep them awake from now on, or let them sleep. Cheap if nothing changed.
    pub fn keep_awake(&mut self, awake: bool) {
        if awake != self.awake {
            self.awake = awake;
            let most_us: i32 = if awake { 0 } else { NO_LIMIT };
            if let Some(device) = &mut self.device {
                // A kernel that refuses leaves them as they are.
                let _ = device.write_all(&most_us.to_ne_bytes());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_change_is_written() {
        let path = std::env::temp_dir().join(format!("latency-{}", std::process::id()));
        let mut processors = IdleProcessors {
            device: Some(File::create(&path).unwrap()),
            awake: false,
        };
        for awake in [false, true, true, false, false, true] {
            processors.keep_awake(awake);
        }
        let written = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let limits = written
            .chunks_exact(4)
            .map(|bytes| i32::from_ne_bytes(bytes.try_into().unwrap()));
        assert_eq!(limits.collect::<Vec<_>>(), [0, NO_LIMIT, 0]);
    }

    #[test]
    fn where_there_is_no_device_nothing_happens() {
        let mut processors = IdleProcessors {
            device: None,
            awake: false,
        };
        processors.keep_awake(true);
        assert!(processors.awake);
    }
}
