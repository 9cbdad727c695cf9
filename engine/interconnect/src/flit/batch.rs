//! Batch mode: jobs that send a number of packets each.

use crate::network::NodeId;

/// Whose a number of packets is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Stock {
    /// The job's: its nodes draw from one stock, and those that send faster send more.
    Job,
    /// Each node's: the node that sends slowest ends the batch.
    Node,
}

/// What is left to send.
#[derive(Clone, Debug)]
pub(super) struct Batches {
    /// By node.
    stock_of: Vec<u32>,
    left: Vec<u64>,
}

impl Batches {
    /// `packets` are by job.
    pub(super) fn new(job_of: &[u32], packets: &[u64], stock: Stock) -> Self {
        match stock {
            Stock::Job => Self {
                stock_of: job_of.to_vec(),
                left: packets.to_vec(),
            },
            Stock::Node => Self {
                stock_of: (0..job_of.len() as u32).collect(),
                left: job_of.iter().map(|&job| packets[job as usize]).collect(),
            },
        }
    }

    /// A node makes a packet; false if its stock has none left.
    pub(super) fn take(&mut self, node: NodeId) -> bool {
        let left = &mut self.left[self.stock_of[node as usize] as usize];
        let some = *left > 0;
        *left -= u64::from(some);
        some
    }

    pub(super) fn left(&self) -> u64 {
        self.left.iter().sum()
    }
}
