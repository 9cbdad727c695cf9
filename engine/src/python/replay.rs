//! `ProgramReplay` in Python.

use std::sync::Arc;

use interconnect::link::{LinkLedger, LinkPolicy};
use interconnect::network::Peer;
use interconnect::packet::{DelayBound, LinkPolicies};
use interconnect::routing::{Algorithm, Routing};
use interconnect::{PacketEngine, RouterParameters};
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use replay::collectives::Library;
use replay::costs::{Costs, Rendezvous};
use replay::jobs::{JobPlan, Placement};
use replay::program::Records;
use replay::transport::{LogGops, Transport, Wires};
use replay::{Hosts, Program, Replay, ReplayError, State};

use super::error::{SimulationError, refused};
use super::interconnect::channel;
use super::network_description::{Parameters, Policy, Tcep, network};

fn wrong(error: ReplayError) -> PyErr {
    SimulationError::new_err(error.to_string())
}

/// [`Costs`] as Python writes them, in ns.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct HostCosts {
    send: f64,
    send_byte: f64,
    receive: f64,
    receive_byte: f64,
    adapter: f64,
    answer: f64,
    combine_byte: f64,
    memory: f64,
    memory_byte: f64,
    eager_bytes: u64,
    rendezvous: String,
    request_carries: u64,
    header_bytes: u64,
    ack_bytes: u64,
    ack_packets: u32,
    in_turn: bool,
}

impl TryFrom<HostCosts> for Costs {
    type Error = PyErr;

    fn try_from(own: HostCosts) -> PyResult<Self> {
        let rendezvous = Rendezvous::named(&own.rendezvous).ok_or_else(|| {
            SimulationError::new_err(format!(
                "parameter: rendezvous {:?} is unknown; known are {}",
                own.rendezvous,
                Rendezvous::ALL.map(Rendezvous::name).join(", ")
            ))
        })?;
        Ok(Self {
            send: own.send,
            send_byte: own.send_byte,
            receive: own.receive,
            receive_byte: own.receive_byte,
            adapter: own.adapter,
            answer: own.answer,
            combine_byte: own.combine_byte,
            memory: own.memory,
            memory_byte: own.memory_byte,
            eager_bytes: own.eager_bytes,
            rendezvous,
            request_carries: own.request_carries,
            header_bytes: own.header_bytes,
            ack_bytes: own.ack_bytes,
            ack_packets: own.ack_packets,
            in_turn: own.in_turn,
        })
    }
}

/// A network as Python writes it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct NetworkForm<'py> {
    topology: Bound<'py, PyDict>,
    routing: String,
    parameters: Parameters,
    link: Policy,
    node_link: Policy,
    card_link: Policy,
    /// Share of the time that a link's wakes may take, and cycles between two choices of its hold.
    bound: Option<(f64, u64)>,
    consolidation: Option<Tcep>,
    flit_bytes: u32,
}

impl NetworkForm<'_> {
    fn transport(self, seed: u64) -> PyResult<(Transport, u32)> {
        let network = network(&self.topology)?;
        let nodes = network.nodes();
        let parameters = RouterParameters::try_from(self.parameters)?;
        let policies = LinkPolicies {
            routers: LinkPolicy::try_from(self.link)?,
            nodes: LinkPolicy::try_from(self.node_link)?,
            cards: LinkPolicy::try_from(self.card_link)?,
            bound: self.bound.map(|(share, epoch)| DelayBound { share, epoch }),
        };
        if self.flit_bytes == 0 {
            return Err(SimulationError::new_err(
                "parameter: a flit has at least one byte",
            ));
        }
        let routing = Algorithm::named(&self.routing)
            .and_then(|algorithm| Routing::new(&network, algorithm, parameters.vcs))
            .map_err(refused)?;
        let mut engine =
            PacketEngine::of_messages(network, routing, parameters, seed).map_err(refused)?;
        engine.set_links(policies).map_err(refused)?;
        if let Some(tcep) = self.consolidation {
            engine.set_consolidation(tcep.into()).map_err(refused)?;
        }
        let wires = Wires {
            engine,
            flit_bytes: self.flit_bytes,
        };
        Ok((Transport::Network(Box::new(wires)), nodes))
    }
}

struct Inner {
    replay: Replay,
    programs: Vec<Arc<Program>>,
}

/// Programs, their jobs, and the machine that they run on.
#[pyclass(frozen, name = "ProgramReplay", module = "eee_engine")]
pub struct ProgramReplay {
    inner: Mutex<Inner>,
}

#[pymethods]
impl ProgramReplay {
    #[new]
    #[pyo3(signature = (*, nodes, tick_ns, hosts, library, element_bytes, cores, seed, network = None, log_gops = None))]
    #[expect(clippy::too_many_arguments, reason = "keywords in Python")]
    fn new(
        nodes: u32,
        tick_ns: f64,
        hosts: HostCosts,
        library: &str,
        element_bytes: u64,
        cores: u32,
        seed: u64,
        network: Option<NetworkForm<'_>>,
        log_gops: Option<(f64, f64, f64)>,
    ) -> PyResult<Self> {
        let Some(library) = Library::named(library) else {
            return Err(SimulationError::new_err(format!(
                "library: {library:?} is unknown; known are {}",
                Library::ALL.map(Library::name).join(", ")
            )));
        };
        if !(tick_ns.is_finite() && tick_ns > 0.0) {
            return Err(SimulationError::new_err(format!(
                "parameter: a tick takes some time, not {tick_ns} ns"
            )));
        }
        let (transport, nodes) = match (network, log_gops) {
            (Some(network), None) => network.transport(seed)?,
            (None, Some((latency, gap, gap_byte))) => (
                Transport::LogGops(LogGops {
                    latency: latency / tick_ns,
                    gap: gap / tick_ns,
                    gap_byte: gap_byte / tick_ns,
                }),
                nodes,
            ),
            _ => {
                return Err(SimulationError::new_err(
                    "parameter: a replay has either a network or LogGOPS",
                ));
            }
        };
        let hosts = Hosts {
            costs: Costs::try_from(hosts)?.in_ticks(tick_ns),
            tick_ns,
            library,
            element: element_bytes,
            cores,
        };
        let replay = Replay::new(transport, hosts, nodes, seed).map_err(wrong)?;
        Ok(Self {
            inner: Mutex::new(Inner {
                replay,
                programs: Vec::new(),
            }),
        })
    }

    fn add_program(
        &self,
        py: Python<'_>,
        rows: &[u8],
        lists: &[u8],
        first: Vec<u64>,
        communicators: Vec<Vec<u32>>,
    ) -> PyResult<usize> {
        let program = py.detach(|| {
            let records = Records {
                rows,
                lists,
                first: &first,
            };
            Program::from_records(records, communicators)
        });
        let mut inner = self.inner.lock();
        inner.programs.push(Arc::new(program.map_err(wrong)?));
        Ok(inner.programs.len() - 1)
    }

    #[pyo3(signature = (program, nodes, *, start_ticks = 0, repeats = false, compute_scale = 1.0))]
    fn add_job(
        &self,
        program: usize,
        nodes: Option<Vec<u32>>,
        start_ticks: u64,
        repeats: bool,
        compute_scale: f64,
    ) -> PyResult<u32> {
        let mut inner = self.inner.lock();
        let Some(program) = inner.programs.get(program).map(Arc::clone) else {
            return Err(SimulationError::new_err(format!(
                "there is no program {program}"
            )));
        };
        let plan = JobPlan {
            program,
            placement: nodes.map_or(Placement::Scheduled, Placement::Given),
            start: start_ticks,
            repeats,
            compute_scale,
        };
        inner.replay.add(plan).map_err(wrong)
    }

    fn advance(&self, py: Python<'_>, events: u64) -> &'static str {
        match py.detach(|| self.inner.lock().replay.advance(events)) {
            State::Running => "running",
            State::Done => "done",
            State::Stuck => "stuck",
        }
    }

    fn progress<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = self.inner.lock().replay.progress();
        let out = PyDict::new(py);
        out.set_item("now_ticks", found.now)?;
        out.set_item("calls", found.calls.0)?;
        out.set_item("calls_in_all", found.calls.1)?;
        out.set_item("messages", found.messages)?;
        out.set_item("jobs_ended", found.jobs.0)?;
        out.set_item("jobs", found.jobs.1)?;
        Ok(out)
    }

    fn waiting<'py>(&self, py: Python<'py>, most: usize) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let waiting = self.inner.lock().replay.waiting(most);
        waiting
            .into_iter()
            .map(|one| {
                let out = PyDict::new(py);
                out.set_item("job", one.job)?;
                out.set_item("rank", one.rank)?;
                out.set_item("call", one.call)?;
                out.set_item("what", one.what)?;
                Ok(out)
            })
            .collect()
    }

    fn ranks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut inner = self.inner.lock();
        let found: Vec<_> = inner.replay.results().collect();
        let out = PyDict::new(py);
        macro_rules! column {
            ($name:literal, $one:ident => $value:expr) => {
                let values: Vec<_> = found.iter().map(|$one| $value).collect();
                out.set_item($name, values)?;
            };
        }
        column!("job", one => one.job);
        column!("rank", one => one.rank);
        column!("node", one => one.node);
        column!("finished_ticks", one => one.finished);
        column!("compute_ticks", one => one.account.compute);
        column!("wait_ticks", one => one.account.wait);
        column!("calls", one => one.account.calls);
        column!("messages", one => one.account.messages);
        column!("bytes", one => one.account.bytes);
        column!("local_messages", one => one.account.local_messages);
        column!("local_bytes", one => one.account.local_bytes);
        column!("path_wakes", one => one.path.wakes);
        column!("path_compute_ticks", one => one.path.compute);
        column!("path_messages", one => one.path.messages);
        column!("most_posted", one => one.depths.most_posted);
        column!("most_unexpected", one => one.depths.most_unexpected);
        column!("expected_messages", one => one.depths.expected_messages);
        column!("unexpected_messages", one => one.depths.unexpected_messages);
        Ok(out)
    }

    fn runs(&self, job: u32) -> PyResult<Vec<(u64, u64)>> {
        let inner = self.inner.lock();
        match inner.replay.runs(job) {
            Some(runs) => Ok(runs.to_vec()),
            None => Err(SimulationError::new_err(format!("there is no job {job}"))),
        }
    }

    fn unmatched(&self) -> (u64, u64) {
        self.inner.lock().replay.unmatched()
    }

    fn left_over(&self) -> Vec<String> {
        self.inner.lock().replay.left_over()
    }

    /// Ledgers of all channels between routers.
    fn channels<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.ledgers(py, |engine| {
            let network = engine.network();
            (0..)
                .zip(network.ports())
                .filter_map(|(id, port)| match port.peer {
                    Peer::Port(peer) => {
                        let ends = (id, port.router, network.port(peer).router);
                        let ledger = engine.link(id).unwrap_or_default();
                        let gated = (engine.off_cycles(id), engine.turning_on_cycles(id));
                        Some((ends, ledger, gated))
                    }
                    Peer::Node(_) => None,
                })
                .collect()
        })
    }

    /// Ledgers of all channels to nodes, then of those from nodes.
    fn node_channels<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.ledgers(py, |engine| {
            let network = engine.network();
            let nodes = 0..network.nodes();
            let to = nodes.clone().map(|node| {
                let port = network.node_port(node);
                let ends = (port, network.router_of(node), node);
                (ends, engine.link(port).unwrap_or_default(), (0, 0))
            });
            let from = nodes.map(|node| {
                let ends = (network.node_port(node), node, network.router_of(node));
                (ends, engine.node_link(node).unwrap_or_default(), (0, 0))
            });
            to.chain(from).collect()
        })
    }

    /// Packets so far, and what their latencies add up to; control packets of TCEP apart. Zeros without a network.
    fn packets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (packets, latency, control) = match self.inner.lock().replay.transport() {
            Transport::Network(wires) => (
                wires.engine.packets().0,
                wires.engine.message_latency(),
                wires.engine.consolidation().control_packets,
            ),
            Transport::LogGops(_) => (0, 0, 0),
        };
        let out = PyDict::new(py);
        out.set_item("packets", packets)?;
        out.set_item("latency_cycles", latency)?;
        out.set_item("control_packets", control)?;
        Ok(out)
    }

    /// Links between routers that packets have taken.
    fn packet_hops(&self) -> u64 {
        match self.inner.lock().replay.transport() {
            Transport::Network(wires) => wires.engine.hops(),
            Transport::LogGops(_) => 0,
        }
    }
}

/// Port and ends of a channel, its ledger, and the cycles in which it was off or turning on.
type Ledger = ((u32, u32, u32), LinkLedger, (u64, u64));

impl ProgramReplay {
    fn ledgers<'py>(
        &self,
        py: Python<'py>,
        of: impl Fn(&PacketEngine) -> Vec<Ledger>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let ledgers = match self.inner.lock().replay.transport() {
            Transport::Network(wires) => of(&wires.engine),
            Transport::LogGops(_) => Vec::new(),
        };
        ledgers
            .iter()
            .map(|(ends, ledger, gated)| channel(py, *ends, ledger, *gated))
            .collect()
    }
}
