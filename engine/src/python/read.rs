//! Arguments from Python: units and shapes are checked here, at the border.

use fabric::{Acceptable, LpiChange, Mac, Mode, Ps, time};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::python::error::FabricError;

/// A span of microseconds.
///
/// # Errors
/// If it is negative, infinite, or no number.
pub fn span_us(name: &str, value_us: f64) -> PyResult<Ps> {
    span(name, value_us, 1e-6)
}

/// A span of seconds.
///
/// # Errors
/// If it is negative, infinite, or no number.
pub fn span_s(name: &str, value_s: f64) -> PyResult<Ps> {
    span(name, value_s, 1.0)
}

fn span(name: &str, value: f64, unit_s: f64) -> PyResult<Ps> {
    let value_s = value * unit_s;
    // 2⁶⁴ ps are 213 days.
    if !(0.0..1e7).contains(&value_s) {
        return Err(FabricError::new_err(format!(
            "{name} is {value}: it must be 0 or more and less than 115 days"
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
/// If it has not six bytes.
pub fn mac(bytes: &[u8]) -> PyResult<Mac> {
    bytes.try_into().map_err(|_| {
        FabricError::new_err(format!(
            "a MAC is 6 bytes, not {}: write it as bytes.fromhex",
            bytes.len()
        ))
    })
}

/// An LPI mode.
///
/// # Errors
/// If there is none of that name.
pub fn mode(name: &str) -> PyResult<Mode> {
    Ok(match name {
        "off" => Mode::Off,
        "deep" => Mode::Deep,
        "fast" => Mode::Fast,
        "hybrid" => Mode::Hybrid,
        _ => {
            return Err(FabricError::new_err(format!(
                "there is no LPI mode {name:?}: it is off, deep, fast or hybrid"
            )));
        }
    })
}

/// Acceptable frame types.
///
/// # Errors
/// If there are none of that name.
pub fn acceptable(name: &str) -> PyResult<Acceptable> {
    Ok(match name {
        "all" => Acceptable::All,
        "tagged" => Acceptable::Tagged,
        "untagged" => Acceptable::Untagged,
        _ => {
            return Err(FabricError::new_err(format!(
                "acceptable is {name:?}: it is all, tagged or untagged"
            )));
        }
    })
}

/// An `LpiTiming`.
///
/// # Errors
/// If a key is unknown or a value impossible.
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
                    "{name:?} is no LPI time: see the keys of LpiTiming"
                )));
            }
        };
        *field = Some(span_us(&name, value.extract()?)?);
    }
    Ok(())
}
