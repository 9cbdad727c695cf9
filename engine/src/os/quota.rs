//! How much of the machine's processors a host may use: quotas of control groups.
//!
//! A host with a ratio of 2 computes as 2 of this machine's cores would in lab time, at every rate of the lab's clock:
//! its group may use 2 × rate cores of the wall's. Either version of the hierarchy: `cpu.max`, or `cpu.cfs_quota_us`
//! and `cpu.cfs_period_us` (kernel documentation, `admin-guide/cgroup-v2.rst` and `scheduler/sched-bwc.rst`).
//!
//! Simplification: the kernel grants turns of a millisecond or more and notices an overdraft at its next tick, up to
//! 4 ms later; it takes back what was overdrawn. So a host's processors stop and go within some milliseconds of lab
//! time, where a slow processor would be slow all the time: short stretches of computing show it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const LEAST_US: f64 = 1_000.0;
const LONGEST_US: f64 = 1_000_000.0;

/// Ratios of hosts, by the folder of their control group.
#[derive(Clone, Debug, Default)]
pub struct Quotas(Vec<(PathBuf, f64)>);

impl Quotas {
    /// Ratios above zero.
    #[must_use]
    pub fn new(ratios: Vec<(PathBuf, f64)>) -> Self {
        Self(ratios)
    }

    /// Set all groups for a rate: lab time per wall time.
    ///
    /// # Errors
    /// A group is not there or cannot be written; the others are set.
    pub fn apply(&self, rate: f64) -> io::Result<()> {
        let mut result = Ok(());
        for (folder, ratio) in &self.0 {
            if let Err(error) = set(folder, ratio * rate) {
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
    let quota = (cores * 10.0 * LEAST_US).max(LEAST_US);
    let period = (quota / cores).min(LONGEST_US);
    (quota.round() as u64, period.round() as u64)
}

fn set(folder: &Path, cores: f64) -> io::Result<()> {
    let (quota, period) = quota_us(cores);
    let file = folder.join("cpu.max");
    if file.exists() {
        return fs::write(file, format!("{quota} {period}"));
    }
    fs::write(folder.join("cpu.cfs_period_us"), period.to_string())?;
    fs::write(folder.join("cpu.cfs_quota_us"), quota.to_string())
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
        let quotas = Quotas::new(vec![
            (folder.join("one"), 1.0),
            (folder.join("none"), 1.0),
            (folder.join("two"), 4.0),
        ]);
        let error = quotas.apply(0.05).unwrap_err();
        assert!(error.to_string().contains("none"), "{error}");
        let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        assert_eq!(read("one/cpu.cfs_quota_us"), "1000");
        assert_eq!(read("one/cpu.cfs_period_us"), "20000");
        assert_eq!(read("two/cpu.max"), "2000 10000");
        fs::remove_dir_all(&folder).unwrap();
    }
}
