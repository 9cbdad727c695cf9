//! Latency without other traffic, in closed form.

use crate::error::SimulationError;
use crate::network::{Network, NodeId, Peer};
use crate::parameters::RouterParameters;
use crate::routing::{Header, Routing};

/// Cycles for injection, ejection (a channel of one cycle each) and the hand-over between node and channel.
pub const INTERFACE_CYCLES: u64 = 3;

/// Latency of a packet over `routers` routers and channels with latencies that add up to `channels` cycles, from its
/// creation to its tail's arrival: T₀ = 3 + R·t_r + Σ L + (P - 1). A router that stores packets first adds P - 1 to t_r. A
/// link that is slower than a flit a cycle adds to that.
#[must_use]
pub fn latency(parameters: &RouterParameters, routers: u64, channels: u64) -> u64 {
    INTERFACE_CYCLES + routers * each(parameters) + channels + u64::from(parameters.packet_flits)
        - 1
}

/// Cycles of a router, from when a packet's head has come to when it leaves.
fn each(parameters: &RouterParameters) -> u64 {
    let flits = u64::from(parameters.packet_flits);
    parameters.router_cycles() + parameters.switching.seen_from(flits) - 1
}

/// The least and the mean latency of one packet alone over all ways that the routing may choose, each choice among
/// equals with equal probability.
///
/// # Errors
/// If the routing decides by congestion: then its way alone is the first of its requests, and this closed form would say
/// less than it seems to.
pub fn mean_between(
    network: &Network,
    routing: &Routing,
    parameters: &RouterParameters,
    source: NodeId,
    dest: NodeId,
) -> Result<f64, SimulationError> {
    use crate::routing::Choice;
    if routing.choice() != Choice::Random || routing.decides_at_source() {
        return SimulationError::routing(format!(
            "{} decides by congestion; its latency without other traffic has no closed form here",
            routing.algorithm().name()
        ));
    }
    let port = network.node_port(source);
    let (routers, channels) = walk(network, routing, port, &routing.header(source, dest));
    Ok(
        (INTERFACE_CYCLES + u64::from(parameters.packet_flits) - 1) as f64
            + routers * each(parameters) as f64
            + channels,
    )
}

/// Mean numbers of routers and of channel cycles from an input port to the destination.
fn walk(network: &Network, routing: &Routing, in_port: u32, header: &Header) -> (f64, f64) {
    let mut requests = Vec::new();
    routing.requests(network.port(in_port).router, in_port, header, &mut requests);
    let share = 1.0 / requests.len() as f64;
    let mut mean = (1.0, 0.0);
    for request in requests {
        let port = network.port(request.port);
        if let Peer::Port(next) = port.peer {
            let header = Header {
                phase: request.phase,
                via: request.via,
                ..*header
            };
            let (routers, channels) = walk(network, routing, next, &header);
            mean.0 += share * routers;
            mean.1 += share * (channels + f64::from(port.latency));
        }
    }
    mean
}

/// Mean over all pairs of nodes, a node with itself included (uniform traffic of BookSim2).
///
/// # Errors
/// As [`mean_between`].
pub fn mean(
    network: &Network,
    routing: &Routing,
    parameters: &RouterParameters,
) -> Result<f64, SimulationError> {
    let mut total = 0.0;
    for source in 0..network.nodes() {
        for dest in 0..network.nodes() {
            total += mean_between(network, routing, parameters, source, dest)?;
        }
    }
    Ok(total / f64::from(network.nodes()).powi(2))
}
