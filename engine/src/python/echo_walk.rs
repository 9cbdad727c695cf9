//! `EchoWalk`: the likelihood of echoes under candidates, in Python.

use echo_walk::{
    Candidate, Echoes, Lateness, Observed, Sleeper, Timing, delays, error_densities, log_likelihood,
};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A thread is not worth fewer candidates.
const LEAST_SHARE: usize = 4;

/// Echoes of one path, to walk over.
#[pyclass(frozen)]
pub struct EchoWalk {
    echoes: Echoes,
    kept: Vec<bool>,
}

fn numbers(array: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    PyBuffer::<f64>::get(array)?.to_vec(array.py())
}

/// Densities of errors of round trips, on time and with one late frame, as multiples of the highest.
#[pyfunction]
#[pyo3(name = "error_densities")]
pub fn densities_of_errors(left_us: &Bound<'_, PyAny>, noise_us: f64) -> PyResult<Vec<[f64; 2]>> {
    Ok(error_densities(&numbers(left_us)?, noise_us))
}

fn sleepers(rows: &[(usize, String, usize)], places: usize) -> PyResult<Vec<Sleeper>> {
    let mut found = Vec::with_capacity(rows.len());
    for (place, timing, column) in rows {
        if *place >= places
            || found
                .last()
                .is_some_and(|last: &Sleeper| last.place >= *place)
        {
            return Err(PyValueError::new_err(format!(
                "place {place} is not on the path, or not in the order of its places"
            )));
        }
        let timing = match timing.as_str() {
            "deep" => Timing::Deep,
            "hybrid" => Timing::Hybrid,
            "coalescing" => Timing::Coalescing,
            _ => return Err(PyValueError::new_err(format!("unknown timing {timing}"))),
        };
        found.push(Sleeper {
            place: *place,
            timing,
            column: *column,
        });
    }
    Ok(found)
}

#[pymethods]
impl EchoWalk {
    #[new]
    fn new(
        gap_us: &Bound<'_, PyAny>,
        burst_byte: &Bound<'_, PyAny>,
        byte_us: &Bound<'_, PyAny>,
        stores: Vec<bool>,
        later_us: &Bound<'_, PyAny>,
        kept: Vec<bool>,
        echo_byte: f64,
    ) -> PyResult<Self> {
        let (gaps_us, burst_byte) = (numbers(gap_us)?, numbers(burst_byte)?);
        let (byte_us, later_us) = (numbers(byte_us)?, numbers(later_us)?);
        let count = burst_byte.len();
        if gaps_us.len() != count * byte_us.len() || later_us.len() != count || kept.len() != count
        {
            return Err(PyValueError::new_err("arrays of different lengths"));
        }
        if stores.len() != byte_us.len() || stores.first() == Some(&true) {
            return Err(PyValueError::new_err("a path begins at a host"));
        }
        let gap_us = (0..byte_us.len())
            .map(|place| gaps_us[place * count..(place + 1) * count].to_vec())
            .collect();
        Ok(Self {
            echoes: Echoes {
                gap_us,
                echo_byte,
                burst_byte,
                byte_us,
                stores,
                later_us,
            },
            kept,
        })
    }

    /// Log-likelihood of each candidate.
    fn log_likelihood(
        &self,
        py: Python<'_>,
        order: Vec<(usize, String, usize)>,
        times: &Bound<'_, PyAny>,
        left_us: &Bound<'_, PyAny>,
        scales: Vec<(f64, f64, f64, f64)>,
        late: (f64, f64),
    ) -> PyResult<Vec<f64>> {
        let sleepers = sleepers(&order, self.echoes.byte_us.len())?;
        let (times, left_us) = (numbers(times)?, numbers(left_us)?);
        let count = scales.len();
        let kept = self.kept.iter().filter(|one| **one).count();
        let columns = times.len().checked_div(count).unwrap_or(0);
        let needed = sleepers.iter().map(width).max().unwrap_or(0);
        if columns < needed || left_us.len() != count * kept {
            return Err(PyValueError::new_err("arrays of different lengths"));
        }
        let observed = Observed {
            echoes: &self.echoes,
            kept: &self.kept,
            late: Lateness {
                share: late.0,
                again: late.1,
            },
        };
        let height = |number: usize| {
            let (noise_us, error_us, later_share, least) = scales[number];
            let candidate = Candidate {
                times: &times[number * columns..(number + 1) * columns],
                left_us: &left_us[number * kept..(number + 1) * kept],
                noise_us,
                error_us,
                later_share,
                least,
            };
            log_likelihood(&observed, &sleepers, &candidate)
        };
        Ok(py.detach(|| on_all_cores(count, height)))
    }

    /// Delay of each echo, kept or not, under one candidate.
    fn delays_us(
        &self,
        order: Vec<(usize, String, usize)>,
        times: Vec<f64>,
        later_share: f64,
    ) -> PyResult<Vec<f64>> {
        let sleepers = sleepers(&order, self.echoes.byte_us.len())?;
        if times.len() < sleepers.iter().map(width).max().unwrap_or(0) {
            return Err(PyValueError::new_err("too few times"));
        }
        Ok(delays(&self.echoes, &sleepers, &times, later_share))
    }
}

/// How many columns a candidate needs for a sleeper.
fn width(sleeper: &Sleeper) -> usize {
    sleeper.column
        + match sleeper.timing {
            Timing::Deep => 3,
            Timing::Hybrid | Timing::Coalescing => 5,
        }
}

/// A function of each number below `count`, in order, in as many threads as there are processors to use.
fn on_all_cores(count: usize, function: impl Fn(usize) -> f64 + Sync) -> Vec<f64> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = count.div_ceil(threads).max(LEAST_SHARE);
    let mut found = vec![0.0; count];
    std::thread::scope(|scope| {
        let mut shares = found.chunks_mut(share).enumerate();
        let own = shares.next();
        for (number, results) in shares.chain(own) {
            let function = &function;
            let mut fill = move || {
                for (place, result) in results.iter_mut().enumerate() {
                    *result = function(number * share + place);
                }
            };
            if number == 0 {
                fill()
            } else {
                drop(scope.spawn(fill))
            }
        }
    });
    found
}
