//! How much of the machine's processors a host may use: quotas of control groups.
//!
//! A host with a ratio of 2 computes as 2 of this machine's cores would. In a lab without a clock its group may use 2
//! cores. In one with a clock the preloaded library lets a program go no faster than that in lab time
//! (`lab_clock_preload/src/work.rs`), and the quota, [`SLACK`] times the ratio and the rate, is for what it does not reach.
//! Either version of the hierarchy: `cpu.max` and `cpu.max.burst`, or `cpu.cfs_quota_us`, `cpu.cfs_period_us` and
//! `cpu.cfs_burst_us` (kernel documentation, `admin-guide/cgroup-v2.rst` and `scheduler/sched-bwc.rst`).
//!
//! Simplification, of labs without a clock: the kernel grants turns of a millisecond or more and notices an overdraft at
//! its next tick, up to 4 ms later; it takes back what was overdrawn. So a host's processors stop and go within some
//! milliseconds, where a slow processor would be slow all the time: short stretches of computing show it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const LEAST_US: f64 = 1_000.0;
const SHORTEST_US: f64 = 10_000.0;
const LONGEST_US: f64 = 1_000_000.0;
/// How much of their ratio groups in lab time may use: to wait, and to poll in vain, is no work but takes a processor, too.
/// Of HPL of order 2000 at 1/50 it was 0.15 of 0.4 s of a host.
const SLACK: f64 = 2.0;

/// Ratios of hosts, by the folder of their control group.
#[derive(Clone, Debug, Default)]
pub struct Quotas(Vec<(PathBuf, f64)>);

impl Quotas {
    /// Ratios above zero.
    #[must_use]
    pub fn new(ratios: Vec<(PathBuf, f64)>) -> Self {
        Self(ratios)
    }

    /// The rate below which so many hosts together leave a core to others; 0: some have no ratio.
    #[must_use]
    pub fn leave_a_core_below(&self, hosts: usize) -> f64 {
        if self.0.is_empty() || self.0.len() < hosts {
            return 0.0;
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let used: f64 = self.0.iter().map(|(_, ratio)| SLACK * ratio).sum();
        (cores - 1) as f64 / used
    }

    /// Set all groups of a lab without a clock.
    ///
    /// # Errors
    /// A group is not there or cannot be written; the others are set.
    pub fn cap(&self) -> io::Result<()> {
        self.set_all(1.0, false)
    }

    /// Set all groups of a lab in lab time for a rate: lab time per wall time.
    ///
    /// # Errors
    /// As of [`Self::cap`].
    pub fn follow(&self, rate: f64) -> io::Result<()> {
        self.set_all(SLACK * rate, true)
    }

    fn set_all(&self, times: f64, keeps: bool) -> io::Result<()> {
        let mut result = Ok(());
        for (folder, ratio) in &self.0 {
            if let Err(error) = set(folder, times * ratio, keeps) {
                result = Err(io::Error::new(
                    error.kind(),
                    format!("{}: {error}", folder.display()),
                ));
            }
        }
        result
    }
}

/// Microseconds of processor time, in a period of so many.
fn quota_us(cores: f64) -> (u64, u64) {
    let period = (LEAST_US / cores).clamp(SHORTEST_US, LONGEST_US);
    let quota = (cores * period).max(LEAST_US);
    (quota.round() as u64, period.round() as u64)
}

/// `keeps`: a period's time that was not used is kept for the next one. Kernels before 5.14 keep none.
fn set(folder: &Path, cores: f64, keeps: bool) -> io::Result<()> {
    let (quota, period) = quota_us(cores);
    let second = folder.join("cpu.max");
    let of_bursts = folder.join(if second.exists() {
        "cpu.max.burst"
    } else {
        "cpu.cfs_burst_us"
    });
    let can_keep = of_bursts.exists();
    if can_keep {
        fs::write(&of_bursts, "0")?; // it must not be above the quota
    }
    if second.exists() {
        fs::write(second, format!("{quota} {period}"))?;
    } else {
        fs::write(folder.join("cpu.cfs_period_us"), period.to_string())?;
        fs::write(folder.join("cpu.cfs_quota_us"), quota.to_string())?;
    }
    if keeps && can_keep {
        fs::write(of_bursts, quota.to_string())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_are_those_of_the_ratio_within_what_the_kernel_takes() {
        for step in 0..=300 {
            let cores = 0.001 * 64_000f64.powf(f64::from(step) / 300.0);
            let (quota, period) = quota_us(cores);
            assert!(quota >= 1_000 && (1_000..=1_000_000).contains(&period));
            let granted = quota as f64 / period as f64;
            assert!((granted / cores - 1.0).abs() < 0.001, "{cores} {granted}");
        }
    }

    #[test]
    fn either_hierarchy_is_written_and_a_missing_group_is_named() {
        let folder = std::env::temp_dir().join(format!("quota-{}", std::process::id()));
        fs::create_dir_all(folder.join("one")).unwrap();
        fs::create_dir_all(folder.join("two")).unwrap();
        fs::write(folder.join("two/cpu.max"), "max 100000").unwrap();
        fs::write(folder.join("two/cpu.max.burst"), "0").unwrap();
        let quotas = Quotas::new(vec![
            (folder.join("one"), 1.0),
            (folder.join("none"), 1.0),
            (folder.join("two"), 4.0),
        ]);
        let error = quotas.follow(0.05).unwrap_err();
        assert!(error.to_string().contains("none"), "{error}");
        let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        assert_eq!(read("one/cpu.cfs_quota_us"), "1000");
        assert_eq!(read("one/cpu.cfs_period_us"), "10000");
        assert_eq!(read("two/cpu.max"), "4000 10000");
        assert_eq!(read("two/cpu.max.burst"), "4000");
        assert_eq!(quotas.leave_a_core_below(4), 0.0);
        let cores = std::thread::available_parallelism().map_or(1, usize::from) as f64;
        assert!((quotas.leave_a_core_below(3) - (cores - 1.0) / 12.0).abs() < 1e-9);
        quotas.cap().unwrap_err();
        assert_eq!(read("two/cpu.max"), "40000 10000");
        assert_eq!(read("two/cpu.max.burst"), "0");
        fs::remove_dir_all(&folder).unwrap();
    }
}
