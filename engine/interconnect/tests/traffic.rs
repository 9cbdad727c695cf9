//! Traffic patterns against their definitions.

use interconnect::rng::{Rng, Trials};
use interconnect::traffic::{Destinations, Pattern};
use proptest::prelude::*;

fn dests(pattern: &Pattern, nodes: u32, seed: u64) -> Vec<u32> {
    let mut rng = Rng::new(seed);
    let drawn = Destinations::new(pattern, nodes, &mut rng).unwrap();
    (0..nodes).map(|node| drawn.draw(node, &mut rng)).collect()
}

#[test]
fn fixed_patterns() {
    let tornado = dests(&Pattern::Tornado { base: 8, digits: 3 }, 512, 0);
    // 8 nodes in a row: each digit + 3.
    assert_eq!((tornado[0], tornado[0o567]), (0o333, 0o012));
    let reversal = dests(&Pattern::BitReversal, 512, 0);
    assert_eq!((reversal[1], reversal[0b110_000_010]), (256, 0b010_000_011));
    let transpose = dests(&Pattern::Transpose, 64, 0);
    assert_eq!(transpose[0b101_010], 0b010_101);
    let neighbour = dests(&Pattern::Neighbour { base: 4, digits: 2 }, 16, 0);
    assert_eq!((neighbour[0], neighbour[0b11_10]), (0b01_01, 0b00_11));
    let complement = dests(&Pattern::BitComplement, 32, 0);
    assert_eq!(complement[0b10_110], 0b01_001);
    let shuffle = dests(&Pattern::Shuffle, 32, 0);
    assert_eq!((shuffle[0b10_110], shuffle[0b01_001]), (0b01_101, 0b10_010));
    let given = dests(&Pattern::Given { to: vec![2, 2, 0] }, 3, 0);
    assert_eq!(given, [2, 2, 0]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let refused = |pattern: &Pattern, nodes| {
        Destinations::new(pattern, nodes, &mut Rng::new(0))
            .unwrap_err()
            .to_string()
    };
    assert!(refused(&Pattern::BitReversal, 48).contains("power of two"));
    assert!(refused(&Pattern::Transpose, 32).contains("even power"));
    assert!(refused(&Pattern::Tornado { base: 8, digits: 2 }, 65).contains("8^2"));
    assert!(refused(&Pattern::BitComplement, 48).contains("power of two"));
    assert!(refused(&Pattern::Neighbour { base: 3, digits: 2 }, 8).contains("3^2"));
    assert!(refused(&Pattern::NextGroup { size: 5 }, 8).contains("groups of 5"));
    assert!(refused(&Pattern::Given { to: vec![0, 3] }, 2).contains("as many"));
    for (nodes, share) in [(vec![8], 0.1), (vec![], 0.1), (vec![1], 1.5)] {
        assert!(refused(&Pattern::Hotspots { nodes, share }, 8).contains("from 0 to 7"));
    }
    assert!(refused(&Pattern::UniformOthers, 1).contains("no others"));
    let jobs = Pattern::Jobs {
        sizes: vec![3, 4],
        permutation: false,
    };
    assert!(refused(&jobs, 8).contains("8 together"));
}

#[test]
fn uniform_draws_every_node_alike() {
    for (pattern, itself) in [(Pattern::Uniform, true), (Pattern::UniformOthers, false)] {
        let mut rng = Rng::new(7);
        let drawn = Destinations::new(&pattern, 10, &mut rng).unwrap();
        let mut counts = [0u32; 10];
        for _ in 0..100_000 {
            counts[drawn.draw(3, &mut rng) as usize] += 1;
        }
        assert_eq!(counts[3] > 0, itself);
        let expected = 100_000.0 / if itself { 10.0 } else { 9.0 };
        for count in counts.into_iter().filter(|&count| count > 0) {
            assert!((f64::from(count) - expected).abs() < 5.0 * f64::sqrt(expected));
        }
    }
}

#[test]
fn hotspots_get_their_share_and_their_part_of_the_others() {
    let mut rng = Rng::new(3);
    let pattern = Pattern::Hotspots {
        nodes: vec![2, 7],
        share: 0.3,
    };
    let drawn = Destinations::new(&pattern, 10, &mut rng).unwrap();
    let mut counts = [0u32; 10];
    for _ in 0..100_000 {
        counts[drawn.draw(4, &mut rng) as usize] += 1;
    }
    for (node, count) in counts.into_iter().enumerate() {
        let expected = 100_000.0 * (0.07 + if [2, 7].contains(&node) { 0.15 } else { 0.0 });
        assert!((f64::from(count) - expected).abs() < 5.0 * f64::sqrt(expected));
    }
}

#[test]
fn the_next_group_follows_and_the_first_follows_the_last() {
    let mut rng = Rng::new(3);
    let drawn = Destinations::new(&Pattern::NextGroup { size: 4 }, 12, &mut rng).unwrap();
    for source in 0..12 {
        let mut found: Vec<u32> = (0..200).map(|_| drawn.draw(source, &mut rng)).collect();
        found.sort_unstable();
        found.dedup();
        let first = (source / 4 + 1) % 3 * 4;
        assert_eq!(found, (first..first + 4).collect::<Vec<_>>());
    }
}

proptest! {
    #[test]
    fn permutations_have_no_fixed_point(nodes in 2..200u32, seed in any::<u64>()) {
        let mut to = dests(&Pattern::Permutation, nodes, seed);
        prop_assert!((0..).zip(&to).all(|(from, &to)| from != to));
        to.sort_unstable();
        prop_assert_eq!(to, (0..nodes).collect::<Vec<_>>());
    }

    #[test]
    fn jobs_stay_among_themselves(a in 2..40u32, b in 2..40u32, seed in any::<u64>(), permutation in any::<bool>()) {
        let pattern = Pattern::Jobs { sizes: vec![a, b], permutation };
        let mut rng = Rng::new(seed);
        let drawn = Destinations::new(&pattern, a + b, &mut rng).unwrap();
        // Nodes that reach each other, over many draws, are at most the sizes.
        let mut job: Vec<u32> = (0..a + b).collect();
        for _ in 0..200 {
            for node in 0..a + b {
                let dest = drawn.draw(node, &mut rng);
                prop_assert_ne!(dest, node);
                let (one, other) = (job[node as usize], job[dest as usize]);
                job.iter_mut().filter(|j| **j == one).for_each(|j| *j = other);
            }
        }
        let first = job.iter().filter(|j| **j == job[0]).count() as u32;
        prop_assert!(first == a || first == b, "{first}");
    }

    #[test]
    fn trials_up_to_a_success_have_their_mean(p in 0.01..1.0f64, seed in any::<u64>()) {
        let (mut rng, trials) = (Rng::new(seed), Trials::new(p));
        let draws = 20_000;
        let mean = (0..draws).map(|_| rng.trials(&trials) as f64).sum::<f64>() / f64::from(draws);
        let deviation = (1.0 - p).sqrt() / p / f64::from(draws).sqrt();
        prop_assert!((mean - 1.0 / p).abs() <= 6.0 * deviation + 1e-12, "{mean} {p}");
    }
}
