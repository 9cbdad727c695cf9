//! TCEP in the packet engine: its laws, and beside the flit engine.

use crate::networks::{
    cut_through, flat, flit_engine, law_of_packets, packet_engine, ports, routing,
};
use interconnect::consolidation::Consolidation;
use interconnect::link::LinkPolicy;
use interconnect::routing::Algorithm;
use interconnect::tcep::LinkState;
use interconnect::traffic::Pattern;
use interconnect::{Network, PacketEngine};
use proptest::prelude::*;

fn quick() -> Consolidation {
    Consolidation {
        epoch: 100,
        deactivation_epochs: 5,
        wake: 100,
        ..Consolidation::default()
    }
}

fn engine(network: &Network, flits: u32, load: f64, seed: u64) -> PacketEngine {
    let pal = Algorithm::PowerAware;
    let mut engine = packet_engine(network, pal, cut_through(flits), load, seed).unwrap();
    engine.set_links(LinkPolicy::default()).unwrap();
    engine
}

fn of_messages(network: &Network) -> PacketEngine {
    let own = routing(network, Algorithm::PowerAware, cut_through(4).vcs);
    let mut engine = PacketEngine::of_messages(network.clone(), own, cut_through(4), 1).unwrap();
    engine.set_links(LinkPolicy::default()).unwrap();
    engine.set_consolidation(quick()).unwrap();
    engine
}

fn count(network: &Network, engine: &PacketEngine, state: LinkState) -> usize {
    let is = |&&port: &&u32| engine.link_state(port) == Some(state);
    ports(network).iter().filter(is).count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn nothing_is_lost_whatever_links_do(
        sizes in prop::collection::vec(2..5u32, 1..3),
        flits in 1..5u32,
        load in 0.0..0.9f64,
        (epoch, deactivation_epochs, wake) in (20..200u64, 1..6u32, 0..300u64),
        mark in 0.0..1.0f64,
        begins_with_root in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let network = flat(&sizes, 2, 1).with_link_latency(3).unwrap();
        let mut engine = engine(&network, flits, load, seed);
        engine.set_consolidation(Consolidation {
            epoch, deactivation_epochs, wake, high_water_mark: mark, begins_with_root,
        }).unwrap();
        law_of_packets(&mut engine, [1, 7, 300, 2001], 1000)?;
        for port in ports(&network) {
            prop_assert!(engine.off_cycles(port) + engine.turning_on_cycles(port) <= engine.now());
        }
    }
}

#[test]
fn links_that_nothing_needs_go_off_until_the_root_network_is_left() {
    let network = flat(&[4, 4], 2, 1).with_link_latency(3).unwrap();
    let mut engine = engine(&network, 1, 0.01, 3);
    engine.set_consolidation(quick()).unwrap();
    engine.advance(100_000);
    // A star to the hub in each of eight rows and columns; both ports of a link.
    assert_eq!(count(&network, &engine, LinkState::Active), 2 * 8 * 3);
    assert_eq!(count(&network, &engine, LinkState::Off), 2 * 8 * 3);
    let share = |engine: &PacketEngine| {
        let off = ports(&network)
            .into_iter()
            .map(|port| engine.off_cycles(port));
        off.sum::<u64>() as f64 / ports(&network).len() as f64 / engine.now() as f64
    };
    assert!((0.4..0.5).contains(&share(&engine)));
    let counts = engine.consolidation();
    assert_eq!(counts.control_packets, counts.control_arrived);
}

#[test]
fn with_epochs_that_never_end_packets_take_as_long_as_without() {
    let network = flat(&[4, 4], 2, 1).with_link_latency(3).unwrap();
    let mean = |gates: bool| {
        let mut engine = engine(&network, 4, 0.4, 3);
        if gates {
            let epoch = 1 << 40;
            engine
                .set_consolidation(Consolidation { epoch, ..quick() })
                .unwrap();
        }
        engine.measure(true);
        engine.advance(30_000);
        assert_eq!(engine.consolidation().control_packets, 0);
        engine.measurement().latencies().mean().unwrap()
    };
    let (plain, gated) = (mean(false), mean(true));
    assert!((gated / plain - 1.0).abs() < 0.01, "{plain} {gated}");
}

#[test]
fn time_without_messages_costs_nothing_once_links_are_off() {
    let network = flat(&[4, 4], 2, 1);
    let mut engine = of_messages(&network);
    engine.send(0, 31, 100, 7, false);
    let mut cycles = 0;
    while let Some(due) = engine.next_due() {
        engine.skip_to(due);
        engine.cycle();
        cycles += 1;
        assert!(cycles < 20_000, "epochs without end");
    }
    assert_eq!(count(&network, &engine, LinkState::Off), 2 * 8 * 3);
    let mut signals = Vec::new();
    engine.take_signals(&mut signals);
    assert_eq!(signals.len(), 1);
    // And a message still finds its way, over the hub.
    engine.skip_to(1_000_000_000);
    engine.send(3, 29, 100, 8, false);
    while engine.packets().1 < 50 {
        let due = engine.next_due().unwrap();
        engine.skip_to(due);
        engine.cycle();
    }
    assert!(engine.now() < 1_000_001_000);
}

#[test]
fn latency_of_messages_is_the_time_of_packets_under_way() {
    let network = flat(&[4, 4], 2, 1);
    let mut engine = of_messages(&network);
    let mut under_way = 0;
    for cycle in 0..3000u32 {
        if cycle % 300 == 0 {
            engine.send(cycle / 300, 31 - cycle / 300, 100, cycle, false);
        }
        engine.cycle();
        let (made, done) = engine.packets();
        under_way += made - done;
        assert_eq!(engine.message_latency(), under_way, "cycle {cycle}");
    }
    // 25 packets of each message, of 4 flits each: the least that one takes is more than its flits.
    assert_eq!(engine.packets(), (250, 250));
    assert!(under_way > 250 * 4);
    engine.skip_to(engine.next_due().unwrap());
    assert_eq!(engine.message_latency(), under_way);
}

#[test]
fn both_engines_turn_off_as_many_links() {
    let network = flat(&[4, 4], 4, 1).with_link_latency(3).unwrap();
    for load in [0.05, 0.3, 0.5] {
        let mut flit = flit_engine(
            &network,
            Algorithm::PowerAware,
            &Pattern::Uniform,
            cut_through(1),
            load,
            3,
        );
        let mut packet = engine(&network, 1, load, 4);
        flit.set_consolidation(quick()).unwrap();
        packet.set_consolidation(quick()).unwrap();
        flit.advance(60_000);
        packet.advance(60_000);
        let before: [u64; 2] = [0, 1].map(|which| {
            let off = ports(&network).into_iter().map(|port| match which {
                0 => flit.off_cycles(port),
                _ => packet.off_cycles(port),
            });
            off.sum()
        });
        flit.measure(true);
        packet.measure(true);
        flit.advance(60_000);
        packet.advance(60_000);
        let all = ports(&network);
        let time = 60_000.0 * all.len() as f64;
        let flit_off: u64 = all.iter().map(|&port| flit.off_cycles(port)).sum();
        let packet_off: u64 = all.iter().map(|&port| packet.off_cycles(port)).sum();
        let off = [flit_off - before[0], packet_off - before[1]].map(|off| off as f64 / time);
        let means =
            [flit.measurement(), packet.measurement()].map(|own| own.latencies().mean().unwrap());
        println!(
            "{load}: off {off:?}, mean {means:?}, {:?} {:?}",
            flit.consolidation(),
            packet.consolidation()
        );
        assert!((off[0] - off[1]).abs() < 0.03, "{load}: off {off:?}");
        assert!(
            (means[1] / means[0] - 1.0).abs() < 0.04,
            "{load}: {means:?}"
        );
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let network = flat(&[4], 2, 1);
    let mut gated = engine(&network, 1, 0.1, 1);
    gated.set_consolidation(quick()).unwrap();
    gated.advance(100);
    let late = gated.set_consolidation(quick()).unwrap_err().to_string();
    assert!(late.contains("before the first packet"), "{late}");
}
