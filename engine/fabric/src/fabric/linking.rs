//! Link-up and link-down, and their effect on the two ports.

use crate::fabric::agenda::Event;
use crate::fabric::state::Fabric;
use crate::link::{End, LinkChange};
use crate::port::{Carrier, Owner};
use crate::time::{Ps, byte_ps};

impl Fabric {
    /// Negotiation and training over a cable are complete.
    pub(crate) fn on_link_up(&mut self, now: Ps, cable: u32) {
        let change = self.topology.cable_mut(cable).link.poll(now);
        if change.is_some() {
            self.act_on_link(now, cable, change);
        }
    }

    /// Reconfigure a port's end of its cable.
    pub(crate) fn set_end(&mut self, now: Ps, p: u32, end: End) {
        let port = self.topology.port_mut(p);
        port.end = end.clone();
        if let Some((cable, side)) = port.cable {
            let change = self.topology.cable_mut(cable).link.set_end(now, side, end);
            self.act_on_link(now, cable, change);
        }
    }

    /// Apply a change of a link to its two ports, and schedule its next change.
    pub(crate) fn act_on_link(&mut self, now: Ps, cable: u32, change: Option<LinkChange>) {
        let cabled = self.topology.cable(cable);
        let (ports, propagation) = (cabled.ports, cabled.propagation);
        if let Some(at) = cabled.link.poll_at() {
            self.agenda.enter(at, Event::LinkUp(cable));
        }
        match change {
            None => {}
            Some(LinkChange::WentDown) => {
                for p in ports {
                    let port = self.topology.port_mut(p);
                    port.tx.lpi.link_down(now);
                    port.carrier.up = false;
                    port.lldp.link_lost();
                    (port.since, port.flaps) = (now, port.flaps + 1);
                }
                for p in ports {
                    self.lose_frames(now, p);
                    self.carrier_changed(now, p);
                }
            }
            Some(LinkChange::CameUp {
                agreement,
                lpi_permitted_from,
            }) => {
                for side in 0..2 {
                    let p = ports[side];
                    let partner = ports[1 - side];
                    let port = self.topology.port_mut(p);
                    port.carrier = Carrier {
                        up: true,
                        speed_mbps: agreement.speed_mbps,
                        byte: byte_ps(agreement.speed_mbps),
                        propagation,
                        arrival: propagation,
                        pause: agreement.pause[side],
                        eee: agreement.eee,
                    };
                    (port.since, port.flaps) = (now, port.flaps + 1);
                    port.apply_lpi_policy(now);
                    port.tx.lpi.link_up(
                        now,
                        lpi_permitted_from,
                        agreement.eee,
                        agreement.speed_mbps,
                    );
                    let latency = self.topology.latency_of(partner);
                    self.topology.port_mut(p).carrier.arrival += latency;
                    self.carrier_changed(now, p);
                    self.announce_at(now, p);
                }
            }
        }
    }

    /// A physical port came up or went down: update its bridge, or report it to the host.
    fn carrier_changed(&mut self, now: Ps, p: u32) {
        let port = self.topology.port(p);
        match port.owner {
            Owner::Switch { switch, .. } => {
                let index = port.bridge_port;
                self.topology.refresh_bridge_port(now, switch, index);
            }
            Owner::Nic { .. } => {
                self.outbox.link_changed(port.id, port.carrier.up);
            }
        }
    }

    /// Drop what had arrived at a switch port and was not yet forwarded.
    pub(crate) fn lose_what_arrived(&mut self, p: u32) {
        let peer = self.topology.port(p).peer;
        let air = &mut self.topology.port_mut(peer).tx.air;
        if peer != p {
            self.tally.dropped += air.len() as u64;
            air.clear();
        }
    }
}
