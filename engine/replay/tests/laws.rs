//! Laws of every program: what was sent arrives, links that never fall asleep change nothing, jobs apart do not meet.

use std::sync::Arc;

use interconnect::link::{LinkPolicy, Mode, Timing};
use interconnect::packet::LinkPolicies;
use proptest::prelude::*;
use replay::costs::{Costs, Rendezvous};
use replay::{Hosts, Program, Replay};

use crate::support::{
    Calls, awake, ends, finish, free, hosts, hyperx, job, log_gops, over, program, replay,
};

const RANKS: usize = 8;

/// A step of a random program, in which all take part.
#[derive(Clone, Debug)]
enum Round {
    /// From one to another: bytes, tag, and how long the receiver computes before it posts its receive.
    Message(usize, usize, u64, i32, u64),
    /// Everyone to the neighbour at a distance.
    Shift(usize, u64),
    /// A collective call, by number.
    Collective(u16, u64),
    Compute(u64),
}

fn rounds() -> impl Strategy<Value = Vec<Round>> {
    let bytes = prop_oneof![Just(0), 1..300_u64, Just(65_536), 1..200_000_u64];
    let round = prop_oneof![
        (0..RANKS, 0..RANKS, bytes.clone(), 0..3, 0..20_000_u64)
            .prop_map(|(from, to, bytes, tag, late)| Round::Message(from, to, bytes, tag, late)),
        (1..RANKS, bytes).prop_map(|(by, bytes)| Round::Shift(by, bytes)),
        (
            prop_oneof![Just(16_u16), Just(17), Just(19), Just(26)],
            0..4000_u64
        )
            .prop_map(|(call, bytes)| Round::Collective(call, bytes)),
        (0..50_000_u64).prop_map(Round::Compute),
    ];
    prop::collection::vec(round, 1..12)
}

fn of(rounds: &[Round], scale: u64) -> Arc<Program> {
    let mut ranks = vec![Calls::default(); RANKS];
    for round in rounds {
        match *round {
            Round::Message(from, to, bytes, tag, late) => {
                ranks[to].compute(late * scale);
                ranks[to].irecv(from as i32, tag, 0);
                ranks[from].isend(to as i32, bytes, tag, 1);
                ranks[from].wait(&[1]);
                ranks[to].wait(&[0]);
            }
            Round::Shift(by, bytes) => {
                for (rank, calls) in ranks.iter_mut().enumerate() {
                    calls.irecv(((rank + RANKS - by) % RANKS) as i32, 7, 0);
                    calls.isend(((rank + by) % RANKS) as i32, bytes, 7, 1);
                    calls.wait(&[0, 1]);
                }
            }
            Round::Collective(call, bytes) => {
                for calls in &mut ranks {
                    calls.collective(call, bytes);
                }
            }
            Round::Compute(ns) => {
                for (rank, calls) in ranks.iter_mut().enumerate() {
                    calls.compute(ns * scale * (rank as u64 + 1));
                    calls.call(0, 0, 0, 0, -1);
                }
            }
        }
    }
    program(&ranks)
}

fn rendezvous() -> Costs {
    Costs {
        eager_bytes: 4096,
        request_carries: 1000,
        header_bytes: 40,
        send: 30.0,
        receive: 20.0,
        ..free()
    }
}

fn read() -> Costs {
    Costs {
        rendezvous: Rendezvous::Get,
        ..rendezvous()
    }
}

fn acknowledged() -> Costs {
    Costs {
        ack_bytes: 20,
        ack_packets: 2,
        ..rendezvous()
    }
}

fn in_turn() -> Costs {
    Costs {
        in_turn: true,
        ..acknowledged()
    }
}

fn deep(hold: u64) -> LinkPolicy {
    LinkPolicy {
        mode: Mode::Deep,
        timing: Timing {
            hold,
            sleep: 100,
            wake: 200,
            wake_during_sleep: 200,
            ..Timing::default()
        },
        ..LinkPolicy::default()
    }
}

fn asleep(policy: LinkPolicy) -> LinkPolicies {
    LinkPolicies {
        routers: policy,
        nodes: policy,
        cards: policy,
        bound: None,
    }
}

fn network_is_clean(replay: &Replay) -> bool {
    match replay.transport() {
        replay::transport::Transport::Network(wires) => wires.engine.in_flight() == 0,
        replay::transport::Transport::LogGops(_) => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn all_that_is_sent_is_received(rounds in rounds()) {
        let program = of(&rounds, 1);
        for costs in [free(), rendezvous(), read(), acknowledged(), in_turn()] {
            for transport in [awake(hyperx(&[4], 2)), over(hyperx(&[4], 2), asleep(deep(50))), log_gops()] {
                let mut replay = replay(transport, costs, 8, &program);
                let ranks = finish(&mut replay);
                prop_assert_eq!(replay.unmatched(), (0, 0));
                let sent: u64 = ranks.iter().map(|rank| rank.account.messages).sum();
                let met: u64 = ranks
                    .iter()
                    .map(|rank| rank.depths.expected_messages + rank.depths.unexpected_messages)
                    .sum();
                prop_assert_eq!(sent, met);
                prop_assert!(ranks.iter().all(|rank| rank.depths.posted == 0 && rank.depths.unexpected == 0));
                // Nobody waits for the last acknowledgements.
                prop_assert!(costs.ack_bytes > 0 || network_is_clean(&replay));
            }
        }
    }

    #[test]
    fn links_that_never_fall_asleep_change_nothing(rounds in rounds()) {
        let program = of(&rounds, 1);
        let mut always = replay(awake(hyperx(&[4], 2)), rendezvous(), 8, &program);
        let mut never = replay(over(hyperx(&[4], 2), asleep(deep(u64::MAX / 4))), rendezvous(), 8, &program);
        let (always, never) = (finish(&mut always), finish(&mut never));
        for (one, other) in always.iter().zip(&never) {
            prop_assert_eq!(one.finished, other.finished);
            prop_assert_eq!(one.account, other.account);
            prop_assert_eq!(one.depths, other.depths);
        }
    }

    #[test]
    fn equal_replays_are_equal(rounds in rounds()) {
        let program = of(&rounds, 1);
        for costs in [rendezvous(), in_turn()] {
            let run = || ends(&mut replay(over(hyperx(&[4], 2), asleep(deep(50))), costs, 8, &program));
            prop_assert_eq!(run(), run());
        }
    }

    /// Without a network all times are parameters: three times as long each, three times as long in all.
    #[test]
    fn times_scale(rounds in rounds()) {
        let times = |by: u64| {
            let costs = Costs { eager_bytes: 4096, send: 30.0 * by as f64, receive: 20.0 * by as f64, ..free() };
            let wires = replay::transport::LogGops {
                latency: 500.0 * by as f64,
                gap: 10.0 * by as f64,
                gap_byte: by as f64,
            };
            let transport = replay::transport::Transport::LogGops(wires);
            ends(&mut replay(transport, costs, 8, &of(&rounds, by)))
        };
        let scaled: Vec<u64> = times(1).iter().map(|end| 3 * end).collect();
        prop_assert_eq!(scaled, times(3));
    }

    /// Times below a tick: a rank takes what they are in all, and less than a tick more or less.
    #[test]
    fn short_times_add_up(compute_ns in 0..2000_u64, send in 0.0..3.0_f64, calls in 1..200_u32) {
        let mut ranks = vec![Calls::default(); 2];
        for _ in 0..calls {
            ranks[0].compute(compute_ns).send(1, 8, 0);
            ranks[1].recv(0, 0);
        }
        let wires = replay::transport::LogGops { latency: 0.0, gap: 0.0, gap_byte: 0.0 };
        let transport = replay::transport::Transport::LogGops(wires);
        let costs = Costs { send, ..free() };
        let mut replay = Replay::new(transport, Hosts { tick_ns: 500.0, ..hosts(costs) }, 2, 1).unwrap();
        replay.add(job(&program(&ranks), vec![0, 1])).unwrap();
        let ended = ends(&mut replay)[0] as f64;
        let all = f64::from(calls) * (compute_ns as f64 / 500.0 + send);
        prop_assert!((ended - all).abs() < 1.0, "{ended} ticks in place of {all}");
    }

    /// Two jobs whose packets share no link: each runs as if alone, whichever was added first.
    #[test]
    fn jobs_apart_do_not_meet(one in rounds(), other in rounds()) {
        let (one, other) = (of(&one, 1), of(&other, 1));
        let first: Vec<u32> = (0..8).collect();
        let second: Vec<u32> = (8..16).collect();
        // Rows of a HyperX: packets between routers of a row stay in it.
        let run = |jobs: &[(&Arc<Program>, &Vec<u32>)]| {
            let transport = over(hyperx(&[4, 2], 2), asleep(deep(50)));
            let mut replay = Replay::new(transport, hosts(rendezvous()), 16, 1).unwrap();
            for (program, nodes) in jobs {
                replay.add(job(program, (*nodes).clone())).unwrap();
            }
            ends(&mut replay)
        };
        let (alone, beside) = (run(&[(&one, &first)]), run(&[(&other, &second)]));
        let mut together = alone.clone();
        together.extend(&beside);
        prop_assert_eq!(run(&[(&one, &first), (&other, &second)]), together);
        let mut swapped = beside;
        swapped.extend(&alone);
        prop_assert_eq!(run(&[(&other, &second), (&one, &first)]), swapped);
    }
}
