//! Reduce (coll_base_reduce.c of Open MPI 4.1.4).

use super::action::{Action, Actions, Message, list};
use super::blocks::Segments;
use super::halving::{Halving, LATER, halving};
use super::tree::Tree;
use super::{Algorithm, Call};

pub(super) fn actions(call: &Call) -> Option<Actions> {
    let vector = call.collective;
    let (ranks, root, rank, bytes) = (vector.ranks, vector.root, call.rank, vector.bytes);
    Some(match call.algorithm {
        Algorithm::Linear => linear(ranks, root, rank, bytes),
        Algorithm::Tree(shape, segment) => {
            let segments = Segments::new(bytes, vector.element_bytes(), segment);
            up(Tree::new(shape, ranks, root, rank), segments)
        }
        Algorithm::InOrderBinary => in_order_binary(ranks, root, rank, bytes),
        Algorithm::Rabenseifner => match halving(call) {
            Some(halved) => gathered(call, halved),
            None => linear(ranks, root, rank, bytes),
        },
        _ => return None,
    })
}

/// The root receives from the last rank first, and combines its own vector where its turn is.
pub(super) fn linear(ranks: u32, root: u32, rank: u32, bytes: u64) -> Actions {
    if rank != root {
        return list(vec![Action::Send(Message::new(root, bytes, 0))]);
    }
    Box::new((0..ranks).rev().flat_map(move |other| {
        let receive = (other != root).then(|| Action::Receive(Message::new(other, bytes, 0)));
        let combine = (other != ranks - 1).then_some(Action::Combine(bytes));
        receive.into_iter().chain(combine)
    }))
}

/// `ompi_coll_base_reduce_generic`: while a child's segment is combined, the next child's is on its way.
pub(super) fn up(tree: Tree, segments: Segments) -> Actions {
    let to_parent = move |segment: u32| {
        let parent = tree.parent?;
        Some(Action::Send(Message::new(
            parent,
            segments.of(segment),
            segment,
        )))
    };
    let children = tree.children;
    if children.is_empty() {
        return Box::new((0..segments.count).filter_map(to_parent));
    }
    let width = children.len() as u32;
    let turns = segments.count * width;
    Box::new((0..=turns).flat_map(move |turn| {
        let receive = (turn < turns).then(|| {
            let segment = turn / width;
            let child = children[(turn % width) as usize];
            let message = Message::new(child, segments.of(segment), segment);
            Action::StartReceive(message, turn as usize % 2)
        });
        let combine = turn.checked_sub(1).map(|before| {
            [
                Action::Wait(before as usize % 2),
                Action::Combine(segments.of(before / width)),
            ]
        });
        let complete = turn > 0 && turn % width == 0;
        let send = complete.then(|| to_parent(turn / width - 1)).flatten();
        receive
            .into_iter()
            .chain(combine.into_iter().flatten())
            .chain(send)
    }))
}

fn in_order_binary(ranks: u32, root: u32, rank: u32, bytes: u64) -> Actions {
    let last = ranks - 1;
    let reduced = up(
        Tree::in_order_binary(ranks, rank),
        Segments::new(bytes, 1, 0),
    );
    let moved = if root == last {
        None
    } else if rank == root {
        Some(Action::Receive(Message::new(last, bytes, 0)))
    } else {
        (rank == last).then(|| Action::Send(Message::new(root, bytes, 0)))
    };
    Box::new(reduced.chain(moved))
}

/// After the reduce-scatter, the parts go up a binomial tree to the root.
fn gathered(call: &Call, halved: Halving) -> Actions {
    let Halving {
        folded,
        mut steps,
        mut actions,
    } = halved;
    let (root, rank) = (call.collective.root, call.rank);
    // A root that was folded away takes the place of rank 0.
    let replaced = folded.number(root).is_none();
    let root_number = folded.number(root).unwrap_or(0);
    let mut number = folded.number(rank);
    let rounds = folded.left.ilog2();
    if replaced && rank == root {
        steps = first_rank(
            call.collective.elements(),
            call.collective.element_bytes(),
            rounds,
        );
        let part = steps[rounds as usize - 1].1;
        actions.push(Action::Receive(Message::new(0, part, LATER)));
        number = Some(0);
    } else if replaced && rank == 0 {
        let part = steps[rounds as usize - 1].1;
        actions.push(Action::Send(Message::new(root, part, LATER)));
        number = None;
    }
    if let Some(number) = number {
        for round in (0..rounds).rev() {
            let partner = number ^ (1 << round);
            let peer = if partner == 0 && replaced {
                root
            } else {
                folded.rank(partner)
            };
            let (theirs, mine) = steps[round as usize];
            let tag = LATER + 1 + round;
            if partner >> round == root_number >> round {
                actions.push(Action::Send(Message::new(peer, mine, tag)));
                break;
            }
            actions.push(Action::Receive(Message::new(peer, theirs, tag)));
        }
    }
    list(actions)
}

/// Bytes sent and received by the rank that always keeps the first half.
fn first_rank(elements: u64, element: u64, rounds: u32) -> Vec<(u64, u64)> {
    let windows = std::iter::successors(Some(elements), |window| Some(window / 2));
    windows
        .take(rounds as usize)
        .map(|window| ((window - window / 2) * element, window / 2 * element))
        .collect()
}
