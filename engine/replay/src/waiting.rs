//! What ranks wait for, in words for a person: why a replay does not go on, and what is left at its end.

use std::fmt::Write as _;

use crate::engine::Replay;
use crate::program::{self, Op};
use crate::state::{Call, Half, Message, Owner, Request, Stage, Target, Waits};

/// Receives and messages that are kept in words.
const MOST_LEFT_OVER: usize = 20;

/// A rank that has not finished, and what it waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingRank {
    /// Number of the job.
    pub job: u32,
    /// Rank in the program.
    pub rank: u32,
    /// Number of the call in the rank, from 0.
    pub call: u32,
    /// For what, as a sentence without its full stop.
    pub what: String,
}

impl Replay {
    /// Ranks of jobs under way that have not finished, with what they wait for; the first few.
    #[must_use]
    pub fn waiting(&self, most: usize) -> Vec<WaitingRank> {
        let waits = |index: usize| {
            let rank = &self.ranks[index];
            let job = &self.jobs[rank.job as usize];
            let program = &job.plan.program.ranks[rank.own as usize];
            (job.running > 0 && rank.missing > 0).then(|| WaitingRank {
                job: rank.job,
                rank: rank.own,
                call: rank.at - 1,
                what: self.what(index as u32, program.calls.get(rank.at as usize - 1)),
            })
        };
        (0..self.ranks.len()).filter_map(waits).take(most).collect()
    }

    /// Of the receives and messages that nobody met, in runs that have ended, the first few in words.
    #[must_use]
    pub fn left_over(&self) -> Vec<String> {
        let under_way = self.on_their_way().map(|message| self.unreceived(message));
        let known = self.left_over.iter().cloned();
        known.chain(under_way).take(MOST_LEFT_OVER).collect()
    }

    /// Keep what is in a rank's queues, in words, as its run ends.
    pub(crate) fn note_left_over(&mut self, rank: u32) {
        if self.left_over.len() == MOST_LEFT_OVER {
            return;
        }
        let own = &self.ranks[rank as usize];
        let who = format!("job {} rank {}", own.job, own.own);
        for (_, receive) in own.matcher.posted() {
            self.note(|_| format!("{who}: the receive of {receive}"));
        }
        for message in self.ranks[rank as usize].matcher.unexpected() {
            let message = self.messages[message];
            self.note(|replay| replay.unreceived(&message));
        }
    }

    pub(crate) fn note(&mut self, sentence: impl FnOnce(&Self) -> String) {
        if self.left_over.len() < MOST_LEFT_OVER {
            let sentence = sentence(self);
            self.left_over.push(sentence);
        }
    }

    pub(crate) fn unreceived(&self, message: &Message) -> String {
        let (from, to) = (
            &self.ranks[message.from as usize],
            &self.ranks[message.to as usize],
        );
        format!(
            "job {} rank {}: {} bytes with tag {} to rank {}",
            from.job, from.own, message.bytes, message.context.tag, to.own
        )
    }

    fn what(&self, rank: u32, call: Option<&program::Call>) -> String {
        if let Some(open) = self.open_calls().find(|call| call.rank == rank) {
            return self.in_collective(open);
        }
        let mut out = String::new();
        for (slot, receive) in self.ranks[rank as usize].matcher.posted() {
            let owner = Owner::Rank(rank);
            if self.is_awaited(rank, Target { owner, slot }) {
                let _ = write!(out, "{}{receive}", if out.is_empty() { "" } else { "; " });
            }
        }
        for message in self.messages.iter().filter(|message| message.from == rank) {
            if message.sender_waits && message.send.is_some_and(|own| self.is_awaited(rank, own)) {
                let _ = write!(
                    out,
                    "{}{}",
                    if out.is_empty() { "" } else { "; " },
                    self.sent(message)
                );
            }
        }
        match call.map(|call| call.op) {
            _ if !out.is_empty() => out,
            Some(Op::Wait) => "a request that nobody completes".to_owned(),
            _ => "what was under way".to_owned(),
        }
    }

    fn is_awaited(&self, rank: u32, target: Target) -> bool {
        target.owner == Owner::Rank(rank)
            && self.ranks[rank as usize].requests[target.slot as usize] == Request::Awaited
    }

    fn sent(&self, message: &Message) -> String {
        let to = self.ranks[message.to as usize].own;
        let tag = message.context.tag;
        let bytes = message.bytes;
        match message.stage {
            Stage::Request => format!("a receive by rank {to} of its {bytes} bytes with tag {tag}"),
            _ => format!("the way of its {bytes} bytes with tag {tag} to rank {to}"),
        }
    }

    fn in_collective(&self, call: &Call) -> String {
        let from: Vec<String> = self.ranks[call.rank as usize]
            .halves
            .iter()
            .filter(|(context, half)| {
                context.call == call.number
                    && context.communicator == call.communicator
                    && matches!(half, Half::Posted(_))
            })
            .map(|(context, _)| call.members[context.source as usize])
            .map(|world| world.to_string())
            .collect();
        let waits = match (call.waits, from.is_empty()) {
            (Waits::Nothing, _) | (_, true) => String::new(),
            _ => format!(", for rank {}", sorted(from).join(", ")),
        };
        format!(
            "{:?} number {} on communicator {}{waits}",
            call.kind, call.number, call.communicator
        )
    }
}

fn sorted(mut ranks: Vec<String>) -> Vec<String> {
    ranks.sort_by_key(|rank| rank.parse::<u32>().unwrap_or(u32::MAX));
    ranks.truncate(4);
    ranks
}
