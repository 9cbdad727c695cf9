//! Rabenseifner's reduce-scatter by vector halving and distance doubling (coll_base_allreduce.c and coll_base_reduce.c of
//! Open MPI 4.1.4): ranks are folded to a power of two, then halves of halves are exchanged.

use super::Call;
use super::action::{Action, Message, exchange};
use super::ranks::{Folded, distances, power_below};

/// Tags after those of the halving.
pub(super) const LATER: u32 = 64;

/// One rank's part, and what it has at the end of each step.
pub(super) struct Halving {
    pub folded: Folded,
    /// Bytes sent and received in each step; empty if the rank is folded away.
    pub steps: Vec<(u64, u64)>,
    pub actions: Vec<Action>,
}

/// The reduce-scatter; `None` where the library takes linear algorithms instead.
pub(super) fn halving(call: &Call) -> Option<Halving> {
    let vector = call.collective;
    let (ranks, rank) = (vector.ranks, call.rank);
    if vector.elements() < u64::from(power_below(ranks)) || !vector.commutative {
        return None;
    }
    let element = vector.element_bytes();
    let folded = Folded::new(ranks, 0);
    let mut actions = Vec::new();
    if let Some(partner) = folded.partner(rank) {
        let left = vector.elements() / 2 * element;
        let right = vector.bytes - left;
        let (sent, received) = if rank % 2 == 0 {
            (right, left)
        } else {
            (left, right)
        };
        actions.extend(exchange(
            Message::new(partner, sent, 0),
            Message::new(partner, received, 0),
        ));
        actions.push(Action::Combine(received));
        let rest = Message::new(partner, right, 1);
        actions.push(if rank % 2 == 0 {
            Action::Receive(rest)
        } else {
            Action::Send(rest)
        });
    }
    let mut steps = Vec::new();
    if let Some(number) = folded.number(rank) {
        let mut window = vector.elements();
        for (round, distance) in distances(folded.left) {
            let partner = folded.rank(number ^ distance);
            let (smaller, larger) = (window / 2, window - window / 2);
            let (sent, received) = if rank < partner {
                (larger, smaller)
            } else {
                (smaller, larger)
            };
            steps.push((sent * element, received * element));
            actions.extend(exchange(
                Message::new(partner, sent * element, 2 + round),
                Message::new(partner, received * element, 2 + round),
            ));
            actions.push(Action::Combine(received * element));
            window = received;
        }
    }
    Some(Halving {
        folded,
        steps,
        actions,
    })
}
