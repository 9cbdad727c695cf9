//! HAN's pipeline of segments: while one crosses between nodes, the one before it moves within them.

use std::sync::Arc;

use interconnect::link::LinkPolicy;
use proptest::prelude::*;
use replay::collectives::Library;
use replay::costs::{Costs, Rendezvous};
use replay::engine::RankResult;
use replay::transport::Transport;
use replay::{Hosts, Program, Replay};

use crate::support::{
    Calls, awake, deep, finish, free, hosts, hyperx, job, log_gops, over, program,
};

const SEGMENT: u64 = 65_536;
const BCAST: u16 = 17;
const REDUCE: u16 = 18;
const ALLREDUCE: u16 = 19;

/// The ranks of a call, each on its node.
fn on_nodes(transport: Transport, costs: Costs, nodes: &[u32], program: &Arc<Program>) -> Replay {
    let hosts = Hosts {
        library: Library::OpenMpi50,
        ..hosts(costs)
    };
    let machine = nodes.iter().max().unwrap() + 1;
    let mut replay = Replay::new(transport, hosts, machine, 1).unwrap();
    replay.add(job(program, nodes.to_vec())).unwrap();
    replay
}

fn called(ranks: usize, call: u16, root: i32, bytes: u64) -> Arc<Program> {
    let mut calls = Calls::default();
    calls.call(call, root, 0, bytes, -1);
    program(&vec![calls; ranks])
}

/// Two ranks on each of two nodes, whose memory takes so long for a byte. Nearly all of a segment goes with its request, as
/// over TCP: an answer would wait behind what its own node sends.
fn two_by_two(call: u16, bytes: u64, memory_byte: f64) -> Vec<RankResult> {
    let costs = Costs {
        eager_bytes: 65_480,
        request_carries: 65_480,
        memory_byte,
        ..free()
    };
    let program = called(4, call, 0, bytes);
    finish(&mut on_nodes(
        awake(hyperx(&[2], 1)),
        costs,
        &[0, 0, 1, 1],
        &program,
    ))
}

fn time(call: u16, bytes: u64, memory_byte: f64) -> f64 {
    let ranks = two_by_two(call, bytes, memory_byte);
    ranks.iter().filter_map(|rank| rank.finished).max().unwrap() as f64
}

fn is_near(found: f64, wanted: f64) -> bool {
    (found / wanted - 1.0).abs() < 0.01
}

/// A segment is 4,096 flits between nodes; within them, an eighth of that time, nearly as long, and four times as long.
const MEMORY: [f64; 4] = [1.0 / 128.0, 0.0626, 0.0624, 0.25];

#[test]
fn a_bcast_or_reduce_takes_its_slower_stage_for_each_segment_and_the_other_once() {
    for call in [BCAST, REDUCE] {
        for memory_byte in MEMORY {
            let both = time(call, SEGMENT, memory_byte);
            let within = memory_byte * SEGMENT as f64;
            let between = both - within;
            assert!(between > 4096.0, "a flit a cycle");
            for segments in [2, 3, 4, 10, 40_u32] {
                let found = time(call, u64::from(segments) * SEGMENT, memory_byte);
                let wanted = both + f64::from(segments - 1) * within.max(between);
                assert!(
                    is_near(found, wanted),
                    "{call}, {segments} segments: {found}, not {wanted}"
                );
            }
        }
    }
}

/// Rounds of an allreduce: what is active in each takes the time of its slowest, and within nodes reduce and bcast follow
/// each other.
#[test]
fn an_allreduce_takes_the_slowest_of_its_stages_in_each_round() {
    for memory_byte in MEMORY {
        let within = memory_byte * SEGMENT as f64;
        let down = time(BCAST, SEGMENT, memory_byte) - within;
        let up = time(REDUCE, SEGMENT, memory_byte) - within;
        for segments in [1, 2, 3, 4, 10, 40_u32] {
            let active = |round: u32, behind: u32| {
                let segment = round.checked_sub(behind);
                f64::from(u8::from(segment.is_some_and(|own| own < segments)))
            };
            let rounds = (0..segments + 3).map(|round| {
                let blocking = within * (active(round, 0) + active(round, 3));
                blocking
                    .max(up * active(round, 1))
                    .max(down * active(round, 2))
            });
            let wanted: f64 = rounds.sum();
            let found = time(ALLREDUCE, u64::from(segments) * SEGMENT, memory_byte);
            assert!(
                is_near(found, wanted),
                "{segments} segments of {within}: {found}, not {wanted}"
            );
        }
    }
}

/// Within the nodes a message for each rank and segment; between them one, and in a reduce of 64 KiB a chain of 8 KiB.
#[test]
fn a_second_segment_begins_behind_64_kib() {
    for (call, wanted) in [
        (BCAST, [3, 3, 6]),
        (REDUCE, [3, 10, 13]),
        (ALLREDUCE, [6, 13, 19]),
    ] {
        let found = [SEGMENT - 1, SEGMENT, SEGMENT + 1].map(|bytes| -> u64 {
            let ranks = two_by_two(call, bytes, 0.01);
            ranks.iter().map(|rank| rank.account.messages).sum()
        });
        assert_eq!(found, wanted, "{call}");
    }
}

fn costs() -> impl Strategy<Value = Costs> {
    let plain = Costs {
        eager_bytes: 4096,
        request_carries: 1000,
        header_bytes: 40,
        send: 30.0,
        receive: 20.0,
        combine_byte: 0.01,
        memory: 100.0,
        memory_byte: 0.02,
        ..free()
    };
    prop_oneof![
        Just(plain),
        Just(Costs {
            rendezvous: Rendezvous::Get,
            ..plain
        }),
        Just(free())
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Calls end with all that was sent received, one after the other on a communicator; with links that never fall
    /// asleep at the same time as with links that cannot; and equal replays are equal.
    #[test]
    fn calls_of_segments_end_and_leave_nothing(
        given in prop::collection::vec((16..=19_u16, 0..12_i32, 0..400_000_u64), 1..4),
        shape in (2..4_u32, 2..4_u32),
        costs in costs(),
    ) {
        let (machines, each) = shape;
        let nodes: Vec<u32> = (0..machines * each).map(|rank| rank / each).collect();
        let mut calls = Calls::default();
        for (call, root, bytes) in given {
            let root = if call == BCAST || call == REDUCE { root % nodes.len() as i32 } else { 0 };
            calls.call(call, root, 0, bytes, -1);
        }
        let program = program(&vec![calls; nodes.len()]);
        let network = || hyperx(&[machines], 1);
        let never = LinkPolicy { timing: interconnect::link::Timing { hold: u64::MAX / 4, ..deep(200).timing }, ..deep(200) };
        let ends = |transport| {
            let mut replay = on_nodes(transport, costs, &nodes, &program);
            let ranks = finish(&mut replay);
            assert_eq!(replay.unmatched(), (0, 0));
            let met = |rank: &RankResult| rank.depths.expected_messages + rank.depths.unexpected_messages;
            assert_eq!(ranks.iter().map(met).sum::<u64>(), ranks.iter().map(|rank| rank.account.messages).sum());
            assert!(ranks.iter().all(|rank| rank.depths.posted == 0 && rank.depths.unexpected == 0));
            ranks.iter().map(|rank| (rank.finished, rank.account.bytes)).collect::<Vec<_>>()
        };
        let awake_ends = ends(awake(network()));
        prop_assert_eq!(&awake_ends, &ends(awake(network())));
        prop_assert_eq!(&awake_ends, &ends(over(network(), never.into())));
        let bytes = |ends: &[(Option<u64>, u64)]| ends.iter().map(|end| end.1).collect::<Vec<_>>();
        let asleep = ends(over(network(), deep(200).into()));
        prop_assert_eq!(bytes(&awake_ends), bytes(&asleep));
        prop_assert_eq!(bytes(&awake_ends), bytes(&ends(log_gops())));
    }
}
