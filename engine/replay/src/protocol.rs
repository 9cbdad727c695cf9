//! Messages: eager ones travel at once; larger ones are announced by a request. The receiver, once a receive is posted,
//! clears them, and they are sent; or it reads them from the sender, which hears at the end that it is free. So it does too
//! of a message that came whole with its request, as small synchronous ones may.
//!
//! Without a network they do what LogGOPSim's do: all of a message travels at once, the receiver's processor takes it when it
//! is free, whether a receive is posted or not, and the sender of a large one is free when its receive is posted. The way of
//! the receiver's answer is not charged, which a sender of large messages to a rank far away would notice. Of both ranks,
//! which may go on at the same time, that of the lower number does so first.

use interconnect::packet::Signal;

use crate::agenda::Event;
use crate::costs::{Rendezvous, behind_first, whole};
use crate::engine::Replay;
use crate::program::SendMode;
use crate::state::{Context, Half, Message, Owner, POINT_TO_POINT, Path, Stage, Target};
use crate::transport::Transport;

impl Replay {
    /// Begin a send between two ranks. Whether it is complete for the sender as soon as its processor is free again.
    pub(crate) fn send(
        &mut self,
        (from, to): (u32, u32),
        context: Context,
        ((number, lane), bytes, mode): ((u32, u32), u64, SendMode),
        target: Target,
        path: Path,
    ) -> bool {
        let costs = &self.hosts.costs;
        let eager = mode != SendMode::Synchronous && bytes <= costs.eager_bytes;
        let (node, dest) = (self.nodes[from as usize], self.nodes[to as usize]);
        let own = &mut self.ranks[from as usize];
        own.account.count_message(bytes, node == dest);
        let overhead = costs.send + behind_first(costs.send_byte, bytes);
        own.free = self.now + own.whole(overhead);
        let launch = match &self.transport {
            Transport::Network(_) => own.free,
            Transport::LogGops(wires) => {
                self.adapters[node as usize][0] = self.now + wires.occupies(bytes);
                self.now + whole(costs.send)
            }
        };
        self.sent += 1;
        let free = eager || mode == SendMode::Buffered;
        let whole_at_once = eager || matches!(self.transport, Transport::LogGops(_));
        let message = self.messages.put(Message {
            stage: if whole_at_once {
                Stage::Eager
            } else {
                Stage::Request
            },
            from,
            to,
            context,
            number,
            lane,
            bytes,
            run: self.jobs[own.job as usize].run,
            send: Some(target),
            receive: None,
            path: Path {
                messages: path.messages + 1,
                ..path
            },
            sender_waits: !free,
            receiver_waits: true,
        });
        match &self.transport {
            // It takes its place in the strict order when it is sent.
            Transport::LogGops(wires) if node != dest => {
                let at = launch + wires.latency();
                self.agenda.put(at, Event::Arrive(message));
            }
            _ if launch == self.now => self.launch(message),
            _ => self.agenda.put(launch, Event::Launch(message)),
        }
        free
    }

    /// Without a network, when a send of a rank can begin that its adapter delays; none if now.
    pub(crate) fn sends_later(&self, rank: u32) -> Option<u64> {
        match &self.transport {
            Transport::Network(_) => None,
            Transport::LogGops(_) => {
                let [sends, _] = self.adapters[self.nodes[rank as usize] as usize];
                (sends > self.now).then_some(sends)
            }
        }
    }

    /// A message, or what announces or clears it, leaves its host.
    pub(crate) fn launch(&mut self, message: u32) {
        let costs = &self.hosts.costs;
        let (from, to) = self.way(message);
        let bytes = self.payload(message);
        if from == to {
            let at = self.now + whole(costs.memory + costs.memory_byte * bytes as f64);
            if self.frees_sender(message) {
                self.agenda.put(at, Event::Sent(message));
            }
            self.agenda.put(at, Event::Arrive(message));
            return;
        }
        match &self.transport {
            Transport::LogGops(wires) => {
                let at = self.now + wires.latency();
                self.agenda.put(at, Event::Arrive(message));
            }
            Transport::Network(_) => {
                let at = self.now + whole(costs.adapter);
                if at == self.now {
                    self.enter(message);
                } else {
                    self.agenda.put(at, Event::Enter(message));
                }
            }
        }
    }

    /// The nodes that this stage of a message leaves and reaches.
    fn way(&self, message: u32) -> (u32, u32) {
        let own = &self.messages[message];
        let from = self.nodes[own.from as usize];
        let to = self.nodes[own.to as usize];
        match own.stage {
            Stage::Clear | Stage::Finish => (to, from),
            Stage::Eager | Stage::Request | Stage::Data => (from, to),
        }
    }

    /// Whether the sender is free when this stage has left it.
    fn frees_sender(&self, message: u32) -> bool {
        self.messages[message].stage == Stage::Data
            && self.hosts.costs.rendezvous == Rendezvous::Send
    }

    /// Bytes of a message that go with its request.
    fn carried(&self, message: u32) -> u64 {
        let bytes = self.messages[message].bytes;
        bytes.min(self.hosts.costs.request_carries)
    }

    /// Bytes of the program that travel in this stage.
    fn payload(&self, message: u32) -> u64 {
        let own = &self.messages[message];
        match own.stage {
            Stage::Eager => own.bytes,
            Stage::Request => self.carried(message),
            Stage::Clear | Stage::Finish => 0,
            Stage::Data => own.bytes - self.carried(message),
        }
    }

    /// A message enters the network.
    pub(crate) fn enter(&mut self, message: u32) {
        let bytes = self.payload(message) + self.hosts.costs.header_bytes;
        let (from, to) = self.way(message);
        let tells = self.frees_sender(message);
        if let Transport::Network(wires) = &mut self.transport {
            let flits = wires.flits(bytes);
            wires.engine.send(from, to, flits, message, tells);
        }
    }

    /// The network says what happened to a message.
    pub(crate) fn signal(&mut self, signal: Signal) {
        match signal {
            Signal::Left { token } => self.left(token),
            Signal::Arrived { token, wakes } => {
                self.messages[token].path.wakes += u64::from(wakes);
                self.arrive(token);
            }
        }
    }

    /// The sender of a message is free.
    pub(crate) fn left(&mut self, message: u32) {
        let own = &mut self.messages[message];
        let (target, waits) = (own.send, own.sender_waits);
        own.sender_waits = false;
        let path = own.path;
        self.forget_if_over(message);
        if let (true, Some(target)) = (waits, target) {
            self.complete(target, Some(path));
        }
    }

    /// A message, or what announces or clears it, is at the other host.
    pub(crate) fn arrive(&mut self, message: u32) {
        let own = self.messages[message];
        let job = self.ranks[own.to as usize].job;
        if own.run != self.jobs[job as usize].run {
            // Its program has ended without it.
            if own.stage != Stage::Finish {
                self.unmatched.1 += 1;
                self.note(|replay| replay.unreceived(&own));
            }
            self.messages.remove(message);
            return;
        }
        if !self.is_taken(message) {
            return;
        }
        match own.stage {
            Stage::Eager | Stage::Request => self.announce(message),
            Stage::Clear => {
                self.messages[message].stage = Stage::Data;
                match self.hosts.costs.rendezvous {
                    Rendezvous::Send => self.answer(message),
                    Rendezvous::Get => self.launch(message),
                }
            }
            Stage::Data => self.receive(message),
            Stage::Finish => self.left(message),
        }
    }

    /// Without a network, whether the receiver's processor and adapter take a message that has arrived; else it comes again
    /// when they are free.
    fn is_taken(&mut self, message: u32) -> bool {
        let Transport::LogGops(wires) = &self.transport else {
            return true;
        };
        let Message {
            from, to, bytes, ..
        } = self.messages[message];
        if self.nodes[from as usize] == self.nodes[to as usize] {
            return true;
        }
        let own = &mut self.ranks[to as usize];
        let [_, receives] = &mut self.adapters[self.nodes[to as usize] as usize];
        let free = own.free.max(*receives);
        if free > self.now {
            self.agenda.put_off(free, Event::Arrive(message));
            return false;
        }
        *receives = self.now + wires.occupies(bytes);
        let costs = &self.hosts.costs;
        own.free = self.now + own.whole(costs.receive + behind_first(costs.receive_byte, bytes));
        true
    }

    /// The envelope of a message is at its receiver.
    fn announce(&mut self, message: u32) {
        let Message {
            context,
            number,
            lane,
            to,
            ..
        } = self.messages[message];
        let own = &mut self.ranks[to as usize];
        if context.call == POINT_TO_POINT {
            let mut met = std::mem::take(&mut self.met);
            own.matcher
                .come(lane, number, context.tag, message, |message, receive| {
                    met.push((message, receive))
                });
            for (message, slot) in met.drain(..) {
                let owner = Owner::Rank(to);
                self.meet(message, Target { owner, slot }, false);
            }
            self.met = met;
            return;
        }
        match own.halves.remove(&context) {
            Some(Half::Posted(receive)) => {
                own.matcher.depths().meet_posted();
                self.meet(message, receive, false);
            }
            _ => {
                own.matcher.depths().keep();
                own.halves.insert(context, Half::Came(message));
            }
        }
    }

    /// A collective call posts a receive.
    pub(crate) fn post_half(&mut self, rank: u32, context: Context, target: Target) {
        let own = &mut self.ranks[rank as usize];
        match own.halves.remove(&context) {
            Some(Half::Came(message)) => {
                own.matcher.depths().unexpected -= 1;
                self.meet(message, target, true);
            }
            _ => {
                own.matcher.depths().post();
                own.halves.insert(context, Half::Posted(target));
            }
        }
    }

    /// A message has met its receive; `waited` if the message was there first.
    pub(crate) fn meet(&mut self, message: u32, receive: Target, waited: bool) {
        if waited {
            let path = self.path_of(receive);
            self.messages[message].path = path;
        }
        let whole_came = self.carried(message) == self.messages[message].bytes;
        let own = &mut self.messages[message];
        own.receive = Some(receive);
        match own.stage {
            Stage::Eager if matches!(self.transport, Transport::LogGops(_)) => {
                let behind = own.sender_waits && own.from > own.to;
                if !behind {
                    self.free_sender(message);
                }
                self.received(message);
                if behind && waited {
                    self.freed = Some(message);
                } else if behind {
                    self.free_sender(message);
                }
            }
            Stage::Eager => self.receive(message),
            _ if whole_came => self.receive(message),
            _ => {
                own.stage = Stage::Clear;
                self.answer(message);
            }
        }
    }

    /// Without a network, the receive of a message is known to a sender that waits for it.
    pub(crate) fn free_sender(&mut self, message: u32) {
        let Message {
            from, sender_waits, ..
        } = self.messages[message];
        if sender_waits {
            let own = &mut self.ranks[from as usize];
            own.free = own.free.max(self.now);
            let [sends, _] = &mut self.adapters[self.nodes[from as usize] as usize];
            *sends = (*sends).max(self.now);
            self.left(message);
        }
    }

    fn path_of(&self, target: Target) -> Path {
        match target.owner {
            Owner::Rank(rank) => self.ranks[rank as usize].path,
            Owner::Call(call) => self.calls[call].path,
        }
    }

    /// The next stage of a message begins.
    fn answer(&mut self, message: u32) {
        let at = self.now + whole(self.hosts.costs.answer);
        if at == self.now {
            self.launch(message);
        } else {
            self.agenda.put(at, Event::Launch(message));
        }
    }

    /// All of a message is at its receiver, whose processor takes it.
    fn receive(&mut self, message: u32) {
        let Message { to, bytes, .. } = self.messages[message];
        let costs = &self.hosts.costs;
        let own = &mut self.ranks[to as usize];
        let ticks = own.whole(costs.receive + behind_first(costs.receive_byte, bytes));
        let mut end = self.now;
        if ticks > 0 {
            end = end.max(own.free) + ticks;
            own.free = end;
        }
        if end == self.now {
            self.received(message);
        } else {
            self.agenda.put(end, Event::Received(message));
        }
    }

    /// The receiver has a message.
    pub(crate) fn received(&mut self, message: u32) {
        let own = &mut self.messages[message];
        own.receiver_waits = false;
        let (target, path) = (own.receive, own.path);
        if self.tells_sender(message) {
            self.messages[message].stage = Stage::Finish;
            self.launch(message);
        }
        self.forget_if_over(message);
        if let Some(target) = target {
            self.complete(target, Some(path));
        }
    }

    /// Whether the sender of a message that has been received still waits for word of it.
    fn tells_sender(&self, message: u32) -> bool {
        let own = &self.messages[message];
        own.sender_waits
            && match own.stage {
                Stage::Request => true,
                Stage::Data => self.hosts.costs.rendezvous == Rendezvous::Get,
                Stage::Eager | Stage::Clear | Stage::Finish => false,
            }
    }

    fn forget_if_over(&mut self, message: u32) {
        let own = &self.messages[message];
        if !own.sender_waits && !own.receiver_waits {
            self.messages.remove(message);
        }
    }
}
