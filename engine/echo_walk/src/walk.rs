//! The walk: what each transmitter adds to each echo.

/// A frame of 1,500 bytes of payload on the wire: bursts behind an echo consist of such frames.
const FULL_FRAME_BYTE: f64 = 1_538.0;
/// The shortest one, with preamble, FCS and the gap between frames.
const SHORTEST_FRAME_BYTE: f64 = 84.0;

/// How a transmitter sleeps; its times, in this order, are microseconds but for the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// hold, sleep, wake.
    Deep,
    /// hold, sleep, wake, fast wake, deep after.
    Hybrid,
    /// hold, sleep, wake, longest wait, bytes that end it.
    Coalescing,
}

/// A transmitter of the path that may sleep: its place, and the column of its first time among a candidate's.
#[derive(Clone, Copy, Debug)]
pub struct Sleeper {
    /// Its place on the path of a round trip.
    pub place: usize,
    /// How it sleeps.
    pub timing: Timing,
    /// Its first column.
    pub column: usize,
}

/// Echoes of a path in the order in which they were sent; microseconds.
#[derive(Clone, Debug)]
pub struct Echoes {
    /// By place on the path, each echo's gap to the end of the burst before, there; NaN where there was none.
    pub gap_us: Vec<Vec<f64>>,
    /// Bytes on the wire of an echo.
    pub echo_byte: f64,
    /// Bytes on the wire of each echo and the burst behind it.
    pub burst_byte: Vec<f64>,
    /// By place, how long a byte takes there.
    pub byte_us: Vec<f64>,
    /// By place, whether it is a switch's port: a switch stores a frame before it sends it.
    pub stores: Vec<bool>,
    /// How much later than the one before it each answer may have left the far host.
    pub later_us: Vec<f64>,
}

impl Echoes {
    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.burst_byte.len()
    }

    /// How much longer than its bytes a burst keeps the transmitter at `place` busy, `before_us` at the one before it.
    ///
    /// A host sends without a pause. A switch sends a frame when it has stored it, so that a port is busy for longer by as
    /// much as the longest frame takes longer than the first one. A first frame that waited, for `waited_us`, leaves the
    /// others time to arrive. Simplification: as if all links had the rate of the place's.
    fn tail_us(&self, at: usize, place: usize, before_us: f64, waited_us: f64) -> f64 {
        let behind_byte = self.burst_byte[at] - self.echo_byte;
        if !self.stores[place] || behind_byte <= 0.0 {
            return 0.0;
        }
        let longest_byte = behind_byte.clamp(SHORTEST_FRAME_BYTE, FULL_FRAME_BYTE);
        let stored_us = (longest_byte - self.echo_byte) * self.byte_us[place];
        (before_us + stored_us - waited_us).max(0.0)
    }
}

/// One echo at one sleeper.
#[derive(Clone, Copy, Debug, Default)]
struct Passing {
    idle_us: f64,
    /// What the sleepers before it added.
    before_us: f64,
    own_us: f64,
    /// How much longer than its bytes the burst kept the sleeper busy.
    tail_us: f64,
}

/// A walk with the times of one candidate.
#[derive(Clone)]
pub(crate) struct Walk<'a> {
    echoes: &'a Echoes,
    sleepers: &'a [Sleeper],
    times: &'a [f64],
    later_share: f64,
    passings: Vec<Passing>,
    at: usize,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(
        echoes: &'a Echoes,
        sleepers: &'a [Sleeper],
        times: &'a [f64],
        later_share: f64,
    ) -> Self {
        Self {
            echoes,
            sleepers,
            times,
            later_share,
            passings: vec![Passing::default(); sleepers.len()],
            at: 0,
        }
    }

    /// Pass the next echo; its delay.
    pub(crate) fn step(&mut self) -> f64 {
        let at = self.at;
        self.at += 1;
        let back = self.back();
        let later_us = self.later_share * self.echoes.later_us[at];
        let echoes = self.echoes;
        let mut then_us = 0.0;
        self.pass(at, |sleeper, passing, total_us| {
            let idle_us = echoes.gap_us[sleeper.place][at] + total_us
                - then_us
                - passing.own_us
                - passing.tail_us;
            then_us += passing.own_us;
            idle_us + if sleeper.place >= back { later_us } else { 0.0 }
        })
    }

    /// That the echo passed last met transmitters that were idle for so much longer, its request some and its answer
    /// others; its delay. The next echo finds them as it left them then.
    pub(crate) fn settle(&mut self, request_us: f64, answer_us: f64) -> f64 {
        let back = self.back();
        self.pass(self.at - 1, |sleeper, passing, total_us| {
            let longer_us = if sleeper.place < back {
                request_us
            } else {
                answer_us
            };
            passing.idle_us + total_us - passing.before_us + longer_us
        })
    }

    /// The first place of an answer.
    fn back(&self) -> usize {
        self.echoes.byte_us.len() / 2
    }

    /// Let an echo pass all sleepers; its delay. `idle_us`: of a sleeper, from what passed it last and the delay so far.
    fn pass(&mut self, at: usize, mut idle_us: impl FnMut(&Sleeper, &Passing, f64) -> f64) -> f64 {
        let burst_byte = self.echoes.burst_byte[at];
        let (mut total_us, mut place, mut tail_us) = (0.0, 0, 0.0);
        for (sleeper, passing) in self.sleepers.iter().zip(&mut self.passings) {
            for awake in place..sleeper.place {
                tail_us = self.echoes.tail_us(at, awake, tail_us, 0.0);
            }
            place = sleeper.place + 1;
            let idle_us = idle_us(sleeper, passing, total_us);
            let own_us = delay_us(sleeper, self.times, idle_us, self.echoes, burst_byte);
            tail_us = self.echoes.tail_us(at, sleeper.place, tail_us, own_us);
            *passing = Passing {
                idle_us,
                before_us: total_us,
                own_us,
                tail_us,
            };
            total_us += own_us;
        }
        total_us
    }

    /// Whether the echo passed last would have had the same delay for any gap at most so much shorter or longer.
    pub(crate) fn firm(&self, shorter_us: f64, longer_us: f64) -> bool {
        self.sleepers
            .iter()
            .zip(&self.passings)
            .all(|(sleeper, passing)| {
                let times = &self.times[sleeper.column..];
                let asleep_us = times[0]
                    + times[1]
                    + if sleeper.timing == Timing::Hybrid {
                        times[4]
                    } else {
                        0.0
                    };
                passing.idle_us + longer_us < times[0] || passing.idle_us - shorter_us > asleep_us
            })
    }

    /// The delay that the echo passed last would have had, had its request met transmitters that were idle for so much
    /// longer, and its answer others.
    pub(crate) fn otherwise(&self, request_us: f64, answer_us: f64) -> f64 {
        let burst_byte = self.echoes.burst_byte[self.at - 1];
        let back = self.back();
        let mut total_us = 0.0;
        for (sleeper, passing) in self.sleepers.iter().zip(&self.passings) {
            let longer_us = if sleeper.place < back {
                request_us
            } else {
                answer_us
            };
            let more_us = total_us - passing.before_us + longer_us;
            total_us += if more_us == 0.0 {
                passing.own_us
            } else {
                let idle_us = passing.idle_us + more_us;
                delay_us(sleeper, self.times, idle_us, self.echoes, burst_byte)
            };
        }
        total_us
    }
}

/// The delay of each echo under one candidate's times. `later_share` is the share of `later_us` that delays answers.
#[must_use]
pub fn delays(echoes: &Echoes, sleepers: &[Sleeper], times: &[f64], later_share: f64) -> Vec<f64> {
    let mut walk = Walk::new(echoes, sleepers, times, later_share);
    (0..echoes.count()).map(|_| walk.step()).collect()
}

/// Delay of the first frame of a burst that arrives after so long; 0 for an idle time that is not known (NaN).
fn delay_us(
    sleeper: &Sleeper,
    times: &[f64],
    idle_us: f64,
    echoes: &Echoes,
    burst_byte: f64,
) -> f64 {
    let times = &times[sleeper.column..];
    let (hold_us, sleep_us, wake_us) = (times[0], times[1], times[2]);
    let asleep = idle_us > hold_us; // false for NaN
    if !asleep {
        return 0.0;
    }
    match sleeper.timing {
        Timing::Deep => (hold_us + sleep_us - idle_us).max(0.0) + wake_us,
        Timing::Hybrid => {
            let deep_from_us = hold_us + times[4];
            if idle_us > deep_from_us {
                (deep_from_us + sleep_us - idle_us).max(0.0) + wake_us
            } else {
                times[3]
            }
        }
        Timing::Coalescing => {
            let (wait_us, wait_byte) = (times[3], times[4]);
            let filled_us = if burst_byte < wait_byte {
                f64::INFINITY
            } else {
                behind_byte(wait_byte, burst_byte, echoes.echo_byte) * echoes.byte_us[sleeper.place]
            };
            (hold_us + sleep_us - idle_us).max(wait_us.min(filled_us)) + wake_us
        }
    }
}

/// Bytes behind the echo of a burst until `wait_byte` have arrived, in whole frames.
fn behind_byte(wait_byte: f64, burst_byte: f64, echo_byte: f64) -> f64 {
    let frames = ((wait_byte - echo_byte).max(0.0) / FULL_FRAME_BYTE).ceil();
    (frames * FULL_FRAME_BYTE).min(burst_byte - echo_byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn echoes(gaps_us: Vec<f64>, places: usize) -> Echoes {
        let count = gaps_us.len();
        Echoes {
            gap_us: vec![gaps_us; places],
            echo_byte: 84.0,
            burst_byte: vec![84.0; count],
            byte_us: vec![0.008; places],
            stores: vec![false; places],
            later_us: vec![0.0; count],
        }
    }

    fn port(place: usize) -> Sleeper {
        Sleeper {
            place,
            timing: Timing::Deep,
            column: 0,
        }
    }

    #[test]
    fn two_ports_in_series_share_the_wait_for_ts() {
        // As the example of `analysis.links.path_delay.passing_delay_us`.
        let times = [1000.0, 182.0, 60.0];
        let both = [port(0), port(1)];
        for (gap_us, delay_us) in [(950.0, 0.0), (1100.0, 202.0), (5000.0, 120.0)] {
            let seen = echoes(vec![f64::NAN, gap_us], 2);
            assert_eq!(delays(&seen, &both, &times, 0.0), [0.0, delay_us]);
        }
    }

    #[test]
    fn a_switch_sends_the_end_of_a_burst_later_than_a_host_unless_the_first_frame_waited() {
        let times = [100.0, 50.0, 5.0];
        let tail_us = (1538.0 - 84.0) * 0.008;
        let idle_until_us = |stores, gap_us: f64| {
            let mut seen = echoes(vec![gap_us, 1000.0], 2);
            seen.burst_byte = vec![84.0 + 1538.0; 2];
            seen.stores = vec![false, stores];
            let (sleepers, mut last_us) = ([port(1)], 0.0);
            let mut walk = Walk::new(&seen, &sleepers, &times, 0.0);
            for _ in 0..2 {
                walk.step();
                last_us = walk.passings[0].idle_us;
            }
            last_us
        };
        assert_eq!(idle_until_us(false, 20.0), 1000.0);
        assert!((idle_until_us(true, 20.0) - 1000.0 + tail_us).abs() < 1e-9);
        // The first burst waits for Tw, which is less than a frame's time, or for Ts, which is more.
        assert!((idle_until_us(true, 1000.0) - 1000.0 + tail_us).abs() < 1e-9);
        assert!((idle_until_us(true, 101.0) - 1000.0 + 54.0).abs() < 1e-9);
    }

    #[test]
    fn an_answer_that_comes_late_may_find_its_port_falling_asleep() {
        let times = [1000.0, 182.0, 60.0];
        let both = [port(1), port(3)];
        let seen = echoes(vec![993.0], 4);
        let mut walk = Walk::new(&seen, &both, &times, 0.0);
        assert_eq!(walk.step(), 0.0);
        assert_eq!(walk.otherwise(0.0, 5.0), 0.0);
        // It waits for the end of Ts whenever it comes; a request that is late finds the second port asleep, too.
        assert_eq!(walk.otherwise(0.0, 8.0) + 8.0, 1182.0 - 993.0 + 60.0);
        assert_eq!(walk.otherwise(0.0, 25.0) + 25.0, 1182.0 - 993.0 + 60.0);
        assert_eq!(walk.otherwise(8.0, 8.0) + 8.0, 1182.0 - 993.0 + 120.0);
    }

    #[test]
    fn an_echo_finds_transmitters_as_the_one_before_left_them() {
        let times = [1000.0, 182.0, 60.0];
        let both = [port(1), port(3)];
        let seen = echoes(vec![1010.0, 1100.0], 4);
        let mut walk = Walk::new(&seen, &both, &times, 0.0);
        assert_eq!(walk.step(), 1182.0 - 1010.0 + 120.0);
        // The frame before had come 15 us late, so that this one found both awake; the next finds them falling asleep.
        assert_eq!(walk.settle(-15.0, -15.0), 0.0);
        assert_eq!(walk.step(), 1182.0 - 1100.0 + 120.0);
    }

    #[test]
    fn fast_wake_ends_where_deep_sleep_begins() {
        let sleeper = Sleeper {
            place: 0,
            timing: Timing::Hybrid,
            column: 0,
        };
        let times = [100.0, 50.0, 30.0, 4.0, 400.0];
        let seen = echoes(vec![90.0, 300.0, 610.0, 2000.0], 1);
        // The gap before the third is shorter by the second's delay.
        assert_eq!(
            delays(&seen, &[sleeper], &times, 0.0),
            [0.0, 4.0, 30.0, 30.0]
        );
    }

    #[test]
    fn a_coalescing_port_waits_for_bytes_or_its_timer() {
        let sleeper = Sleeper {
            place: 0,
            timing: Timing::Coalescing,
            column: 0,
        };
        let times = [100.0, 10.0, 5.0, 20.0, 1000.0];
        let mut seen = echoes(vec![5000.0, 5000.0], 1);
        seen.burst_byte = vec![84.0, 84.0 + 1538.0];
        let found = delays(&seen, &[sleeper], &times, 0.0);
        assert_eq!(found, [25.0, 1538.0 * 0.008 + 5.0]);
    }

    proptest! {
        #[test]
        fn a_firm_echo_has_the_same_delay_for_every_error_within_the_margin(
            gaps_us in prop::collection::vec(20.0f64..3000.0, 2..60),
            hold_us in 1.0f64..900.0, sleep_us in 0.0f64..300.0, wake_us in 0.5f64..100.0, margin_us in 0.0f64..20.0,
        ) {
            let times = [hold_us, sleep_us, wake_us];
            let seen = echoes(gaps_us, 4);
            let sleepers = [port(0), port(1), port(3)];
            let mut walk = Walk::new(&seen, &sleepers, &times, 0.0);
            for _ in 0..seen.count() {
                let delay_us = walk.step();
                prop_assert!((walk.otherwise(0.0, 0.0) - delay_us).abs() < 1e-9);
                let mut other = walk.clone();
                prop_assert!((other.settle(margin_us, 0.0) - walk.otherwise(margin_us, 0.0)).abs() < 1e-9);
                if walk.firm(margin_us, margin_us) {
                    for share in [-1.0, -0.3, 0.3, 1.0] {
                        prop_assert!((walk.otherwise(share * margin_us, share * margin_us) - delay_us).abs() < 1e-9);
                    }
                }
            }
        }
    }
}
