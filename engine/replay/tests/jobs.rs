//! Jobs: one after the other, one beside the other, again and again, and by the scheduler.

use std::sync::Arc;

use replay::jobs::{JobPlan, Placement};
use replay::{Hosts, Program, Replay, State};

use crate::support::{Calls, awake, free, hosts, hyperx, job, program};

/// So many ranks that compute for so long and meet at the end.
fn computing(ranks: usize, ns: u64) -> Arc<Program> {
    let mut calls = Calls::default();
    calls.compute(ns).collective(16, 0);
    program(&vec![calls; ranks])
}

fn machine(cores: u32, seed: u64) -> Replay {
    let hosts = Hosts {
        cores,
        ..hosts(free())
    };
    Replay::new(awake(hyperx(&[4], 1)), hosts, 4, seed).unwrap()
}

fn scheduled(program: &Arc<Program>) -> JobPlan {
    JobPlan {
        placement: Placement::Scheduled,
        ..job(program, Vec::new())
    }
}

#[test]
fn a_job_begins_at_its_time_and_computes_at_its_scale() {
    let mut replay = machine(1, 1);
    let program = computing(1, 1000);
    replay
        .add(JobPlan {
            start: 500,
            compute_scale: 2.5,
            ..job(&program, vec![3])
        })
        .unwrap();
    assert_eq!(replay.advance(u64::MAX), State::Done);
    assert_eq!(replay.runs(0), Some([(500, 3000)].as_slice()));
}

#[test]
fn jobs_repeat_until_the_longest_has_ended() {
    let mut replay = machine(1, 1);
    for (program, node) in [(computing(1, 1000), 0), (computing(1, 3500), 1)] {
        replay
            .add(JobPlan {
                repeats: true,
                ..job(&program, vec![node])
            })
            .unwrap();
    }
    assert_eq!(replay.advance(u64::MAX), State::Done);
    let runs = [(0, 1000), (1000, 2000), (2000, 3000)];
    assert_eq!(replay.runs(0), Some(runs.as_slice()));
    assert_eq!(replay.runs(1), Some([(0, 3500)].as_slice()));
    assert_eq!(replay.runs(2), None);
}

/// Four nodes of two cores: a job of eight runs alone, and two of four run side by side.
#[test]
fn the_scheduler_fills_free_cores_and_lets_every_job_run_once() {
    for seed in 0..20 {
        let mut replay = machine(2, seed);
        let (large, small) = (computing(8, 1000), computing(4, 1000));
        for plan in [scheduled(&large), scheduled(&small), scheduled(&small)] {
            replay.add(plan).unwrap();
        }
        assert_eq!(replay.advance(u64::MAX), State::Done);
        let runs: Vec<(u64, u64)> = (0..3)
            .flat_map(|job| replay.runs(job).unwrap().to_vec())
            .collect();
        assert_eq!(runs.len(), 3);
        let [large, one, other] = [runs[0], runs[1], runs[2]];
        assert!(
            large.1 <= one.0.min(other.0) || large.0 >= one.1.max(other.1),
            "{runs:?}"
        );
        assert_eq!(one.0, other.0, "both fit at once: {runs:?}");
        let nodes: Vec<u32> = replay.results().map(|rank| rank.node).collect();
        assert_eq!(nodes[..8], [0, 0, 1, 1, 2, 2, 3, 3], "the first free cores");
    }
}

#[test]
fn the_scheduler_draws_which_job_begins() {
    let first = |seed| {
        let mut replay = machine(2, seed);
        let large = computing(8, 1000);
        for _ in 0..3 {
            replay.add(scheduled(&large)).unwrap();
        }
        replay.advance(u64::MAX);
        (0..3).find(|&job| replay.runs(job).unwrap()[0].0 == 0)
    };
    let drawn: std::collections::BTreeSet<_> = (0..30).map(first).collect();
    assert_eq!(drawn.len(), 3);
}

#[test]
fn a_job_that_never_fits_is_refused() {
    let mut replay = machine(2, 1);
    let error = replay.add(scheduled(&computing(9, 1))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "job 0 has 9 ranks, and the machine 8 cores"
    );
    assert!(replay.add(job(&computing(2, 1), vec![0])).is_err());
    assert!(replay.add(job(&computing(1, 1), vec![4])).is_err());
}
