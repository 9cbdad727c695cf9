//! The fabric as a whole.

use std::collections::BTreeMap;

use crate::*;

/// Switches, NICs and cables, and everything that happens between them.
#[derive(Debug)]
pub struct Fabric {}

#[allow(unused_variables)]
impl Fabric {
    /// An empty fabric. `frame_budget_per_s`: how many frames the switches may forward in a second (0: no limit).
    pub fn new(seed: u64, frame_budget_per_s: u64) -> Fabric {
        todo!()
    }

    /// Add a switch: powered, VLAN 1 untagged on all ports.
    pub fn add_switch(&mut self, spec: SwitchSpec) -> Result<SwitchHandle, FabricError> {
        todo!()
    }

    /// Add a host's NIC.
    pub fn add_nic(&mut self, spec: NicSpec) -> Result<PortId, FabricError> {
        todo!()
    }

    /// Plug a cable in.
    pub fn connect(
        &mut self,
        now: Ps,
        a: PortId,
        b: PortId,
        length_m: f64,
    ) -> Result<CableId, FabricError> {
        todo!()
    }

    /// A host hands a frame to its NIC. `Err` gives it back: the ring is full.
    pub fn transmit(&mut self, now: Ps, nic: PortId, frame: Frame) -> Result<(), Frame> {
        todo!()
    }

    /// Free places in a NIC's transmit ring; 0 for what is no NIC.
    pub fn ring_free(&self, nic: PortId) -> usize {
        todo!()
    }

    /// Run every event up to and including `now`; frames that reached hosts are appended to `out` in order of time.
    pub fn poll(&mut self, now: Ps, out: &mut Vec<Delivery>) {
        todo!()
    }

    /// When something happens next; `None`: nothing is scheduled.
    pub fn poll_at(&self) -> Option<Ps> {
        todo!()
    }

    /// Engine time: the latest `now` that was given.
    pub fn now(&self) -> Ps {
        todo!()
    }

    /// Cut a cable.
    pub fn cut(&mut self, now: Ps, cable: CableId) -> Result<(), FabricError> {
        todo!()
    }

    /// Mend a cable.
    pub fn mend(&mut self, now: Ps, cable: CableId) -> Result<(), FabricError> {
        todo!()
    }

    /// How long this PHY takes from signal to link; a link takes the longer of both ends.
    pub fn set_interruption(
        &mut self,
        now: Ps,
        port: PortId,
        interruption: Ps,
    ) -> Result<(), FabricError> {
        todo!()
    }

    /// Change a port's physical layer.
    pub fn set_port(
        &mut self,
        now: Ps,
        port: PortId,
        change: &PortChange,
    ) -> Result<(), FabricError> {
        todo!()
    }

    /// Change a port's true LPI policy.
    pub fn set_lpi(
        &mut self,
        now: Ps,
        port: PortId,
        change: &LpiChange,
    ) -> Result<(), FabricError> {
        todo!()
    }

    /// Change a bridge port's VLAN rules.
    pub fn set_port_vlan(
        &mut self,
        now: Ps,
        port: PortId,
        change: &PortVlanChange,
    ) -> Result<(), FabricError> {
        todo!()
    }

    /// Create or replace a VLAN; `untagged` is a subset of `members`.
    pub fn set_vlan(
        &mut self,
        now: Ps,
        switch: SwitchId,
        vid: u16,
        members: &[PortId],
        untagged: &[PortId],
    ) -> Result<(), FabricError> {
        todo!()
    }

    /// Remove a VLAN and what was learned in it.
    pub fn remove_vlan(&mut self, now: Ps, switch: SwitchId, vid: u16) -> Result<(), FabricError> {
        todo!()
    }

    /// VID → (members, untagged).
    pub fn vlans(
        &self,
        switch: SwitchId,
    ) -> Result<BTreeMap<u16, (Vec<PortId>, Vec<PortId>)>, FabricError> {
        todo!()
    }

    /// Change a bridge.
    pub fn set_bridge(
        &mut self,
        now: Ps,
        switch: SwitchId,
        change: &BridgeChange,
    ) -> Result<(), FabricError> {
        todo!()
    }

    /// What a bridge is now.
    pub fn bridge(&mut self, now: Ps, switch: SwitchId) -> Result<BridgeState, FabricError> {
        todo!()
    }

    /// Enter a static address.
    pub fn set_static(
        &mut self,
        now: Ps,
        switch: SwitchId,
        vid: u16,
        mac: Mac,
        port: PortId,
    ) -> Result<(), FabricError> {
        todo!()
    }

    /// Remove a static address.
    pub fn remove_static(
        &mut self,
        now: Ps,
        switch: SwitchId,
        vid: u16,
        mac: Mac,
    ) -> Result<(), FabricError> {
        todo!()
    }

    /// The forwarding table, ordered by VLAN and address.
    pub fn fdb(&mut self, now: Ps, switch: SwitchId) -> Result<Vec<FdbEntry>, FabricError> {
        todo!()
    }

    /// Forget learned addresses: all, of one port, of one VLAN, or of one port in one VLAN.
    pub fn flush_fdb(
        &mut self,
        now: Ps,
        switch: SwitchId,
        port: Option<PortId>,
        vid: Option<u16>,
    ) -> Result<(), FabricError> {
        todo!()
    }

    /// Replace the members of a LAG.
    pub fn set_lag(&mut self, now: Ps, lag: PortId, members: &[PortId]) -> Result<(), FabricError> {
        todo!()
    }

    /// Switch a switch on or off. Off: all its links down; forwarding table, VLANs and counters forgotten.
    pub fn set_power(&mut self, now: Ps, switch: SwitchId, on: bool) -> Result<(), FabricError> {
        todo!()
    }

    /// Spanning tree's discarding state: the port neither learns nor forwards.
    pub fn set_blocked(&mut self, now: Ps, port: PortId, blocked: bool) -> Result<(), FabricError> {
        todo!()
    }

    /// Set a port's counters to zero.
    pub fn clear_counters(&mut self, now: Ps, port: PortId) -> Result<(), FabricError> {
        todo!()
    }

    /// What a port is and does now.
    pub fn port(&mut self, now: Ps, port: PortId) -> Result<PortState, FabricError> {
        todo!()
    }

    /// A port's counters.
    pub fn counters(&mut self, now: Ps, port: PortId) -> Result<PortCounters, FabricError> {
        todo!()
    }

    /// Time in state of a port's transmit direction.
    pub fn time_in_state(&mut self, now: Ps, port: PortId) -> Result<Ledger, FabricError> {
        todo!()
    }

    /// The conservation law of the whole fabric.
    pub fn frames(&mut self, now: Ps) -> Frames {
        todo!()
    }

    /// Record the frames of a cable, or stop.
    pub fn set_tapped(&mut self, cable: CableId, on: bool) -> Result<(), FabricError> {
        todo!()
    }

    /// Move recorded frames to `out`.
    pub fn take_tapped(&mut self, out: &mut Vec<Tapped>) {
        todo!()
    }

    /// Move alarms to `out`.
    pub fn take_alarms(&mut self, out: &mut Vec<Alarm>) {
        todo!()
    }
}
