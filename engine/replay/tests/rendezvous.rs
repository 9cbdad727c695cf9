//! Announced messages: when they are, what their stages take on an idle network, and how often they meet sleeping links.

use replay::Replay;
use replay::costs::{Costs, Rendezvous};
use replay::jobs::JobPlan;

use crate::support::{
    Calls, FLIT_BYTES, NOBODY, awake, deep, ends, finish, free, hosts, job, over, parameters,
    program, replay, ring,
};

const HEADER: u64 = 56;
const EAGER: u64 = 4000;

/// Times that no two sums of them confuse.
fn costs(rendezvous: Rendezvous) -> Costs {
    Costs {
        send: 1000.0,
        receive: 20_000.0,
        adapter: 300_000.0,
        answer: 5_000_000.0,
        eager_bytes: EAGER,
        header_bytes: HEADER,
        rendezvous,
        ..free()
    }
}

const SEND: u64 = 1000;
const RECEIVE: u64 = 20_000;
const ADAPTER: u64 = 300_000;
const ANSWER: u64 = 5_000_000;

/// Cycles of so many bytes over `hops` links between the eight routers of a ring: 3 a hop and 1 a flit behind the first.
fn way(hops: u64, bytes: u64) -> u64 {
    let mut ranks = vec![Calls::default(); 8];
    ranks[0].send(1, 1, 0);
    ranks[1].recv(0, 0);
    let one_flit = ends(&mut replay(awake(ring(8)), free(), 8, &program(&ranks)))[1];
    one_flit + 3 * (hops - 1) + bytes.div_ceil(u64::from(FLIT_BYTES)) - 1
}

/// Ends of a sender and a receiver `hops` apart.
fn transfer(costs: Costs, hops: u64, bytes: u64, synchronous: bool) -> (u64, u64) {
    let mut ranks = vec![Calls::default(); 8];
    if synchronous {
        ranks[0].ssend(hops as i32, bytes, 0);
    } else {
        ranks[0].send(hops as i32, bytes, 0);
    }
    ranks[hops as usize].recv(0, 0);
    let ends = ends(&mut replay(awake(ring(8)), costs, 8, &program(&ranks)));
    (ends[0], ends[hops as usize])
}

#[test]
fn a_message_that_is_read_crosses_the_network_three_times_and_frees_its_sender_by_a_fourth() {
    for hops in 1..=4 {
        for bytes in [EAGER + 1, 65_536, 1 << 20] {
            let (sender, receiver) = transfer(costs(Rendezvous::Get), hops, bytes, false);
            // Announced; answered by the receiver's processor; read without the sender's.
            let there = SEND + ADAPTER + way(hops, HEADER) + ANSWER;
            let asked = there + ADAPTER + way(hops, HEADER);
            let read = asked + ADAPTER + way(hops, HEADER + bytes) + RECEIVE;
            assert_eq!(receiver, read, "{bytes} bytes, {hops} hops");
            assert_eq!(sender, read + ADAPTER + way(hops, HEADER));
        }
    }
}

#[test]
fn a_message_that_is_cleared_crosses_it_three_times_and_both_processors_answer() {
    for hops in 1..=4 {
        for bytes in [EAGER + 1, 65_536, 1 << 20] {
            let (sender, receiver) = transfer(costs(Rendezvous::Send), hops, bytes, false);
            let there = SEND + ADAPTER + way(hops, HEADER) + ANSWER;
            let cleared = there + ADAPTER + way(hops, HEADER) + ANSWER;
            let end = cleared + ADAPTER + way(hops, HEADER + bytes) + RECEIVE;
            assert_eq!(receiver, end, "{bytes} bytes, {hops} hops");
            // Its last packet leaves, at a flit a cycle; the sender is not told that the message has come.
            let flits = (HEADER + bytes).div_ceil(u64::from(FLIT_BYTES));
            let packet = u64::from(parameters().packet_flits);
            let left = sender - cleared - ADAPTER;
            assert!((flits - packet..=flits).contains(&left), "{left}");
        }
    }
}

#[test]
fn the_largest_eager_message_is_the_last_that_goes_at_once() {
    for rendezvous in Rendezvous::ALL {
        for bytes in [EAGER - 1, EAGER] {
            let (sender, receiver) = transfer(costs(rendezvous), 2, bytes, false);
            assert_eq!(sender, SEND);
            let end = SEND + ADAPTER + way(2, HEADER + bytes) + RECEIVE;
            assert_eq!(receiver, end, "{bytes} bytes");
        }
        let (sender, receiver) = transfer(costs(rendezvous), 2, EAGER + 1, false);
        assert!(sender > ANSWER && receiver > ANSWER, "{rendezvous:?}");
    }
}

/// The receiver needs nothing more, and says so to a sender that waits.
#[test]
fn a_synchronous_message_that_came_with_its_request_is_acknowledged_alone() {
    for rendezvous in Rendezvous::ALL {
        let costs = Costs {
            request_carries: EAGER,
            ..costs(rendezvous)
        };
        for bytes in [0, EAGER - 1, EAGER] {
            let (sender, receiver) = transfer(costs, 3, bytes, true);
            let end = SEND + ADAPTER + way(3, HEADER + bytes) + RECEIVE;
            assert_eq!(receiver, end, "{bytes} bytes");
            assert_eq!(sender, end + ADAPTER + way(3, HEADER));
        }
        let (_, receiver) = transfer(costs, 3, EAGER + 1, true);
        assert!(receiver > ANSWER, "a byte is left");
    }
}

#[test]
fn a_message_read_from_the_same_node_costs_memory_four_times() {
    let costs = Costs {
        memory: 100.0,
        memory_byte: 2.0,
        adapter: 0.0,
        ..costs(Rendezvous::Get)
    };
    let mut ranks = vec![Calls::default(); 2];
    ranks[0].send(1, 5000, 0);
    ranks[1].recv(0, 0);
    let hosts = replay::Hosts {
        cores: 2,
        ..hosts(costs)
    };
    let mut replay = Replay::new(awake(ring(4)), hosts, 4, 1).unwrap();
    replay.add(job(&program(&ranks), vec![0, 0])).unwrap();
    let end = SEND + 100 + ANSWER + 100 + (100 + 2 * 5000) + RECEIVE;
    assert_eq!(ends(&mut replay), [end + 100, end]);
}

/// A path of one link between routers that sleeps in each pause: the request, what answers it, the data, and the last word.
#[test]
fn each_crossing_wakes_a_link_that_sleeps() {
    let deep = deep(100);
    for (rendezvous, receiver_wakes, sender_wakes) in
        [(Rendezvous::Send, 3, 2), (Rendezvous::Get, 3, 4)]
    {
        let costs = costs(rendezvous);
        let mut ranks = vec![Calls::default(); 8];
        ranks[0].compute(5000).send(1, 8000, 0);
        ranks[1].recv(0, 0);
        let mut replay = replay(over(ring(8), deep.into()), costs, 8, &program(&ranks));
        let ranks = finish(&mut replay);
        assert_eq!(ranks[1].path.wakes, receiver_wakes);
        assert_eq!(ranks[0].path.wakes, sender_wakes, "{rendezvous:?}");
    }
}

/// Its sender goes on without a word, and no word comes too late for a job that has ended and begun again.
#[test]
fn a_job_that_ends_before_the_last_word_comes_is_whole() {
    let mut ranks = vec![Calls::default(); 2];
    // The sender's request is never waited for.
    ranks[0].isend(1, 8000, 0, 0);
    ranks[1].recv(0, 0);
    let longer = program(&[Calls::default().compute(50_000_000).recv(NOBODY, 0).clone()]);
    let mut replay = Replay::new(awake(ring(4)), hosts(costs(Rendezvous::Get)), 4, 1).unwrap();
    let again = JobPlan {
        repeats: true,
        ..job(&program(&ranks), vec![0, 1])
    };
    replay.add(again).unwrap();
    replay.add(job(&longer, vec![2])).unwrap();
    finish(&mut replay);
    assert!(replay.runs(0).unwrap().len() > 5);
    assert_eq!(replay.unmatched(), (0, 0));
}
