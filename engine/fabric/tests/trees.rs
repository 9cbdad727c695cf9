//! Without loops no host gets a frame twice, and those who should get it do.

use std::collections::BTreeSet;

use crate::lab::{self, frame, mac};
use crate::steps::{Bed, HOSTS, any_wiring, quick};
use fabric::Frame;
use fabric::time::{PS_PER_MS, PS_PER_S};
use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #![proptest_config(quick(200))]

    #[test]
    fn in_a_tree_no_host_gets_a_frame_twice_and_all_get_a_broadcast(
        wiring in any_wiring(), senders in vec((0..HOSTS, 0..HOSTS + 1), 1..40)
    ) {
        let mut bed = Bed::new(&wiring, false);
        bed.wait(PS_PER_S / 10);
        let connected: Vec<bool> =
            bed.hosts.clone().iter().map(|host| bed.fabric.port(bed.now, *host).unwrap().oper_up).collect();
        let mut got = BTreeSet::new();
        for (number, (from, to)) in senders.iter().enumerate() {
            let destination = if *to == HOSTS { lab::BROADCAST } else { mac(*to) };
            let mut bytes = frame(mac(*from), destination, 100).bytes.to_vec();
            bytes[20] = number as u8;
            bed.fabric.transmit(bed.now, bed.hosts[*from], Frame::from_wire(bytes.into())).unwrap();
            bed.wait(3 * PS_PER_MS);
        }
        for delivery in &bed.out {
            let number = delivery.frame.bytes[20];
            prop_assert!(got.insert((number, delivery.nic)), "frame {} twice", number);
            let (from, _) = senders[number as usize];
            prop_assert_ne!(delivery.nic, bed.hosts[from], "frame {} came back", number);
        }
        for (number, (from, to)) in senders.iter().enumerate() {
            let same_switch = |a: usize, b: usize| {
                wiring.hosts[a].0 % wiring.switches == wiring.hosts[b].0 % wiring.switches
            };
            for host in (0..HOSTS).filter(|host| host != from && connected[*host] && connected[*from]) {
                if same_switch(host, *from) && (*to == host || *to == HOSTS) {
                    prop_assert!(got.contains(&(number as u8, bed.hosts[host])), "{} lost", number);
                }
            }
        }
    }
}
