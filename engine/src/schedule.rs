//! The fabric on a clock that jumps from event to event.

use std::collections::{BTreeMap, VecDeque};

use fabric::{Delivery, Fabric, Frame, PortId, Ps};

/// Frames that hosts will send, and frames that wait in a host for a full NIC ring.
#[derive(Debug, Default)]
pub struct Schedule {
    /// By time, then in the order of planning.
    planned: BTreeMap<(Ps, u64), (PortId, Frame)>,
    waiting: BTreeMap<PortId, VecDeque<Frame>>,
    planned_count: u64,
}

impl Schedule {
    /// Let a host send a frame at `at`. A host queues without limit what its ring does not take.
    pub fn plan(&mut self, at: Ps, nic: PortId, frame: Frame) {
        self.planned.insert((at, self.planned_count), (nic, frame));
        self.planned_count += 1;
    }

    /// Pass time up to and including `until`.
    pub fn run(&mut self, fabric: &mut Fabric, until: Ps, out: &mut Vec<Delivery>) {
        while let Some(at) = self.next(fabric, until) {
            while let Some(entry) = self.planned.first_entry() {
                if entry.key().0 > at {
                    break;
                }
                let (nic, frame) = entry.remove();
                self.waiting.entry(nic).or_default().push_back(frame);
                self.offer(fabric, at);
            }
            fabric.poll(at, out);
            self.offer(fabric, at);
        }
        fabric.poll(until, out);
    }

    /// The next moment to stop at: the next frame to be sent or, with frames waiting, every event, since any may free
    /// a ring.
    fn next(&self, fabric: &Fabric, until: Ps) -> Option<Ps> {
        let planned = self.planned.keys().next().map(|(at, _)| *at);
        let event = if self.waiting.is_empty() {
            None
        } else {
            fabric.poll_at()
        };
        [planned, event]
            .into_iter()
            .flatten()
            .min()
            .filter(|at| *at <= until)
    }

    fn offer(&mut self, fabric: &mut Fabric, now: Ps) {
        self.waiting.retain(|nic, frames| {
            while let Some(frame) = frames.pop_front() {
                if let Err(frame) = fabric.transmit(now, *nic, frame) {
                    frames.push_front(frame);
                    return true;
                }
            }
            false
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabric::NicSpec;
    use fabric::time::PS_PER_S;

    #[test]
    fn a_full_ring_delays_and_loses_nothing() {
        let mut fabric = Fabric::new(1, 0);
        let nics = [1, 2].map(|number| {
            let mut spec =
                NicSpec::new(&format!("n{number}"), [2, 0, 0, 0, 0, number], "1000BASE-T");
            spec.ring_frames = 2;
            fabric.add_nic(spec).expect("a NIC")
        });
        fabric.connect(0, nics[0], nics[1], 1.0).expect("a cable");
        let mut schedule = Schedule::default();
        for number in 0..50_u8 {
            let frame = Frame::from_wire([[2; 14].as_slice(), &[number; 100]].concat().into());
            schedule.plan(20 * PS_PER_S, nics[0], frame);
        }
        let mut out = Vec::new();
        schedule.run(&mut fabric, 21 * PS_PER_S, &mut out);
        let order: Vec<u8> = out
            .iter()
            .map(|delivery| delivery.frame.bytes[14])
            .collect();
        assert_eq!(order, (0..50).collect::<Vec<u8>>());
        assert!(out.windows(2).all(|pair| pair[0].at < pair[1].at));
    }
}
