//! What somebody asks of a lab's clock: a rate, or that it sets its own.

use core::fmt;
use core::str::FromStr;

use crate::timeline::Rate;

/// How late frames and processes may be under `auto`: of 99 % of the frames, and of a mean wait for a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bound {
    /// Lab nanoseconds.
    ns: u64,
}

impl Bound {
    /// What a plain `auto` keeps.
    pub const USUAL: Bound = Bound { ns: 20_000 };
    /// The strictest bound.
    pub const LEAST: Bound = Bound { ns: 100 };
    /// The laxest bound.
    pub const MOST: Bound = Bound { ns: 1_000_000 };

    /// So many microseconds, within what is allowed.
    #[must_use]
    pub fn of_us(us: u64) -> Bound {
        let ns = us.saturating_mul(1_000);
        Bound {
            ns: ns.clamp(Bound::LEAST.ns, Bound::MOST.ns),
        }
    }

    /// Lab nanoseconds.
    #[must_use]
    pub const fn ns(self) -> u64 {
        self.ns
    }
}

/// A rate that was set, or the bound under which what happens in the lab sets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// This rate, whatever happens.
    Set(Rate),
    /// As fast as this bound allows.
    Auto(Bound),
}

/// Text that asks for no pace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not a rate: write 1/10, 0.1 or 5, between 1/1000 and 50, or auto, or auto:2us to be on time within 2 us \
     of lab time (0.1 to 1000)"
)]
pub struct PaceError(pub String);

impl FromStr for Pace {
    type Err = PaceError;

    fn from_str(text: &str) -> Result<Pace, PaceError> {
        let wrong = || PaceError(text.to_owned());
        let Some(more) = text.strip_prefix("auto") else {
            return text.parse().map(Pace::Set).map_err(|_| wrong());
        };
        if more.is_empty() {
            return Ok(Pace::Auto(Bound::USUAL));
        }
        let number = more
            .strip_prefix(':')
            .and_then(|rest| rest.strip_suffix("us"))
            .ok_or_else(wrong)?;
        let plain = number
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
        let bound_us: f64 = number.parse().map_err(|_| wrong())?;
        let bound = Bound {
            ns: (bound_us * 1e3).round() as u64,
        };
        if plain && (Bound::LEAST..=Bound::MOST).contains(&bound) {
            Ok(Pace::Auto(bound))
        } else {
            Err(wrong())
        }
    }
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pace::Set(rate) => rate.fmt(f),
            Pace::Auto(Bound::USUAL) => f.write_str("auto"),
            Pace::Auto(bound) => write!(f, "auto:{}us", bound.ns as f64 / 1e3),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn text_and_pace_are_one(ns in 100u64..=1_000_000, wall in 1u32..=1000) {
            for pace in [Pace::Auto(Bound { ns }), Pace::Set(Rate::new(1, wall).unwrap())] {
                prop_assert_eq!(pace.to_string().parse::<Pace>().unwrap(), pace);
            }
        }

        #[test]
        fn any_other_text_is_refused_and_named(text in "(auto)?:?[0-9.a-z-]{0,6}") {
            if let Err(error) = text.parse::<Pace>() {
                let named = format!("'{text}' is not a rate");
                prop_assert!(error.to_string().starts_with(&named));
            }
        }
    }

    #[test]
    fn auto_alone_keeps_the_usual_bound_and_others_are_in_us_of_lab_time() {
        assert_eq!("auto".parse(), Ok(Pace::Auto(Bound::USUAL)));
        assert_eq!("auto:20us".parse::<Pace>().unwrap().to_string(), "auto");
        assert_eq!("auto:2us".parse(), Ok(Pace::Auto(Bound { ns: 2_000 })));
        assert_eq!("auto:0.5us".parse(), Ok(Pace::Auto(Bound { ns: 500 })));
        for wrong in [
            "auto:",
            "auto:2",
            "auto:0us",
            "auto:2ms",
            "auto:1e2us",
            "auto:-1us",
            "auto:1001us",
            "autos",
            "",
        ] {
            assert!(wrong.parse::<Pace>().is_err(), "{wrong}");
        }
    }
}
