//! Configuration of cables, ports and power.

use crate::error::FabricError;
use crate::fabric::state::Fabric;
use crate::frame::MAX_FRAME_BYTE;
use crate::id::{CableId, PortId, SwitchId};
use crate::link::{End, LinkState, PauseOffer};
use crate::port::{Owner, STANDARD_FRAME_BYTE};
use crate::spec::{LpiChange, PortChange};
use crate::time::Ps;

impl Fabric {
    /// Cut a cable. No effect on a cable that is already cut.
    ///
    /// # Errors
    /// An unknown cable.
    pub fn cut(&mut self, now: Ps, cable: CableId) -> Result<(), FabricError> {
        self.set_cut(now, cable, true)
    }

    /// Mend a cable; its link comes up after the link-up time of its ends.
    ///
    /// # Errors
    /// An unknown cable.
    pub fn mend(&mut self, now: Ps, cable: CableId) -> Result<(), FabricError> {
        self.set_cut(now, cable, false)
    }

    /// State of the link over a cable: down and why, coming up and until when, or up and what was negotiated.
    ///
    /// # Errors
    /// An unknown cable.
    pub fn link(&mut self, now: Ps, cable: CableId) -> Result<LinkState, FabricError> {
        self.pass_time(now);
        let known = self.topology.find_cable(cable)?;
        Ok(known.link.state())
    }

    /// Start or stop recording the frames of a cable in both directions.
    ///
    /// # Errors
    /// An unknown cable.
    pub fn set_tapped(&mut self, cable: CableId, on: bool) -> Result<(), FabricError> {
        let known = self.topology.find_cable(cable)?;
        for p in known.ports {
            self.topology.port_mut(p).tapped = on;
        }
        Ok(())
    }

    /// Set the link-up time of a port; a link takes the longer of both ends. Applies from the next negotiation on.
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
        let p = self
            .topology
            .physical(port, "set the link-up time of its members")?;
        let end = End {
            interruption,
            ..self.topology.port(p).end.clone()
        };
        self.set_end(now, p, end);
        Ok(())
    }

    /// Change the physical layer of a port. Any change that the partner notices (all but the MTU) interrupts the link.
    ///
    /// # Errors
    /// An unknown port, a LAG, a speed that the PHY does not support, or an MTU above 9216.
    pub fn set_port(
        &mut self,
        now: Ps,
        port: PortId,
        change: &PortChange,
    ) -> Result<(), FabricError> {
        let now = self.pass_time(now);
        let p = self.topology.physical(port, "configure its members")?;
        let before = self.topology.port(p);
        let out_of_range = |what, value: String, allowed| FabricError::OutOfRange {
            what,
            name: before.name.clone(),
            value,
            allowed,
        };
        if let Some(mtu_byte) = change.mtu_byte {
            if !(64..=MAX_FRAME_BYTE).contains(&mtu_byte) {
                return Err(out_of_range(
                    "MTU",
                    mtu_byte.to_string(),
                    "use 64 to 9216 bytes",
                ));
            }
        }
        let mut end = before.end.clone();
        if let Some(speeds_mbps) = &change.advertised_mbps {
            let can = |speed: &u32| end.phy.speeds_mbps().any(|known| known == *speed);
            if speeds_mbps.is_empty() {
                return Err(out_of_range(
                    "speed",
                    "none".to_owned(),
                    "advertise at least one speed",
                ));
            }
            if let Some(wrong) = speeds_mbps.iter().find(|speed| !can(speed)) {
                let value = format!("{wrong} Mb/s");
                return Err(out_of_range(
                    "speed",
                    value,
                    "advertise speeds that the PHY supports",
                ));
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
        let port = self.topology.port_mut(p);
        port.mtu_byte = change.mtu_byte.unwrap_or(port.mtu_byte);
        self.set_end(now, p, end);
        Ok(())
    }

    /// Change the LPI policy of a port's transmitter, used while EEE is active. Timing is merged into the timing set
    /// before; times never set come from the PHY at the present speed.
    ///
    /// # Errors
    /// An unknown port, a LAG, or a mode that neither the PHY nor the configured times provide for.
    pub fn set_lpi(
        &mut self,
        now: Ps,
        port: PortId,
        change: &LpiChange,
    ) -> Result<(), FabricError> {
        let now = self.pass_time(now);
        let p = self
            .topology
            .physical(port, "set the LPI policy of its members")?;
        let port = self.topology.port_mut(p);
        let merged = port.lpi_change.merged(change);
        let phy = port.end.phy;
        let possible = |mode| {
            phy.speeds_mbps()
                .any(|speed| merged.permits(phy, speed, mode))
        };
        if let Some(mode) = change.mode.filter(|mode| !possible(*mode)) {
            return Err(FabricError::OutOfRange {
                what: "LPI mode",
                name: port.name.clone(),
                value: format!("{mode:?}").to_lowercase(),
                allowed: "choose a mode of its PHY, or also set the wake (and sleep) time",
            });
        }
        port.lpi_change = merged;
        port.apply_lpi_policy(now);
        self.try_send(now, p);
        Ok(())
    }

    /// Power a switch on or off. Off: its links go down, its buffered frames are lost, and VLANs, forwarding database,
    /// LAGs, port settings and counters are erased. On: factory settings, VLAN 1 untagged on all ports. LPI policy and
    /// link-up time belong to the hardware and stay; so does the time in state, which counts since creation.
    ///
    /// # Errors
    /// An unknown switch.
    pub fn set_power(&mut self, now: Ps, switch: SwitchId, on: bool) -> Result<(), FabricError> {
        let now = self.pass_time(now);
        let device = self.topology.find_switch_mut(switch)?;
        if device.powered == on {
            return Ok(());
        }
        device.powered = on;
        let physical = device.physical();
        for p in physical.clone() {
            let before = &self.topology.port(p).end;
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
            let port = self.topology.port_mut(p);
            port.mtu_byte = STANDARD_FRAME_BYTE;
            port.lldp.reset();
            if let Owner::Switch { index, .. } = port.owner {
                port.bridge_port = index;
            }
            self.topology.reset_counters(now, p);
        }
        self.topology.find_switch_mut(switch)?.reset();
        Ok(())
    }

    fn set_cut(&mut self, now: Ps, cable: CableId, cut: bool) -> Result<(), FabricError> {
        let now = self.pass_time(now);
        let cabled = self.topology.find_cable_mut(cable)?;
        let change = cabled.link.set_cut(now, cut);
        self.act_on_link(now, cable.0, change);
        Ok(())
    }
}
