//! What two ends of a cable agree on, and when.

use fabric::Ps;
use fabric::link::{
    Agreement, End, LPI_AFTER_LINK_UP, Link, LinkChange, LinkState, Pause, PauseOffer, Reason,
};
use fabric::phy::Phy;
use proptest::prelude::*;

const S: Ps = 1_000_000_000_000;

fn end(phy: &str) -> End {
    End {
        interruption: 2 * S,
        ..End::new(Phy::named(phy).unwrap())
    }
}

fn forced(phy: &str, speed_mbps: u32) -> End {
    End {
        autoneg: false,
        advertised_mbps: vec![speed_mbps],
        ..end(phy)
    }
}

/// Result of the negotiation of two ends.
fn agree(a: End, b: End) -> Result<Agreement, Reason> {
    let link = Link::new(0, [a, b]);
    match link.state() {
        LinkState::ComingUp { agreement, .. } => Ok(agreement),
        LinkState::Down(reason) => Err(reason),
        LinkState::Up { .. } => panic!("up at once"),
    }
}

fn speed(a: End, b: End) -> Result<u32, Reason> {
    agree(a, b).map(|agreement| agreement.speed_mbps)
}

#[test]
fn the_highest_common_speed_wins() {
    let gigabit = || end("1000BASE-T");
    assert_eq!(speed(gigabit(), gigabit()), Ok(1000));
    assert_eq!(speed(end("10GBASE-T"), gigabit()), Ok(1000));
    assert_eq!(speed(gigabit(), end("100BASE-TX")), Ok(100));
    assert_eq!(speed(end("10BASE-T"), gigabit()), Ok(10));
    assert_eq!(
        speed(end("10BASE-T"), end("10GBASE-T")),
        Err(Reason::NoCommonSpeed)
    );
    let slow = End {
        advertised_mbps: vec![10, 100, 40_000],
        ..gigabit()
    };
    assert_eq!(speed(slow, gigabit()), Ok(100));
    assert_eq!(
        speed(end("10GBASE-KR"), end("10GBASE-T")),
        Err(Reason::Medium)
    );
    let mute = End {
        advertised_mbps: vec![],
        ..gigabit()
    };
    assert_eq!(speed(mute, gigabit()), Err(Reason::NoCommonSpeed));
}

#[test]
fn forced_speeds_must_meet() {
    let negotiating = || end("1000BASE-T");
    assert_eq!(speed(forced("1000BASE-T", 100), negotiating()), Ok(100));
    assert_eq!(speed(forced("1000BASE-T", 1000), negotiating()), Ok(1000));
    let (fast, slow) = (forced("1000BASE-T", 1000), forced("1000BASE-T", 100));
    assert_eq!(speed(fast, slow), Err(Reason::NoCommonSpeed));
}

#[test]
fn eee_needs_both_ends_and_a_speed_that_has_it() {
    let eee = |a, b| agree(a, b).unwrap().eee;
    let gigabit = || end("1000BASE-T");
    assert!(eee(gigabit(), gigabit()));
    assert!(eee(gigabit(), end("10GBASE-T")));
    assert!(!eee(gigabit(), end("1000BASE-T-no-EEE")));
    let unwilling = End {
        eee: false,
        ..gigabit()
    };
    assert!(!eee(unwilling, gigabit()));
    assert!(!eee(gigabit(), end("10BASE-T")), "10BASE-T has no EEE");
    assert!(eee(gigabit(), end("100BASE-TX")));
    assert!(
        !eee(gigabit(), forced("1000BASE-T", 100)),
        "nothing was negotiated"
    );
    assert!(
        eee(gigabit(), forced("1000BASE-T", 1000)),
        "gigabit always negotiates"
    );
}

#[test]
fn pause_follows_annex_28b() {
    const NONE: (bool, bool) = (false, false);
    const BOTH: (bool, bool) = (true, true);
    let offers = [
        PauseOffer::OFF,
        PauseOffer::SEND_ONLY,
        PauseOffer::SYMMETRIC,
        PauseOffer::BOTH,
    ];
    // (receives, sends) of the row's end, against the column's in the same order.
    let wanted = [
        [NONE, NONE, NONE, NONE],
        [NONE, NONE, NONE, (false, true)],
        [NONE, NONE, BOTH, BOTH],
        [NONE, (true, false), BOTH, BOTH],
    ];
    for (local, row) in offers.iter().zip(wanted) {
        for (partner, (receives, sends)) in offers.iter().zip(row) {
            let found = local.resolve(*partner);
            assert_eq!(
                found,
                Pause { receives, sends },
                "{local:?} with {partner:?}"
            );
        }
    }
    let with = |pause| End {
        pause,
        ..end("1000BASE-T")
    };
    let one_sided = agree(with(PauseOffer::BOTH), with(PauseOffer::SEND_ONLY)).unwrap();
    assert!(one_sided.pause[0].receives && !one_sided.pause[0].sends);
    assert!(one_sided.pause[1].sends && !one_sided.pause[1].receives);
    let unilateral = End {
        pause: PauseOffer::BOTH,
        ..forced("1000BASE-T", 100)
    };
    let alone = agree(unilateral, with(PauseOffer::OFF)).unwrap();
    assert!(alone.pause[0].sends && alone.pause[0].receives);
    assert_eq!(alone.pause[1], Pause::default());
}

#[test]
fn a_link_takes_the_longer_interruption_and_lpi_a_second_more() {
    let slow = End {
        interruption: 3 * S,
        ..end("1000BASE-T")
    };
    let mut link = Link::new(S, [end("1000BASE-T"), slow]);
    assert_eq!(link.poll_at(), Some(4 * S));
    assert_eq!(link.poll(4 * S - 1), None);
    let Some(LinkChange::CameUp {
        agreement,
        lpi_permitted_from,
    }) = link.poll(7 * S)
    else {
        panic!("it should be up")
    };
    assert_eq!(lpi_permitted_from, 4 * S + LPI_AFTER_LINK_UP);
    assert_eq!(
        link.state(),
        LinkState::Up {
            since: 4 * S,
            agreement
        }
    );
    assert_eq!((link.poll_at(), link.poll(9 * S)), (None, None));
}

fn up() -> Link {
    let mut link = Link::new(0, [end("1000BASE-T"), end("1000BASE-T")]);
    assert!(matches!(link.poll(2 * S), Some(LinkChange::CameUp { .. })));
    link
}

#[test]
fn a_cut_cable_is_dead_until_mended_and_negotiated() {
    let mut link = up();
    assert_eq!(link.set_cut(3 * S, true), Some(LinkChange::WentDown));
    assert_eq!(link.set_cut(3 * S, true), None);
    assert_eq!(link.state(), LinkState::Down(Reason::Cut));
    assert!(link.is_cut() && link.agreement().is_none());
    assert_eq!(link.set_cut(5 * S, false), None);
    assert_eq!(link.poll_at(), Some(7 * S));
}

#[test]
fn every_cause_takes_the_link_down_and_a_new_offer_interrupts_it() {
    type Change = (&'static str, fn(&mut End), Option<Reason>);
    let changes: [Change; 7] = [
        ("shut", |end| end.admin_up = false, Some(Reason::Shut)),
        ("no power", |end| end.powered = false, Some(Reason::NoPower)),
        (
            "nothing offered",
            |end| end.advertised_mbps.clear(),
            Some(Reason::NoCommonSpeed),
        ),
        ("slower", |end| end.advertised_mbps = vec![100], None),
        ("no EEE", |end| end.eee = false, None),
        ("flow control", |end| end.pause = PauseOffer::BOTH, None),
        ("forced", |end| end.autoneg = false, None),
    ];
    for (what, change, reason) in changes {
        for side in 0..2 {
            let mut link = up();
            let mut end = link.end(side).clone();
            change(&mut end);
            let found = link.set_end(5 * S, side, end.clone());
            assert_eq!(found, Some(LinkChange::WentDown), "{what}");
            match reason {
                Some(reason) => assert_eq!(link.state(), LinkState::Down(reason), "{what}"),
                None => assert_eq!(link.poll_at(), Some(7 * S), "{what}"),
            }
            assert_eq!(link.set_end(6 * S, side, end), None, "{what}, said twice");
            if reason.is_none() {
                assert_eq!(link.poll_at(), Some(7 * S), "{what}, said twice");
            }
        }
    }
}

#[test]
fn settings_without_effect_on_the_wire_do_not_interrupt_the_link() {
    let mut link = up();
    let mut other = link.end(0).clone();
    other.advertised_mbps = vec![1000, 10, 100, 10_000];
    other.interruption = 60 * S;
    assert_eq!(link.set_end(5 * S, 0, other), None);
    assert!(link.agreement().is_some());

    let no_eee = || end("1000BASE-T-no-EEE");
    let mut link = Link::new(0, [no_eee(), no_eee()]);
    link.poll(2 * S);
    let mut willing = link.end(0).clone();
    willing.eee = false;
    assert_eq!(
        link.set_end(5 * S, 0, willing),
        None,
        "it had none to offer"
    );
}

fn some_end() -> impl Strategy<Value = End> {
    (
        prop::sample::select(Phy::all()),
        prop::collection::vec(
            prop::sample::select(vec![10, 100, 1000, 10_000, 25_000]),
            0..4,
        ),
        any::<[bool; 6]>(),
    )
        .prop_map(
            |(phy, advertised, [autoneg, eee, symmetric, asymmetric, all, shut])| {
                let phy = Phy::named(phy.name).unwrap();
                let full = End::new(phy);
                End {
                    autoneg,
                    eee,
                    admin_up: !shut || all,
                    pause: PauseOffer {
                        symmetric,
                        asymmetric,
                    },
                    advertised_mbps: if all {
                        full.advertised_mbps.clone()
                    } else {
                        advertised
                    },
                    ..full
                }
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_ends_see_the_same_link(a in some_end(), b in some_end()) {
        let forth = agree(a.clone(), b.clone());
        let back = agree(b.clone(), a.clone());
        let mirrored = back.map(|agreement| Agreement {
            pause: [agreement.pause[1], agreement.pause[0]],
            ..agreement
        });
        prop_assert_eq!(forth, mirrored);
        if let Ok(agreement) = forth {
            let [left, right] = agreement.pause;
            let negotiated = a.autoneg && b.autoneg;
            prop_assert!(!negotiated || (left.sends == right.receives && left.receives == right.sends));
            for end in [&a, &b] {
                prop_assert!(end.advertised_mbps.contains(&agreement.speed_mbps));
                prop_assert!(!agreement.eee || end.phy.eee_at(agreement.speed_mbps).is_some());
            }
        }
    }
}
