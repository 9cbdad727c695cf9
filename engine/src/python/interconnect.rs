//! `NetworkSimulation` in Python.

use interconnect::flit::Stock;
use interconnect::flit::consolidation::{Consolidation, ConsolidationCounts};
use interconnect::flit::stages::Stages;
use interconnect::link::{LinkLedger, LinkPolicy, Mode, Timing};
use interconnect::measure::{Histogram, Interval};
use interconnect::network::{Peer, PortId};
use interconnect::rng::Rng;
use interconnect::routing::dependency::{Proof, prove};
use interconnect::routing::{Algorithm, Routing};
use interconnect::topology::graph::{self, Edge};
use interconnect::topology::{Dragonfly, HyperX, Torus, Tree};
use interconnect::traffic::{Destinations, Pattern};
use interconnect::{
    FlitEngine, Network, PacketEngine, RouterParameters, SimulationError as RustError, Switching,
    zero_load,
};
use parking_lot::Mutex;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

pyo3::create_exception!(
    eee_engine,
    SimulationError,
    PyValueError,
    "A simulation's description contradicts itself; the text says what is wrong and what would be right."
);

pub(super) fn refused(error: RustError) -> PyErr {
    SimulationError::new_err(error.to_string())
}

/// A topology as Python writes it: a dictionary with a `kind` and the fields of that kind.
pub(super) fn network(topology: &Bound<'_, PyDict>) -> PyResult<Network> {
    let field = |name: &str| {
        topology
            .get_item(name)?
            .ok_or_else(|| SimulationError::new_err(format!("topology: {name} is missing")))
    };
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
        "graph" => {
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
            return graph::build(number("routers")?, &numbers("nodes")?, &edges).map_err(refused);
        }
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

fn pattern(traffic: &Bound<'_, PyDict>) -> PyResult<Pattern> {
    let field = |name: &str| {
        traffic
            .get_item(name)?
            .ok_or_else(|| SimulationError::new_err(format!("traffic: {name} is missing")))
    };
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
type Jobs = (Vec<f64>, Vec<u64>, Stock);

/// `None` if all jobs have the load and no end.
fn batches(traffic: &Bound<'_, PyDict>) -> PyResult<Option<Jobs>> {
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
    cut_through: bool,
    threshold: u32,
    history_window: u32,
}

impl From<Parameters> for RouterParameters {
    fn from(own: Parameters) -> Self {
        Self {
            vcs: own.vcs,
            buffer_flits: own.buffer_flits,
            speedup: own.speedup,
            routing_delay: own.routing_delay,
            traversal_delay: own.traversal_delay,
            pipelined: own.pipelined,
            credit_delay: own.credit_delay,
            packet_flits: own.packet_flits,
            switching: if own.cut_through {
                Switching::CutThrough
            } else {
                Switching::Wormhole
            },
            threshold: own.threshold,
            history_window: own.history_window,
        }
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

/// Either engine.
enum Engine {
    Flit(Box<FlitEngine>),
    Packet(Box<PacketEngine>),
}

/// Call the same method of either engine.
macro_rules! either {
    ($engine:expr, $own:ident => $call:expr) => {
        match $engine {
            Engine::Flit($own) => $call,
            Engine::Packet($own) => $call,
        }
    };
}

/// A network, its traffic, and its clock of cycles.
#[pyclass(frozen, name = "NetworkSimulation", module = "eee_engine")]
pub struct NetworkSimulation {
    engine: Mutex<Engine>,
}

#[pymethods]
impl NetworkSimulation {
    #[new]
    #[pyo3(signature = (*, topology, routing, parameters, traffic, load, seed, engine, link, consolidation = None, stages = None))]
    #[expect(clippy::too_many_arguments, reason = "keywords in Python")]
    fn new(
        topology: &Bound<'_, PyDict>,
        routing: &str,
        parameters: Parameters,
        traffic: &Bound<'_, PyDict>,
        load: f64,
        seed: u64,
        engine: &str,
        link: Policy,
        consolidation: Option<Tcep>,
        stages: Option<Slac>,
    ) -> PyResult<Self> {
        let network = network(topology)?;
        let parameters = RouterParameters::from(parameters);
        let policy = LinkPolicy::try_from(link)?;
        let routing = Algorithm::named(routing)
            .and_then(|algorithm| Routing::new(&network, algorithm, parameters.vcs))
            .map_err(refused)?;
        // The pattern's draws do not depend on how much the engine draws.
        let mut rng = Rng::new(seed ^ 0x7472_6166_6669_6300);
        let destinations =
            Destinations::new(&pattern(traffic)?, network.nodes(), &mut rng).map_err(refused)?;
        let engine = match engine {
            "flit" => {
                let mut engine =
                    FlitEngine::new(network, routing, parameters, destinations, load, seed)
                        .map_err(refused)?;
                engine.set_links(policy);
                if let Some(tcep) = consolidation {
                    engine
                        .set_consolidation(Consolidation {
                            epoch: tcep.epoch,
                            deactivation_epochs: tcep.deactivation_epochs,
                            wake: tcep.wake,
                            high_water_mark: tcep.high_water_mark,
                            begins_with_root: tcep.begins_with_root,
                        })
                        .map_err(refused)?;
                }
                if let Some(slac) = stages {
                    engine
                        .set_stages(Stages {
                            cycles_per_link: slac.cycles_per_link,
                            high: slac.high,
                            low: slac.low,
                            off_after: slac.off_after,
                        })
                        .map_err(refused)?;
                }
                if let Some((shares, packets, stock)) = batches(traffic)? {
                    engine.set_jobs(&shares, &packets, stock).map_err(refused)?;
                }
                Engine::Flit(Box::new(engine))
            }
            "packet"
                if consolidation.is_some() || stages.is_some() || batches(traffic)?.is_some() =>
            {
                return Err(SimulationError::new_err(
                    "parameter: TCEP, SLaC, and jobs with loads of their own are for the flit engine",
                ));
            }
            "packet" => {
                let mut engine =
                    PacketEngine::new(network, routing, parameters, destinations, load, seed)
                        .map_err(refused)?;
                engine.set_links(policy).map_err(refused)?;
                Engine::Packet(Box::new(engine))
            }
            other => {
                return Err(SimulationError::new_err(format!(
                    "engine: {other:?} is unknown; known are flit and packet"
                )));
            }
        };
        Ok(Self {
            engine: Mutex::new(engine),
        })
    }

    fn advance<'py>(&self, py: Python<'py>, cycles: u64) -> PyResult<Bound<'py, PyDict>> {
        let interval = py.detach(|| either!(&mut *self.engine.lock(), own => own.advance(cycles)));
        let Interval {
            cycles,
            packets,
            flits,
            latency,
            hops,
        } = interval;
        let out = PyDict::new(py);
        out.set_item("cycles", cycles)?;
        out.set_item("packets", packets)?;
        out.set_item("flits", flits)?;
        out.set_item("latency_cycles", latency)?;
        out.set_item("hops", hops)?;
        Ok(out)
    }

    fn measure(&self, on: bool) {
        either!(&mut *self.engine.lock(), own => own.measure(on));
    }

    fn stop_traffic(&self) {
        either!(&mut *self.engine.lock(), own => own.stop_traffic());
    }

    #[getter]
    fn now_cycles(&self) -> u64 {
        either!(&*self.engine.lock(), own => own.now())
    }

    #[getter]
    fn outstanding(&self) -> u64 {
        either!(&*self.engine.lock(), own => own.measurement().outstanding())
    }

    #[getter]
    fn backlog_cycles(&self) -> u64 {
        either!(&*self.engine.lock(), own => own.backlog())
    }

    /// Packets of batches that have not been made.
    #[getter]
    fn batch_left(&self) -> u64 {
        match &*self.engine.lock() {
            Engine::Flit(engine) => engine.batch_left(),
            Engine::Packet(_) => 0,
        }
    }

    fn doubts(&self) -> Vec<String> {
        match &*self.engine.lock() {
            Engine::Flit(_) => Vec::new(),
            Engine::Packet(engine) => engine.doubts(),
        }
    }

    fn latencies<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let guard = self.engine.lock();
        let found: &Histogram = either!(&*guard, own => own.measurement().latencies());
        let out = PyDict::new(py);
        out.set_item("packets", found.count())?;
        out.set_item("sum_cycles", found.sum())?;
        out.set_item("mean_cycles", found.mean())?;
        for (name, share) in [
            ("p50_cycles", 0.5),
            ("p90_cycles", 0.9),
            ("p99_cycles", 0.99),
        ] {
            out.set_item(name, found.quantile(share))?;
        }
        out.set_item("largest_cycles", found.largest())?;
        Ok(out)
    }

    /// What TCEP or SLaC did so far; zeros without them.
    fn consolidation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = match &*self.engine.lock() {
            Engine::Flit(engine) => engine.consolidation(),
            Engine::Packet(_) => ConsolidationCounts::default(),
        };
        let out = PyDict::new(py);
        out.set_item("control_packets", counts.control_packets)?;
        out.set_item("control_arrived", counts.control_arrived)?;
        out.set_item("control_latency_cycles", counts.control_latency)?;
        out.set_item("activations", counts.activations)?;
        out.set_item("deactivations", counts.deactivations)?;
        out.set_item("reactivations", counts.reactivations)?;
        Ok(out)
    }

    /// Ledgers of all channels between routers.
    fn channels<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let guard = self.engine.lock();
        let network = either!(&*guard, own => own.network());
        (0..)
            .zip(network.ports())
            .filter_map(|(id, port)| match port.peer {
                Peer::Port(peer) => Some((id, port.router, network.port(peer).router)),
                Peer::Node(_) => None,
            })
            .map(|(id, from, to)| {
                let ledger = either!(&*guard, own => own.link(id)).unwrap_or_default();
                let off = match &*guard {
                    Engine::Flit(engine) => engine.off_cycles(id),
                    Engine::Packet(_) => 0,
                };
                channel(py, (id, from, to), &ledger, off)
            })
            .collect()
    }
}

pub(super) fn channel<'py>(
    py: Python<'py>,
    (id, from, to): (PortId, u32, u32),
    ledger: &LinkLedger,
    off: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    for (name, value) in [
        ("port", u64::from(id)),
        ("from_router", from.into()),
        ("to_router", to.into()),
        ("transmit_cycles", ledger.transmit),
        // Nobody sends over a link that is off, and its low-power machine takes that for idle.
        ("idle_cycles", ledger.idle.saturating_sub(off)),
        ("off_cycles", off),
        ("sleep_cycles", ledger.sleep),
        ("quiet_cycles", ledger.quiet),
        ("refresh_cycles", ledger.refresh),
        ("fast_cycles", ledger.fast),
        ("wake_cycles", ledger.wake),
        ("wakes", ledger.wakes),
        ("sleeps", ledger.sleeps),
    ] {
        out.set_item(name, value)?;
    }
    Ok(out)
}

/// Routers, nodes, links and diameter of a topology.
#[pyfunction]
pub fn network_facts<'py>(
    py: Python<'py>,
    topology: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyDict>> {
    let network = network(topology)?;
    let diameter = py.detach(|| {
        (0..network.routers())
            .flat_map(|router| network.distances_from(router))
            .max()
    });
    let out = PyDict::new(py);
    out.set_item("routers", network.routers())?;
    out.set_item("nodes", network.nodes())?;
    out.set_item("links", network.links().count())?;
    out.set_item("diameter", diameter.unwrap_or(0))?;
    Ok(out)
}

/// Prove that a routing cannot deadlock: `None`, or the cycle as (router, port of the router, virtual channel).
#[pyfunction]
pub fn prove_deadlock_free(
    py: Python<'_>,
    topology: &Bound<'_, PyDict>,
    routing: &str,
    vcs: u8,
) -> PyResult<Option<Vec<(u32, u32, u8)>>> {
    let network = network(topology)?;
    let routing = Algorithm::named(routing)
        .and_then(|algorithm| Routing::new(&network, algorithm, vcs))
        .map_err(refused)?;
    match py.detach(|| prove(&network, &routing)) {
        Proof::Acyclic { .. } => Ok(None),
        Proof::Cycle(cycle) => Ok(Some(
            cycle
                .into_iter()
                .map(|channel| {
                    let router = network.port(channel.port).router;
                    (router, network.local(channel.port), channel.vc)
                })
                .collect(),
        )),
        Proof::Stuck(header) => Err(SimulationError::new_err(format!(
            "routing: no hop leads on to node {}",
            header.dest
        ))),
    }
}

/// Mean latency of one packet alone over all pairs of nodes, in cycles.
#[pyfunction]
pub fn zero_load_cycles(
    py: Python<'_>,
    topology: &Bound<'_, PyDict>,
    routing: &str,
    parameters: Parameters,
) -> PyResult<f64> {
    let network = network(topology)?;
    let parameters = RouterParameters::from(parameters);
    let routing = Algorithm::named(routing)
        .and_then(|algorithm| Routing::new(&network, algorithm, parameters.vcs))
        .map_err(refused)?;
    py.detach(|| zero_load::mean(&network, &routing, &parameters))
        .map_err(refused)
}
