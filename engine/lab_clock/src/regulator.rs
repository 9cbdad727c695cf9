//! Which rate a lab needs, by what is done in it. Pure.
//!
//! | what is done | lab seconds per second of the wall |
//! | --- | --- |
//! | nobody measures, or a trial is prepared | 1 |
//! | a trial times frames or ranks | [`FIRST_TRIAL`], or slower after late trials, until the run ends |
//! | meters are read, or links are waited for | up to [`MOST`], as far as processors allow; half of it after missed samples |
//!
//! Within a trial the rate is constant: echoes and run times that are compared must meet one rate, as what the host
//! machine adds to them is the smaller the slower the lab. So a late trial makes those after it slower, and none makes
//! them faster. The next run begins with [`FIRST_TRIAL`] again, or a study would pay for one late minute to its end.
//! While a trial is prepared nothing is timed. (Faster than the wall would shorten the controller's time for each
//! answer: beside heavy load agents then did not answer in time. Slower makes every command on the lab last longer: one
//! that waits for links did for minutes.)
//!
//! Simplification: what somebody runs by hand, and no command of the controller measures, meets the wall's pace whatever
//! its lateness is; the lab's histogram of lateness shows it, and `lab clock` sets a slower rate.

use crate::pace::Bound;
use crate::timeline::Rate;

/// The rate of the first timed trial under the usual bound or a laxer one; under a stricter one it is slower in
/// proportion.
pub const FIRST_TRIAL: f64 = 0.1;
/// A late trial makes the next one slower by the factor by which it was late and so much more, and by [`SLOWS_MOST`] at
/// most.
const MARGIN: f64 = 0.7;
const SLOWS_MOST: f64 = 0.25;
/// The fastest rate while meters are read: who reads them computes at the wall's pace, and is not one of the lab's
/// processes. At 11, beside a fit, one poll of a switch took 2 to 9 s of lab time, and windows of 10 s had none; what
/// such windows last is little beside what setting up their stages does.
const MOST: f64 = 6.0;
/// Meanwhile hosts and switches may use so many processors, averaged over [`AVERAGE_LAB_NS`], as whoever asks all
/// devices once a second makes peaks. The collector takes half as much more: a second processor has room for it.
const READING_CORES: f64 = 0.95;
const AVERAGE_LAB_NS: f64 = 2e9;
/// A thread that sleeps 10 ms and wakes after so long (wall) shares its processor: no haste then.
const OVERSLEPT_NS: i64 = 30_000_000;
/// So long (wall) before each doubling.
const STEP_NS: i64 = 100_000_000;

/// What happened since the observation before.
#[derive(Clone, Copy, Debug, Default)]
pub struct Observation {
    /// How long that was (wall).
    pub wall_ns: i64,
    /// Processors in use by hosts and switches: processor time over the wall's.
    pub cores: f64,
    /// Somebody has a terminal open.
    pub attended: bool,
    /// What is being done to the lab from outside.
    pub work: Work,
}

/// What whoever measures in the lab does, trials that time frames or ranks apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Work {
    /// Nobody measures.
    #[default]
    None,
    /// Prepares the next trial.
    Between,
    /// Reads meters; nobody times frames or ranks.
    Meters,
}

/// Lateness of a trial.
#[derive(Clone, Copy, Debug, Default)]
pub struct TrialLateness {
    /// 99 % of the frames were at most this late (lab time).
    pub frames_ns: u64,
    /// Mean wait of hosts' processes for a processor, a turn (wall).
    pub waited_ns: u64,
}

/// The state between observations.
#[derive(Clone, Debug)]
pub struct Regulator {
    bound: Bound,
    rate: f64,
    trial_rate: f64,
    held: bool,
    /// Meters alone are read now.
    reading: bool,
    /// The rate at which they were read last.
    reading_rate: f64,
    /// The fastest at which they may be read.
    most: f64,
    /// Since the last doubling.
    steady_ns: i64,
    /// Processor time that a second of lab time takes while meters are read, averaged.
    cost: f64,
}

impl Regulator {
    /// At the wall's pace.
    #[must_use]
    pub fn new(bound: Bound) -> Regulator {
        Regulator {
            bound,
            rate: 1.0,
            trial_rate: first_trial(bound),
            held: false,
            reading: false,
            reading_rate: 1.0,
            most: MOST,
            steady_ns: 0,
            cost: 0.0,
        }
    }

    /// Keep another bound from now on; a trial keeps its rate.
    pub fn bind(&mut self, bound: Bound) {
        self.bound = bound;
        self.trial_rate = first_trial(bound);
    }

    /// The bound that is kept.
    #[must_use]
    pub fn bound(&self) -> Bound {
        self.bound
    }

    /// The rate that is wanted now.
    #[must_use]
    pub fn rate(&self) -> Rate {
        Rate::near(self.rate)
    }

    /// The rate at which the next trial will be held.
    #[must_use]
    pub fn trial_rate(&self) -> Rate {
        Rate::near(self.trial_rate)
    }

    /// A trial that times frames or ranks begins.
    pub fn hold(&mut self) {
        self.held = true;
        self.reading = false;
        self.rate = self.trial_rate;
    }

    /// The trial has ended, with this lateness from its begin on.
    ///
    /// How late it was (lab time), if it was too late and those after it are slower; else None.
    pub fn release(&mut self, late: &TrialLateness) -> Option<u64> {
        if !self.held {
            return None;
        }
        let met = self.rate;
        let waited_ns = (late.waited_ns as f64 * met) as u64;
        let worst_ns = late.frames_ns.max(waited_ns);
        self.held = false;
        self.at_the_walls_pace();
        if worst_ns <= self.bound.ns() {
            return None;
        }
        let slowing = (MARGIN * self.bound.ns() as f64 / worst_ns as f64).max(SLOWS_MOST);
        self.trial_rate = (met * slowing).max(Rate::SLOWEST.factor());
        (self.trial_rate < met).then_some(worst_ns)
    }

    /// Whoever read meters missed samples: from now on they are read at half the rate of the last time at most.
    pub fn read_slower(&mut self) {
        self.most = (self.reading_rate / 2.0).max(1.0);
        self.reading_rate = self.reading_rate.min(self.most);
    }

    /// A run begins, or nobody measures any more: the next trial has the first rate, and meters may be read fast.
    pub fn forget(&mut self) {
        self.trial_rate = first_trial(self.bound);
        self.most = MOST;
        self.prepare();
    }

    /// Whoever measures prepares a trial now.
    pub fn prepare(&mut self) {
        if !self.held {
            self.at_the_walls_pace();
            self.reading = false;
        }
    }

    /// Take an observation.
    pub fn observe(&mut self, seen: &Observation) {
        match seen.work {
            _ if self.held => {}
            Work::None | Work::Between => self.prepare(),
            Work::Meters => self.hasten(seen),
        }
    }

    /// As fast as the processors allow, whatever frames come: nobody times them. From half the rate of the last time on.
    fn hasten(&mut self, seen: &Observation) {
        if !self.reading {
            self.reading = true;
            self.rate = (self.reading_rate / 2.0).max(1.0);
        }
        let lab_ns = seen.wall_ns as f64 * self.rate;
        let weight = (lab_ns / AVERAGE_LAB_NS).min(1.0);
        self.cost += weight * (seen.cores / self.rate - self.cost);
        let most = if seen.attended { 1.0 } else { self.most };
        let affordable = (READING_CORES / self.cost).clamp(1.0, most);
        self.steady_ns += seen.wall_ns;
        if seen.wall_ns > OVERSLEPT_NS {
            self.at_the_walls_pace();
        } else if self.rate >= affordable {
            self.rate = affordable;
        } else if self.steady_ns >= STEP_NS {
            self.rate = (self.rate * 2.0).min(affordable);
            self.steady_ns = 0;
        }
        self.reading_rate = self.rate;
    }

    fn at_the_walls_pace(&mut self) {
        self.rate = 1.0;
        self.steady_ns = 0;
    }
}

/// The rate of which a bound is supposed to be kept before anything is known.
fn first_trial(bound: Bound) -> f64 {
    let share = bound.ns() as f64 / Bound::USUAL.ns() as f64;
    (FIRST_TRIAL * share.min(1.0)).max(Rate::SLOWEST.factor())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LATE_NS: u64 = Bound::USUAL.ns();

    const TICK_NS: i64 = 10_000_000;

    fn tick(work: Work, cores: f64) -> Observation {
        Observation {
            wall_ns: TICK_NS,
            cores,
            work,
            ..Observation::default()
        }
    }

    fn late(frames_ns: u64) -> TrialLateness {
        TrialLateness {
            frames_ns,
            waited_ns: 0,
        }
    }

    proptest! {
        #[test]
        fn trials_meet_one_rate_that_only_late_ones_change(
            late_wall_us in prop::collection::vec(1.0f64..5_000.0, 1..30), cores in 0.0f64..3.0,
        ) {
            let mut regulator = Regulator::new(Bound::USUAL);
            for late_us in late_wall_us {
                regulator.hold();
                let rate = regulator.rate();
                prop_assert!(rate.factor() <= FIRST_TRIAL);
                for work in [Work::None, Work::Between, Work::Meters] {
                    regulator.observe(&tick(work, cores));
                    regulator.prepare();
                    prop_assert_eq!(regulator.rate(), rate);
                }
                let late_ns = (late_us * 1e3 * rate.factor()) as u64;
                let found = regulator.release(&late(late_ns));
                prop_assert_eq!(regulator.rate(), Rate::WALL);
                let next = regulator.trial_rate();
                prop_assert_eq!(found, next.factor().lt(&rate.factor()).then_some(late_ns), "to be tried again");
                if late_ns > LATE_NS && rate != Rate::SLOWEST {
                    prop_assert!(next.factor() < rate.factor());
                } else {
                    prop_assert_eq!(next, rate);
                }
            }
            regulator.forget();
            prop_assert_eq!(regulator.trial_rate(), Rate::new(1, 10).unwrap());
        }

        #[test]
        fn a_lab_that_is_late_by_so_much_of_the_wall_is_soon_on_time(late_wall_us in 1.0f64..10_000.0) {
            let mut regulator = Regulator::new(Bound::USUAL);
            let mut trials = 0;
            loop {
                regulator.hold();
                let late_ns = (late_wall_us * 1e3 * regulator.rate().factor()) as u64;
                if regulator.release(&late(late_ns)).is_none() {
                    prop_assert!(late_ns <= LATE_NS);
                    break;
                }
                trials += 1;
                prop_assert!(trials <= 4, "{late_wall_us}");
            }
        }

        #[test]
        fn meters_are_read_at_the_pace_that_processors_afford(cost_s in 0.005f64..0.4, cores in 1.2f64..2.0) {
            const TICKS: u32 = 10_000;
            let tick_s = TICK_NS as f64 / 1e9;
            let mut regulator = Regulator::new(Bound::USUAL);
            let (mut lab_s, mut settled_s, mut left_s) = (0.0f64, 0.0, 0.0);
            for number in 0..2 * TICKS {
                if number == TICKS {
                    settled_s = lab_s;
                }
                let before_s = lab_s;
                lab_s += tick_s * regulator.rate().factor();
                left_s += cost_s * (lab_s.floor() - before_s.floor()); // all devices are asked once a second
                let used_s = f64::min(left_s, tick_s * cores);
                left_s -= used_s;
                regulator.observe(&tick(Work::Meters, used_s / tick_s));
            }
            let pace = (lab_s - settled_s) / (f64::from(TICKS) * tick_s);
            let afforded = (READING_CORES / cost_s).clamp(1.0, MOST);
            prop_assert!((0.85..=1.15).contains(&(pace / afforded)), "{pace} for {afforded}");
        }
    }

    #[test]
    fn waits_for_a_processor_count_as_lateness_does() {
        let mut regulator = Regulator::new(Bound::USUAL);
        regulator.hold();
        let waited = TrialLateness {
            frames_ns: 0,
            waited_ns: 20 * LATE_NS, // the wall's: two times too late at a tenth of its pace
        };
        assert_eq!(regulator.release(&waited), Some(2 * LATE_NS));
        assert!((regulator.trial_rate - FIRST_TRIAL * MARGIN / 2.0).abs() < 1e-9);
    }

    #[test]
    fn only_meters_are_read_faster_than_the_wall_and_only_where_nobody_has_a_terminal() {
        let mut regulator = Regulator::new(Bound::USUAL);
        let fast = Rate::new(6, 1).unwrap();
        for (work, cores, attended, rate) in [
            (Work::None, 0.0, false, Rate::WALL),
            (Work::Between, 1.5, false, Rate::WALL),
            (Work::Meters, 1.5, false, Rate::WALL),
            (Work::Meters, 0.01, false, fast),
            (Work::Between, 0.01, false, Rate::WALL),
            (Work::Meters, 0.01, false, fast),
            (Work::Meters, 0.01, true, Rate::WALL),
            (Work::None, 0.01, false, Rate::WALL),
        ] {
            for _ in 0..500 {
                regulator.observe(&Observation {
                    attended,
                    ..tick(work, cores)
                });
            }
            assert_eq!(regulator.rate(), rate);
        }
        for number in 0..300 {
            let cores = if number % 10 == 0 { 1.2 } else { 0.01 };
            regulator.observe(&tick(Work::Meters, cores));
        }
        assert_eq!(regulator.rate(), fast, "peaks while all devices are asked");
    }

    #[test]
    fn meters_are_read_from_half_the_last_rate_on_unless_that_was_too_fast() {
        let meters = tick(Work::Meters, 0.01);
        let overslept = Observation {
            wall_ns: 2 * OVERSLEPT_NS,
            ..meters
        };
        let mut regulator = Regulator::new(Bound::USUAL);
        for _ in 0..300 {
            regulator.observe(&meters);
        }
        regulator.prepare();
        regulator.observe(&meters);
        assert_eq!(regulator.rate(), Rate::new(3, 1).unwrap());
        for _ in 0..2 {
            regulator.observe(&overslept);
            assert_eq!(regulator.rate(), Rate::WALL);
            regulator.observe(&meters);
            assert_eq!(regulator.rate(), Rate::WALL);
            regulator.prepare();
        }
    }

    #[test]
    fn missed_samples_halve_the_rate_of_reading_until_the_run_ends() {
        let meters = tick(Work::Meters, 0.01);
        let settled = |regulator: &mut Regulator| {
            for _ in 0..300 {
                regulator.observe(&meters);
            }
            regulator.rate()
        };
        let mut regulator = Regulator::new(Bound::USUAL);
        let mut fast = settled(&mut regulator).factor();
        for _ in 0..5 {
            regulator.read_slower();
            regulator.prepare();
            let rate = settled(&mut regulator).factor();
            assert!((rate - (fast / 2.0).max(1.0)).abs() < 1e-9);
            fast = rate;
        }
        regulator.forget();
        assert_eq!(settled(&mut regulator), Rate::new(6, 1).unwrap());
    }

    #[test]
    fn a_stricter_bound_begins_slower_and_leaves_a_trial_its_rate() {
        let mut regulator = Regulator::new(Bound::of_us(2));
        regulator.hold();
        assert_eq!(regulator.rate(), Rate::new(1, 100).unwrap());
        regulator.bind(Bound::USUAL);
        assert_eq!(regulator.rate(), Rate::new(1, 100).unwrap());
        regulator.release(&TrialLateness::default());
        regulator.hold();
        assert_eq!(regulator.rate(), Rate::new(1, 10).unwrap());
        let lax = Regulator::new(Bound::MOST);
        assert!((lax.trial_rate - FIRST_TRIAL).abs() < 1e-12);
        let strict = Regulator::new(Bound::LEAST);
        assert!((strict.trial_rate - Rate::SLOWEST.factor()).abs() < 1e-12);
    }
}
