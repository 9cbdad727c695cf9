//! LLDP: encoding is undone by reading, nothing makes the reader fail otherwise, and neighbours learn of each other.

use crate::lab::{Lab, mac};
use bytes::Bytes;
use fabric::lldp::{
    Announcement, CHASSIS_MAC, EeeTimes, Id, LLDP_ETHERTYPE, LldpError, Management, NEAREST_BRIDGE,
    PORT_INTERFACE_NAME, pdu_of,
};
use fabric::time::{PS_PER_S, Ps};
use fabric::{
    Fabric, FabricError, Frame, LldpSetting, NicSpec, PortChange, PortId, SwitchHandle, SwitchSpec,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

const INTERVAL: Ps = 30 * PS_PER_S;

fn octets(longest: usize) -> impl Strategy<Value = Bytes> {
    vec(any::<u8>(), 0..=longest).prop_map(Bytes::from)
}

fn id() -> impl Strategy<Value = Id> {
    (1_u8..8, vec(any::<u8>(), 1..=255)).prop_map(|(subtype, value)| Id {
        subtype,
        value: value.into(),
    })
}

fn eee_times() -> impl Strategy<Value = EeeTimes> {
    any::<[u16; 5]>().prop_map(|[a, b, c, d, e]| EeeTimes {
        tx_us: a,
        rx_us: b,
        fallback_us: c,
        echo_tx_us: d,
        echo_rx_us: e,
    })
}

prop_compose! {
    fn announcement()(
        ids in (id(), id()),
        ttl_s in 1_u16..,
        texts in [option::of(octets(255)), option::of(octets(255)), option::of(octets(255))],
        capabilities in option::of(any::<(u16, u16)>()),
        management in option::of(any::<([u8; 4], u32)>()),
        eee in option::of(eee_times()),
    ) -> Announcement {
        let [port_description, system_name, system_description] = texts;
        let (chassis, port) = ids;
        let management = management.map(|(address, if_index)| Management { address, if_index });
        Announcement {
            chassis, port, ttl_s, port_description, system_name, system_description, capabilities, management, eee,
        }
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(sent in announcement(), padding in 0_usize..60) {
        let frame = sent.frame([2, 0, 0, 0, 0, 1]);
        prop_assert_eq!(frame.destination(), NEAREST_BRIDGE);
        prop_assert_eq!(frame.ethertype(), LLDP_ETHERTYPE);
        let pdu = [&pdu_of(&frame).expect("an LLDPDU")[..], &vec![0; padding]].concat();
        prop_assert_eq!(Announcement::parse(&pdu.into()), Ok(sent));
    }

    #[test]
    fn a_shutdown_keeps_the_names_only(sent in announcement()) {
        let read = Announcement::parse(&Announcement { ttl_s: 0, ..sent.clone() }.encode());
        let bare = Announcement { chassis: sent.chassis, port: sent.port, ..Announcement::default() };
        prop_assert_eq!(read, Ok(bare));
    }

    #[test]
    fn any_octets_are_read_or_refused(pdu in octets(300)) {
        if let Ok(read) = Announcement::parse(&pdu) {
            prop_assert_eq!(Announcement::parse(&read.encode()), Ok(read));
        }
    }

    #[test]
    fn a_cut_lldpdu_is_never_read_as_more_than_it_was(sent in announcement(), cut in 0_usize..2_000) {
        let whole = sent.encode();
        let read = Announcement::parse(&whole.slice(..cut.min(whole.len())));
        if let Ok(read) = read {
            prop_assert_eq!((read.chassis, read.port, read.ttl_s), (sent.chassis, sent.port, sent.ttl_s));
        }
    }
}

#[test]
fn the_octets_are_those_of_the_standard() {
    let sent = Announcement {
        chassis: Id {
            subtype: CHASSIS_MAC,
            value: Bytes::from_static(&[2, 0, 0, 0, 0, 9]),
        },
        port: Id {
            subtype: PORT_INTERFACE_NAME,
            value: Bytes::from_static(b"gi1"),
        },
        ttl_s: 120,
        eee: Some(EeeTimes {
            tx_us: 17,
            rx_us: 17,
            fallback_us: 17,
            echo_tx_us: 30,
            echo_rx_us: 30,
        }),
        ..Announcement::default()
    };
    let octets = [
        &[0x02, 7, 4, 2, 0, 0, 0, 0, 9][..],
        &[0x04, 4, 5, b'g', b'i', b'1'],
        &[0x06, 2, 0, 120],
        &[
            0xfe, 14, 0x00, 0x12, 0x0f, 5, 0, 17, 0, 17, 0, 17, 0, 30, 0, 30,
        ],
        &[0, 0],
    ]
    .concat();
    assert_eq!(sent.encode(), octets);
    let swapped = [&octets[9..15], &octets[..9], &octets[15..]].concat();
    assert_eq!(Announcement::parse(&swapped.into()), Err(LldpError::Order));
}

fn setting(name: &'static str) -> LldpSetting {
    LldpSetting {
        announcement: Announcement {
            chassis: Id {
                subtype: 7,
                value: Bytes::from_static(name.as_bytes()),
            },
            port: Id {
                subtype: 7,
                value: Bytes::from_static(b"port"),
            },
            ttl_s: 120,
            eee: Some(EeeTimes::default()),
            ..Announcement::default()
        },
        transmit: true,
        receive: true,
        interval: INTERVAL,
    }
}

/// Two switches with a cable between their first ports; a host at the second port of the first.
struct Pair {
    fabric: Fabric,
    a: SwitchHandle,
    b: SwitchHandle,
    nic: PortId,
    now: Ps,
}

impl Pair {
    fn new() -> Self {
        let mut fabric = Fabric::new(0, 0);
        let [a, b] = ["a", "b"].map(|name| {
            fabric
                .add_switch(SwitchSpec::new(name, "1000BASE-T", 3))
                .unwrap()
        });
        let nic = NicSpec::new("n", [2, 0, 0, 0, 0, 7], "1000BASE-T");
        let nic = fabric.add_nic(nic).unwrap();
        fabric.connect(0, a.ports[0], b.ports[0], 2.0).unwrap();
        fabric.connect(0, a.ports[1], nic, 2.0).unwrap();
        Self {
            fabric,
            a,
            b,
            nic,
            now: 0,
        }
    }

    fn set(&mut self, port: PortId, setting: LldpSetting) {
        self.fabric.set_lldp(self.now, port, setting).unwrap();
    }

    /// Frames that reached the host meanwhile.
    fn run(&mut self, time_s: u64) -> Vec<Ps> {
        self.now += time_s * PS_PER_S;
        let mut out = Vec::new();
        self.fabric.poll(self.now, &mut out);
        out.iter().map(|delivery| delivery.at).collect()
    }

    fn names_at(&mut self, port: PortId) -> Vec<Bytes> {
        let heard = self.fabric.lldp_heard(self.now, port).unwrap();
        heard
            .into_iter()
            .map(|heard| heard.announcement.chassis.value)
            .collect()
    }
}

#[test]
fn neighbours_hear_each_other_at_link_up_and_every_interval() {
    let mut pair = Pair::new();
    let (a, b) = (pair.a.ports[0], pair.b.ports[0]);
    for (port, name) in [(a, "a"), (b, "b"), (pair.a.ports[1], "a"), (pair.nic, "n")] {
        pair.set(port, setting(name));
    }
    let seen = pair.run(100);
    assert_eq!(seen.len(), 4, "at link-up and every 30 s");
    let apart: Vec<Ps> = seen.windows(2).map(|two| two[1] - two[0]).collect();
    for pause in &apart[1..] {
        // All but the first find the link asleep, as EEE is in force.
        assert_eq!(*pause, INTERVAL);
    }
    assert_eq!(pair.names_at(a), ["b"]);
    assert_eq!(pair.names_at(b), ["a"]);
    assert_eq!(pair.names_at(pair.a.ports[1]), ["n"]);
    let heard = pair.fabric.lldp_heard(pair.now, a).unwrap();
    let times = heard[0].announcement.eee.expect("EEE is in force");
    assert_eq!((times.tx_us, times.echo_tx_us), (17, 17));
    let frames = pair.fabric.frames(pair.now);
    assert_eq!(
        frames.offered + frames.copies,
        frames.delivered + frames.consumed + frames.dropped + frames.in_flight
    );
}

#[test]
fn nothing_is_forwarded_and_no_address_learned() {
    let mut lab = Lab::star(3);
    let frame = setting("n").announcement.frame(mac(0));
    assert_eq!(lab.sent_to(0, frame), []);
    let switch = lab.switches[0].switch;
    assert_eq!(lab.fabric.fdb(lab.now, switch).unwrap(), []);
}

#[test]
fn who_is_told_nothing_says_nothing_and_keeps_nothing() {
    let mut pair = Pair::new();
    let (a, b) = (pair.a.ports[0], pair.b.ports[0]);
    pair.set(b, setting("b"));
    let deaf = LldpSetting {
        receive: false,
        ..setting("a")
    };
    pair.set(a, deaf);
    assert_eq!(pair.run(100), []);
    assert_eq!(pair.names_at(a), [] as [&str; 0]);
    assert_eq!(pair.names_at(b), ["a"]);
    assert_eq!(pair.fabric.counters(pair.now, a).unwrap().out_mcast, 4);
    let third = pair.a.ports[2];
    assert_eq!(pair.fabric.lldp_setting(third).unwrap(), None);
}

#[test]
fn a_neighbour_is_forgotten_when_its_time_is_over_it_says_so_or_the_link_is_lost() {
    let mut pair = Pair::new();
    let (a, b) = (pair.a.ports[0], pair.b.ports[0]);
    pair.set(a, setting("a"));
    let mut brief = setting("b");
    (brief.announcement.ttl_s, brief.interval) = (5, 60 * PS_PER_S);
    pair.set(b, brief);
    pair.run(4);
    assert_eq!(pair.names_at(a), ["b"]);
    pair.run(10);
    assert_eq!(pair.names_at(a), [] as [&str; 0]);

    pair.set(b, setting("b"));
    pair.run(3);
    assert_eq!(pair.names_at(a), ["b"]);
    let off = LldpSetting {
        transmit: false,
        ..setting("b")
    };
    pair.set(b, off);
    pair.run(1);
    assert_eq!(pair.names_at(a), [] as [&str; 0]);

    pair.set(b, setting("b"));
    pair.run(1);
    assert_eq!(pair.names_at(a), ["b"]);
    let shut = PortChange {
        admin_up: Some(false),
        ..PortChange::default()
    };
    pair.fabric.set_port(pair.now, b, &shut).unwrap();
    assert_eq!(pair.names_at(a), [] as [&str; 0]);
}

#[test]
fn a_change_is_announced_after_the_delay_and_a_switch_without_power_forgets_its_setting() {
    let mut pair = Pair::new();
    let (a, b) = (pair.a.ports[0], pair.b.ports[0]);
    pair.set(a, setting("a"));
    pair.set(b, setting("b"));
    pair.run(10);
    let mut named = setting("b");
    for name in ["one", "two"] {
        named.announcement.system_name = Some(Bytes::from_static(name.as_bytes()));
        pair.set(b, named.clone());
        pair.run(1);
    }
    let name = |pair: &mut Pair| {
        let heard = pair.fabric.lldp_heard(pair.now, a).unwrap();
        (heard[0].announcement.system_name.clone(), heard[0].index)
    };
    assert_eq!(name(&mut pair), (Some("one".into()), 1));
    pair.run(1);
    assert_eq!(name(&mut pair), (Some("two".into()), 1));

    let switch = pair.b.switch;
    pair.fabric.set_power(pair.now, switch, false).unwrap();
    pair.fabric.set_power(pair.now, switch, true).unwrap();
    pair.run(100);
    assert_eq!(pair.names_at(a), [] as [&str; 0]);
    assert_eq!(pair.names_at(b), [] as [&str; 0]);
}

#[test]
fn senseless_frames_and_intervals_are_refused() {
    let mut pair = Pair::new();
    let port = pair.a.ports[1];
    pair.set(port, setting("a"));
    pair.run(10);
    let nonsense = [&NEAREST_BRIDGE[..], &[2, 0, 0, 0, 0, 7, 0x88, 0xcc, 0, 0]].concat();
    let frame = Frame::from_wire(nonsense.into());
    pair.fabric.transmit(pair.now, pair.nic, frame).unwrap();
    pair.run(1);
    assert_eq!(pair.names_at(port), [] as [&str; 0]);
    let never = LldpSetting {
        interval: 0,
        ..setting("a")
    };
    let refused = pair.fabric.set_lldp(pair.now, port, never);
    assert!(matches!(refused, Err(FabricError::OutOfRange { .. })));
}
