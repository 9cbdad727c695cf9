//! Adding switches, NICs and cables.

use crate::bridge::vlan::MAX_BRIDGE_PORTS;
use crate::cable::Cable;
use crate::error::FabricError;
use crate::fabric::state::Fabric;
use crate::id::{CableId, PortId};
use crate::link::Link;
use crate::phy::Phy;
use crate::spec::{NicSpec, SwitchHandle, SwitchSpec};
use crate::time::Ps;

/// Longest reach of any Ethernet PHY.
const MAX_LENGTH_M: f64 = 100_000.0;

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
                "number of port names",
                value,
                "give one name per PHY",
            ));
        }
        let count = spec.phys.len() + spec.lag_count;
        if spec.phys.is_empty() || count > MAX_BRIDGE_PORTS {
            let allowed = "use 1 to 256 ports and LAGs, among them at least one port";
            return Err(out_of_range("number of ports", count.to_string(), allowed));
        }
        let phys = spec
            .phys
            .iter()
            .map(|name| known_phy(name))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(self.topology.add_switch(self.now(), spec, &phys))
    }

    /// Add the NIC of a host. It takes and sends frames of up to 9216 bytes; the MTU of the host is the effective
    /// limit.
    ///
    /// # Errors
    /// An unknown PHY, or a ring of 0 frames.
    pub fn add_nic(&mut self, spec: NicSpec) -> Result<PortId, FabricError> {
        if spec.ring_frames == 0 {
            return Err(FabricError::OutOfRange {
                what: "ring size",
                name: spec.name,
                value: "0".to_owned(),
                allowed: "use at least one frame",
            });
        }
        let phy = known_phy(&spec.phy)?;
        Ok(self.topology.add_nic(self.now(), spec, phy))
    }

    /// Connect two ports with a cable; the link comes up if both ends allow it.
    ///
    /// # Errors
    /// An unknown port, a LAG or a port with a cable; twice the same port; an invalid length.
    pub fn connect(
        &mut self,
        now: Ps,
        a: PortId,
        b: PortId,
        length_m: f64,
    ) -> Result<CableId, FabricError> {
        let now = self.pass_time(now);
        let wants = "connect cables to physical ports";
        let ports = [
            self.topology.physical(a, wants)?,
            self.topology.physical(b, wants)?,
        ];
        if a == b {
            return Err(FabricError::SamePort(
                self.topology.port(ports[0]).name.clone(),
            ));
        }
        if let Some(taken) = ports
            .iter()
            .find(|p| self.topology.port(**p).cable.is_some())
        {
            return Err(FabricError::Occupied(
                self.topology.port(*taken).name.clone(),
            ));
        }
        if !(0.0..=MAX_LENGTH_M).contains(&length_m) {
            return Err(FabricError::OutOfRange {
                what: "cable length",
                name: self.topology.port(ports[0]).name.clone(),
                value: format!("{length_m} m"),
                allowed: "use 0 to 100000 m",
            });
        }
        let ends = ports.map(|p| self.topology.port(p).end.clone());
        let cable = Cable::new(Link::new(now, ends), ports, length_m);
        let cable = self.topology.add_cable(cable);
        self.act_on_link(now, cable, None);
        Ok(CableId(cable))
    }
}

fn known_phy(name: &str) -> Result<&'static Phy, FabricError> {
    Phy::named(name).ok_or_else(|| FabricError::UnknownPhy(name.to_owned()))
}
