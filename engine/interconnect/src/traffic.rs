//! Traffic patterns: who sends to whom.

use crate::error::SimulationError;
use crate::network::NodeId;
use crate::rng::Rng;

/// A traffic pattern.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    /// A random node, drawn for each packet; the source itself is one of them, as in BookSim2.
    Uniform,
    /// A random node other than the source.
    UniformOthers,
    /// Every digit of the node's number to a base, over `digits` digits, increased by ⌈base/2⌉ - 1 (Dally, Towles 2004, section 3.2).
    Tornado {
        /// Base: nodes in a row.
        base: u32,
        /// Number of digits.
        digits: u32,
    },
    /// The bits of the node's number in reverse order.
    BitReversal,
    /// The upper half of the bits of the node's number exchanged with the lower half.
    Transpose,
    /// Every bit of the node's number inverted.
    BitComplement,
    /// The bits of the node's number rotated one place to the left.
    Shuffle,
    /// Every digit of the node's number to a base, over `digits` digits, increased by 1.
    Neighbour {
        /// Base: nodes in a row.
        base: u32,
        /// Number of digits.
        digits: u32,
    },
    /// A share of the packets goes to a random one of some nodes, the others as in [`Pattern::Uniform`].
    Hotspots {
        /// Where the share goes.
        nodes: Vec<NodeId>,
        /// From 0 to 1.
        share: f64,
    },
    /// A random node of the next group of so many nodes, around: the worst for minimal routing on a dragonfly.
    NextGroup {
        /// Nodes in a group.
        size: u32,
    },
    /// Each node's destination, one by one.
    Given {
        /// By node.
        to: Vec<NodeId>,
    },
    /// A permutation without fixed points, drawn once by the seed.
    Permutation,
    /// Groups of nodes drawn once by the seed; a packet goes to a random other node of its source's group.
    Jobs {
        /// Nodes in each group.
        sizes: Vec<u32>,
        /// Within each group a permutation instead.
        permutation: bool,
    },
}

/// A pattern prepared for a number of nodes.
#[derive(Clone, Debug)]
pub struct Destinations {
    nodes: u32,
    kind: Kind,
    /// By node, if there are jobs.
    job_of: Option<Vec<u32>>,
}

#[derive(Clone, Debug)]
enum Kind {
    Uniform { itself: bool },
    Fixed(Vec<NodeId>),
    Jobs(Vec<Vec<NodeId>>),
    Hotspots { nodes: Vec<NodeId>, share: f64 },
    NextGroup { size: u32 },
}

impl Destinations {
    /// Prepare a pattern.
    ///
    /// # Errors
    /// If the pattern does not fit the number of nodes.
    pub fn new(pattern: &Pattern, nodes: u32, rng: &mut Rng) -> Result<Self, SimulationError> {
        let mut job_of = None;
        let kind = match pattern {
            Pattern::Uniform => Kind::Uniform { itself: true },
            Pattern::UniformOthers if nodes < 2 => {
                return SimulationError::traffic("one node alone has no others to send to");
            }
            Pattern::UniformOthers => Kind::Uniform { itself: false },
            Pattern::Tornado { base, digits } => {
                Kind::Fixed(digits_moved("tornado", nodes, *base, *digits, |base| {
                    base.div_ceil(2) - 1
                })?)
            }
            Pattern::Neighbour { base, digits } => {
                Kind::Fixed(digits_moved("neighbour", nodes, *base, *digits, |_| 1)?)
            }
            Pattern::BitComplement => {
                Kind::Fixed(bits_moved(COMPLEMENT, nodes, |node, _| nodes - 1 - node)?)
            }
            Pattern::Shuffle => Kind::Fixed(bits_moved(COMPLEMENT, nodes, |node, bits| {
                ((node << 1) % nodes) | (node >> (bits - 1))
            })?),
            Pattern::BitReversal => {
                let needs = ("bit reversal needs a power of two", 1);
                Kind::Fixed(bits_moved(needs, nodes, |node, bits| {
                    node.reverse_bits() >> (u32::BITS - bits)
                })?)
            }
            Pattern::Transpose => {
                let needs = ("transpose needs an even power of two", 2);
                Kind::Fixed(bits_moved(needs, nodes, halves_swapped)?)
            }
            Pattern::Hotspots { nodes: hot, share } => hotspots(hot, *share, nodes)?,
            Pattern::NextGroup { size } if *size == 0 || nodes % size != 0 => {
                return SimulationError::traffic(format!("{nodes} nodes are no groups of {size}"));
            }
            Pattern::NextGroup { size } => Kind::NextGroup { size: *size },
            Pattern::Given { to } => Kind::Fixed(given(to, nodes)?),
            Pattern::Permutation if nodes < 2 => {
                return SimulationError::traffic(
                    "a permutation without fixed points needs two nodes",
                );
            }
            Pattern::Permutation => Kind::Fixed(deranged(&[(0..nodes).collect()], nodes, rng)),
            Pattern::Jobs { sizes, permutation } => {
                let (jobs, members) = jobs(sizes, nodes, rng)?;
                job_of = Some(jobs);
                if *permutation {
                    Kind::Fixed(deranged(&members, nodes, rng))
                } else {
                    Kind::Jobs(members)
                }
            }
        };
        Ok(Self {
            nodes,
            kind,
            job_of,
        })
    }

    /// Each node's job; `None` if the pattern has no jobs.
    #[must_use]
    pub fn job_of(&self) -> Option<&[u32]> {
        self.job_of.as_deref()
    }

    /// Where the next packet of a node goes.
    pub fn draw(&self, source: NodeId, rng: &mut Rng) -> NodeId {
        match &self.kind {
            Kind::Uniform { itself: true } => rng.below(self.nodes),
            Kind::Uniform { itself: false } => {
                let other = rng.below(self.nodes - 1);
                other + u32::from(other >= source)
            }
            Kind::Fixed(dests) => dests[source as usize],
            Kind::Hotspots { nodes, share } => {
                if rng.uniform() < *share {
                    nodes[rng.below(nodes.len() as u32) as usize]
                } else {
                    rng.below(self.nodes)
                }
            }
            Kind::NextGroup { size } => {
                (source / size * size + size + rng.below(*size)) % self.nodes
            }
            Kind::Jobs(members) => {
                let job = self.job_of.as_ref().map_or(0, |jobs| jobs[source as usize]);
                let members = &members[job as usize];
                loop {
                    let dest = members[rng.below(members.len() as u32) as usize];
                    if dest != source {
                        return dest;
                    }
                }
            }
        }
    }
}

/// What a pattern needs, and what the number of a node's bits is a multiple of.
type Needs = (&'static str, u32);

const COMPLEMENT: Needs = ("bit complement and shuffle need a power of two", 1);

/// Each node's destination by its number and the number of its bits.
fn bits_moved(
    (needs, multiple): Needs,
    nodes: u32,
    moved: impl Fn(u32, u32) -> u32,
) -> Result<Vec<NodeId>, SimulationError> {
    let bits = nodes.trailing_zeros();
    if nodes < 2 || !nodes.is_power_of_two() || bits % multiple != 0 {
        return SimulationError::traffic(format!("{needs} of nodes, not {nodes}"));
    }
    Ok((0..nodes).map(|node| moved(node, bits)).collect())
}

/// The number with the halves of its bits swapped.
fn halves_swapped(node: u32, bits: u32) -> u32 {
    let half = bits / 2;
    (node >> half) | ((node & ((1 << half) - 1)) << half)
}

fn hotspots(hot: &[NodeId], share: f64, nodes: u32) -> Result<Kind, SimulationError> {
    let all_there = !hot.is_empty() && hot.iter().all(|&node| node < nodes);
    if !all_there || !(0.0..=1.0).contains(&share) {
        return SimulationError::traffic(format!(
            "hotspots are nodes from 0 to {} with a share of the packets from 0 to 1",
            nodes - 1
        ));
    }
    Ok(Kind::Hotspots {
        nodes: hot.to_vec(),
        share,
    })
}

fn given(to: &[NodeId], nodes: u32) -> Result<Vec<NodeId>, SimulationError> {
    if to.len() != nodes as usize || to.iter().any(|&node| node >= nodes) {
        return SimulationError::traffic(format!(
            "{nodes} nodes need as many destinations, from 0 to {}",
            nodes - 1
        ));
    }
    Ok(to.to_vec())
}

/// Each node's destination where every digit of its number to a base is increased, around.
fn digits_moved(
    name: &str,
    nodes: u32,
    base: u32,
    digits: u32,
    shift: impl Fn(u32) -> u32,
) -> Result<Vec<NodeId>, SimulationError> {
    if base == 0 || base.checked_pow(digits) != Some(nodes) {
        return SimulationError::traffic(format!(
            "{name} with base {base} and {digits} digits needs {base}^{digits} nodes, not {nodes}"
        ));
    }
    let shift = shift(base);
    let moved = |node: u32| {
        (0..digits)
            .map(|place| {
                let unit = base.pow(place);
                (node / unit % base + shift) % base * unit
            })
            .sum()
    };
    Ok((0..nodes).map(moved).collect())
}

/// Each node's destination: another node of its group, by a random cyclic permutation (Sattolo 1986).
fn deranged(groups: &[Vec<NodeId>], nodes: u32, rng: &mut Rng) -> Vec<NodeId> {
    let mut dests = vec![0; nodes as usize];
    for members in groups {
        let mut order = members.clone();
        for last in (1..order.len()).rev() {
            order.swap(last, rng.below(last as u32) as usize);
        }
        for (&from, to) in members.iter().zip(order) {
            dests[from as usize] = to;
        }
    }
    dests
}

/// Each node's job, and the jobs' nodes.
fn jobs(
    sizes: &[u32],
    nodes: u32,
    rng: &mut Rng,
) -> Result<(Vec<u32>, Vec<Vec<NodeId>>), SimulationError> {
    if sizes.iter().map(|&size| u64::from(size)).sum::<u64>() != u64::from(nodes)
        || sizes.iter().any(|&size| size < 2)
    {
        return SimulationError::traffic(format!(
            "jobs have at least two nodes each and {nodes} together"
        ));
    }
    let mut order: Vec<NodeId> = (0..nodes).collect();
    rng.shuffle(&mut order);
    let mut job_of = vec![0; nodes as usize];
    let mut members = Vec::new();
    let mut rest = order.as_slice();
    for (job, &size) in (0..).zip(sizes) {
        let (own, others) = rest.split_at(size as usize);
        rest = others;
        for &node in own {
            job_of[node as usize] = job;
        }
        members.push(own.to_vec());
    }
    Ok((job_of, members))
}
