//! What a port does with a frame that has arrived: a NIC hands it up, a switch forwards it.
//!
//! A switch processes and counts a frame when its store-and-forward latency is over. The checks run in this order:
//! too long, MAC control, frame budget, reserved address, bridge rules (blocked, acceptable frame types, VLAN, ingress
//! filtering); then learning and lookup, the shared buffer, and per egress port MTU and queue.

use crate::bridge::budget::Verdict;
use crate::bridge::lag::flow_hash;
use crate::fabric::agenda::Event;
use crate::fabric::state::Fabric;
use crate::frame::{FCS_BYTE, Frame, MIN_WIRE_BYTE, TAG_BYTE, Tag, is_reserved};
use crate::pause::{MAC_CONTROL, PAUSE_OCTETS, quanta_time, read_pause};
use crate::port::{Owner, Queued};
use crate::report::Delivery;
use crate::store::Slot;
use crate::time::Ps;

impl Fabric {
    /// The head of what `sender` has in the air has arrived.
    pub(crate) fn on_arrive(&mut self, now: Ps, sender: u32) {
        let port = self.topology.port_mut(sender);
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
        let port = self.topology.port_mut(sender);
        if port.tx.pause_air.front().is_none_or(|head| head.due > now) {
            return;
        }
        let Some(arrived) = port.tx.pause_air.pop_front() else {
            return;
        };
        let receiver = port.peer;
        self.topology.port_mut(receiver).counters.in_octets += u64::from(PAUSE_OCTETS);
        self.on_pause(now, receiver, arrived.quanta);
    }

    fn receive(&mut self, now: Ps, receiver: u32, frame: Frame) {
        let port = self.topology.port_mut(receiver);
        port.count_in(&frame);
        if frame.bytes.len() > port.mtu_byte {
            port.counters.in_too_long += 1;
            port.counters.in_errors += 1;
            self.tally.dropped += 1;
            return;
        }
        if frame.ethertype() == MAC_CONTROL {
            match read_pause(&frame) {
                Some(quanta) => self.on_pause(now, receiver, quanta),
                None => self.tally.consumed += 1,
            }
            return;
        }
        match port.owner {
            Owner::Nic { .. } => {
                let nic = port.id;
                self.outbox.deliver(Delivery {
                    nic,
                    at: now,
                    frame,
                });
            }
            Owner::Switch { switch, .. } => self.forward(now, switch, receiver, frame),
        }
    }

    /// A PAUSE frame from the partner: stop sending for `quanta`, or continue if it is 0.
    fn on_pause(&mut self, now: Ps, receiver: u32, quanta: u16) {
        self.tally.consumed += 1;
        let port = self.topology.port_mut(receiver);
        port.counters.in_pause += 1;
        if !port.carrier.pause.receives || !port.carrier.up {
            return;
        }
        port.tx.paused_until = now + quanta_time(quanta, port.carrier.byte);
        if quanta == 0 {
            self.try_send(now, receiver);
        } else {
            let until = self.topology.port(receiver).tx.paused_until;
            self.agenda.enter(until, Event::PauseEnd(receiver));
        }
    }

    fn forward(&mut self, now: Ps, switch: u32, receiver: u32, frame: Frame) {
        let ingress = self.topology.port(receiver).bridge_port;
        if let Verdict::Drop { storm_begins } = self.budget.admit(now) {
            self.drop_in_storm(now, switch, receiver, storm_begins);
            return;
        }
        let (destination, source) = (frame.destination(), frame.source());
        if is_reserved(destination) {
            self.hear(now, receiver, &frame);
            self.tally.consumed += 1;
            return;
        }
        let bridge = self.topology.switch_mut(switch);
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
        if !bridge.buffer.reserve(octets) {
            self.discard_in(receiver);
            return;
        }
        self.tally.copies += u64::from(copies) - 1;
        let hash = if bridge.spec.lag_count == 0 {
            0
        } else {
            flow_hash(&frame, tag.vid, self.hash_seed)
        };
        let size_byte = frame.bytes.len();
        let slot = self.store.keep(frame, copies, receiver, octets);
        self.charge(now, receiver, octets);
        for egress in ports.iter() {
            let (port, up) = self.topology.bridge_port(switch, egress).member(now, hash);
            if !up {
                self.discard_out(now, port, slot);
                continue;
            }
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
        let lossless = self.topology.port(receiver).carrier.pause.sends;
        let limit_byte = self.topology.switch(switch).spec.egress_queue_byte;
        let egress = self.topology.port_mut(port);
        let full = !lossless && egress.tx.queue_byte + copy.octets as usize > limit_byte;
        if full || size_byte > egress.mtu_byte {
            self.discard_out(now, port, copy.slot);
        } else {
            self.enqueue(now, port, copy);
        }
    }

    /// Charge a waiting frame to its ingress port, and stop the partner if that is too much.
    fn charge(&mut self, now: Ps, receiver: u32, octets: u32) {
        let Some((port, switch)) = self.topology.switch_port_mut(receiver) else {
            return;
        };
        let can_stop = port.carrier.pause.sends && port.carrier.up;
        if let Some(quanta) = port.backlog.charge(octets, &switch.buffer, can_stop) {
            self.send_pause(now, receiver, quanta);
        }
    }

    fn discard_out(&mut self, now: Ps, port: u32, slot: Slot) {
        self.topology.port_mut(port).counters.out_discards += 1;
        self.tally.dropped += 1;
        self.discard_copy(now, slot);
    }

    fn discard_in(&mut self, receiver: u32) {
        self.topology.port_mut(receiver).counters.in_discards += 1;
        self.tally.dropped += 1;
    }

    fn drop_in_storm(&mut self, now: Ps, switch: u32, receiver: u32, storm_begins: bool) {
        self.discard_in(receiver);
        let port = self.topology.port_mut(receiver);
        port.counters.storm_drops += 1;
        if storm_begins {
            let text = format!(
                "storm: the switches forward more than {} frames/s, and switch {} drops frames received at \
                 port {}: look for a loop, or raise the frame budget",
                self.budget.frames_per_s(),
                self.topology.switch(switch).spec.name,
                self.topology.port(receiver).name,
            );
            self.outbox.alarm(now, text);
        }
    }
}

/// Octets of a frame of `size_byte` with a tag or without, FCS and padding included.
fn wire_octets(size_byte: usize, tag: Option<Tag>) -> u32 {
    let tag_byte = if tag.is_some() { TAG_BYTE } else { 0 };
    (size_byte + tag_byte + FCS_BYTE).max(MIN_WIRE_BYTE) as u32
}
