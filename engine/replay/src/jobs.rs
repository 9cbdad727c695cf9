//! Jobs: programs on nodes, one beside or after the other.
//!
//! The scheduler is that of Andújar et al. 2023 (section 3.4): of the jobs that fit into the free cores one at random, onto
//! the first free nodes; again whenever a job ends. A job fits if it has as many tasks as there are free cores or fewer: the
//! text says fewer, which would never run a 512-task trace on 512 cores.

use std::sync::Arc;

use interconnect::network::NodeId;
use interconnect::rng::Rng;

use crate::collectives::Nodes;
use crate::hash::FastMap;
use crate::program::Program;

/// Where a job's ranks run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Each rank's node.
    Given(Vec<NodeId>),
    /// The first free cores, by the scheduler.
    Scheduled,
}

/// A job.
#[derive(Clone, Debug)]
pub struct JobPlan {
    /// What it runs.
    pub program: Arc<Program>,
    /// Where.
    pub placement: Placement,
    /// The tick before which it does not begin.
    pub start: u64,
    /// Whether it begins anew at its end, until every job has ended once.
    pub repeats: bool,
    /// Computing times are multiplied by this.
    pub compute_scale: f64,
}

pub(crate) struct Job {
    pub(crate) plan: JobPlan,
    pub(crate) first_rank: u32,
    /// Ranks that have not finished.
    pub(crate) running: u32,
    /// Number of its run, from 0.
    pub(crate) run: u32,
    pub(crate) began: Option<u64>,
    /// Begin and end of the runs that have ended.
    pub(crate) runs: Vec<(u64, u64)>,
    /// By communicator, where its ranks run.
    pub(crate) nodes: FastMap<u32, Arc<Nodes>>,
}

impl Job {
    pub(crate) fn ranks(&self) -> u32 {
        self.plan.program.ranks.len() as u32
    }
}

/// The cores of a machine that jobs wait for.
#[derive(Clone, Debug)]
pub(crate) struct Scheduler {
    /// Jobs that have not begun.
    pub(crate) waiting: Vec<u32>,
    free_cores: Vec<u32>,
    rng: Rng,
}

impl Scheduler {
    pub(crate) fn new(nodes: u32, seed: u64) -> Self {
        Self {
            waiting: Vec::new(),
            free_cores: vec![0; nodes as usize],
            rng: Rng::new(seed ^ 0x7363_6865_6475_6c65),
        }
    }

    /// Every node has so many cores, all of them free.
    pub(crate) fn set_cores(&mut self, cores: u32) {
        self.free_cores.fill(cores);
    }

    /// Choose a job that fits, among these with their numbers of ranks, and the node of each of its ranks.
    pub(crate) fn choose(&mut self, ranks: impl Fn(u32) -> u32) -> Option<(u32, Vec<NodeId>)> {
        let free: u32 = self.free_cores.iter().sum();
        let fit: Vec<usize> = (0..self.waiting.len())
            .filter(|&index| ranks(self.waiting[index]) <= free)
            .collect();
        if fit.is_empty() {
            return None;
        }
        let index = fit[self.rng.below(fit.len() as u32) as usize];
        let job = self.waiting.remove(index);
        let mut left = ranks(job);
        let mut nodes = Vec::with_capacity(left as usize);
        for (node, cores) in (0..).zip(&mut self.free_cores) {
            let taken = left.min(*cores);
            *cores -= taken;
            left -= taken;
            nodes.extend(std::iter::repeat_n(node, taken as usize));
        }
        Some((job, nodes))
    }

    /// A job has ended on these nodes.
    pub(crate) fn release(&mut self, nodes: impl Iterator<Item = NodeId>) {
        for node in nodes {
            self.free_cores[node as usize] += 1;
        }
    }
}
