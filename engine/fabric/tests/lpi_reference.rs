//! The LPI machine that computes against one that steps: a transmitter that lives picosecond by picosecond, counting
//! down the rest of each interval, must be in the same state with the same ledger at every picosecond, whatever
//! the calls and however rarely the lazy machine is read.

use crate::drawn;
use fabric::Ps;
use fabric::lpi::{Ledger, LpiState, LpiTx, Mode, Start, Timing};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Doing {
    Down,
    Sending,
    Idle,
    Sleep,
    Quiet,
    Refresh,
    Fast,
    Wake,
}

/// The stepping machine. All times are counters, no absolute moment but the permission.
struct Stepper {
    now: Ps,
    doing: Doing,
    /// Rest of an interval with a fixed end; `None`: open.
    left: Option<Ps>,
    /// How long idle, or in fast wake.
    spent: Ps,
    mode: Mode,
    timing: Timing,
    eee: bool,
    permitted_from: Ps,
    /// How long the first frame has waited in LPI, and how many bytes wait.
    waited: Option<(Ps, u32)>,
    due: bool,
    promised: Option<Ps>,
    speed_mbps: u32,
    ledger: Ledger,
}

impl Stepper {
    fn new() -> Self {
        Self {
            now: 0,
            doing: Doing::Down,
            left: None,
            spent: 0,
            mode: Mode::Off,
            timing: Timing::default(),
            eee: false,
            permitted_from: 0,
            waited: None,
            due: false,
            promised: None,
            speed_mbps: 0,
            ledger: Ledger::default(),
        }
    }

    fn go(&mut self, doing: Doing, left: Option<Ps>) {
        self.doing = doing;
        self.left = left;
        self.spent = 0;
    }

    fn wake(&mut self, length: Ps) {
        self.go(Doing::Wake, Some(length));
        self.ledger.wakes += 1;
        self.waited = None;
        self.due = false;
        self.promised = None;
    }

    fn quiet(&self) -> Option<Ps> {
        (self.timing.quiet > 0).then_some(self.timing.quiet)
    }

    /// Whether the waiting frames require a wake now.
    fn look_at_queue(&mut self) {
        if let Some((waited, byte)) = self.waited {
            let t = &self.timing;
            let by_byte = byte == u32::MAX || t.coalesce_byte > 0 && byte >= t.coalesce_byte;
            let by_time = t.coalesce > 0 && waited >= t.coalesce;
            if by_byte || by_time || (t.coalesce_byte == 0 && t.coalesce == 0) {
                self.due = true;
            }
        }
    }

    /// All state changes due at this picosecond, except the two ends that a call at the same
    /// picosecond prevents.
    fn happen(&mut self) {
        loop {
            // A wake asked for at the very end of Ts is not one "during sleep".
            let ended = self.left == Some(0);
            if self.doing == Doing::Sleep && ended {
                if self.due {
                    let length = self.promised.unwrap_or(self.timing.wake_during_sleep);
                    self.wake(length);
                } else {
                    self.go(Doing::Quiet, self.quiet());
                }
                continue;
            }
            self.look_at_queue();
            match self.doing {
                Doing::Sending | Doing::Wake if ended => self.go(Doing::Idle, None),
                Doing::Quiet | Doing::Refresh if self.due => self.wake(self.timing.wake),
                Doing::Fast if self.due => self.wake(self.timing.fast_wake),
                Doing::Quiet if ended => self.go(Doing::Refresh, Some(self.timing.refresh)),
                Doing::Refresh if ended => self.go(Doing::Quiet, self.quiet()),
                _ => return,
            }
        }
    }

    /// The hold or the time in fast wake has ended without a frame.
    fn fall(&mut self) -> bool {
        let sleepy = self.eee && self.mode != Mode::Off && self.now >= self.permitted_from;
        match self.doing {
            Doing::Idle if sleepy && self.spent >= self.timing.hold => {
                self.ledger.lpi_events += 1;
                if self.mode == Mode::Deep {
                    self.go(Doing::Sleep, Some(self.timing.sleep));
                } else {
                    self.go(Doing::Fast, None);
                }
                true
            }
            Doing::Fast
                if !self.due
                    && (self.mode == Mode::Deep
                        || self.mode == Mode::Hybrid && self.spent >= self.timing.deep_after) =>
            {
                self.go(Doing::Sleep, Some(self.timing.sleep));
                true
            }
            _ => false,
        }
    }

    /// Step by one picosecond.
    fn step(&mut self) {
        self.happen();
        while self.fall() {
            self.happen();
        }
        let ledger = &mut self.ledger;
        ledger.total_ps += 1;
        match self.doing {
            Doing::Down => ledger.down_ps += 1,
            Doing::Sending => {
                ledger.active_ps += 1;
                ledger.transmit_ps += 1;
            }
            Doing::Idle => ledger.active_ps += 1,
            Doing::Sleep => ledger.sleep_ps += 1,
            Doing::Quiet => ledger.quiet_ps += 1,
            Doing::Refresh => ledger.refresh_ps += 1,
            Doing::Fast => ledger.fast_ps += 1,
            Doing::Wake => ledger.wake_ps += 1,
        }
        if self.doing != Doing::Down {
            *ledger.up_by_mbps.entry(self.speed_mbps).or_default() += 1;
        }
        self.now += 1;
        self.spent += 1;
        if let Some(left) = &mut self.left {
            *left -= 1;
        }
        if let Some((waited, _)) = &mut self.waited {
            *waited += 1;
        }
        self.happen();
    }

    fn request(&mut self, byte: u32) -> Start {
        let low = !matches!(
            self.doing,
            Doing::Down | Doing::Idle | Doing::Sending | Doing::Wake
        );
        if low {
            let waited = self.waited.map_or(0, |(waited, _)| waited);
            self.waited = Some((waited, byte));
            self.look_at_queue();
            self.happen();
        }
        match self.doing {
            Doing::Down => Start::NoLink,
            Doing::Idle => Start::At(self.now),
            Doing::Sending | Doing::Wake => Start::At(self.now + self.left.unwrap()),
            Doing::Sleep if self.due => {
                let wake = *self.promised.get_or_insert(self.timing.wake_during_sleep);
                Start::At(self.now + self.left.unwrap() + wake)
            }
            _ => Start::Coalescing {
                until: if self.timing.coalesce == 0 {
                    Ps::MAX
                } else {
                    self.now + self.timing.coalesce - self.waited.unwrap().0
                },
            },
        }
    }

    fn set_policy(&mut self, mode: Mode, timing: Timing) {
        self.mode = mode;
        self.timing = timing;
        match (self.doing, mode) {
            (Doing::Sleep | Doing::Quiet | Doing::Refresh, Mode::Off | Mode::Fast)
            | (Doing::Fast, Mode::Off) => self.due = true,
            _ => {}
        }
        self.happen();
    }

    fn link_up(&mut self, wait: Ps, eee: bool, speed_mbps: u32) {
        self.link_down();
        self.go(Doing::Idle, None);
        self.permitted_from = self.now + wait;
        self.eee = eee;
        self.speed_mbps = speed_mbps;
        self.ledger.up_by_mbps.entry(speed_mbps).or_default();
    }

    fn link_down(&mut self) {
        self.go(Doing::Down, None);
        self.waited = None;
        self.due = false;
        self.promised = None;
    }

    fn state(&self) -> LpiState {
        match self.doing {
            Doing::Down => LpiState::Off,
            Doing::Idle if !self.eee || self.mode == Mode::Off => LpiState::Off,
            Doing::Idle => LpiState::Hold,
            Doing::Sending => LpiState::Active,
            Doing::Sleep => LpiState::Sleeping,
            Doing::Quiet => LpiState::Quiet,
            Doing::Refresh => LpiState::Refresh,
            Doing::Fast => LpiState::Fast,
            Doing::Wake => LpiState::Waking,
        }
    }
}

#[derive(Clone, Debug)]
enum Call {
    Wait(Ps),
    Request(u32),
    /// Request a start; if the answer is a time, wait for it and send for the given duration.
    Send(u32, Ps),
    Policy(Mode, Timing),
    Up(Ps, bool, u32),
    Down,
}

fn modes() -> impl Strategy<Value = Mode> {
    prop_oneof![
        1 => Just(Mode::Off),
        3 => Just(Mode::Deep),
        2 => Just(Mode::Fast),
        3 => Just(Mode::Hybrid),
    ]
}

fn timings() -> impl Strategy<Value = Timing> {
    drawn::timings(12, 40, 25)
}

fn calls() -> impl Strategy<Value = Call> {
    prop_oneof![
        6 => (0..80u64).prop_map(Call::Wait),
        4 => (0..50u32).prop_map(Call::Request),
        4 => ((0..50u32), (0..30u64)).prop_map(|(byte, length)| Call::Send(byte, length)),
        2 => (modes(), timings()).prop_map(|(mode, timing)| Call::Policy(mode, timing)),
        1 => ((0..40u64), prop::bool::weighted(0.8), prop_oneof![Just(100), Just(1000)])
            .prop_map(|(wait, eee, speed)| Call::Up(wait, eee, speed)),
        1 => Just(Call::Down),
    ]
}

/// Both machines, compared after each call.
struct Pair {
    stepper: Stepper,
    lazy: LpiTx,
}

impl Pair {
    fn agree(&self) {
        let now = self.stepper.now;
        assert_eq!(self.lazy.state(now), self.stepper.state(), "at {now}");
        let ledger = self.lazy.ledger(now);
        assert_eq!(ledger, self.stepper.ledger, "at {now}");
        assert_eq!(ledger.parts_ps(), ledger.total_ps);
    }

    fn wait_until(&mut self, at: Ps) {
        while self.stepper.now < at {
            self.stepper.step();
            self.agree();
        }
    }

    fn request(&mut self, byte: u32) -> Start {
        let start = self.lazy.request(self.stepper.now, byte);
        assert_eq!(start, self.stepper.request(byte), "at {}", self.stepper.now);
        start
    }

    fn send(&mut self, byte: u32, length: Ps) {
        let mut start = self.request(byte);
        while let Start::Coalescing { until } = start {
            if until == Ps::MAX {
                // More must queue up, or something urgent.
                start = self.request(u32::MAX);
            } else {
                self.wait_until(until);
                start = self.request(byte);
            }
        }
        let Start::At(at) = start else {
            return;
        };
        self.wait_until(at);
        self.lazy.began(at);
        assert_eq!(self.stepper.doing, Doing::Idle, "sent before ready");
        self.lazy.ended(at + length);
        self.stepper.go(Doing::Sending, Some(length));
        self.stepper.happen();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn computed_and_stepped_machines_agree(
        mode in modes(),
        timing in timings(),
        calls in prop::collection::vec(calls(), 1..40),
    ) {
        let mut pair = Pair { stepper: Stepper::new(), lazy: LpiTx::new(0) };
        pair.lazy.set_policy(0, mode, timing);
        pair.stepper.set_policy(mode, timing);
        pair.lazy.link_up(0, 3, true, 1000);
        pair.stepper.link_up(3, true, 1000);
        for call in calls {
            let now = pair.stepper.now;
            match call {
                Call::Wait(span) => pair.wait_until(now + span),
                Call::Request(byte) => {
                    pair.request(byte);
                }
                Call::Send(byte, length) => pair.send(byte, length),
                Call::Policy(mode, timing) => {
                    pair.lazy.set_policy(now, mode, timing);
                    pair.stepper.set_policy(mode, timing);
                }
                Call::Up(wait, eee, speed_mbps) => {
                    pair.lazy.link_up(now, now + wait, eee, speed_mbps);
                    pair.stepper.link_up(wait, eee, speed_mbps);
                }
                Call::Down => {
                    pair.lazy.link_down(now);
                    pair.stepper.link_down();
                }
            }
            pair.agree();
        }
        let now = pair.stepper.now;
        pair.wait_until(now + 300);
    }
}
