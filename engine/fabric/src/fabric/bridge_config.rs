//! Configuration of bridges: VLANs, port VLAN rules, forwarding databases, LAGs, spanning-tree port states.

use std::collections::BTreeMap;

use crate::bridge::switch::Switch;
use crate::bridge::vlan::{MAX_VID, PortSet, Vlan};
use crate::error::FabricError;
use crate::fabric::state::Fabric;
use crate::fabric::topology::Place;
use crate::frame::{Mac, is_group, mac_text};
use crate::id::{PortId, SwitchId};
use crate::port::Owner;
use crate::report::{BridgeState, FdbEntry, VlanPorts};
use crate::spec::{BridgeChange, PortVlanChange};
use crate::time::Ps;

const VID_RANGE: &str = "use 1 to 4094";

impl Fabric {
    /// Change the VLAN rules of a bridge port. The PVID may name a VLAN that is created later; until then untagged
    /// frames are discarded.
    ///
    /// # Errors
    /// An unknown port, a NIC, or a PVID outside 1..=4094.
    pub fn set_port_vlan(
        &mut self,
        now: Ps,
        port: PortId,
        change: &PortVlanChange,
    ) -> Result<(), FabricError> {
        self.pass_time(now);
        let (switch, index) = self.topology.bridge_place(port)?;
        let bridge_port = self.topology.bridge_port_mut(switch, index);
        if let Some(pvid) = change.pvid {
            check_vid(&bridge_port.name, "PVID", pvid)?;
            bridge_port.pvid = pvid;
        }
        if let Some(acceptable) = change.acceptable {
            bridge_port.acceptable = acceptable;
        }
        if let Some(on) = change.ingress_filtering {
            bridge_port.ingress_filtering = on;
        }
        Ok(())
    }

    /// Create or replace a VLAN; `untagged` is a subset of `members`. Addresses learned in it on ports that are no
    /// longer members are flushed.
    ///
    /// # Errors
    /// An unknown switch, a VID outside 1..=4094, ports of another switch, or an untagged port that is not a member.
    pub fn set_vlan(
        &mut self,
        now: Ps,
        switch: SwitchId,
        vid: u16,
        members: &[PortId],
        untagged: &[PortId],
    ) -> Result<(), FabricError> {
        self.pass_time(now);
        let name = self.topology.find_switch(switch)?.spec.name.clone();
        check_vid(&name, "VLAN id", vid)?;
        let vlan = Vlan {
            members: self.port_set(switch, members)?,
            untagged: self.port_set(switch, untagged)?,
        };
        if vlan.members.and(&vlan.untagged) != vlan.untagged {
            return Err(FabricError::OutOfRange {
                what: "untagged ports",
                name,
                value: format!("not all are members of VLAN {vid}"),
                allowed: "make each untagged port a member",
            });
        }
        let bridge = self.topology.find_switch_mut(switch)?;
        if let Some(before) = bridge.vlans.get(vid) {
            let left = PortSet::from_iter(
                before
                    .members
                    .iter()
                    .filter(|index| !vlan.members.contains(*index)),
            );
            bridge
                .fdb
                .flush(|entry| entry.vid == vid && left.contains(entry.port));
        }
        bridge.vlans.set(vid, vlan);
        Ok(())
    }

    /// Remove a VLAN with its learned and static addresses.
    ///
    /// # Errors
    /// An unknown switch or VLAN.
    pub fn remove_vlan(&mut self, now: Ps, switch: SwitchId, vid: u16) -> Result<(), FabricError> {
        self.pass_time(now);
        let bridge = self.topology.find_switch_mut(switch)?;
        if !bridge.vlans.remove(vid) {
            return Err(unknown_vlan(bridge, vid));
        }
        bridge.fdb.erase(|entry| entry.vid == vid);
        Ok(())
    }

    /// VID → (members, untagged), each in order of ports.
    ///
    /// # Errors
    /// An unknown switch.
    pub fn vlans(&self, switch: SwitchId) -> Result<BTreeMap<u16, VlanPorts>, FabricError> {
        let bridge = self.topology.find_switch(switch)?;
        let ids = |set: &PortSet| {
            set.iter()
                .map(|index| bridge.bridge_ports[index as usize].id)
                .collect::<Vec<_>>()
        };
        Ok(bridge
            .vlans
            .iter()
            .map(|(vid, vlan)| (vid, (ids(&vlan.members), ids(&vlan.untagged))))
            .collect())
    }

    /// Change a bridge. A change between shared and independent learning flushes the learned entries.
    ///
    /// # Errors
    /// An unknown switch.
    pub fn set_bridge(
        &mut self,
        now: Ps,
        switch: SwitchId,
        change: &BridgeChange,
    ) -> Result<(), FabricError> {
        self.pass_time(now);
        let bridge = self.topology.find_switch_mut(switch)?;
        if let Some(ageing) = change.ageing {
            bridge.fdb.set_ageing(ageing);
        }
        if let Some(shared) = change.shared_learning {
            bridge.fdb.set_shared(shared);
        }
        Ok(())
    }

    /// State of a bridge.
    ///
    /// # Errors
    /// An unknown switch.
    pub fn bridge(&mut self, now: Ps, switch: SwitchId) -> Result<BridgeState, FabricError> {
        self.pass_time(now);
        let bridge = self.topology.find_switch_mut(switch)?;
        Ok(BridgeState {
            name: bridge.spec.name.clone(),
            base_mac: bridge.spec.base_mac,
            powered: bridge.powered,
            ageing: bridge.fdb.ageing(),
            shared_learning: bridge.fdb.is_shared(),
            fdb_size: bridge.fdb.size(),
            fdb_discards: bridge.fdb.discards(),
            buffered_byte: bridge.buffer.used_byte(),
        })
    }

    /// Add a static FDB entry: frames to the address in that VLAN go to that port, whatever was learned, and nowhere
    /// while the port is down. It survives link-down and flushing. Under shared learning it holds in all VLANs.
    ///
    /// # Errors
    /// An unknown switch, VLAN or port, a group address, or a table full of static entries.
    pub fn set_static(
        &mut self,
        now: Ps,
        switch: SwitchId,
        vid: u16,
        mac: Mac,
        port: PortId,
    ) -> Result<(), FabricError> {
        let now = self.pass_time(now);
        let set = self.port_set(switch, &[port])?;
        let bridge = self.topology.find_switch_mut(switch)?;
        if bridge.vlans.get(vid).is_none() {
            return Err(unknown_vlan(bridge, vid));
        }
        if is_group(mac) {
            return Err(FabricError::OutOfRange {
                what: "static address",
                name: bridge.spec.name.clone(),
                value: mac_text(mac),
                allowed: "use a unicast address",
            });
        }
        let entered = set
            .iter()
            .all(|index| bridge.fdb.set_static(now, vid, mac, index));
        if !entered {
            let (switch, size) = (bridge.spec.name.clone(), bridge.fdb.size());
            return Err(FabricError::TableFull { switch, size });
        }
        Ok(())
    }

    /// Remove a static FDB entry.
    ///
    /// # Errors
    /// An unknown switch or static entry.
    pub fn remove_static(
        &mut self,
        now: Ps,
        switch: SwitchId,
        vid: u16,
        mac: Mac,
    ) -> Result<(), FabricError> {
        self.pass_time(now);
        let bridge = self.topology.find_switch_mut(switch)?;
        if bridge.fdb.remove_static(vid, mac) {
            return Ok(());
        }
        let (switch, mac) = (bridge.spec.name.clone(), mac_text(mac));
        Err(FabricError::UnknownEntry { switch, vid, mac })
    }

    /// The forwarding database, ordered by VLAN and address, without expired entries.
    ///
    /// # Errors
    /// An unknown switch.
    pub fn fdb(&mut self, now: Ps, switch: SwitchId) -> Result<Vec<FdbEntry>, FabricError> {
        let now = self.pass_time(now);
        let bridge = self.topology.find_switch_mut(switch)?;
        Ok(bridge
            .fdb
            .list(now)
            .into_iter()
            .map(|(mac, entry)| FdbEntry {
                vid: entry.vid,
                mac,
                port: bridge.bridge_ports[entry.port as usize].id,
                is_static: entry.is_static,
                age: if entry.is_static { 0 } else { now - entry.seen },
            })
            .collect())
    }

    /// Flush learned addresses: all, of one port, of one VLAN, or of one port in one VLAN.
    ///
    /// # Errors
    /// An unknown switch, or a port of another one.
    pub fn flush_fdb(
        &mut self,
        now: Ps,
        switch: SwitchId,
        port: Option<PortId>,
        vid: Option<u16>,
    ) -> Result<(), FabricError> {
        self.pass_time(now);
        let ports = port
            .map(|port| self.port_set(switch, &[port]))
            .transpose()?;
        self.topology.find_switch_mut(switch)?.fdb.flush(|entry| {
            ports.is_none_or(|ports| ports.contains(entry.port))
                && vid.is_none_or(|vid| vid == entry.vid)
        });
        Ok(())
    }

    /// Replace the members of a LAG. A member has no VLANs of its own while it is in the LAG. Addresses learned on the
    /// LAG and on ports that join are flushed.
    ///
    /// Simplification: members of different speeds share the load equally. Real switches refuse or suspend the slower
    /// ones; the queue of the slow member shows the difference.
    ///
    /// # Errors
    /// Not a LAG, ports of another switch, or a member of another LAG.
    pub fn set_lag(&mut self, now: Ps, lag: PortId, members: &[PortId]) -> Result<(), FabricError> {
        let now = self.pass_time(now);
        let Place::Lag(switch, lag_index) = self.topology.place(lag)? else {
            let (switch, index) = self.topology.bridge_place(lag)?;
            return Err(FabricError::WrongKind {
                name: self.topology.bridge_port(switch, index).name.clone(),
                is: "a physical port",
                wants: "set the members of a LAG",
            });
        };
        self.port_set(SwitchId(switch), members)?;
        let mut new = Vec::with_capacity(members.len());
        for member in members {
            let p = self
                .topology
                .physical(*member, "use physical ports as members")?;
            let port = self.topology.port(p);
            let Owner::Switch { index, .. } = port.owner else {
                continue;
            };
            if port.bridge_port != index && port.bridge_port != lag_index {
                return Err(FabricError::WrongKind {
                    name: port.name.clone(),
                    is: "in another LAG",
                    wants: "remove it from that LAG first",
                });
            }
            new.push((p, index));
        }
        new.sort_unstable();
        new.dedup();
        let bridge = self.topology.switch_mut(switch);
        let first_port = bridge.first_port;
        let old = std::mem::take(&mut bridge.bridge_ports[lag_index as usize].members);
        for p in old {
            let index = (p - first_port) as u16;
            self.topology.port_mut(p).bridge_port = index;
            self.topology.bridge_port_mut(switch, index).members = vec![p];
            self.topology.refresh_bridge_port(now, switch, index);
        }
        for (p, index) in &new {
            self.topology.port_mut(*p).bridge_port = lag_index;
            self.topology
                .bridge_port_mut(switch, *index)
                .members
                .clear();
            self.topology.refresh_bridge_port(now, switch, *index);
        }
        let bridge = self.topology.switch_mut(switch);
        bridge.bridge_ports[lag_index as usize].members = new.iter().map(|(p, _)| *p).collect();
        bridge.fdb.flush(|entry| entry.port == lag_index);
        self.topology.refresh_bridge_port(now, switch, lag_index);
        Ok(())
    }

    /// Set or clear the discarding state of spanning tree: the port neither learns nor forwards. Addresses learned
    /// there are flushed when the state begins.
    ///
    /// # Errors
    /// An unknown port, or a NIC.
    pub fn set_blocked(&mut self, now: Ps, port: PortId, blocked: bool) -> Result<(), FabricError> {
        let now = self.pass_time(now);
        let (switch, index) = self.topology.bridge_place(port)?;
        self.topology.bridge_port_mut(switch, index).blocked = blocked;
        self.topology.refresh_bridge_port(now, switch, index);
        Ok(())
    }

    fn port_set(&self, switch: SwitchId, ports: &[PortId]) -> Result<PortSet, FabricError> {
        let name = self.topology.find_switch(switch)?.spec.name.clone();
        ports
            .iter()
            .map(|port| match self.topology.bridge_place(*port)? {
                (owner, index) if owner == switch.0 => Ok(index),
                (owner, index) => Err(FabricError::Foreign {
                    port: self.topology.bridge_port(owner, index).name.clone(),
                    switch: name.clone(),
                }),
            })
            .collect()
    }
}

fn check_vid(name: &str, what: &'static str, vid: u16) -> Result<(), FabricError> {
    if (1..=MAX_VID).contains(&vid) {
        return Ok(());
    }
    Err(FabricError::OutOfRange {
        what,
        name: name.to_owned(),
        value: vid.to_string(),
        allowed: VID_RANGE,
    })
}

fn unknown_vlan(bridge: &Switch, vid: u16) -> FabricError {
    FabricError::UnknownVlan {
        switch: bridge.spec.name.clone(),
        vid,
    }
}
