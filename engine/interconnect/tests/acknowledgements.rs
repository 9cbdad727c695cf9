//! Acknowledgements of messages: how many there are, what they cost and whom they keep awake.

use crate::networks::{cut_through, flat, routing};
use interconnect::PacketEngine;
use interconnect::link::{LinkPolicy, Mode, Timing};
use interconnect::packet::{Acknowledgements, LinkPolicies};
use interconnect::routing::Algorithm;
use proptest::prelude::*;

const NODES: u32 = 32;
const PACKET: u32 = 4;
const BEGIN: u64 = 1000;

fn engine(how: Option<Acknowledgements>, links: LinkPolicy) -> PacketEngine {
    let network = flat(&[4, 4], 2, 1);
    let own = routing(&network, Algorithm::DimensionOrder, cut_through(PACKET).vcs);
    let mut engine = PacketEngine::of_messages(network, own, cut_through(PACKET), 1).unwrap();
    engine
        .set_links(LinkPolicies {
            routers: links,
            nodes: links,
            cards: links,
            bound: None,
        })
        .unwrap();
    if let Some(how) = how {
        engine.acknowledge_messages(how).unwrap();
    }
    engine
}

/// Until nothing is under way; tokens of messages in the order in which they came.
fn run(engine: &mut PacketEngine) -> Vec<u32> {
    let mut signals = Vec::new();
    while let Some(due) = engine.next_due() {
        engine.skip_to(due);
        engine.cycle();
    }
    engine.take_signals(&mut signals);
    signals.iter().map(|signal| signal.token()).collect()
}

fn sent(engine: &PacketEngine, node: u32) -> u64 {
    engine.node_link(node).unwrap().transmit
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_so_many_packets_of_a_message_have_one_back(
        messages in prop::collection::vec((0..NODES, 1..NODES, 1..200u64), 1..40),
        packets in 1..6u32,
        flits in 1..9u16,
    ) {
        let how = Acknowledgements { packets, flits };
        let (mut plain, mut answered) = (engine(None, LinkPolicy::default()), engine(Some(how), LinkPolicy::default()));
        let mut wanted = [0u64; NODES as usize];
        let mut answers = 0;
        for (token, &(from, ahead, length)) in (0..).zip(&messages) {
            let to = (from + ahead) % NODES;
            plain.send(from, to, length, token, false);
            answered.send(from, to, length, token, false);
            let back = length.div_ceil(u64::from(PACKET)) / u64::from(packets);
            answers += back;
            wanted[from as usize] += length;
            wanted[to as usize] += back * u64::from(flits).min(u64::from(PACKET));
        }
        let (mut before, mut after) = (run(&mut plain), run(&mut answered));
        before.sort_unstable();
        after.sort_unstable();
        prop_assert_eq!(before, after);
        for node in 0..NODES {
            prop_assert_eq!(sent(&answered, node), wanted[node as usize]);
        }
        prop_assert_eq!(answered.packets().0, plain.packets().0 + answers);
        prop_assert_eq!(answered.packets().0, answered.packets().1);
        prop_assert_eq!(answered.hops(), plain.hops());
        prop_assert!(answered.is_clean());
    }
}

#[test]
fn data_in_one_direction_keeps_the_other_awake() {
    let links = LinkPolicy {
        mode: Mode::Deep,
        timing: Timing {
            hold: 100,
            wake: 10,
            ..Timing::default()
        },
        ..LinkPolicy::default()
    };
    let how = Acknowledgements {
        packets: 2,
        flits: 2,
    };
    let stream = |how: Option<Acknowledgements>| {
        let mut engine = engine(how, links);
        engine.skip_to(BEGIN);
        engine.send(0, 31, 10_000, 7, false);
        assert_eq!(run(&mut engine), [7]);
        (engine.now(), engine.node_link(31).unwrap())
    };
    let (plain_end, silent) = stream(None);
    let (end, answers) = stream(Some(how));
    assert_eq!(silent.wakes, 0);
    assert_eq!(silent.low_power(), plain_end - 100);
    assert_eq!(answers.wakes, 1);
    assert_eq!(answers.transmit, 10_000 / 8 * 2);
    // Until the first packets have come, for which four links wake.
    assert!(
        (BEGIN - 100..BEGIN).contains(&answers.low_power()),
        "{answers:?}"
    );
    assert!(end < plain_end + 100);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let mut engine = engine(None, LinkPolicy::default());
    for (packets, flits) in [(0, 1), (1, 0)] {
        let how = Acknowledgements { packets, flits };
        assert!(engine.acknowledge_messages(how).is_err());
    }
}
