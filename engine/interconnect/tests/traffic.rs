//! Traffic patterns against their definitions.

use interconnect::rng::Rng;
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
    fn geometric_has_its_mean(p in 0.01..1.0f64, seed in any::<u64>()) {
        let mut rng = Rng::new(seed);
        let draws = 20_000;
        let mean = (0..draws).map(|_| rng.geometric(p) as f64).sum::<f64>() / f64::from(draws);
        let deviation = (1.0 - p).sqrt() / p / f64::from(draws).sqrt();
        prop_assert!((mean - 1.0 / p).abs() <= 6.0 * deviation + 1e-12, "{mean} {p}");
    }
}
