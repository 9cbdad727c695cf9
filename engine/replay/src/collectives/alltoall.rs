//! Alltoall and alltoallv (coll_base_alltoall.c, coll_base_alltoallv.c of Open MPI 4.1.4).

use super::action::{Action, Actions, Message, exchange, list};
use super::ranks::{after, below, distances};
use super::{Algorithm, Call, Kind, Library, tracer};

pub(super) fn actions(call: &Call) -> Option<Actions> {
    let (ranks, pairs) = (call.collective.ranks, Pairs::new(call));
    let blocks_vary = call.collective.kind == Kind::Alltoallv;
    Some(match call.algorithm {
        Algorithm::Linear => pairs.linear(call.collective.kind),
        Algorithm::Pairwise => pairs.pairwise(after, below),
        Algorithm::PairwiseXor if ranks.is_power_of_two() => pairs.pairwise(xor, xor),
        Algorithm::Blocked { at_once } => pairs.blocked(at_once),
        Algorithm::Bruck | Algorithm::TwoRanks if blocks_vary => return None,
        Algorithm::Bruck if call.library == Library::Tracer => tracer::alltoall_bruck(call),
        Algorithm::Bruck => bruck(ranks, call.rank, call.collective.bytes),
        Algorithm::TwoRanks if ranks == 2 => {
            let sent = Message::new(1 - call.rank, call.collective.bytes, 0);
            list(exchange(sent, sent).into())
        }
        Algorithm::InPlace => pairs.in_place(),
        Algorithm::InPlaceByRank => pairs.in_place_by_rank(),
        _ => return None,
    })
}

fn xor(rank: u32, step: u32, _: u32) -> u32 {
    rank ^ step
}

/// What a rank sends to and receives from each other rank.
struct Pairs {
    ranks: u32,
    rank: u32,
    sent: super::Blocks,
    received: super::Blocks,
    /// Messages of 0 bytes are sent, too.
    empty: bool,
}

impl Pairs {
    fn new(call: &Call) -> Self {
        let in_place = call.collective.in_place;
        let received = call.collective.received();
        Self {
            ranks: call.collective.ranks,
            rank: call.rank,
            // In place the receives' sizes count, which are the same.
            sent: if in_place {
                received.clone()
            } else {
                call.collective.blocks()
            },
            received,
            // Left out by alltoallv of Open MPI 5.0, and in place by all versions. (4.1.8 has one case more than 4.1.4: the
            // linear alltoallv.)
            empty: !in_place && call.library != Library::OpenMpi50,
        }
    }

    fn to(&self, peer: u32, tag: u32) -> Option<Message> {
        let message = Message::new(peer, self.sent.of(peer), tag);
        (message.bytes > 0 || self.empty).then_some(message)
    }

    fn from(&self, peer: u32, tag: u32) -> Option<Message> {
        let message = Message::new(peer, self.received.of(peer), tag);
        (message.bytes > 0 || self.empty).then_some(message)
    }

    /// All receives and sends at once: round the ring in opposite directions, or in the order of ranks (alltoallv).
    fn linear(self, kind: Kind) -> Actions {
        let (ranks, rank) = (self.ranks, self.rank);
        let other = move |i: u32, next: fn(u32, u32, u32) -> u32| match kind {
            Kind::Alltoallv => i - u32::from(i <= rank),
            _ => next(rank, i, ranks),
        };
        let pairs = std::sync::Arc::new(self);
        let senders = pairs.clone();
        let receives = (1..ranks)
            .filter_map(move |i| pairs.from(other(i, after), 0))
            .map(|message| Action::StartReceive(message, 0));
        let sends = (1..ranks)
            .filter_map(move |i| senders.to(other(i, below), 0))
            .map(|message| Action::StartSend(message, 0));
        Box::new(receives.chain(sends).chain([Action::WaitAll]))
    }

    fn pairwise(self, to: fn(u32, u32, u32) -> u32, from: fn(u32, u32, u32) -> u32) -> Actions {
        Box::new((1..self.ranks).flat_map(move |step| {
            let receive = self.from(from(self.rank, step, self.ranks), step);
            let send = self.to(to(self.rank, step, self.ranks), step);
            exchange_some(send, receive)
        }))
    }

    fn blocked(self, at_once: u32) -> Actions {
        let (ranks, rank) = (self.ranks, self.rank);
        let blocks = (1..ranks).step_by(at_once as usize);
        Box::new(blocks.flat_map(move |first| {
            let steps = first..ranks.min(first + at_once);
            let receives = steps
                .clone()
                .filter_map(|step| self.from(below(rank, step, ranks), 0))
                .map(|message| Action::StartReceive(message, 0));
            let sends = steps
                .filter_map(|step| self.to(after(rank, step, ranks), 0))
                .map(|message| Action::StartSend(message, 0));
            let all: Vec<Action> = receives.chain(sends).chain([Action::WaitAll]).collect();
            all
        }))
    }

    /// Open MPI from 4.1 on: with both ranks at each distance up to P / 2.
    fn in_place(self) -> Actions {
        let (ranks, rank) = (self.ranks, self.rank);
        Box::new((1..=ranks / 2).flat_map(move |step| {
            let (right, left) = (after(rank, step, ranks), below(rank, step, ranks));
            let (to_right, from_right) = (self.to(right, step), self.from(right, step));
            let left = Some(left).filter(|&left| left != right);
            let to_left = left.and_then(|left| self.to(left, step));
            let from_left = left.and_then(|left| self.from(left, step));
            // First to the left and from the right, then the other way; with nothing for the left, only with the right.
            let (first, second) = match to_left {
                Some(_) => ((to_left, from_right), (to_right, from_left)),
                None => ((to_right, from_right), (None, None)),
            };
            exchange_some(first.0, first.1).chain(exchange_some(second.0, second.1))
        }))
    }

    /// Open MPI up to 4.0.
    fn in_place_by_rank(self) -> Actions {
        let others = (0..self.ranks).filter({
            let rank = self.rank;
            move |&other| other != rank
        });
        Box::new(
            others.flat_map(move |other| exchange_some(self.to(other, 0), self.from(other, 0))),
        )
    }
}

/// An exchange of which a side may be missing.
fn exchange_some(
    sent: Option<Message>,
    received: Option<Message>,
) -> impl Iterator<Item = Action> + Send {
    let start = received.map(|message| Action::StartReceive(message, 0));
    let wait = received.map(|_| Action::Wait(0));
    start.into_iter().chain(sent.map(Action::Send)).chain(wait)
}

/// To rank + 2^k go the blocks whose index has bit k.
fn bruck(ranks: u32, rank: u32, block: u64) -> Actions {
    Box::new(distances(ranks).flat_map(move |(round, distance)| {
        let whole = ranks / (2 * distance) * distance;
        let rest = (ranks % (2 * distance)).saturating_sub(distance);
        let bytes = u64::from(whole + rest) * block;
        exchange(
            Message::new(after(rank, distance, ranks), bytes, round),
            Message::new(below(rank, distance, ranks), bytes, round),
        )
    }))
}
