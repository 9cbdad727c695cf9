//! What a replay remembers of ranks, collective calls, messages and jobs.

use std::sync::Arc;

use crate::collectives::Kind;
use crate::hash::FastMap;
use crate::matching::Matcher;
use crate::program::RankCalls;
use crate::step::{Step, Steps};

/// Whose request a message completes: a slot of a rank, or a step of a collective call.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) owner: Owner,
    pub(crate) slot: u32,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Rank(u32),
    Call(u32),
}

/// The longest chain of what had to happen before: what a rank's time was made of, where one thing waited for another.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// Wakes of links that messages of the chain waited for.
    pub wakes: u64,
    /// Ticks of computing.
    pub compute: u64,
    /// Messages.
    pub messages: u64,
}

/// A request of a rank.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// Not begun, or waited for already.
    Idle,
    Open,
    Done,
    /// The rank waits for it.
    Awaited,
}

/// A message of a collective call or none; with the message's communicator, the number of the call on it.
pub(crate) const POINT_TO_POINT: u32 = 0;

/// Where a message belongs.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Context {
    pub(crate) communicator: u32,
    /// [`POINT_TO_POINT`], or the number of the collective call, from 1.
    pub(crate) call: u32,
    /// The sender's rank in the communicator.
    pub(crate) source: u32,
    pub(crate) tag: i32,
}

/// What of a message is under way.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// All of it, without a request.
    Eager,
    /// Its request, to the receiver.
    Request,
    /// The receiver's clearance, or what reads the message, to the sender.
    Clear,
    /// What of the message did not come with its request.
    Data,
    /// The receiver's word that it has the message, to the sender.
    Finish,
}

/// A message from its send to its receive.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Message {
    pub(crate) stage: Stage,
    /// Ranks, over all jobs.
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) context: Context,
    /// Of its sender on its communicator, and the lane that it comes in; of a collective call's both are 0.
    pub(crate) number: u32,
    pub(crate) lane: u32,
    pub(crate) bytes: u64,
    /// Which run of its job it belongs to.
    pub(crate) run: u32,
    pub(crate) send: Option<Target>,
    pub(crate) receive: Option<Target>,
    pub(crate) path: Path,
    /// Whether the sender, and the receiver, is still to hear of its end.
    pub(crate) sender_waits: bool,
    pub(crate) receiver_waits: bool,
}

/// A receive or a message of a collective call that waits for the other.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Half {
    Posted(Target),
    Came(u32),
}

/// What a rank sends to another on a communicator.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Channel {
    /// Messages sent.
    pub(crate) sent: u32,
    /// Which lane of the receiver they come in, once that is known.
    pub(crate) lane: Option<u32>,
}

/// What a rank did so far.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Ticks of computing.
    pub compute: u64,
    /// Ticks in calls that waited.
    pub wait: u64,
    /// Messages sent, those of collective calls included, and their bytes.
    pub messages: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Of the messages, those to ranks of the same node, which cross no network.
    pub local_messages: u64,
    /// Bytes of them.
    pub local_bytes: u64,
    /// Calls made.
    pub calls: u64,
}

impl Account {
    pub(crate) fn count_message(&mut self, bytes: u64, local: bool) {
        self.messages += 1;
        self.bytes += bytes;
        if local {
            self.local_messages += 1;
            self.local_bytes += bytes;
        }
    }
}

pub(crate) struct Rank {
    pub(crate) job: u32,
    /// In the program.
    pub(crate) own: u32,
    /// The next call.
    pub(crate) at: u32,
    /// Whether the computing before it is done.
    pub(crate) computed: bool,
    /// Calls with which the loops begin that it is in, and the passes left.
    pub(crate) loops: Vec<(u32, u64)>,
    /// Its processor is free from here on.
    pub(crate) free: u64,
    /// What whole ticks left over of the processor's times. A half at first: a time alone is rounded.
    rest: f64,
    /// By request; the last one is that of a call that blocks.
    pub(crate) requests: Vec<Request>,
    /// Requests that it waits for, and since when.
    pub(crate) missing: u32,
    pub(crate) since: u64,
    /// By channel of its program.
    pub(crate) channels: Vec<Channel>,
    /// Receives are told by the slots of their requests.
    pub(crate) matcher: Matcher<u32>,
    /// Collective calls made, by communicator.
    pub(crate) calls: FastMap<u32, u32>,
    pub(crate) halves: FastMap<Context, Half>,
    pub(crate) path: Path,
    pub(crate) account: Account,
    pub(crate) finished: Option<u64>,
}

impl Rank {
    pub(crate) fn new(job: u32, own: u32, calls: &RankCalls) -> Self {
        Self {
            job,
            own,
            at: 0,
            computed: false,
            loops: Vec::new(),
            free: 0,
            rest: 0.5,
            requests: vec![Request::Idle; calls.requests as usize + 1],
            missing: 0,
            since: 0,
            channels: vec![Channel::default(); calls.channels.len()],
            matcher: Matcher::new(&calls.lanes),
            calls: FastMap::default(),
            halves: FastMap::default(),
            path: Path::default(),
            account: Account::default(),
            finished: None,
        }
    }

    /// Whole ticks of a time of the processor. What is left over counts in the next one, so that many short times take
    /// what they take in all, and not none or twice as much.
    pub(crate) fn whole(&mut self, ticks: f64) -> u64 {
        let all = ticks + self.rest;
        let whole = all.floor();
        self.rest = all - whole;
        whole as u64
    }

    /// The slot of a call that blocks.
    pub(crate) fn blocking(&self) -> u32 {
        self.requests.len() as u32 - 1
    }
}

/// What a collective call waits for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    Nothing,
    All,
    Step(u32),
}

/// A collective call of one rank, or a part of one.
pub(crate) struct Call {
    pub(crate) kind: Kind,
    pub(crate) rank: u32,
    pub(crate) communicator: u32,
    pub(crate) number: u32,
    /// The rank's rank in the communicator.
    pub(crate) me: u32,
    pub(crate) members: Arc<[u32]>,
    pub(crate) steps: Steps,
    /// A step that waits for the adapter.
    pub(crate) held: Option<Step>,
    /// Number of the next step.
    pub(crate) step: u32,
    /// A bit for each step that is complete.
    pub(crate) done: Vec<u64>,
    /// Sends, receives and parts begun that are not complete.
    pub(crate) open: u32,
    pub(crate) waits: Waits,
    pub(crate) path: Path,
    /// What it completes in the rank, or in the call that it is a part of.
    pub(crate) completes: Target,
}

impl Call {
    /// The part that its last step began.
    pub(crate) fn part(&mut self, completes: Target) -> Self {
        Self {
            members: Arc::clone(&self.members),
            steps: self.steps.part(),
            held: None,
            step: 0,
            done: Vec::new(),
            open: 0,
            waits: Waits::Nothing,
            completes,
            ..*self
        }
    }

    pub(crate) fn is_done(&self, step: u32) -> bool {
        let word = self.done.get(step as usize / 64).copied().unwrap_or(0);
        word >> (step % 64) & 1 != 0
    }

    pub(crate) fn complete(&mut self, step: u32) {
        let index = step as usize / 64;
        if index >= self.done.len() {
            self.done.resize(index + 1, 0);
        }
        self.done[index] |= 1 << (step % 64);
        self.open -= 1;
    }

    /// Whether what it waits for has come.
    pub(crate) fn may_go_on(&self) -> bool {
        match self.waits {
            Waits::Nothing => true,
            Waits::All => self.open == 0,
            Waits::Step(step) => self.is_done(step),
        }
    }
}
