//! Multi-tree routing with asymmetric VLANs: every host an untagged member of every tree, its PVID the tree
//! of its switch (Koibuchi et al.). Three switches in full mesh; tree i is the star around switch i.

use crate::lab::{Lab, broadcast, mac, unicast};
use fabric::{BridgeChange, SwitchSpec, Tag};

const SWITCHES: usize = 3;
const HOST_PORTS: usize = 2;

fn vid(tree: usize) -> u16 {
    11 + tree as u16
}

/// The port of switch `from` that leads to switch `to`.
fn toward(from: usize, to: usize) -> usize {
    HOST_PORTS + (to + SWITCHES - from) % SWITCHES - 1
}

/// Hosts 2i and 2i+1 are on switch i.
fn multitree() -> Lab {
    let mut lab = Lab::new(10_000);
    for name in ["a", "b", "c"] {
        lab.switch(SwitchSpec::new(name, "1000BASE-T", 4));
    }
    for (a, b) in [(0, 1), (1, 2), (2, 0)] {
        lab.trunk((a, toward(a, b)), (b, toward(b, a)));
    }
    for switch in 0..SWITCHES {
        lab.vlan(switch, 1, &[], &[]);
        for tree in 0..SWITCHES {
            let mut members: Vec<usize> = (0..HOST_PORTS).collect();
            if tree == switch {
                members.extend(
                    (0..SWITCHES)
                        .filter(|to| *to != switch)
                        .map(|to| toward(switch, to)),
                );
            } else {
                members.push(toward(switch, tree));
            }
            lab.vlan(switch, vid(tree), &members, &[0, 1]);
        }
        for port in 0..HOST_PORTS {
            lab.host(switch, port);
            lab.pvid(switch, port, vid(switch));
        }
        for port in HOST_PORTS..4 {
            lab.filtering(switch, port, true);
        }
    }
    lab.settle();
    lab
}

/// The port of `switch` on which frames of `tree` reach `host`.
fn way(switch: usize, host: usize) -> usize {
    let at = host / HOST_PORTS;
    if at == switch {
        host % HOST_PORTS
    } else {
        toward(switch, at)
    }
}

fn add_static_entries(lab: &mut Lab) {
    for switch in 0..SWITCHES {
        for tree in 0..SWITCHES {
            for host in 0..SWITCHES * HOST_PORTS {
                let at = host / HOST_PORTS;
                let in_tree = at == switch || tree == switch || at == tree;
                let port = if in_tree {
                    way(switch, host)
                } else {
                    toward(switch, tree)
                };
                let (id, port) = (lab.switches[switch].switch, lab.port(switch, port));
                lab.fabric
                    .set_static(lab.now, id, vid(tree), mac(host), port)
                    .unwrap();
            }
        }
    }
}

fn all_but(host: usize) -> Vec<usize> {
    (0..SWITCHES * HOST_PORTS)
        .filter(|other| *other != host)
        .collect()
}

#[test]
fn a_broadcast_reaches_every_host_once_and_without_a_tag() {
    let mut lab = multitree();
    for host in 0..6 {
        let expected: Vec<_> = all_but(host)
            .into_iter()
            .map(|other| (other, None::<Tag>))
            .collect();
        assert_eq!(lab.sent_to(host, broadcast(host)), expected);
    }
    lab.assert_conserved();
}

#[test]
fn under_independent_learning_unicast_to_another_switch_floods_for_ever() {
    let mut lab = multitree();
    for _ in 0..10 {
        assert_eq!(lab.reached(0, 2), all_but(0));
        assert_eq!(lab.reached(2, 0), all_but(2));
    }
    assert_eq!(
        lab.reached(1, 0),
        [0],
        "hosts of one switch share a tree and learn"
    );
    assert_eq!(lab.reached(0, 1), [1]);
}

#[test]
fn static_entries_end_the_flooding_for_every_pair() {
    let mut lab = multitree();
    add_static_entries(&mut lab);
    for from in 0..6 {
        for to in all_but(from) {
            assert_eq!(lab.reached(from, to), [to], "{from} to {to}");
        }
    }
    let idle: u64 = lab.fabric.frames(lab.now).copies;
    assert_eq!(idle, 0);
}

#[test]
fn shared_learning_ends_the_flooding_in_a_full_mesh_after_one_frame_each_way() {
    let mut lab = multitree();
    for handle in lab.switches.clone() {
        let shared = BridgeChange {
            shared_learning: Some(true),
            ..BridgeChange::default()
        };
        lab.fabric
            .set_bridge(lab.now, handle.switch, &shared)
            .unwrap();
    }
    assert_eq!(lab.reached(0, 2), all_but(0));
    assert_eq!(lab.reached(2, 0), [0]);
    assert_eq!(lab.reached(0, 2), [2]);
}

#[test]
fn traffic_takes_the_trunks_of_its_tree_only() {
    let mut lab = multitree();
    add_static_entries(&mut lab);
    let trunk = |lab: &mut Lab, a, b| {
        let port = lab.port(a, toward(a, b));
        lab.fabric.counters(lab.now, port).unwrap().out_ucast
    };
    for _ in 0..7 {
        lab.send(0, unicast(0, 4, 100));
    }
    assert_eq!(lab.settle().len(), 7);
    assert_eq!(
        (
            trunk(&mut lab, 0, 2),
            trunk(&mut lab, 0, 1),
            trunk(&mut lab, 1, 2)
        ),
        (7, 0, 0)
    );
}
