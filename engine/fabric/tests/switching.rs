//! 802.1Q switching, seen from the hosts.

use crate::lab::{self, Lab, broadcast, frame, mac, path_time, tagged, unicast};
use fabric::time::{PS_PER_S, PS_PER_US};
use fabric::{
    Acceptable, BridgeChange, CsumOffload, FabricError, Frame, PortChange, SwitchSpec, Tag,
};

#[test]
fn a_frame_takes_the_time_of_its_bits_cables_and_switch() {
    let mut lab = Lab::star(2);
    let sent = lab.now;
    lab.send(0, unicast(0, 1, 1_514));
    let got = lab.settle();
    assert_eq!(got.len(), 1);
    assert_eq!(got[0].at - sent, path_time(1_514, 1));
    assert_eq!(
        path_time(1_514, 1),
        2 * (1_526 * 8_000 + 10_000) + 2 * PS_PER_US
    );
}

#[test]
fn unknown_floods_known_does_not_and_moves_with_the_station() {
    let mut lab = Lab::star(4);
    assert_eq!(lab.reached(0, 1), [1, 2, 3]);
    assert_eq!(lab.reached(1, 0), [0]);
    assert_eq!(lab.reached(0, 1), [1]);
    lab.sent_to(2, frame(mac(1), lab::BROADCAST, 60));
    assert_eq!(
        lab.reached(0, 1),
        [2],
        "host 1's address was seen at host 2's port"
    );
}

#[test]
fn an_address_is_forgotten_after_the_ageing_time() {
    let mut lab = Lab::star(3);
    lab.reached(1, 0);
    lab.run(299 * PS_PER_S);
    assert_eq!(lab.reached(0, 1), [1]);
    lab.run(2 * PS_PER_S);
    assert_eq!(lab.reached(0, 1), [1, 2]);
    let switch = lab.switches[0].switch;
    let never = BridgeChange {
        ageing: Some(0),
        ..BridgeChange::default()
    };
    lab.fabric.set_bridge(lab.now, switch, &never).unwrap();
    lab.reached(1, 0);
    lab.run(100_000 * PS_PER_S);
    assert_eq!(lab.reached(0, 1), [1]);
}

#[test]
fn vlans_are_isolated_and_tags_follow_the_egress_rule() {
    let mut lab = Lab::star(4);
    lab.vlan(0, 1, &[], &[]);
    lab.vlan(0, 11, &[0, 1, 2], &[0, 1]);
    lab.vlan(0, 12, &[2, 3], &[3]);
    for (port, pvid) in [(0, 11), (1, 11), (2, 11), (3, 12)] {
        lab.pvid(0, port, pvid);
    }
    assert_eq!(
        lab.sent_to(0, broadcast(0)),
        [(1, None), (2, Some(Tag::new(11)))]
    );
    assert_eq!(lab.sent_to(3, broadcast(3)), [(2, Some(Tag::new(12)))]);
    assert_eq!(lab.sent_to(2, tagged(broadcast(2), 12)), [(3, None)]);
    assert_eq!(lab.sent_to(2, tagged(broadcast(2), 99)), [], "no such VLAN");
}

#[test]
fn priority_is_kept_and_a_priority_tag_counts_as_untagged() {
    let mut lab = Lab::star(2);
    lab.vlan(0, 1, &[0, 1], &[0]);
    let urgent = |vid| {
        Some(Tag {
            vid,
            pcp: 5,
            dei: true,
        })
    };
    let priority_tagged = Frame {
        tag: urgent(0),
        ..broadcast(0)
    };
    assert_eq!(lab.sent_to(0, priority_tagged.clone()), [(1, urgent(1))]);
    lab.acceptable(0, 0, Acceptable::Tagged);
    assert_eq!(lab.sent_to(0, priority_tagged.clone()), []);
    assert_eq!(lab.sent_to(0, broadcast(0)), []);
    assert_eq!(
        lab.sent_to(
            0,
            Frame {
                tag: urgent(1),
                ..broadcast(0)
            }
        ),
        [(1, urgent(1))]
    );
    lab.acceptable(0, 0, Acceptable::Untagged);
    assert_eq!(lab.sent_to(0, priority_tagged), [(1, urgent(1))]);
    assert_eq!(
        lab.sent_to(
            0,
            Frame {
                tag: urgent(1),
                ..broadcast(0)
            }
        ),
        []
    );
    let port = lab.port(0, 0);
    assert_eq!(lab.fabric.counters(lab.now, port).unwrap().in_discards, 3);
}

#[test]
fn ingress_filtering_decides_about_vlans_that_the_port_is_not_in() {
    let mut lab = Lab::star(3);
    lab.vlan(0, 11, &[1], &[]);
    assert_eq!(
        lab.sent_to(0, tagged(broadcast(0), 11)),
        [(1, Some(Tag::new(11)))]
    );
    lab.filtering(0, 0, true);
    assert_eq!(lab.sent_to(0, tagged(broadcast(0), 11)), []);
}

#[test]
fn a_tag_inside_the_bytes_is_lifted_out_and_the_checksum_offsets_follow() {
    let mut lab = Lab::star(2);
    lab.vlan(0, 11, &[0, 1], &[1]);
    let csum = Some(CsumOffload {
        start: 34,
        offset: 6,
    });
    let inner = Frame {
        csum,
        tag: Some(Tag::new(11)),
        ..unicast(0, 1, 90)
    };
    let (wire, wire_csum) = inner.to_wire();
    assert_eq!((wire.len(), &wire[12..16]), (94, &[0x81, 0, 0, 11][..]));
    assert_eq!(
        wire_csum,
        Some(CsumOffload {
            start: 38,
            offset: 6
        })
    );
    lab.send(
        0,
        Frame {
            bytes: wire,
            tag: None,
            csum: wire_csum,
        },
    );
    let got = lab.settle();
    assert_eq!(got[0].frame, Frame { tag: None, ..inner });
}

#[test]
fn static_entries_survive_flush_and_link_down_and_send_nothing_elsewhere() {
    let mut lab = Lab::star(3);
    let (switch, port) = (lab.switches[0].switch, lab.port(0, 1));
    lab.fabric
        .set_static(lab.now, switch, 1, mac(1), port)
        .unwrap();
    lab.reached(2, 0);
    lab.fabric.flush_fdb(lab.now, switch, None, None).unwrap();
    assert_eq!(lab.reached(0, 1), [1]);
    let down = PortChange {
        admin_up: Some(false),
        ..PortChange::default()
    };
    lab.fabric.set_port(lab.now, port, &down).unwrap();
    assert_eq!(
        lab.reached(0, 1),
        [],
        "a static entry on a port that is down swallows"
    );
    assert!(
        lab.fabric
            .fdb(lab.now, switch)
            .unwrap()
            .iter()
            .any(|row| row.is_static)
    );
    lab.fabric
        .remove_static(lab.now, switch, 1, mac(1))
        .unwrap();
    assert_eq!(lab.reached(0, 1), [2]);
    let again = lab.fabric.remove_static(lab.now, switch, 1, mac(1));
    assert!(matches!(
        again,
        Err(FabricError::UnknownEntry { vid: 1, .. })
    ));
}

#[test]
fn link_down_forgets_what_was_learned_there() {
    let mut lab = Lab::star(4);
    lab.reached(1, 0);
    lab.reached(2, 0);
    let port = lab.port(0, 1);
    for up in [false, true] {
        let change = PortChange {
            admin_up: Some(up),
            ..PortChange::default()
        };
        lab.fabric.set_port(lab.now, port, &change).unwrap();
    }
    lab.settle();
    assert_eq!(lab.reached(0, 1), [1, 2, 3], "forgotten");
    assert_eq!(lab.reached(0, 2), [2], "kept");
}

#[test]
fn a_full_table_floods_what_it_could_not_learn() {
    let mut lab = Lab::new(0);
    lab.switch(SwitchSpec {
        fdb_size: 2,
        ..SwitchSpec::new("sw0", "1000BASE-T", 4)
    });
    for port in 0..4 {
        lab.host(0, port);
    }
    lab.settle();
    for host in 0..4 {
        lab.sent_to(host, broadcast(host));
    }
    assert_eq!(
        (lab.reached(3, 0), lab.reached(3, 2)),
        (vec![0], vec![0, 1, 2])
    );
    let switch = lab.switches[0].switch;
    assert_eq!(lab.fabric.fdb(lab.now, switch).unwrap().len(), 2);
    assert!(lab.fabric.bridge(lab.now, switch).unwrap().fdb_discards >= 2);
}

#[test]
fn reserved_addresses_stay_on_their_link_and_others_do_not() {
    let mut lab = Lab::star(2);
    for last in 0..=0x0f {
        let group = [0x01, 0x80, 0xc2, 0, 0, last];
        assert_eq!(lab.sent_to(0, frame(mac(0), group, 60)), []);
    }
    assert_eq!(
        lab.sent_to(0, frame(mac(0), [0x01, 0x80, 0xc2, 0, 0, 0x10], 60)),
        [(1, None)]
    );
    lab.assert_conserved();
}

#[test]
fn a_blocked_port_neither_learns_nor_forwards() {
    let mut lab = Lab::star(3);
    let port = lab.port(0, 1);
    lab.fabric.set_blocked(lab.now, port, true).unwrap();
    assert_eq!(lab.sent_to(0, broadcast(0)), [(2, None)]);
    assert_eq!(lab.sent_to(1, broadcast(1)), []);
    let switch = lab.switches[0].switch;
    let rows = lab.fabric.fdb(lab.now, switch).unwrap();
    assert_eq!(rows.iter().map(|row| row.mac).collect::<Vec<_>>(), [mac(0)]);
    lab.fabric.set_blocked(lab.now, port, false).unwrap();
    assert_eq!(lab.sent_to(1, broadcast(1)), [(0, None), (2, None)]);
}

#[test]
fn frames_beyond_the_mtu_are_counted_and_jumbo_frames_pass_where_allowed() {
    let mut lab = Lab::star(2);
    assert_eq!(lab.sent_to(0, unicast(0, 1, 1_515)), []);
    let (first, second) = (lab.port(0, 0), lab.port(0, 1));
    let counters = lab.fabric.counters(lab.now, first).unwrap();
    assert_eq!((counters.in_too_long, counters.in_errors), (1, 1));
    let jumbo = PortChange {
        mtu_byte: Some(9_216),
        ..PortChange::default()
    };
    lab.fabric.set_port(lab.now, first, &jumbo).unwrap();
    assert_eq!(lab.sent_to(0, unicast(0, 1, 9_216)), []);
    assert_eq!(
        lab.fabric.counters(lab.now, second).unwrap().out_discards,
        1
    );
    lab.fabric.set_port(lab.now, second, &jumbo).unwrap();
    assert_eq!(lab.sent_to(0, unicast(0, 1, 9_216)), [(1, None)]);
    let beyond = PortChange {
        mtu_byte: Some(9_217),
        ..PortChange::default()
    };
    assert!(matches!(
        lab.fabric.set_port(lab.now, first, &beyond),
        Err(FabricError::OutOfRange { .. })
    ));
}

#[test]
fn counters_count_classes_and_octets_at_both_ends() {
    let mut lab = Lab::star(2);
    lab.vlan(0, 1, &[0, 1], &[0]);
    lab.send(0, unicast(0, 1, 100));
    lab.send(0, broadcast(0));
    lab.send(0, frame(mac(0), [1, 0, 0x5e, 0, 0, 1], 200));
    lab.settle();
    let (first, second) = (lab.port(0, 0), lab.port(0, 1));
    let into = lab.fabric.counters(lab.now, first).unwrap();
    assert_eq!((into.in_ucast, into.in_bcast, into.in_mcast), (1, 1, 1));
    assert_eq!(into.in_octets, 104 + 64 + 204);
    let out = lab.fabric.counters(lab.now, second).unwrap();
    assert_eq!((out.out_ucast, out.out_bcast, out.out_mcast), (1, 1, 1));
    assert_eq!(out.out_octets, 108 + 68 + 208, "each with a tag");
    let nic = lab.hosts[1];
    assert_eq!(
        lab.fabric.counters(lab.now, nic).unwrap().in_octets,
        out.out_octets
    );
    lab.fabric.clear_counters(lab.now, second).unwrap();
    assert_eq!(
        lab.fabric.counters(lab.now, second).unwrap(),
        Default::default()
    );
}

#[test]
fn power_off_forgets_and_power_on_starts_from_the_factory() {
    let mut lab = Lab::star(3);
    lab.vlan(0, 11, &[0, 1], &[0, 1]);
    lab.vlan(0, 1, &[2], &[2]);
    lab.pvid(0, 0, 11);
    assert_eq!(lab.sent_to(0, broadcast(0)), [(1, None)]);
    let (switch, port) = (lab.switches[0].switch, lab.port(0, 0));
    lab.send(0, broadcast(0));
    lab.run(1_500 * 1_000);
    lab.fabric.set_power(lab.now, switch, false).unwrap();
    lab.assert_conserved();
    assert!(!lab.fabric.port(lab.now, port).unwrap().oper_up);
    assert_eq!(lab.sent_to(0, broadcast(0)), []);
    lab.fabric.set_power(lab.now, switch, true).unwrap();
    lab.settle();
    assert_eq!(
        lab.fabric
            .vlans(switch)
            .unwrap()
            .keys()
            .copied()
            .collect::<Vec<_>>(),
        [1]
    );
    assert_eq!(lab.fabric.counters(lab.now, port).unwrap().in_octets, 0);
    assert_eq!(lab.sent_to(0, broadcast(0)), [(1, None), (2, None)]);
    lab.assert_conserved();
}

#[test]
fn invalid_calls_are_refused_with_one_sentence() {
    let mut lab = Lab::star(2);
    let (switch, nic, port) = (lab.switches[0].switch, lab.hosts[0], lab.port(0, 0));
    let said = |error: FabricError| error.to_string();
    let unknown = SwitchSpec::new("x", "1000BASE-Q", 2);
    assert_eq!(
        said(lab.fabric.add_switch(unknown).unwrap_err()),
        "unknown PHY \"1000BASE-Q\": use a key of phy_profiles()"
    );
    assert_eq!(
        said(lab.fabric.connect(lab.now, port, nic, 1.0).unwrap_err()),
        "port 1 already has a cable: use a free port"
    );
    assert_eq!(
        said(
            lab.fabric
                .set_vlan(lab.now, switch, 5, &[nic], &[])
                .unwrap_err()
        ),
        "port n0 is a host's NIC: use a port or a LAG of a switch"
    );
    assert_eq!(
        said(
            lab.fabric
                .set_vlan(lab.now, switch, 4_095, &[], &[])
                .unwrap_err()
        ),
        "invalid VLAN id of sw0: 4095; use 1 to 4094"
    );
    assert_eq!(
        said(lab.fabric.remove_vlan(lab.now, switch, 5).unwrap_err()),
        "switch sw0 has no VLAN 5: create it with set_vlan first"
    );
}
