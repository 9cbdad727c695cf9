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
    step: u32,
    bytes: u64,
    known: Option<Known>,
}

struct Rank {
    steps: Steps,
    next: u32,
    /// Steps that began a message which nobody waited for yet: whether it is complete, and what came.
    open: HashMap<u32, (bool, Option<Known>)>,
    blocked: Option<Step>,
    done: bool,
}

/// Execute a call.
///
/// # Panics
///
/// If it does not end, a message does not match or in other bytes, a tag is used twice between two ranks or in another
/// order than receives are posted (MPI libraries use one tag), or nobody waits for a message.
pub fn run(ranks: u32, steps: impl Fn(u32) -> Steps) -> Outcome {
    let mut all: Vec<Rank> = (0..ranks)
        .map(|rank| Rank {
            steps: steps(rank),
            next: 0,
            open: HashMap::new(),
            blocked: None,
            done: false,
        })
        .collect();
    let mut calls = Calls {
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
    let mut ready: Vec<u32> = (0..ranks).rev().collect();
    while let Some(rank) = ready.pop() {
        calls.advance(&mut all, rank, &mut ready);
    }
    for (rank, state) in all.iter().enumerate() {
        assert!(
            state.done,
            "rank {rank} waits for ever: {:?}",
            state.blocked
        );
        assert!(
            state.open.is_empty(),
            "rank {rank} leaves {:?}",
            state.open.keys()
        );
    }
    assert!(
        calls.waiting.is_empty(),
        "messages without their other half"
    );
    for (pair, [sent, received]) in calls.tags {
        assert_eq!(
            sent, received,
            "tags of {pair:?} in the order of sends and receives"
        );
        let mut once = sent.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), sent.len(), "tags of {pair:?} are used once");
    }
    calls.outcome
}

struct Calls {
    /// Halves that came first: by sender, receiver, tag, and whether it is the send.
    waiting: HashMap<(u32, u32, u32, bool), Half>,
    /// Tags of sends and receives by pair.
    tags: HashMap<(u32, u32), [Vec<u32>; 2]>,
    outcome: Outcome,
}

impl Calls {
    fn advance(&mut self, all: &mut [Rank], rank: u32, ready: &mut Vec<u32>) {
        loop {
            let state = &mut all[rank as usize];
            let Some(step) = state.blocked.take().or_else(|| state.steps.next()) else {
                state.done = true;
                return;
            };
            match step {
                Step::Send { to, bytes, tag } => {
                    let (messages, sum) = &mut self.outcome.sent[rank as usize];
                    (*messages, *sum) = (*messages + 1, *sum + bytes);
                    let pair = self.outcome.pairs.entry((rank, to)).or_default();
                    *pair = (pair.0 + 1, pair.1 + bytes);
                    let known = Some(self.outcome.known[rank as usize].clone());
                    self.begin(all, (rank, to, tag), true, bytes, known, ready);
                }
                Step::Receive { from, bytes, tag } => {
                    let (messages, sum) = &mut self.outcome.received[rank as usize];
                    (*messages, *sum) = (*messages + 1, *sum + bytes);
                    self.begin(all, (from, rank, tag), false, bytes, None, ready);
                }
                Step::WaitFor { step: number } => {
                    let open = state
                        .open
                        .get(&number)
                        .expect("a begun message, waited for once");
                    if !open.0 {
                        state.blocked = Some(step);
                        return;
                    }
                    let (_, known) = state.open.remove(&number).expect("just found");
                    self.learn(rank, known);
                    state.next += 1;
                }
                Step::Wait => {
                    if state.open.values().any(|open| !open.0) {
                        state.blocked = Some(step);
                        return;
                    }
                    for (_, known) in std::mem::take(&mut state.open).into_values() {
                        self.learn(rank, known);
                    }
                    state.next += 1;
                }
                Step::Combine { bytes } => {
                    assert_ne!(bytes, 0, "nothing to combine");
                    self.outcome.combined[rank as usize] += bytes;
                    state.next += 1;
                }
            }
        }
    }

    fn learn(&mut self, rank: u32, known: Option<Known>) {
        if let Some(known) = known {
            self.outcome.known[rank as usize].add(&known);
        }
    }

    fn begin(
        &mut self,
        all: &mut [Rank],
        (from, to, tag): (u32, u32, u32),
        is_send: bool,
        bytes: u64,
        known: Option<Known>,
        ready: &mut Vec<u32>,
    ) {
        assert!(from != to, "a message of {from} to itself");
        let (own, other) = if is_send { (from, to) } else { (to, from) };
        self.tags.entry((from, to)).or_default()[usize::from(!is_send)].push(tag);
        let step = all[own as usize].next;
        all[own as usize].next += 1;
        let Some(half) = self.waiting.remove(&(from, to, tag, !is_send)) else {
            all[own as usize].open.insert(step, (false, None));
            let half = Half { step, bytes, known };
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
        all[own as usize].open.insert(step, (true, for_own));
        all[other as usize]
            .open
            .insert(half.step, (true, for_other));
        ready.push(other);
    }
}
