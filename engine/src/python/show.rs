//! Engine values as Python dictionaries.

use std::collections::BTreeMap;

use bytes::Bytes;
use fabric::phy::Phy;
use fabric::time::{PS_PER_S, PS_PER_US};
use fabric::{
    Acceptable, FdbEntry, Frames, Heard, Ledger, Mode, PortCounters, PortId, PortState, Ps,
    SwitchHandle, VlanPorts,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::live::lateness::Lateness;

type Dict<'py> = PyResult<Bound<'py, PyDict>>;

fn micro(span: Ps) -> f64 {
    span as f64 / PS_PER_US as f64
}

fn numbers(ports: &[PortId]) -> Vec<u32> {
    ports.iter().map(|port| port.0).collect()
}

/// `Switch`.
pub fn switch<'py>(py: Python<'py>, handle: &SwitchHandle) -> Dict<'py> {
    let dict = PyDict::new(py);
    dict.set_item("switch", handle.switch.0)?;
    dict.set_item("ports", numbers(&handle.ports))?;
    dict.set_item("lags", numbers(&handle.lags))?;
    Ok(dict)
}

/// VID → (members, untagged).
pub fn vlans<'py>(py: Python<'py>, vlans: &BTreeMap<u16, VlanPorts>) -> Dict<'py> {
    let dict = PyDict::new(py);
    for (vid, (members, untagged)) in vlans {
        dict.set_item(vid, (numbers(members), numbers(untagged)))?;
    }
    Ok(dict)
}

const fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Off => "off",
        Mode::Deep => "deep",
        Mode::Fast => "fast",
        Mode::Hybrid => "hybrid",
    }
}

const fn acceptable(frames: Acceptable) -> &'static str {
    match frames {
        Acceptable::All => "all",
        Acceptable::Tagged => "tagged",
        Acceptable::Untagged => "untagged",
    }
}

/// `PortState`.
pub fn port<'py>(py: Python<'py>, state: &PortState) -> Dict<'py> {
    let dict = PyDict::new(py);
    dict.set_item("name", &state.name)?;
    dict.set_item("admin_up", state.admin_up)?;
    dict.set_item("oper_up", state.oper_up)?;
    dict.set_item("cable", state.cable.map(|cable| cable.0))?;
    dict.set_item("speed_mbps", state.speed_mbps)?;
    dict.set_item("advertised_mbps", &state.advertised_mbps)?;
    dict.set_item("autoneg", state.autoneg)?;
    dict.set_item("flow_control_rx", state.flow_control_rx)?;
    dict.set_item("flow_control_tx", state.flow_control_tx)?;
    dict.set_item("flow_control_admin", state.flow_control_admin)?;
    dict.set_item("eee_admin", state.eee_admin)?;
    dict.set_item("eee_supported", state.eee_supported)?;
    dict.set_item("eee_active", state.eee_active)?;
    dict.set_item("lpi_mode", mode(state.lpi_mode))?;
    dict.set_item("lpi_now", state.lpi_now.name())?;
    dict.set_item("pvid", state.pvid)?;
    dict.set_item("acceptable", acceptable(state.acceptable))?;
    dict.set_item("ingress_filtering", state.ingress_filtering)?;
    dict.set_item("blocked", state.blocked)?;
    dict.set_item("lag", state.lag.map(|lag| lag.0))?;
    dict.set_item("mtu_byte", state.mtu_byte)?;
    dict.set_item("since_ps", state.since)?;
    dict.set_item("flaps", state.flaps)?;
    dict.set_item("queue_byte", state.queue_byte)?;
    Ok(dict)
}

/// `PortCounters`.
pub fn counters<'py>(py: Python<'py>, counters: &PortCounters) -> Dict<'py> {
    let dict = PyDict::new(py);
    for (name, value) in [
        ("in_octets", counters.in_octets),
        ("in_ucast", counters.in_ucast),
        ("in_mcast", counters.in_mcast),
        ("in_bcast", counters.in_bcast),
        ("in_discards", counters.in_discards),
        ("in_errors", counters.in_errors),
        ("out_octets", counters.out_octets),
        ("out_ucast", counters.out_ucast),
        ("out_mcast", counters.out_mcast),
        ("out_bcast", counters.out_bcast),
        ("out_discards", counters.out_discards),
        ("out_errors", counters.out_errors),
        ("in_pause", counters.in_pause),
        ("out_pause", counters.out_pause),
        ("in_too_long", counters.in_too_long),
        ("tx_lpi_events", counters.tx_lpi_events),
        ("tx_lpi_us", counters.tx_lpi / PS_PER_US),
        ("rx_lpi_events", counters.rx_lpi_events),
        ("rx_lpi_us", counters.rx_lpi / PS_PER_US),
        ("storm_drops", counters.storm_drops),
    ] {
        dict.set_item(name, value)?;
    }
    Ok(dict)
}

/// `TimeInState`.
pub fn time_in_state<'py>(py: Python<'py>, ledger: &Ledger) -> Dict<'py> {
    let dict = PyDict::new(py);
    for (name, value) in [
        ("down_ps", ledger.down_ps),
        ("active_ps", ledger.active_ps),
        ("transmit_ps", ledger.transmit_ps),
        ("sleep_ps", ledger.sleep_ps),
        ("quiet_ps", ledger.quiet_ps),
        ("refresh_ps", ledger.refresh_ps),
        ("wake_ps", ledger.wake_ps),
        ("fast_ps", ledger.fast_ps),
        ("total_ps", ledger.total_ps),
        ("wakes", ledger.wakes),
        ("lpi_events", ledger.lpi_events),
    ] {
        dict.set_item(name, value)?;
    }
    dict.set_item("up_by_mbps", &ledger.up_by_mbps)?;
    Ok(dict)
}

/// `FdbEntry`.
pub fn fdb_entry<'py>(py: Python<'py>, entry: &FdbEntry) -> Dict<'py> {
    let dict = PyDict::new(py);
    dict.set_item("vid", entry.vid)?;
    dict.set_item("mac", PyBytes::new(py, &entry.mac))?;
    dict.set_item("port", entry.port.0)?;
    dict.set_item("static", entry.is_static)?;
    dict.set_item("age_s", entry.age as f64 / PS_PER_S as f64)?;
    Ok(dict)
}

/// `Heard`.
pub fn heard<'py>(py: Python<'py>, heard: &Heard, now: Ps) -> Dict<'py> {
    let dict = PyDict::new(py);
    let said = &heard.announcement;
    let octets = |value: &[u8]| PyBytes::new(py, value);
    let text = |value: &Option<Bytes>| octets(value.as_deref().unwrap_or_default());
    dict.set_item(
        "chassis",
        (said.chassis.subtype, octets(&said.chassis.value)),
    )?;
    dict.set_item("port", (said.port.subtype, octets(&said.port.value)))?;
    dict.set_item("port_description", text(&said.port_description))?;
    dict.set_item("system_name", text(&said.system_name))?;
    dict.set_item("system_description", text(&said.system_description))?;
    dict.set_item(
        "capabilities",
        said.capabilities.map_or(0, |(_, does)| does),
    )?;
    dict.set_item(
        "management",
        said.management.map(|management| management.address),
    )?;
    let eee = said.eee.map(|eee| (eee.tx_us, eee.rx_us));
    dict.set_item("eee_us", eee)?;
    let passed_s = now.saturating_sub(heard.at) / PS_PER_S;
    dict.set_item("ttl_s", u64::from(said.ttl_s).saturating_sub(passed_s))?;
    dict.set_item("index", heard.index)?;
    Ok(dict)
}

/// `Frames`.
pub fn frames<'py>(py: Python<'py>, frames: &Frames) -> Dict<'py> {
    let dict = PyDict::new(py);
    for (name, value) in [
        ("offered", frames.offered),
        ("copies", frames.copies),
        ("delivered", frames.delivered),
        ("consumed", frames.consumed),
        ("dropped", frames.dropped),
        ("in_flight", frames.in_flight),
    ] {
        dict.set_item(name, value)?;
    }
    Ok(dict)
}

/// `Lateness`.
pub fn lateness<'py>(py: Python<'py>, lateness: &Lateness) -> Dict<'py> {
    let dict = PyDict::new(py);
    dict.set_item("count", lateness.total())?;
    dict.set_item("p50_us", lateness.quantile_us(0.5))?;
    dict.set_item("p90_us", lateness.quantile_us(0.9))?;
    dict.set_item("p99_us", lateness.quantile_us(0.99))?;
    dict.set_item("max_us", lateness.max_us())?;
    dict.set_item("bucket_upper_us", lateness.upper_us())?;
    dict.set_item("bucket_count", lateness.counts())?;
    Ok(dict)
}

/// One PHY profile at its own speed.
pub fn phy<'py>(py: Python<'py>, phy: &Phy) -> Dict<'py> {
    let dict = PyDict::new(py);
    dict.set_item("speed_mbps", f64::from(phy.speed_mbps()))?;
    let timing = phy
        .eee_at(phy.speed_mbps())
        .map(fabric::phy::Eee::timing)
        .unwrap_or_default();
    for (name, span) in [
        ("hold_us", timing.hold),
        ("sleep_us", timing.sleep),
        ("quiet_us", timing.quiet),
        ("refresh_us", timing.refresh),
        ("wake_us", timing.wake),
        ("wake_during_sleep_us", timing.wake_during_sleep),
        ("fast_wake_us", timing.fast_wake),
    ] {
        dict.set_item(name, micro(span))?;
    }
    dict.set_item("interruption_s", phy.interruption as f64 / PS_PER_S as f64)?;
    Ok(dict)
}
