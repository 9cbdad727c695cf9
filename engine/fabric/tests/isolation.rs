//! A frame never leaves on a port outside its VLAN, on networks of any shape, loops included.

use crate::lab::{self, frame, mac};
use crate::steps::{Bed, HOSTS, PORTS, Wiring, any_wiring, quick};
use fabric::time::PS_PER_MS;
use fabric::{Frame, PortId, PortVlanChange, Tag, Tapped};
use proptest::collection::vec;
use proptest::prelude::*;

const VLANS: u16 = 3;

/// Which VLANs a trunk port carries, by bit.
fn carries(mask: u8, vid: u16) -> bool {
    mask >> (vid - 1) & 1 == 1
}

/// Ports of hosts are untagged in their host's VLAN, all others tagged in what their mask says.
fn configure(bed: &mut Bed, wiring: &Wiring, host_vid: &[u16], masks: &[u8]) -> Vec<(PortId, u8)> {
    let access = |place: (usize, usize)| {
        let at = |(switch, port): (usize, usize)| (switch % wiring.switches, port);
        (0..HOSTS)
            .find(|host| at(wiring.hosts[*host]) == place)
            .map(|host| host_vid[host])
    };
    let mut trunks = Vec::new();
    for (switch, handle) in bed.switches.clone().iter().enumerate() {
        let mask_of = |port: usize| masks[(switch * PORTS + port) % masks.len()];
        for vid in 1..=VLANS {
            let on = |port: usize| match access((switch, port)) {
                Some(own) => own == vid,
                None => carries(mask_of(port), vid),
            };
            let members: Vec<usize> = (0..PORTS).filter(|port| on(*port)).collect();
            let ids = |ports: &[usize]| {
                ports
                    .iter()
                    .map(|port| handle.ports[*port])
                    .collect::<Vec<_>>()
            };
            let untagged: Vec<usize> = members
                .iter()
                .copied()
                .filter(|port| access((switch, *port)).is_some())
                .collect();
            bed.fabric
                .set_vlan(bed.now, handle.switch, vid, &ids(&members), &ids(&untagged))
                .unwrap();
        }
        for (port, id) in handle.ports.iter().enumerate() {
            let own = access((switch, port));
            let change = PortVlanChange {
                pvid: own,
                ingress_filtering: Some(true),
                acceptable: None,
            };
            bed.fabric.set_port_vlan(bed.now, *id, &change).unwrap();
            if own.is_none() {
                trunks.push((*id, mask_of(port)));
            }
        }
    }
    trunks
}

proptest! {
    #![proptest_config(quick(200))]

    #[test]
    fn frames_stay_in_their_vlan(
        wiring in any_wiring(),
        host_vid in vec(1..=VLANS, HOSTS),
        masks in vec(any::<u8>(), 1..20),
        sends in vec((0..HOSTS, prop::option::of(0..HOSTS), prop::option::of(0..5u16)), 1..40),
    ) {
        let mut bed = Bed::new(&wiring, true);
        bed.wait(100 * PS_PER_MS);
        let trunks = configure(&mut bed, &wiring, &host_vid, &masks);
        for cable in bed.cables.clone() {
            bed.fabric.set_tapped(cable, true).unwrap();
        }
        for (from, to, tag) in sends {
            let mut bytes = frame(mac(from), to.map_or(lab::BROADCAST, mac), 60).bytes.to_vec();
            bytes[20] = from as u8;
            let data = Frame { tag: tag.map(Tag::new), ..Frame::from_wire(bytes.into()) };
            let _full = bed.fabric.transmit(bed.now, bed.hosts[from], data);
            bed.wait(PS_PER_MS / 2);
        }
        for delivery in &bed.out {
            let host = bed.hosts.iter().position(|host| *host == delivery.nic).unwrap();
            let from = delivery.frame.bytes[20] as usize;
            prop_assert_eq!(host_vid[from], host_vid[host]);
            prop_assert_eq!(delivery.frame.tag, None);
        }
        let mut seen: Vec<Tapped> = Vec::new();
        bed.fabric.take_tapped(&mut seen);
        for tapped in seen {
            if let Some((_, mask)) = trunks.iter().find(|(port, _)| *port == tapped.from_port) {
                let tag = tapped.frame.tag.expect("trunks are tagged");
                prop_assert!(carries(*mask, tag.vid));
                prop_assert_eq!(host_vid[tapped.frame.bytes[20] as usize], tag.vid);
            }
        }
    }
}
