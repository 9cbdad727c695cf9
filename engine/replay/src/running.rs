//! A rank's calls: computing, loops, sends, receives, waits, and the beginning of collective calls.

use std::sync::Arc;

use crate::agenda::Event;
use crate::collectives::{Collective, Library, Nodes};
use crate::engine::Replay;
use crate::program::{Call, Op, Place, Program, RankCalls, Source};
use crate::state::{Context, Owner, POINT_TO_POINT, Rank, Target};
use crate::transport::Transport;

/// A call that a rank makes, and where it stands.
#[derive(Copy, Clone)]
struct Made<'a> {
    rank: u32,
    job: usize,
    program: &'a Program,
    calls: &'a RankCalls,
    call: &'a Call,
}

impl Made<'_> {
    const fn target(&self, slot: u32) -> Target {
        Target {
            owner: Owner::Rank(self.rank),
            slot,
        }
    }
}

impl Replay {
    /// A rank makes its calls until it waits or its processor is busy. A receive that is due is posted though a message has
    /// taken the processor meanwhile. Without a network a wait begins though the processor is busy, as in LogGOPSim: what
    /// comes behind it is due when the processor is free, as it stands when the last request is complete.
    pub(crate) fn run_rank(&mut self, rank: u32, due: bool) {
        self.make_calls(rank, due);
        if let Some(message) = self.freed.take() {
            self.free_sender(message);
        }
    }

    fn make_calls(&mut self, rank: u32, mut due: bool) {
        let job = self.ranks[rank as usize].job as usize;
        let program = Arc::clone(&self.jobs[job].plan.program);
        let scale = self.jobs[job].plan.compute_scale / self.hosts.tick_ns;
        let calls = &program.ranks[self.ranks[rank as usize].own as usize];
        let without_network = matches!(self.transport, Transport::LogGops(_));
        let mut fresh = due;
        loop {
            let own = &mut self.ranks[rank as usize];
            if own.missing > 0 {
                return;
            }
            let call = calls.calls.get(own.at as usize);
            let at_once = call.is_some_and(|call| own.is_at_once(call, due, without_network));
            if own.free > self.now && !at_once {
                let at = own.free;
                self.go_on_at(at, rank, due);
                return;
            }
            due &= call.is_some_and(|call| own.only_waits(call));
            let Some(call) = call else {
                self.finish_rank(rank);
                return;
            };
            if !fresh && without_network && call.takes_turns() {
                self.agenda.put(self.now, Event::Rank(rank));
                return;
            }
            if !own.computed && call.compute_ns > 0 {
                own.compute(self.now, call.compute_ns as f64 * scale);
                fresh = false;
                continue;
            }
            if call.sends() {
                if let Some(at) = self.sends_later(rank) {
                    self.go_on_at(at, rank, fresh);
                    return;
                }
            }
            fresh &= !matches!(
                call.op,
                Op::Send { .. } | Op::Receive { .. } | Op::Collective { .. }
            );
            let own = &mut self.ranks[rank as usize];
            own.computed = false;
            own.at += 1;
            if own.goes_around(call.op) {
                continue;
            }
            own.account.calls += 1;
            self.made += u64::from(self.jobs[job].run == 0);
            self.make(Made {
                rank,
                job,
                program: &program,
                calls,
                call,
            });
        }
    }

    /// A rank goes on later; it keeps its place if this entry of the agenda is its own.
    fn go_on_at(&mut self, at: u64, rank: u32, keeps_place: bool) {
        let event = Event::Rank(rank);
        if keeps_place {
            self.agenda.put_off(at, event);
        } else {
            self.agenda.put(at, event);
        }
    }

    #[inline]
    fn make(&mut self, made: Made<'_>) {
        match made.call.op {
            Op::Compute | Op::Loop { .. } | Op::End => {}
            Op::Send { .. } => self.make_send(made),
            Op::Receive { .. } => self.make_receive(made),
            Op::Wait => {
                for &request in made.calls.list(made.call) {
                    self.await_request(made.rank, request as u32);
                }
            }
            Op::Cancel { request } => {
                if self.ranks[made.rank as usize].matcher.withdraw(request) {
                    self.complete(made.target(request), None);
                }
            }
            Op::Collective { .. } => self.make_collective(made),
        }
    }

    #[inline]
    fn make_send(&mut self, made: Made<'_>) {
        let (rank, call) = (made.rank, made.call);
        let Op::Send {
            mode,
            channel,
            tag,
            bytes,
            request,
        } = call.op
        else {
            return;
        };
        let slot = self.open_request(rank, request);
        let done = channel.is_none_or(|channel| {
            let (_, peer) = made.calls.channels[channel as usize];
            let to = self.global(made.job, call.communicator, peer);
            let line = self.line(rank, channel, to, (call.communicator, call.me));
            let path = self.ranks[rank as usize].path;
            let context = Context {
                communicator: call.communicator,
                call: POINT_TO_POINT,
                source: call.me,
                tag,
            };
            let what = (line, bytes, mode);
            self.send((rank, to), context, what, made.target(slot), path)
        });
        self.end_request(rank, slot, done, request.is_none());
    }

    #[inline]
    fn make_receive(&mut self, made: Made<'_>) {
        let (rank, call) = (made.rank, made.call);
        let Op::Receive { from, tag, request } = call.op else {
            return;
        };
        let slot = self.open_request(rank, request);
        if from == Source::Nobody {
            self.complete(made.target(slot), None);
        } else {
            let own = &mut self.ranks[rank as usize];
            let met = own.matcher.post(call.communicator, from, tag, slot);
            if let Some(message) = met {
                self.meet(message, made.target(slot), true);
            }
        }
        self.end_request(rank, slot, false, request.is_none());
    }

    fn make_collective(&mut self, made: Made<'_>) {
        let (rank, call) = (made.rank, made.call);
        let Op::Collective {
            kind,
            root,
            bytes,
            in_place,
            commutative,
            request,
        } = call.op
        else {
            return;
        };
        let slot = self.open_request(rank, request);
        let members = Arc::clone(&made.program.communicators[call.communicator as usize]);
        let list = made.calls.list(call);
        let collective = Collective {
            kind,
            ranks: members.len() as u32,
            root,
            bytes,
            element: self.hosts.element,
            in_place,
            commutative,
            sizes: (!list.is_empty()).then(|| Arc::from(list)),
            nodes: self.nodes_of(made.job, call.communicator),
        };
        let place = (call.communicator, call.me);
        self.begin_call(rank, &collective, members, place, slot);
        self.end_request(rank, slot, false, request.is_none());
    }

    /// The nodes of a communicator's ranks, for libraries that ask for them.
    fn nodes_of(&mut self, job: usize, communicator: u32) -> Option<Arc<Nodes>> {
        if self.hosts.library != Library::OpenMpi50 {
            return None;
        }
        let own = &mut self.jobs[job];
        let ranks = &self.nodes[own.first_rank as usize..];
        let members = &own.plan.program.communicators[communicator as usize];
        let nodes = own.nodes.entry(communicator).or_insert_with(|| {
            let nodes: Vec<u32> = members.iter().map(|&world| ranks[world as usize]).collect();
            Arc::new(Nodes::new(&nodes))
        });
        Some(Arc::clone(nodes))
    }

    /// The number of a channel's next message, and the lane of its receiver.
    fn line(&mut self, rank: u32, channel: u32, to: u32, place: Place) -> (u32, u32) {
        let own = &mut self.ranks[rank as usize].channels[channel as usize];
        own.sent += 1;
        let number = own.sent - 1;
        if let Some(lane) = own.lane {
            return (number, lane);
        }
        let lane = self.ranks[to as usize].matcher.lane(place);
        self.ranks[rank as usize].channels[channel as usize].lane = Some(lane);
        (number, lane)
    }

    /// A rank of a communicator, over all jobs.
    fn global(&self, job: usize, communicator: u32, peer: u32) -> u32 {
        let job = &self.jobs[job];
        job.first_rank + job.plan.program.communicators[communicator as usize][peer as usize]
    }
}

impl Rank {
    /// Whether a call posts a receive now, its computing done.
    fn posts(&self, call: &Call) -> bool {
        matches!(call.op, Op::Receive { .. }) && (self.computed || call.compute_ns == 0)
    }

    /// Whether a call is made although the processor is busy: it posts or waits, and its turn has come, or it waits
    /// without a network and without computing before.
    #[inline]
    fn is_at_once(&self, call: &Call, due: bool, without_network: bool) -> bool {
        let waits = without_network && self.only_waits(call);
        (due && (self.posts(call) || waits)) || (waits && call.compute_ns == 0)
    }

    /// Whether a call has nothing to do but to wait, its computing done.
    fn only_waits(&self, call: &Call) -> bool {
        matches!(call.op, Op::Wait) && (self.computed || call.compute_ns == 0)
    }

    /// It computes from now on.
    fn compute(&mut self, now: u64, ticks: f64) {
        let ticks = self.whole(ticks);
        self.computed = true;
        self.account.compute += ticks;
        self.path.compute += ticks;
        self.free = now + ticks;
    }

    /// Begin a loop or its next pass, or end it; whether that is what a call does.
    fn goes_around(&mut self, op: Op) -> bool {
        match op {
            Op::Loop { passes: 0, behind } => self.at = behind,
            Op::Loop { passes, .. } => self.loops.push((self.at, passes)),
            Op::End => {
                if let Some((start, left)) = self.loops.last_mut() {
                    *left -= 1;
                    if *left > 0 {
                        self.at = *start;
                    } else {
                        self.loops.pop();
                    }
                }
            }
            _ => return false,
        }
        true
    }
}

impl Call {
    /// Whether it sends a message: one to nobody does not.
    const fn sends(&self) -> bool {
        matches!(
            self.op,
            Op::Send {
                channel: Some(_),
                ..
            }
        )
    }

    /// Without a network, whether it comes behind what waits for the processor, if it follows another call.
    const fn takes_turns(&self) -> bool {
        self.compute_ns > 0 || matches!(self.op, Op::Send { .. } | Op::Receive { .. })
    }
}
