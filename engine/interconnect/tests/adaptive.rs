//! Routings that ask for several hops at once, in the packet engine: their laws, and beside the flit engine.

use crate::networks::{flat, flit_engine, law_of_packets, packet_engine, sleepy, torus, trunked};
use interconnect::link::LinkPolicy;
use interconnect::measure::{Interval, Measurement};
use interconnect::routing::Algorithm;
use interconnect::traffic::Pattern;
use interconnect::{Network, RouterParameters, Switching};
use proptest::prelude::*;

const BOTH: [Algorithm; 2] = [Algorithm::MinimalAdaptive, Algorithm::MinimalAwake];

fn cut_through(vcs: u8, packet_flits: u32) -> RouterParameters {
    RouterParameters {
        switching: Switching::CutThrough,
        vcs,
        packet_flits,
        ..RouterParameters::default()
    }
}

fn networks() -> impl Strategy<Value = Network> {
    prop_oneof![
        (prop::collection::vec(2..6u32, 1..4), any::<bool>(), 1..3u32)
            .prop_map(|(radix, wraps, trunk)| trunked(&radix, wraps, 1, trunk)),
        (prop::collection::vec(2..5u32, 1..3), 1..3u32)
            .prop_map(|(sizes, trunk)| flat(&sizes, 2, trunk)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn nothing_is_lost_and_nothing_waits_for_ever(
        network in networks(),
        (vcs, flits, more, speedup) in (3..6u8, 1..7u32, 0..20u16, 1..4u8),
        load in 0.0..1.0f64,
        seed in any::<u64>(),
        (which, sleeps) in (0..2usize, any::<bool>()),
    ) {
        let parameters = RouterParameters {
            buffer_flits: flits as u16 + more,
            speedup,
            ..cut_through(vcs, flits)
        };
        let mut engine = packet_engine(&network, BOTH[which], parameters, load, seed).unwrap();
        if sleeps {
            engine.set_links(sleepy()).unwrap();
        }
        law_of_packets(&mut engine, [1, 7, 30, 201], 1000)?;
    }
}

#[test]
fn traffic_on_an_even_torus_goes_both_ways_alike() {
    for algorithm in BOTH {
        for radix in [vec![8], vec![4, 4]] {
            let network = torus(&radix, true);
            let mut engine =
                packet_engine(&network, algorithm, cut_through(4, 2), 0.3, 11).unwrap();
            engine.set_links(LinkPolicy::default()).unwrap();
            engine.advance(30_000);
            for dimension in 0..radix.len() as u32 {
                let [up, down] = [0, 1].map(|way| -> f64 {
                    let ports = (0..network.routers())
                        .map(|router| network.port_of(router, 1 + 2 * dimension + way));
                    let sent = ports.map(|port| engine.link(port).unwrap().transmit);
                    sent.sum::<u64>() as f64
                });
                assert!(
                    (up / down - 1.0).abs() < 0.03,
                    "{algorithm:?}, {radix:?}: {up} {down}"
                );
            }
        }
    }
}

#[test]
fn links_that_are_awake_are_preferred_where_asked() {
    let network = torus(&[4, 4], true);
    let [any, awake] = BOTH.map(|algorithm| {
        let mut engine = packet_engine(&network, algorithm, cut_through(4, 1), 0.02, 5).unwrap();
        engine.set_links(sleepy()).unwrap();
        let found = engine.advance(40_000);
        let ports = 0..network.ports().len() as u32;
        let wakes: u64 = ports.map(|port| engine.link(port).unwrap().wakes).sum();
        wakes as f64 / found.packets as f64
    });
    assert!(awake < 0.97 * any, "{awake} wakes a packet, {any} without");
}

/// What is accepted, flits a node and cycle; mean latency and its 99th percentile.
fn figures(nodes: u32, found: Interval, measurement: &Measurement) -> [f64; 3] {
    let latencies = measurement.latencies();
    [
        found.flits as f64 / f64::from(nodes) / found.cycles as f64,
        latencies.mean().unwrap(),
        latencies.quantile(0.99).unwrap() as f64,
    ]
}

/// Accepted within 3 %, mean and 99th percentile within 4 %, with links that never sleep and with links that do.
#[test]
fn both_engines_agree_below_saturation() {
    let far = |network: Network| network.with_link_latency(3).unwrap();
    for (name, network, flits, loads) in [
        ("torus", far(torus(&[4, 4], true)), 4, [0.05, 0.5]),
        ("odd torus", far(torus(&[5, 3], true)), 1, [0.1, 0.6]),
        ("mesh", far(torus(&[4, 4], false)), 4, [0.1, 0.4]),
        ("butterfly", far(flat(&[4, 4], 4, 1)), 4, [0.05, 0.6]),
    ] {
        for algorithm in BOTH {
            for load in loads {
                let parameters = cut_through(4, flits);
                let mut flit =
                    flit_engine(&network, algorithm, &Pattern::Uniform, parameters, load, 3);
                let mut packet = packet_engine(&network, algorithm, parameters, load, 4).unwrap();
                if algorithm == Algorithm::MinimalAwake {
                    flit.set_links(sleepy());
                    packet.set_links(sleepy()).unwrap();
                }
                // As many packets at low loads: their number is a matter of chance.
                let (nodes, cycles) = (network.nodes(), (6_000.0 * f64::from(flits) / load) as u64);
                flit.advance(2_000);
                flit.measure(true);
                let found = flit.advance(cycles);
                let wanted = figures(nodes, found, flit.measurement());
                packet.advance(2_000);
                packet.measure(true);
                let found = packet.advance(cycles);
                let found = figures(nodes, found, packet.measurement());
                for ((what, within), (wanted, found)) in
                    [("accepted", 0.03), ("mean", 0.04), ("p99", 0.04)]
                        .into_iter()
                        .zip(wanted.into_iter().zip(found))
                {
                    // A percentile is a whole number of cycles.
                    let rounded = what == "p99" && (found - wanted).abs() <= 2.0;
                    assert!(
                        rounded || (found / wanted - 1.0).abs() < within,
                        "{name}, {algorithm:?} at {load}, {what}: flit {wanted:.3}, packet {found:.3}"
                    );
                }
            }
        }
    }
}
