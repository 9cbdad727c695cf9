//! Barrier (coll_base_barrier.c of Open MPI 4.1.4). All messages have 0 bytes.

use super::action::{Action, Actions, Message, exchange, list, then};
use super::ranks::{after, below, distances, power_below};
use super::{Algorithm, Call, Kind};

pub(super) fn actions(call: &Call) -> Option<Actions> {
    let (ranks, rank) = (call.collective.ranks, call.rank);
    Some(match call.algorithm {
        Algorithm::Linear => linear(ranks, rank),
        Algorithm::TwoRanks if ranks == 2 => {
            list(exchange(empty(1 - rank, 0), empty(1 - rank, 0)).into())
        }
        Algorithm::RecursiveDoubling => doubling(ranks, rank),
        Algorithm::Bruck => Box::new(distances(ranks).flat_map(move |(round, distance)| {
            exchange(
                empty(after(rank, distance, ranks), round),
                empty(below(rank, distance, ranks), round),
            )
        })),
        Algorithm::UpAndDown => up_and_down(ranks, rank),
        // TraceR: an allreduce of 0 bytes.
        Algorithm::NonOverlapping => {
            let part = |kind| super::tracer::tree(call, kind, 0, 0);
            then(part(Kind::Reduce), part(Kind::Bcast))
        }
        _ => return None,
    })
}

fn empty(peer: u32, tag: u32) -> Message {
    Message::new(peer, 0, tag)
}

/// All report to rank 0, which answers all.
fn linear(ranks: u32, rank: u32) -> Actions {
    if rank != 0 {
        return list(vec![
            Action::Send(empty(0, 0)),
            Action::Receive(empty(0, 0)),
        ]);
    }
    let others = 1..ranks;
    Box::new(
        others
            .clone()
            .map(|other| Action::StartReceive(empty(other, 0), 0))
            .chain([Action::WaitAll])
            .chain(others.map(|other| Action::Send(empty(other, 0)))),
    )
}

/// Ranks from the power of two on fold onto the first ones.
fn doubling(ranks: u32, rank: u32) -> Actions {
    let left = power_below(ranks);
    if rank >= left {
        let partner = rank - left;
        // The answer comes when the others are through.
        return list(exchange(empty(partner, 0), empty(partner, 1)).into());
    }
    let partner = (rank + left < ranks).then_some(rank + left);
    let rounds = distances(left).flat_map(move |(round, distance)| {
        exchange(empty(rank ^ distance, round), empty(rank ^ distance, round))
    });
    let begin = partner.map(|partner| Action::Receive(empty(partner, 0)));
    let end = partner.map(|partner| Action::Send(empty(partner, 1)));
    Box::new(begin.into_iter().chain(rounds).chain(end))
}

/// A partner is the rank XOR 2^k whose lower bits are 0; the lower of both is above in the tree.
fn up_and_down(ranks: u32, rank: u32) -> Actions {
    let met = move |(round, distance): (u32, u32)| {
        let partner = rank ^ distance;
        (partner & (distance - 1) == 0 && partner < ranks).then_some((round, partner))
    };
    let up = distances(ranks)
        .filter_map(met)
        .map(move |(round, partner)| {
            if partner > rank {
                Action::Receive(empty(partner, round))
            } else {
                Action::Send(empty(partner, round))
            }
        });
    let down = distances(ranks)
        .rev()
        .filter_map(met)
        .map(move |(round, partner)| {
            if partner > rank {
                Action::Send(empty(partner, round))
            } else {
                Action::Receive(empty(partner, round))
            }
        });
    Box::new(up.chain(down))
}
