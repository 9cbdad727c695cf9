//! Jobs begin on nodes, and end.

use interconnect::network::NodeId;

use crate::agenda::Event;
use crate::engine::Replay;
use crate::jobs::Placement;
use crate::state::{Path, Request};

impl Replay {
    pub(crate) fn begin_job(&mut self, job: u32) {
        match self.jobs[job as usize].plan.placement.clone() {
            Placement::Given(nodes) => self.place(job, &nodes),
            Placement::Scheduled => {
                self.scheduler.waiting.push(job);
                self.agenda.put(self.now, Event::Schedule);
            }
        }
    }

    pub(crate) fn schedule(&mut self) {
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
    pub(crate) fn finish_rank(&mut self, rank: u32) {
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
            self.note_left_over(rank);
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
}
