//! Bcast (coll_base_bcast.c of Open MPI 4.1.4).

use super::action::{Action, Actions, Message, exchange, list};
use super::blocks::Segments;
use super::ranks::{after, below, distances};
use super::tree::{Shape, Tree};
use super::{Algorithm, Call};

pub(super) fn actions(call: &Call) -> Option<Actions> {
    let vector = call.collective;
    let (ranks, root, rank) = (vector.ranks, vector.root, call.rank);
    let along = |shape, segment| {
        let segments = Segments::new(vector.bytes, vector.element_bytes(), segment);
        down(Tree::new(shape, ranks, root, rank), segments)
    };
    Some(match call.algorithm {
        Algorithm::Linear => linear(ranks, root, rank, vector.bytes),
        Algorithm::Tree(shape, segment) => along(shape, segment),
        Algorithm::SplitBinary { segment } => {
            Halves::new(call, segment).map_or_else(|| along(Shape::Chain, segment), Halves::actions)
        }
        Algorithm::ScatterAllgather if vector.elements() < u64::from(ranks) => {
            linear(ranks, root, rank, vector.bytes)
        }
        Algorithm::ScatterAllgather => scatter_allgather(call),
        _ => return None,
    })
}

/// The root begins a send to each rank, and waits for all.
pub(super) fn linear(ranks: u32, root: u32, rank: u32, bytes: u64) -> Actions {
    if rank != root {
        return list(vec![Action::Receive(Message::new(root, bytes, 0))]);
    }
    let sends = (0..ranks)
        .filter(move |&other| other != root)
        .map(move |other| Action::StartSend(Message::new(other, bytes, 0), 0));
    Box::new(sends.chain([Action::WaitAll]))
}

/// `ompi_coll_base_bcast_intra_generic`: the next segment's receive is posted before this one is waited for and passed on.
pub(super) fn down(tree: Tree, segments: Segments) -> Actions {
    // Requests: two receives in turn, then a send for each child.
    let receive = move |segment: u32| {
        let parent = tree.parent.filter(|_| segment < segments.count)?;
        let message = Message::new(parent, segments.of(segment), segment);
        Some(Action::StartReceive(message, segment as usize % 2))
    };
    let children = tree.children;
    let pass = move |segment: u32| {
        let received = tree.parent.map(|_| Action::Wait(segment as usize % 2));
        let sends = children.iter().enumerate().map(|(i, &child)| {
            let message = Message::new(child, segments.of(segment), segment);
            Action::StartSend(message, 2 + i)
        });
        let waits = (0..children.len()).map(|i| Action::Wait(2 + i));
        let all: Vec<Action> = receive(segment + 1)
            .into_iter()
            .chain(received)
            .chain(sends)
            .chain(waits)
            .collect();
        all
    };
    Box::new(
        receive(0)
            .into_iter()
            .chain((0..segments.count).flat_map(pass)),
    )
}

/// `ompi_coll_base_bcast_intra_split_bintree`: which half a rank receives from its parent, and with whom it exchanges.
struct Halves {
    ranks: u32,
    root: u32,
    rank: u32,
    tree: Tree,
    segments: [Segments; 2],
    bytes: [u64; 2],
}

impl Halves {
    /// `None` if a half is less than a segment.
    fn new(call: &Call, segment: u64) -> Option<Self> {
        let vector = call.collective;
        let element = vector.element_bytes();
        let first = vector.elements().div_ceil(2) * element;
        let bytes = [first, vector.bytes - first];
        if bytes.iter().any(|&half| half == 0 || segment > half) {
            return None;
        }
        // Other than elsewhere, a rest of an element does not count.
        let whole = if segment == 0 {
            0
        } else {
            segment.max(element) / element * element
        };
        Some(Self {
            ranks: vector.ranks,
            root: vector.root,
            rank: call.rank,
            tree: Tree::new(Shape::Binary, vector.ranks, vector.root, call.rank),
            segments: bytes.map(|half| Segments::new(half, element, whole)),
            bytes,
        })
    }

    fn actions(self) -> Actions {
        let pairs = self.exchange_of_halves();
        let first = if self.rank == self.root {
            self.sends_of_root()
        } else {
            self.down_the_tree()
        };
        Box::new(first.chain(pairs))
    }

    /// Segment by segment, a send to each child.
    fn sends_of_root(self) -> Actions {
        let children = self.tree.children;
        Box::new((0..self.segments[0].count).flat_map(move |segment| {
            let halves = children.iter().zip(self.segments);
            let sends: Vec<Action> = halves
                .filter(|(_, half)| segment < half.count)
                .map(|(&child, half)| Action::Send(Message::new(child, half.of(segment), segment)))
                .collect();
            sends
        }))
    }

    fn down_the_tree(self) -> Actions {
        let half = self.segments[self.side()];
        let parent = self.tree.parent.expect("only the root has none");
        let receive = move |segment: u32| Message::new(parent, half.of(segment), segment);
        let children = self.tree.children;
        if children.is_empty() {
            return Box::new((0..half.count).map(move |segment| Action::Receive(receive(segment))));
        }
        let start = move |segment: u32| {
            (segment < half.count)
                .then(|| Action::StartReceive(receive(segment), segment as usize % 2))
        };
        Box::new(
            start(0)
                .into_iter()
                .chain((0..half.count).flat_map(move |segment| {
                    let sends = children
                        .iter()
                        .map(|&child| Action::Send(Message::new(child, half.of(segment), segment)));
                    let all: Vec<Action> = start(segment + 1)
                        .into_iter()
                        .chain([Action::Wait(segment as usize % 2)])
                        .chain(sends)
                        .collect();
                    all
                })),
        )
    }

    /// Which half comes down the tree: left of the root are the ranks at odd distances from it, right those at even ones.
    fn side(&self) -> usize {
        (below(self.rank, self.root, self.ranks) as usize + 1) % 2
    }

    fn exchange_of_halves(&self) -> Actions {
        let tag = self.segments[0].count.max(self.segments[1].count);
        let last = below(self.root, 1, self.ranks);
        let second = |peer| Message::new(peer, self.bytes[1], tag);
        let even = self.ranks % 2 == 0;
        if self.rank == self.root {
            list(
                even.then(|| Action::Send(second(last)))
                    .into_iter()
                    .collect(),
            )
        } else if even && self.rank == last {
            list(vec![Action::Receive(second(self.root))])
        } else {
            let side = self.side();
            let pair = if side == 0 {
                after(self.rank, 1, self.ranks)
            } else {
                below(self.rank, 1, self.ranks)
            };
            let sent = Message::new(pair, self.bytes[side], tag);
            let received = Message::new(pair, self.bytes[1 - side], tag);
            list(exchange(sent, received).into())
        }
    }
}

/// `ompi_coll_base_bcast_intra_scatter_allgather`.
fn scatter_allgather(call: &Call) -> Actions {
    let vector = call.collective;
    let elements = vector.elements();
    let blocks = RootedBlocks {
        ranks: vector.ranks,
        root: vector.root,
        elements,
        element_bytes: vector.element_bytes(),
        block: elements.div_ceil(u64::from(vector.ranks)),
    };
    let relative = below(call.rank, vector.root, vector.ranks);
    let mut actions = blocks.scatter(relative);
    actions.extend(blocks.allgather(relative));
    list(actions)
}

/// A vector in blocks of as many elements, from the root's on; the last ranks may have less, or nothing.
struct RootedBlocks {
    ranks: u32,
    root: u32,
    elements: u64,
    element_bytes: u64,
    block: u64,
}

impl RootedBlocks {
    /// Elements of so many ranks, from one on: ranks count from the root here.
    fn share(&self, first: u32, width: u32) -> u64 {
        let before = u64::from(first) * self.block;
        let rest = self.elements.saturating_sub(before);
        rest.min(u64::from(width) * self.block)
    }

    fn message(&self, relative: u32, elements: u64, tag: u32) -> Message {
        let peer = after(self.root, relative, self.ranks);
        Message::new(peer, elements * self.element_bytes, tag)
    }

    /// Down a binomial tree; ranks that have nothing are left out.
    fn scatter(&self, relative: u32) -> Vec<Action> {
        let mut reach = 1;
        while reach < self.ranks && relative & reach == 0 {
            reach *= 2;
        }
        let mut actions = Vec::new();
        let mut mine = self.share(relative, reach);
        if relative != 0 && mine > 0 {
            actions.push(Action::Receive(self.message(relative - reach, mine, 0)));
        }
        while reach > 1 {
            reach /= 2;
            let kept = u64::from(reach) * self.block;
            let child = relative + reach;
            if child < self.ranks && mine > kept {
                actions.push(Action::Send(self.message(child, mine - kept, 0)));
                mine = kept;
            }
        }
        actions
    }

    /// By recursive doubling.
    fn allgather(&self, relative: u32) -> Vec<Action> {
        let ranks = self.ranks;
        let mut actions = Vec::new();
        let mut mine = self.share(relative, 1);
        for (round, distance) in distances(ranks) {
            let tag = 1 + 64 * round;
            let (my_group, partner) = (relative & !(distance - 1), relative ^ distance);
            let their_group = partner & !(distance - 1);
            let theirs = self.share(their_group, distance);
            if partner < ranks {
                actions.extend(exchange(
                    self.message(partner, mine, tag),
                    self.message(partner, theirs, tag),
                ));
                mine += theirs;
            }
            // Ranks without a partner hear from those of their own group that have one.
            if their_group + distance > ranks {
                let full = ranks.saturating_sub(my_group + distance);
                for (step, half) in distances(distance).rev() {
                    let other = relative ^ half;
                    let split = (relative & !(2 * half - 1)) + full;
                    let message = self.message(other, theirs, tag + 1 + step);
                    if other > relative && relative < split && other >= split {
                        actions.push(Action::Send(message));
                    } else if other < relative && other < split && relative >= split {
                        actions.push(Action::Receive(message));
                        mine += theirs;
                    }
                }
            }
        }
        actions
    }
}
