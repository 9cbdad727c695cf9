//! The order in which a rank posts and waits.

use replay::collectives::{Algorithm, Collective, Kind, Library, Shape, steps, steps_by};
use replay::step::Step::{self, Combine, Receive, Send, Wait, WaitFor};

fn by(algorithm: Algorithm, call: &Collective, rank: u32) -> Vec<Step> {
    let steps = steps_by(algorithm, Library::OpenMpi41, call, rank);
    steps.expect("an algorithm of the operation").collect()
}

fn send(to: u32, bytes: u64, tag: u32) -> Step {
    Send { to, bytes, tag }
}

fn receive(from: u32, bytes: u64, tag: u32) -> Step {
    Receive { from, bytes, tag }
}

fn wait(step: u32) -> Step {
    WaitFor { step }
}

#[test]
fn binomial_bcast_receives_and_then_sends_to_its_children() {
    let call = Collective::new(Kind::Bcast, 8, 100);
    let found = by(Algorithm::Tree(Shape::Binomial, 0), &call, 1);
    assert_eq!(
        found,
        [
            receive(0, 100, 0),
            wait(0),
            send(3, 100, 0),
            send(5, 100, 0),
            wait(2),
            wait(3)
        ]
    );
}

#[test]
fn a_chain_posts_the_next_segment_before_it_passes_this_one_on() {
    let call = Collective::new(Kind::Bcast, 3, 20);
    let found = by(Algorithm::Tree(Shape::Chain, 8), &call, 1);
    // The greatest common divisor of 20 and 8 is an element.
    assert_eq!(
        found,
        [
            receive(0, 8, 0),
            receive(0, 8, 1),
            wait(0),
            send(2, 8, 0),
            wait(3),
            receive(0, 4, 2),
            wait(1),
            send(2, 8, 1),
            wait(7),
            wait(5),
            send(2, 4, 2),
            wait(10),
        ]
    );
}

#[test]
fn a_reduce_combines_a_child_while_the_next_sends() {
    let call = Collective::new(Kind::Reduce, 7, 16);
    let found = by(Algorithm::Tree(Shape::Binary, 0), &call, 1);
    assert_eq!(
        found,
        [
            receive(3, 16, 0),
            receive(5, 16, 0),
            wait(0),
            Combine { bytes: 16 },
            wait(1),
            Combine { bytes: 16 },
            send(0, 16, 0),
            wait(6),
        ]
    );
}

#[test]
fn a_linear_scatter_sends_one_after_the_other() {
    let call = Collective {
        root: 1,
        ..Collective::new(Kind::Scatter, 4, 5)
    };
    let found = by(Algorithm::Linear, &call, 1);
    assert_eq!(
        found,
        [
            send(0, 5, 0),
            wait(0),
            send(2, 5, 0),
            wait(2),
            send(3, 5, 0),
            wait(4)
        ]
    );
    let begun = by(Algorithm::LinearNonBlocking, &call, 1);
    assert_eq!(begun, [send(0, 5, 0), send(2, 5, 0), send(3, 5, 0), Wait]);
}

#[test]
fn a_ring_posts_sends_and_waits_in_each_step() {
    let call = Collective::new(Kind::Allgather, 3, 10);
    let found = by(Algorithm::Ring, &call, 0);
    assert_eq!(
        found,
        [
            receive(2, 10, 0),
            send(1, 10, 0),
            wait(1),
            wait(0),
            receive(2, 10, 1),
            send(1, 10, 1),
            wait(5),
            wait(4),
        ]
    );
}

#[test]
fn a_ring_allreduce_combines_one_block_while_the_next_comes() {
    let call = Collective::new(Kind::Allreduce, 3, 40);
    // Blocks of 2, 2 and 1 elements.
    let found = by(Algorithm::Ring, &call, 0);
    assert_eq!(
        found[..10],
        [
            receive(2, 8, 0),
            send(1, 16, 0),
            wait(1),
            receive(2, 16, 1),
            wait(0),
            Combine { bytes: 8 },
            send(1, 8, 1),
            wait(6),
            wait(3),
            Combine { bytes: 16 },
        ]
    );
}

#[test]
fn a_linear_alltoall_posts_all_receives_first() {
    let call = Collective::new(Kind::Alltoall, 4, 7);
    let found = by(Algorithm::Linear, &call, 1);
    assert_eq!(
        found,
        [
            receive(2, 7, 0),
            receive(3, 7, 0),
            receive(0, 7, 0),
            send(0, 7, 0),
            send(3, 7, 0),
            send(2, 7, 0),
            Wait,
        ]
    );
}

#[test]
fn a_gather_in_two_parts_asks_each_rank() {
    let call = Collective::new(Kind::Gather, 3, 24);
    let algorithm = Algorithm::LinearSync { first: 8 };
    assert_eq!(
        by(algorithm, &call, 0),
        [
            receive(1, 8, 0),
            send(1, 0, 0),
            wait(1),
            receive(1, 16, 1),
            wait(0),
            receive(2, 8, 0),
            send(2, 0, 0),
            wait(6),
            receive(2, 16, 1),
            wait(5),
            Wait,
        ]
    );
    assert_eq!(
        by(algorithm, &call, 2),
        [
            receive(0, 0, 0),
            wait(0),
            send(0, 8, 0),
            wait(2),
            send(0, 16, 1),
            wait(4)
        ]
    );
}

#[test]
fn a_large_alltoall_is_made_step_by_step() {
    let call = Collective::new(Kind::Alltoall, 4096, 4096);
    let all: Vec<_> = (0..4096)
        .map(|rank| steps(Library::OpenMpi41, &call, rank))
        .collect();
    let first = all.into_iter().filter_map(|mut steps| steps.next()).count();
    assert_eq!(first, 4096);
}

#[test]
fn nothing_is_sent_where_nothing_is_moved() {
    for kind in Kind::ALL {
        for library in Library::ALL {
            let alone = Collective::new(kind, 1, 100);
            assert_eq!(steps(library, &alone, 0).count(), 0);
            if ![Kind::Barrier, Kind::Alltoallv].contains(&kind) {
                let empty = Collective::new(kind, 5, 0);
                assert_eq!(steps(library, &empty, 2).count(), 0, "{library:?} {kind:?}");
            }
        }
    }
}
