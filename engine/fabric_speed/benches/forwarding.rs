//! Frame-hops a second on one core: hosts send through one and two switches, and to a LAG; EEE off and on.
//!
//! A hop is one transmission over one cable: a frame through one switch makes two.

use bytes::Bytes;
use divan::Bencher;
use divan::counter::ItemsCount;
use fabric::time::{PS_PER_MS, PS_PER_S, PS_PER_US};
use fabric::{Delivery, Fabric, Frame, NicSpec, PortChange, PortId, SwitchSpec};

const FRAMES: usize = 10_000;
const HOSTS: usize = 4;

fn main() {
    divan::main();
}

fn mac(host: usize) -> [u8; 6] {
    [2, 0, 0, 0, 0, host as u8]
}

fn frame(from: usize, to: usize, size_byte: usize) -> Frame {
    let mut bytes = vec![0; size_byte];
    bytes[..6].copy_from_slice(&mac(to));
    bytes[6..12].copy_from_slice(&mac(from));
    bytes[12..14].copy_from_slice(&[0x88, 0xb5]);
    Frame {
        bytes: Bytes::from(bytes),
        tag: None,
        csum: None,
    }
}

struct Bed {
    fabric: Fabric,
    hosts: Vec<PortId>,
    frames: Vec<Frame>,
    out: Vec<Delivery>,
    now: u64,
}

impl Bed {
    /// A chain of switches with a 10 Gb/s trunk between them; half of the hosts at each end send to the other
    /// half.
    fn new(switches: usize, size_byte: usize, eee: bool) -> Self {
        let mut fabric = Fabric::new(0, 0);
        let mut ports = Vec::new();
        for number in 0..switches {
            let mut spec = SwitchSpec::new(&format!("sw{number}"), "10GBASE-T", 8);
            spec.latency = PS_PER_US;
            ports.push(fabric.add_switch(spec).unwrap().ports);
        }
        for pair in ports.windows(2) {
            fabric.connect(0, pair[0][7], pair[1][6], 2.0).unwrap();
        }
        let mut hosts = Vec::new();
        for host in 0..HOSTS {
            let nic = fabric
                .add_nic(NicSpec::new("n", mac(host), "1000BASE-T"))
                .unwrap();
            let switch = if host % 2 == 0 {
                &ports[0]
            } else {
                &ports[switches - 1]
            };
            fabric.connect(0, switch[host], nic, 2.0).unwrap();
            hosts.push(nic);
        }
        for port in ports.iter().flatten().chain(&hosts) {
            fabric.set_interruption(0, *port, 0).unwrap();
            let change = PortChange {
                eee: Some(eee),
                ..PortChange::default()
            };
            fabric.set_port(0, *port, &change).unwrap();
        }
        let frames = (0..HOSTS)
            .map(|host| frame(host, host ^ 1, size_byte))
            .collect();
        let mut bed = Self {
            fabric,
            hosts,
            frames,
            out: Vec::with_capacity(FRAMES),
            now: 10 * PS_PER_S,
        };
        for host in 0..HOSTS {
            bed.fabric
                .transmit(bed.now, bed.hosts[host], bed.frames[host].clone())
                .unwrap();
        }
        bed.run(PS_PER_S);
        bed
    }

    fn run(&mut self, time: u64) -> usize {
        self.now += time;
        self.out.clear();
        self.fabric.poll(self.now, &mut self.out);
        self.out.len()
    }

    /// Every host fills its ring, again and again, until so many frames have arrived.
    fn saturate(&mut self) -> usize {
        let mut arrived = 0;
        while arrived < FRAMES {
            for host in 0..HOSTS {
                for _ in 0..self.fabric.ring_free(self.hosts[host]).min(64) {
                    let frame = self.frames[host].clone();
                    self.fabric
                        .transmit(self.now, self.hosts[host], frame)
                        .unwrap();
                }
            }
            arrived += self.run(50 * PS_PER_US);
        }
        arrived
    }

    /// One frame at a time, each on an idle and (with EEE) sleeping path.
    fn sparse(&mut self) -> usize {
        (0..FRAMES)
            .map(|number| {
                let host = number % HOSTS;
                let frame = self.frames[host].clone();
                self.fabric
                    .transmit(self.now, self.hosts[host], frame)
                    .unwrap();
                self.run(PS_PER_MS)
            })
            .sum()
    }
}

#[divan::bench(args = [(1, 1_514), (1, 60), (2, 1_514), (2, 60)], sample_count = 30)]
fn saturated(bencher: Bencher, (switches, size_byte): (usize, usize)) {
    bencher
        .counter(ItemsCount::new(FRAMES * (switches + 1)))
        .with_inputs(|| Bed::new(switches, size_byte, false))
        .bench_local_refs(Bed::saturate);
}

#[divan::bench(args = [(1, 60), (2, 60)], sample_count = 30)]
fn sparse_over_sleeping_links(bencher: Bencher, (switches, size_byte): (usize, usize)) {
    bencher
        .counter(ItemsCount::new(FRAMES * (switches + 1)))
        .with_inputs(|| Bed::new(switches, size_byte, true))
        .bench_local_refs(Bed::sparse);
}
