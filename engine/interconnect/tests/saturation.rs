//! The packet engine beside the flit engine, both with packets kept together, where buffers are full: at saturation, with everybody's packets
//! for a few nodes, in bursts, and when what is left drains away. Small networks; `evaluation/accuracy/packet_engine.py` has
//! large ones.

use std::collections::VecDeque;

use crate::networks::{flat, routing, torus};
use interconnect::measure::{Interval, Measurement};
use interconnect::network::NodeId;
use interconnect::rng::Rng;
use interconnect::routing::Algorithm;
use interconnect::topology::{Dragonfly, Tree};
use interconnect::traffic::{Destinations, Pattern};
use interconnect::{FlitEngine, Network, PacketEngine, RouterParameters, Switching};

/// What both engines have.
trait Engine {
    fn advance(&mut self, cycles: u64) -> Interval;
    fn measure(&mut self, on: bool);
    fn measurement(&self) -> &Measurement;
    fn stop_traffic(&mut self);
    /// False if the node is still sending.
    fn try_offer(&mut self, source: NodeId, dest: NodeId) -> bool;
    /// Packets in the network.
    fn left(&self) -> u64;
}

impl Engine for FlitEngine {
    fn advance(&mut self, cycles: u64) -> Interval {
        Self::advance(self, cycles)
    }
    fn measure(&mut self, on: bool) {
        Self::measure(self, on);
    }
    fn measurement(&self) -> &Measurement {
        Self::measurement(self)
    }
    fn stop_traffic(&mut self) {
        Self::stop_traffic(self);
    }
    fn try_offer(&mut self, source: NodeId, dest: NodeId) -> bool {
        self.offer(source, dest)
    }
    fn left(&self) -> u64 {
        self.flits().in_flight
    }
}

impl Engine for PacketEngine {
    fn advance(&mut self, cycles: u64) -> Interval {
        Self::advance(self, cycles)
    }
    fn measure(&mut self, on: bool) {
        Self::measure(self, on);
    }
    fn measurement(&self) -> &Measurement {
        Self::measurement(self)
    }
    fn stop_traffic(&mut self) {
        Self::stop_traffic(self);
    }
    fn try_offer(&mut self, source: NodeId, dest: NodeId) -> bool {
        let free = self.is_free(source);
        if free {
            self.offer(source, dest);
        }
        free
    }
    fn left(&self) -> u64 {
        self.in_flight()
    }
}

/// A network with its routing and routers, for both engines.
struct Case {
    name: &'static str,
    network: Network,
    algorithm: Algorithm,
    parameters: RouterParameters,
}

impl Case {
    fn engines(&self, pattern: &Pattern, load: f64, seed: u64) -> [Box<dyn Engine>; 2] {
        let destinations = || Destinations::new(pattern, self.network.nodes(), &mut Rng::new(1));
        let own = || routing(&self.network, self.algorithm, self.parameters.vcs);
        let (network, parameters) = (&self.network, self.parameters);
        [
            Box::new(
                FlitEngine::new(
                    network.clone(),
                    own(),
                    parameters,
                    destinations().unwrap(),
                    load,
                    seed,
                )
                .unwrap(),
            ),
            Box::new(
                PacketEngine::new(
                    network.clone(),
                    own(),
                    parameters,
                    destinations().unwrap(),
                    load,
                    seed + 1,
                )
                .unwrap(),
            ),
        ]
    }
}

fn cases() -> Vec<Case> {
    let cut_through = |packet_flits, vcs| RouterParameters {
        switching: Switching::CutThrough,
        packet_flits,
        vcs,
        ..RouterParameters::default()
    };
    let stored = RouterParameters {
        switching: Switching::StoreAndForward,
        ..cut_through(4, 4)
    };
    let far = |network: Network| network.with_link_latency(3).unwrap();
    vec![
        Case {
            name: "butterfly",
            network: far(flat(&[4, 4], 4, 1)),
            algorithm: Algorithm::DimensionOrder,
            parameters: cut_through(1, 6),
        },
        Case {
            name: "butterfly, 4 flits",
            network: far(flat(&[4, 4], 4, 1)),
            algorithm: Algorithm::DimensionOrder,
            parameters: cut_through(4, 6),
        },
        Case {
            name: "torus, 4 flits",
            network: far(torus(&[4, 4], true)),
            algorithm: Algorithm::DimensionOrder,
            parameters: cut_through(4, 4),
        },
        Case {
            name: "torus, adaptive, 4 flits",
            network: far(torus(&[4, 4], true)),
            algorithm: Algorithm::MinimalAdaptive,
            parameters: cut_through(4, 4),
        },
        Case {
            name: "butterfly, adaptive, 4 flits",
            network: far(flat(&[4, 4], 4, 1)),
            algorithm: Algorithm::MinimalAdaptive,
            parameters: cut_through(4, 4),
        },
        Case {
            name: "torus, 4 flits stored first",
            network: far(torus(&[4, 4], true)),
            algorithm: Algorithm::DimensionOrder,
            parameters: stored,
        },
        Case {
            name: "tree, 4 flits stored first",
            network: far(Tree::k_ary(4, 2).build().unwrap()),
            algorithm: Algorithm::TreeByDestination,
            parameters: stored,
        },
        Case {
            name: "tree, 4 flits",
            network: far(Tree::k_ary(4, 2).build().unwrap()),
            algorithm: Algorithm::TreeByDestination,
            parameters: cut_through(4, 4),
        },
        Case {
            name: "dragonfly, 4 flits",
            network: far(Dragonfly::balanced(2).build().unwrap()),
            algorithm: Algorithm::DragonflyMinimal,
            parameters: cut_through(4, 4),
        },
    ]
}

/// Two figures of a case that should agree, relative to the flit engine's.
struct Pair {
    what: String,
    flit: f64,
    packet: f64,
    within: f64,
    /// Cycles.
    rounding: f64,
}

/// Percentiles are whole numbers of cycles, or of two or more; where packets are stored first, all that follows a burst keeps
/// in step with their length.
fn rounding(parameters: &RouterParameters) -> f64 {
    match parameters.switching {
        Switching::StoreAndForward => f64::from(parameters.packet_flits).max(2.0),
        Switching::Wormhole | Switching::CutThrough => 2.0,
    }
}

/// All pairs agree; else those that do not are named.
fn agree(pairs: &[Pair]) {
    let mut wrong = Vec::new();
    for Pair {
        what,
        flit,
        packet,
        within,
        rounding,
    } in pairs
    {
        let off = packet / flit - 1.0;
        let line = format!(
            "{what}: flit {flit:.4}, packet {packet:.4}, {:+.1} %",
            100.0 * off
        );
        println!("{line}");
        let rounded = what.ends_with("p99") && (packet - flit).abs() <= *rounding;
        if off.is_nan() || off.abs() > *within && !rounded {
            wrong.push(line);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Flits a node and cycle that are accepted from `from` cycles on, for so many.
fn accepted(engine: &mut dyn Engine, nodes: u32, from: u64, cycles: u64) -> f64 {
    engine.advance(from);
    engine.advance(cycles).flits as f64 / f64::from(nodes) / cycles as f64
}

/// Flits that arrive, a node and cycle, while the first half of those that are left does.
fn drain(engine: &mut dyn Engine, nodes: u32) -> f64 {
    engine.stop_traffic();
    let end = engine.left() / 2;
    let (mut flits, mut cycles) = (0, 0);
    while engine.left() > end {
        flits += engine.advance(1).flits;
        cycles += 1;
    }
    flits as f64 / f64::from(nodes) / f64::from(cycles)
}

/// Means over seeds of what a function finds with each engine.
fn means<const N: usize>(
    case: &Case,
    pattern: &Pattern,
    load: f64,
    seeds: u64,
    found: impl Fn(&mut dyn Engine) -> [f64; N],
) -> [[f64; N]; 2] {
    let mut sums = [[0.0; N]; 2];
    for seed in 0..seeds {
        for (mut engine, sums) in case
            .engines(pattern, load, 7 * seed)
            .into_iter()
            .zip(&mut sums)
        {
            for (sum, one) in sums.iter_mut().zip(found(engine.as_mut())) {
                *sum += one / seeds as f64;
            }
        }
    }
    sums
}

fn pairs_of<const N: usize>(
    case: &Case,
    figures: [(&str, f64); N],
    [flit, packet]: [[f64; N]; 2],
) -> Vec<Pair> {
    let each = figures.into_iter().zip(flit).zip(packet);
    each.map(|(((figure, within), flit), packet)| Pair {
        what: format!("{}, {figure}", case.name),
        flit,
        packet,
        within,
        rounding: rounding(&case.parameters),
    })
    .collect()
}

#[test]
fn at_saturation_as_much_is_accepted_for_ever_and_drains_as_fast() {
    let mut pairs = Vec::new();
    for case in cases() {
        let nodes = case.network.nodes();
        let found = means(&case, &Pattern::Uniform, 1.0, 4, |engine| {
            let soon = accepted(engine, nodes, 1_000, 2_000);
            let late = accepted(engine, nodes, 2_000, 2_000);
            [soon, late, drain(engine, nodes)]
        });
        // What is left in sixteen nodes at the end is a matter of chance.
        let within = if nodes < 64 { 0.15 } else { 0.05 };
        let figures = [("soon", 0.03), ("late", 0.03), ("drained", within)];
        pairs.extend(pairs_of(&case, figures, found));
    }
    agree(&pairs);
}

#[test]
fn hot_nodes_hold_up_all_others_as_much() {
    let mut pairs = Vec::new();
    for case in cases() {
        let hot = Pattern::Hotspots {
            nodes: vec![0, 5],
            share: 0.1,
        };
        let nodes = case.network.nodes();
        let found = means(&case, &hot, 0.9, 4, |engine| {
            [accepted(engine, nodes, 4_000, 4_000)]
        });
        let within = if nodes < 64 { 0.05 } else { 0.03 };
        pairs.extend(pairs_of(&case, [("accepted", within)], found));
    }
    agree(&pairs);
}

/// Cycles until all packets of all nodes have arrived, and their mean latency and its 99th percentile.
fn burst(engine: &mut dyn Engine, lists: &[Vec<NodeId>]) -> [f64; 3] {
    let mut lists: Vec<VecDeque<NodeId>> = lists
        .iter()
        .map(|list| list.iter().copied().collect())
        .collect();
    engine.measure(true);
    let mut cycles = 0;
    loop {
        let mut more = false;
        for (source, list) in (0..).zip(&mut lists) {
            if let Some(&dest) = list.front() {
                more = true;
                if engine.try_offer(source, dest) {
                    list.pop_front();
                }
            }
        }
        if !more && engine.measurement().outstanding() == 0 {
            let latencies = engine.measurement().latencies();
            let late = latencies.quantile(0.99).unwrap() as f64;
            return [f64::from(cycles), latencies.mean().unwrap(), late];
        }
        engine.advance(1);
        cycles += 1;
    }
}

#[test]
fn a_burst_ends_as_soon() {
    let mut pairs = Vec::new();
    for case in cases() {
        let nodes = case.network.nodes();
        let mut rng = Rng::new(9);
        // Everybody to everybody at once: all begin with the next node, or each at a random one.
        let mut all_to_all = |shift: bool| -> Vec<Vec<NodeId>> {
            (0..nodes)
                .map(|node| {
                    let first = if shift { 1 } else { rng.below(nodes) };
                    let others = (first..first + nodes - 1).cycle().take(128);
                    others.map(|by| (node + by) % nodes).collect()
                })
                .collect()
        };
        let (shifted, all_to_all) = (all_to_all(true), all_to_all(false));
        let at_random: Vec<Vec<NodeId>> = (0..nodes)
            .map(|_| (0..128).map(|_| rng.below(nodes)).collect())
            .collect();
        let to_one: Vec<Vec<NodeId>> = (1..=nodes)
            .map(|node| vec![0; if node == nodes { 0 } else { 20 }])
            .collect();
        for (what, lists, within) in [
            ("all to all", all_to_all, 0.04),
            ("at random", at_random, 0.04),
            ("to one", to_one, 0.04),
            // Packets that meet do so at every hop: the engine says so.
            ("all to all in step", shifted, 0.10),
        ] {
            // Adaptive routing draws directions.
            let is_adaptive = case.algorithm == Algorithm::MinimalAdaptive;
            let seeds = if is_adaptive { 4 } else { 1 };
            let found = means(&case, &Pattern::Uniform, 0.0, seeds, |engine| {
                burst(engine, &lists)
            });
            let late = within + if is_adaptive { 0.02 } else { 0.0 };
            let figures = [("end", 0.03), ("mean", within), ("p99", late)];
            for mut pair in pairs_of(&case, figures, found) {
                pair.what = format!("{what}, {}", pair.what);
                pairs.push(pair);
            }
        }
    }
    agree(&pairs);
}
