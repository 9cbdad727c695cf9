//! The equipment of a fabric: ports, switches, cables, and what each identifier refers to.

use crate::bridge::switch::{BridgePort, Switch};
use crate::cable::Cable;
use crate::error::FabricError;
use crate::frame::Mac;
use crate::id::{CableId, PortId, SwitchId};
use crate::phy::Phy;
use crate::port::{LpiBase, Owner, Port};
use crate::spec::{NicSpec, SwitchHandle, SwitchSpec};
use crate::time::Ps;

/// What a port id refers to.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A physical port, by index.
    Port(u32),
    /// A LAG: index of its switch, and its bridge port index there.
    Lag(u32, u16),
}

/// Ports, switches and cables, each by index.
#[derive(Debug, Default)]
pub(crate) struct Topology {
    places: Vec<Place>,
    ports: Vec<Port>,
    switches: Vec<Switch>,
    cables: Vec<Cable>,
}

impl Topology {
    pub(crate) fn port(&self, index: u32) -> &Port {
        &self.ports[index as usize]
    }

    pub(crate) fn port_mut(&mut self, index: u32) -> &mut Port {
        &mut self.ports[index as usize]
    }

    pub(crate) fn ports(&self) -> &[Port] {
        &self.ports
    }

    pub(crate) fn switch(&self, index: u32) -> &Switch {
        &self.switches[index as usize]
    }

    pub(crate) fn switch_mut(&mut self, index: u32) -> &mut Switch {
        &mut self.switches[index as usize]
    }

    /// A switch port with its switch; `None` for a NIC.
    pub(crate) fn switch_port_mut(&mut self, index: u32) -> Option<(&mut Port, &mut Switch)> {
        let port = &mut self.ports[index as usize];
        match port.owner {
            Owner::Switch { switch, .. } => Some((port, &mut self.switches[switch as usize])),
            Owner::Nic { .. } => None,
        }
    }

    pub(crate) fn bridge_port(&self, switch: u32, index: u16) -> &BridgePort {
        &self.switches[switch as usize].bridge_ports[index as usize]
    }

    pub(crate) fn bridge_port_mut(&mut self, switch: u32, index: u16) -> &mut BridgePort {
        &mut self.switches[switch as usize].bridge_ports[index as usize]
    }

    pub(crate) fn cable(&self, index: u32) -> &Cable {
        &self.cables[index as usize]
    }

    pub(crate) fn cable_mut(&mut self, index: u32) -> &mut Cable {
        &mut self.cables[index as usize]
    }

    pub(crate) fn place(&self, port: PortId) -> Result<Place, FabricError> {
        self.places
            .get(port.0 as usize)
            .copied()
            .ok_or(FabricError::UnknownPort(port))
    }

    /// Index of a physical port. `wants` is the instruction in the error for a LAG.
    pub(crate) fn physical(&self, port: PortId, wants: &'static str) -> Result<u32, FabricError> {
        match self.place(port)? {
            Place::Port(p) => Ok(p),
            Place::Lag(switch, index) => Err(FabricError::WrongKind {
                name: self.bridge_port(switch, index).name.clone(),
                is: "a LAG",
                wants,
            }),
        }
    }

    /// Index of a switch and of one of its bridge ports.
    pub(crate) fn bridge_place(&self, port: PortId) -> Result<(u32, u16), FabricError> {
        match self.place(port)? {
            Place::Lag(switch, index) => Ok((switch, index)),
            Place::Port(p) => match self.port(p).owner {
                Owner::Switch { switch, index } => Ok((switch, index)),
                Owner::Nic { .. } => Err(FabricError::WrongKind {
                    name: self.port(p).name.clone(),
                    is: "a host's NIC",
                    wants: "use a port or a LAG of a switch",
                }),
            },
        }
    }

    pub(crate) fn find_switch(&self, switch: SwitchId) -> Result<&Switch, FabricError> {
        self.switches
            .get(switch.0 as usize)
            .ok_or(FabricError::UnknownSwitch(switch))
    }

    pub(crate) fn find_switch_mut(&mut self, switch: SwitchId) -> Result<&mut Switch, FabricError> {
        self.switches
            .get_mut(switch.0 as usize)
            .ok_or(FabricError::UnknownSwitch(switch))
    }

    pub(crate) fn find_cable(&self, cable: CableId) -> Result<&Cable, FabricError> {
        self.cables
            .get(cable.0 as usize)
            .ok_or(FabricError::UnknownCable(cable))
    }

    pub(crate) fn find_cable_mut(&mut self, cable: CableId) -> Result<&mut Cable, FabricError> {
        self.cables
            .get_mut(cable.0 as usize)
            .ok_or(FabricError::UnknownCable(cable))
    }

    /// Add a switch whose spec has been checked.
    pub(crate) fn add_switch(
        &mut self,
        now: Ps,
        spec: SwitchSpec,
        phys: &[&'static Phy],
    ) -> SwitchHandle {
        let (switch, physical) = (self.switches.len() as u32, phys.len());
        let count = physical + spec.lag_count;
        let first_id = PortId(self.places.len() as u32);
        let first_port = self.ports.len() as u32;
        for (index, phy) in phys.iter().enumerate() {
            let owner = Owner::Switch {
                switch,
                index: index as u16,
            };
            let mac = port_mac(spec.base_mac, index);
            self.add_port(now, spec.port_names[index].clone(), mac, owner, phy);
        }
        self.places
            .extend((physical..count).map(|index| Place::Lag(switch, index as u16)));
        self.switches.push(Switch::new(spec, first_port, first_id));
        let id = |index: usize| PortId(first_id.0 + index as u32);
        SwitchHandle {
            switch: SwitchId(switch),
            ports: (0..physical).map(id).collect(),
            lags: (physical..count).map(id).collect(),
        }
    }

    /// Add a NIC whose spec has been checked.
    pub(crate) fn add_nic(&mut self, now: Ps, spec: NicSpec, phy: &'static Phy) -> PortId {
        let owner = Owner::Nic {
            ring_frames: spec.ring_frames,
        };
        self.add_port(now, spec.name, spec.mac, owner, phy)
    }

    fn add_port(
        &mut self,
        now: Ps,
        name: String,
        mac: Mac,
        owner: Owner,
        phy: &'static Phy,
    ) -> PortId {
        let id = PortId(self.places.len() as u32);
        let p = self.ports.len() as u32;
        self.places.push(Place::Port(p));
        self.ports
            .push(Port::new(now, id, p, name, mac, owner, phy));
        id
    }

    /// Plug a cable into its two ports; returns its index.
    pub(crate) fn add_cable(&mut self, cable: Cable) -> u32 {
        let index = self.cables.len() as u32;
        for side in 0..2 {
            let port = self.port_mut(cable.ports[side]);
            port.cable = Some((index, side));
            port.peer = cable.ports[1 - side];
        }
        self.cables.push(cable);
        index
    }

    /// Store-and-forward latency behind a port; 0 for a NIC.
    pub(crate) fn latency_of(&self, p: u32) -> Ps {
        match self.port(p).owner {
            Owner::Nic { .. } => 0,
            Owner::Switch { switch, .. } => self.switch(switch).spec.latency,
        }
    }

    /// Recompute which members of a bridge port are up and whether it forwards. Addresses learned on a bridge port
    /// that does not forward are flushed.
    pub(crate) fn refresh_bridge_port(&mut self, now: Ps, switch: u32, index: u16) {
        let bridge = &mut self.switches[switch as usize];
        let bridge_port = &mut bridge.bridge_ports[index as usize];
        let members = bridge_port.members.iter().copied();
        let active = members
            .filter(|p| self.ports[*p as usize].carrier.up)
            .collect();
        bridge_port.set_active(now, active, bridge.spec.lag_rehash);
        let forwards = !bridge_port.active.is_empty() && !bridge_port.blocked;
        bridge.forwarding.put(index, forwards);
        if !forwards {
            bridge.fdb.flush(|entry| entry.port == index);
        }
    }

    /// LPI events and time of a port and of its partner since creation.
    pub(crate) fn lpi_totals(&self, now: Ps, p: u32) -> LpiBase {
        let port = self.port(p);
        let tx = port.tx.lpi.ledger(now);
        let mut totals = LpiBase {
            tx_events: tx.lpi_events,
            tx: tx.lpi_ps(),
            ..LpiBase::default()
        };
        if port.peer != p {
            let rx = self.port(port.peer).tx.lpi.ledger(now);
            (totals.rx_events, totals.rx) = (rx.lpi_events, rx.lpi_ps());
        }
        totals
    }

    /// Set the counters of a port to zero. LPI counters are derived from the ledger: their zero point moves.
    pub(crate) fn reset_counters(&mut self, now: Ps, p: u32) {
        let base = self.lpi_totals(now, p);
        self.port_mut(p).reset_counters(base);
    }
}

/// Address of a switch port: that of the switch plus the bridge port number.
fn port_mac(base: Mac, index: usize) -> Mac {
    let [a, b, c, d, e, f] = base;
    let number = u64::from_be_bytes([0, 0, a, b, c, d, e, f]) + index as u64 + 1;
    let [_, _, mac @ ..] = number.to_be_bytes();
    mac
}
