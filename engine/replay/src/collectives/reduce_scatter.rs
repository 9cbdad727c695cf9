//! Reduce_scatter and reduce_scatter_block (coll_base_reduce_scatter.c, coll_base_reduce_scatter_block.c of Open MPI
//! 4.1.4): the same but for the sizes, and for what only one of them has.

use super::action::{Action, Actions, Message, exchange, list, then};
use super::allreduce::reduce_round;
use super::blocks::Blocks;
use super::ranks::{Folded, below, distances};
use super::{Algorithm, Call, Kind};

pub(super) fn actions(call: &Call) -> Option<Actions> {
    let (ranks, rank) = (call.collective.ranks, call.rank);
    let blocks = call.collective.blocks();
    let block = call.collective.kind == Kind::ReduceScatterBlock;
    Some(match call.algorithm {
        Algorithm::NonOverlapping | Algorithm::Linear => then(
            call.nested(Kind::Reduce, 0, blocks.total()),
            scattered(call, &blocks),
        ),
        Algorithm::RecursiveHalving => halving(rank, &blocks),
        Algorithm::Butterfly => butterfly(rank, &blocks),
        Algorithm::Ring => Box::new(reduce_round(ranks, rank, 0, move |block| {
            blocks.of(below(block, 1, ranks))
        })),
        Algorithm::RecursiveDoubling if block => doubling(rank, &blocks),
        _ => return None,
    })
}

/// From rank 0, which has the sum.
fn scattered(call: &Call, blocks: &Blocks) -> Actions {
    let (kind, sizes) = match call.collective.kind {
        Kind::ReduceScatterBlock => (Kind::Scatter, None),
        _ => {
            let sizes = (0..call.collective.ranks).map(|rank| blocks.of(rank));
            (Kind::Scatterv, (call.rank == 0).then(|| sizes.collect()))
        }
    };
    call.nested_call(&super::Collective {
        sizes,
        ..call.collective.part(kind, 0, blocks.of(call.rank))
    })
}

/// The blocks of consecutive numbers after folding.
fn folded_sum(blocks: &Blocks, folded: Folded, first: u32, count: u32) -> u64 {
    let from = folded.first(first);
    let to = if first + count == folded.left {
        blocks.ranks()
    } else {
        folded.first(first + count)
    };
    blocks.sum(from, to - from)
}

/// The first of a pair gives its vector away.
fn fold(rank: u32, folded: Folded, total: u64) -> Vec<Action> {
    match (folded.partner(rank), folded.number(rank)) {
        (Some(partner), None) => vec![Action::Send(Message::new(partner, total, 0))],
        (Some(partner), Some(_)) => vec![
            Action::Receive(Message::new(partner, total, 0)),
            Action::Combine(total),
        ],
        (None, _) => Vec::new(),
    }
}

fn some(message: Message) -> Option<Message> {
    (message.bytes > 0).then_some(message)
}

/// Halves of the numbers, then of these halves; empty messages are left out.
fn halving(rank: u32, blocks: &Blocks) -> Actions {
    let folded = Folded::new(blocks.ranks(), 1);
    let mut actions = fold(rank, folded, blocks.total());
    if let Some(number) = folded.number(rank) {
        for (round, distance) in distances(folded.left).rev() {
            let partner = number ^ distance;
            let peer = folded.rank(partner);
            let half = |of: u32| {
                let bytes = folded_sum(blocks, folded, of & !(distance - 1), distance);
                some(Message::new(peer, bytes, 1 + round))
            };
            let (sent, received) = (half(partner), half(number));
            actions.extend(received.map(|message| Action::StartReceive(message, 0)));
            actions.extend(sent.map(Action::Send));
            if let Some(message) = received {
                actions.extend([Action::Wait(0), Action::Combine(message.bytes)]);
            }
        }
    }
    if let Some(partner) = folded.partner(rank) {
        // The block of the rank that was folded away.
        actions.extend(
            some(Message::new(partner, blocks.of(rank & !1), 64)).map(|block| {
                if folded.number(rank).is_some() {
                    Action::Send(block)
                } else {
                    Action::Receive(block)
                }
            }),
        );
    }
    list(actions)
}

/// Halves with the nearest rank first, so that blocks end at mirrored ranks. A power of two of equal blocks is sorted
/// before, and needs no last exchange.
fn butterfly(rank: u32, blocks: &Blocks) -> Actions {
    let ranks = blocks.ranks();
    let folded = Folded::new(ranks, 1);
    let bits = folded.left.ilog2();
    let sorted = matches!(blocks, Blocks::Equal { .. }) && folded.surplus == 0;
    let mirrored = |number: u32| number.reverse_bits().checked_shr(32 - bits).unwrap_or(0);
    let mut actions = fold(rank, folded, blocks.total());
    let Some(number) = folded.number(rank) else {
        let keeper = folded.rank(mirrored(rank.div_ceil(2)));
        actions.push(Action::Receive(Message::new(keeper, blocks.of(rank), 63)));
        return list(actions);
    };
    let (mut first, mut count) = (0, folded.left);
    for (round, distance) in distances(folded.left) {
        count /= 2;
        let peer = folded.rank(number ^ distance);
        let (low, high) = (
            folded_sum(blocks, folded, first, count),
            folded_sum(blocks, folded, first + count, count),
        );
        let upper = number & distance != 0;
        let (sent, received) = if upper { (low, high) } else { (high, low) };
        actions.extend(exchange(
            Message::new(peer, sent, 1 + round),
            Message::new(peer, received, 1 + round),
        ));
        actions.push(Action::Combine(received));
        first += if upper { count } else { 0 };
    }
    if sorted {
        return list(actions);
    }
    // Now the rank has the block of the mirrored number, and perhaps that of the rank that was folded onto it.
    let owner = mirrored(number);
    let peer = folded.rank(owner);
    if owner < folded.surplus {
        actions.push(Action::Send(Message::new(
            peer - 1,
            blocks.of(peer - 1),
            63,
        )));
    }
    if owner != number {
        actions.extend(exchange(
            Message::new(peer, blocks.of(peer), 62),
            Message::new(peer, blocks.of(rank), 62),
        ));
    }
    list(actions)
}

/// `ompi_coll_base_reduce_scatter_block_intra_recursivedoubling`: in each step the blocks that the partner's group does
/// not have yet.
fn doubling(rank: u32, blocks: &Blocks) -> Actions {
    let ranks = blocks.ranks();
    let mut actions = Vec::new();
    for (round, distance) in distances(ranks) {
        let group = |rank: u32| rank & !(distance - 1);
        let (mine, partner) = (group(rank), rank ^ distance);
        let theirs = group(partner);
        // All blocks but those of a group.
        let without = |group: u32| {
            let width = distance.min(ranks.saturating_sub(group));
            u64::from(ranks - width) * blocks.of(0)
        };
        let tag = 64 * round;
        let mut came = false;
        if partner < ranks {
            let sent = Message::new(partner, without(mine), tag);
            actions.extend(exchange(sent, Message::new(partner, without(theirs), tag)));
            came = true;
        }
        if theirs + distance > ranks {
            // Ranks without a partner hear from those of their own group that have one.
            let full = ranks.saturating_sub(mine + distance);
            for (step, half) in distances(distance).rev() {
                let other = rank ^ half;
                let split = (rank & !(2 * half - 1)) + full;
                let message = Message::new(other, without(theirs), tag + 1 + step);
                if other > rank && rank < split && other >= split {
                    actions.push(Action::Send(message));
                } else if other < rank && other < split && rank >= split {
                    actions.push(Action::Receive(message));
                    came = true;
                }
            }
        }
        if came {
            actions.push(Action::Combine(without(theirs)));
        }
    }
    list(actions)
}
