//! What the next events need comes into the cache while nothing waits for it.
//!
//! Thousands of ranks and their messages do not fit into a core's own cache, and the next event mostly is about another
//! rank. So a few events are looked at together before they take place: first what they name is asked for, then what that
//! refers to.

use interconnect::prefetch::{prefetch, prefetch_all};

use crate::agenda::Event;
use crate::engine::Replay;

/// Events that are looked at together.
pub(crate) const AHEAD: usize = 12;

impl Replay {
    /// Ask for all that these messages need when they arrive.
    pub(crate) fn look_ahead(&self, messages: impl Iterator<Item = u32> + Clone) {
        for message in messages.clone() {
            self.messages.prefetch(message);
        }
        let met = messages.filter_map(|message| self.messages.get(message));
        for message in met.clone() {
            prefetch_all(&self.ranks, message.to as usize);
        }
        for message in met {
            let rank = &self.ranks[message.to as usize];
            rank.matcher.prefetch(message.lane);
            prefetch(&rank.requests, 0);
            self.prefetch_call(message.to);
        }
    }

    /// Ask for what these events need.
    pub(crate) fn look_at(&self, events: &[(u64, Event)]) {
        for &(_, event) in events {
            match event {
                Event::Rank(rank) => prefetch_all(&self.ranks, rank as usize),
                Event::Launch(message)
                | Event::Enter(message)
                | Event::Arrive(message)
                | Event::Received(message)
                | Event::Sent(message) => self.messages.prefetch(message),
                Event::Call(_) | Event::Job(_) | Event::Schedule => {}
            }
        }
        for &(_, event) in events {
            match event {
                Event::Rank(rank) => {
                    prefetch(&self.ranks[rank as usize].requests, 0);
                    self.prefetch_call(rank);
                }
                Event::Arrive(message) | Event::Received(message) => {
                    if let Some(message) = self.messages.get(message) {
                        prefetch_all(&self.ranks, message.to as usize);
                    }
                }
                _ => {}
            }
        }
    }

    /// Ask for the call that a rank makes next.
    fn prefetch_call(&self, rank: u32) {
        let rank = &self.ranks[rank as usize];
        let program = &self.jobs[rank.job as usize].plan.program;
        if let Some(own) = program.ranks.get(rank.own as usize) {
            prefetch_all(&own.calls, rank.at as usize);
        }
    }
}
