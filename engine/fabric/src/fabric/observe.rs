//! Observation of ports: state, counters, time in state.

use crate::bridge::switch::BridgePort;
use crate::error::FabricError;
use crate::fabric::state::Fabric;
use crate::fabric::topology::{Place, Topology};
use crate::id::{CableId, PortId};
use crate::ledger::{Ledger, LpiState};
use crate::lpi::Mode;
use crate::port::Port;
use crate::report::{PortCounters, PortState};
use crate::spec::Acceptable;

use crate::time::Ps;

impl Fabric {
    /// State of a port.
    ///
    /// # Errors
    /// An unknown port.
    pub fn port(&mut self, now: Ps, port: PortId) -> Result<PortState, FabricError> {
        let now = self.pass_time(now);
        Ok(match self.topology.place(port)? {
            Place::Port(p) => {
                let port = self.topology.port(p);
                let bridge = self.topology.bridge_place(port.id).ok();
                let own = bridge.map(|(switch, index)| self.topology.bridge_port(switch, index));
                let lag = bridge
                    .filter(|(_, index)| *index != port.bridge_port)
                    .map(|(switch, _)| self.topology.bridge_port(switch, port.bridge_port).id);
                physical_state(now, port, own, lag)
            }
            Place::Lag(switch, index) => {
                lag_state(&self.topology, self.topology.bridge_port(switch, index))
            }
        })
    }

    /// Counters of a port; of a LAG the sums of its members.
    ///
    /// # Errors
    /// An unknown port.
    pub fn counters(&mut self, now: Ps, port: PortId) -> Result<PortCounters, FabricError> {
        let now = self.pass_time(now);
        Ok(match self.topology.place(port)? {
            Place::Port(p) => port_counters(&self.topology, now, p),
            Place::Lag(switch, index) => {
                let members = &self.topology.bridge_port(switch, index).members;
                members
                    .iter()
                    .map(|p| port_counters(&self.topology, now, *p))
                    .fold(PortCounters::default(), |sum, next| sum.plus(&next))
            }
        })
    }

    /// Set the counters of a port to zero; of a LAG those of its members.
    ///
    /// # Errors
    /// An unknown port.
    pub fn clear_counters(&mut self, now: Ps, port: PortId) -> Result<(), FabricError> {
        let now = self.pass_time(now);
        let ports = match self.topology.place(port)? {
            Place::Port(p) => vec![p],
            Place::Lag(switch, index) => self.topology.bridge_port(switch, index).members.clone(),
        };
        for p in ports {
            self.topology.reset_counters(now, p);
        }
        Ok(())
    }

    /// Time in state of a port's transmit direction since creation.
    ///
    /// # Errors
    /// An unknown port, or a LAG.
    pub fn time_in_state(&mut self, now: Ps, port: PortId) -> Result<Ledger, FabricError> {
        let now = self.pass_time(now);
        let p = self
            .topology
            .physical(port, "read the time in state of its members")?;
        Ok(self.topology.port(p).tx.lpi.ledger(now))
    }
}

fn physical_state(
    now: Ps,
    port: &Port,
    own: Option<&BridgePort>,
    lag: Option<PortId>,
) -> PortState {
    let carrier = &port.carrier;
    let speed_mbps = if carrier.up { carrier.speed_mbps } else { 0 };
    let eee_speed_mbps = if carrier.up {
        speed_mbps
    } else {
        port.end.phy.speed_mbps()
    };
    PortState {
        name: port.name.clone(),
        admin_up: port.end.admin_up,
        oper_up: carrier.up,
        cable: port.cable.map(|(cable, _)| CableId(cable)),
        speed_mbps,
        advertised_mbps: port.end.advertised_mbps.clone(),
        autoneg: port.end.autoneg,
        flow_control_rx: carrier.up && carrier.pause.receives,
        flow_control_tx: carrier.up && carrier.pause.sends,
        flow_control_admin: port.end.pause.symmetric,
        eee_admin: port.end.eee,
        eee_supported: port.end.phy.eee_at(eee_speed_mbps).is_some(),
        eee_active: carrier.up && carrier.eee,
        lpi_mode: port.tx.lpi.mode(),
        lpi_now: port.tx.lpi.state(now),
        pvid: own.map_or(0, |own| own.pvid),
        acceptable: own.map_or(Acceptable::All, |own| own.acceptable),
        ingress_filtering: own.is_some_and(|own| own.ingress_filtering),
        blocked: own.is_some_and(|own| own.blocked),
        lag,
        mtu_byte: port.mtu_byte,
        since: port.since,
        flaps: port.flaps,
        queue_byte: port.tx.queue_byte,
    }
}

fn port_counters(topology: &Topology, now: Ps, p: u32) -> PortCounters {
    let totals = topology.lpi_totals(now, p);
    let port = topology.port(p);
    let base = port.lpi_base;
    PortCounters {
        tx_lpi_events: totals.tx_events - base.tx_events,
        tx_lpi: totals.tx - base.tx,
        rx_lpi_events: totals.rx_events.saturating_sub(base.rx_events),
        rx_lpi: totals.rx.saturating_sub(base.rx),
        ..port.counters
    }
}

fn lag_state(topology: &Topology, lag: &BridgePort) -> PortState {
    let members = || lag.members.iter().map(|p| topology.port(*p));
    let active = || lag.active.iter().map(|p| topology.port(*p));
    PortState {
        name: lag.name.clone(),
        admin_up: true,
        oper_up: !lag.active.is_empty(),
        cable: None,
        speed_mbps: active().map(|port| port.carrier.speed_mbps).sum(),
        advertised_mbps: Vec::new(),
        autoneg: true,
        flow_control_rx: active().any(|port| port.carrier.pause.receives),
        flow_control_tx: active().any(|port| port.carrier.pause.sends),
        flow_control_admin: false,
        eee_admin: false,
        eee_supported: false,
        eee_active: false,
        lpi_mode: Mode::Off,
        lpi_now: LpiState::Off,
        pvid: lag.pvid,
        acceptable: lag.acceptable,
        ingress_filtering: lag.ingress_filtering,
        blocked: lag.blocked,
        lag: None,
        mtu_byte: members().map(|port| port.mtu_byte).min().unwrap_or(0),
        since: members().map(|port| port.since).max().unwrap_or(0),
        flaps: members().map(|port| port.flaps).sum(),
        queue_byte: members().map(|port| port.tx.queue_byte).sum(),
    }
}
