//! Rows as Python's `simulation/replay/records.py` packs them, [`ROW`] bytes each, little-endian: call u16, flags u16,
//! communicator u32, peer i32, tag i32, request i32, length of the list u32, bytes i64, computing before the call in ns
//! u64, and where the list begins u64.

use std::sync::Arc;

use super::{Call, Op, Place, Program, RankCalls, SendMode, Source};
use crate::collectives::Kind;
use crate::error::ReplayError;
use crate::hash::FastMap;

/// Bytes of a packed call.
pub const ROW: usize = 48;

const IN_PLACE: u16 = 1;
const NOT_COMMUTATIVE: u16 = 2;
const ANY: i32 = -1;
const NOBODY: i32 = -2;

/// Packed calls of all ranks.
#[derive(Copy, Clone, Debug)]
pub struct Records<'a> {
    /// Rows.
    pub rows: &'a [u8],
    /// Numbers of all lists, 8 bytes each.
    pub lists: &'a [u8],
    /// The row with which each rank begins, and the number of rows.
    pub first: &'a [u64],
}

fn field<const N: usize>(row: &[u8], at: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&row[at..at + N]);
    out
}

struct Row {
    call: u16,
    flags: u16,
    communicator: u32,
    peer: i32,
    tag: i32,
    request: i32,
    length: u32,
    bytes: i64,
    compute_ns: u64,
    list_at: u64,
}

impl Row {
    fn of(row: &[u8]) -> Self {
        Self {
            call: u16::from_le_bytes(field(row, 0)),
            flags: u16::from_le_bytes(field(row, 2)),
            communicator: u32::from_le_bytes(field(row, 4)),
            peer: i32::from_le_bytes(field(row, 8)),
            tag: i32::from_le_bytes(field(row, 12)),
            request: i32::from_le_bytes(field(row, 16)),
            length: u32::from_le_bytes(field(row, 20)),
            bytes: i64::from_le_bytes(field(row, 24)),
            compute_ns: u64::from_le_bytes(field(row, 32)),
            list_at: u64::from_le_bytes(field(row, 40)),
        }
    }
}

/// Collective calls by number: `simulation/replay/calls.py` has the same.
const KINDS: [(u16, Kind); 16] = [
    (16, Kind::Barrier),
    (17, Kind::Bcast),
    (18, Kind::Reduce),
    (19, Kind::Allreduce),
    (20, Kind::Gather),
    (21, Kind::Gatherv),
    (22, Kind::Scatter),
    (23, Kind::Scatterv),
    (24, Kind::Allgather),
    (25, Kind::Allgatherv),
    (26, Kind::Alltoall),
    (27, Kind::Alltoallv),
    (28, Kind::ReduceScatter),
    (29, Kind::ReduceScatterBlock),
    (30, Kind::Scan),
    (31, Kind::Exscan),
];

impl Program {
    /// Read packed calls.
    ///
    /// # Errors
    /// If a call names something that does not exist, or loops do not match.
    pub fn from_records(
        records: Records<'_>,
        communicators: Vec<Vec<u32>>,
    ) -> Result<Self, ReplayError> {
        let ranks = records.first.len().saturating_sub(1) as u32;
        if ranks == 0 {
            return ReplayError::parameter("a program has at least one rank");
        }
        let rows = records.rows.len() / ROW;
        let sorted = records.first.is_sorted();
        if !sorted || records.first.last() != Some(&(rows as u64)) {
            return ReplayError::parameter("the rows of the ranks do not follow each other");
        }
        let mut places = FastMap::default();
        for (communicator, members) in (0_u32..).zip(&communicators) {
            for (own, &world) in (0_u32..).zip(members) {
                if world >= ranks {
                    return ReplayError::parameter(format!(
                        "communicator {communicator} has the rank {world}, and the program {ranks} ranks"
                    ));
                }
                if places.insert((communicator, world), own).is_some() {
                    return ReplayError::parameter(format!(
                        "communicator {communicator} has the rank {world} twice"
                    ));
                }
            }
        }
        let communicators: Vec<Arc<[u32]>> = communicators.into_iter().map(Arc::from).collect();
        let read = |rank: u32| {
            let own =
                records.first[rank as usize] as usize..records.first[rank as usize + 1] as usize;
            let mut reader = Reader {
                rank,
                out: RankCalls::default(),
                sizes: &communicators,
                places: &places,
                open: Vec::new(),
                requests: FastMap::default(),
                channels: FastMap::default(),
                lanes: FastMap::default(),
            };
            for row in records.rows[own.start * ROW..own.end * ROW].chunks_exact(ROW) {
                reader.read(&Row::of(row), records.lists)?;
            }
            reader.finish()
        };
        let ranks = (0..ranks).map(read).collect::<Result<_, _>>()?;
        Ok(Self {
            ranks,
            communicators,
        })
    }
}

struct Reader<'a> {
    rank: u32,
    out: RankCalls,
    sizes: &'a [Arc<[u32]>],
    places: &'a FastMap<(u32, u32), u32>,
    /// Loops that have not ended: their call, and the calls before and in them so far.
    open: Vec<(usize, u64)>,
    requests: FastMap<i32, u32>,
    channels: FastMap<Place, u32>,
    lanes: FastMap<Place, u32>,
}

/// The number of a place in a list that has each once.
fn number(numbers: &mut FastMap<Place, u32>, list: &mut Vec<Place>, place: Place) -> u32 {
    *numbers.entry(place).or_insert_with(|| {
        list.push(place);
        list.len() as u32 - 1
    })
}

impl Reader<'_> {
    fn fail<T>(&self, what: impl Into<String>) -> Result<T, ReplayError> {
        ReplayError::program(self.rank, self.out.calls.len(), what)
    }

    fn read(&mut self, row: &Row, lists: &[u8]) -> Result<(), ReplayError> {
        let Some(members) = self.sizes.get(row.communicator as usize) else {
            return self.fail(format!("there is no communicator {}", row.communicator));
        };
        let size = members.len() as u32;
        let Some(&me) = self.places.get(&(row.communicator, self.rank)) else {
            return self.fail(format!(
                "the rank is not in communicator {}",
                row.communicator
            ));
        };
        let list = self.list(row, lists)?;
        let op = self.op(row, size)?;
        match op {
            Op::Loop { .. } => self.open.push((self.out.calls.len(), self.out.length)),
            Op::End => self.close()?,
            _ => self.out.length += 1,
        }
        self.out.calls.push(Call {
            op,
            compute_ns: row.compute_ns,
            communicator: row.communicator,
            me,
            list,
        });
        Ok(())
    }

    /// A loop ends with the call that is read.
    fn close(&mut self) -> Result<(), ReplayError> {
        let Some((at, before)) = self.open.pop() else {
            return self.fail("a loop ends that did not begin");
        };
        let last = self.out.calls.len() as u32 + 1;
        if let Op::Loop { passes, behind } = &mut self.out.calls[at].op {
            *behind = last;
            let inside = self.out.length - before;
            self.out.length = before.saturating_add(inside.saturating_mul(*passes));
        }
        Ok(())
    }

    fn list(&mut self, row: &Row, lists: &[u8]) -> Result<(u32, u32), ReplayError> {
        if row.length == 0 {
            return Ok((0, 0));
        }
        let first = row.list_at as usize;
        let bytes = first
            .checked_mul(8)
            .zip(
                first
                    .checked_add(row.length as usize)
                    .and_then(|end| end.checked_mul(8)),
            )
            .and_then(|(from, to)| lists.get(from..to));
        let Some(bytes) = bytes else {
            return self.fail("its list lies outside all lists");
        };
        let at = self.out.lists.len() as u32;
        for number in bytes.chunks_exact(8) {
            let number = i64::from_le_bytes(field(number, 0));
            let number = if row.call == 9 {
                u64::from(self.request(number as i32)?)
            } else {
                match u64::try_from(number) {
                    Ok(size) => size,
                    Err(_) => return self.fail(format!("a size is {number}")),
                }
            };
            self.out.lists.push(number);
        }
        Ok((at, row.length))
    }

    /// The number of a request in this rank.
    fn request(&mut self, request: i32) -> Result<u32, ReplayError> {
        if request < 0 {
            return self.fail("it has no request");
        }
        let next = self.requests.len() as u32;
        Ok(*self.requests.entry(request).or_insert(next))
    }

    fn op(&mut self, row: &Row, size: u32) -> Result<Op, ReplayError> {
        let Ok(bytes) = u64::try_from(row.bytes) else {
            return self.fail(format!("its bytes are {}", row.bytes));
        };
        Ok(match row.call {
            0 => Op::Compute,
            1..=6 => self.send(row, size, bytes)?,
            7 | 8 => self.receive(row, size)?,
            9 => Op::Wait,
            10 => Op::Cancel {
                request: self.request(row.request)?,
            },
            40 => Op::Loop {
                passes: bytes,
                behind: 0,
            },
            41 => Op::End,
            _ => self.collective(row, size, bytes)?,
        })
    }

    fn send(&mut self, row: &Row, size: u32, bytes: u64) -> Result<Op, ReplayError> {
        Ok(Op::Send {
            mode: match row.call {
                1 | 4 => SendMode::Standard,
                2 | 5 => SendMode::Synchronous,
                _ => SendMode::Buffered,
            },
            channel: match self.peer(row, size)? {
                Some(rank) => {
                    let place = (row.communicator, rank);
                    Some(number(&mut self.channels, &mut self.out.channels, place))
                }
                None if row.peer == ANY => {
                    return self.fail("a send goes to no certain rank");
                }
                None => None,
            },
            tag: row.tag,
            bytes,
            request: if row.call > 3 {
                Some(self.request(row.request)?)
            } else {
                None
            },
        })
    }

    fn receive(&mut self, row: &Row, size: u32) -> Result<Op, ReplayError> {
        Ok(Op::Receive {
            from: match self.peer(row, size)? {
                Some(rank) => {
                    let place = (row.communicator, rank);
                    Source::Lane(number(&mut self.lanes, &mut self.out.lanes, place))
                }
                None if row.peer == ANY => Source::Any,
                None => Source::Nobody,
            },
            tag: (row.tag != ANY).then_some(row.tag),
            request: if row.call == 8 {
                Some(self.request(row.request)?)
            } else {
                None
            },
        })
    }

    fn collective(&mut self, row: &Row, size: u32, bytes: u64) -> Result<Op, ReplayError> {
        let Some(&(_, kind)) = KINDS.iter().find(|(own, _)| *own == row.call) else {
            return self.fail(format!("there is no call {}", row.call));
        };
        let root = match u32::try_from(row.peer) {
            Ok(root) if root < size => root,
            Ok(root) => return self.fail(format!("its root is {root} of {size} ranks")),
            Err(_) => 0,
        };
        Ok(Op::Collective {
            kind,
            root,
            bytes,
            in_place: row.flags & IN_PLACE != 0,
            commutative: row.flags & NOT_COMMUTATIVE == 0,
            request: if row.request >= 0 {
                Some(self.request(row.request)?)
            } else {
                None
            },
        })
    }

    /// The rank that it names; none for any or nobody.
    fn peer(&self, row: &Row, size: u32) -> Result<Option<u32>, ReplayError> {
        match row.peer {
            ANY | NOBODY => Ok(None),
            peer => match u32::try_from(peer) {
                Ok(rank) if rank < size => Ok(Some(rank)),
                _ => self.fail(format!("its peer is {peer} of {size} ranks")),
            },
        }
    }

    fn finish(mut self) -> Result<RankCalls, ReplayError> {
        if !self.open.is_empty() {
            return self.fail("a loop does not end");
        }
        self.out.requests = self.requests.len() as u32;
        Ok(self.out)
    }
}
