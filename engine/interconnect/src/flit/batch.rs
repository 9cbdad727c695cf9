//! Batch mode: jobs that send a number of packets each.

use crate::network::NodeId;

/// What the jobs have left to send. The nodes of a job draw from one stock.
#[derive(Clone, Debug)]
pub(super) struct Batches {
    job_of: Vec<u32>,
    left: Vec<u64>,
}

impl Batches {
    pub(super) fn new(job_of: Vec<u32>, packets: Vec<u64>) -> Self {
        Self {
            job_of,
            left: packets,
        }
    }

    /// A node makes a packet; false if its job has none left.
    pub(super) fn take(&mut self, node: NodeId) -> bool {
        let left = &mut self.left[self.job_of[node as usize] as usize];
        let some = *left > 0;
        *left -= u64::from(some);
        some
    }

    pub(super) fn left(&self) -> u64 {
        self.left.iter().sum()
    }
}
