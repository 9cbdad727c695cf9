//! Programs and replays in a few lines.

use std::sync::Arc;

use interconnect::link::{LinkPolicy, Mode, Timing};
use interconnect::packet::LinkPolicies;
use interconnect::routing::{Algorithm, Routing};
use interconnect::topology::{HyperX, Torus};
use interconnect::{Network, PacketEngine, RouterParameters, Switching};
use replay::collectives::Library;
use replay::costs::{Costs, Rendezvous};
use replay::engine::RankResult;
use replay::jobs::{JobPlan, Placement};
use replay::program::{ROW, Records};
use replay::transport::{LogGops, Transport, Wires};
use replay::{Hosts, Program, Replay, State};

pub const ANY: i32 = -1;
pub const NOBODY: i32 = -2;

/// The calls of a rank, packed.
#[derive(Clone, Default)]
pub struct Calls {
    rows: Vec<u8>,
    lists: Vec<i64>,
    compute_ns: u64,
}

impl Calls {
    pub fn compute(&mut self, ns: u64) -> &mut Self {
        self.compute_ns += ns;
        self
    }

    pub fn call(&mut self, call: u16, peer: i32, tag: i32, bytes: u64, request: i32) -> &mut Self {
        self.full(call, 0, 0, peer, tag, bytes, request, &[])
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "a packed call has so many fields"
    )]
    pub fn full(
        &mut self,
        call: u16,
        flags: u16,
        communicator: u32,
        peer: i32,
        tag: i32,
        bytes: u64,
        request: i32,
        list: &[i64],
    ) -> &mut Self {
        let mut row = Vec::with_capacity(ROW);
        row.extend(call.to_le_bytes());
        row.extend(flags.to_le_bytes());
        row.extend(communicator.to_le_bytes());
        row.extend(peer.to_le_bytes());
        row.extend(tag.to_le_bytes());
        row.extend(request.to_le_bytes());
        row.extend((list.len() as u32).to_le_bytes());
        row.extend((bytes as i64).to_le_bytes());
        row.extend(self.compute_ns.to_le_bytes());
        row.extend((self.lists.len() as u64).to_le_bytes());
        self.compute_ns = 0;
        self.rows.extend(row);
        self.lists.extend(list);
        self
    }

    pub fn send(&mut self, to: i32, bytes: u64, tag: i32) -> &mut Self {
        self.call(1, to, tag, bytes, -1)
    }

    pub fn ssend(&mut self, to: i32, bytes: u64, tag: i32) -> &mut Self {
        self.call(2, to, tag, bytes, -1)
    }

    pub fn isend(&mut self, to: i32, bytes: u64, tag: i32, request: i32) -> &mut Self {
        self.call(4, to, tag, bytes, request)
    }

    pub fn recv(&mut self, from: i32, tag: i32) -> &mut Self {
        self.call(7, from, tag, 0, -1)
    }

    pub fn irecv(&mut self, from: i32, tag: i32, request: i32) -> &mut Self {
        self.call(8, from, tag, 0, request)
    }

    pub fn wait(&mut self, requests: &[i64]) -> &mut Self {
        self.full(9, 0, 0, ANY, 0, 0, -1, requests)
    }

    pub fn cancel(&mut self, request: i32) -> &mut Self {
        self.call(10, ANY, 0, 0, request)
    }

    pub fn collective(&mut self, call: u16, bytes: u64) -> &mut Self {
        self.call(call, 0, 0, bytes, -1)
    }

    pub fn repeat(&mut self, passes: u64) -> &mut Self {
        self.call(40, ANY, 0, passes, -1)
    }

    pub fn end(&mut self) -> &mut Self {
        self.call(41, ANY, 0, 0, -1)
    }
}

/// A program whose communicator 0 is the world.
pub fn program(ranks: &[Calls]) -> Arc<Program> {
    let world = (0..ranks.len() as u32).collect();
    Arc::new(try_program(ranks, vec![world]).unwrap())
}

pub fn try_program(
    ranks: &[Calls],
    communicators: Vec<Vec<u32>>,
) -> Result<Program, replay::ReplayError> {
    let (mut rows, mut lists, mut first) = (Vec::new(), Vec::new(), vec![0]);
    for rank in ranks {
        let base = lists.len() as u64 / 8;
        for row in rank.rows.chunks(ROW) {
            let mut row = row.to_vec();
            let at = u64::from_le_bytes(row[40..48].try_into().unwrap()) + base;
            row[40..48].copy_from_slice(&at.to_le_bytes());
            rows.extend(row);
        }
        lists.extend(rank.lists.iter().flat_map(|number| number.to_le_bytes()));
        first.push((rows.len() / ROW) as u64);
    }
    let records = Records {
        rows: &rows,
        lists: &lists,
        first: &first,
    };
    Program::from_records(records, communicators)
}

/// Messages cost nothing, and none needs a request.
pub fn free() -> Costs {
    Costs {
        send: 0.0,
        send_byte: 0.0,
        receive: 0.0,
        receive_byte: 0.0,
        adapter: 0.0,
        answer: 0.0,
        combine_byte: 0.0,
        memory: 0.0,
        memory_byte: 0.0,
        eager_bytes: u64::MAX,
        rendezvous: Rendezvous::Send,
        request_carries: 0,
        header_bytes: 0,
        ack_bytes: 0,
        ack_packets: 1,
        in_turn: false,
    }
}

pub fn hosts(costs: Costs) -> Hosts {
    Hosts {
        costs,
        tick_ns: 1.0,
        library: Library::OpenMpi41,
        element: 8,
        cores: 1,
    }
}

pub const FLIT_BYTES: u32 = 16;

pub fn parameters() -> RouterParameters {
    RouterParameters {
        vcs: 4,
        buffer_flits: 256,
        packet_flits: 8,
        switching: Switching::CutThrough,
        ..RouterParameters::default()
    }
}

pub fn hyperx(sizes: &[u32], concentration: u32) -> Network {
    HyperX {
        sizes: sizes.to_vec(),
        concentration,
        trunk: 1,
    }
    .build()
    .unwrap()
}

pub fn ring(routers: u32) -> Network {
    Torus {
        radix: vec![routers],
        concentration: 1,
        trunk: 1,
        wraps: true,
    }
    .build()
    .unwrap()
}

pub fn over(network: Network, links: LinkPolicies) -> Transport {
    let routing = Routing::new(&network, Algorithm::DimensionOrder, parameters().vcs).unwrap();
    let mut engine = PacketEngine::of_messages(network, routing, parameters(), 1).unwrap();
    engine.set_links(links).unwrap();
    Transport::Network(Box::new(Wires {
        engine,
        flit_bytes: FLIT_BYTES,
    }))
}

pub fn awake(network: Network) -> Transport {
    over(network, LinkPolicy::default().into())
}

/// Deep sleep at once, which a packet ends after so many cycles.
pub fn deep(wake: u64) -> LinkPolicy {
    LinkPolicy {
        mode: Mode::Deep,
        timing: Timing {
            wake,
            ..Timing::default()
        },
        ..LinkPolicy::default()
    }
}

pub fn log_gops() -> Transport {
    Transport::LogGops(LogGops {
        latency: 2500.0,
        gap: 1000.0,
        gap_byte: 6.0,
    })
}

pub fn job(program: &Arc<Program>, nodes: Vec<u32>) -> JobPlan {
    JobPlan {
        program: Arc::clone(program),
        placement: Placement::Given(nodes),
        start: 0,
        repeats: false,
        compute_scale: 1.0,
    }
}

/// One job, a rank on each of the first nodes.
pub fn replay(transport: Transport, costs: Costs, nodes: u32, program: &Arc<Program>) -> Replay {
    let mut replay = Replay::new(transport, hosts(costs), nodes, 1).unwrap();
    let ranks = program.ranks.len() as u32;
    replay.add(job(program, (0..ranks).collect())).unwrap();
    replay
}

/// Let it end; its ranks.
pub fn finish(replay: &mut Replay) -> Vec<RankResult> {
    assert_eq!(replay.advance(u64::MAX), State::Done);
    replay.results().collect()
}

pub fn ends(replay: &mut Replay) -> Vec<u64> {
    finish(replay)
        .iter()
        .map(|rank| rank.finished.unwrap())
        .collect()
}
