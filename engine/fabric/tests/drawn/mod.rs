//! Timing drawn at random: every field below a bound, so that a test chooses how coarse its time is.

use fabric::Ps;
use fabric::lpi::Timing;
use proptest::prelude::*;

/// Times below `time_below`; coalescing off in half of the cases, else below `byte_below` bytes and `wait_below`.
pub fn timings(time_below: Ps, byte_below: u32, wait_below: Ps) -> impl Strategy<Value = Timing> {
    let short = move || 0..time_below;
    (
        (short(), short(), short(), short()),
        (short(), short(), short(), short()),
        (
            prop_oneof![Just(0), 1..byte_below],
            prop_oneof![Just(0), 1..wait_below],
        ),
    )
        .prop_map(|(a, b, c)| Timing {
            hold: a.0,
            sleep: a.1,
            quiet: a.2,
            refresh: a.3,
            wake: b.0,
            wake_during_sleep: b.1,
            fast_wake: b.2,
            deep_after: b.3,
            coalesce_byte: c.0,
            coalesce: c.1,
        })
}
