//! A switch: bridge ports, VLANs, forwarding database and buffer. It classifies frames and selects their egress ports.

use crate::bridge::fdb::Fdb;
use crate::bridge::vlan::{PortSet, Vlan, VlanTable};
use crate::buffer::SharedBuffer;
use crate::frame::{Mac, Tag, is_group};
use crate::id::PortId;
use crate::spec::{Acceptable, SwitchSpec};
use crate::time::Ps;

/// A bridge port: a physical port or a LAG.
#[derive(Debug)]
pub(crate) struct BridgePort {
    pub(crate) id: PortId,
    pub(crate) name: String,
    pub(crate) pvid: u16,
    pub(crate) acceptable: Acceptable,
    pub(crate) ingress_filtering: bool,
    pub(crate) blocked: bool,
    /// Physical ports, by index, in order: itself, or the members of a LAG. Empty while the port is a member of a LAG.
    pub(crate) members: Vec<u32>,
    /// Members whose link is up.
    pub(crate) active: Vec<u32>,
    /// Members over which flows are still spread, and until when, while the switch has not followed the loss of one.
    pub(crate) spread_before: Option<(Vec<u32>, Ps)>,
}

impl BridgePort {
    fn new(id: PortId, name: String, members: Vec<u32>) -> Self {
        Self {
            id,
            name,
            pvid: 1,
            acceptable: Acceptable::All,
            ingress_filtering: false,
            blocked: false,
            members,
            active: Vec::new(),
            spread_before: None,
        }
    }

    /// The links of some members have changed, or those are others: `rehash` later flows are spread over them. A member
    /// that comes takes its flows over then; the flows of one that is lost are lost until then.
    pub(crate) fn set_active(&mut self, now: Ps, active: Vec<u32>, rehash: Ps) {
        let before = std::mem::replace(&mut self.active, active);
        let known = self.spread_before.take().filter(|(_, until)| now < *until);
        let changed = before != self.active;
        self.spread_before = match known {
            Some(known) if !changed => Some(known),
            Some((old, _)) => Some((old, now + rehash)),
            None if changed && !before.is_empty() && rehash > 0 => Some((before, now + rehash)),
            None => None,
        };
    }

    /// The member over which a frame with that hash goes, and whether its link is up.
    pub(crate) fn member(&self, now: Ps, hash: u32) -> (u32, bool) {
        let spread = match &self.spread_before {
            Some((old, until)) if now < *until => old,
            _ => &self.active,
        };
        let port = spread[hash as usize % spread.len()];
        (port, self.active.contains(&port))
    }

    /// Restore factory settings.
    fn reset(&mut self, members: Vec<u32>) {
        *self = Self::new(self.id, std::mem::take(&mut self.name), members);
    }
}

/// A switch.
#[derive(Debug)]
pub(crate) struct Switch {
    pub(crate) spec: SwitchSpec,
    pub(crate) powered: bool,
    /// Index of its first physical port; the others follow.
    pub(crate) first_port: u32,
    /// Physical ports, then LAGs.
    pub(crate) bridge_ports: Vec<BridgePort>,
    /// Bridge ports that are up and not blocked.
    pub(crate) forwarding: PortSet,
    pub(crate) vlans: VlanTable,
    pub(crate) fdb: Fdb,
    pub(crate) buffer: SharedBuffer,
}

/// The frame is discarded at ingress.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Discarded;

impl Switch {
    pub(crate) fn new(spec: SwitchSpec, first_port: u32, first_id: PortId) -> Self {
        let physical = spec.phys.len();
        let all = physical + spec.lag_count;
        let bridge_ports = (0..all)
            .map(|index| {
                let id = PortId(first_id.0 + index as u32);
                match spec.port_names.get(index) {
                    Some(name) => {
                        BridgePort::new(id, name.clone(), vec![first_port + index as u32])
                    }
                    None => {
                        let name = format!("{} lag{}", spec.name, index - physical + 1);
                        BridgePort::new(id, name, Vec::new())
                    }
                }
            })
            .collect();
        Self {
            powered: true,
            first_port,
            bridge_ports,
            forwarding: PortSet::default(),
            vlans: VlanTable::factory(0..all as u16),
            fdb: Fdb::new(spec.fdb_size, spec.ageing, spec.shared_learning),
            buffer: SharedBuffer::new(spec.buffer_byte, physical),
            spec,
        }
    }

    /// Indices of its physical ports.
    pub(crate) fn physical(&self) -> std::ops::Range<u32> {
        self.first_port..self.first_port + self.spec.phys.len() as u32
    }

    /// Restore factory settings and clear the forwarding database.
    pub(crate) fn reset(&mut self) {
        let physical = self.physical();
        for (index, bridge_port) in self.bridge_ports.iter_mut().enumerate() {
            let own = self.first_port + index as u32;
            bridge_port.reset(if physical.contains(&own) {
                vec![own]
            } else {
                Vec::new()
            });
        }
        self.forwarding = PortSet::default();
        self.vlans = VlanTable::factory(0..self.bridge_ports.len() as u16);
        self.fdb = Fdb::new(
            self.spec.fdb_size,
            self.spec.ageing,
            self.spec.shared_learning,
        );
    }

    /// Classify a frame received at a bridge port: its VLAN and its priority bits (802.1Q clauses 6.9 and 8.6.2).
    pub(crate) fn classify(&self, port: u16, tag: Option<Tag>) -> Result<Tag, Discarded> {
        let bridge_port = &self.bridge_ports[port as usize];
        if bridge_port.blocked {
            return Err(Discarded);
        }
        let tagged = tag.is_some_and(|tag| tag.vid != 0);
        match bridge_port.acceptable {
            Acceptable::Tagged if !tagged => return Err(Discarded),
            Acceptable::Untagged if tagged => return Err(Discarded),
            _ => {}
        }
        let tag = match tag {
            Some(tag) if tagged => tag,
            Some(priority) => Tag {
                vid: bridge_port.pvid,
                ..priority
            },
            None => Tag::new(bridge_port.pvid),
        };
        let vlan = self.vlans.get(tag.vid).ok_or(Discarded)?;
        if bridge_port.ingress_filtering && !vlan.members.contains(port) {
            return Err(Discarded);
        }
        Ok(tag)
    }

    /// Learn the port of `source`.
    pub(crate) fn learn(&mut self, now: Ps, vid: u16, source: Mac, port: u16) {
        if !is_group(source) && source != [0; 6] {
            self.fdb.learn(now, vid, source, port);
        }
    }

    /// Egress ports of a frame: one if its destination is known, else all members of the VLAN. The ingress port and
    /// ports that are down, blocked or outside the VLAN are excluded.
    pub(crate) fn egress(
        &self,
        now: Ps,
        vid: u16,
        destination: Mac,
        ingress: u16,
    ) -> (PortSet, &Vlan) {
        let vlan = self.vlans.get(vid).expect("classify found the VLAN");
        let mut ports = vlan.members.and(&self.forwarding);
        if !is_group(destination) {
            if let Some(known) = self.fdb.lookup(now, vid, destination) {
                let reachable = ports.contains(known);
                ports = PortSet::default();
                ports.put(known, reachable);
            }
        }
        ports.remove(ingress);
        (ports, vlan)
    }
}
