//! What messages cost at hosts, and by which protocol they travel. Times are in ticks; [`Costs::in_ticks`] converts them.

/// How the data of an announced message come to the receiver.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Rendezvous {
    /// The receiver clears the message, and the sender sends it; the sender is free when it has left.
    Send,
    /// The receiver's adapter reads the message from the sender's, whose processor takes no part; the receiver then says
    /// that it has it, and the sender is free (RGET of Open MPI's `ob1`).
    Get,
}

impl Rendezvous {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Send, Self::Get];

    /// Its name in descriptions.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Get => "get",
        }
    }

    /// The one with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|rendezvous| rendezvous.name() == name)
    }
}

/// Costs and limits of messages; times in ns as they are written, in ticks as the replay uses them.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Costs {
    /// Processor time of a send (LogGOPS o).
    pub send: f64,
    /// Processor time of a send for each byte behind the first (LogGOPS O), or of the copy.
    pub send_byte: f64,
    /// Processor time of a receive.
    pub receive: f64,
    /// Processor time of a receive for each byte behind the first.
    pub receive_byte: f64,
    /// From when a message has left the processor to when the first flit can leave its node.
    pub adapter: f64,
    /// From a request's or a clearance's arrival to the answer by the processor. An adapter that is read answers at once.
    pub answer: f64,
    /// Processor time of combining two vectors, for each byte.
    pub combine_byte: f64,
    /// Of a message between ranks of one node.
    pub memory: f64,
    /// The same, for each byte.
    pub memory_byte: f64,
    /// The largest message that travels without a request. Larger ones, and synchronous ones, are announced by a request,
    /// and come by `rendezvous` once the receiver has posted a receive.
    pub eager_bytes: u64,
    /// How the rest of an announced message travels.
    pub rendezvous: Rendezvous,
    /// Bytes of a message that go with its request.
    pub request_carries: u64,
    /// Bytes of a request, of each answer to one, and in front of each message.
    pub header_bytes: u64,
    /// Bytes of an acknowledgement of packets; 0: there are none.
    pub ack_bytes: u64,
    /// Packets that one acknowledges.
    pub ack_packets: u32,
    /// Whether adapters take turns between the nodes that they send to, packet by packet.
    pub in_turn: bool,
}

impl Costs {
    /// With times in ticks of so many ns.
    #[must_use]
    pub fn in_ticks(self, ns: f64) -> Self {
        let ticks = |time: f64| time / ns;
        Self {
            send: ticks(self.send),
            send_byte: ticks(self.send_byte),
            receive: ticks(self.receive),
            receive_byte: ticks(self.receive_byte),
            adapter: ticks(self.adapter),
            answer: ticks(self.answer),
            combine_byte: ticks(self.combine_byte),
            memory: ticks(self.memory),
            memory_byte: ticks(self.memory_byte),
            ..self
        }
    }

    /// Whether all times are finite and none is negative.
    #[must_use]
    pub fn is_possible(&self) -> bool {
        [
            self.send,
            self.send_byte,
            self.receive,
            self.receive_byte,
            self.adapter,
            self.answer,
            self.combine_byte,
            self.memory,
            self.memory_byte,
        ]
        .iter()
        .all(|time| time.is_finite() && *time >= 0.0)
    }
}

/// So many ticks for each byte behind the first.
pub(crate) fn behind_first(ticks: f64, bytes: u64) -> f64 {
    ticks * bytes.saturating_sub(1) as f64
}

/// Whole ticks.
pub(crate) fn whole(ticks: f64) -> u64 {
    ticks.round() as u64
}
