//! All ranks of a call, without time: a send is complete when its receive is posted, as the largest messages' are.

use replay::step::{Step, Steps};
use std::collections::HashMap;

/// What a call did.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Messages and bytes that each rank sent.
    pub sent: Vec<(u64, u64)>,
    /// Messages and bytes that each rank received.
    pub received: Vec<(u64, u64)>,
    /// Bytes that each rank combined.
    pub combined: Vec<u64>,
    /// Messages and bytes by pair.
    pub pairs: HashMap<(u32, u32), (u64, u64)>,
    /// From whom a rank can have data at the end: itself, and whoever the senders of what it waited for knew when they
    /// sent.
    pub known: Vec<Known>,
}

impl Outcome {
    pub fn messages(&self) -> u64 {
        self.sent.iter().map(|sent| sent.0).sum()
    }

    pub fn bytes(&self) -> u64 {
        self.sent.iter().map(|sent| sent.1).sum()
    }

    pub fn combined(&self) -> u64 {
        self.combined.iter().sum()
    }
}

/// A set of ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known(Vec<u64>);

impl Known {
    fn only(rank: u32, ranks: u32) -> Self {
        let mut bits = vec![0; ranks.div_ceil(64) as usize];
        bits[rank as usize / 64] |= 1 << (rank % 64);
        Self(bits)
    }

    fn add(&mut self, other: &Self) {
        for (bits, more) in self.0.iter_mut().zip(&other.0) {
            *bits |= more;
        }
    }

    pub fn has(&self, rank: u32) -> bool {
        self.0[rank as usize / 64] >> (rank % 64) & 1 == 1
    }
}

/// One half of a message.
struct Half {
    strand: usize,
    step: u32,
    bytes: u64,
    known: Option<Known>,
}

/// The steps of a rank, or of a part that it began.
struct Strand {
    rank: u32,
    /// The strand that began it, and in which step.
    begun: Option<(usize, u32)>,
    steps: Steps,
    next: u32,
    /// Steps that began something which nobody waited for yet: whether it is complete, and what came.
    open: HashMap<u32, (bool, Option<Known>)>,
    blocked: Option<Step>,
    done: bool,
}

impl Strand {
    fn new(rank: u32, steps: Steps, begun: Option<(usize, u32)>) -> Self {
        Self {
            rank,
            begun,
            steps,
            next: 0,
            open: HashMap::new(),
            blocked: None,
            done: false,
        }
    }
}

/// Execute a call.
///
/// # Panics
///
/// If it does not end, a message does not match or in other bytes, a tag is used twice between two ranks or, between two
/// strands, in another order than receives are posted (MPI libraries use one tag), or nobody waits for a message or a part.
pub fn run(ranks: u32, steps: impl Fn(u32) -> Steps) -> Outcome {
    let mut calls = Calls {
        strands: (0..ranks)
            .map(|rank| Strand::new(rank, steps(rank), None))
            .collect(),
        ready: (0..ranks as usize).rev().collect(),
        waiting: HashMap::new(),
        tags: HashMap::new(),
        outcome: Outcome {
            sent: vec![(0, 0); ranks as usize],
            received: vec![(0, 0); ranks as usize],
            combined: vec![0; ranks as usize],
            pairs: HashMap::new(),
            known: (0..ranks).map(|rank| Known::only(rank, ranks)).collect(),
        },
    };
    while let Some(strand) = calls.ready.pop() {
        calls.advance(strand);
    }
    for strand in &calls.strands {
        let rank = strand.rank;
        assert!(
            strand.done,
            "rank {rank} waits for ever: {:?}",
            strand.blocked
        );
        assert!(
            strand.open.is_empty(),
            "rank {rank} leaves {:?}",
            strand.open.keys()
        );
    }
    assert!(
        calls.waiting.is_empty(),
        "messages without their other half"
    );
    for (pair, sides) in &calls.tags {
        assert_in_order(*pair, sides);
    }
    calls.outcome
}

/// Tags, each with the strand that began the message.
type Tags = Vec<(u32, usize)>;

/// Between two ranks every tag is used once, and between two of their strands in one order. Sides are what is sent and
/// received, each the tags and strands in order.
fn assert_in_order(pair: (u32, u32), [sent, received]: &[Tags; 2]) {
    let places: HashMap<u32, (usize, usize)> = received
        .iter()
        .enumerate()
        .map(|(place, &(tag, strand))| (tag, (strand, place)))
        .collect();
    assert_eq!(
        (places.len(), received.len()),
        (sent.len(), sent.len()),
        "tags of {pair:?} are used once"
    );
    let mut last: HashMap<(usize, usize), usize> = HashMap::new();
    for &(tag, from) in sent {
        let (to, place) = places[&tag];
        let before = last.insert((from, to), place);
        assert!(
            before.is_none_or(|before| before < place),
            "tags of {pair:?} in the order of sends and receives: {sent:?}, {received:?}"
        );
    }
}

struct Calls {
    strands: Vec<Strand>,
    /// Strands that may go on.
    ready: Vec<usize>,
    /// Halves that came first: by sender, receiver, tag, and whether it is the send.
    waiting: HashMap<(u32, u32, u32, bool), Half>,
    /// Tags of sends and receives by pair, with the strands that began them.
    tags: HashMap<(u32, u32), [Tags; 2]>,
    outcome: Outcome,
}

impl Calls {
    fn advance(&mut self, own: usize) {
        while let Some(step) = self.next(own) {
            if !self.take(own, step) {
                self.strands[own].blocked = Some(step);
                return;
            }
        }
    }

    /// The next step; none at the end, of which the strand that began this one hears.
    fn next(&mut self, own: usize) -> Option<Step> {
        let strand = &mut self.strands[own];
        if strand.done {
            return None;
        }
        let step = strand.blocked.take().or_else(|| strand.steps.next());
        strand.done = step.is_none();
        if let (true, Some((other, step))) = (strand.done, strand.begun) {
            self.strands[other].open.insert(step, (true, None));
            self.ready.push(other);
        }
        step
    }

    /// Whether a step is taken, and not one that waits.
    fn take(&mut self, own: usize, step: Step) -> bool {
        let strand = &mut self.strands[own];
        let rank = strand.rank;
        match step {
            Step::Send { to, bytes, tag } => {
                let (messages, sum) = &mut self.outcome.sent[rank as usize];
                (*messages, *sum) = (*messages + 1, *sum + bytes);
                let pair = self.outcome.pairs.entry((rank, to)).or_default();
                *pair = (pair.0 + 1, pair.1 + bytes);
                let known = Some(self.outcome.known[rank as usize].clone());
                self.begin(own, (rank, to, tag, true), bytes, known);
            }
            Step::Receive { from, bytes, tag } => {
                let (messages, sum) = &mut self.outcome.received[rank as usize];
                (*messages, *sum) = (*messages + 1, *sum + bytes);
                self.begin(own, (from, rank, tag, false), bytes, None);
            }
            Step::Begin => {
                let part = Strand::new(rank, strand.steps.part(), Some((own, strand.next)));
                strand.open.insert(strand.next, (false, None));
                strand.next += 1;
                self.ready.push(self.strands.len());
                self.strands.push(part);
            }
            Step::WaitFor { step } => {
                let open = strand
                    .open
                    .get(&step)
                    .expect("a begun message, waited for once");
                if !open.0 {
                    return false;
                }
                let (_, known) = strand.open.remove(&step).expect("just found");
                strand.next += 1;
                self.learn(rank, known);
            }
            Step::Wait => {
                if strand.open.values().any(|open| !open.0) {
                    return false;
                }
                strand.next += 1;
                for (_, known) in std::mem::take(&mut strand.open).into_values() {
                    self.learn(rank, known);
                }
            }
            Step::Combine { bytes } => {
                assert_ne!(bytes, 0, "nothing to combine");
                strand.next += 1;
                self.outcome.combined[rank as usize] += bytes;
            }
        }
        true
    }

    fn learn(&mut self, rank: u32, known: Option<Known>) {
        if let Some(known) = known {
            self.outcome.known[rank as usize].add(&known);
        }
    }

    /// A half of a message: its sender, receiver, tag, and whether it is the send.
    fn begin(
        &mut self,
        own: usize,
        (from, to, tag, is_send): (u32, u32, u32, bool),
        bytes: u64,
        known: Option<Known>,
    ) {
        assert!(from != to, "a message of {from} to itself");
        let side = usize::from(!is_send);
        self.tags.entry((from, to)).or_default()[side].push((tag, own));
        let step = self.strands[own].next;
        self.strands[own].next += 1;
        let Some(half) = self.waiting.remove(&(from, to, tag, !is_send)) else {
            self.strands[own].open.insert(step, (false, None));
            let half = Half {
                strand: own,
                step,
                bytes,
                known,
            };
            let before = self.waiting.insert((from, to, tag, is_send), half);
            assert!(
                before.is_none(),
                "two messages of {from} to {to} with tag {tag}"
            );
            return;
        };
        assert_eq!(half.bytes, bytes, "bytes of {from} to {to} with tag {tag}");
        let (for_own, for_other) = if is_send {
            (None, known)
        } else {
            (half.known, None)
        };
        self.strands[own].open.insert(step, (true, for_own));
        let other = &mut self.strands[half.strand];
        other.open.insert(half.step, (true, for_other));
        self.ready.push(half.strand);
    }
}
