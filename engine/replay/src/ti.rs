//! SimGrid's time-independent traces: a line a call, `RANK VERB ARGUMENTS`, in one file or one for each rank.
//!
//! Computing is counted in operations there. Collective calls are always those of the world. Requests are found by
//! sender, receiver and tag, the oldest first. A test is no message and takes no time here; where no wait follows, the
//! last test found the request complete, and becomes a wait.
//!
//! | module | contents |
//! | --- | --- |
//! | `words` | numbers of a line, and what is said of wrong ones |
//! | `requests` | which line ends which request |
//! | `calls` | the calls of a rank, verb by verb |
//! | `packed` | calls as rows |
//! | `smpi` | calls as SMPI itself writes them |

mod calls;
mod packed;
mod requests;
mod smpi;
mod words;

pub use packed::Packed;

use words::whole_number;

/// The highest rank, and one.
const MOST_RANKS: i64 = 1 << 20;

/// A place in a trace that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("file {file}, line {line} {sentence}")]
pub struct Refusal {
    /// Number of the file.
    pub file: usize,
    /// Number of the line, from 1; 0 for the whole file.
    pub line: usize,
    /// What is wrong; goes on after file and line.
    pub sentence: String,
    /// The way out, where it is another than to record anew.
    pub remedy: Option<&'static str>,
}

impl Refusal {
    fn of_file(sentence: String, remedy: Option<&'static str>) -> Self {
        Self {
            file: 0,
            line: 0,
            sentence,
            remedy,
        }
    }
}

/// What a trace holds.
#[derive(Debug, Default)]
pub struct Trace {
    /// The calls of all ranks.
    pub calls: Packed,
    /// Communicators are made or split.
    pub makes_communicators: bool,
    /// Requests are tested.
    pub tests: bool,
    /// Lists are as SMPI wrote them up to version 3.31.
    pub older_lists: bool,
}

/// A line with its words.
#[derive(Copy, Clone)]
struct Line<'a> {
    file: u32,
    number: u32,
    /// From the verb on.
    text: &'a [u8],
}

impl<'a> Line<'a> {
    fn refuse(&self, sentence: String) -> Refusal {
        Refusal {
            file: self.file as usize,
            line: self.number as usize,
            sentence,
            remedy: None,
        }
    }

    /// The verb in small letters, as versions up to 3.19 had capitals in some, and the words behind it.
    fn split(&self, into: &mut Words<'a>) {
        let (verb, mut rest) = first_word(self.text);
        into.verb.clear();
        into.verb.extend(verb.iter().map(u8::to_ascii_lowercase));
        into.rest.clear();
        loop {
            let (word, behind) = first_word(rest);
            if word.is_empty() {
                return;
            }
            into.rest.push(word);
            rest = behind;
        }
    }
}

/// What a line says.
#[derive(Default)]
struct Words<'a> {
    verb: Vec<u8>,
    rest: Vec<&'a [u8]>,
}

/// What separates words: also control characters that are made for it.
const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | 0x09..=0x0d | 0x1c..=0x1f)
}

/// The first word, and what is behind it; empty if there is none.
fn first_word(text: &[u8]) -> (&[u8], &[u8]) {
    let begin = text
        .iter()
        .position(|&byte| !is_space(byte))
        .unwrap_or(text.len());
    let text = &text[begin..];
    let end = text
        .iter()
        .position(|&byte| is_space(byte))
        .unwrap_or(text.len());
    text.split_at(end)
}

/// Read the texts of a trace's files; an operation takes `ns_per_operation`.
///
/// # Errors
/// The first line that cannot be used: of all lines its rank is looked at first, then requests and calls rank by rank.
pub fn read(texts: &[&[u8]], ns_per_operation: f64) -> Result<Trace, Refusal> {
    let lines = lines_by_rank(texts)?;
    let ranks = lines.len();
    if ranks == 0 {
        return Err(Refusal::of_file("has no call".into(), None));
    }
    if let Some(missing) = lines.iter().position(Vec::is_empty) {
        let sentence = format!("has no call of rank {missing}, but of rank {}", ranks - 1);
        return Err(Refusal::of_file(
            sentence,
            Some("name the files of all ranks"),
        ));
    }
    let undefined = smpi::undefined_sources(&lines);
    let mut trace = Trace {
        older_lists: smpi::has_older_lists(&lines),
        ..Trace::default()
    };
    for (rank, own) in (0_u32..).zip(&lines) {
        let world = calls::World {
            rank,
            ranks: ranks as u32,
            ns_per_operation,
            older_lists: trace.older_lists,
            undefined: undefined[rank as usize],
        };
        calls::read(world, own, &mut trace)?;
        trace.calls.finish();
    }
    Ok(trace)
}

fn lines_by_rank<'a>(texts: &[&'a [u8]]) -> Result<Vec<Vec<Line<'a>>>, Refusal> {
    let mut lines: Vec<Vec<Line<'a>>> = Vec::new();
    for (file, text) in (0_u32..).zip(texts) {
        for (number, line) in (1_u32..).zip(text.split(|&byte| byte == b'\n')) {
            let (word, text) = first_word(line);
            if word.is_empty() || word.starts_with(b"#") {
                continue;
            }
            let line = Line { file, number, text };
            // The name of a source file is of any bytes, and of no interest.
            let names_file = first_word(text).0.eq_ignore_ascii_case(b"location");
            if !word.is_ascii() || !(names_file || text.is_ascii()) {
                return Err(line.refuse("is not plain text".into()));
            }
            let rank = whole_number(word, 0, MOST_RANKS - 1, "a rank")
                .map_err(|sentence| line.refuse(sentence))? as usize;
            if first_word(text).0.is_empty() {
                return Err(line.refuse("has a rank without a call".into()));
            }
            if lines.len() <= rank {
                lines.resize_with(rank + 1, Vec::new);
            }
            if lines[rank].last().is_some_and(|before| before.file != file) {
                let sentence =
                    format!("has a call of rank {rank}, of which another file has calls");
                return Err(Refusal {
                    remedy: Some("name each rank's file once"),
                    ..line.refuse(sentence)
                });
            }
            lines[rank].push(line);
        }
    }
    Ok(lines)
}
