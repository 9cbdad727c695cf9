//! A copy of the state of one switch, from which its MIB groups are served.

use std::collections::BTreeMap;

use fabric::{
    BridgeState, Fabric, FabricError, FdbEntry, Heard, LldpSetting, PortCounters, PortId,
    PortState, Ps, SwitchId,
};

/// Numbers of a port in the MIBs.
#[derive(Clone, Debug)]
pub struct PortPlace {
    /// The engine's port.
    pub id: PortId,
    /// ifIndex.
    pub if_index: u32,
    /// dot1dBasePort; `None` for a port outside the bridge.
    pub bridge_port: Option<u32>,
    /// A link aggregation group, which has no MAC or PHY of its own.
    pub is_lag: bool,
    /// The fastest speed of the PHY; 0 if unknown.
    pub best_mbps: u32,
}

/// One port at one moment.
#[derive(Clone, Debug)]
pub struct PortCopy {
    /// Its numbers.
    pub place: PortPlace,
    /// State.
    pub state: PortState,
    /// Counters.
    pub counters: PortCounters,
    /// MAC address: that of the bridge plus the bridge port, as in its PAUSE frames.
    pub mac: [u8; 6],
    /// sysUpTime of its last change, in hundredths of a second.
    pub changed_ticks: u32,
    /// sysUpTime at which its counters were last reset.
    pub discontinuity_ticks: u32,
}

/// The LLDP agent of one port at one moment.
#[derive(Clone, Debug)]
pub struct LldpCopy {
    /// ifIndex, which is its port number for LLDP too.
    pub if_index: u32,
    /// Its setting.
    pub setting: LldpSetting,
    /// Its neighbours, each with the sysUpTime of its last change.
    pub heard: Vec<(Heard, u32)>,
}

/// One switch at one moment.
#[derive(Clone, Debug)]
pub struct SwitchCopy {
    /// Ports in the order of ifIndex.
    pub ports: Vec<PortCopy>,
    /// VID → (members, untagged).
    pub vlans: BTreeMap<u16, (Vec<PortId>, Vec<PortId>)>,
    /// The forwarding database, ordered by VLAN and address.
    pub fdb: Vec<FdbEntry>,
    /// The LLDP agents of the ports that have one.
    pub lldp: Vec<LldpCopy>,
    /// The bridge.
    pub bridge: BridgeState,
    bridge_ports: BTreeMap<PortId, u32>,
    port_list_byte: usize,
}

impl SwitchCopy {
    /// The bridge port of an engine port.
    #[must_use]
    pub fn bridge_port(&self, port: PortId) -> Option<u32> {
        self.bridge_ports.get(&port).copied()
    }

    /// A PortList (RFC 4363): bridge port 1 is the most significant bit of the first octet.
    #[must_use]
    pub fn port_list(&self, ports: &[PortId]) -> Vec<u8> {
        let mut octets = vec![0; self.port_list_byte];
        for number in ports.iter().filter_map(|&port| self.bridge_port(port)) {
            let bit = number as usize - 1;
            octets[bit / 8] |= 0x80 >> (bit % 8);
        }
        octets
    }

    /// The filtering database id of a VLAN: its own, or 1 under shared learning.
    #[must_use]
    pub fn fdb_id(&self, vid: u16) -> u32 {
        if self.bridge.shared_learning {
            1
        } else {
            u32::from(vid)
        }
    }

    /// The forwarding database by filtering database id and address, each pair once.
    #[must_use]
    pub fn fdb_rows(&self) -> BTreeMap<(u32, [u8; 6]), &FdbEntry> {
        let mut rows = BTreeMap::new();
        for entry in &self.fdb {
            let row = rows
                .entry((self.fdb_id(entry.vid), entry.mac))
                .or_insert(entry);
            if entry.is_static && !row.is_static {
                *row = entry;
            }
        }
        rows
    }
}

/// State kept between copies to detect a reset of the counters.
#[derive(Copy, Clone, Debug, Default)]
struct LastCounters {
    total: u64,
    reset_ticks: u32,
}

/// Keeps a copy of a switch and renews it.
///
/// The copy is renewed in two parts, so that the lock of the fabric is held for tens of microseconds at most: ports
/// with their counters, and the tables of the bridge, whose size grows with hosts times VLANs.
#[derive(Debug)]
pub struct SwitchCopier {
    switch: SwitchId,
    places: Vec<PortPlace>,
    last_counters: Vec<LastCounters>,
    time_marks: BTreeMap<(PortId, u32, Ps), u32>,
    copy: SwitchCopy,
}

impl SwitchCopier {
    /// A copier for a switch and its ports, in the order of ifIndex.
    ///
    /// # Errors
    /// The fabric does not have the switch or one of the ports.
    pub fn new(
        switch: SwitchId,
        places: Vec<PortPlace>,
        fabric: &mut Fabric,
        now: Ps,
    ) -> Result<Self, FabricError> {
        let numbers = places
            .iter()
            .filter_map(|place| Some((place.id, place.bridge_port?)));
        let bridge_ports: BTreeMap<PortId, u32> = numbers.collect();
        let highest = bridge_ports.values().max().copied().unwrap_or(0) as usize;
        let copy = SwitchCopy {
            ports: Vec::with_capacity(places.len()),
            vlans: BTreeMap::new(),
            fdb: Vec::new(),
            lldp: Vec::new(),
            bridge: fabric.bridge(now, switch)?,
            bridge_ports,
            port_list_byte: highest.div_ceil(8),
        };
        let last_counters = vec![LastCounters::default(); places.len()];
        let mut copier = Self {
            switch,
            places,
            last_counters,
            time_marks: BTreeMap::new(),
            copy,
        };
        copier.renew_ports(fabric, now, 0)?;
        Ok(copier)
    }

    /// The copy as last renewed.
    pub fn copy(&self) -> &SwitchCopy {
        &self.copy
    }

    /// The device has booted: its counters and sysUpTime start at zero.
    pub fn booted(&mut self) {
        self.last_counters.fill(LastCounters::default());
        self.time_marks.clear();
    }

    /// Copy ports and counters. `up` is sysUpTime at `now`.
    ///
    /// # Errors
    /// None after [`SwitchCopier::new`] succeeded: a fabric keeps its ports and switches.
    pub fn renew_ports(&mut self, fabric: &mut Fabric, now: Ps, up: Ps) -> Result<(), FabricError> {
        self.copy.bridge = fabric.bridge(now, self.switch)?;
        self.copy.ports.clear();
        for (place, last_counters) in self.places.iter().zip(&mut self.last_counters) {
            let state = fabric.port(now, place.id)?;
            let counters = fabric.counters(now, place.id)?;
            let total = counters.in_octets.wrapping_add(counters.out_octets);
            if total < last_counters.total {
                last_counters.reset_ticks = ticks(up);
            }
            last_counters.total = total;
            self.copy.ports.push(PortCopy {
                mac: add(self.copy.bridge.base_mac, place.bridge_port.unwrap_or(0)),
                changed_ticks: ticks(up.saturating_sub(now.saturating_sub(state.since))),
                discontinuity_ticks: last_counters.reset_ticks,
                place: place.clone(),
                state,
                counters,
            });
        }
        Ok(())
    }

    /// Copy VLANs, the forwarding table, and what the ports hear by LLDP. `up` is sysUpTime at `now`.
    ///
    /// # Errors
    /// As [`SwitchCopier::renew_ports`].
    pub fn renew_tables(
        &mut self,
        fabric: &mut Fabric,
        now: Ps,
        up: Ps,
    ) -> Result<(), FabricError> {
        self.copy.vlans = fabric.vlans(self.switch)?;
        self.copy.fdb = fabric.fdb(now, self.switch)?;
        self.copy.lldp.clear();
        let before = std::mem::take(&mut self.time_marks);
        for place in self.places.iter().filter(|place| !place.is_lag) {
            let Some(setting) = fabric.lldp_setting(place.id)? else {
                continue;
            };
            let mut port = LldpCopy {
                if_index: place.if_index,
                setting,
                heard: Vec::new(),
            };
            for heard in fabric.lldp_heard(now, place.id)? {
                // Part of an index: two clocks are read, so computed anew it would not be the same each time.
                let key = (place.id, heard.index, heard.since);
                let mark = before
                    .get(&key)
                    .copied()
                    .unwrap_or_else(|| ticks(up.saturating_sub(now.saturating_sub(heard.since))));
                self.time_marks.insert(key, mark);
                port.heard.push((heard, mark));
            }
            self.copy.lldp.push(port);
        }
        Ok(())
    }
}

/// TimeTicks of a span of engine time.
fn ticks(span: Ps) -> u32 {
    const PS_PER_TICK: Ps = fabric::time::PS_PER_S / 100;
    u32::try_from(span / PS_PER_TICK).unwrap_or(u32::MAX)
}

fn add(mac: [u8; 6], number: u32) -> [u8; 6] {
    let mut octets = [0; 8];
    octets[2..].copy_from_slice(&mac);
    let sum = u64::from_be_bytes(octets)
        .wrapping_add(u64::from(number))
        .to_be_bytes();
    [sum[2], sum[3], sum[4], sum[5], sum[6], sum[7]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabric::SwitchSpec;

    fn switch(ports: usize, shared_learning: bool) -> (Fabric, SwitchCopier) {
        let mut fabric = Fabric::new(1, 0);
        let handle = fabric
            .add_switch(SwitchSpec {
                shared_learning,
                ..SwitchSpec::new("sw", "1000BASE-T", ports)
            })
            .expect("a switch");
        let place = |(at, &id): (usize, &PortId)| PortPlace {
            id,
            if_index: at as u32 + 1,
            bridge_port: Some(at as u32 + 1),
            is_lag: false,
            best_mbps: 1000,
        };
        let places = handle.ports.iter().enumerate().map(place).collect();
        let copier = SwitchCopier::new(handle.switch, places, &mut fabric, 0);
        (fabric, copier.expect("a switch with these ports"))
    }

    #[test]
    fn port_lists_begin_with_the_most_significant_bit() {
        let (_, copier) = switch(17, false);
        let ids: Vec<PortId> = [0, 7, 8, 16].map(|at: usize| copier.places[at].id).to_vec();
        assert_eq!(
            copier.copy.port_list(&ids),
            [0b1000_0001, 0b1000_0000, 0b1000_0000]
        );
    }

    #[test]
    fn a_static_address_hides_a_learned_one_of_the_same_database() {
        for (shared, rows) in [(false, 2), (true, 1)] {
            let (_, mut copier) = switch(4, shared);
            let entry = |vid, port: usize, is_static| FdbEntry {
                vid,
                mac: [2, 0, 0, 0, 0, 1],
                port: copier.places[port].id,
                is_static,
                age: 0,
            };
            copier.copy.fdb = vec![entry(1, 0, false), entry(2, 3, true)];
            let found = copier.copy.fdb_rows();
            assert_eq!(found.len(), rows);
            assert!(found.values().next_back().expect("a row").is_static);
        }
    }

    #[test]
    fn a_port_that_nobody_has_is_refused() {
        let (mut fabric, copier) = switch(2, false);
        let mut places = copier.places.clone();
        places[0].id = PortId(99);
        assert!(SwitchCopier::new(copier.switch, places, &mut fabric, 0).is_err());
    }
}
