//! The replay itself: time, ranks, collective calls and jobs. `protocol` has what happens to messages.
//!
//! Time is counted in ticks: cycles of the network, or whatever the costs are in without one. What hosts do at a tick comes
//! before what the network does in it; what arrives in a cycle is there with the next one. At equal times events take
//! place in the order in which they were entered, so that a replay gives the same result each time.
//!
//! Simplifications, each with what would show it:
//! - A request or clearance is answered at once, also while the rank computes, as if a thread looked after it. Libraries
//!   without one answer in the next MPI call: large messages to a rank that computes would come later.
//! - A call costs processor time for each message, none for itself: MPI_Test loops are computing.

use std::sync::Arc;

use interconnect::network::NodeId;
use interconnect::packet::Signal;

use crate::agenda::{Agenda, Event};
use crate::ahead::AHEAD;
use crate::collectives::{Collective, Library, Nodes, steps};
use crate::costs::{Costs, whole};
use crate::error::ReplayError;
use crate::hash::FastMap;
use crate::jobs::{Job, JobPlan, Placement, Scheduler};
use crate::matching::Depths;
use crate::program::{Op, Place, SendMode, Source};
use crate::slots::Slots;
use crate::state::{
    Account, Call, Context, Message, Owner, POINT_TO_POINT, Path, Rank, Request, Target, Waits,
};
use crate::step::Step;
use crate::transport::Transport;

/// What a replay does at hosts.
#[derive(Copy, Clone, Debug)]
pub struct Hosts {
    /// Costs of messages, in ticks.
    pub costs: Costs,
    /// Length of a tick, in ns.
    pub tick_ns: f64,
    /// Whose collective algorithms.
    pub library: Library,
    /// Bytes of an element of a reduction.
    pub element: u64,
    /// Cores of a node, for the scheduler.
    pub cores: u32,
}

/// How far a replay is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// There is more to do.
    Running,
    /// Every job has ended.
    Done,
    /// Nothing is under way, and ranks wait: [`Replay::waiting`] says for what.
    Stuck,
}

/// How far a replay is, in figures.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Ticks so far.
    pub now: u64,
    /// Calls made in the first run of every job, and calls in all.
    pub calls: (u64, u64),
    /// Messages sent.
    pub messages: u64,
    /// Jobs that have ended, and jobs.
    pub jobs: (u32, u32),
}

/// A rank's result.
#[derive(Copy, Clone, Debug)]
pub struct RankResult {
    /// Number of the job.
    pub job: u32,
    /// Rank in the program.
    pub rank: u32,
    /// Where it ran.
    pub node: NodeId,
    /// When it ended, in its last run that ended.
    pub finished: Option<u64>,
    /// What it did, in all runs.
    pub account: Account,
    /// The chain that its end hung on.
    pub path: Path,
    /// Its queues.
    pub depths: Depths,
}

/// Programs under replay.
pub struct Replay {
    pub(crate) transport: Transport,
    pub(crate) hosts: Hosts,
    pub(crate) jobs: Vec<Job>,
    pub(crate) ranks: Vec<Rank>,
    /// By rank, where it runs.
    pub(crate) nodes: Vec<NodeId>,
    pub(crate) calls: Slots<Call>,
    pub(crate) messages: Slots<Message>,
    pub(crate) agenda: Agenda,
    pub(crate) now: u64,
    pub(crate) sent: u64,
    /// By node, from when on its adapter is free to send and to receive, without a network.
    pub(crate) adapters: Vec<[u64; 2]>,
    /// Receives, and messages, that nobody met in runs that have ended.
    pub(crate) unmatched: (u64, u64),
    scheduler: Scheduler,
    made: u64,
    ended: u32,
    signals: Vec<Signal>,
    /// What is due at hosts now; empty in between.
    due: Vec<(u64, Event)>,
    /// Messages that met receives of a rank by an arrival, with their slots; empty in between.
    pub(crate) met: Vec<(u32, u32)>,
}

impl Replay {
    /// Nothing runs yet.
    ///
    /// # Errors
    /// If a cost is negative or not finite.
    pub fn new(
        transport: Transport,
        hosts: Hosts,
        nodes: u32,
        seed: u64,
    ) -> Result<Self, ReplayError> {
        if !hosts.costs.is_possible() {
            return ReplayError::parameter("a cost is negative or not finite");
        }
        let mut scheduler = Scheduler::new(nodes, seed);
        scheduler.set_cores(hosts.cores);
        Ok(Self {
            transport,
            hosts,
            jobs: Vec::new(),
            ranks: Vec::new(),
            nodes: Vec::new(),
            calls: Slots::new(),
            messages: Slots::new(),
            agenda: Agenda::default(),
            now: 0,
            sent: 0,
            adapters: vec![[0; 2]; nodes as usize],
            unmatched: (0, 0),
            scheduler,
            made: 0,
            ended: 0,
            signals: Vec::new(),
            due: Vec::new(),
            met: Vec::new(),
        })
    }

    /// Add a job; its number.
    ///
    /// # Errors
    /// If it names nodes that do not exist, not one for each rank, or can never fit.
    pub fn add(&mut self, plan: JobPlan) -> Result<u32, ReplayError> {
        let number = self.jobs.len() as u32;
        let ranks = plan.program.ranks.len() as u32;
        let nodes = self.adapters.len() as u32;
        match &plan.placement {
            Placement::Given(given) => {
                if given.len() != ranks as usize {
                    return ReplayError::parameter(format!(
                        "job {number} has {ranks} ranks and nodes for {}",
                        given.len()
                    ));
                }
                if let Some(node) = given.iter().find(|&&node| node >= nodes) {
                    return ReplayError::parameter(format!(
                        "job {number} names node {node} of {nodes}"
                    ));
                }
            }
            Placement::Scheduled => {
                if u64::from(ranks) > u64::from(nodes) * u64::from(self.hosts.cores) {
                    return ReplayError::parameter(format!(
                        "job {number} has {ranks} ranks, and the machine {} cores",
                        u64::from(nodes) * u64::from(self.hosts.cores)
                    ));
                }
            }
        }
        let first_rank = self.ranks.len() as u32;
        for (own, calls) in (0..).zip(&plan.program.ranks) {
            self.ranks.push(Rank::new(number, own, calls));
            self.nodes.push(0);
        }
        self.agenda.put(plan.start, Event::Job(number));
        self.jobs.push(Job {
            plan,
            first_rank,
            running: 0,
            run: 0,
            began: None,
            runs: Vec::new(),
            nodes: FastMap::default(),
        });
        Ok(number)
    }

    /// Let at least so many things happen, or all there are.
    pub fn advance(&mut self, events: u64) -> State {
        for _ in 0..events {
            if self.is_done() {
                return State::Done;
            }
            if !self.turn() {
                return State::Stuck;
            }
        }
        State::Running
    }

    fn is_done(&self) -> bool {
        self.ended as usize == self.jobs.len()
    }

    /// The next moment in which something happens; whether there is one.
    fn turn(&mut self) -> bool {
        let hosts = self.agenda.next();
        let network = match &self.transport {
            Transport::Network(wires) => wires.engine.next_due(),
            Transport::LogGops(_) => None,
        };
        match (hosts, network) {
            (None, None) => return false,
            (Some(at), network) if network.is_none_or(|other| at <= other) => {
                self.now = at;
                if let Transport::Network(wires) = &mut self.transport {
                    wires.engine.skip_to(at);
                }
                self.execute(at);
            }
            (_, at) => {
                let at = at.unwrap_or(self.now);
                let mut signals = std::mem::take(&mut self.signals);
                if let Transport::Network(wires) = &mut self.transport {
                    wires.engine.skip_to(at);
                    wires.cycle(&mut signals);
                    self.now = wires.engine.now();
                }
                for some in signals.chunks(AHEAD) {
                    self.look_ahead(some.iter().map(|signal| signal.token()));
                    for &signal in some {
                        self.signal(signal);
                    }
                }
                signals.clear();
                self.signals = signals;
            }
        }
        true
    }

    /// Let all that is due at hosts at this time take place, and what that makes due at the same time.
    fn execute(&mut self, at: u64) {
        let mut due = std::mem::take(&mut self.due);
        while self.agenda.next() == Some(at) {
            self.agenda.take(at, &mut due);
            for some in due.chunks(AHEAD) {
                self.look_at(some);
                for &(entered, event) in some {
                    self.agenda.begin(entered);
                    self.take_place(event);
                    if self.is_done() {
                        return;
                    }
                }
            }
            due.clear();
        }
        self.due = due;
    }

    fn take_place(&mut self, event: Event) {
        match event {
            Event::Rank(rank) => self.run_rank(rank, true),
            Event::Call(call) => self.run_call(call),
            Event::Launch(message) => self.launch(message),
            Event::Enter(message) => self.enter(message),
            Event::Arrive(message) => self.arrive(message),
            Event::Received(message) => self.received(message),
            Event::Sent(message) => self.left(message),
            Event::Job(job) => self.begin_job(job),
            Event::Schedule => self.schedule(),
        }
    }

    fn begin_job(&mut self, job: u32) {
        match self.jobs[job as usize].plan.placement.clone() {
            Placement::Given(nodes) => self.place(job, &nodes),
            Placement::Scheduled => {
                self.scheduler.waiting.push(job);
                self.agenda.put(self.now, Event::Schedule);
            }
        }
    }

    fn schedule(&mut self) {
        loop {
            let jobs = &self.jobs;
            let Some((job, nodes)) = self.scheduler.choose(|job| jobs[job as usize].ranks()) else {
                return;
            };
            self.place(job, &nodes);
        }
    }

    fn place(&mut self, job: u32, nodes: &[NodeId]) {
        let own = &mut self.jobs[job as usize];
        own.running = own.ranks();
        own.began = Some(self.now);
        own.nodes.clear();
        let first = own.first_rank;
        for (rank, &node) in (first..).zip(nodes) {
            self.nodes[rank as usize] = node;
            let own = &mut self.ranks[rank as usize];
            own.at = 0;
            own.free = self.now;
            own.path = Path::default();
            self.agenda.put(self.now, Event::Rank(rank));
        }
    }

    /// A rank has made its last call.
    fn finish_rank(&mut self, rank: u32) {
        let own = &mut self.ranks[rank as usize];
        own.finished = Some(self.now);
        let job = own.job;
        let own = &mut self.jobs[job as usize];
        own.running -= 1;
        if own.running == 0 {
            self.finish_job(job);
        }
    }

    fn finish_job(&mut self, job: u32) {
        let own = &mut self.jobs[job as usize];
        if own.runs.is_empty() {
            self.ended += 1;
        }
        let own = &mut self.jobs[job as usize];
        own.runs.push((own.began.unwrap_or(0), self.now));
        own.run += 1;
        let ranks = own.first_rank..own.first_rank + own.ranks();
        let (repeats, scheduled) = (
            own.plan.repeats,
            matches!(own.plan.placement, Placement::Scheduled),
        );
        for rank in ranks.clone() {
            let own = &mut self.ranks[rank as usize];
            let (receives, messages) = own.matcher.clear();
            self.unmatched.0 += u64::from(receives);
            self.unmatched.1 += messages.len() as u64;
            for message in messages {
                self.messages.remove(message);
            }
            own.halves.clear();
            own.channels.iter_mut().for_each(|channel| channel.sent = 0);
            own.calls.clear();
            own.requests.fill(Request::Idle);
        }
        if scheduled {
            let nodes = &self.nodes[ranks.start as usize..ranks.end as usize];
            self.scheduler.release(nodes.iter().copied());
        }
        if repeats && !self.is_done() {
            self.agenda.put(self.now, Event::Job(job));
        }
        if scheduled {
            self.agenda.put(self.now, Event::Schedule);
        }
    }

    /// A rank makes its calls until it waits or its processor is busy. A receive that is due is posted though a message has
    /// taken the processor meanwhile.
    fn run_rank(&mut self, rank: u32, mut due: bool) {
        let job = self.ranks[rank as usize].job as usize;
        let program = Arc::clone(&self.jobs[job].plan.program);
        let scale = self.jobs[job].plan.compute_scale / self.hosts.tick_ns;
        let calls = &program.ranks[self.ranks[rank as usize].own as usize];
        let mut fresh = due;
        loop {
            let own = &mut self.ranks[rank as usize];
            if own.missing > 0 {
                return;
            }
            let call = calls.calls.get(own.at as usize).copied();
            let posts = call.is_some_and(|call| {
                matches!(call.op, Op::Receive { .. }) && (own.computed || call.compute_ns == 0)
            });
            if own.free > self.now && !(due && posts) {
                let event = Event::Rank(rank);
                if due {
                    self.agenda.put_off(own.free, event);
                } else {
                    self.agenda.put(own.free, event);
                }
                return;
            }
            due = false;
            let Some(call) = call else {
                self.finish_rank(rank);
                return;
            };
            if !own.computed && call.compute_ns > 0 {
                own.computed = true;
                let ticks = whole(call.compute_ns as f64 * scale);
                own.account.compute += ticks;
                own.path.compute += ticks;
                own.free = self.now + ticks;
                continue;
            }
            if matches!(call.op, Op::Send { .. }) {
                if let Some(at) = self.sends_later(rank, !fresh) {
                    self.agenda.put(at, Event::Rank(rank));
                    return;
                }
            }
            fresh = false;
            let own = &mut self.ranks[rank as usize];
            own.computed = false;
            own.at += 1;
            match call.op {
                Op::Loop { passes, behind } => {
                    if passes == 0 {
                        own.at = behind;
                    } else {
                        own.loops.push((own.at, passes));
                    }
                    continue;
                }
                Op::End => {
                    if let Some((start, left)) = own.loops.last_mut() {
                        *left -= 1;
                        if *left > 0 {
                            own.at = *start;
                        } else {
                            own.loops.pop();
                        }
                    }
                    continue;
                }
                _ => {}
            }
            own.account.calls += 1;
            self.made += u64::from(self.jobs[job].run == 0);
            match call.op {
                Op::Compute | Op::Loop { .. } | Op::End => {}
                Op::Send {
                    mode,
                    channel,
                    tag,
                    bytes,
                    request,
                } => {
                    let slot = self.open_request(rank, request);
                    let done = match channel {
                        Some(channel) => {
                            let (_, peer) = calls.channels[channel as usize];
                            let to = self.global(job, call.communicator, peer);
                            let place = (call.communicator, call.me);
                            let line = self.line(rank, channel, to, place);
                            let path = self.ranks[rank as usize].path;
                            self.send(
                                (rank, to),
                                Context {
                                    communicator: call.communicator,
                                    call: POINT_TO_POINT,
                                    source: call.me,
                                    tag,
                                },
                                (line, bytes, mode),
                                Target {
                                    owner: Owner::Rank(rank),
                                    slot,
                                },
                                path,
                            )
                        }
                        _ => true,
                    };
                    self.end_request(rank, slot, done, request.is_none());
                }
                Op::Receive { from, tag, request } => {
                    let slot = self.open_request(rank, request);
                    let target = Target {
                        owner: Owner::Rank(rank),
                        slot,
                    };
                    if from == Source::Nobody {
                        self.complete(target, None);
                    } else {
                        let own = &mut self.ranks[rank as usize];
                        let met = own.matcher.post(call.communicator, from, tag, slot);
                        if let Some(message) = met {
                            self.meet(message, target, true);
                        }
                    }
                    self.end_request(rank, slot, false, request.is_none());
                }
                Op::Wait => {
                    for &request in calls.list(&call) {
                        self.await_request(rank, request as u32);
                    }
                }
                Op::Cancel { request } => {
                    let target = Target {
                        owner: Owner::Rank(rank),
                        slot: request,
                    };
                    if self.ranks[rank as usize].matcher.withdraw(request) {
                        self.complete(target, None);
                    }
                }
                Op::Collective {
                    kind,
                    root,
                    bytes,
                    in_place,
                    commutative,
                    request,
                } => {
                    let slot = self.open_request(rank, request);
                    let members = Arc::clone(&program.communicators[call.communicator as usize]);
                    let list = calls.list(&call);
                    let collective = Collective {
                        kind,
                        ranks: members.len() as u32,
                        root,
                        bytes,
                        element: self.hosts.element,
                        in_place,
                        commutative,
                        sizes: (!list.is_empty()).then(|| Arc::from(list)),
                        nodes: self.nodes_of(job, call.communicator),
                    };
                    self.begin_call(
                        rank,
                        &collective,
                        members,
                        (call.communicator, call.me),
                        slot,
                    );
                    self.end_request(rank, slot, false, request.is_none());
                }
            }
        }
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

    /// The slot of a call's request; that of calls that block if it has none.
    fn open_request(&mut self, rank: u32, request: Option<u32>) -> u32 {
        let own = &mut self.ranks[rank as usize];
        let slot = request.unwrap_or(own.blocking());
        own.requests[slot as usize] = Request::Open;
        slot
    }

    /// A call has been made; whether it is complete already, and whether the rank waits for it.
    fn end_request(&mut self, rank: u32, slot: u32, done: bool, blocks: bool) {
        let own = &mut self.ranks[rank as usize];
        if done {
            own.requests[slot as usize] = Request::Done;
        }
        if blocks {
            self.await_request(rank, slot);
        }
    }

    fn await_request(&mut self, rank: u32, slot: u32) {
        let own = &mut self.ranks[rank as usize];
        match own.requests[slot as usize] {
            Request::Done => own.requests[slot as usize] = Request::Idle,
            Request::Open => {
                own.requests[slot as usize] = Request::Awaited;
                if own.missing == 0 {
                    own.since = self.now;
                }
                own.missing += 1;
            }
            Request::Idle | Request::Awaited => {}
        }
    }

    /// A request is complete, by a chain of events if it waited for one.
    pub(crate) fn complete(&mut self, target: Target, path: Option<Path>) {
        match target.owner {
            Owner::Rank(rank) => {
                let own = &mut self.ranks[rank as usize];
                let request = &mut own.requests[target.slot as usize];
                if *request != Request::Awaited {
                    *request = Request::Done;
                    return;
                }
                *request = Request::Idle;
                own.missing -= 1;
                if own.missing == 0 {
                    own.account.wait += self.now - own.since;
                    own.path = path.unwrap_or(own.path);
                    self.run_rank(rank, false);
                }
            }
            Owner::Call(number) => {
                let call = &mut self.calls[number];
                call.complete(target.slot);
                if call.waits != Waits::Nothing && call.may_go_on() {
                    call.waits = Waits::Nothing;
                    call.path = path.unwrap_or(call.path);
                    self.run_call(number);
                }
            }
        }
    }

    fn begin_call(
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
            slot,
        });
        self.run_call(call);
    }

    /// A collective call takes its steps until it waits or its rank's processor is busy.
    fn run_call(&mut self, number: u32) {
        loop {
            let call = &mut self.calls[number];
            let own = &mut self.ranks[call.rank as usize];
            if own.free > self.now {
                self.agenda.put(own.free, Event::Call(number));
                return;
            }
            let Some(step) = call.held.take().or_else(|| call.steps.next()) else {
                if call.open > 0 {
                    call.waits = Waits::All;
                    return;
                }
                let target = Target {
                    owner: Owner::Rank(call.rank),
                    slot: call.slot,
                };
                let path = call.path;
                self.calls.remove(number);
                self.complete(target, Some(path));
                return;
            };
            if matches!(step, Step::Send { .. }) {
                let rank = call.rank;
                if let Some(at) = self.sends_later(rank, false) {
                    self.calls[number].held = Some(step);
                    self.agenda.put(at, Event::Call(number));
                    return;
                }
            }
            let call = &mut self.calls[number];
            let own = &mut self.ranks[call.rank as usize];
            let target = Target {
                owner: Owner::Call(number),
                slot: call.step,
            };
            call.step += 1;
            match step {
                Step::Send { to, bytes, tag } => {
                    call.open += 1;
                    let context = Context {
                        communicator: call.communicator,
                        call: call.number,
                        source: call.me,
                        tag: tag as i32,
                    };
                    let (rank, path) = (call.rank, call.path);
                    let first = self.jobs[own.job as usize].first_rank;
                    let to = first + call.members[to as usize];
                    let mode = SendMode::Standard;
                    if self.send((rank, to), context, ((0, 0), bytes, mode), target, path) {
                        self.complete(target, None);
                    }
                }
                Step::Receive { from, tag, .. } => {
                    call.open += 1;
                    let context = Context {
                        communicator: call.communicator,
                        call: call.number,
                        source: from,
                        tag: tag as i32,
                    };
                    let rank = call.rank;
                    self.post_half(rank, context, target);
                }
                Step::WaitFor { step } => {
                    if !call.is_done(step) {
                        call.waits = Waits::Step(step);
                        return;
                    }
                }
                Step::Wait => {
                    if call.open > 0 {
                        call.waits = Waits::All;
                        return;
                    }
                }
                Step::Combine { bytes } => {
                    let ticks = whole(self.hosts.costs.combine_byte * bytes as f64);
                    own.free = self.now + ticks;
                    own.account.compute += ticks;
                    call.path.compute += ticks;
                }
            }
        }
    }

    /// How far it is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let calls = self.jobs.iter().map(|job| job.plan.program.length()).sum();
        Progress {
            now: self.now,
            calls: (self.made, calls),
            messages: self.sent,
            jobs: (self.ended, self.jobs.len() as u32),
        }
    }

    /// What every rank did.
    pub fn results(&mut self) -> impl Iterator<Item = RankResult> + '_ {
        let nodes = self.nodes.iter();
        self.ranks
            .iter_mut()
            .zip(nodes)
            .map(|(rank, &node)| RankResult {
                job: rank.job,
                rank: rank.own,
                node,
                finished: rank.finished,
                account: rank.account,
                path: rank.path,
                depths: *rank.matcher.depths(),
            })
    }

    /// Begin and end of each run of a job that has ended, in ticks; `None` if there is no such job.
    #[must_use]
    pub fn runs(&self, job: u32) -> Option<&[(u64, u64)]> {
        Some(&self.jobs.get(job as usize)?.runs)
    }

    /// Receives and messages that nobody met, in runs that have ended.
    #[must_use]
    pub fn unmatched(&self) -> (u64, u64) {
        let over = |message: &&Message| {
            let job = self.ranks[message.to as usize].job;
            message.receive.is_none() && message.run != self.jobs[job as usize].run
        };
        let (receives, messages) = self.unmatched;
        (
            receives,
            messages + self.messages.iter().filter(over).count() as u64,
        )
    }

    /// How bytes travel.
    #[must_use]
    pub const fn transport(&self) -> &Transport {
        &self.transport
    }

    /// Collective calls under way.
    pub(crate) fn open_calls(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter()
    }
}
