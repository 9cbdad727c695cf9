//! Scatter (coll_base_scatter.c) and scatterv (coll_basic_scatterv.c of Open MPI 4.1.4).

use super::action::{Action, Actions, Message, list};
use super::gather::subtree;
use super::ranks::below;
use super::tree::{Shape, Tree};
use super::{Algorithm, Call, Kind};

pub(super) fn actions(call: &Call) -> Option<Actions> {
    Some(match (call.collective.kind, call.algorithm) {
        (Kind::Scatterv, Algorithm::Linear) => from_root(call, |bytes| bytes > 0),
        (_, Algorithm::Linear) => from_root(call, |_| true),
        (Kind::Scatter, Algorithm::LinearNonBlocking) => begun_by_root(call),
        (Kind::Scatter, Algorithm::Binomial) => binomial(call),
        _ => return None,
    })
}

fn receive(call: &Call) -> Action {
    Action::Receive(Message::new(call.collective.root, call.collective.bytes, 0))
}

/// The root sends in the order of ranks, one after the other; scatterv leaves out empty blocks.
fn from_root(call: &Call, sent: fn(u64) -> bool) -> Actions {
    let (root, rank) = (call.collective.root, call.rank);
    if rank != root {
        let received = sent(call.collective.bytes).then(|| receive(call));
        return list(received.into_iter().collect());
    }
    let blocks = call.collective.blocks();
    Box::new((0..call.collective.ranks).filter_map(move |other| {
        let bytes = blocks.of(other);
        let message = Message::new(other, bytes, 0);
        (other != root && sent(bytes)).then_some(Action::Send(message))
    }))
}

fn begun_by_root(call: &Call) -> Actions {
    let (root, bytes) = (call.collective.root, call.collective.bytes);
    if call.rank != root {
        return list(vec![receive(call)]);
    }
    let others = (0..call.collective.ranks).filter(move |&other| other != root);
    let sends = others.map(move |other| Action::StartSend(Message::new(other, bytes, 0), 0));
    Box::new(sends.chain([Action::WaitAll]))
}

fn binomial(call: &Call) -> Actions {
    let (ranks, root, block) = (
        call.collective.ranks,
        call.collective.root,
        call.collective.bytes,
    );
    let tree = Tree::new(Shape::InOrderBinomial, ranks, root, call.rank);
    let message = move |peer, of| {
        let bytes = u64::from(subtree(below(of, root, ranks), ranks)) * block;
        Message::new(peer, bytes, 0)
    };
    let rank = call.rank;
    let received = tree
        .parent
        .map(|parent| Action::Receive(message(parent, rank)));
    let sends = tree
        .children
        .into_iter()
        .rev()
        .map(move |child| Action::Send(message(child, child)));
    Box::new(received.into_iter().chain(sends))
}
