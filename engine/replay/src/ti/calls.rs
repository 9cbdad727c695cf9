//! The calls of a rank, verb by verb.

use super::packed::{Packed, Row};
use super::requests::ended;
use super::smpi::{self, UNDEFINED, Undefined};
use super::words::{WITHOUT_TAG, duration_ns, need, shown, size, whole_number};
use super::{Line, Refusal, Trace, Words};

/// Calls by number: `simulation/replay/calls.py` has the same.
const SEND: u16 = 1;
const SSEND: u16 = 2;
const BSEND: u16 = 3;
const ISEND: u16 = 4;
const ISSEND: u16 = 5;
const IBSEND: u16 = 6;
const RECV: u16 = 7;
const IRECV: u16 = 8;
const BARRIER: u16 = 16;
const BCAST: u16 = 17;
const REDUCE: u16 = 18;
const ALLREDUCE: u16 = 19;
const GATHER: u16 = 20;
const GATHERV: u16 = 21;
const SCATTER: u16 = 22;
const SCATTERV: u16 = 23;
const ALLGATHER: u16 = 24;
const ALLGATHERV: u16 = 25;
const ALLTOALL: u16 = 26;
const ALLTOALLV: u16 = 27;
const REDUCE_SCATTER: u16 = 28;
const REDUCE_SCATTER_BLOCK: u16 = 29;
const SCAN: u16 = 30;
const EXSCAN: u16 = 31;

const ANY: i32 = -1;
const NOBODY: i32 = -2;
const MOST_TAG: i64 = i32::MAX as i64;

/// Bytes of an element by the number of its type, on 64 bits.
const TYPE_BYTES: [i64; 60] = [
    8, 4, 1, 2, 8, 4, 1, 8, 1, 1, 2, 4, 8, 8, 16, 4, 1, 1, 2, 4, 8, 1, 2, 4, 8, 8, 16, 32, 8, 8, 8,
    16, 16, 8, 8, 8, 16, 16, 4, 4, 8, 16, 8, 16, 16, 4, 2, 4, 8, 16, 32, 1, 8, 16, 32, 0, 0, 1, 8,
    8,
];

/// A rank among all, and the speed of its processor.
#[derive(Copy, Clone)]
pub(super) struct World {
    pub(super) rank: u32,
    pub(super) ranks: u32,
    pub(super) ns_per_operation: f64,
    /// Lists are as SMPI wrote them up to version 3.31.
    pub(super) older_lists: bool,
    /// What -333 stands for as the source of a request.
    pub(super) undefined: Undefined,
}

impl World {
    /// Of a receive that blocks: from MPI_PROC_NULL, SMPI writes none.
    pub(super) fn source(self, word: &[u8]) -> Result<i32, String> {
        match word {
            b"-555" | UNDEFINED => Ok(ANY),
            b"-666" => Ok(NOBODY),
            _ => self.member(word),
        }
    }

    /// Of a request.
    pub(super) fn source_of_request(self, word: &[u8]) -> Result<i32, String> {
        match self.undefined {
            Undefined::Unknown if word == UNDEFINED => Err(
                "has a receive from -333, which is any rank or none: the format does not say"
                    .into(),
            ),
            Undefined::Nobody if word == UNDEFINED => Ok(NOBODY),
            _ => self.source(word),
        }
    }

    /// Of a send.
    pub(super) fn target(self, word: &[u8]) -> Result<i32, String> {
        match word {
            b"-666" | UNDEFINED => Ok(NOBODY),
            _ => self.member(word),
        }
    }

    pub(super) fn tag(self, word: &[u8]) -> Result<i32, String> {
        if word == b"-444" {
            return Ok(ANY);
        }
        Ok(whole_number(word, ANY.into(), MOST_TAG, "a tag")? as i32)
    }

    /// Of an element of a type.
    pub(super) fn bytes_of(word: &[u8]) -> Result<i64, String> {
        if word == b"-1" {
            return Err(
                "has a type that the program made, whose size the format does not say".into(),
            );
        }
        let most = TYPE_BYTES.len() as i64 - 1;
        Ok(TYPE_BYTES[whole_number(word, 0, most, "a type")? as usize])
    }

    fn member(self, word: &[u8]) -> Result<i32, String> {
        Ok(whole_number(word, 0, i64::from(self.ranks) - 1, "a rank")? as i32)
    }
}

/// Add the calls of a rank.
///
/// # Errors
/// A line that cannot be used.
pub(super) fn read(world: World, lines: &[Line<'_>], trace: &mut Trace) -> Result<(), Refusal> {
    let mut rank = Rank {
        world,
        ended: ended(world, lines)?,
        reached: 0,
        begun: Vec::new(),
        element: 1,
        numbers: Vec::new(),
    };
    let mut words = Words::default();
    for (at, line) in lines.iter().enumerate() {
        line.split(&mut words);
        match &words.verb[..] {
            b"comm_split" | b"comm_dup" => trace.makes_communicators = true,
            b"test" => trace.tests = true,
            _ => {}
        }
        rank.read(at, &words.verb, &words.rest, &mut trace.calls)
            .map_err(|sentence| line.refuse(sentence))?;
    }
    Ok(())
}

/// Whether a verb is that of a collective call which begins a request: an i before another one.
pub(super) fn is_begun(verb: &[u8]) -> bool {
    matches!(
        verb,
        b"ibarrier"
            | b"ibcast"
            | b"ireduce"
            | b"iallreduce"
            | b"igather"
            | b"igatherv"
            | b"iscatter"
            | b"iscatterv"
            | b"iallgather"
            | b"iallgatherv"
            | b"ialltoall"
            | b"ialltoallv"
            | b"ireducescatter"
            | b"iscan"
            | b"iexscan"
    )
}

struct Rank {
    world: World,
    ended: Vec<(usize, usize)>,
    /// How many of those have been read.
    reached: usize,
    /// Numbers of requests in the order of their begins.
    begun: Vec<i64>,
    /// Bytes of an element whose type is not named.
    element: i64,
    /// Of the list that is written.
    numbers: Vec<i64>,
}

type Rest<'a> = &'a [&'a [u8]];

impl Rank {
    fn read(
        &mut self,
        at: usize,
        verb: &[u8],
        words: Rest,
        out: &mut Packed,
    ) -> Result<(), String> {
        match verb {
            b"send" | b"recv" | b"isend" | b"irecv" | b"ssend" | b"issend" | b"bsend"
            | b"ibsend" => self.point(verb, words, out),
            b"wait" | b"waitall" | b"test" => {
                self.wait(at, out);
                Ok(())
            }
            b"compute" => {
                need(words, 1, 1)?;
                out.compute(duration_ns(words[0], self.world.ns_per_operation)?);
                Ok(())
            }
            b"sleep" => {
                need(words, 1, 1)?;
                out.compute(duration_ns(words[0], 1e9)?);
                Ok(())
            }
            b"init" => {
                need(words, 0, 1)?;
                self.element = if words.is_empty() { 1 } else { 8 };
                Ok(())
            }
            b"finalize" | b"comm_size" | b"comm_split" | b"comm_dup" | b"location" => Ok(()),
            b"sendrecv" => self.both(words, out),
            b"waitany" | b"waitsome" | b"testany" | b"testall" | b"testsome" => Err(format!(
                "has {} of several requests, and the format does not say which of them had ended",
                shown(verb)
            )),
            b"start" | b"startall" => {
                Err("starts a persistent request, and the format does not say which".into())
            }
            _ => {
                let begins = is_begun(verb);
                let verb = if begins { &verb[1..] } else { verb };
                let documented = smpi::as_documented(self.world, verb, words);
                out.begins_next(begins);
                self.collective(verb, documented.as_deref().unwrap_or(words), out)?;
                self.begun.extend(out.begun().map(i64::from));
                Ok(())
            }
        }
    }

    fn collective(&mut self, verb: &[u8], words: Rest, out: &mut Packed) -> Result<(), String> {
        match verb {
            b"barrier" => {
                need(words, 0, 0)?;
                out.call(Row::of(BARRIER, 0), &[]);
                Ok(())
            }
            b"bcast" => {
                need(words, 1, 3)?;
                self.rooted(BCAST, words, [0, 1, 2], out)
            }
            b"reduce" => {
                need(words, 2, 4)?;
                self.rooted(REDUCE, words, [0, 2, 3], out)?;
                out.compute(duration_ns(words[1], self.world.ns_per_operation)?);
                Ok(())
            }
            b"allreduce" => self.vector(ALLREDUCE, words, out),
            b"scan" => self.vector(SCAN, words, out),
            b"exscan" => self.vector(EXSCAN, words, out),
            b"alltoall" => self.blocks(ALLTOALL, words, out),
            b"allgather" => self.blocks(ALLGATHER, words, out),
            b"gather" => self.gather(words, out),
            b"scatter" => {
                need(words, 2, 5)?;
                self.rooted(SCATTER, words, [1, 2, 4], out)
            }
            b"gatherv" => self.gatherv(words, out),
            b"scatterv" => self.scatterv(words, out),
            b"allgatherv" => self.allgatherv(words, out),
            b"alltoallv" => self.alltoallv(words, out),
            b"reducescatter" => self.reduce_scatter(words, out),
            _ => Err(format!(
                "has the call {}, which the format does not have",
                shown(verb)
            )),
        }
    }

    fn wait(&mut self, at: usize, out: &mut Packed) {
        self.numbers.clear();
        while let Some(&(line, begin)) = self.ended.get(self.reached) {
            if line != at {
                break;
            }
            self.numbers.push(self.begun[begin]);
            self.reached += 1;
        }
        if !self.numbers.is_empty() {
            out.wait(&self.numbers);
        }
    }

    fn point(&mut self, verb: &[u8], words: Rest, out: &mut Packed) -> Result<(), String> {
        if words.len() == 2 {
            return Err(WITHOUT_TAG.into());
        }
        need(words, 3, 4)?;
        if words[2] == b"-1" {
            return Err("has a receive of unknown size".into());
        }
        let (call, begins) = match verb {
            b"send" => (SEND, false),
            b"ssend" => (SSEND, false),
            b"bsend" => (BSEND, false),
            b"recv" => (RECV, false),
            b"isend" => (ISEND, true),
            b"issend" => (ISSEND, true),
            b"ibsend" => (IBSEND, true),
            _ => (IRECV, true),
        };
        let peer = match call {
            RECV => self.world.source(words[0])?,
            IRECV => self.world.source_of_request(words[0])?,
            _ => self.world.target(words[0])?,
        };
        let bytes = size(words[2], self.bytes_of(words, 3)?)?;
        let tag = self.world.tag(words[1])?;
        let row = Row {
            call,
            peer,
            tag,
            bytes,
        };
        if begins {
            self.begun.push(out.begin(row).into());
        } else {
            out.call(row, &[]);
        }
        Ok(())
    }

    fn both(&mut self, words: Rest, out: &mut Packed) -> Result<(), String> {
        need(words, 4, 6)?;
        let sent = size(words[0], self.bytes_of(words, 4)?)?;
        let received = size(words[2], self.bytes_of(words, 5)?)?;
        let (to, from) = (self.world.target(words[1])?, self.world.source(words[3])?);
        let mut begin = |call, peer, bytes| {
            let row = Row {
                peer,
                ..Row::of(call, bytes)
            };
            i64::from(out.begin(row))
        };
        let receive = begin(IRECV, from, received);
        let send = begin(ISEND, to, sent);
        out.wait(&[send, receive]);
        Ok(())
    }

    /// A call with the same bytes for all: which words are its count, its root, and the type of its elements.
    fn rooted(
        &self,
        call: u16,
        words: Rest,
        [count, root, element]: [usize; 3],
        out: &mut Packed,
    ) -> Result<(), String> {
        let bytes = size(words[count], self.bytes_of(words, element)?)?;
        let row = Row {
            peer: self.root(words, root)?,
            ..Row::of(call, bytes)
        };
        out.call(row, &[]);
        Ok(())
    }

    fn vector(&self, call: u16, words: Rest, out: &mut Packed) -> Result<(), String> {
        need(words, 2, 3)?;
        out.call(
            Row::of(call, size(words[0], self.bytes_of(words, 2)?)?),
            &[],
        );
        out.compute(duration_ns(words[1], self.world.ns_per_operation)?);
        Ok(())
    }

    /// Send and receive count, types.
    fn blocks(&self, call: u16, words: Rest, out: &mut Packed) -> Result<(), String> {
        need(words, 2, 4)?;
        out.call(
            Row::of(call, size(words[0], self.bytes_of(words, 2)?)?),
            &[],
        );
        Ok(())
    }

    /// A root that sends nothing to itself has only what it receives.
    fn gather(&self, words: Rest, out: &mut Packed) -> Result<(), String> {
        need(words, 2, 5)?;
        let is_root = self.root(words, 2)? == self.world.rank as i32;
        let (count, of_type) = if is_root && words[0] == b"0" {
            (1, 4)
        } else {
            (0, 3)
        };
        self.rooted(GATHER, words, [count, 2, of_type], out)
    }

    fn gatherv(&mut self, words: Rest, out: &mut Packed) -> Result<(), String> {
        let ranks = self.world.ranks as usize;
        need(words, ranks + 1, ranks + 4)?;
        let own = size(words[0], self.bytes_of(words, ranks + 2)?)?;
        let into = self.bytes_of(words, ranks + 3)?;
        self.of_root(GATHERV, (words, 1), (own, into), out)
    }

    fn scatterv(&mut self, words: Rest, out: &mut Packed) -> Result<(), String> {
        let ranks = self.world.ranks as usize;
        need(words, ranks + 1, ranks + 4)?;
        let own = size(words[ranks], self.bytes_of(words, ranks + 3)?)?;
        let from = self.bytes_of(words, ranks + 2)?;
        self.of_root(SCATTERV, (words, 0), (own, from), out)
    }

    /// Gatherv and Scatterv: blocks from a word on, which the root alone has; the rank's own bytes, and an element's.
    fn of_root(
        &mut self,
        call: u16,
        blocks: (Rest, usize),
        (own, element): (i64, i64),
        out: &mut Packed,
    ) -> Result<(), String> {
        let (words, from) = blocks;
        let ranks = self.world.ranks as usize;
        let root = self.root(words, ranks + 1)?;
        self.numbers.clear();
        if root == self.world.rank as i32 {
            self.list(&words[from..from + ranks], element)?;
        }
        let row = Row {
            peer: root,
            ..Row::of(call, own)
        };
        out.call(row, &self.numbers);
        Ok(())
    }

    fn allgatherv(&mut self, words: Rest, out: &mut Packed) -> Result<(), String> {
        let ranks = self.world.ranks as usize;
        need(words, ranks + 1, usize::MAX)?;
        let behind = words.len() - ranks - 1;
        // One type, two, or one or two before displacements; else displacements alone follow.
        let into = match behind {
            2 => self.bytes_of(words, ranks + 2)?,
            _ if behind == ranks + 2 => self.bytes_of(words, ranks + 2)?,
            _ if behind == 1 || behind == ranks + 1 => self.bytes_of(words, ranks + 1)?,
            _ => self.element,
        };
        self.numbers.clear();
        self.list(&words[1..=ranks], into)?;
        let own = self.numbers[self.world.rank as usize];
        out.call(Row::of(ALLGATHERV, own), &self.numbers);
        Ok(())
    }

    fn alltoallv(&mut self, words: Rest, out: &mut Packed) -> Result<(), String> {
        let ranks = self.world.ranks as usize;
        need(words, 2 * ranks + 2, 2 * ranks + 4)?;
        let from = self.bytes_of(words, 2 * ranks + 2)?;
        let into = self.bytes_of(words, 2 * ranks + 3)?;
        self.numbers.clear();
        self.list(&words[1..=ranks], from)?;
        let sent = self.numbers.iter().sum();
        self.list(&words[ranks + 2..2 * ranks + 2], into)?;
        out.call(Row::of(ALLTOALLV, sent), &self.numbers);
        Ok(())
    }

    fn reduce_scatter(&mut self, words: Rest, out: &mut Packed) -> Result<(), String> {
        let ranks = self.world.ranks as usize;
        if let Some(elements) = smpi::block(self.world, words) {
            let each = self.bytes_of(words, words.len() - 1)?;
            let row = Row::of(REDUCE_SCATTER_BLOCK, elements as i64 * each);
            out.call(row, &[]);
            return Ok(());
        }
        need(words, ranks + 1, ranks + 2)?;
        let element = self.bytes_of(words, ranks + 1)?;
        self.numbers.clear();
        self.list(&words[..ranks], element)?;
        let whole = self.numbers.iter().sum();
        out.call(Row::of(REDUCE_SCATTER, whole), &self.numbers);
        out.compute(duration_ns(words[ranks], self.world.ns_per_operation)?);
        Ok(())
    }

    fn list(&mut self, words: Rest, element: i64) -> Result<(), String> {
        for word in words {
            self.numbers.push(size(word, element)?);
        }
        Ok(())
    }

    fn root(&self, words: Rest, at: usize) -> Result<i32, String> {
        words.get(at).map_or(Ok(0), |word| self.world.member(word))
    }

    /// Of an element of the type at a position, where there is one.
    fn bytes_of(&self, words: Rest, at: usize) -> Result<i64, String> {
        words
            .get(at)
            .map_or(Ok(self.element), |word| World::bytes_of(word))
    }
}
