//! Which rate a lab needs now: as fast as it can keep its frames and processes on time. Pure.
//!
//! While frames or processes are busy, the rate falls until the latest frames and the waits for a processor are below
//! a bound in lab time, and rises slowly again while they are far below. Where nothing but meters and timers happens
//! it doubles again and again, up to the wall's pace while somebody attends, up to 12 while a collector asks devices, else up to
//! [`Rate::FASTEST`]; the next frame, or a busy process, ends that.
//!
//! While a trial times frames or ranks, the rate is held: echoes and run times that are compared must meet one rate, as
//! what the host machine adds to them is the slower the faster in lab time. It is [`FIRST_BUSY`], or slower if trials
//! before were late. Between its trials whoever measures prepares the lab, and nothing there is timed: the wall's pace.
//! (Faster would shorten the controller's time for each answer: beside heavy load agents then did not answer in time.)
//! While meters alone measure, or links are waited for, the rate is that or faster.
//!
//! Simplification: the first frames after a silence meet the rate of the last busy stretch, or [`FIRST_BUSY`], before
//! anything is known of them; the lateness histogram of a program's first milliseconds shows whether that was too fast.

use crate::pace::Bound;
use crate::timeline::Rate;

/// The rate at which the first busy stretch begins, and the fastest at which a trial is held, under the usual bound or a
/// laxer one; under a stricter one it is slower in proportion.
pub const FIRST_BUSY: f64 = 0.1;
/// Lateness is judged over this many frames, or this long (wall).
const ENOUGH_FRAMES: u64 = 200;
const WINDOW_NS: i64 = 100_000_000;
/// So many trials on time, one after the other, make the next one faster. A run has trials that load the lab much and
/// little, and all of them are to meet one rate.
const SETTLED: u32 = 6;
/// Few frames judge only if they are this many times too late.
const FAR: u64 = 4;
const FEW_FRAMES: u64 = 10;
/// Processors in use, above which processes are busy at the wall's pace or slower.
const BUSY_CORES: f64 = 0.3;
/// Faster than the wall timers use more; from here on the rate falls ...
const MOST_CORES: f64 = 0.5;
/// ... and below this it rises.
const FEW_CORES: f64 = 0.2;
/// While meters are read hosts and switches may use so many processors, averaged over [`AVERAGE_LAB_NS`], as whoever asks
/// all devices once a second makes peaks. The collector takes half as much more: a second processor has room for it.
const READING_CORES: f64 = 0.95;
const AVERAGE_LAB_NS: f64 = 2e9;
/// The fastest rate while a collector asks: it computes at the wall's pace, and is not one of the lab's processes.
const ASKED: f64 = 12.0;
/// A thread that sleeps 10 ms and wakes after so long (wall) shares its processor: no haste then.
const OVERSLEPT_NS: i64 = 30_000_000;
/// A collector that asked so long ago (wall) still asks.
const ASKS_NS: i64 = 2_000_000_000;
/// Silence before each doubling: lab time, and the wall's.
const SILENCE_LAB_NS: f64 = 50e6;
const SILENCE_WALL_NS: i64 = 100_000_000;

/// What happened since the observation before.
#[derive(Clone, Copy, Debug, Default)]
pub struct Observation {
    /// How long that was (wall).
    pub wall_ns: i64,
    /// Frames delivered to hosts.
    pub frames: u64,
    /// Processors in use by hosts and switches: processor time over the wall's.
    pub cores: f64,
    /// Somebody types at a terminal.
    pub attended: bool,
    /// A collector asks devices.
    pub asked: bool,
    /// What is being done to the lab from outside.
    pub work: Work,
}

/// What whoever measures in the lab does.
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

/// Lateness over a window: since [`Regulator::judge`] last began one.
#[derive(Clone, Copy, Debug, Default)]
pub struct WindowLateness {
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
    busy_rate: f64,
    trial_rate: f64,
    /// Trials in a row that were far from late.
    settled: u32,
    held: bool,
    /// Meters alone are read now.
    reading: bool,
    /// The rate at which they were read last.
    reading_rate: f64,
    window_ns: i64,
    window_frames: u64,
    busy: bool,
    silent_wall_ns: i64,
    silent_lab_ns: f64,
    unasked_ns: i64,
    /// Processor time that a second of lab time takes while meters are read, averaged.
    cost: f64,
}

impl Regulator {
    /// From the rate that is in force.
    #[must_use]
    pub fn new(rate: Rate, bound: Bound) -> Regulator {
        Regulator {
            bound,
            rate: rate.factor(),
            busy_rate: first_busy(bound),
            trial_rate: first_busy(bound),
            settled: 0,
            held: false,
            reading: false,
            reading_rate: 1.0,
            window_ns: 0,
            window_frames: 0,
            busy: false,
            silent_wall_ns: 0,
            silent_lab_ns: 0.0,
            unasked_ns: ASKS_NS,
            cost: 0.0,
        }
    }

    /// Keep another bound from now on; a trial keeps its rate.
    pub fn bind(&mut self, bound: Bound) {
        self.bound = bound;
        self.busy_rate = first_busy(bound);
        self.trial_rate = self.busy_rate;
        if !self.held && self.busy {
            self.rate = self.rate.min(self.busy_rate);
            self.restart_window();
        }
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

    /// Frames or processes are busy.
    #[must_use]
    pub fn busy(&self) -> bool {
        self.busy
    }

    /// A trial begins.
    pub fn hold(&mut self) {
        self.held = true;
        self.reading = false;
        self.rate = self.trial_rate;
        self.busy = true;
    }

    /// The trial has ended, with this lateness from its begin on: a late one makes the next one slower, several in a row
    /// that were far from late let it be faster, up to [`FIRST_BUSY`].
    ///
    /// How late it was (lab time), if it was too late and the next one is slower; else None.
    pub fn release(&mut self, late: &WindowLateness) -> Option<u64> {
        if !self.held {
            return None;
        }
        self.held = false;
        let worst_ns = self.worst_ns(late);
        let late_ns = self.bound.ns();
        let far_from_late = worst_ns < late_ns / 3;
        self.settled = if far_from_late { self.settled + 1 } else { 0 };
        let met = self.rate;
        if worst_ns > late_ns {
            self.trial_rate = (self.rate * self.slowing(worst_ns)).max(Rate::SLOWEST.factor());
        } else if self.settled >= SETTLED {
            self.settled = 0;
            self.trial_rate = (self.trial_rate * 1.5).min(first_busy(self.bound));
        }
        self.hush();
        self.restart_window();
        (worst_ns > late_ns && self.trial_rate < met).then_some(worst_ns)
    }

    /// The latest frames and the waits, in lab time.
    fn worst_ns(&self, late: &WindowLateness) -> u64 {
        let waited_ns = (late.waited_ns as f64 * self.rate) as u64;
        late.frames_ns.max(waited_ns)
    }

    /// Take an observation; true if the lateness of the window is to be judged now ([`Regulator::judge`]).
    pub fn observe(&mut self, seen: &Observation) -> bool {
        self.unasked_ns = if seen.asked {
            0
        } else {
            self.unasked_ns.saturating_add(seen.wall_ns)
        };
        if self.held {
            return false;
        }
        if seen.work == Work::Between {
            self.prepare();
            return false;
        }
        if seen.work == Work::Meters {
            self.hasten(seen);
            return false;
        }
        self.reading = false;
        if seen.frames == 0 && self.slowed(seen) {
            return false;
        }
        if seen.frames > 0 || (self.rate <= 1.0 && seen.cores > BUSY_CORES) {
            if !self.busy {
                self.busy = true;
                self.rate = self.rate.min(self.busy_rate);
                self.restart_window();
                self.hush();
                return false;
            }
            self.hush();
        } else {
            self.silence(seen);
        }
        self.window_ns += seen.wall_ns;
        self.window_frames += seen.frames;
        self.busy && (self.window_ns >= WINDOW_NS || self.window_frames >= FEW_FRAMES)
    }

    /// Nearer to the wall's pace if timers use more processors than that leaves room for.
    fn slowed(&mut self, seen: &Observation) -> bool {
        let slower = self.rate > 1.0 && seen.cores > MOST_CORES;
        if slower {
            self.rate = (self.rate * BUSY_CORES / seen.cores).max(1.0);
            self.hush();
        }
        slower
    }

    /// As fast as the processors allow, whatever frames come: nobody times them. From half the rate of the last time on.
    fn hasten(&mut self, seen: &Observation) {
        self.busy = false;
        if !self.reading {
            self.reading = true;
            self.rate = self.rate.max(self.reading_rate / 2.0);
        }
        self.rate = self.rate.max(1.0);
        let lab_ns = seen.wall_ns as f64 * self.rate;
        let weight = (lab_ns / AVERAGE_LAB_NS).min(1.0);
        self.cost += weight * (seen.cores / self.rate - self.cost);
        let most = if seen.attended { 1.0 } else { ASKED };
        let affordable = (READING_CORES / self.cost).clamp(1.0, most);
        self.silent_wall_ns += seen.wall_ns;
        if seen.wall_ns > OVERSLEPT_NS {
            self.at_the_walls_pace();
        } else if self.rate >= affordable {
            self.rate = affordable;
        } else if self.silent_wall_ns >= SILENCE_WALL_NS {
            self.rate = (self.rate * 2.0).min(affordable);
            self.hush();
        }
        self.reading_rate = self.rate;
    }

    /// Whoever measures prepares a trial now.
    pub fn prepare(&mut self) {
        if !self.held {
            self.reading = false;
            self.at_the_walls_pace();
        }
    }

    fn at_the_walls_pace(&mut self) {
        self.rate = 1.0;
        self.busy = false;
        self.hush();
        self.restart_window();
    }

    fn hush(&mut self) {
        self.silent_wall_ns = 0;
        self.silent_lab_ns = 0.0;
    }

    fn silence(&mut self, seen: &Observation) {
        self.silent_wall_ns += seen.wall_ns;
        self.silent_lab_ns += seen.wall_ns as f64 * self.rate;
        let most = if seen.attended {
            1.0
        } else if self.unasked_ns < ASKS_NS {
            ASKED
        } else {
            Rate::FASTEST.factor()
        };
        self.rate = self.rate.min(most);
        if self.silent_lab_ns < SILENCE_LAB_NS || self.silent_wall_ns < SILENCE_WALL_NS {
            return;
        }
        self.busy = false;
        if seen.cores < FEW_CORES && self.rate < most {
            self.rate = (self.rate * 2.0).min(most);
            self.hush();
        }
    }

    /// Judge the lateness of the window; true if the window then begins anew.
    pub fn judge(&mut self, late: &WindowLateness) -> bool {
        let (worst_ns, late_ns) = (self.worst_ns(late), self.bound.ns());
        let over = self.window_ns >= WINDOW_NS;
        if !over && self.window_frames < ENOUGH_FRAMES && worst_ns < FAR * late_ns {
            return false;
        }
        if worst_ns > late_ns {
            self.rate = (self.rate * self.slowing(worst_ns)).max(Rate::SLOWEST.factor());
            self.busy_rate = self.rate;
        } else if over
            && worst_ns < late_ns / 3
            && (self.window_frames >= FEW_FRAMES || late.waited_ns > 0)
        {
            self.rate = (self.rate * 1.1).min(self.rate.max(1.0));
            self.busy_rate = self.rate;
        }
        let ends = over || worst_ns > late_ns;
        if ends {
            self.restart_window();
        }
        ends
    }

    /// By how much the rate falls at which the latest frames were so late.
    fn slowing(&self, worst_ns: u64) -> f64 {
        (0.7 * self.bound.ns() as f64 / worst_ns as f64).max(0.25)
    }

    fn restart_window(&mut self) {
        self.window_ns = 0;
        self.window_frames = 0;
    }
}

/// The rate of which a bound is supposed to be kept before anything is known.
fn first_busy(bound: Bound) -> f64 {
    let share = bound.ns() as f64 / Bound::USUAL.ns() as f64;
    (FIRST_BUSY * share.min(1.0)).max(Rate::SLOWEST.factor())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LATE_NS: u64 = Bound::USUAL.ns();

    const TICK_NS: i64 = 10_000_000;

    fn tick(frames: u64, cores: f64, attended: bool) -> Observation {
        Observation {
            wall_ns: TICK_NS,
            frames,
            cores,
            attended,
            ..Observation::default()
        }
    }

    /// Run a lab whose frames are late by this much (wall) for so many ticks; the rate at the end.
    fn run(regulator: &mut Regulator, ticks: usize, frames: u64, late_wall_ns: f64) -> f64 {
        for _ in 0..ticks {
            if regulator.observe(&tick(frames, 1.0, false)) {
                regulator.judge(&WindowLateness {
                    frames_ns: (late_wall_ns * regulator.rate().factor()) as u64,
                    waited_ns: 0,
                });
            }
        }
        regulator.rate().factor()
    }

    proptest! {
        #[test]
        fn lateness_settles_below_the_bound_and_not_far_below(
            bound_us in 1u64..=20, times in 1.25f64..750.0, frames in 1u64..3000, bound_later in any::<bool>(),
        ) {
            let bound: Bound = Bound::of_us(bound_us);
            let late_wall_ns = bound.ns() as f64 * times;
            let mut regulator = Regulator::new(Rate::WALL, if bound_later { Bound::USUAL } else { bound });
            if bound_later {
                run(&mut regulator, 100, frames, late_wall_ns);
                regulator.bind(bound);
            }
            prop_assert_eq!(regulator.bound(), bound);
            let rate = run(&mut regulator, 3000, frames, late_wall_ns);
            let late_ns = late_wall_ns * rate;
            prop_assert!(late_ns <= bound.ns() as f64 * 1.01, "{late_ns}");
            prop_assert!(late_ns >= bound.ns() as f64 / 3.5, "{late_ns} {rate}");
        }

        #[test]
        fn any_rate_lies_in_the_range(seen in prop::collection::vec((0u64..1000, 0.0f64..3.0, any::<bool>(), 0u64..1_000_000_000), 1..400)) {
            let mut regulator = Regulator::new(Rate::WALL, Bound::USUAL);
            for (frames, cores, attended, late) in seen {
                if regulator.observe(&tick(frames, cores, attended)) {
                    regulator.judge(&WindowLateness { frames_ns: late, waited_ns: late / 7 });
                }
                let rate = regulator.rate().factor();
                prop_assert!((0.001..=50.0).contains(&rate));
                prop_assert!(frames == 0 || rate <= 1.0, "frames, and {rate}");
                prop_assert!(!attended || rate <= 1.0, "attended, and {rate}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_trial_meets_one_rate_and_a_late_one_makes_the_next_slower(
            late_wall_us in prop::collection::vec(1.0f64..5_000.0, 1..30), frames in 1u64..3000,
        ) {
            let mut regulator = Regulator::new(Rate::FASTEST, Bound::USUAL);
            for late_us in late_wall_us {
                regulator.hold();
                let rate = regulator.rate();
                prop_assert!(rate.factor() <= FIRST_BUSY);
                for _ in 0..30 {
                    prop_assert!(!regulator.observe(&tick(frames, 1.0, true)));
                    prop_assert_eq!(regulator.rate(), rate);
                }
                let late_ns = (late_us * 1e3 * rate.factor()) as u64;
                let found = regulator.release(&WindowLateness { frames_ns: late_ns, waited_ns: 0 });
                regulator.hold();
                let next = regulator.rate();
                prop_assert_eq!(found, next.factor().lt(&rate.factor()).then_some(late_ns), "to be tried again");
                if late_ns > LATE_NS {
                    prop_assert!(next.factor() < rate.factor() || rate == Rate::SLOWEST);
                } else {
                    prop_assert!(next.factor() >= rate.factor());
                }
                regulator.release(&WindowLateness { frames_ns: LATE_NS / 2, waited_ns: 0 });
            }
        }
    }

    #[test]
    fn between_trials_a_lab_keeps_the_walls_pace_and_meters_are_read_faster() {
        let mut regulator = Regulator::new(Rate::FASTEST, Bound::USUAL);
        regulator.prepare();
        assert_eq!(regulator.rate(), Rate::WALL);
        let fast = Rate::new(12, 1).unwrap();
        for (work, frames, cores, rate) in [
            (Work::Between, 50, 1.5, Rate::WALL),
            (Work::Meters, 50, 1.5, Rate::WALL),
            (Work::Meters, 1, 0.01, fast),
            (Work::Between, 1, 0.01, Rate::WALL),
            (Work::Meters, 0, 0.01, fast),
        ] {
            let seen = Observation {
                work,
                ..tick(frames, cores, false)
            };
            for _ in 0..500 {
                assert!(!regulator.observe(&seen));
            }
            assert_eq!(regulator.rate(), rate);
        }
        for number in 0..300 {
            let asked = number % 10 == 0;
            let cores = if asked { 1.2 } else { 0.01 };
            regulator.observe(&Observation {
                work: Work::Meters,
                asked,
                ..tick(0, cores, false)
            });
        }
        assert_eq!(regulator.rate(), fast, "peaks while all devices are asked");
        regulator.observe(&Observation {
            work: Work::Meters,
            wall_ns: 2 * OVERSLEPT_NS,
            ..tick(0, 0.01, false)
        });
        assert_eq!(regulator.rate(), Rate::WALL);
        regulator.hold();
        regulator.prepare();
        assert_eq!(regulator.rate(), Rate::new(1, 10).unwrap());
    }

    proptest! {
        #[test]
        fn meters_are_read_at_the_pace_that_processors_afford(cost_s in 0.005f64..0.4, cores in 1.2f64..2.0) {
            const TICKS: u32 = 10_000;
            let tick_s = TICK_NS as f64 / 1e9;
            let mut regulator = Regulator::new(Rate::WALL, Bound::USUAL);
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
                regulator.observe(&Observation {
                    work: Work::Meters,
                    ..tick(0, used_s / tick_s, false)
                });
            }
            let pace = (lab_s - settled_s) / (f64::from(TICKS) * tick_s);
            let afforded = (READING_CORES / cost_s).clamp(1.0, ASKED);
            prop_assert!((0.85..=1.15).contains(&(pace / afforded)), "{pace} for {afforded}");
        }
    }

    #[test]
    fn meters_are_read_from_half_the_last_rate_on_unless_that_was_too_fast() {
        let meters = Observation {
            work: Work::Meters,
            ..tick(0, 0.01, false)
        };
        let mut regulator = Regulator::new(Rate::WALL, Bound::USUAL);
        for _ in 0..300 {
            regulator.observe(&meters);
        }
        regulator.prepare();
        assert_eq!(regulator.rate(), Rate::WALL);
        regulator.observe(&meters);
        assert_eq!(regulator.rate(), Rate::new(6, 1).unwrap());
        regulator.observe(&Observation {
            wall_ns: 2 * OVERSLEPT_NS,
            ..meters
        });
        regulator.observe(&meters);
        assert_eq!(regulator.rate(), Rate::WALL);
        regulator.prepare();
        regulator.observe(&meters);
        assert_eq!(regulator.rate(), Rate::WALL);
    }

    #[test]
    fn after_a_trial_a_silent_lab_hurries_again_and_trials_on_time_get_their_rate_back() {
        let mut regulator = Regulator::new(Rate::WALL, Bound::USUAL);
        regulator.hold();
        regulator.release(&WindowLateness {
            frames_ns: 0,
            waited_ns: 40 * LATE_NS, // the wall's
        });
        for _ in 0..400 {
            regulator.observe(&tick(0, 0.01, false));
        }
        assert_eq!(regulator.rate(), Rate::FASTEST);
        regulator.hold();
        assert_eq!(regulator.rate(), Rate::new(1, 40).unwrap());
        for number in 1..=4 * SETTLED {
            let before = regulator.rate();
            regulator.release(&WindowLateness::default());
            regulator.hold();
            assert_eq!(
                regulator.rate() == before,
                number % SETTLED != 0,
                "{number}"
            );
        }
        assert_eq!(regulator.rate(), Rate::new(1, 10).unwrap());
        for number in 1..=4 * SETTLED {
            let late_ns = if number % SETTLED == 0 {
                2 * LATE_NS
            } else {
                0
            };
            let before = regulator.rate();
            regulator.release(&WindowLateness {
                frames_ns: late_ns,
                waited_ns: 0,
            });
            regulator.hold();
            assert!(
                !regulator.rate().faster_than(before),
                "one of {SETTLED} is late"
            );
        }
    }

    #[test]
    fn a_stricter_bound_begins_slower_and_leaves_a_trial_its_rate() {
        let mut regulator = Regulator::new(Rate::WALL, Bound::of_us(2));
        regulator.hold();
        assert_eq!(regulator.rate(), Rate::new(1, 100).unwrap());
        regulator.bind(Bound::USUAL);
        assert_eq!(regulator.rate(), Rate::new(1, 100).unwrap());
        regulator.release(&WindowLateness::default());
        regulator.hold();
        assert_eq!(regulator.rate(), Rate::new(1, 10).unwrap());
        let lax = Regulator::new(Rate::WALL, Bound::MOST);
        assert!((lax.trial_rate - FIRST_BUSY).abs() < 1e-12);
        let strict = Regulator::new(Rate::WALL, Bound::LEAST);
        assert!((strict.trial_rate - Rate::SLOWEST.factor()).abs() < 1e-12);
    }

    #[test]
    fn a_silent_lab_runs_fast_unless_somebody_attends_until_a_frame_comes() {
        let mut regulator = Regulator::new(Rate::new(1, 10).unwrap(), Bound::USUAL);
        for _ in 0..400 {
            assert!(!regulator.observe(&tick(0, 0.01, true)));
        }
        assert_eq!(regulator.rate(), Rate::WALL);
        for _ in 0..100 {
            regulator.observe(&tick(0, 0.01, false));
        }
        assert_eq!(regulator.rate(), Rate::FASTEST);
        regulator.observe(&tick(1, 0.01, false));
        assert_eq!(regulator.rate(), Rate::new(1, 10).unwrap());
    }

    #[test]
    fn a_collector_that_asks_each_second_of_the_lab_bounds_the_haste() {
        let mut regulator = Regulator::new(Rate::WALL, Bound::USUAL);
        for number in 0..1000 {
            let asked = number % 20 == 0;
            regulator.observe(&Observation {
                asked,
                ..tick(0, 0.01, false)
            });
        }
        assert_eq!(regulator.rate(), Rate::new(12, 1).unwrap());
    }

    #[test]
    fn timers_that_fill_a_processor_bound_the_rate_and_a_busy_process_ends_the_haste() {
        let mut regulator = Regulator::new(Rate::WALL, Bound::USUAL);
        for _ in 0..1000 {
            let cores = 0.02 * regulator.rate().factor();
            regulator.observe(&tick(0, cores, false));
        }
        let rate = regulator.rate().factor();
        assert!((5.0..=25.0).contains(&rate), "{rate}");
        for _ in 0..20 {
            regulator.observe(&tick(0, 1.0, false));
        }
        assert!(regulator.busy());
        assert!(regulator.rate().factor() <= FIRST_BUSY);
    }

    #[test]
    fn waits_for_a_processor_count_as_lateness_does() {
        let mut regulator = Regulator::new(Rate::WALL, Bound::USUAL);
        for _ in 0..1000 {
            if regulator.observe(&tick(0, 1.0, false)) {
                regulator.judge(&WindowLateness {
                    frames_ns: 0,
                    waited_ns: 400_000,
                });
            }
        }
        let late_ns = 400_000.0 * regulator.rate().factor();
        assert!((LATE_NS as f64 / 3.5..=LATE_NS as f64).contains(&late_ns));
    }
}
