//! Random topologies, and random calls on a fabric.

use fabric::time::{PS_PER_MS, PS_PER_S, PS_PER_US, Ps};
use fabric::{
    Acceptable, BridgeChange, CableId, Delivery, Fabric, Frame, LpiChange, Mode, NicSpec,
    PortChange, PortId, PortVlanChange, SwitchHandle, SwitchSpec, Tag,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::lab;
use crate::lab::{frame, mac};

/// 12 bytes at 10 Mb/s.
const LONGEST_GAP: Ps = 9_600_000;

pub const PORTS: usize = 6;
pub const HOSTS: usize = 5;

/// One call on the fabric. Numbers are taken modulo what exists.
#[derive(Clone, Debug)]
pub enum Step {
    Wait(Ps),
    Send {
        host: usize,
        to: usize,
        size_byte: usize,
        tag: Option<Tag>,
        copies: usize,
    },
    Pause {
        host: usize,
        quanta: u16,
    },
    Cut(usize),
    Mend(usize),
    Admin {
        port: usize,
        up: bool,
    },
    Speed {
        port: usize,
        speed_mbps: u32,
    },
    FlowControl {
        port: usize,
        on: bool,
    },
    Eee {
        port: usize,
        on: bool,
    },
    Lpi {
        port: usize,
        mode: Mode,
        hold: Ps,
        coalesce_byte: u32,
    },
    Mtu {
        port: usize,
        mtu_byte: usize,
    },
    Rules {
        port: usize,
        change: PortVlanChange,
    },
    Vlan {
        switch: usize,
        vid: u16,
        members: u8,
        untagged: u8,
    },
    RemoveVlan {
        switch: usize,
        vid: u16,
    },
    Bridge {
        switch: usize,
        change: BridgeChange,
    },
    Static {
        switch: usize,
        vid: u16,
        host: usize,
        port: usize,
    },
    Flush {
        switch: usize,
    },
    Lag {
        switch: usize,
        members: u8,
    },
    Block {
        port: usize,
        blocked: bool,
    },
    Power {
        switch: usize,
        on: bool,
    },
    Clear {
        port: usize,
    },
}

/// VLAN 1, in which everything starts, or one of two others.
pub fn some_vid() -> impl Strategy<Value = u16> {
    prop_oneof![1 => Just(1), 4 => 2..4u16]
}

pub fn mostly(usual: bool) -> impl Strategy<Value = bool> {
    prop::bool::weighted(0.8).prop_map(move |as_usual| as_usual == usual)
}

pub fn any_tag() -> impl Strategy<Value = Option<Tag>> {
    let vid = prop_oneof![Just(0), 1..4u16, Just(4_095)];
    prop::option::weighted(
        0.3,
        (vid, 0..8u8, any::<bool>()).prop_map(|(vid, pcp, dei)| Tag { vid, pcp, dei }),
    )
}

pub fn any_acceptable() -> impl Strategy<Value = Acceptable> {
    prop_oneof![
        5 => Just(Acceptable::All),
        1 => Just(Acceptable::Tagged),
        1 => Just(Acceptable::Untagged)
    ]
}

pub fn any_rules() -> impl Strategy<Value = PortVlanChange> {
    (
        prop::option::of(some_vid()),
        prop::option::weighted(0.2, any_acceptable()),
        prop::option::of(any::<bool>()),
    )
        .prop_map(|(pvid, acceptable, ingress_filtering)| PortVlanChange {
            pvid,
            acceptable,
            ingress_filtering,
        })
}

pub fn any_bridge() -> impl Strategy<Value = BridgeChange> {
    (
        prop::option::of(0..PS_PER_MS),
        prop::option::of(any::<bool>()),
    )
        .prop_map(|(ageing, shared_learning)| BridgeChange {
            ageing,
            shared_learning,
        })
}

pub fn any_step() -> impl Strategy<Value = Step> {
    let index = || 0..64usize;
    let wait = prop_oneof![
        0..PS_PER_US,
        0..100 * PS_PER_US,
        0..20 * PS_PER_MS,
        0..2 * PS_PER_S
    ];
    let size_byte = prop_oneof![0..70usize, 60..1_515usize, 1_510..9_300usize];
    let mtu_byte = prop_oneof![Just(1_514), Just(9_216), 64..9_217usize];
    let mode = prop_oneof![Just(Mode::Off), Just(Mode::Deep)];
    prop_oneof![
        20 => wait.prop_map(Step::Wait),
        30 => (index(), index(), size_byte, any_tag(), 1..40usize).prop_map(
            |(host, to, size_byte, tag, copies)| Step::Send { host, to, size_byte, tag, copies }),
        2 => (index(), any::<u16>()).prop_map(|(host, quanta)| Step::Pause { host, quanta }),
        2 => index().prop_map(Step::Cut),
        5 => index().prop_map(Step::Mend),
        2 => (index(), mostly(true)).prop_map(|(port, up)| Step::Admin { port, up }),
        2 => (index(), prop_oneof![Just(100), Just(1_000), Just(10_000)])
            .prop_map(|(port, speed_mbps)| Step::Speed { port, speed_mbps }),
        3 => (index(), any::<bool>()).prop_map(|(port, on)| Step::FlowControl { port, on }),
        2 => (index(), any::<bool>()).prop_map(|(port, on)| Step::Eee { port, on }),
        4 => (index(), mode, 0..PS_PER_MS, 0..9_000u32).prop_map(
            |(port, mode, hold, coalesce_byte)| Step::Lpi { port, mode, hold, coalesce_byte }),
        1 => (index(), mtu_byte).prop_map(|(port, mtu_byte)| Step::Mtu { port, mtu_byte }),
        3 => (index(), any_rules()).prop_map(|(port, change)| Step::Rules { port, change }),
        5 => (index(), some_vid(), any::<u8>(), any::<u8>()).prop_map(
            |(switch, vid, members, untagged)| Step::Vlan { switch, vid, members, untagged }),
        1 => (index(), some_vid()).prop_map(|(switch, vid)| Step::RemoveVlan { switch, vid }),
        1 => (index(), any_bridge()).prop_map(|(switch, change)| Step::Bridge { switch, change }),
        2 => (index(), 1..4u16, index(), index()).prop_map(
            |(switch, vid, host, port)| Step::Static { switch, vid, host, port }),
        1 => index().prop_map(|switch| Step::Flush { switch }),
        2 => (index(), any::<u8>()).prop_map(|(switch, members)| Step::Lag { switch, members }),
        2 => (index(), mostly(false)).prop_map(|(port, blocked)| Step::Block { port, blocked }),
        1 => (index(), mostly(true)).prop_map(|(switch, on)| Step::Power { switch, on }),
        1 => index().prop_map(|port| Step::Clear { port }),
    ]
}

/// Where cables go: pairs of (switch, port), and the switch and port of each host.
#[derive(Clone, Debug)]
pub struct Wiring {
    pub switches: usize,
    pub trunks: Vec<[(usize, usize); 2]>,
    pub hosts: Vec<(usize, usize)>,
}

pub fn any_wiring() -> impl Strategy<Value = Wiring> {
    let place = || (0..8usize, 0..PORTS);
    (
        1..4usize,
        vec([place(), place()], 0..6),
        vec(place(), HOSTS),
    )
        .prop_map(|(switches, trunks, hosts)| Wiring {
            switches,
            trunks,
            hosts,
        })
}

pub struct Bed {
    pub fabric: Fabric,
    pub now: Ps,
    pub switches: Vec<SwitchHandle>,
    pub hosts: Vec<PortId>,
    pub ports: Vec<PortId>,
    pub cables: Vec<CableId>,
    pub out: Vec<Delivery>,
}

impl Bed {
    /// Cables whose port is occupied are skipped; so are all that would close a loop if `loops` is
    /// false.
    pub fn new(wiring: &Wiring, loops: bool) -> Self {
        let mut fabric = Fabric::new(7, if loops { 3_000 } else { 0 });
        let mut switches = Vec::new();
        for number in 0..wiring.switches {
            let mut spec = SwitchSpec::new(&format!("sw{number}"), "10GBASE-T", PORTS);
            (spec.lag_count, spec.buffer_byte, spec.egress_queue_byte) = (1, 60_000, 20_000);
            (spec.fdb_size, spec.latency) = (4, number as Ps * PS_PER_US);
            spec.lag_rehash = number as Ps * PS_PER_MS;
            switches.push(fabric.add_switch(spec).unwrap());
        }
        let hosts: Vec<PortId> = (0..HOSTS)
            .map(|host| {
                let mut spec = NicSpec::new(&format!("n{host}"), mac(host), "1000BASE-T");
                spec.ring_frames = 16;
                fabric.add_nic(spec).unwrap()
            })
            .collect();
        let ports: Vec<PortId> = switches
            .iter()
            .flat_map(|switch| switch.ports.clone())
            .chain(hosts.clone())
            .collect();
        for port in &ports {
            fabric.set_interruption(0, *port, 50 * PS_PER_US).unwrap();
        }
        let mut bed = Self {
            fabric,
            now: 0,
            switches,
            hosts,
            ports,
            cables: Vec::new(),
            out: Vec::new(),
        };
        for (host, place) in wiring.hosts.iter().enumerate() {
            let port = bed.port(*place);
            let cable = bed.fabric.connect(0, bed.hosts[host], port, 1.5);
            bed.cables.extend(cable);
        }
        let mut parts: Vec<usize> = (0..wiring.switches).collect();
        for [a, b] in &wiring.trunks {
            let joined = [a.0 % wiring.switches, b.0 % wiring.switches].map(|switch| parts[switch]);
            if !loops && joined[0] == joined[1] {
                continue;
            }
            if let Ok(cable) = bed.fabric.connect(0, bed.port(*a), bed.port(*b), 100.0) {
                bed.cables.push(cable);
                for part in &mut parts {
                    if *part == joined[1] {
                        *part = joined[0];
                    }
                }
            }
        }
        bed.wait(PS_PER_MS);
        bed
    }

    pub fn port(&self, (switch, port): (usize, usize)) -> PortId {
        self.switches[switch % self.switches.len()].ports[port]
    }

    pub fn wait(&mut self, time: Ps) {
        self.now += time;
        self.fabric.poll(self.now, &mut self.out);
    }

    /// Refusals are fine: a law that holds only for accepted calls would be a weak one.
    pub fn take(&mut self, step: &Step) {
        let now = self.now;
        let of = |list: &[PortId], number: usize| list[number % list.len()];
        let handle = |number: usize| self.switches[number % self.switches.len()].clone();
        let chosen = |handle: &SwitchHandle, mask: u8| -> Vec<PortId> {
            let all = handle.ports.iter().chain(&handle.lags);
            all.enumerate()
                .filter(|(bit, _)| mask >> bit & 1 == 1)
                .map(|(_, port)| *port)
                .collect()
        };
        let fabric = &mut self.fabric;
        match step.clone() {
            Step::Wait(time) => self.wait(time),
            Step::Send {
                host,
                to,
                size_byte,
                tag,
                copies,
            } => {
                let destination = match to % 8 {
                    5 => lab::BROADCAST,
                    6 => [0x01, 0, 0x5e, 0, 0, 1],
                    7 => [0x01, 0x80, 0xc2, 0, 0, 0],
                    to => mac(to),
                };
                let whole = frame(mac(host % HOSTS), destination, size_byte.max(14));
                let data = Frame {
                    bytes: whole.bytes.slice(..size_byte),
                    tag,
                    csum: None,
                };
                for _ in 0..copies {
                    let _full = fabric.transmit(now, of(&self.hosts, host), data.clone());
                }
            }
            Step::Pause { host, quanta } => {
                let mut bytes = frame(mac(host), [0x01, 0x80, 0xc2, 0, 0, 1], 60)
                    .bytes
                    .to_vec();
                bytes[12..16].copy_from_slice(&[0x88, 0x08, 0, 1]);
                bytes[16..18].copy_from_slice(&quanta.to_be_bytes());
                let _full =
                    fabric.transmit(now, of(&self.hosts, host), Frame::from_wire(bytes.into()));
            }
            Step::Cut(cable) => drop(fabric.cut(now, self.cables[cable % self.cables.len()])),
            Step::Mend(cable) => drop(fabric.mend(now, self.cables[cable % self.cables.len()])),
            Step::Admin { port, up } => {
                let change = PortChange {
                    admin_up: Some(up),
                    ..PortChange::default()
                };
                let _refused = fabric.set_port(now, of(&self.ports, port), &change);
            }
            Step::Speed { port, speed_mbps } => {
                let change = PortChange {
                    advertised_mbps: Some(vec![speed_mbps]),
                    ..PortChange::default()
                };
                let _refused = fabric.set_port(now, of(&self.ports, port), &change);
            }
            Step::FlowControl { port, on } => {
                let change = PortChange {
                    flow_control: Some(on),
                    ..PortChange::default()
                };
                let _refused = fabric.set_port(now, of(&self.ports, port), &change);
            }
            Step::Eee { port, on } => {
                let change = PortChange {
                    eee: Some(on),
                    ..PortChange::default()
                };
                let _refused = fabric.set_port(now, of(&self.ports, port), &change);
            }
            Step::Lpi {
                port,
                mode,
                hold,
                coalesce_byte,
            } => {
                let change = LpiChange {
                    mode: Some(mode),
                    hold: Some(hold),
                    coalesce_byte: Some(coalesce_byte),
                    coalesce: Some(hold),
                    ..LpiChange::default()
                };
                let _refused = fabric.set_lpi(now, of(&self.ports, port), &change);
            }
            Step::Mtu { port, mtu_byte } => {
                let change = PortChange {
                    mtu_byte: Some(mtu_byte),
                    ..PortChange::default()
                };
                let _refused = fabric.set_port(now, of(&self.ports, port), &change);
            }
            Step::Rules { port, change } => {
                let _refused = fabric.set_port_vlan(now, of(&self.ports, port), &change);
            }
            Step::Vlan {
                switch,
                vid,
                members,
                untagged,
            } => {
                let handle = handle(switch);
                let (members, untagged) = (
                    chosen(&handle, members),
                    chosen(&handle, members & untagged),
                );
                fabric
                    .set_vlan(now, handle.switch, vid, &members, &untagged)
                    .unwrap();
            }
            Step::RemoveVlan { switch, vid } => {
                let _unknown = fabric.remove_vlan(now, handle(switch).switch, vid);
            }
            Step::Bridge { switch, change } => {
                fabric
                    .set_bridge(now, handle(switch).switch, &change)
                    .unwrap();
            }
            Step::Static {
                switch,
                vid,
                host,
                port,
            } => {
                let handle = handle(switch);
                let port = of(&handle.ports, port);
                let _full = fabric.set_static(now, handle.switch, vid, mac(host % HOSTS), port);
            }
            Step::Flush { switch } => fabric
                .flush_fdb(now, handle(switch).switch, None, None)
                .unwrap(),
            Step::Lag { switch, members } => {
                let handle = handle(switch);
                let members: Vec<PortId> = chosen(&handle, members)
                    .into_iter()
                    .filter(|port| !handle.lags.contains(port))
                    .collect();
                fabric.set_lag(now, handle.lags[0], &members).unwrap();
            }
            Step::Block { port, blocked } => {
                let _nic = fabric.set_blocked(now, of(&self.ports, port), blocked);
            }
            Step::Power { switch, on } => fabric.set_power(now, handle(switch).switch, on).unwrap(),
            Step::Clear { port } => fabric.clear_counters(now, of(&self.ports, port)).unwrap(),
        }
    }

    pub fn check_conserved(&mut self) -> Result<(), TestCaseError> {
        let frames = self.fabric.frames(self.now);
        prop_assert_eq!(
            frames.offered + frames.copies,
            frames.delivered + frames.consumed + frames.dropped + frames.in_flight,
            "{:?}",
            frames
        );
        prop_assert_eq!(frames.delivered, self.out.len() as u64);
        Ok(())
    }

    pub fn check_times(&mut self) -> Result<(), TestCaseError> {
        for port in self.ports.clone() {
            let ledger = self.fabric.time_in_state(self.now, port).unwrap();
            prop_assert_eq!(ledger.parts_ps(), ledger.total_ps);
            prop_assert_eq!(ledger.total_ps, self.now);
            let up: Ps = ledger.up_by_mbps.values().sum();
            prop_assert_eq!(up, ledger.total_ps - ledger.down_ps);
        }
        Ok(())
    }

    /// The buffers' fill equals the queues' content: no byte leaks.
    pub fn check_buffers(&mut self) -> Result<(), TestCaseError> {
        for handle in self.switches.clone() {
            let held_byte = self
                .fabric
                .bridge(self.now, handle.switch)
                .unwrap()
                .buffered_byte;
            prop_assert!(held_byte <= 60_000);
            // A frame has arrived before the gap behind it is over, and keeps its room until then.
            let in_gap = self
                .fabric
                .poll_at()
                .is_some_and(|at| at <= self.now + LONGEST_GAP);
            if self.fabric.frames(self.now).in_flight == 0 && !in_gap {
                prop_assert_eq!(held_byte, 0);
            }
        }
        Ok(())
    }

    /// All observable state.
    pub fn account(&mut self) -> String {
        let (now, ports) = (self.now, self.ports.clone());
        let seen: Vec<_> = ports
            .iter()
            .map(|port| {
                (
                    self.fabric.port(now, *port),
                    self.fabric.counters(now, *port),
                )
            })
            .collect();
        let tables: Vec<_> = self
            .switches
            .clone()
            .iter()
            .map(|switch| self.fabric.fdb(now, switch.switch))
            .collect();
        format!(
            "{seen:?}{tables:?}{:?}{:?}",
            self.fabric.frames(now),
            self.out
        )
    }
}

/// Few cases, and no regression files, as CI would not keep them.
pub fn quick(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}
