//! A small lab to test with: switches and hosts by number, frames by name.

use bytes::Bytes;
use fabric::time::{PS_PER_S, PS_PER_US, Ps};
use fabric::{
    Acceptable, Delivery, Fabric, Frame, Mac, NicSpec, PortChange, PortId, PortVlanChange,
    SwitchHandle, SwitchSpec, Tag,
};

pub const BROADCAST: Mac = [0xff; 6];

/// A fabric, its hosts and switches in order of creation, and the time.
pub struct Lab {
    pub fabric: Fabric,
    pub now: Ps,
    pub hosts: Vec<PortId>,
    pub switches: Vec<SwitchHandle>,
}

impl Lab {
    pub fn new(frame_budget_per_s: u64) -> Self {
        Self {
            fabric: Fabric::new(1, frame_budget_per_s),
            now: 0,
            hosts: Vec::new(),
            switches: Vec::new(),
        }
    }

    /// One switch with hosts on its first ports, links up, no EEE.
    pub fn star(hosts: usize) -> Self {
        let mut lab = Self::new(0);
        lab.switch(SwitchSpec::new("sw0", "1000BASE-T", 8));
        for port in 0..hosts {
            lab.host(0, port);
        }
        lab.settle();
        lab
    }

    pub fn switch(&mut self, spec: SwitchSpec) -> &SwitchHandle {
        let name = spec.name.clone();
        let handle = self.fabric.add_switch(SwitchSpec { name, ..spec }).unwrap();
        for port in &handle.ports {
            self.plain(*port);
        }
        self.switches.push(handle);
        self.switches.last().unwrap()
    }

    /// A host on a switch port.
    pub fn host(&mut self, switch: usize, port: usize) -> PortId {
        let number = self.hosts.len();
        let nic = self
            .fabric
            .add_nic(NicSpec::new(
                &format!("n{number}"),
                mac(number),
                "1000BASE-T",
            ))
            .unwrap();
        self.plain(nic);
        self.fabric
            .connect(self.now, self.port(switch, port), nic, 2.0)
            .unwrap();
        self.hosts.push(nic);
        nic
    }

    pub fn port(&self, switch: usize, port: usize) -> PortId {
        self.switches[switch].ports[port]
    }

    pub fn trunk(&mut self, a: (usize, usize), b: (usize, usize)) -> fabric::CableId {
        let (a, b) = (self.port(a.0, a.1), self.port(b.0, b.1));
        self.fabric.connect(self.now, a, b, 2.0).unwrap()
    }

    /// No EEE, link within a millisecond.
    fn plain(&mut self, port: PortId) {
        self.fabric
            .set_interruption(self.now, port, PS_PER_S / 1_000)
            .unwrap();
        let change = PortChange {
            eee: Some(false),
            ..PortChange::default()
        };
        self.fabric.set_port(self.now, port, &change).unwrap();
    }

    /// Let links come up and frames arrive.
    pub fn settle(&mut self) -> Vec<Delivery> {
        self.run(PS_PER_S / 100)
    }

    pub fn run(&mut self, time: Ps) -> Vec<Delivery> {
        self.now += time;
        let mut out = Vec::new();
        self.fabric.poll(self.now, &mut out);
        out
    }

    pub fn send(&mut self, host: usize, frame: Frame) {
        self.fabric
            .transmit(self.now, self.hosts[host], frame)
            .unwrap();
    }

    /// Send a frame and return the hosts that received it with their tags, in order of hosts.
    pub fn sent_to(&mut self, host: usize, frame: Frame) -> Vec<(usize, Option<Tag>)> {
        self.send(host, frame);
        let mut got: Vec<_> = self
            .run(PS_PER_S / 1_000)
            .into_iter()
            .map(|delivery| (self.host_number(delivery.nic), delivery.frame.tag))
            .collect();
        got.sort();
        got
    }

    /// The hosts that a frame between two hosts reaches.
    pub fn reached(&mut self, from: usize, to: usize) -> Vec<usize> {
        self.sent_to(from, unicast(from, to, 100))
            .into_iter()
            .map(|(host, _)| host)
            .collect()
    }

    pub fn host_number(&self, nic: PortId) -> usize {
        self.hosts.iter().position(|host| *host == nic).unwrap()
    }

    pub fn vlan(&mut self, switch: usize, vid: u16, members: &[usize], untagged: &[usize]) {
        let ports = |list: &[usize]| {
            list.iter()
                .map(|port| self.port(switch, *port))
                .collect::<Vec<_>>()
        };
        let (members, untagged) = (ports(members), ports(untagged));
        let id = self.switches[switch].switch;
        self.fabric
            .set_vlan(self.now, id, vid, &members, &untagged)
            .unwrap();
    }

    pub fn pvid(&mut self, switch: usize, port: usize, pvid: u16) {
        self.rules(
            switch,
            port,
            PortVlanChange {
                pvid: Some(pvid),
                ..PortVlanChange::default()
            },
        );
    }

    pub fn filtering(&mut self, switch: usize, port: usize, on: bool) {
        self.rules(
            switch,
            port,
            PortVlanChange {
                ingress_filtering: Some(on),
                ..Default::default()
            },
        );
    }

    pub fn acceptable(&mut self, switch: usize, port: usize, acceptable: Acceptable) {
        self.rules(
            switch,
            port,
            PortVlanChange {
                acceptable: Some(acceptable),
                ..Default::default()
            },
        );
    }

    fn rules(&mut self, switch: usize, port: usize, change: PortVlanChange) {
        self.fabric
            .set_port_vlan(self.now, self.port(switch, port), &change)
            .unwrap();
    }

    /// The invariant that must hold at all times.
    pub fn assert_conserved(&mut self) {
        let frames = self.fabric.frames(self.now);
        assert_eq!(
            frames.offered + frames.copies,
            frames.delivered + frames.consumed + frames.dropped + frames.in_flight,
            "{frames:?}"
        );
    }
}

pub fn mac(host: usize) -> Mac {
    [2, 0, 0, 0, (host >> 8) as u8, host as u8]
}

/// An untagged frame of `size_byte` without FCS.
pub fn frame(source: Mac, destination: Mac, size_byte: usize) -> Frame {
    let mut bytes = vec![0; size_byte];
    bytes[..6].copy_from_slice(&destination);
    bytes[6..12].copy_from_slice(&source);
    bytes[12..14].copy_from_slice(&[0x88, 0xb5]);
    Frame {
        bytes: Bytes::from(bytes),
        tag: None,
        csum: None,
    }
}

pub fn unicast(from: usize, to: usize, size_byte: usize) -> Frame {
    frame(mac(from), mac(to), size_byte)
}

pub fn broadcast(from: usize) -> Frame {
    frame(mac(from), BROADCAST, 60)
}

pub fn tagged(frame: Frame, vid: u16) -> Frame {
    Frame {
        tag: Some(Tag::new(vid)),
        ..frame
    }
}

/// When a frame of `size_byte` without FCS that a host sends at 0 on an idle 1 Gb/s path of store-and-forward
/// switches has arrived: 2 m cables, 2 µs a switch.
pub fn path_time(size_byte: u64, switches: u64) -> Ps {
    let bits = (size_byte + 4).max(64) + 8;
    (switches + 1) * (bits * 8_000 + 10_000) + switches * 2 * PS_PER_US
}
