//! Requests: begun by calls, completed by messages, and waited for.

use crate::engine::Replay;
use crate::state::{Owner, Path, Request, Target, Waits};

impl Replay {
    /// The slot of a call's request; that of calls that block if it has none.
    pub(crate) fn open_request(&mut self, rank: u32, request: Option<u32>) -> u32 {
        let own = &mut self.ranks[rank as usize];
        let slot = request.unwrap_or(own.blocking());
        own.requests[slot as usize] = Request::Open;
        slot
    }

    /// A call has been made; whether it is complete already, and whether the rank waits for it.
    pub(crate) fn end_request(&mut self, rank: u32, slot: u32, done: bool, blocks: bool) {
        let own = &mut self.ranks[rank as usize];
        if done {
            own.requests[slot as usize] = Request::Done;
        }
        if blocks {
            self.await_request(rank, slot);
        }
    }

    pub(crate) fn await_request(&mut self, rank: u32, slot: u32) {
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
}
