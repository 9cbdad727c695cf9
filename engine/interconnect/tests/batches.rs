//! Batch mode: two jobs with their own loads send what they have, and no more.

use crate::networks::{flat, flit_engine};
use interconnect::flit::Stock;
use interconnect::routing::Algorithm;
use interconnect::traffic::Pattern;
use interconnect::{FlitEngine, RouterParameters};
use proptest::prelude::*;

fn engine(sizes: [u32; 2], permutation: bool, load: f64, flits: u32, seed: u64) -> FlitEngine {
    let network = flat(&[4, 4], (sizes[0] + sizes[1]) / 16, 1)
        .with_link_latency(3)
        .unwrap();
    let pattern = Pattern::Jobs {
        sizes: sizes.to_vec(),
        permutation,
    };
    let parameters = RouterParameters {
        packet_flits: flits,
        ..RouterParameters::default()
    };
    flit_engine(
        &network,
        Algorithm::Progressive,
        &pattern,
        parameters,
        load,
        seed,
    )
}

fn run(engine: &mut FlitEngine) -> u64 {
    while engine.batch_left() > 0 || engine.measurement().outstanding() > 0 {
        engine.advance(10);
        assert!(engine.now() < 1_000_000);
    }
    engine.now()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_packet_of_a_batch_arrives_and_no_other(
        (one, other) in (0..400u64, 0..400u64),
        (share, load) in (0.05..1.0f64, 0.1..0.9f64),
        (flits, seed, permutation) in (1..4u32, any::<u64>(), any::<bool>()),
    ) {
        let mut engine = engine([24, 8], permutation, load, flits, seed);
        engine.set_jobs(&[share, 1.0], &[one, other], Stock::Job).unwrap();
        engine.measure(true);
        run(&mut engine);
        prop_assert_eq!(engine.measurement().latencies().count(), one + other);
        engine.advance(500);
        let found = engine.flits();
        prop_assert_eq!(found.injected, (one + other) * u64::from(flits));
        prop_assert_eq!(found.injected, found.ejected);
        prop_assert_eq!(engine.check_credits(), Ok(()));
        prop_assert_eq!(engine.backlog(), 0);
    }
}

/// TCEP's two jobs in small: loads of 0.1 and 0.5 and batches of 1 to 5 end at about the same time.
#[test]
fn batches_take_packets_over_load() {
    let mut engine = engine([16, 16], false, 0.5, 1, 3);
    engine
        .set_jobs(&[0.2, 1.0], &[3_200, 16_000], Stock::Job)
        .unwrap();
    engine.measure(true);
    let end = run(&mut engine);
    // 3,200 packets over 16 nodes at 0.1 a cycle are 2,000 cycles; drawn by chance within some 100.
    assert!((1_900..2_400).contains(&end), "{end}");
}

/// Every node sends its own number of packets, whether its way is crowded or not: in a permutation the slowest one ends
/// the batch, later than nodes that draw from one stock.
#[test]
fn each_node_sends_its_own_packets() {
    let ends = [(Stock::Job, [1_600, 8_000]), (Stock::Node, [100, 500])].map(|(stock, packets)| {
        let mut engine = engine([16, 16], true, 0.9, 1, 3);
        engine.set_jobs(&[0.2, 1.0], &packets, stock).unwrap();
        engine.measure(true);
        let end = run(&mut engine);
        assert_eq!(engine.measurement().latencies().count(), 9_600);
        end
    });
    assert!(ends[0] < ends[1], "{ends:?}");
}

/// Without numbers of packets the jobs go on, each at its load.
#[test]
fn jobs_have_their_own_loads() {
    let mut engine = engine([16, 16], false, 0.5, 1, 4);
    engine.set_jobs(&[0.2, 1.0], &[], Stock::Job).unwrap();
    let found = engine.advance(20_000);
    let accepted = found.flits as f64 / 20_000.0 / 32.0;
    assert!((accepted - 0.3).abs() < 0.01, "{accepted}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let text = |shares: &[f64], packets: &[u64]| {
        engine([16, 16], false, 0.5, 1, 0)
            .set_jobs(shares, packets, Stock::Job)
            .unwrap_err()
            .to_string()
    };
    assert!(text(&[1.0], &[]).contains("2 jobs"));
    assert!(text(&[1.0, 1.0], &[5]).contains("2 jobs"));
    assert!(text(&[1.0, 2.5], &[]).contains("from 0 to 1"));
    let network = flat(&[2], 1, 1);
    let mut plain = flit_engine(
        &network,
        Algorithm::DimensionOrder,
        &Pattern::Uniform,
        RouterParameters::default(),
        0.1,
        0,
    );
    assert!(
        plain
            .set_jobs(&[1.0], &[], Stock::Job)
            .unwrap_err()
            .to_string()
            .contains("only jobs")
    );
}
