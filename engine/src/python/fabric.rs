//! Methods that live and virtual engines share: topology, configuration, observation.

use std::collections::BTreeSet;
use std::sync::Arc;

use fabric::{
    BridgeChange, CableId, Fabric, FabricError, LldpSetting, LpiChange, NicSpec, PortChange,
    PortId, PortVlanChange, Ps, SwitchId, SwitchSpec,
};
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::core::Core;
use crate::python::error::{FabricError as PyFabricError, fabric_error};
use crate::python::{read, show};

/// Topology, configuration and observation of an engine.
#[pyclass(subclass, frozen, name = "_Fabric", module = "eee_engine")]
pub struct PyFabric {
    core: Arc<Core>,
    hosts: Mutex<BTreeSet<u32>>,
}

impl PyFabric {
    /// Around a core.
    pub fn new(core: Arc<Core>) -> Self {
        Self {
            core,
            hosts: Mutex::default(),
        }
    }

    /// The fabric, its clock and its lock.
    pub fn core(&self) -> &Arc<Core> {
        &self.core
    }

    /// The id of a host's NIC.
    ///
    /// # Errors
    /// Not the NIC of a host.
    pub fn host(&self, number: u32) -> PyResult<PortId> {
        if self.hosts.lock().contains(&number) {
            return Ok(PortId(number));
        }
        Err(PyFabricError::new_err(format!(
            "port {number} is no host's NIC: use an id that add_host returned"
        )))
    }

    /// Read or change the fabric, without the GIL.
    fn with<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut Fabric, Ps) -> R + Send) -> R {
        py.detach(|| self.core.with(work))
    }

    fn attempt<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Fabric, Ps) -> Result<R, FabricError> + Send,
    ) -> PyResult<R> {
        self.with(py, work).map_err(fabric_error)
    }
}

fn ports(numbers: &[u32]) -> Vec<PortId> {
    numbers.iter().map(|number| PortId(*number)).collect()
}

#[pymethods]
impl PyFabric {
    #[pyo3(signature = (name, *, phys, port_names, base_mac, lag_count = 0, lag_rehash_s = 0.0, latency_us = 2.0,
        egress_queue_byte = 262_144, buffer_byte = 2_097_152, shared_learning = false, fdb_size = 16_384,
        ageing_s = 300.0))]
    #[allow(clippy::too_many_arguments)] // a switch has that many independent attributes
    fn add_switch<'py>(
        &self,
        py: Python<'py>,
        name: String,
        phys: Vec<String>,
        port_names: Vec<String>,
        base_mac: &[u8],
        lag_count: usize,
        lag_rehash_s: f64,
        latency_us: f64,
        egress_queue_byte: usize,
        buffer_byte: usize,
        shared_learning: bool,
        fdb_size: usize,
        ageing_s: f64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let spec = SwitchSpec {
            name,
            phys,
            port_names,
            base_mac: read::mac(base_mac)?,
            lag_count,
            lag_rehash: read::span_s("lag_rehash_s", lag_rehash_s)?,
            latency: read::span_us("latency_us", latency_us)?,
            egress_queue_byte,
            buffer_byte,
            shared_learning,
            fdb_size,
            ageing: read::span_s("ageing_s", ageing_s)?,
        };
        let handle = self.attempt(py, |fabric, _| fabric.add_switch(spec))?;
        show::switch(py, &handle)
    }

    #[pyo3(signature = (name, *, mac, phy = "1000BASE-T".to_owned(), ring_frames = 1024))]
    fn add_host(
        &self,
        py: Python<'_>,
        name: String,
        mac: &[u8],
        phy: String,
        ring_frames: usize,
    ) -> PyResult<u32> {
        let spec = NicSpec {
            name,
            mac: read::mac(mac)?,
            phy,
            ring_frames,
        };
        let nic = self.attempt(py, |fabric, _| fabric.add_nic(spec))?;
        self.hosts.lock().insert(nic.0);
        Ok(nic.0)
    }

    #[pyo3(signature = (a, b, *, length_m = 2.0))]
    fn connect(&self, py: Python<'_>, a: u32, b: u32, length_m: f64) -> PyResult<u32> {
        self.attempt(py, |fabric, now| {
            fabric.connect(now, PortId(a), PortId(b), length_m)
        })
        .map(|cable| cable.0)
    }

    fn cut(&self, py: Python<'_>, cable: u32) -> PyResult<()> {
        self.attempt(py, |fabric, now| fabric.cut(now, CableId(cable)))
    }

    fn mend(&self, py: Python<'_>, cable: u32) -> PyResult<()> {
        self.attempt(py, |fabric, now| fabric.mend(now, CableId(cable)))
    }

    #[pyo3(signature = (port, *, seconds))]
    fn set_interruption(&self, py: Python<'_>, port: u32, seconds: f64) -> PyResult<()> {
        let interruption = read::span_s("seconds", seconds)?;
        self.attempt(py, |fabric, now| {
            fabric.set_interruption(now, PortId(port), interruption)
        })
    }

    #[pyo3(signature = (port, *, admin_up = None, autoneg = None, advertised_mbps = None, flow_control = None,
        eee = None, mtu_byte = None))]
    #[allow(clippy::too_many_arguments)] // independent attributes of a port
    fn set_port(
        &self,
        py: Python<'_>,
        port: u32,
        admin_up: Option<bool>,
        autoneg: Option<bool>,
        advertised_mbps: Option<Vec<u32>>,
        flow_control: Option<bool>,
        eee: Option<bool>,
        mtu_byte: Option<usize>,
    ) -> PyResult<()> {
        let change = PortChange {
            admin_up,
            autoneg,
            advertised_mbps,
            flow_control,
            eee,
            mtu_byte,
        };
        self.attempt(py, |fabric, now| {
            fabric.set_port(now, PortId(port), &change)
        })
    }

    #[pyo3(signature = (port, *, mode = None, timing = None))]
    fn set_lpi(
        &self,
        py: Python<'_>,
        port: u32,
        mode: Option<&str>,
        timing: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let mut change = LpiChange {
            mode: mode.map(read::mode).transpose()?,
            ..LpiChange::default()
        };
        if let Some(timing) = timing {
            read::lpi_timing(timing, &mut change)?;
        }
        self.attempt(py, |fabric, now| fabric.set_lpi(now, PortId(port), &change))
    }

    #[pyo3(signature = (port, *, pvid = None, acceptable = None, ingress_filtering = None))]
    fn set_port_vlan(
        &self,
        py: Python<'_>,
        port: u32,
        pvid: Option<u16>,
        acceptable: Option<&str>,
        ingress_filtering: Option<bool>,
    ) -> PyResult<()> {
        let change = PortVlanChange {
            pvid,
            acceptable: acceptable.map(read::acceptable).transpose()?,
            ingress_filtering,
        };
        self.attempt(py, |fabric, now| {
            fabric.set_port_vlan(now, PortId(port), &change)
        })
    }

    #[pyo3(signature = (switch, vid, *, members, untagged))]
    fn set_vlan(
        &self,
        py: Python<'_>,
        switch: u32,
        vid: u16,
        members: Vec<u32>,
        untagged: Vec<u32>,
    ) -> PyResult<()> {
        let (members, untagged) = (ports(&members), ports(&untagged));
        self.attempt(py, |fabric, now| {
            fabric.set_vlan(now, SwitchId(switch), vid, &members, &untagged)
        })
    }

    fn remove_vlan(&self, py: Python<'_>, switch: u32, vid: u16) -> PyResult<()> {
        self.attempt(py, |fabric, now| {
            fabric.remove_vlan(now, SwitchId(switch), vid)
        })
    }

    fn vlans<'py>(&self, py: Python<'py>, switch: u32) -> PyResult<Bound<'py, PyDict>> {
        let vlans = self.attempt(py, |fabric, _| fabric.vlans(SwitchId(switch)))?;
        show::vlans(py, &vlans)
    }

    #[pyo3(signature = (switch, *, ageing_s = None, shared_learning = None))]
    fn set_bridge(
        &self,
        py: Python<'_>,
        switch: u32,
        ageing_s: Option<f64>,
        shared_learning: Option<bool>,
    ) -> PyResult<()> {
        let change = BridgeChange {
            ageing: ageing_s
                .map(|seconds| read::span_s("ageing_s", seconds))
                .transpose()?,
            shared_learning,
        };
        self.attempt(py, |fabric, now| {
            fabric.set_bridge(now, SwitchId(switch), &change)
        })
    }

    fn set_static(
        &self,
        py: Python<'_>,
        switch: u32,
        vid: u16,
        mac: &[u8],
        port: u32,
    ) -> PyResult<()> {
        let mac = read::mac(mac)?;
        self.attempt(py, |fabric, now| {
            fabric.set_static(now, SwitchId(switch), vid, mac, PortId(port))
        })
    }

    fn remove_static(&self, py: Python<'_>, switch: u32, vid: u16, mac: &[u8]) -> PyResult<()> {
        let mac = read::mac(mac)?;
        self.attempt(py, |fabric, now| {
            fabric.remove_static(now, SwitchId(switch), vid, mac)
        })
    }

    fn fdb<'py>(&self, py: Python<'py>, switch: u32) -> PyResult<Bound<'py, PyList>> {
        let entries = self.attempt(py, |fabric, now| fabric.fdb(now, SwitchId(switch)))?;
        let rows: Vec<_> = entries
            .iter()
            .map(|entry| show::fdb_entry(py, entry))
            .collect::<PyResult<_>>()?;
        PyList::new(py, rows)
    }

    #[pyo3(signature = (switch, *, port = None, vid = None))]
    fn flush_fdb(
        &self,
        py: Python<'_>,
        switch: u32,
        port: Option<u32>,
        vid: Option<u16>,
    ) -> PyResult<()> {
        self.attempt(py, |fabric, now| {
            fabric.flush_fdb(now, SwitchId(switch), port.map(PortId), vid)
        })
    }

    fn set_lag(&self, py: Python<'_>, lag: u32, members: Vec<u32>) -> PyResult<()> {
        let members = ports(&members);
        self.attempt(py, |fabric, now| fabric.set_lag(now, PortId(lag), &members))
    }

    #[pyo3(signature = (switch, *, on))]
    fn set_power(&self, py: Python<'_>, switch: u32, on: bool) -> PyResult<()> {
        self.attempt(py, |fabric, now| {
            fabric.set_power(now, SwitchId(switch), on)
        })
    }

    #[pyo3(signature = (port, *, blocked))]
    fn set_blocked(&self, py: Python<'_>, port: u32, blocked: bool) -> PyResult<()> {
        self.attempt(py, |fabric, now| {
            fabric.set_blocked(now, PortId(port), blocked)
        })
    }

    #[pyo3(signature = (port, announcement, *, transmit = true, receive = true, interval_s = 30.0))]
    fn set_lldp(
        &self,
        py: Python<'_>,
        port: u32,
        announcement: &Bound<'_, PyDict>,
        transmit: bool,
        receive: bool,
        interval_s: f64,
    ) -> PyResult<()> {
        let setting = LldpSetting {
            announcement: read::announcement(announcement)?,
            transmit,
            receive,
            interval: read::span_s("interval_s", interval_s)?,
        };
        self.attempt(py, |fabric, now| {
            fabric.set_lldp(now, PortId(port), setting)
        })
    }

    fn lldp_heard<'py>(&self, py: Python<'py>, port: u32) -> PyResult<Bound<'py, PyList>> {
        let (heard, now) = self.attempt(py, |fabric, now| {
            Ok((fabric.lldp_heard(now, PortId(port))?, now))
        })?;
        let rows: Vec<_> = heard
            .iter()
            .map(|neighbour| show::heard(py, neighbour, now))
            .collect::<PyResult<_>>()?;
        PyList::new(py, rows)
    }

    fn clear_counters(&self, py: Python<'_>, port: u32) -> PyResult<()> {
        self.attempt(py, |fabric, now| fabric.clear_counters(now, PortId(port)))
    }

    fn port<'py>(&self, py: Python<'py>, port: u32) -> PyResult<Bound<'py, PyDict>> {
        let state = self.attempt(py, |fabric, now| fabric.port(now, PortId(port)))?;
        show::port(py, &state)
    }

    fn counters<'py>(&self, py: Python<'py>, port: u32) -> PyResult<Bound<'py, PyDict>> {
        let counters = self.attempt(py, |fabric, now| fabric.counters(now, PortId(port)))?;
        show::counters(py, &counters)
    }

    fn time_in_state<'py>(&self, py: Python<'py>, port: u32) -> PyResult<Bound<'py, PyDict>> {
        let ledger = self.attempt(py, |fabric, now| fabric.time_in_state(now, PortId(port)))?;
        show::time_in_state(py, &ledger)
    }

    fn ports_time_in_state<'py>(
        &self,
        py: Python<'py>,
        ports: Vec<u32>,
    ) -> PyResult<Bound<'py, PyList>> {
        let ledgers: Vec<_> = self.attempt(py, |fabric, now| {
            ports
                .iter()
                .map(|port| fabric.time_in_state(now, PortId(*port)))
                .collect()
        })?;
        let rows: Vec<_> = ledgers
            .iter()
            .map(|ledger| show::time_in_state(py, ledger))
            .collect::<PyResult<_>>()?;
        PyList::new(py, rows)
    }

    fn frames<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let frames = self.with(py, |fabric, now| fabric.frames(now));
        show::frames(py, &frames)
    }

    fn now_ps(&self) -> Ps {
        self.core.clock().now()
    }
}
