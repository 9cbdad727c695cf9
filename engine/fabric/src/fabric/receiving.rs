//! What a port does with a frame that has arrived: a NIC hands it up, a switch forwards it.
//!
//! A switch looks at a frame when its store-and-forward latency is over, and counts it then. Order of
//! judgement: too long, MAC control, frame budget, reserved address, bridge rules (blocked, acceptable
//! frames, VLAN, ingress filtering), shared buffer; then learning, lookup, and per egress port MTU and queue.

use crate::budget::Verdict;
use crate::fabric::Fabric;
use crate::frame::{FCS_BYTE, Frame, MIN_WIRE_BYTE, TAG_BYTE, Tag, is_reserved};
use crate::lag::flow_hash;
use crate::pause::{MAC_CONTROL, PAUSE_OCTETS, XOFF, quanta_time, read_pause};
use crate::port::{Owner, Queued};
use crate::report::{Alarm, Delivery};
use crate::time::Ps;

impl Fabric {
    /// The head of what `sender` has in the air has arrived.
    pub(crate) fn on_arrive(&mut self, now: Ps, sender: u32) {
        let port = &mut self.ports[sender as usize];
        if port.tx.air.front().is_none_or(|head| head.due > now) {
            return;
        }
        let Some(arrived) = port.tx.air.pop_front() else {
            return;
        };
        let receiver = port.peer;
        self.receive(now, receiver, arrived.frame);
    }

    /// The PAUSE frame that `sender` has in the air has arrived.
    pub(crate) fn on_arrive_pause(&mut self, now: Ps, sender: u32) {
        let port = &mut self.ports[sender as usize];
        if port.tx.pause_air.front().is_none_or(|head| head.due > now) {
            return;
        }
        let Some(arrived) = port.tx.pause_air.pop_front() else {
            return;
        };
        let receiver = port.peer;
        self.ports[receiver as usize].counters.in_octets += u64::from(PAUSE_OCTETS);
        self.hear_pause(now, receiver, arrived.quanta);
    }

    fn receive(&mut self, now: Ps, receiver: u32, frame: Frame) {
        let port = &mut self.ports[receiver as usize];
        port.count_in(&frame);
        if frame.bytes.len() > port.mtu_byte {
            port.counters.in_too_long += 1;
            port.counters.in_errors += 1;
            self.tally.dropped += 1;
            return;
        }
        if frame.ethertype() == MAC_CONTROL {
            match read_pause(&frame) {
                Some(quanta) => self.hear_pause(now, receiver, quanta),
                None => self.tally.consumed += 1,
            }
            return;
        }
        match port.owner {
            Owner::Nic { .. } => {
                let nic = port.id;
                self.deliveries.push(Delivery {
                    nic,
                    at: now,
                    frame,
                });
            }
            Owner::Switch { switch, .. } => self.forward(now, switch, receiver, frame),
        }
    }

    /// The partner wants silence for `quanta`, or an end of it.
    fn hear_pause(&mut self, now: Ps, receiver: u32, quanta: u16) {
        self.tally.consumed += 1;
        let port = &mut self.ports[receiver as usize];
        port.counters.in_pause += 1;
        if !port.carrier.pause.receives || !port.carrier.up {
            return;
        }
        port.tx.paused_until = now + quanta_time(quanta, port.carrier.byte);
        if quanta == 0 {
            self.try_send(now, receiver);
        } else {
            let until = self.ports[receiver as usize].tx.paused_until;
            self.agenda
                .enter(until, crate::agenda::Event::PauseEnd(receiver));
        }
    }

    fn forward(&mut self, now: Ps, switch: u32, receiver: u32, frame: Frame) {
        let ingress = self.ports[receiver as usize].bridge_port;
        if let Verdict::Drop { storm_begins } = self.budget.admit(now) {
            self.drop_in_storm(now, switch, receiver, storm_begins);
            return;
        }
        let (destination, source) = (frame.destination(), frame.source());
        if is_reserved(destination) {
            self.tally.consumed += 1;
            return;
        }
        let bridge = &mut self.switches[switch as usize];
        let Ok(tag) = bridge.classify(ingress, frame.tag) else {
            self.discard_in(receiver);
            return;
        };
        bridge.learn(now, tag.vid, source, ingress);
        let (ports, vlan) = bridge.egress(now, tag.vid, destination, ingress);
        let (copies, untagged) = (ports.len(), vlan.untagged);
        self.budget.charge(now, copies.max(1));
        if copies == 0 {
            self.tally.consumed += 1;
            return;
        }
        let octets = frame.octets() as u32;
        if bridge.buffered_byte + octets as usize > bridge.spec.buffer_byte {
            self.discard_in(receiver);
            return;
        }
        bridge.buffered_byte += octets as usize;
        self.tally.copies += u64::from(copies) - 1;
        let hash = if bridge.spec.lag_count == 0 {
            0
        } else {
            flow_hash(&frame, tag.vid, self.seed)
        };
        let size_byte = frame.bytes.len();
        let slot = self.store.keep(frame, copies, receiver, octets);
        self.hold(now, switch, receiver, octets);
        for egress in ports.iter() {
            let active = &self.switches[switch as usize].bridge_ports[egress as usize].active;
            let port = active[hash as usize % active.len()];
            let tag = (!untagged.contains(egress)).then_some(tag);
            self.admit(
                now,
                switch,
                receiver,
                port,
                size_byte,
                Queued {
                    slot,
                    tag,
                    octets: wire_octets(size_byte, tag),
                },
            );
        }
    }

    /// Put a copy into an egress queue, or drop it there.
    fn admit(
        &mut self,
        now: Ps,
        switch: u32,
        receiver: u32,
        port: u32,
        size_byte: usize,
        copy: Queued,
    ) {
        let lossless = self.ports[receiver as usize].carrier.pause.sends;
        let limit_byte = self.switches[switch as usize].spec.egress_queue_byte;
        let egress = &mut self.ports[port as usize];
        let full = !lossless && egress.tx.queue_byte + copy.octets as usize > limit_byte;
        if full || size_byte > egress.mtu_byte {
            egress.counters.out_discards += 1;
            self.tally.dropped += 1;
            let freed = self.store.discard(copy.slot);
            self.release(now, freed);
        } else {
            self.enqueue(now, port, copy);
        }
    }

    /// Charge a waiting frame to the port that it came in at, and stop the partner if that is too much.
    fn hold(&mut self, now: Ps, switch: u32, receiver: u32, octets: u32) {
        let stop_byte = self.switches[switch as usize].thresholds.stop_byte;
        let port = &mut self.ports[receiver as usize];
        port.backlog.held_byte += octets as usize;
        let must_stop = port.backlog.held_byte > stop_byte && !port.backlog.stopped;
        if must_stop && port.carrier.pause.sends && port.carrier.up {
            self.tell_pause(now, receiver, XOFF);
        }
    }

    fn discard_in(&mut self, receiver: u32) {
        self.ports[receiver as usize].counters.in_discards += 1;
        self.tally.dropped += 1;
    }

    fn drop_in_storm(&mut self, now: Ps, switch: u32, receiver: u32, storm_begins: bool) {
        self.discard_in(receiver);
        let port = &mut self.ports[receiver as usize];
        port.counters.storm_drops += 1;
        if storm_begins {
            let text = format!(
                "storm: the switches forward more than {} frames/s, and switch {} drops what comes in at \
                 port {}: look for a loop, or raise the frame budget",
                self.budget.frames_per_s(),
                self.switches[switch as usize].spec.name,
                port.name,
            );
            self.alarms.push(Alarm { at: now, text });
        }
    }
}

/// Octets of a frame of `size_byte` with a tag or without, FCS and padding included.
fn wire_octets(size_byte: usize, tag: Option<Tag>) -> u32 {
    let tag_byte = if tag.is_some() { TAG_BYTE } else { 0 };
    (size_byte + tag_byte + FCS_BYTE).max(MIN_WIRE_BYTE) as u32
}
