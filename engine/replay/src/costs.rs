//! What messages cost at hosts, and by which protocol they travel. Times are in ticks; [`Costs::in_ticks`] converts them.

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
    /// From a request's or a clearance's arrival to the answer.
    pub answer: f64,
    /// Processor time of combining two vectors, for each byte.
    pub combine_byte: f64,
    /// Of a message between ranks of one node.
    pub memory: f64,
    /// The same, for each byte.
    pub memory_byte: f64,
    /// The largest message that travels without a request. Larger ones, and synchronous ones, are announced by a request,
    /// cleared by the receiver once it has posted a receive, and then sent.
    pub eager_bytes: u64,
    /// Bytes of a message that go with its request.
    pub request_carries: u64,
    /// Bytes of a request, a clearance, and in front of each message.
    pub header_bytes: u64,
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
