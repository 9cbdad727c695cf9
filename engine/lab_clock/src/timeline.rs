//! Lab time as a function of the wall's time, and its inverse. Pure.

use core::fmt;
use core::str::FromStr;

/// Lab nanoseconds per wall nanosecond, as a fraction; 1/1000 to 50.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Lab nanoseconds ...
    pub lab: u32,
    /// ... in so many wall nanoseconds.
    pub wall: u32,
}

/// A rate that no lab can run at.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a rate: write 1/10, 0.1 or 5, between 1/1000 and 50")]
pub struct RateError(pub String);

impl Rate {
    /// The wall's pace.
    pub const WALL: Rate = Rate { lab: 1, wall: 1 };
    /// The slowest rate.
    pub const SLOWEST: Rate = Rate { lab: 1, wall: 1000 };
    /// The fastest rate.
    pub const FASTEST: Rate = Rate { lab: 50, wall: 1 };

    /// A rate in lowest terms; an error outside 1/1000 to 50.
    pub fn new(lab: u32, wall: u32) -> Result<Rate, RateError> {
        let text = || RateError(format!("{lab}/{wall}"));
        if lab == 0 || wall == 0 {
            return Err(text());
        }
        let divisor = gcd(lab, wall);
        let rate = Rate {
            lab: lab / divisor,
            wall: wall / divisor,
        };
        let within =
            u64::from(rate.lab) * 1000 >= u64::from(rate.wall) && rate.lab <= 50 * rate.wall;
        if within && rate.lab <= 1_000_000 && rate.wall <= 1_000_000 {
            Ok(rate)
        } else {
            Err(text())
        }
    }

    /// A rate near a number; one outside the range becomes its end.
    #[must_use]
    pub fn near(factor: f64) -> Rate {
        let factor = factor.clamp(0.001, 50.0);
        let (lab, wall) = if factor >= 1.0 {
            ((factor * 10.0).round() as u32, 10)
        } else if factor > 0.5 {
            ((factor * 100.0).round() as u32, 100)
        } else {
            (1, (1.0 / factor).round() as u32)
        };
        Rate::new(lab, wall).unwrap_or(Rate::WALL)
    }

    /// As a number.
    #[must_use]
    pub fn factor(self) -> f64 {
        f64::from(self.lab) / f64::from(self.wall)
    }

    /// Lab nanoseconds that pass in `wall_ns`, rounded down.
    #[must_use]
    pub fn lab_ns(self, wall_ns: i64) -> i64 {
        if self == Rate::WALL {
            return wall_ns;
        }
        (i128::from(wall_ns) * i128::from(self.lab)).div_euclid(i128::from(self.wall)) as i64
    }

    /// The first wall nanosecond at which `lab_ns` have passed, rounded up.
    #[must_use]
    pub fn wall_ns(self, lab_ns: i64) -> i64 {
        if self == Rate::WALL {
            return lab_ns;
        }
        let up = i128::from(lab_ns) * i128::from(self.wall) + i128::from(self.lab) - 1;
        up.div_euclid(i128::from(self.lab))
            .clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
    }

    /// Whether lab time runs faster at this rate than at another.
    #[must_use]
    pub fn faster_than(self, other: Rate) -> bool {
        u64::from(self.lab) * u64::from(other.wall) > u64::from(other.lab) * u64::from(self.wall)
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.wall == 1 {
            write!(f, "{}", self.lab)
        } else {
            write!(f, "{}/{}", self.lab, self.wall)
        }
    }
}

impl FromStr for Rate {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Rate, RateError> {
        let wrong = || RateError(text.to_owned());
        if let Some((lab, wall)) = text.split_once('/') {
            return Rate::new(
                lab.trim().parse().map_err(|_| wrong())?,
                wall.trim().parse().map_err(|_| wrong())?,
            )
            .map_err(|_| wrong());
        }
        let (whole, part) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
        if part.len() > 4 || whole.is_empty() || !part.bytes().all(|b| b.is_ascii_digit()) {
            return Err(wrong());
        }
        let scale = 10u32.pow(part.len() as u32);
        let whole: u32 = whole.parse().map_err(|_| wrong())?;
        let part: u32 = if part.is_empty() {
            0
        } else {
            part.parse().map_err(|_| wrong())?
        };
        let lab = whole
            .checked_mul(scale)
            .and_then(|w| w.checked_add(part))
            .ok_or_else(wrong)?;
        Rate::new(lab, scale).map_err(|_| wrong())
    }
}

/// A stretch of constant rate, from `wall_ns` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where it begins, on the wall's `CLOCK_MONOTONIC`.
    pub wall_ns: i64,
    /// Lab time there.
    pub lab_ns: i64,
    /// Its rate.
    pub rate: Rate,
}

impl Piece {
    fn lab_at(&self, wall_ns: i64) -> i64 {
        self.lab_ns + self.rate.lab_ns(wall_ns - self.wall_ns)
    }
}

/// Now, what was announced, and the wall's pace from the end of the lease on.
///
/// The last piece has the wall's pace: if the writer dies, its readers go on at that pace from the end of the lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// Three pieces in the order of their begin; each begins where the one before leads.
    pub pieces: [Piece; 3],
    /// What `CLOCK_REALTIME` is ahead of `CLOCK_MONOTONIC` in the lab.
    pub real_ahead_ns: i64,
}

impl Timeline {
    /// Lab time that equals the wall's.
    #[must_use]
    pub fn wall(real_ahead_ns: i64) -> Timeline {
        let piece = Piece {
            wall_ns: 0,
            lab_ns: 0,
            rate: Rate::WALL,
        };
        Timeline {
            pieces: [piece; 3],
            real_ahead_ns,
        }
    }

    /// The piece in force at a time of the wall.
    #[must_use]
    pub fn at(&self, wall_ns: i64) -> &Piece {
        let [first, second, third] = &self.pieces;
        if wall_ns >= third.wall_ns {
            third
        } else if wall_ns >= second.wall_ns {
            second
        } else {
            first
        }
    }

    /// Lab time (monotonic) at a time of the wall.
    #[must_use]
    pub fn lab_ns(&self, wall_ns: i64) -> i64 {
        self.at(wall_ns).lab_at(wall_ns)
    }

    /// The first time of the wall at which lab time is at least `lab_ns`.
    #[must_use]
    pub fn wall_ns(&self, lab_ns: i64) -> i64 {
        let [first, second, third] = &self.pieces;
        let (piece, next) = if lab_ns > third.lab_ns {
            (third, i64::MAX)
        } else if lab_ns > second.lab_ns {
            (second, third.wall_ns)
        } else {
            (first, second.wall_ns)
        };
        (piece
            .wall_ns
            .saturating_add(piece.rate.wall_ns(lab_ns - piece.lab_ns)))
        .min(next)
    }

    /// The same function with a longer lease: the wall's pace from `until_ns` on. What is past stays as it was, so that
    /// stamps from before the last change of rate can still be converted.
    #[must_use]
    pub fn renewed(&self, until_ns: i64) -> Timeline {
        let [first, second, _] = self.pieces;
        let third = Piece {
            wall_ns: until_ns,
            lab_ns: second.lab_at(until_ns),
            rate: Rate::WALL,
        };
        Timeline {
            pieces: [first, second, third],
            real_ahead_ns: self.real_ahead_ns,
        }
    }

    /// The same function from `now_ns` on, with another rate from `from_ns` and the wall's pace from `until_ns`.
    ///
    /// `now_ns <= from_ns <= until_ns`. Before `from_ns` the rate is the one in force at `now_ns`.
    #[must_use]
    pub fn bent(&self, now_ns: i64, from_ns: i64, rate: Rate, until_ns: i64) -> Timeline {
        let first = Piece {
            wall_ns: now_ns,
            lab_ns: self.lab_ns(now_ns),
            rate: self.at(now_ns).rate,
        };
        let second = Piece {
            wall_ns: from_ns,
            lab_ns: first.lab_at(from_ns),
            rate,
        };
        let third = Piece {
            wall_ns: until_ns,
            lab_ns: second.lab_at(until_ns),
            rate: Rate::WALL,
        };
        Timeline {
            pieces: [first, second, third],
            real_ahead_ns: self.real_ahead_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rates() -> impl Strategy<Value = Rate> {
        prop_oneof![
            Just(Rate::WALL),
            (1u32..=1000).prop_map(|d| Rate::new(1, d).unwrap()),
            (1u32..=50).prop_map(|n| Rate::new(n, 1).unwrap()),
            (3u32..50, 1u32..40).prop_filter_map("in range", |(a, b)| Rate::new(a, b).ok())
        ]
    }

    proptest! {
        #[test]
        fn continuous_and_increasing_through_any_changes(
            changes in prop::collection::vec((0i64..2_000_000_000, 0i64..50_000_000, rates(), 1i64..3_000_000_000), 1..12),
            probes in prop::collection::vec(0i64..3_000_000_000, 1..30),
        ) {
            let mut line = Timeline::wall(7);
            let mut now = 1_000_000_000i64;
            for (later, ahead, rate, lease) in changes {
                now += later;
                let before = line;
                line = line.bent(now, now + ahead, rate, now + ahead + lease);
                prop_assert_eq!(before.lab_ns(now), line.lab_ns(now));
                let mut times: Vec<i64> = probes.iter().map(|p| now + p).collect();
                times.extend(line.pieces.iter().flat_map(|p| [p.wall_ns, p.wall_ns + 1, (p.wall_ns - 1).max(now)]));
                times.sort_unstable();
                for pair in times.windows(2) {
                    prop_assert!(line.lab_ns(pair[0]) <= line.lab_ns(pair[1]));
                    if pair[1] - pair[0] >= 1000 { prop_assert!(line.lab_ns(pair[0]) < line.lab_ns(pair[1])); }
                }
                for time in times {
                    let lab = line.lab_ns(time);
                    let back = line.wall_ns(lab);
                    prop_assert!(line.lab_ns(back) >= lab, "{} {}", line.lab_ns(back), lab);
                    prop_assert!(back <= time);
                    prop_assert!(back <= now || line.lab_ns(back - 1) < lab || back - 1 < now);
                }
            }
        }

        #[test]
        fn a_rate_reads_as_it_is_written(rate in rates()) {
            prop_assert_eq!(rate.to_string().parse::<Rate>().unwrap(), rate);
        }
    }

    #[test]
    fn a_number_becomes_a_rate_near_it() {
        for step in 0..=400 {
            let factor = 0.001 * 50_000f64.powf(f64::from(step) / 400.0);
            let near = Rate::near(factor).factor();
            assert!((near / factor - 1.0).abs() < 0.25, "{factor} {near}");
        }
        assert_eq!(Rate::near(0.1), Rate { lab: 1, wall: 10 });
        assert_eq!(Rate::near(1e9), Rate::FASTEST);
        assert_eq!(Rate::near(0.0), Rate::SLOWEST);
    }

    #[test]
    fn rates_outside_the_range_are_refused() {
        for text in [
            "0", "1/0", "1/1001", "51", "-1", "x", "", "1/", "0.0001", "1e3", "0.00001",
        ] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
        assert_eq!("0.1".parse::<Rate>().unwrap(), Rate { lab: 1, wall: 10 });
        assert_eq!("2.5".parse::<Rate>().unwrap(), Rate { lab: 5, wall: 2 });
    }
}
