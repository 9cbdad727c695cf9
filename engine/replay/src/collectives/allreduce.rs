//! Allreduce (coll_base_allreduce.c of Open MPI 4.1.4).

use super::action::{Action, Actions, Message, exchange, list, then};
use super::blocks::{Blocks, segment_elements};
use super::halving::{Halving, LATER, halving};
use super::ranks::{Folded, after, below, distances};
use super::{Algorithm, Call, Kind, bcast, reduce};

pub(super) fn actions(call: &Call) -> Option<Actions> {
    let vector = call.collective;
    let (ranks, rank, bytes) = (vector.ranks, call.rank, vector.bytes);
    Some(match call.algorithm {
        Algorithm::Linear => linear(ranks, rank, bytes),
        Algorithm::NonOverlapping => then(
            call.nested(Kind::Reduce, 0, bytes),
            call.nested(Kind::Bcast, 0, bytes),
        ),
        Algorithm::Ring if vector.elements() >= u64::from(ranks) => ring(call, 1),
        Algorithm::SegmentedRing { segment } if vector.elements() >= u64::from(ranks) => {
            ring(call, phases(call, segment))
        }
        Algorithm::RecursiveDoubling | Algorithm::Ring | Algorithm::SegmentedRing { .. } => {
            doubling(ranks, rank, bytes)
        }
        Algorithm::Rabenseifner => match halving(call) {
            Some(halved) => doubled_back(call, halved),
            None => linear(ranks, rank, bytes),
        },
        _ => return None,
    })
}

fn linear(ranks: u32, rank: u32, bytes: u64) -> Actions {
    then(
        reduce::linear(ranks, 0, rank, bytes),
        bcast::linear(ranks, 0, rank, bytes),
    )
}

/// The first ranks fold pairwise, even onto odd; then log2 exchanges of everything, and back.
fn doubling(ranks: u32, rank: u32, bytes: u64) -> Actions {
    let folded = Folded::new(ranks, 1);
    let number = folded.number(rank);
    let message = move |peer, tag| Message::new(peer, bytes, tag);
    let Some(number) = number else {
        return list(vec![
            Action::Send(message(rank + 1, 0)),
            Action::Receive(message(rank + 1, 1)),
        ]);
    };
    let partner = folded.partner(rank);
    let begin =
        partner.map(|partner| [Action::Receive(message(partner, 0)), Action::Combine(bytes)]);
    let rounds = distances(folded.left).flat_map(move |(round, distance)| {
        let other = folded.rank(number ^ distance);
        exchange(message(other, round), message(other, round))
            .into_iter()
            .chain([Action::Combine(bytes)])
    });
    let end = partner.map(|partner| Action::Send(message(partner, 1)));
    Box::new(begin.into_iter().flatten().chain(rounds).chain(end))
}

/// Passes over the cut blocks of a segmented ring (`ompi_coll_base_allreduce_intra_ring_segmented`).
fn phases(call: &Call, segment: u64) -> u32 {
    let vector = call.collective;
    let elements = vector.elements();
    let round =
        u64::from(vector.ranks) * segment_elements(vector.bytes, vector.element_bytes(), segment);
    let rest = elements % round;
    let one_more = rest >= u64::from(vector.ranks) && rest > round / 2;
    (elements / round + u64::from(one_more)).max(1) as u32
}

/// A reduce-scatter round the ring, phase by phase; then an allgather round the ring, in whole blocks.
fn ring(call: &Call, phases: u32) -> Actions {
    let vector = call.collective;
    let (ranks, rank, element) = (vector.ranks, call.rank, vector.element_bytes());
    let blocks = Blocks::Even {
        elements: vector.elements(),
        element,
        ranks,
    };
    let (next, before) = (after(rank, 1, ranks), below(rank, 1, ranks));
    let cut = {
        let blocks = blocks.clone();
        move |block: u32, phase: u32| {
            let parts = Blocks::Even {
                elements: blocks.of(block) / element,
                element,
                ranks: phases,
            };
            parts.of(phase)
        }
    };
    let reduced = (0..phases).flat_map(move |phase| {
        let cut = cut.clone();
        reduce_round(ranks, rank, phase * ranks, move |block| cut(block, phase))
    });
    let gathered = (0..ranks - 1).flat_map(move |step| {
        let tag = phases * ranks + step;
        let sent = blocks.of(below(next, step, ranks));
        let received = blocks.of(below(rank, step, ranks));
        exchange(
            Message::new(next, sent, tag),
            Message::new(before, received, tag),
        )
    });
    Box::new(reduced.chain(gathered))
}

/// P − 1 steps round the ring, after which a rank has combined the block of the rank after it. While a block is combined,
/// the next is on its way.
pub(super) fn reduce_round(
    ranks: u32,
    rank: u32,
    tag: u32,
    block: impl Fn(u32) -> u64 + Send + 'static,
) -> impl Iterator<Item = Action> + Send {
    let (next, before) = (after(rank, 1, ranks), below(rank, 1, ranks));
    (0..ranks).flat_map(move |step| {
        let last = step + 1 == ranks;
        let coming = Message::new(before, block(below(before, step, ranks)), tag + step);
        let receive = (!last).then_some(Action::StartReceive(coming, step as usize % 2));
        // The block that came in the step before, or the rank's own; it goes on.
        let bytes = block(below(rank, step, ranks));
        let combine = step
            .checked_sub(1)
            .map(|before| [Action::Wait(before as usize % 2), Action::Combine(bytes)]);
        let send = (!last).then_some(Action::Send(Message::new(next, bytes, tag + step)));
        receive
            .into_iter()
            .chain(combine.into_iter().flatten())
            .chain(send)
    })
}

/// After the reduce-scatter, the same exchanges backwards, with the sums; then back to the ranks that folded.
fn doubled_back(call: &Call, halved: Halving) -> Actions {
    let Halving {
        folded,
        steps,
        mut actions,
    } = halved;
    let rank = call.rank;
    if let Some(number) = folded.number(rank) {
        for (round, &(sent, received)) in steps.iter().enumerate().rev() {
            let partner = folded.rank(number ^ (1 << round));
            let tag = LATER + round as u32;
            actions.extend(exchange(
                Message::new(partner, received, tag),
                Message::new(partner, sent, tag),
            ));
        }
    }
    if let Some(partner) = folded.partner(rank) {
        let all = Message::new(partner, call.collective.bytes, 2 * LATER);
        actions.push(if rank % 2 == 0 {
            Action::Send(all)
        } else {
            Action::Receive(all)
        });
    }
    list(actions)
}
