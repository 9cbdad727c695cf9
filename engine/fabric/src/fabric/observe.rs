//! Looking at ports: state, counters, time in state.

use crate::error::FabricError;
use crate::fabric::{Fabric, Place};
use crate::ledger::{Ledger, LpiState};
use crate::lpi::Mode;
use crate::port::Port;
use crate::report::{PortCounters, PortState};
use crate::spec::Acceptable;
use crate::switch::BridgePort;
use crate::time::Ps;
use crate::{CableId, PortId};

impl Fabric {
    /// What a port is and does now.
    ///
    /// # Errors
    /// An unknown port.
    pub fn port(&mut self, now: Ps, port: PortId) -> Result<PortState, FabricError> {
        let now = self.pass_time(now);
        Ok(match self.place(port)? {
            Place::Port(p) => {
                let port = &self.ports[p as usize];
                let bridge = self.bridge_place(port.id).ok();
                let own = bridge.map(|(switch, index)| {
                    &self.switches[switch as usize].bridge_ports[index as usize]
                });
                let lag =
                    bridge
                        .filter(|(_, index)| *index != port.bridge_port)
                        .map(|(switch, _)| {
                            self.switches[switch as usize].bridge_ports[port.bridge_port as usize]
                                .id
                        });
                physical_state(now, port, own, lag)
            }
            Place::Lag(switch, index) => {
                self.lag_state(&self.switches[switch as usize].bridge_ports[index as usize])
            }
        })
    }

    /// A port's counters; of a LAG, its members' sums.
    ///
    /// # Errors
    /// An unknown port.
    pub fn counters(&mut self, now: Ps, port: PortId) -> Result<PortCounters, FabricError> {
        let now = self.pass_time(now);
        Ok(match self.place(port)? {
            Place::Port(p) => self.port_counters(now, p),
            Place::Lag(switch, index) => {
                let members = &self.switches[switch as usize].bridge_ports[index as usize].members;
                members
                    .iter()
                    .map(|p| self.port_counters(now, *p))
                    .fold(PortCounters::default(), |sum, next| sum.plus(&next))
            }
        })
    }

    /// Set a port's counters to zero; of a LAG, its members'.
    ///
    /// # Errors
    /// An unknown port.
    pub fn clear_counters(&mut self, now: Ps, port: PortId) -> Result<(), FabricError> {
        let now = self.pass_time(now);
        let ports = match self.place(port)? {
            Place::Port(p) => vec![p],
            Place::Lag(switch, index) => self.switches[switch as usize].bridge_ports
                [index as usize]
                .members
                .clone(),
        };
        for p in ports {
            self.reset_counters(now, p);
        }
        Ok(())
    }

    /// Time in state of a port's transmit direction since creation.
    ///
    /// # Errors
    /// An unknown port, or a LAG.
    pub fn time_in_state(&mut self, now: Ps, port: PortId) -> Result<Ledger, FabricError> {
        let now = self.pass_time(now);
        let p = self.physical(port, "time in state belongs to its members")?;
        Ok(self.ports[p as usize].tx.lpi.ledger(now))
    }

    fn port_counters(&self, now: Ps, p: u32) -> PortCounters {
        let totals = self.lpi_totals(now, p);
        let port = &self.ports[p as usize];
        let base = port.lpi_base;
        PortCounters {
            tx_lpi_events: totals.tx_events - base.tx_events,
            tx_lpi: totals.tx - base.tx,
            rx_lpi_events: totals.rx_events.saturating_sub(base.rx_events),
            rx_lpi: totals.rx.saturating_sub(base.rx),
            ..port.counters
        }
    }

    fn lag_state(&self, lag: &BridgePort) -> PortState {
        let members = || lag.members.iter().map(|p| &self.ports[*p as usize]);
        let active = || lag.active.iter().map(|p| &self.ports[*p as usize]);
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
