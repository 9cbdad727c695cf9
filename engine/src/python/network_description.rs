//! Descriptions of networks, traffic, routers and links, as Python writes them.

use interconnect::consolidation::Consolidation;
use interconnect::flit::Stock;
use interconnect::flit::stages::Stages;
use interconnect::link::{LinkPolicy, Mode, Timing};
use interconnect::topology::graph::{self, Edge};
use interconnect::topology::{Dragonfly, HyperX, Torus, Tree};
use interconnect::traffic::Pattern;
use interconnect::{Network, RouterParameters, Switching};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::error::{SimulationError, refused};

fn field<'py>(what: &str, of: &Bound<'py, PyDict>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    of.get_item(name)?
        .ok_or_else(|| SimulationError::new_err(format!("{what}: {name} is missing")))
}

/// A topology as Python writes it: a dictionary with a `kind` and the fields of that kind.
pub(super) fn network(topology: &Bound<'_, PyDict>) -> PyResult<Network> {
    let field = |name: &str| field("topology", topology, name);
    let number = |name: &str| field(name)?.extract::<u32>();
    let numbers = |name: &str| field(name)?.extract::<Vec<u32>>();
    let kind: String = field("kind")?.extract()?;
    let built = match kind.as_str() {
        "torus" => Torus {
            radix: numbers("radix")?,
            concentration: number("concentration")?,
            trunk: number("trunk")?,
            wraps: field("wraps")?.extract()?,
        }
        .build(),
        "tree" => Tree {
            children: numbers("children")?,
            parents: numbers("parents")?,
        }
        .build(),
        "dragonfly" => Dragonfly {
            concentration: number("concentration")?,
            group: numbers("group")?,
            global: number("global")?,
            groups: number("groups")?,
        }
        .build(),
        "hyperx" => HyperX {
            sizes: numbers("sizes")?,
            concentration: number("concentration")?,
            trunk: number("trunk")?,
        }
        .build(),
        "graph" => return graph(topology),
        _ => {
            return Err(SimulationError::new_err(format!(
                "topology: {kind:?} is unknown"
            )));
        }
    };
    let latency = |name: &str| match topology.get_item(name)? {
        Some(cycles) => cycles.extract::<u32>().map(Some),
        None => Ok(None),
    };
    let (link, global) = (latency("link_latency")?, latency("global_latency")?);
    built
        .and_then(|network| network.with_link_latency(link.unwrap_or(1)))
        .and_then(|network| match global {
            Some(latency) => network.with_global_latency(latency),
            None => Ok(network),
        })
        .map_err(refused)
}

/// A graph of routers, its channels with latencies of their own, perhaps with trees.
fn graph(topology: &Bound<'_, PyDict>) -> PyResult<Network> {
    let field = |name: &str| field("topology", topology, name);
    // Lists, too: a description that was kept comes back from JSON.
    let edges: Vec<[u32; 3]> = field("edges")?.extract()?;
    let edges: Vec<Edge> = edges
        .into_iter()
        .map(|[one, other, latency]| Edge {
            one,
            other,
            latency,
        })
        .collect();
    let routers = field("routers")?.extract::<u32>()?;
    let nodes = field("nodes")?.extract::<Vec<u32>>()?;
    match topology.get_item("trees")? {
        Some(trees) => {
            let trees: Vec<Vec<u32>> = trees.extract()?;
            let of_node = field("tree_of_node")?.extract::<Vec<u32>>()?;
            graph::build_with_trees(routers, &nodes, &edges, &trees, of_node)
        }
        None => graph::build(routers, &nodes, &edges),
    }
    .map_err(refused)
}

pub(super) fn pattern(traffic: &Bound<'_, PyDict>) -> PyResult<Pattern> {
    let field = |name: &str| field("traffic", traffic, name);
    let kind: String = field("kind")?.extract()?;
    Ok(match kind.as_str() {
        "uniform" => Pattern::Uniform,
        "uniform_others" => Pattern::UniformOthers,
        "tornado" => Pattern::Tornado {
            base: field("base")?.extract()?,
            digits: field("digits")?.extract()?,
        },
        "neighbour" => Pattern::Neighbour {
            base: field("base")?.extract()?,
            digits: field("digits")?.extract()?,
        },
        "bit_reversal" => Pattern::BitReversal,
        "bit_complement" => Pattern::BitComplement,
        "shuffle" => Pattern::Shuffle,
        "transpose" => Pattern::Transpose,
        "hotspots" => Pattern::Hotspots {
            nodes: field("nodes")?.extract()?,
            share: field("share")?.extract()?,
        },
        "given" => Pattern::Given {
            to: field("to")?.extract()?,
        },
        "next_group" => Pattern::NextGroup {
            size: field("size")?.extract()?,
        },
        "permutation" => Pattern::Permutation,
        "jobs" => Pattern::Jobs {
            sizes: field("sizes")?.extract()?,
            permutation: field("permutation")?.extract()?,
        },
        _ => {
            return Err(SimulationError::new_err(format!(
                "traffic: {kind:?} is unknown"
            )));
        }
    })
}

/// Shares of the load and numbers of packets by job, and whose these are.
pub(super) type Jobs = (Vec<f64>, Vec<u64>, Stock);

/// `None` if all jobs have the load and no end.
pub(super) fn batches(traffic: &Bound<'_, PyDict>) -> PyResult<Option<Jobs>> {
    let Some(shares) = traffic.get_item("shares")? else {
        return Ok(None);
    };
    let packets = match traffic.get_item("packets")? {
        Some(packets) => packets.extract()?,
        None => Vec::new(),
    };
    let stock = match traffic.get_item("packets_of")? {
        Some(whose) if whose.extract::<&str>()? == "node" => Stock::Node,
        _ => Stock::Job,
    };
    Ok(Some((shares.extract()?, packets, stock)))
}

/// [`RouterParameters`] as Python writes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Parameters {
    vcs: u8,
    buffer_flits: u16,
    speedup: u8,
    routing_delay: u8,
    traversal_delay: u8,
    pipelined: bool,
    credit_delay: u8,
    packet_flits: u32,
    switching: String,
    threshold: u32,
    history_window: u32,
}

impl TryFrom<Parameters> for RouterParameters {
    type Error = PyErr;

    fn try_from(own: Parameters) -> PyResult<Self> {
        let switching = match own.switching.as_str() {
            "wormhole" => Switching::Wormhole,
            "cut_through" => Switching::CutThrough,
            "store_and_forward" => Switching::StoreAndForward,
            other => {
                return Err(SimulationError::new_err(format!(
                    "router: the switching {other:?} is unknown; known are wormhole, cut_through, store_and_forward"
                )));
            }
        };
        Ok(Self {
            vcs: own.vcs,
            buffer_flits: own.buffer_flits,
            speedup: own.speedup,
            routing_delay: own.routing_delay,
            traversal_delay: own.traversal_delay,
            pipelined: own.pipelined,
            credit_delay: own.credit_delay,
            packet_flits: own.packet_flits,
            switching,
            threshold: own.threshold,
            history_window: own.history_window,
        })
    }
}

/// [`LinkPolicy`] as Python writes it, in cycles and flits.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Policy {
    mode: String,
    hold: u64,
    sleep: u64,
    quiet: u64,
    refresh: u64,
    wake: u64,
    wake_during_sleep: u64,
    fast_wake: u64,
    deep_after: u64,
    coalesce_flits: u32,
    coalesce: u64,
    flit_cycles: u32,
    ends_sleep: bool,
}

impl TryFrom<Policy> for LinkPolicy {
    type Error = PyErr;

    fn try_from(own: Policy) -> PyResult<Self> {
        let mode = match own.mode.as_str() {
            "off" => Mode::Off,
            "deep" => Mode::Deep,
            "fast" => Mode::Fast,
            "hybrid" => Mode::Hybrid,
            other => {
                return Err(SimulationError::new_err(format!(
                    "link: the mode {other:?} is unknown; known are off, deep, fast, hybrid"
                )));
            }
        };
        let policy = Self {
            mode,
            timing: Timing {
                hold: own.hold,
                sleep: own.sleep,
                quiet: own.quiet,
                refresh: own.refresh,
                wake: own.wake,
                wake_during_sleep: own.wake_during_sleep,
                fast_wake: own.fast_wake,
                deep_after: own.deep_after,
                coalesce_byte: own.coalesce_flits,
                coalesce: own.coalesce,
            },
            flit_cycles: own.flit_cycles,
            ends_sleep: own.ends_sleep,
        };
        policy.check().map_err(refused)?;
        Ok(policy)
    }
}

/// [`Consolidation`] as Python writes it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Tcep {
    epoch: u64,
    deactivation_epochs: u32,
    wake: u64,
    high_water_mark: f64,
    begins_with_root: bool,
}

/// [`Stages`] as Python writes it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Slac {
    cycles_per_link: u64,
    high: f64,
    low: f64,
    off_after: u64,
}

impl From<Tcep> for Consolidation {
    fn from(own: Tcep) -> Self {
        Self {
            epoch: own.epoch,
            deactivation_epochs: own.deactivation_epochs,
            wake: own.wake,
            high_water_mark: own.high_water_mark,
            begins_with_root: own.begins_with_root,
        }
    }
}

impl From<Slac> for Stages {
    fn from(own: Slac) -> Self {
        Self {
            cycles_per_link: own.cycles_per_link,
            high: own.high,
            low: own.low,
            off_after: own.off_after,
        }
    }
}
