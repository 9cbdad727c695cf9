//! Gather (coll_base_gather.c) and gatherv (coll_basic_gatherv.c of Open MPI 4.1.4).

use super::action::{Action, Actions, Message, list};
use super::blocks::segment_elements;
use super::ranks::below;
use super::tree::{Shape, Tree};
use super::{Algorithm, Call, Kind};

pub(super) fn actions(call: &Call) -> Option<Actions> {
    Some(match (call.collective.kind, call.algorithm) {
        (Kind::Gatherv, Algorithm::Linear) => to_root(call, |bytes| bytes > 0),
        (_, Algorithm::Linear) => to_root(call, |_| true),
        (Kind::Gather, Algorithm::Binomial) => binomial(call),
        (Kind::Gather, Algorithm::LinearSync { first }) => in_two_parts(call, first),
        _ => return None,
    })
}

/// The root receives in the order of ranks; gatherv leaves out empty blocks.
fn to_root(call: &Call, sent: fn(u64) -> bool) -> Actions {
    let (root, rank) = (call.collective.root, call.rank);
    if rank != root {
        let send = Message::new(root, call.collective.bytes, 0);
        let send = sent(send.bytes).then_some(Action::Send(send));
        return list(send.into_iter().collect());
    }
    let blocks = call.collective.blocks();
    Box::new((0..call.collective.ranks).filter_map(move |other| {
        let bytes = blocks.of(other);
        let message = Message::new(other, bytes, 0);
        (other != root && sent(bytes)).then_some(Action::Receive(message))
    }))
}

/// Ranks in the subtree of a rank other than the root, in a binomial tree whose last child is the greatest.
pub(super) fn subtree(relative: u32, ranks: u32) -> u32 {
    (relative & relative.wrapping_neg()).min(ranks - relative)
}

fn binomial(call: &Call) -> Actions {
    let (ranks, root, block) = (
        call.collective.ranks,
        call.collective.root,
        call.collective.bytes,
    );
    let tree = Tree::new(Shape::InOrderBinomial, ranks, root, call.rank);
    let bytes = move |rank| u64::from(subtree(below(rank, root, ranks), ranks)) * block;
    let receives = tree
        .children
        .into_iter()
        .map(move |child| Action::Receive(Message::new(child, bytes(child), 0)));
    let rank = call.rank;
    let send = tree
        .parent
        .map(|parent| Action::Send(Message::new(parent, bytes(rank), 0)));
    Box::new(receives.chain(send))
}

/// `ompi_coll_base_gather_intra_linear_sync`.
fn in_two_parts(call: &Call, first: u64) -> Actions {
    let (root, bytes) = (call.collective.root, call.collective.bytes);
    let element = call.collective.element_bytes();
    let first = segment_elements(bytes, element, first) * element;
    let parts = move |peer| {
        [
            Message::new(peer, first, 0),
            Message::new(peer, bytes - first, 1),
        ]
    };
    if call.rank != root {
        let [first, rest] = parts(root);
        return list(vec![
            Action::Receive(Message::new(root, 0, 0)),
            Action::Send(first),
            Action::Send(rest),
        ]);
    }
    let ranks = call.collective.ranks;
    let others = (0..ranks).filter(move |&other| other != root);
    let asked = others.flat_map(move |other| {
        let [first, rest] = parts(other);
        [
            Action::StartReceive(first, 1),
            Action::Send(Message::new(other, 0, 0)),
            Action::StartReceive(rest, 0),
            Action::Wait(1),
        ]
    });
    Box::new(asked.chain([Action::WaitAll]))
}
