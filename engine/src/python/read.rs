//! Arguments from Python: their units and shapes are checked here.

use bytes::Bytes;
use fabric::lldp::{Announcement, EeeTimes, ID_MAX_BYTE, Id, Management, TEXT_MAX_BYTE};
use fabric::{Acceptable, LpiChange, Mac, Mode, Ps, time};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::python::error::FabricError;

/// A span of microseconds.
///
/// # Errors
/// Negative, infinite or NaN.
pub fn span_us(name: &str, value_us: f64) -> PyResult<Ps> {
    span(name, value_us, 1e-6)
}

/// A span of seconds.
///
/// # Errors
/// Negative, infinite or NaN.
pub fn span_s(name: &str, value_s: f64) -> PyResult<Ps> {
    span(name, value_s, 1.0)
}

fn span(name: &str, value: f64, unit_s: f64) -> PyResult<Ps> {
    let value_s = value * unit_s;
    // 2⁶⁴ ps are 213 days.
    if !(0.0..1e7).contains(&value_s) {
        return Err(FabricError::new_err(format!(
            "{name} is {value}: use 0 or more and less than 115 days"
        )));
    }
    Ok(if unit_s < 1.0 {
        time::microseconds(value)
    } else {
        time::seconds(value)
    })
}

/// A MAC address.
///
/// # Errors
/// Not six bytes.
pub fn mac(bytes: &[u8]) -> PyResult<Mac> {
    bytes.try_into().map_err(|_| {
        FabricError::new_err(format!(
            "a MAC address has 6 bytes, not {}: write it with bytes.fromhex",
            bytes.len()
        ))
    })
}

/// An LPI mode.
///
/// # Errors
/// Unknown name.
pub fn mode(name: &str) -> PyResult<Mode> {
    Ok(match name {
        "off" => Mode::Off,
        "deep" => Mode::Deep,
        "fast" => Mode::Fast,
        "hybrid" => Mode::Hybrid,
        _ => {
            return Err(FabricError::new_err(format!(
                "unknown LPI mode {name:?}: use off, deep, fast or hybrid"
            )));
        }
    })
}

/// Acceptable frame types.
///
/// # Errors
/// Unknown name.
pub fn acceptable(name: &str) -> PyResult<Acceptable> {
    Ok(match name {
        "all" => Acceptable::All,
        "tagged" => Acceptable::Tagged,
        "untagged" => Acceptable::Untagged,
        _ => {
            return Err(FabricError::new_err(format!(
                "invalid value of acceptable: {name:?}; use all, tagged or untagged"
            )));
        }
    })
}

/// An `LpiTiming`.
///
/// # Errors
/// Unknown key or invalid value.
pub fn lpi_timing(timing: &Bound<'_, PyDict>, change: &mut LpiChange) -> PyResult<()> {
    for (key, value) in timing {
        let name: String = key.extract()?;
        if name == "coalesce_byte" {
            change.coalesce_byte = Some(value.extract()?);
            continue;
        }
        let field = match name.as_str() {
            "hold_us" => &mut change.hold,
            "sleep_us" => &mut change.sleep,
            "quiet_us" => &mut change.quiet,
            "refresh_us" => &mut change.refresh,
            "wake_us" => &mut change.wake,
            "wake_during_sleep_us" => &mut change.wake_during_sleep,
            "fast_wake_us" => &mut change.fast_wake,
            "deep_after_us" => &mut change.deep_after,
            "coalesce_us" => &mut change.coalesce,
            _ => {
                return Err(FabricError::new_err(format!(
                    "unknown LPI time {name:?}: use the keys of LpiTiming"
                )));
            }
        };
        *field = Some(span_us(&name, value.extract()?)?);
    }
    Ok(())
}

/// An `Announcement`.
///
/// # Errors
/// A key is missing or unknown, or a value too long.
pub fn announcement(given: &Bound<'_, PyDict>) -> PyResult<Announcement> {
    let mut read = Announcement::default();
    for (key, value) in given {
        let name: String = key.extract()?;
        match name.as_str() {
            "chassis" => read.chassis = id(&name, &value)?,
            "port" => read.port = id(&name, &value)?,
            "ttl_s" => read.ttl_s = value.extract()?,
            "port_description" => read.port_description = Some(text(&name, &value)?),
            "system_name" => read.system_name = Some(text(&name, &value)?),
            "system_description" => read.system_description = Some(text(&name, &value)?),
            "capabilities" => read.capabilities = Some(value.extract()?),
            "management" => {
                let (address, if_index) = value.extract()?;
                read.management = Some(Management { address, if_index });
            }
            // The wake times themselves are those of the port when it announces.
            "eee" => read.eee = value.extract::<bool>()?.then(EeeTimes::default),
            _ => {
                return Err(FabricError::new_err(format!(
                    "unknown part of an announcement {name:?}: use the keys of Announcement"
                )));
            }
        }
    }
    if read.chassis.value.is_empty() || read.port.value.is_empty() || read.ttl_s == 0 {
        return Err(FabricError::new_err(
            "an announcement needs a chassis, a port and a time to live: give chassis, port and ttl_s",
        ));
    }
    Ok(read)
}

fn id(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Id> {
    let (subtype, value): (u8, Vec<u8>) = value.extract()?;
    limited(name, value, ID_MAX_BYTE).map(|value| Id { subtype, value })
}

fn text(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Bytes> {
    limited(name, value.extract()?, TEXT_MAX_BYTE)
}

fn limited(name: &str, value: Vec<u8>, longest_byte: usize) -> PyResult<Bytes> {
    if value.len() > longest_byte {
        return Err(FabricError::new_err(format!(
            "{name} has {} bytes: use at most {longest_byte}",
            value.len()
        )));
    }
    Ok(value.into())
}
