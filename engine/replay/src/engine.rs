//! The replay itself: time, ranks, collective calls and jobs. `running` has what ranks do, `protocol` what happens to messages.
//!
//! Time is counted in ticks: cycles of the network, or whatever the costs are in without one. What hosts do at a tick comes
//! before what the network does in it; what arrives in a cycle is there with the next one. At equal times events take
//! place in the order in which they were entered, so that a replay gives the same result each time.
//!
//! Simplifications, each with what would show it:
//! - A request or clearance is answered at once, also while the rank computes, as if a thread looked after it. Libraries
//!   without one answer in the next MPI call: large messages to a rank that computes would come later.
//! - A call costs processor time for each message, none for itself: MPI_Test loops are computing.

use interconnect::network::NodeId;
use interconnect::packet::Signal;

use crate::agenda::{Agenda, Event};
use crate::ahead::AHEAD;
use crate::collectives::Library;
use crate::costs::Costs;
use crate::error::ReplayError;
use crate::hash::FastMap;
use crate::jobs::{Job, JobPlan, Placement, Scheduler};
use crate::matching::Depths;
use crate::slots::Slots;
use crate::state::{Account, Call, Message, Path, Rank};
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
    /// The first of them, in words.
    pub(crate) left_over: Vec<String>,
    pub(crate) scheduler: Scheduler,
    pub(crate) made: u64,
    pub(crate) ended: u32,
    signals: Vec<Signal>,
    /// What is due at hosts now; empty in between.
    due: Vec<(u64, Event)>,
    /// Messages that met receives of a rank by an arrival, with their slots; empty in between.
    pub(crate) met: Vec<(u32, u32)>,
    /// Without a network, a message whose sender goes on when the rank whose turn it is has done so; none in between.
    pub(crate) freed: Option<u32>,
}

impl Replay {
    /// Nothing runs yet.
    ///
    /// # Errors
    /// If a cost is negative or not finite, or an acknowledgement is for no packet.
    pub fn new(
        mut transport: Transport,
        hosts: Hosts,
        nodes: u32,
        seed: u64,
    ) -> Result<Self, ReplayError> {
        if !hosts.costs.is_possible() {
            return ReplayError::parameter("a cost is negative or not finite");
        }
        if let Transport::Network(wires) = &mut transport {
            wires.follow(&hosts.costs)?;
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
            left_over: Vec::new(),
            scheduler,
            made: 0,
            ended: 0,
            signals: Vec::new(),
            due: Vec::new(),
            met: Vec::new(),
            freed: None,
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

    pub(crate) fn is_done(&self) -> bool {
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
        let (receives, messages) = self.unmatched;
        (receives, messages + self.on_their_way().count() as u64)
    }

    /// Messages whose receiver's run has ended without them.
    pub(crate) fn on_their_way(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter().filter(|message| {
            let job = self.ranks[message.to as usize].job;
            message.receive.is_none() && message.run != self.jobs[job as usize].run
        })
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
