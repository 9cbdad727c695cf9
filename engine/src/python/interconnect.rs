//! `NetworkSimulation` in Python.

use interconnect::link::{LinkLedger, LinkPolicy};
use interconnect::measure::{Histogram, Interval};
use interconnect::network::{Peer, PortId};
use interconnect::rng::Rng;
use interconnect::routing::dependency::{Proof, prove};
use interconnect::routing::{Algorithm, Routing};
use interconnect::traffic::Destinations;
use interconnect::{FlitEngine, PacketEngine, RouterParameters, zero_load};
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::error::{SimulationError, refused};
use super::network_description::{Jobs, Parameters, Policy, Slac, Tcep, batches, network, pattern};

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

/// A flit engine with what it has beyond its network and traffic.
fn equipped(
    mut engine: FlitEngine,
    policy: LinkPolicy,
    consolidation: Option<Tcep>,
    stages: Option<Slac>,
    jobs: Option<Jobs>,
) -> PyResult<FlitEngine> {
    engine.set_links(policy);
    if let Some(tcep) = consolidation {
        engine.set_consolidation(tcep.into()).map_err(refused)?;
    }
    if let Some(slac) = stages {
        engine.set_stages(slac.into()).map_err(refused)?;
    }
    if let Some((shares, packets, stock)) = jobs {
        engine.set_jobs(&shares, &packets, stock).map_err(refused)?;
    }
    Ok(engine)
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
        let parameters = RouterParameters::try_from(parameters)?;
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
                let engine =
                    FlitEngine::new(network, routing, parameters, destinations, load, seed)
                        .map_err(refused)?;
                Engine::Flit(Box::new(equipped(
                    engine,
                    policy,
                    consolidation,
                    stages,
                    batches(traffic)?,
                )?))
            }
            "packet" if stages.is_some() || batches(traffic)?.is_some() => {
                return Err(SimulationError::new_err(
                    "parameter: SLaC, and jobs with loads of their own, are for the flit engine",
                ));
            }
            "packet" => {
                let mut engine =
                    PacketEngine::new(network, routing, parameters, destinations, load, seed)
                        .map_err(refused)?;
                if let Some(tcep) = consolidation {
                    engine.set_consolidation(tcep.into()).map_err(refused)?;
                }
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
            Engine::Packet(engine) => engine.consolidation(),
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
                let gated =
                    either!(&*guard, own => (own.off_cycles(id), own.turning_on_cycles(id)));
                channel(py, (id, from, to), &ledger, gated)
            })
            .collect()
    }
}

pub(super) fn channel<'py>(
    py: Python<'py>,
    (id, from, to): (PortId, u32, u32),
    ledger: &LinkLedger,
    (off, turning_on): (u64, u64),
) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    for (name, value) in [
        ("port", u64::from(id)),
        ("from_router", from.into()),
        ("to_router", to.into()),
        ("transmit_cycles", ledger.transmit),
        ("idle_cycles", ledger.idle),
        ("off_cycles", off),
        ("turning_on_cycles", turning_on),
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
    let parameters = RouterParameters::try_from(parameters)?;
    let routing = Algorithm::named(routing)
        .and_then(|algorithm| Routing::new(&network, algorithm, parameters.vcs))
        .map_err(refused)?;
    py.detach(|| zero_load::mean(&network, &routing, &parameters))
        .map_err(refused)
}
