//! Cables: plugging them in, links that come and go, and the configuration of what stands at their ends.

use crate::agenda::Event;
use crate::error::FabricError;
use crate::fabric::{Fabric, Place};
use crate::frame::{MAX_FRAME_BYTE, Mac};
use crate::link::{End, Link, LinkChange, LinkState, PauseOffer};
use crate::phy::Phy;
use crate::port::{Carrier, LpiBase, Owner, Port, STANDARD_FRAME_BYTE};
use crate::report::PortCounters;
use crate::spec::{LpiChange, NicSpec, PortChange, SwitchHandle, SwitchSpec};
use crate::switch::Switch;
use crate::time::{Ps, byte_ps};
use crate::vlan::MAX_BRIDGE_PORTS;
use crate::{CableId, PortId, SwitchId};

/// Light and electric signals in a cable: 5 ns a metre, two thirds of the speed of light.
const PROPAGATION_PS_PER_M: f64 = 5_000.0;
/// The longest that any Ethernet PHY bridges.
const MAX_LENGTH_M: f64 = 100_000.0;

/// A cable and the ports at its ends.
#[derive(Debug)]
pub(crate) struct Cable {
    pub(crate) link: Link,
    pub(crate) ports: [u32; 2],
    propagation: Ps,
}

impl Fabric {
    /// Add a switch: powered, VLAN 1 untagged on all ports and LAGs.
    ///
    /// # Errors
    /// An unknown PHY, port names that do not match the ports, or more than 256 ports and LAGs.
    pub fn add_switch(&mut self, spec: SwitchSpec) -> Result<SwitchHandle, FabricError> {
        let out_of_range = |what, value: String, allowed| FabricError::OutOfRange {
            what,
            name: spec.name.clone(),
            value,
            allowed,
        };
        if spec.port_names.len() != spec.phys.len() {
            let value = spec.port_names.len().to_string();
            return Err(out_of_range(
                "the number of port names",
                value,
                "give one name per PHY",
            ));
        }
        let count = spec.phys.len() + spec.lag_count;
        if spec.phys.is_empty() || count > MAX_BRIDGE_PORTS {
            let allowed = "a switch has 1 to 256 ports and LAGs, at least one of them a port";
            return Err(out_of_range(
                "the number of ports",
                count.to_string(),
                allowed,
            ));
        }
        let phys = spec
            .phys
            .iter()
            .map(|name| known_phy(name))
            .collect::<Result<Vec<_>, _>>()?;
        let (switch, physical) = (self.switches.len() as u32, phys.len());
        let first_id = PortId(self.places.len() as u32);
        let first_port = self.ports.len() as u32;
        for (index, phy) in phys.into_iter().enumerate() {
            let p = first_port + index as u32;
            let id = PortId(first_id.0 + index as u32);
            let owner = Owner::Switch {
                switch,
                index: index as u16,
            };
            let mac = port_mac(spec.base_mac, index);
            let name = spec.port_names[index].clone();
            self.places.push(Place::Port(p));
            self.ports
                .push(Port::new(self.now, id, p, name, mac, owner, phy));
        }
        self.places
            .extend((physical..count).map(|index| Place::Lag(switch, index as u16)));
        let id = |index: usize| PortId(first_id.0 + index as u32);
        self.switches.push(Switch::new(spec, first_port, first_id));
        Ok(SwitchHandle {
            switch: SwitchId(switch),
            ports: (0..physical).map(id).collect(),
            lags: (physical..count).map(id).collect(),
        })
    }

    /// Add a host's NIC. It takes and sends frames of up to 9216 bytes: the host's own MTU is what limits it.
    ///
    /// # Errors
    /// An unknown PHY, or a ring without a place.
    pub fn add_nic(&mut self, spec: NicSpec) -> Result<PortId, FabricError> {
        if spec.ring_frames == 0 {
            return Err(FabricError::OutOfRange {
                what: "the ring",
                name: spec.name,
                value: "0".to_owned(),
                allowed: "it holds at least one frame",
            });
        }
        let phy = known_phy(&spec.phy)?;
        let id = PortId(self.places.len() as u32);
        let p = self.ports.len() as u32;
        let owner = Owner::Nic {
            ring_frames: spec.ring_frames,
        };
        self.places.push(Place::Port(p));
        self.ports
            .push(Port::new(self.now, id, p, spec.name, spec.mac, owner, phy));
        Ok(id)
    }

    /// Plug a cable in; its link comes up by itself if both ends let it.
    ///
    /// # Errors
    /// A port that is unknown, a LAG or occupied; twice the same port; an impossible length.
    pub fn connect(
        &mut self,
        now: Ps,
        a: PortId,
        b: PortId,
        length_m: f64,
    ) -> Result<CableId, FabricError> {
        let now = self.pass_time(now);
        let wants = "a cable needs a physical port";
        let ports = [self.physical(a, wants)?, self.physical(b, wants)?];
        if a == b {
            return Err(FabricError::SamePort(
                self.ports[ports[0] as usize].name.clone(),
            ));
        }
        if let Some(taken) = ports
            .iter()
            .find(|p| self.ports[**p as usize].cable.is_some())
        {
            return Err(FabricError::Occupied(
                self.ports[*taken as usize].name.clone(),
            ));
        }
        if !(0.0..=MAX_LENGTH_M).contains(&length_m) {
            return Err(FabricError::OutOfRange {
                what: "the length of the cable",
                name: self.ports[ports[0] as usize].name.clone(),
                value: format!("{length_m} m"),
                allowed: "0 to 100000 m",
            });
        }
        let cable = self.cables.len() as u32;
        let ends = ports.map(|p| self.ports[p as usize].end.clone());
        for side in 0..2 {
            let port = &mut self.ports[ports[side] as usize];
            port.cable = Some((cable, side));
            port.peer = ports[1 - side];
        }
        let propagation = (length_m * PROPAGATION_PS_PER_M).round() as Ps;
        self.cables.push(Cable {
            link: Link::new(now, ends),
            ports,
            propagation,
        });
        self.act_on_link(now, cable, None);
        Ok(CableId(cable))
    }

    /// Cut a cable. Nothing happens to one that is cut.
    ///
    /// # Errors
    /// An unknown cable.
    pub fn cut(&mut self, now: Ps, cable: CableId) -> Result<(), FabricError> {
        self.set_cut(now, cable, true)
    }

    /// Mend a cable; its link comes up after the time that its ends take.
    ///
    /// # Errors
    /// An unknown cable.
    pub fn mend(&mut self, now: Ps, cable: CableId) -> Result<(), FabricError> {
        self.set_cut(now, cable, false)
    }

    /// What the link over a cable is: down and why, coming up and until when, up and what was agreed.
    ///
    /// # Errors
    /// An unknown cable.
    pub fn link(&mut self, now: Ps, cable: CableId) -> Result<LinkState, FabricError> {
        self.pass_time(now);
        let known = self
            .cables
            .get(cable.0 as usize)
            .ok_or(FabricError::UnknownCable(cable))?;
        Ok(known.link.state())
    }

    /// Record the frames of a cable in both directions, from now on, or stop.
    ///
    /// # Errors
    /// An unknown cable.
    pub fn set_tapped(&mut self, cable: CableId, on: bool) -> Result<(), FabricError> {
        let known = self
            .cables
            .get(cable.0 as usize)
            .ok_or(FabricError::UnknownCable(cable))?;
        for p in known.ports {
            self.ports[p as usize].tapped = on;
        }
        Ok(())
    }

    /// How long this port takes from signal to link; a link takes the longer of both ends. Counts from the
    /// next time that the link starts.
    ///
    /// # Errors
    /// An unknown port, or a LAG.
    pub fn set_interruption(
        &mut self,
        now: Ps,
        port: PortId,
        interruption: Ps,
    ) -> Result<(), FabricError> {
        let now = self.pass_time(now);
        let p = self.physical(port, "the time to link belongs to its members")?;
        let end = End {
            interruption,
            ..self.ports[p as usize].end.clone()
        };
        self.set_end(now, p, end);
        Ok(())
    }

    /// Change a port's physical layer. What the partner would notice (all but the MTU) interrupts the link.
    ///
    /// # Errors
    /// An unknown port, a LAG, a speed that the PHY does not do, or an MTU above 9216.
    pub fn set_port(
        &mut self,
        now: Ps,
        port: PortId,
        change: &PortChange,
    ) -> Result<(), FabricError> {
        let now = self.pass_time(now);
        let p = self.physical(port, "the physical layer belongs to its members")?;
        let before = &self.ports[p as usize];
        let out_of_range = |what, value: String, allowed| FabricError::OutOfRange {
            what,
            name: before.name.clone(),
            value,
            allowed,
        };
        if let Some(mtu_byte) = change.mtu_byte
            && !(64..=MAX_FRAME_BYTE).contains(&mtu_byte)
        {
            return Err(out_of_range(
                "the MTU",
                mtu_byte.to_string(),
                "64 to 9216 bytes",
            ));
        }
        let mut end = before.end.clone();
        if let Some(speeds_mbps) = &change.advertised_mbps {
            let can = |speed: &u32| end.phy.speeds_mbps().any(|known| known == *speed);
            if speeds_mbps.is_empty() {
                return Err(out_of_range(
                    "the speed",
                    "none".to_owned(),
                    "offer one speed at least",
                ));
            }
            if let Some(wrong) = speeds_mbps.iter().find(|speed| !can(speed)) {
                let value = format!("{wrong} Mb/s");
                return Err(out_of_range("the speed", value, "its PHY does not do that"));
            }
            end.advertised_mbps.clone_from(speeds_mbps);
        }
        end.admin_up = change.admin_up.unwrap_or(end.admin_up);
        end.autoneg = change.autoneg.unwrap_or(end.autoneg);
        end.eee = change.eee.unwrap_or(end.eee);
        if let Some(on) = change.flow_control {
            end.pause = if on {
                PauseOffer::SYMMETRIC
            } else {
                PauseOffer::OFF
            };
        }
        let port = &mut self.ports[p as usize];
        port.mtu_byte = change.mtu_byte.unwrap_or(port.mtu_byte);
        self.set_end(now, p, end);
        Ok(())
    }

    /// Change a port's true LPI policy, used while EEE is active. Timing is merged into what was set before,
    /// and what was never set comes from the PHY at the present speed.
    ///
    /// # Errors
    /// An unknown port, a LAG, or a mode that neither the PHY nor the times set by hand provide for.
    pub fn set_lpi(
        &mut self,
        now: Ps,
        port: PortId,
        change: &LpiChange,
    ) -> Result<(), FabricError> {
        let now = self.pass_time(now);
        let p = self.physical(port, "low power idle belongs to its members")?;
        let port = &mut self.ports[p as usize];
        let merged = port.lpi_change.merged(change);
        if let Some(mode) = change.mode
            && !port
                .end
                .phy
                .speeds_mbps()
                .any(|speed| merged.permits(port.end.phy, speed, mode))
        {
            return Err(FabricError::OutOfRange {
                what: "the LPI mode",
                name: port.name.clone(),
                value: format!("{mode:?}").to_lowercase(),
                allowed: "its PHY has no such mode: choose another, or set its wake (and sleep) time too",
            });
        }
        port.lpi_change = merged;
        port.apply_lpi_policy(now);
        self.try_send(now, p);
        Ok(())
    }

    /// Switch a switch on or off. Off: its links go down, what it held is lost; VLANs, forwarding table,
    /// LAGs, settings of ports and counters are forgotten. On: as it left the factory, VLAN 1 untagged on all
    /// ports. The LPI policy and the time to link are its hardware's and stay; so does the time in state,
    /// which counts since creation.
    ///
    /// # Errors
    /// An unknown switch.
    pub fn set_power(&mut self, now: Ps, switch: SwitchId, on: bool) -> Result<(), FabricError> {
        let now = self.pass_time(now);
        let device = self.switch_at(switch)?;
        if device.powered == on {
            return Ok(());
        }
        device.powered = on;
        let physical = device.physical();
        for p in physical.clone() {
            let before = &self.ports[p as usize].end;
            let end = End {
                powered: on,
                interruption: before.interruption,
                ..End::new(before.phy)
            };
            self.set_end(now, p, end);
        }
        if on {
            return Ok(());
        }
        for p in physical {
            self.lose_what_arrived(p);
            let port = &mut self.ports[p as usize];
            port.mtu_byte = STANDARD_FRAME_BYTE;
            if let Owner::Switch { index, .. } = port.owner {
                port.bridge_port = index;
            }
            self.reset_counters(now, p);
        }
        self.switch_at(switch)?.reset();
        Ok(())
    }

    /// The link over a cable has been trained.
    pub(crate) fn on_link_up(&mut self, now: Ps, cable: u32) {
        let change = self.cables[cable as usize].link.poll(now);
        if change.is_some() {
            self.act_on_link(now, cable, change);
        }
    }

    /// Counters to zero; those of LPI by remembering where they stand.
    pub(crate) fn reset_counters(&mut self, now: Ps, p: u32) {
        let base = self.lpi_totals(now, p);
        let port = &mut self.ports[p as usize];
        port.lpi_base = base;
        port.counters = PortCounters::default();
    }

    /// LPI events and time of a port and of its partner since creation.
    pub(crate) fn lpi_totals(&self, now: Ps, p: u32) -> LpiBase {
        let port = &self.ports[p as usize];
        let tx = port.tx.lpi.ledger(now);
        let mut totals = LpiBase {
            tx_events: tx.lpi_events,
            tx: tx.lpi_ps(),
            ..LpiBase::default()
        };
        if port.peer != p {
            let rx = self.ports[port.peer as usize].tx.lpi.ledger(now);
            (totals.rx_events, totals.rx) = (rx.lpi_events, rx.lpi_ps());
        }
        totals
    }

    fn set_cut(&mut self, now: Ps, cable: CableId, cut: bool) -> Result<(), FabricError> {
        let now = self.pass_time(now);
        let known = self
            .cables
            .get_mut(cable.0 as usize)
            .ok_or(FabricError::UnknownCable(cable))?;
        let change = known.link.set_cut(now, cut);
        self.act_on_link(now, cable.0, change);
        Ok(())
    }

    fn set_end(&mut self, now: Ps, p: u32, end: End) {
        let port = &mut self.ports[p as usize];
        port.end = end.clone();
        if let Some((cable, side)) = port.cable {
            let change = self.cables[cable as usize].link.set_end(now, side, end);
            self.act_on_link(now, cable, change);
        }
    }

    fn act_on_link(&mut self, now: Ps, cable: u32, change: Option<LinkChange>) {
        let Cable { link, ports, .. } = &self.cables[cable as usize];
        let ports = *ports;
        if let Some(at) = link.poll_at() {
            self.agenda.enter(at, Event::LinkUp(cable));
        }
        match change {
            None => {}
            Some(LinkChange::WentDown) => {
                for p in ports {
                    let port = &mut self.ports[p as usize];
                    port.tx.lpi.link_down(now);
                    port.carrier.up = false;
                    (port.since, port.flaps) = (now, port.flaps + 1);
                }
                for p in ports {
                    self.lose_frames(now, p);
                    self.carrier_changed(p);
                }
            }
            Some(LinkChange::CameUp {
                agreement,
                lpi_permitted_from,
            }) => {
                for side in 0..2 {
                    let p = ports[side];
                    let partner = ports[1 - side];
                    let propagation = self.cables[cable as usize].propagation;
                    let port = &mut self.ports[p as usize];
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
                    let latency = self.latency_of(partner);
                    self.ports[p as usize].carrier.arrival += latency;
                    self.carrier_changed(p);
                }
            }
        }
    }

    fn latency_of(&self, p: u32) -> Ps {
        match self.ports[p as usize].owner {
            Owner::Nic { .. } => 0,
            Owner::Switch { switch, .. } => self.switches[switch as usize].spec.latency,
        }
    }

    /// Tell the bridge or the host that one of its physical ports came up or went down.
    fn carrier_changed(&mut self, p: u32) {
        let port = &self.ports[p as usize];
        match port.owner {
            Owner::Switch { switch, .. } => {
                let index = port.bridge_port;
                self.refresh_bridge_port(switch, index);
            }
            Owner::Nic { .. } => {
                self.nic_links.insert(port.id, port.carrier.up);
            }
        }
    }

    /// What had arrived at a switch port and was not yet forwarded.
    fn lose_what_arrived(&mut self, p: u32) {
        let peer = self.ports[p as usize].peer;
        let air = &mut self.ports[peer as usize].tx.air;
        if peer != p {
            self.tally.dropped += air.len() as u64;
            air.clear();
        }
    }
}

fn known_phy(name: &str) -> Result<&'static Phy, FabricError> {
    Phy::named(name).ok_or_else(|| FabricError::UnknownPhy(name.to_owned()))
}

/// Address of a switch port: that of the switch plus the bridge port number.
fn port_mac(base: Mac, index: usize) -> Mac {
    let [a, b, c, d, e, f] = base;
    let number = u64::from_be_bytes([0, 0, a, b, c, d, e, f]) + index as u64 + 1;
    let [_, _, mac @ ..] = number.to_be_bytes();
    mac
}
