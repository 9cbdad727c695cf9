//! Where the packet engine's results differ from the flit engine's.

use super::PacketEngine;
use crate::parameters::RouterParameters;

impl PacketEngine {
    /// Where its assumptions are weak, in sentences; none if they hold.
    #[must_use]
    pub fn doubts(&self) -> Vec<String> {
        let RouterParameters {
            buffer_flits,
            packet_flits,
            credit_delay,
            speedup,
            ..
        } = self.parameters;
        let mut doubts = Vec::new();
        // What is under way while a credit comes back.
        let round_trip = 2 * self.network.longest_latency() + 3 + u32::from(credit_delay);
        let room = u32::from(buffer_flits) * u32::from(self.parameters.vcs);
        if speedup == 1 {
            doubts.push(
                "with a speedup of 1 the inputs of the switch decide, which the packet engine leaves out".to_owned(),
            );
        }
        if u32::from(buffer_flits) < 2 * packet_flits {
            doubts.push(format!(
                "buffers of {buffer_flits} flits hold one packet of {packet_flits}: allocation, which the packet engine has \
                 succeed at once, decides"
            ));
        }
        if self.routing.looks_at_queues() {
            doubts.push(format!(
                "{} weighs queues, which are a little shorter in the packet engine: its saturation is up to 1 % off",
                self.routing.algorithm().name()
            ));
        }
        if self.several.is_some() {
            doubts.push(format!(
                "{} takes the first open virtual channel, and the packet engine's switches lose no step: near saturation it is \
                 up to 5 % too fast",
                self.routing.algorithm().name()
            ));
        }
        if room < round_trip + packet_flits {
            doubts.push(format!(
                "the buffers behind a link hold {room} flits, fewer than are under way in a round trip of {round_trip} cycles"
            ));
        }
        if self.backlog() > 1000 + 10 * u64::from(packet_flits) {
            let how = if self.routing.looks_at_queues() {
                "too much"
            } else {
                "up to 3 % too much"
            };
            doubts.push(format!(
                "nodes wait longer and longer: past saturation the packet engine accepts {how}"
            ));
        }
        doubts
    }
}
