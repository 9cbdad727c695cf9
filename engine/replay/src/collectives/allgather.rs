//! Allgather and allgatherv (coll_base_allgather.c, coll_base_allgatherv.c of Open MPI 4.1.4): the same but for the sizes.

use super::action::{Action, Actions, Message, exchange, list, then};
use super::blocks::Blocks;
use super::ranks::{after, below, distances};
use super::{Algorithm, Call, Kind, Library, tracer};

pub(super) fn actions(call: &Call) -> Option<Actions> {
    let (ranks, rank, blocks) = (call.collective.ranks, call.rank, call.collective.blocks());
    Some(match call.algorithm {
        Algorithm::Linear => all_pairs(rank, blocks),
        Algorithm::Bruck if call.library == Library::Tracer => tracer::allgather_bruck(call),
        Algorithm::Bruck => bruck(rank, blocks),
        Algorithm::RecursiveDoubling if !ranks.is_power_of_two() => bruck(rank, blocks),
        Algorithm::RecursiveDoubling => doubling(rank, blocks),
        Algorithm::Ring => ring(rank, blocks),
        Algorithm::Neighbour if ranks % 2 == 1 => ring(rank, blocks),
        Algorithm::Neighbour => neighbour(rank, blocks),
        Algorithm::TwoRanks if ranks == 2 => list(
            exchange(
                Message::new(1 - rank, blocks.of(rank), 0),
                Message::new(1 - rank, blocks.of(1 - rank), 0),
            )
            .into(),
        ),
        Algorithm::NonOverlapping => gathered_and_sent(call, &blocks),
        _ => return None,
    })
}

/// `ompi_coll_base_allgatherv_intra_basic_default`: gatherv, and bcast of everything as one element.
fn gathered_and_sent(call: &Call, blocks: &Blocks) -> Actions {
    let gather = super::Collective {
        sizes: call.collective.sizes.clone(),
        ..call.collective.part(Kind::Gatherv, 0, blocks.of(call.rank))
    };
    let total = blocks.total();
    let bcast = super::Collective {
        element: total,
        ..call.collective.part(Kind::Bcast, 0, total)
    };
    then(call.nested_call(&gather), call.nested_call(&bcast))
}

fn all_pairs(rank: u32, blocks: Blocks) -> Actions {
    let (ranks, mine) = (blocks.ranks(), blocks.of(rank));
    let receives = (1..ranks).map(move |i| {
        let other = after(rank, i, ranks);
        Action::StartReceive(Message::new(other, blocks.of(other), 0), 0)
    });
    let sends =
        (1..ranks).map(move |i| Action::StartSend(Message::new(below(rank, i, ranks), mine, 0), 0));
    Box::new(receives.chain(sends).chain([Action::WaitAll]))
}

/// Doubling blocks from rank + 2^k, to rank − 2^k.
fn bruck(rank: u32, blocks: Blocks) -> Actions {
    let ranks = blocks.ranks();
    Box::new(distances(ranks).flat_map(move |(round, distance)| {
        let (to, from) = (below(rank, distance, ranks), after(rank, distance, ranks));
        let count = distance.min(ranks - distance);
        exchange(
            Message::new(to, blocks.sum(rank, count), round),
            Message::new(from, blocks.sum(from, count), round),
        )
    }))
}

fn doubling(rank: u32, blocks: Blocks) -> Actions {
    Box::new(
        distances(blocks.ranks()).flat_map(move |(round, distance)| {
            let partner = rank ^ distance;
            let group = |rank: u32| blocks.sum(rank & !(distance - 1), distance);
            exchange(
                Message::new(partner, group(rank), round),
                Message::new(partner, group(partner), round),
            )
        }),
    )
}

fn ring(rank: u32, blocks: Blocks) -> Actions {
    let ranks = blocks.ranks();
    let (next, before) = (after(rank, 1, ranks), below(rank, 1, ranks));
    Box::new((0..ranks - 1).flat_map(move |step| {
        exchange(
            Message::new(next, blocks.of(below(rank, step, ranks)), step),
            Message::new(before, blocks.of(below(before, step, ranks)), step),
        )
    }))
}

/// First the own block, then always the two that came last.
fn neighbour(rank: u32, blocks: Blocks) -> Actions {
    let ranks = blocks.ranks();
    let even = rank % 2 == 0;
    let side = move |up: bool| {
        if up {
            after(rank, 1, ranks)
        } else {
            below(rank, 1, ranks)
        }
    };
    let neighbours = [side(even), side(!even)];
    // Pairs of ranks (2i, 2i + 1): the own one in step 1; then the partner's of the step before, which is further away.
    let pair = rank & !1;
    let came = move |step: u32| match step {
        0 => pair,
        // Even ranks look up in even steps, odd ranks in odd ones.
        _ if even == (step % 2 == 0) => after(pair, 2 * step.div_ceil(2), ranks),
        _ => below(pair, 2 * step.div_ceil(2), ranks),
    };
    let first = exchange(
        Message::new(neighbours[0], blocks.of(rank), 0),
        Message::new(neighbours[0], blocks.of(neighbours[0]), 0),
    );
    let others = (1..ranks / 2).flat_map(move |step| {
        let partner = neighbours[step as usize % 2];
        exchange(
            Message::new(partner, blocks.sum(came(step - 1), 2), step),
            Message::new(partner, blocks.sum(came(step), 2), step),
        )
    });
    Box::new(first.into_iter().chain(others))
}
