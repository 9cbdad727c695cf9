//! TCEP's decisions: the paper's examples, its rules one by one, and laws on random views.

use interconnect::tcep::{
    Action, Counted, Decision, LinkState, LinkTable, LinkView, Request, View, Way, decide,
    outer_links, way,
};
use proptest::prelude::*;

fn link(rank: u32, minimal: f64, detour: f64) -> LinkView {
    let counted = Counted { minimal, detour };
    LinkView {
        subnetwork: 0,
        rank,
        state: LinkState::Active,
        root: rank == 0,
        short: counted,
        long: counted,
        virtual_utilization: 0.0,
    }
}

fn off(rank: u32, virtual_utilization: f64) -> LinkView {
    LinkView {
        state: LinkState::Off,
        virtual_utilization,
        ..link(rank, 0.0, 0.0)
    }
}

fn view(links: &[LinkView]) -> View<'_> {
    View {
        links,
        last_activated: None,
        deactivation_due: true,
        high_water_mark: 0.75,
    }
}

/// Figure 6: R3 has links to five routers. The first three have a budget of 1.9 for the 1.2 of the others; with 1 as
/// the mark, as in the figure.
#[test]
fn inner_links_of_figure_6() {
    let links = [
        link(0, 0.6, 0.0),
        link(1, 0.3, 0.0),
        link(2, 0.2, 0.0),
        link(4, 0.5, 0.0),
        link(5, 0.7, 0.0),
    ];
    let figure = View {
        high_water_mark: 1.0,
        ..view(&links)
    };
    // 0.4 against 1.7; 1.1 against 1.4; 1.9 against 1.2.
    assert_eq!(outer_links(&figure), [3, 4]);
    assert_eq!(
        decide(&figure, &[]).action,
        Some(Action::AskToDeactivate(3))
    );
}

#[test]
fn the_link_with_the_least_minimal_traffic_goes_whatever_its_detours() {
    // Figure 5: a link full of other routers' detours is cheaper to lose than one with a little traffic of its own.
    let links = [link(0, 0.1, 0.0), link(1, 0.0, 0.4), link(2, 0.05, 0.0)];
    assert_eq!(
        decide(&view(&links), &[]).action,
        Some(Action::AskToDeactivate(1))
    );
}

#[test]
fn a_network_without_traffic_shrinks_to_its_root() {
    let mut links: Vec<LinkView> = (0..7).map(|rank| link(rank, 0.0, 0.0)).collect();
    for left in (1..7).rev() {
        let Some(Action::AskToDeactivate(gone)) = decide(&view(&links), &[]).action else {
            panic!("{left} links are left");
        };
        links[gone].state = LinkState::Off;
    }
    assert_eq!(decide(&view(&links), &[]), Decision::default());
    assert_eq!(links[0].state, LinkState::Active);
}

#[test]
fn busy_links_keep_all_others_active() {
    let links = [link(0, 0.8, 0.0), link(1, 0.8, 0.0), link(2, 0.8, 0.0)];
    assert!(outer_links(&view(&links)).is_empty());
    assert_eq!(decide(&view(&links), &[]), Decision::default());
}

#[test]
fn subnetworks_are_judged_apart() {
    // A second dimension without traffic does not lend its bandwidth to the first.
    let row = [link(0, 0.8, 0.0), link(1, 0.8, 0.0)];
    let column = [link(0, 0.0, 0.0), link(1, 0.0, 0.0)].map(|link| LinkView {
        subnetwork: 1,
        ..link
    });
    let links = [row, column].concat();
    assert_eq!(outer_links(&view(&links)), [3]);
}

#[test]
fn a_router_looks_for_links_to_turn_off_after_a_deactivation_epoch_only() {
    let links = [link(0, 0.0, 0.0), link(1, 0.0, 0.0)];
    let early = View {
        deactivation_due: false,
        ..view(&links)
    };
    assert_eq!(decide(&early, &[]).action, None);
    // What it is asked for it does at the end of any epoch.
    let asked = decide(&early, &[Request::Deactivate { link: 1 }]);
    assert_eq!(asked.action, Some(Action::Deactivate(1)));
    assert_eq!(asked.acknowledged, [true]);
}

#[test]
fn detours_on_a_crowded_link_turn_the_most_wanted_one_on() {
    let crowded = link(0, 0.3, 0.5);
    let links = [crowded, off(1, 0.2), off(2, 0.6), off(3, 0.6)];
    let action = Action::AskToActivate {
        link: 2,
        virtual_utilization: 0.6,
    };
    assert_eq!(decide(&view(&links), &[]).action, Some(action));
    // Minimal traffic alone needs its own link, whatever its load.
    let own = [link(0, 0.5, 0.3), off(1, 0.2)];
    assert_eq!(decide(&view(&own), &[]).action, None);
    let below = [link(0, 0.2, 0.5), off(1, 0.2)];
    assert_eq!(decide(&view(&below), &[]).action, None);
}

#[test]
fn requests_are_served_in_the_order_of_section_iv_c() {
    let links = [
        link(0, 0.0, 0.8),
        off(1, 0.9),
        off(2, 0.1),
        link(3, 0.1, 0.0),
        link(4, 0.05, 0.0),
    ];
    let activate = |link, virtual_utilization| Request::Activate {
        link,
        virtual_utilization,
    };
    let deactivate = |link| Request::Deactivate { link };
    // Activation before everything else, by the utilization in the request, not by one's own.
    let both = [deactivate(4), activate(1, 0.3), activate(2, 0.5)];
    assert_eq!(
        decide(&view(&links), &both),
        Decision {
            action: Some(Action::Activate(2)),
            acknowledged: vec![false, false, true]
        }
    );
    // Then the own need.
    let found = decide(&view(&links), &[deactivate(4)]);
    assert!(matches!(
        found.action,
        Some(Action::AskToActivate { link: 1, .. })
    ));
    assert_eq!(found.acknowledged, [false]);
    // Then requests to deactivate outer links, the least minimal traffic first.
    let calm = [link(0, 0.1, 0.0), link(3, 0.1, 0.0), link(4, 0.05, 0.0)];
    let found = decide(&view(&calm), &[deactivate(1), deactivate(2)]);
    assert_eq!(found.action, Some(Action::Deactivate(2)));
    assert_eq!(found.acknowledged, [false, true]);
    // An inner link is refused, and the router does not look for another one.
    let half = [link(0, 0.5, 0.0), link(1, 0.4, 0.0), link(2, 0.4, 0.0)];
    assert_eq!(outer_links(&view(&half)), [2]);
    let found = decide(&view(&half), &[deactivate(1)]);
    assert_eq!((found.action, found.acknowledged), (None, vec![false]));
}

#[test]
fn the_last_activated_link_stays_while_inner_links_are_half_full() {
    let links = [link(0, 0.5, 0.0), link(1, 0.0, 0.0)];
    let oscillating = View {
        last_activated: Some(1),
        ..view(&links)
    };
    assert_eq!(decide(&oscillating, &[]).action, None);
    assert_eq!(
        decide(&view(&links), &[]).action,
        Some(Action::AskToDeactivate(1))
    );
    let calm = [link(0, 0.3, 0.0), link(1, 0.0, 0.0)];
    let calm = View {
        last_activated: Some(1),
        ..view(&calm)
    };
    assert_eq!(decide(&calm, &[]).action, Some(Action::AskToDeactivate(1)));
}

#[test]
fn table_i() {
    for credit in [true, false] {
        assert_eq!(way(LinkState::Active, credit), Way::Adaptive);
        assert_eq!(way(LinkState::Off, credit), Way::Detour);
        assert_eq!(way(LinkState::Waking, credit), Way::Detour);
    }
    assert_eq!(way(LinkState::Shadow, true), Way::Detour);
    assert_eq!(way(LinkState::Shadow, false), Way::Reactivate);
}

/// Paths of at most two links between all ordered pairs.
fn paths(table: &LinkTable, size: u32) -> usize {
    let pairs = (0..size).flat_map(|one| (0..size).map(move |other| (one, other)));
    pairs
        .filter(|(one, other)| one != other)
        .map(|(one, other)| {
            usize::from(table.is_active(one, other)) + table.intermediates(one, other).count()
        })
        .sum()
}

fn only(size: u32, links: &[(u32, u32)]) -> LinkTable {
    let mut table = LinkTable::new(size);
    for one in 0..size {
        for other in one + 1..size {
            table.set(one, other, links.contains(&(one, other)));
        }
    }
    table
}

/// Section III-C: the seven links of the root network of eight routers and six more. Concentrated on R1 they give two
/// detours for every pair, and more paths than spread out.
#[test]
fn concentration_keeps_paths() {
    let root: Vec<(u32, u32)> = (1..8).map(|other| (0, other)).collect();
    let on_one: Vec<_> = root
        .iter()
        .copied()
        .chain((2..8).map(|other| (1, other)))
        .collect();
    let spread = [(1, 4), (1, 5), (2, 6), (3, 7), (4, 6), (5, 7)];
    let spread: Vec<_> = root.iter().copied().chain(spread).collect();
    let (concentrated, spread) = (only(8, &on_one), only(8, &spread));
    for one in 2..8 {
        for other in (2..8).filter(|other| *other != one) {
            assert_eq!(concentrated.intermediates(one, other).count(), 2);
        }
    }
    assert!(paths(&concentrated, 8) > paths(&spread, 8));
}

/// Figure 7: R6 reaches R7 directly and over R0, and asks R1 to turn its link to R7 on.
#[test]
fn another_detour_is_asked_for_at_the_lowest_router() {
    let mut links: Vec<(u32, u32)> = (1..8).map(|other| (0, other)).collect();
    links.extend([(6, 7), (1, 6)]);
    let table = only(8, &links);
    assert_eq!(table.intermediates(6, 7).collect::<Vec<_>>(), [0]);
    assert_eq!(table.ask_for_detour(6, 7), Some((1, 7)));
    // If R1 reaches R7, but R6 not R1, the link between these two is missing.
    let mut links: Vec<(u32, u32)> = (1..8).map(|other| (0, other)).collect();
    links.push((1, 7));
    assert_eq!(only(8, &links).ask_for_detour(6, 7), Some((1, 6)));
    assert_eq!(LinkTable::new(8).ask_for_detour(6, 7), None);
}

fn views() -> impl Strategy<Value = (Vec<LinkView>, Vec<Request>, Option<usize>, bool)> {
    let state = prop_oneof![
        3 => Just(LinkState::Active),
        2 => Just(LinkState::Off),
        1 => Just(LinkState::Shadow),
        1 => Just(LinkState::Waking)
    ];
    let link = (state, 0.0..0.6f64, 0.0..0.5f64, 0.0..1.0f64);
    (2..9u32, 1..3u32)
        .prop_flat_map(move |(size, dimensions)| {
            let count = (size * dimensions) as usize;
            let links = prop::collection::vec(link.clone(), count);
            let requests = prop::collection::vec((0..count, any::<bool>(), 0.0..1.0f64), 0..5);
            (
                Just(size),
                links,
                requests,
                prop::option::of(0..count),
                any::<bool>(),
            )
        })
        .prop_map(|(size, links, requests, last, due)| {
            let links = (0..)
                .zip(links)
                .map(|(index, (state, minimal, detour, virtual_utilization))| {
                    let rank = index % size;
                    LinkView {
                        subnetwork: index / size,
                        state: if rank == 0 { LinkState::Active } else { state },
                        virtual_utilization,
                        ..self::link(rank, minimal, detour)
                    }
                })
                .collect();
            let requests = requests
                .into_iter()
                .map(|(link, on, virtual_utilization)| {
                    if on {
                        Request::Activate {
                            link,
                            virtual_utilization,
                        }
                    } else {
                        Request::Deactivate { link }
                    }
                })
                .collect();
            (links, requests, last, due)
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn decisions_keep_the_rules((links, requests, last_activated, deactivation_due) in views()) {
        let view = View { links: &links, last_activated, deactivation_due, high_water_mark: 0.75 };
        let decision = decide(&view, &requests);
        // One link changes at most, and only its request is acknowledged.
        prop_assert_eq!(decision.acknowledged.len(), requests.len());
        let served: Vec<&Request> = requests
            .iter()
            .zip(&decision.acknowledged)
            .filter_map(|(request, yes)| yes.then_some(request))
            .collect();
        match decision.action {
            Some(Action::Activate(link)) => {
                prop_assert_eq!(links[link].state, LinkState::Off);
                let own = matches!(served[..], [Request::Activate { link: own, .. }] if *own == link);
                prop_assert!(own);
            }
            Some(Action::Deactivate(link)) => {
                prop_assert!(outer_links(&view).contains(&link));
                let own = matches!(served[..], [Request::Deactivate { link: own }] if *own == link);
                prop_assert!(own);
            }
            Some(Action::AskToActivate { link, .. }) => {
                prop_assert_eq!(links[link].state, LinkState::Off);
                prop_assert!(served.is_empty());
            }
            Some(Action::AskToDeactivate(link)) => {
                prop_assert!(outer_links(&view).contains(&link) && deactivation_due);
                prop_assert!(served.is_empty());
            }
            None => prop_assert!(served.is_empty()),
        }
        // The root network stays, and inner links can take what outer links carry.
        for &link in &outer_links(&view) {
            prop_assert!(!links[link].root && links[link].state == LinkState::Active);
        }
        for subnetwork in 0..2 {
            let active = |link: &&LinkView| link.subnetwork == subnetwork && link.state == LinkState::Active;
            let outer: Vec<u32> = outer_links(&view)
                .into_iter()
                .filter(|&link| links[link].subnetwork == subnetwork)
                .map(|link| links[link].rank)
                .collect();
            let Some(first) = outer.first() else { continue };
            // Whatever is kept besides is behind the boundary, and only adds room.
            let room: f64 = links.iter().filter(active).filter(|link| link.rank < *first)
                .map(|link| f64::max(0.75 - link.long.total(), 0.0)).sum();
            let moved: f64 = links.iter().filter(active).filter(|link| outer.contains(&link.rank))
                .map(|link| link.long.total()).sum();
            prop_assert!(room >= moved - 1e-9, "{room} {moved}");
        }
    }
}
