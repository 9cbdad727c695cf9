//! Collective calls: the steps of each rank, one after the other.

use std::sync::Arc;

use crate::agenda::Event;
use crate::collectives::{Collective, steps};
use crate::engine::Replay;
use crate::program::SendMode;
use crate::state::{Call, Context, Owner, Target, Waits};
use crate::step::Step;

impl Replay {
    pub(crate) fn begin_call(
        &mut self,
        rank: u32,
        collective: &Collective,
        members: Arc<[u32]>,
        (communicator, me): (u32, u32),
        slot: u32,
    ) {
        let own = &mut self.ranks[rank as usize];
        let number = own.calls.entry(communicator).or_default();
        *number += 1;
        let number = *number;
        let path = own.path;
        let call = self.calls.put(Call {
            kind: collective.kind,
            rank,
            communicator,
            number,
            me,
            members,
            steps: steps(self.hosts.library, collective, me),
            held: None,
            step: 0,
            done: Vec::new(),
            open: 0,
            waits: Waits::Nothing,
            path,
            completes: Target {
                owner: Owner::Rank(rank),
                slot,
            },
        });
        self.run_call(call);
    }

    /// A collective call takes its steps until it waits or its rank's processor is busy.
    pub(crate) fn run_call(&mut self, number: u32) {
        while let Some(step) = self.next_step(number) {
            if !self.take_step(number, step) {
                return;
            }
        }
    }

    /// The step that a call takes now; none if it waits, has ended, or goes on later.
    #[inline]
    fn next_step(&mut self, number: u32) -> Option<Step> {
        let call = &mut self.calls[number];
        let rank = call.rank;
        let free = self.ranks[rank as usize].free;
        if free > self.now {
            self.agenda.put(free, Event::Call(number));
            return None;
        }
        let Some(step) = call.held.take().or_else(|| call.steps.next()) else {
            if call.open > 0 {
                call.waits = Waits::All;
                return None;
            }
            let (completes, path) = (call.completes, call.path);
            self.calls.remove(number);
            self.complete(completes, Some(path));
            return None;
        };
        if matches!(step, Step::Send { .. }) {
            if let Some(at) = self.sends_later(rank) {
                self.calls[number].held = Some(step);
                self.agenda.put(at, Event::Call(number));
                return None;
            }
        }
        Some(step)
    }

    /// A call takes a step; whether it can take the next one.
    #[inline]
    fn take_step(&mut self, number: u32, step: Step) -> bool {
        let call = &mut self.calls[number];
        let target = Target {
            owner: Owner::Call(number),
            slot: call.step,
        };
        call.step += 1;
        match step {
            Step::Send { to, bytes, tag } => {
                call.open += 1;
                let context = call.context(call.me, tag);
                let (rank, path) = (call.rank, call.path);
                let job = self.ranks[rank as usize].job;
                let to = self.jobs[job as usize].first_rank + call.members[to as usize];
                let what = ((0, 0), bytes, SendMode::Standard);
                if self.send((rank, to), context, what, target, path) {
                    self.complete(target, None);
                }
            }
            Step::Receive { from, tag, .. } => {
                call.open += 1;
                let context = call.context(from, tag);
                let rank = call.rank;
                self.post_half(rank, context, target);
                // Nothing else may look after its sender: the call may post more receives, or wait.
                if let Some(message) = self.freed.take() {
                    self.free_sender(message);
                }
            }
            Step::WaitFor { step } if !call.is_done(step) => {
                call.waits = Waits::Step(step);
                return false;
            }
            Step::Wait if call.open > 0 => {
                call.waits = Waits::All;
                return false;
            }
            Step::WaitFor { .. } | Step::Wait => {}
            Step::Begin => {
                call.open += 1;
                let part = call.part(target);
                let part = self.calls.put(part);
                self.run_call(part);
            }
            Step::Combine { bytes } => {
                let own = &mut self.ranks[call.rank as usize];
                let ticks = own.whole(self.hosts.costs.combine_byte * bytes as f64);
                own.free = self.now + ticks;
                own.account.compute += ticks;
                call.path.compute += ticks;
            }
        }
        true
    }
}

impl Call {
    /// Of a message that this rank of its communicator sends in it.
    const fn context(&self, source: u32, tag: u32) -> Context {
        Context {
            communicator: self.communicator,
            call: self.number,
            source,
            tag: tag as i32,
        }
    }
}
