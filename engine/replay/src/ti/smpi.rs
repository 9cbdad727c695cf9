//! What SMPI itself writes that differs from the format which SimGrid's replay reads.
//!
//! Versions up to 3.31 put the bytes of an element before lists, leave lists out that a rank does not have, and count
//! bytes in MPI_Alltoallv. All versions write a block of MPI_Reduce_scatter_block as so many zeros, leave a count of 0
//! out, and have -333 (undefined) for a source that is any rank, or none.

use super::calls::World;
use super::words::size;
use super::{Line, first_word};

type List<'a> = Vec<&'a [u8]>;

const NOTHING: &[u8] = b"0";
/// A type of one byte, by its number.
const BYTE: &[u8] = b"2";
/// Any rank, no rank.
pub(super) const UNDEFINED: &[u8] = b"-333";

/// What an undefined source of a rank's requests stands for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Undefined {
    /// Any rank.
    Any,
    /// MPI_PROC_NULL.
    Nobody,
    /// Either, and the format does not say which.
    Unknown,
}

/// Whether lists are as versions up to 3.31 wrote them.
pub(super) fn has_older_lists(lines: &[Vec<Line<'_>>]) -> bool {
    let ranks = lines.len();
    lines.iter().flatten().any(|line| {
        let (verb, rest) = first_word(line.text);
        if verb.len() < b"gatherv".len() {
            return false;
        }
        let words: List<'_> = words_of(rest).collect();
        match &verb.to_ascii_lowercase()[..] {
            b"gatherv" | b"scatterv" => words.len() == ranks + 5,
            b"allgatherv" => ranks > 3 && words.len() == ranks + 4,
            b"reducescatter" => words.len() == ranks + 3 && words[0] != NOTHING,
            _ => false,
        }
    })
}

/// By rank, what an undefined source of its requests stands for: as many messages come to it, or none.
pub(super) fn undefined_sources(lines: &[Vec<Line<'_>>]) -> Vec<Undefined> {
    let has_any = |line: &Line<'_>| {
        line.text
            .windows(UNDEFINED.len())
            .any(|part| part == UNDEFINED)
    };
    if !lines.iter().flatten().any(has_any) {
        return vec![Undefined::Any; lines.len()];
    }
    let mut left = vec![0_i64; lines.len()];
    let mut undefined = vec![0_i64; lines.len()];
    for (rank, line) in lines
        .iter()
        .enumerate()
        .flat_map(|(rank, own)| own.iter().map(move |line| (rank, line)))
    {
        let (verb, rest) = first_word(line.text);
        let mut words = words_of(rest);
        let mut send = |to: Option<&[u8]>| {
            let to = to.and_then(|word| std::str::from_utf8(word).ok()?.parse::<usize>().ok());
            if let Some(count) = to.and_then(|to| left.get_mut(to)) {
                *count += 1;
            }
        };
        match &verb.to_ascii_lowercase()[..] {
            b"send" | b"isend" | b"ssend" | b"issend" | b"bsend" | b"ibsend" => send(words.next()),
            b"sendrecv" => {
                send(words.nth(1));
                left[rank] -= 1;
            }
            b"irecv" if words.next() == Some(UNDEFINED) => undefined[rank] += 1,
            b"recv" | b"irecv" => left[rank] -= 1,
            _ => {}
        }
    }
    let both = left.iter().zip(&undefined);
    both.map(|(&left, &undefined)| match undefined {
        _ if left == undefined => Undefined::Any,
        _ if left == 0 => Undefined::Nobody,
        _ => Undefined::Unknown,
    })
    .collect()
}

/// The words as the format has them, of a call that SMPI wrote in a form of its own; none of others.
pub(super) fn as_documented<'a>(world: World, verb: &[u8], words: &[&'a [u8]]) -> Option<List<'a>> {
    let (ranks, length) = (world.ranks as usize, words.len());
    let zeros = || std::iter::repeat_n(NOTHING, ranks);
    let without_list = world.older_lists && length == 5;
    Some(match verb {
        b"gatherv" if length == ranks + 5 => without(words, 1),
        b"gatherv" if without_list => words[..1]
            .iter()
            .copied()
            .chain(zeros())
            .chain(words[2..].iter().copied())
            .collect(),
        b"scatterv" if length == ranks + 5 => without(words, 0),
        b"scatterv" if without_list => zeros().chain(words[1..].iter().copied()).collect(),
        b"allgatherv" if length == ranks + 4 && (ranks > 3 || sends_its_own(world, words)) => {
            without(words, 1)
        }
        b"alltoallv" if world.older_lists && length == 2 * ranks + 4 => {
            let mut list = words[..2 * ranks + 2].to_vec();
            list.extend([BYTE, BYTE]);
            list
        }
        b"reducescatter" if length == ranks + 3 && words[0] != NOTHING && words[1] == NOTHING => {
            let mut list = words[2..ranks + 2].to_vec();
            list.extend([NOTHING, words[ranks + 2]]);
            list
        }
        b"scan" | b"exscan" if length == 4 && words[0] == b"-1" => {
            vec![words[2], NOTHING, words[3]]
        }
        b"gather" if length == 4 && words[0] != words[1] => {
            vec![words[0], words[0], words[1], words[2], words[3]]
        }
        _ => return None,
    })
}

/// Elements of a block of MPI_Reduce_scatter_block.
pub(super) fn block(world: World, words: &[&[u8]]) -> Option<usize> {
    let (_, zeros) = words.split_last()?;
    let before = if world.older_lists { 2 } else { 0 };
    let all = zeros.len() > before && zeros.iter().all(|&word| word == NOTHING);
    all.then(|| zeros.len() - before)
}

fn words_of(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| super::is_space(byte))
        .filter(|word| !word.is_empty())
}

fn without<'a>(words: &[&'a [u8]], place: usize) -> List<'a> {
    let mut list = words.to_vec();
    list.remove(place);
    list
}

/// Whether what a rank sends to all is its own block, where the bytes of an element stand before the blocks.
fn sends_its_own(world: World, words: &[&[u8]]) -> bool {
    let ranks = world.ranks as usize;
    let bytes = |count: usize, kind: usize| {
        let each = World::bytes_of(words[kind])?;
        size(words[count], each)
    };
    let own = bytes(2 + world.rank as usize, ranks + 3);
    own.is_ok() && own == bytes(0, ranks + 2)
}
