//! Turns that nodes take between the nodes that they send to.

use crate::networks::{cut_through, flat, routing};
use interconnect::PacketEngine;
use interconnect::packet::{Acknowledgements, Signal};
use interconnect::routing::Algorithm;
use proptest::prelude::*;

const PACKET: u32 = 4;
const NODES: u32 = 8;

fn engine(in_turn: bool) -> PacketEngine {
    let network = flat(&[4], 2, 1);
    let own = routing(&network, Algorithm::DimensionOrder, cut_through(PACKET).vcs);
    let mut engine = PacketEngine::of_messages(network, own, cut_through(PACKET), 1).unwrap();
    if in_turn {
        engine.take_turns().unwrap();
    }
    engine
}

/// Until nothing is under way: tokens, in the order in which messages have left, and have come; and when it ended.
fn run(engine: &mut PacketEngine) -> (Vec<u32>, Vec<u32>, u64) {
    let (mut signals, mut end) = (Vec::new(), 0);
    while let Some(due) = engine.next_due() {
        engine.skip_to(due);
        engine.cycle();
        end = due;
    }
    engine.take_signals(&mut signals);
    let (left, came): (Vec<Signal>, Vec<Signal>) = signals
        .into_iter()
        .partition(|signal| matches!(signal, Signal::Left { .. }));
    let tokens = |signals: Vec<Signal>| signals.into_iter().map(Signal::token).collect();
    (tokens(left), tokens(came), end)
}

#[test]
fn a_short_message_to_another_node_does_not_wait_for_a_long_one() {
    for (in_turn, first) in [(false, 0), (true, 1)] {
        let mut engine = engine(in_turn);
        engine.send(0, 2, 400, 0, true);
        engine.send(0, 4, 4, 1, true);
        let (left, came, _) = run(&mut engine);
        assert_eq!((left[0], came[0]), (first, first));
    }
}

#[test]
fn messages_to_one_node_go_in_order() {
    let mut engine = engine(true);
    engine.send(0, 2, 400, 0, true);
    engine.send(0, 2, 4, 1, true);
    engine.send(0, 4, 40, 2, true);
    assert_eq!(run(&mut engine).0, [2, 0, 1]);
}

#[test]
fn all_that_send_to_one_node_first_wait_for_it_unless_they_take_turns() {
    let end = |in_turn| {
        let mut engine = engine(in_turn);
        for from in 0..NODES {
            for to in (0..NODES).filter(|&to| to != from) {
                engine.send(from, to, 1000, from * NODES + to, false);
            }
        }
        run(&mut engine).2
    };
    assert!(2 * end(true) < end(false));
}

#[test]
fn turns_begin_with_the_first_message() {
    let mut engine = engine(false);
    engine.send(0, 2, 400, 0, false);
    run(&mut engine);
    assert!(engine.take_turns().is_err());
}

proptest! {
    #[test]
    fn whatever_is_sent_comes_and_to_each_node_in_order(
        messages in prop::collection::vec((0..NODES, 1..NODES, 1..200_u64), 1..40),
        acknowledged: bool,
    ) {
        let mut engine = engine(true);
        if acknowledged {
            engine.acknowledge_messages(Acknowledgements { packets: 2, flits: 1 }).unwrap();
        }
        let ends: Vec<(u32, u32)> = messages.iter().map(|&(from, ahead, _)| (from, (from + ahead) % NODES)).collect();
        for (token, (&(from, to), &(_, _, flits))) in (0..).zip(ends.iter().zip(&messages)) {
            engine.send(from, to, flits, token, true);
        }
        let (left, mut came, _) = run(&mut engine);
        came.sort_unstable();
        prop_assert_eq!(came, (0..messages.len() as u32).collect::<Vec<_>>());
        for pair in &ends {
            let own: Vec<u32> = left.iter().copied().filter(|&token| ends[token as usize] == *pair).collect();
            prop_assert!(own.is_sorted());
        }
        prop_assert!(engine.is_clean());
    }
}
