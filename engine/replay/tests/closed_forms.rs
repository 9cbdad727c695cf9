//! Times that can be written down: facts of LogGOPSim, and idle networks.

use crate::support::{
    Calls, awake, deep, ends, finish, free, hyperx, log_gops, over, program, replay, ring,
};
use interconnect::link::LinkPolicy;
use interconnect::packet::{DelayBound, LinkPolicies};
use replay::costs::Costs;
use replay::transport::Transport;

const O: f64 = 1500.0;

fn overheads() -> Costs {
    Costs {
        send: O,
        receive: O,
        receive_byte: 6.0,
        eager_bytes: 65_535,
        ..free()
    }
}

/// LogGOPSim's README prints the ends of a binomial tree of 8 hosts with 1,024 bytes, L 2500, o 1500, g 1000, G 6.
#[test]
fn a_binomial_tree_ends_as_loggopsim_prints_it() {
    let mut ranks = vec![Calls::default(); 8];
    // A reduction to 0, as `schedgen --ptrn binomialtreereduce` writes it: children first.
    for step in [1, 2, 4] {
        for (child, calls) in (0_i32..).zip(&mut ranks) {
            if child % (2 * step) == step {
                calls.send(child - step, 1024, 0);
            } else if child % (2 * step) == 0 {
                calls.recv(child + step, 0);
            }
        }
    }
    let program = program(&ranks);
    let mut replay = replay(log_gops(), overheads(), 8, &program);
    assert_eq!(
        ends(&mut replay),
        [34_914, 1500, 13_138, 1500, 24_776, 1500, 13_138, 1500]
    );
}

#[test]
fn half_a_ping_pong_by_loggops_is_two_overheads_a_latency_and_the_bytes() {
    for bytes in [1, 8, 1000, 65_535] {
        let mut ranks = [Calls::default(), Calls::default()];
        ranks[0].send(1, bytes, 0).recv(1, 0);
        ranks[1].recv(0, 0).send(0, bytes, 0);
        let program = program(&ranks);
        let mut replay = replay(log_gops(), overheads(), 2, &program);
        let half = 2 * 1500 + 2500 + (bytes - 1) * 6;
        assert_eq!(ends(&mut replay), [2 * half, half + 1500]);
    }
}

/// A tree to rank 0: each rank receives from those `step` above it, and sends to the one `step` below.
fn tree(ranks: &mut [Calls], bytes: u64, tag: i32) {
    let count = ranks.len();
    let mut step = 1;
    while step < count {
        for child in (step..count).step_by(2 * step) {
            let parent = child - step;
            ranks[child].send(parent as i32, bytes, tag);
            ranks[parent].recv(child as i32, tag);
        }
        step *= 2;
    }
}

/// Rank r computes `compute[r]` nanoseconds.
fn computing(compute: &[u64]) -> Vec<Calls> {
    let mut ranks = vec![Calls::default(); compute.len()];
    for (calls, &ns) in ranks.iter_mut().zip(compute) {
        calls.compute(ns);
    }
    ranks
}

/// A message that waits for rank 0's processor takes it before the second of two receives is posted: ends as LogGOPSim's.
#[test]
fn a_waiting_message_comes_before_the_second_of_two_calls() {
    let mut ranks = computing(&[52_944, 18_146, 427_843]);
    ranks[2].send(0, 68_376, 0);
    ranks[0].recv(2, 0);
    ranks[1].send(0, 2076, 3);
    ranks[0].recv(1, 3);
    tree(&mut ranks, 91_700, 3);
    let mut replay = replay(log_gops(), overheads(), 3, &program(&ranks));
    assert_eq!(ends(&mut replay), [1_582_032, 1_030_338, 1_582_032]);
}

/// A receive frees a sender of a higher rank, and the receiver goes on first: ends as LogGOPSim's.
#[test]
fn of_two_ranks_that_go_on_at_once_the_lower_is_first() {
    let mut ranks = computing(&[405_326, 67_238, 151_962, 343_444, 102_067]);
    ranks[2].send(3, 2985, 3);
    ranks[3].recv(2, 3);
    tree(&mut ranks, 180_833, 2);
    tree(&mut ranks, 101_761, 0);
    let mut replay = replay(log_gops(), overheads(), 5, &program(&ranks));
    let wanted = [5_500_982, 4_276_862, 4_888_922, 3_190_370, 4_888_922];
    assert_eq!(ends(&mut replay), wanted);
}

/// The wait of a shift is over when its send has left, so the next receive is posted though a message has the processor.
#[test]
fn a_receive_behind_a_wait_that_is_over_is_posted_in_time() {
    let mut ranks = vec![Calls::default(); 5];
    tree(&mut ranks, 2533, 0);
    for (calls, ns) in ranks
        .iter_mut()
        .zip([385_326, 236_576, 237_437, 123_138, 317_722])
    {
        calls.compute(ns);
    }
    for (rank, calls) in (0..).zip(&mut ranks) {
        calls.irecv((rank + 1) % 5, 2, 0);
        calls.isend((rank + 4) % 5, 1557, 2, 1).wait(&[1, 0]);
    }
    tree(&mut ranks, 179_569, 2);
    let mut replay = replay(log_gops(), overheads(), 5, &program(&ranks));
    let wanted = [3_688_462, 1_530_646, 2_609_554, 338_058, 2_609_554];
    assert_eq!(ends(&mut replay), wanted);
}

/// A message that ends a wait has the processor: the receive behind the wait is posted when that is free again.
#[test]
fn a_receive_behind_a_wait_that_a_message_ends_comes_after_it() {
    let mut ranks = computing(&[43_220, 0, 46_944, 0]);
    ranks[0].irecv(2, 3, 0);
    ranks[0].isend(1, 1, 3, 1).wait(&[1, 0]).recv(3, 1);
    ranks[1].recv(0, 3);
    ranks[2].send(0, 1, 3);
    ranks[3].send(0, 195_679, 1);
    let mut replay = replay(log_gops(), overheads(), 4, &program(&ranks));
    let wanted = [1_221_788, 1_224_288, 48_444, 1_221_788];
    assert_eq!(ends(&mut replay), wanted);
}

/// Cycles of a message over an idle network: the head through every router, then the rest of it.
#[test]
fn a_message_over_idle_links_takes_the_way_of_its_head_and_its_flits() {
    let ticks = |hops: u64, bytes: u64| {
        let mut ranks = vec![Calls::default(); 8];
        ranks[0].send(hops as i32, bytes, 0);
        ranks[hops as usize].recv(0, 0);
        let program = program(&ranks);
        let mut replay = replay(awake(ring(8)), free(), 8, &program);
        ends(&mut replay)[hops as usize]
    };
    for hops in 1..=4 {
        let flits = |bytes: u64| bytes.div_ceil(16).max(1);
        let first = ticks(hops, 1);
        assert_eq!(first - ticks(1, 1), 3 * (hops - 1), "3 cycles a hop");
        for bytes in [0, 16, 17, 128, 129, 1000, 65_536] {
            assert_eq!(ticks(hops, bytes) - first, flits(bytes) - 1);
        }
    }
}

#[test]
fn computing_takes_no_simulation_and_its_own_time() {
    let mut ranks = vec![Calls::default(); 4];
    for calls in &mut ranks {
        calls.compute(6_000_000_000).collective(16, 0);
    }
    let program = program(&ranks);
    let mut replay = replay(awake(hyperx(&[4], 1)), free(), 4, &program);
    for end in ends(&mut replay) {
        assert!((6_000_000_000..6_000_000_100).contains(&end), "{end}");
    }
}

/// Messages over one link, a hundred of them 5,000 cycles apart: with holds of its own it learns whether sleeping pays.
#[test]
fn a_link_that_bounds_its_delay_sleeps_as_far_as_its_gaps_allow() {
    let run = |share: f64| {
        let mut ranks = vec![Calls::default(); 4];
        ranks[0].repeat(100).compute(5000).send(1, 8, 0).end();
        ranks[1].repeat(100).recv(0, 0).end();
        let program = program(&ranks);
        let routers = deep(100);
        let links = LinkPolicies {
            routers,
            nodes: LinkPolicy::default(),
            cards: LinkPolicy::default(),
            bound: Some(DelayBound {
                share,
                epoch: 50_000,
            }),
        };
        let mut replay = replay(over(ring(4), links), free(), 4, &program);
        finish(&mut replay);
        match replay.transport() {
            Transport::Network(wires) => (0..wires.engine.network().ports().len() as u32)
                .filter_map(|port| wires.engine.link(port))
                .map(|ledger| ledger.wakes)
                .sum::<u64>(),
            Transport::LogGops(_) => 0,
        }
    };
    assert_eq!(run(1.0), 100, "each gap is slept in");
    let learning = run(0.001);
    assert!(
        (1..=12).contains(&learning),
        "{learning} wakes until the first epoch was over"
    );
}

/// A message after a long pause waits once for each direction that sleeps: from its node, and to the other's.
#[test]
fn links_from_nodes_sleep_by_a_policy_of_their_own() {
    let deep = deep(100);
    let run = |nodes, cards| {
        let mut ranks = vec![Calls::default(); 2];
        ranks[0].compute(5000).send(1, 8, 0);
        ranks[1].recv(0, 0);
        let links = LinkPolicies {
            routers: LinkPolicy::default(),
            nodes,
            cards,
            bound: None,
        };
        let mut replay = replay(over(ring(4), links), free(), 4, &program(&ranks));
        finish(&mut replay);
        replay.progress().now
    };
    let awake = LinkPolicy::default();
    let never = run(awake, awake);
    assert_eq!(run(deep, awake), never + 100);
    assert_eq!(run(awake, deep), never + 100);
    assert_eq!(run(deep, deep), never + 200);
}
