//! Laws of collective calls.

mod choices;
mod closed_forms;
mod executor;
mod nodes;
mod orders;
mod whole_calls;

use executor::{Outcome, run};
use replay::collectives::{Algorithm, Collective, Kind, Library, steps, steps_by};
use replay::step::Step;
use std::sync::Arc;

/// A call with blocks of several sizes, as each of its ranks makes it.
#[derive(Clone, Debug)]
struct Everyone {
    call: Collective,
    /// All blocks, or for an alltoallv all that each rank sends to each.
    sizes: Option<Vec<u64>>,
}

impl Everyone {
    fn rank(&self, rank: u32) -> Collective {
        let mut call = self.call.clone();
        let Some(sizes) = &self.sizes else {
            return call;
        };
        let (ranks, own) = (call.ranks as usize, rank as usize);
        let is_root = rank == call.root;
        match call.kind {
            Kind::Alltoallv => {
                let sent = &sizes[own * ranks..(own + 1) * ranks];
                let received = (0..ranks).map(|other| sizes[other * ranks + own]);
                call.bytes = sent.iter().sum();
                call.sizes = Some(sent.iter().copied().chain(received).collect());
            }
            Kind::ReduceScatter => {
                call.bytes = sizes.iter().sum();
                call.sizes = Some(Arc::from(&sizes[..]));
            }
            Kind::Gatherv | Kind::Scatterv => {
                call.bytes = sizes[own];
                call.sizes = is_root.then(|| Arc::from(&sizes[..]));
            }
            _ => {
                call.bytes = sizes[own];
                call.sizes = Some(Arc::from(&sizes[..]));
            }
        }
        call
    }

    /// Bytes of a block: of a rank, or of an alltoallv's sender and receiver.
    fn block(&self, number: u32) -> u64 {
        let (ranks, bytes) = (self.call.ranks, self.call.bytes);
        match (&self.sizes, self.call.kind) {
            (Some(sizes), _) => sizes[number as usize],
            (None, Kind::Alltoallv) => bytes / u64::from(ranks),
            // Elements are not cut, so that ranks may have less than this, but not nothing.
            (None, Kind::ReduceScatter) => bytes / (u64::from(ranks) * self.call.element),
            (None, _) => bytes,
        }
    }

    /// Execute it by the library's choice.
    fn run(&self, library: Library) -> Outcome {
        run(self.call.ranks, |rank| {
            steps(library, &self.rank(rank), rank)
        })
    }
}

/// Execute a call in which all ranks say the same.
fn run_all(library: Library, call: &Collective) -> Outcome {
    run(call.ranks, |rank| steps(library, call, rank))
}

/// Execute a call by an algorithm of its operation.
fn run_by(algorithm: Algorithm, call: &Collective) -> Outcome {
    let library = Library::OpenMpi41;
    run(call.ranks, |rank| {
        steps_by(algorithm, library, call, rank).expect("an algorithm of the operation")
    })
}

/// The sends of a rank: destination and bytes.
fn sends(library: Library, call: &Collective, rank: u32) -> Vec<(u32, u64)> {
    steps(library, call, rank)
        .filter_map(|step| match step {
            Step::Send { to, bytes, .. } => Some((to, bytes)),
            _ => None,
        })
        .collect()
}

/// Sizes around those where some library changes its algorithm.
fn sizes(ranks: u32, most: u64) -> Vec<u64> {
    let powers = (0..=most.ilog2()).map(|power| 1 << power);
    let rules = [
        200, 300, 3000, 6000, 10_000, 12_288, 20_480, 92_160, 163_840, 370_728,
    ];
    let of_all = [50_000, 163_840].map(|limit| limit / u64::from(ranks.max(1)));
    let mut sizes: Vec<u64> = powers
        .chain(rules)
        .chain(of_all)
        .flat_map(|size| [size - 1, size, size + 1])
        .filter(|&size| size <= most)
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}
