use super::*;
use crate::walk::{Timing, delays};
use proptest::prelude::*;

const PORT: Sleeper = Sleeper {
    place: 0,
    timing: Timing::Deep,
    column: 0,
};

fn echoes(gaps_us: Vec<f64>) -> Echoes {
    let count = gaps_us.len();
    Echoes {
        gap_us: vec![gaps_us; 2],
        echo_byte: 84.0,
        burst_byte: vec![84.0; count],
        byte_us: vec![0.008; 2],
        stores: vec![false; 2],
        later_us: vec![0.0; count],
    }
}

fn height(echoes: &Echoes, times: &[f64], left_us: &[f64], noise_us: f64, error_us: f64) -> f64 {
    forgiving(echoes, times, left_us, noise_us, error_us, 0.0)
}

fn forgiving(
    echoes: &Echoes,
    times: &[f64],
    left_us: &[f64],
    noise_us: f64,
    error_us: f64,
    least: f64,
) -> f64 {
    let never = Lateness {
        share: 0.0,
        again: 0.0,
    };
    with_late(echoes, times, left_us, (noise_us, error_us), least, never)
}

fn with_late(
    echoes: &Echoes,
    times: &[f64],
    left_us: &[f64],
    (noise_us, error_us): (f64, f64),
    least: f64,
    late: Lateness,
) -> f64 {
    let kept = vec![true; echoes.count()];
    let observed = Observed {
        echoes,
        kept: &kept,
        late,
    };
    let candidate = Candidate {
        times,
        left_us,
        noise_us,
        error_us,
        later_share: 0.0,
        least,
    };
    log_likelihood(&observed, &[PORT], &candidate)
}

#[test]
fn the_density_is_students() {
    // At 0 and at one scale with three degrees of freedom: 0.3675525970 and 0.2067483358.
    let none = [1e9, 0.0, 0.0];
    for (left_us, density) in [(0.0, 0.367_552_597_0), (1.0, 0.206_748_335_8_f64)] {
        let found = height(&echoes(vec![100.0]), &none, &[left_us], 1.0, 0.0);
        assert!((found - density.ln()).abs() < 1e-9, "{found}");
    }
}

fn once(share: f64) -> Lateness {
    Lateness { share, again: 0.0 }
}

#[test]
fn late_echoes_do_not_speak_for_a_hold_that_is_near() {
    let seen = echoes(vec![980.0; 20]);
    let of = |hold_us: f64, late_share| {
        let times = [hold_us, 180.0, 60.0];
        with_late(&seen, &times, &[9.5; 20], (0.3, 0.3), 0.0, once(late_share))
    };
    assert!(of(1000.0, 0.05) < of(2000.0, 0.05) + 1.0);
    assert!(of(2000.0, 0.05) > of(2000.0, 0.0) + 20.0);
}

#[test]
fn a_frame_that_was_late_leaves_less_time_to_fall_asleep() {
    let times = [1000.0, 180.0, 60.0];
    let of = |gap_us, left_us: [f64; 2], late_share| {
        let seen = echoes(vec![500.0, gap_us]);
        with_late(&seen, &times, &left_us, (0.3, 0.3), 0.0, once(late_share))
    };
    // Awake after 1010 us, and on its way into low power 1085 us after a frame that had come 15 us late.
    let awake = |first_us, late_share| of(1010.0, [first_us, 0.2], late_share);
    let falling = |first_us, late_share| of(1100.0, [first_us, 155.2], late_share);
    for seen in [&awake as &dyn Fn(f64, f64) -> f64, &falling] {
        assert!(seen(15.0, 0.05) > seen(15.0, 0.0) + 8.0);
    }
    // Had the first come on time, a second one that comes on time would have slept.
    let asleep = of(1010.0, [0.2, 230.2], 0.05);
    assert!(asleep > awake(0.2, 0.05) + 8.0);
}

#[test]
fn where_late_frames_follow_late_ones_two_of_an_echo_are_no_proof_of_a_hold() {
    // A frame 8 us late finds its transmitter falling asleep, and another one of that echo is late by 9.5 us.
    let seen = echoes(vec![992.0]);
    let of = |hold_us: f64, again| {
        let times = [hold_us, 1182.0 - hold_us, 60.0];
        let late = Lateness { share: 0.18, again };
        with_late(&seen, &times, &[259.5], (0.5, 0.5), 0.0, late)
    };
    assert!(of(990.5, 0.0) > of(1000.0, 0.0) + 3.0);
    assert!(of(990.5, 0.44) < of(1000.0, 0.44) + 1.5);
}

#[test]
fn densities_of_errors_are_those_of_the_likelihood() {
    let none = [1e9, 0.0, 0.0];
    let left_us = [0.3, 6.0, 30.0];
    let (noise_us, share) = (0.5, 0.2);
    let constant = (2.0 / (PI * 3.0_f64.sqrt() * noise_us)).ln();
    for (left, [on_time, late]) in left_us.iter().zip(error_densities(&left_us, noise_us)) {
        let seen = echoes(vec![100.0]);
        let found = with_late(&seen, &none, &[*left], (noise_us, 0.0), 0.0, once(share));
        let mixed = ((1.0 - share) * on_time + share * late).ln() + constant;
        assert!((found - mixed).abs() < 1e-9);
    }
}

#[test]
fn one_echo_costs_no_more_than_it_may() {
    let none = [1e9, 0.0, 0.0];
    let seen = echoes(vec![100.0; 3]);
    let of = |left_us: &[f64; 3], least| forgiving(&seen, &none, left_us, 1.0, 1.0, least);
    let (near, far) = ([0.5, 0.0, -0.5], [0.5, 300.0, -0.5]);
    assert!((of(&near, 1e-6) - of(&near, 0.0)).abs() < 1e-12);
    assert!((of(&near, 0.0) - of(&far, 1e-6) - 1e6_f64.ln()).abs() < 1e-9);
    assert!(of(&far, 0.0) < of(&far, 1e-6));
}

proptest! {
    #[test]
    fn the_truth_is_likelier_than_times_that_are_far_off(
        gaps_us in prop::collection::vec(20.0f64..3000.0, 50..400), factor in 0.3f64..0.8,
    ) {
        let seen = echoes(gaps_us);
        let truth = [700.0, 150.0, 60.0];
        let left_us = delays(&seen, &[PORT], &truth, 0.0);
        let other = truth.map(|time| time * factor);
        prop_assert!(height(&seen, &truth, &left_us, 1.0, 1.0) > height(&seen, &other, &left_us, 1.0, 1.0));
    }

    #[test]
    fn a_long_product_is_the_sum_of_its_logarithms(left_us in prop::collection::vec(-1e6f64..1e6, 1..300)) {
        let seen = echoes(vec![50.0; left_us.len()]);
        let none = [1e9, 0.0, 0.0];
        let whole = height(&seen, &none, &left_us, 0.5, 0.5);
        let one = echoes(vec![50.0]);
        let parts: f64 = left_us.iter().map(|left| height(&one, &none, &[*left], 0.5, 0.5)).sum();
        prop_assert!((whole - parts).abs() < 1e-6 * parts.abs().max(1.0));
    }
}
