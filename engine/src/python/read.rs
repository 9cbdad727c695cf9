//! Arguments from Python: their units and shapes are checked here.

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
