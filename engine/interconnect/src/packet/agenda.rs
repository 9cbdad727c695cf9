//! What is due when: a bucket for each of the next cycles, a list for each of the next blocks of cycles, and one list for
//! what lies beyond.
//!
//! A bucket is three streams. *Words* of 4 bytes say what happens, in the order in which it was entered; a word "a packet
//! arrives" stands for the next of the *packets*, which travel in the bucket themselves and are stored nowhere else. What
//! has reached its node only counts, in whatever order. A bucket that has been taken gives its memory to the next one that
//! needs some: as many are in use, and in the cache, as cycles are ahead.

use super::{Packet, Reached};

/// Cycles that have a bucket; also the cycles of a block, and the blocks that have a list.
const SPAN: u64 = 128;

/// Bits of a word that say what it is about; the kind is above them.
const BITS: u32 = 29;
const NUMBER: u32 = (1 << BITS) - 1;
const ARRIVE: u32 = 0;
const CREDIT: u32 = 1;
const MAKE: u32 = 2;
const FORGET: u32 = 3;
const FOLLOW: u32 = 4;
const RELEASE: u32 = 5;
const LOOK: u32 = 6;
const CONTROL: u32 = 7;

/// The largest number of an output, node or buffer.
pub(super) const LARGEST: u32 = NUMBER;

/// What a word says.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// The head of the next packet, sent by this output, reaches a router.
    Arrive { from: u32 },
    /// Room for a packet in a buffer.
    Credit { buffer: u32 },
    /// A node makes its next packet.
    Make { node: u32 },
    /// A packet was sent to this port a history window ago.
    Forget { port: u32 },
    /// The first packet of a buffer has left it, and one behind it is the first now.
    Follow { buffer: u32 },
    /// The tail that a virtual channel belonged to is in the switch, and packets wait for the channel.
    Release { channel: u32 },
    /// The first packet of a buffer lost a virtual channel to another one in the cycle before, and looks for one again.
    Look { buffer: u32 },
    /// A control packet comes to a router.
    Control { number: u32 },
}

impl Event {
    const fn word(self) -> u32 {
        match self {
            Self::Arrive { from } => ARRIVE << BITS | from,
            Self::Credit { buffer } => CREDIT << BITS | buffer,
            Self::Make { node } => MAKE << BITS | node,
            Self::Forget { port } => FORGET << BITS | port,
            Self::Follow { buffer } => FOLLOW << BITS | buffer,
            Self::Release { channel } => RELEASE << BITS | channel,
            Self::Look { buffer } => LOOK << BITS | buffer,
            Self::Control { number } => CONTROL << BITS | number,
        }
    }

    /// What a word says.
    pub(super) const fn of(word: u32) -> Self {
        let number = word & NUMBER;
        match word >> BITS {
            ARRIVE => Self::Arrive { from: number },
            CREDIT => Self::Credit { buffer: number },
            MAKE => Self::Make { node: number },
            FORGET => Self::Forget { port: number },
            FOLLOW => Self::Follow { buffer: number },
            RELEASE => Self::Release { channel: number },
            LOOK => Self::Look { buffer: number },
            _ => Self::Control { number },
        }
    }
}

/// What is due in a cycle.
#[derive(Clone, Debug, Default)]
pub(super) struct Bucket {
    /// [`Event`]s, in order.
    pub(super) words: Vec<u32>,
    /// Those of [`Event::Arrive`], in order.
    pub(super) packets: Vec<Packet>,
    /// Tails that reach their nodes.
    pub(super) reached: Vec<Reached>,
}

/// What is due beyond the buckets.
#[derive(Copy, Clone, Debug)]
enum Later {
    Event(Event),
    Packet(u32, Packet),
    Reached(Reached),
}

/// All that is due.
#[derive(Clone, Debug)]
pub(super) struct Agenda {
    buckets: Box<[Bucket; SPAN as usize]>,
    /// A bit for each bucket that has something in it.
    due: u128,
    /// By block of cycles, modulo [`SPAN`].
    blocks: Box<[Vec<(u64, Later)>; SPAN as usize]>,
    /// A bit for each block that has something in it.
    due_blocks: u128,
    beyond: Vec<(u64, Later)>,
    /// When the first of `beyond` is due.
    first_beyond: u64,
    /// Emptied lists, each with its memory.
    words: Vec<Vec<u32>>,
    packets: Vec<Vec<Packet>>,
    reached: Vec<Vec<Reached>>,
    later: Vec<Vec<(u64, Later)>>,
}

/// Append; a list without memory takes an emptied one's.
fn push<T>(list: &mut Vec<T>, emptied: &mut Vec<Vec<T>>, item: T) {
    if list.len() == list.capacity() {
        renew(list, emptied);
    }
    list.push(item);
}

#[cold]
#[inline(never)]
fn renew<T>(list: &mut Vec<T>, emptied: &mut Vec<Vec<T>>) {
    if list.capacity() == 0 {
        *list = emptied.pop().unwrap_or_default();
    }
    list.reserve(1);
}

/// Keep a list's memory.
fn keep<T>(mut list: Vec<T>, emptied: &mut Vec<Vec<T>>) {
    if list.capacity() > 0 {
        list.clear();
        emptied.push(list);
    }
}

/// The bit of a cycle or block.
const fn bit(number: u64) -> u128 {
    1 << (number % SPAN)
}

/// How far ahead the first of these bits is, from that of a cycle or block on.
fn first(bits: u128, from: u64) -> Option<u64> {
    let ahead = bits.rotate_right((from % SPAN) as u32);
    (ahead != 0).then(|| ahead.trailing_zeros().into())
}

/// The bucket of a cycle, which has something in it from now on.
#[inline]
fn bucket<'a>(buckets: &'a mut [Bucket; SPAN as usize], due: &mut u128, at: u64) -> &'a mut Bucket {
    *due |= bit(at);
    &mut buckets[(at % SPAN) as usize]
}

impl Agenda {
    /// Nothing is due.
    pub(super) fn new() -> Self {
        Self {
            buckets: Box::new(std::array::from_fn(|_| Bucket::default())),
            due: 0,
            blocks: Box::new(std::array::from_fn(|_| Vec::new())),
            due_blocks: 0,
            beyond: Vec::new(),
            first_beyond: u64::MAX,
            words: Vec::new(),
            packets: Vec::new(),
            reached: Vec::new(),
            later: Vec::new(),
        }
    }

    /// Enter an event, at `now` or later. Packets have [`Self::put_packet`].
    #[inline]
    pub(super) fn put(&mut self, now: u64, at: u64, event: Event) {
        debug_assert!(at >= now);
        if at - now < SPAN {
            let bucket = bucket(&mut self.buckets, &mut self.due, at);
            push(&mut bucket.words, &mut self.words, event.word());
        } else if at != u64::MAX {
            self.put_later(now, at, Later::Event(event));
        }
    }

    /// The head of a packet, sent by this output, reaches a router, at `now` or later.
    #[inline]
    pub(super) fn put_packet(&mut self, now: u64, at: u64, from: u32, packet: Packet) {
        debug_assert!(at >= now);
        if at - now < SPAN {
            let bucket = bucket(&mut self.buckets, &mut self.due, at);
            let word = Event::Arrive { from }.word();
            push(&mut bucket.words, &mut self.words, word);
            push(&mut bucket.packets, &mut self.packets, packet);
        } else {
            self.put_later(now, at, Later::Packet(from, packet));
        }
    }

    /// A packet's tail reaches its node, at `now` or later.
    #[inline]
    pub(super) fn put_reached(&mut self, now: u64, at: u64, reached: Reached) {
        debug_assert!(at >= now);
        if at - now < SPAN {
            let bucket = bucket(&mut self.buckets, &mut self.due, at);
            push(&mut bucket.reached, &mut self.reached, reached);
        } else {
            self.put_later(now, at, Later::Reached(reached));
        }
    }

    fn put_later(&mut self, now: u64, at: u64, due: Later) {
        let block = at / SPAN;
        if block - now / SPAN < SPAN {
            self.due_blocks |= bit(block);
            let list = &mut self.blocks[(block % SPAN) as usize];
            push(list, &mut self.later, (at, due));
        } else {
            self.first_beyond = self.first_beyond.min(at);
            self.beyond.push((at, due));
        }
    }

    /// What is due in this cycle; to be given back with [`Self::give_back`]. Nothing more may be entered for it.
    pub(super) fn take(&mut self, now: u64) -> Bucket {
        if now % SPAN == 0 {
            self.bring_near(now);
        }
        self.due &= !bit(now);
        std::mem::take(&mut self.buckets[(now % SPAN) as usize])
    }

    /// A cycle before which nothing is due; in it, perhaps nothing either. `None` if nothing is due at all.
    pub(super) fn next(&self, now: u64) -> Option<u64> {
        let nearest = first(self.due, now).map(|ahead| now + ahead);
        let block = now / SPAN;
        let blocks = first(self.due_blocks, block).map(|ahead| (block + ahead) * SPAN);
        let beyond = Some(self.first_beyond / SPAN * SPAN).filter(|_| !self.beyond.is_empty());
        [nearest, blocks, beyond]
            .into_iter()
            .flatten()
            .min()
            .map(|at| at.max(now))
    }

    /// Enter into the buckets what is due in the block that begins now.
    fn bring_near(&mut self, now: u64) {
        let block = now / SPAN;
        if self.first_beyond / SPAN == block {
            self.first_beyond = u64::MAX;
            for (at, due) in std::mem::take(&mut self.beyond) {
                self.put_later(now, at, due);
            }
        }
        if self.due_blocks & bit(block) == 0 {
            return;
        }
        self.due_blocks &= !bit(block);
        let mut list = std::mem::take(&mut self.blocks[(block % SPAN) as usize]);
        for (at, due) in list.drain(..) {
            match due {
                Later::Event(event) => self.put(now, at, event),
                Later::Packet(from, packet) => self.put_packet(now, at, from, packet),
                Later::Reached(reached) => self.put_reached(now, at, reached),
            }
        }
        keep(list, &mut self.later);
    }

    /// Keep a bucket's memory.
    pub(super) fn give_back(&mut self, bucket: Bucket) {
        keep(bucket.words, &mut self.words);
        keep(bucket.packets, &mut self.packets);
        keep(bucket.reached, &mut self.reached);
    }

    /// Packets on links, the last ones included.
    pub(super) fn packets(&self) -> usize {
        let near = self.buckets.iter();
        let near: usize = near
            .map(|bucket| bucket.packets.len() + bucket.reached.len())
            .sum();
        let later = self.blocks.iter().flatten().chain(&self.beyond);
        near + later
            .filter(|(_, due)| matches!(due, Later::Packet(..) | Later::Reached(_)))
            .count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_back_from_their_words() {
        for number in [0, 1, 77, LARGEST] {
            for event in [
                Event::Arrive { from: number },
                Event::Credit { buffer: number },
                Event::Make { node: number },
                Event::Forget { port: number },
                Event::Follow { buffer: number },
                Event::Release { channel: number },
                Event::Look { buffer: number },
                Event::Control { number },
            ] {
                assert_eq!(Event::of(event.word()), event);
            }
        }
    }

    #[test]
    fn what_is_due_comes_in_its_cycle_in_the_order_of_entry() {
        let mut agenda = Agenda::new();
        let due = [5, 127, 5, 128, 700, 5, 255, 256];
        for (node, at) in (0..).zip(due) {
            agenda.put(0, at, Event::Make { node });
        }
        agenda.put(0, u64::MAX, Event::Make { node: 99 });
        let mut found = Vec::new();
        for now in 0..1000 {
            let bucket = agenda.take(now);
            for &word in &bucket.words {
                match Event::of(word) {
                    Event::Make { node } => found.push((now, node)),
                    other => panic!("{other:?}"),
                }
            }
            agenda.give_back(bucket);
        }
        let wanted = [
            (5, 0),
            (5, 2),
            (5, 5),
            (127, 1),
            (128, 3),
            (255, 6),
            (256, 7),
            (700, 4),
        ];
        assert_eq!(found, wanted);
    }
}
