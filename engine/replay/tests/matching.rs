//! Which message meets which receive (MPI 4.1, section 3.5), and when senders are free.

use crate::support::{ANY, Calls, NOBODY, awake, ends, finish, free, hyperx, program, replay};
use replay::State;
use replay::costs::Costs;

fn three() -> [Calls; 3] {
    [Calls::default(), Calls::default(), Calls::default()]
}

#[test]
fn tags_may_be_received_in_any_order() {
    let mut ranks = three();
    ranks[0].send(1, 8, 1).send(1, 8, 2);
    ranks[1].recv(0, 2).recv(0, 1);
    let program = program(&ranks);
    finish(&mut replay(awake(hyperx(&[3], 1)), free(), 3, &program));
}

#[test]
fn any_source_and_any_tag_take_what_comes_first() {
    let mut ranks = three();
    ranks[0].compute(1000).send(2, 8, 5);
    ranks[1].send(2, 8, 6);
    ranks[2].recv(ANY, ANY).recv(0, ANY);
    let program = program(&ranks);
    let mut replay = replay(awake(hyperx(&[3], 1)), free(), 3, &program);
    finish(&mut replay);
    assert_eq!(replay.unmatched(), (0, 0));
}

/// A large message that was sent first meets the first receive, though the small one behind it would be there sooner.
#[test]
fn messages_do_not_overtake_whatever_their_sizes() {
    let costs = Costs {
        eager_bytes: 100,
        ..free()
    };
    let mut ranks = three();
    ranks[0]
        .isend(1, 100_000, 7, 0)
        .isend(1, 8, 7, 1)
        .wait(&[0, 1]);
    ranks[1].recv(0, 7).send(2, 8, 0).recv(0, 7);
    ranks[2].recv(1, 0);
    let program = program(&ranks);
    let ends = ends(&mut replay(awake(hyperx(&[3], 1)), costs, 3, &program));
    assert!(
        ends[2] > 100_000 / 16,
        "the first receive takes 100,000 bytes: {ends:?}"
    );
}

#[test]
fn an_eager_sender_is_free_at_once_and_a_large_ones_waits_for_the_receive() {
    for (bytes, eager) in [(99, true), (100, true), (101, false)] {
        let costs = Costs {
            eager_bytes: 100,
            ..free()
        };
        let mut ranks = three();
        ranks[0].send(1, bytes, 0);
        ranks[1].compute(5000).recv(0, 0);
        let program = program(&ranks);
        let ends = ends(&mut replay(awake(hyperx(&[3], 1)), costs, 3, &program));
        assert_eq!(ends[0] < 100, eager, "{bytes}: {ends:?}");
        assert!(ends[1] >= 5000);
    }
}

#[test]
fn a_synchronous_send_waits_for_its_receive_whatever_its_size() {
    let mut ranks = three();
    ranks[0].ssend(1, 0, 0);
    ranks[1].compute(5000).recv(0, 0);
    let program = program(&ranks);
    let ends = ends(&mut replay(awake(hyperx(&[3], 1)), free(), 3, &program));
    assert!(ends[0] > 5000, "{ends:?}");
}

#[test]
fn nobody_and_oneself_are_peers() {
    let mut ranks = three();
    ranks[0].send(NOBODY, 8, 0).recv(NOBODY, 0);
    ranks[0].irecv(0, 3, 0).send(0, 1000, 3).wait(&[0]);
    let program = program(&ranks);
    let mut replay = replay(awake(hyperx(&[3], 1)), free(), 3, &program);
    let ranks = finish(&mut replay);
    assert_eq!(ranks[0].account.local_messages, 1);
}

#[test]
fn a_receive_that_is_cancelled_is_over() {
    let mut ranks = three();
    ranks[0].irecv(1, 3, 0).cancel(0).wait(&[0]);
    let program = program(&ranks);
    let mut replay = replay(awake(hyperx(&[3], 1)), free(), 3, &program);
    finish(&mut replay);
    assert_eq!(replay.unmatched(), (0, 0));
}

#[test]
fn two_that_receive_first_are_stuck_and_what_nobody_receives_is_counted() {
    let mut ranks = three();
    ranks[0].recv(1, 0).send(1, 8, 0);
    ranks[1].recv(0, 0).send(0, 8, 0);
    let stuck = program(&ranks);
    let mut stuck = replay(awake(hyperx(&[3], 1)), free(), 3, &stuck);
    assert_eq!(stuck.advance(u64::MAX), State::Stuck);
    let waiting = stuck.waiting(10);
    assert_eq!(waiting.len(), 2);
    assert_eq!(
        waiting[0].what,
        "a message from rank 1 of communicator 0 with tag 0"
    );

    let mut ranks = three();
    ranks[0].send(1, 8, 9);
    ranks[1].compute(1000);
    let lost = program(&ranks);
    let mut lost = replay(awake(hyperx(&[3], 1)), free(), 3, &lost);
    finish(&mut lost);
    assert_eq!(lost.unmatched(), (0, 1));
    assert_eq!(
        lost.left_over(),
        ["job 0 rank 0: 8 bytes with tag 9 to rank 1"]
    );
}

#[test]
fn what_nobody_met_is_listed() {
    let mut ranks = three();
    ranks[0].irecv(2, 4, 0).irecv(ANY, 0, 1);
    for number in 0..30 {
        ranks[1].isend(2, 8, 10 + number, number);
    }
    ranks[2].compute(1_000_000);
    let program = program(&ranks);
    let mut replay = replay(awake(hyperx(&[3], 1)), free(), 3, &program);
    finish(&mut replay);
    assert_eq!(replay.unmatched(), (2, 30));
    let left_over = replay.left_over();
    assert_eq!(left_over.len(), 20);
    assert_eq!(
        left_over[0],
        "job 0 rank 0: the receive of a message from rank 2 of communicator 0 with tag 4"
    );
    assert_eq!(left_over[2], "job 0 rank 1: 8 bytes with tag 10 to rank 2");
}

#[test]
fn loops_are_run_as_often_as_they_say() {
    let mut ranks = three();
    ranks[0]
        .repeat(3)
        .send(1, 8, 0)
        .repeat(4)
        .send(1, 8, 1)
        .end()
        .end();
    ranks[1]
        .repeat(3)
        .recv(0, 0)
        .repeat(4)
        .recv(0, 1)
        .end()
        .end();
    ranks[2].repeat(0).send(1, 8, 0).end();
    let program = program(&ranks);
    assert_eq!(program.length(), 2 * 3 * 5);
    let mut replay = replay(awake(hyperx(&[3], 1)), free(), 3, &program);
    assert_eq!(finish(&mut replay)[0].account.messages, 15);
}
