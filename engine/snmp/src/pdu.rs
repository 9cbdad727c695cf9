//! The operations: GET, GETNEXT, GETBULK and SET (RFC 3416; RFC 1157 for version 1).

use std::ops::Range;

use crate::ber::{self, BerError, Prepender, Reader};
use crate::table::Table;
use crate::value::Value;

/// Protocol version of a PDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// SNMPv1: no exceptions, no Counter64.
    V1,
    /// SNMPv2c and v3.
    V2,
}

/// Access rights of a community or user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reading only.
    ReadOnly,
    /// Reading and SET.
    ReadWrite,
}

/// The kinds of PDU that an agent serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// GetRequest.
    Get,
    /// GetNextRequest.
    GetNext,
    /// SetRequest.
    Set,
    /// GetBulkRequest.
    GetBulk,
}

/// Tag of a Response PDU.
pub const RESPONSE: u8 = 0xa2;
/// Tag of a Report PDU.
pub const REPORT: u8 = 0xa8;
const NO_SUCH_OBJECT: u8 = 0x80;
const NO_SUCH_INSTANCE: u8 = 0x81;
const END_OF_MIB_VIEW: u8 = 0x82;

/// error-status of a response (RFC 3416 §3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the RFC's")]
pub enum ErrorStatus {
    NoError = 0,
    TooBig = 1,
    NoSuchName = 2,
    BadValue = 3,
    ReadOnly = 4,
    GenErr = 5,
    NoAccess = 6,
    WrongType = 7,
    WrongLength = 8,
    WrongEncoding = 9,
    WrongValue = 10,
    NoCreation = 11,
    InconsistentValue = 12,
    ResourceUnavailable = 13,
    CommitFailed = 14,
    UndoFailed = 15,
    AuthorizationError = 16,
    NotWritable = 17,
    InconsistentName = 18,
}

impl ErrorStatus {
    /// The status with this number.
    pub fn from_number(number: i32) -> Option<Self> {
        use ErrorStatus::*;
        const ALL: [ErrorStatus; 19] = [
            NoError,
            TooBig,
            NoSuchName,
            BadValue,
            ReadOnly,
            GenErr,
            NoAccess,
            WrongType,
            WrongLength,
            WrongEncoding,
            WrongValue,
            NoCreation,
            InconsistentValue,
            ResourceUnavailable,
            CommitFailed,
            UndoFailed,
            AuthorizationError,
            NotWritable,
            InconsistentName,
        ];
        usize::try_from(number)
            .ok()
            .and_then(|at| ALL.get(at).copied())
    }

    /// The equivalent in version 1 (RFC 3584 §4.4).
    fn in_version_1(self) -> Self {
        use ErrorStatus::*;
        match self {
            WrongType | WrongLength | WrongEncoding | WrongValue | InconsistentValue => BadValue,
            NoAccess | NotWritable | NoCreation | InconsistentName | AuthorizationError => {
                NoSuchName
            }
            ResourceUnavailable | CommitFailed | UndoFailed => GenErr,
            same => same,
        }
    }
}

/// One variable binding of a SET.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bind {
    /// The variable's name.
    pub name: Vec<u32>,
    /// New value.
    pub value: Value<'static>,
}

/// A request PDU, taken apart. Reused from datagram to datagram.
#[derive(Debug, Default)]
pub struct Request {
    /// request-id.
    pub id: i32,
    second: i32,
    third: i32,
    parts: Vec<u32>,
    names: Vec<Range<usize>>,
    binds: Vec<Bind>,
}

/// How much of the request `parse` understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parsed {
    /// A request to serve.
    Request(Kind),
    /// A well-formed PDU of a class that agents do not serve.
    Other,
}

impl Request {
    /// Takes a PDU apart; `tag` and `content` are the PDU element's.
    pub fn parse(&mut self, tag: u8, content: &[u8]) -> Result<Parsed, BerError> {
        self.parts.clear();
        self.names.clear();
        self.binds.clear();
        let kind = match tag {
            0xa0 => Kind::Get,
            0xa1 => Kind::GetNext,
            0xa3 => Kind::Set,
            0xa5 => Kind::GetBulk,
            0xa2 | 0xa4 | 0xa6..=0xa8 => return Ok(Parsed::Other),
            found => {
                return Err(BerError::Tag {
                    expected: 0xa0,
                    found,
                });
            }
        };
        let mut pdu = Reader::new(content);
        self.id = pdu.integer()?;
        self.second = pdu.integer()?;
        self.third = pdu.integer()?;
        let mut list = pdu.inside(ber::SEQUENCE)?;
        while !list.is_empty() {
            let mut binding = list.inside(ber::SEQUENCE)?;
            let start = self.parts.len();
            ber::oid(binding.expect(ber::OID)?, &mut self.parts)?;
            self.names.push(start..self.parts.len());
            let (tag, content) = binding.element()?;
            if kind == Kind::Set {
                let value = Value::parse(tag, content)?.into_owned();
                self.binds.push(Bind {
                    name: self.parts[start..].to_vec(),
                    value,
                });
            }
        }
        Ok(Parsed::Request(kind))
    }

    /// The variable bindings of a SET.
    pub fn take_binds(&mut self) -> Vec<Bind> {
        std::mem::take(&mut self.binds)
    }

    fn name(&self, at: usize) -> &[u32] {
        &self.parts[self.names[at].clone()]
    }
}

/// The variable bindings of a response under construction, limited to what the datagram holds.
#[derive(Debug, Default)]
pub struct Body {
    bytes: Vec<u8>,
    room_byte: usize,
    scratch: Prepender,
}

impl Body {
    /// Empties the body and sets how many bytes it may hold.
    pub fn reset(&mut self, room_byte: usize) {
        self.bytes.clear();
        self.room_byte = room_byte;
    }

    /// The encoded bindings.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn push(&mut self, binding: &[u8]) -> bool {
        let fits = self.bytes.len() + binding.len() <= self.room_byte;
        if fits {
            self.bytes.extend_from_slice(binding);
        }
        fits
    }

    fn push_value(&mut self, name: &[u32], value: &Value) -> bool {
        self.scratch.clear();
        value.prepend(&mut self.scratch);
        self.push_scratch(name)
    }

    fn push_exception(&mut self, name: &[u32], tag: u8) -> bool {
        self.scratch.clear();
        self.scratch.header(tag, 0);
        self.push_scratch(name)
    }

    fn push_scratch(&mut self, name: &[u32]) -> bool {
        self.scratch.oid(name);
        self.scratch.wrap(ber::SEQUENCE, 0);
        let scratch = std::mem::take(&mut self.scratch);
        let fits = self.push(scratch.written());
        self.scratch = scratch;
        fits
    }
}

/// error-status and error-index of a response.
pub type Outcome = (ErrorStatus, usize);

const DONE: Outcome = (ErrorStatus::NoError, 0);
const TOO_BIG: Outcome = (ErrorStatus::TooBig, 0);

/// Answers a reading request from `table` into `body`. SET is not read from a table: see [`finish_set`].
pub fn read(
    request: &Request,
    kind: Kind,
    version: Version,
    table: &Table,
    body: &mut Body,
) -> Outcome {
    let outcome = match kind {
        Kind::Get => get(request, version, table, body),
        Kind::GetNext => get_next(request, version, table, body),
        Kind::GetBulk => get_bulk(request, table, body),
        Kind::Set => (ErrorStatus::GenErr, 0),
    };
    close(request, version, outcome, body)
}

/// Fills `body` after a SET (or its refusal): the bindings as they came.
pub fn finish_set(binds: &[Bind], version: Version, outcome: Outcome, body: &mut Body) -> Outcome {
    body.bytes.clear();
    for bind in binds {
        if !body.push_value(&bind.name, &bind.value) {
            body.bytes.clear();
            return TOO_BIG;
        }
    }
    translate(version, outcome)
}

/// After an error the response carries the request's names with NULL values, or nothing when even these do not fit.
fn close(request: &Request, version: Version, outcome: Outcome, body: &mut Body) -> Outcome {
    if outcome.0 == ErrorStatus::NoError {
        return outcome;
    }
    body.bytes.clear();
    if outcome.0 != ErrorStatus::TooBig {
        for at in 0..request.names.len() {
            if !body.push_value(request.name(at), &Value::Null) {
                body.bytes.clear();
                return TOO_BIG;
            }
        }
    }
    translate(version, outcome)
}

fn translate(version: Version, (status, index): Outcome) -> Outcome {
    match version {
        Version::V1 => (status.in_version_1(), index),
        Version::V2 => (status, index),
    }
}

fn get(request: &Request, version: Version, table: &Table, body: &mut Body) -> Outcome {
    for at in 0..request.names.len() {
        let name = request.name(at);
        let found = table.find(name).filter(|&row| visible(version, table, row));
        let fits = match found {
            Some(row) => body.push(table.binding(row)),
            None if version == Version::V1 => return (ErrorStatus::NoSuchName, at + 1),
            None if table.has_object(name) => body.push_exception(name, NO_SUCH_INSTANCE),
            None => body.push_exception(name, NO_SUCH_OBJECT),
        };
        if !fits {
            return TOO_BIG;
        }
    }
    DONE
}

fn get_next(request: &Request, version: Version, table: &Table, body: &mut Body) -> Outcome {
    for at in 0..request.names.len() {
        let name = request.name(at);
        let found = (table.after(name)..table.len()).find(|&row| visible(version, table, row));
        let fits = match found {
            Some(row) => body.push(table.binding(row)),
            None if version == Version::V1 => return (ErrorStatus::NoSuchName, at + 1),
            None => body.push_exception(name, END_OF_MIB_VIEW),
        };
        if !fits {
            return TOO_BIG;
        }
    }
    DONE
}

/// Version 1 has no Counter64: such variables are invisible to it (RFC 3584 §4.2.2.1).
fn visible(version: Version, table: &Table, row: usize) -> bool {
    version == Version::V2 || table.value_tag(row) != ber::COUNTER64
}

fn get_bulk(request: &Request, table: &Table, body: &mut Body) -> Outcome {
    let total = request.names.len();
    let single = usize::try_from(request.second).unwrap_or(0).min(total);
    let repetitions = usize::try_from(request.third).unwrap_or(0);
    for at in 0..single {
        let name = request.name(at);
        let row = table.after(name);
        let fits = if row < table.len() {
            body.push(table.binding(row))
        } else {
            body.push_exception(name, END_OF_MIB_VIEW)
        };
        if !fits {
            return DONE;
        }
    }
    let starts: Vec<usize> = (single..total)
        .map(|at| table.after(request.name(at)))
        .collect();
    for repetition in 0..repetitions {
        let mut alive = false;
        for (at, start) in (single..total).zip(&starts) {
            let row = start.saturating_add(repetition);
            let fits = if row < table.len() {
                alive = true;
                body.push(table.binding(row))
            } else if *start < table.len() {
                body.push_exception(table.name(table.len() - 1), END_OF_MIB_VIEW)
            } else {
                body.push_exception(request.name(at), END_OF_MIB_VIEW)
            };
            if !fits {
                return DONE;
            }
        }
        if !alive {
            break;
        }
    }
    DONE
}

/// Puts a whole PDU before what `out` holds.
pub fn prepend(out: &mut Prepender, tag: u8, request_id: i32, outcome: Outcome, bindings: &[u8]) {
    let mark = out.size_byte();
    out.element(ber::SEQUENCE, bindings);
    out.integer(i32::try_from(outcome.1).unwrap_or(i32::MAX));
    out.integer(outcome.0 as i32);
    out.integer(request_id);
    out.wrap(tag, mark);
}

/// Maximum number of bytes that [`prepend`] adds to the bindings.
pub const OVERHEAD_BYTE: usize = 4 + 6 + 6 + 3 + 4;
