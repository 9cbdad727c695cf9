//! Calls as rows of [`crate::program::ROW`] bytes, as [`crate::program::Records`] has them.

use crate::program::ROW;

/// No rank, no tag, no request.
pub(super) const NONE: i32 = -1;

/// A call without its request and list.
#[derive(Copy, Clone)]
pub(super) struct Row {
    pub(super) call: u16,
    pub(super) peer: i32,
    pub(super) tag: i32,
    pub(super) bytes: i64,
}

impl Row {
    /// A call without a peer.
    pub(super) const fn of(call: u16, bytes: i64) -> Self {
        Self {
            call,
            peer: NONE,
            tag: 0,
            bytes,
        }
    }
}

/// The calls of all ranks, those of a rank behind those of the one before.
#[derive(Debug, Default)]
pub struct Packed {
    /// Rows.
    pub rows: Vec<u8>,
    /// Numbers of all lists, 8 bytes each.
    pub lists: Vec<u8>,
    /// The row behind the last one of each rank.
    pub ends: Vec<u64>,
    compute_ns: u64,
    free: Vec<i32>,
    next: i32,
    begins_next: bool,
    begun: Option<i32>,
}

impl Packed {
    /// Compute for so long before the next call.
    pub(super) fn compute(&mut self, ns: u64) {
        self.compute_ns = self.compute_ns.saturating_add(ns);
    }

    /// A call that begins no request, unless it was said that it does.
    pub(super) fn call(&mut self, row: Row, list: &[i64]) {
        if std::mem::take(&mut self.begins_next) {
            let request = self.request();
            self.push(row, request, list);
            self.begun = Some(request);
        } else {
            self.push(row, NONE, list);
        }
    }

    /// Whether the next call begins a request.
    pub(super) fn begins_next(&mut self, begins: bool) {
        self.begins_next = begins;
    }

    /// The request that such a call has begun.
    pub(super) fn begun(&mut self) -> Option<i32> {
        self.begun.take()
    }

    /// A call that begins a request, and its number.
    pub(super) fn begin(&mut self, row: Row) -> i32 {
        let request = self.request();
        self.push(row, request, &[]);
        request
    }

    fn request(&mut self) -> i32 {
        self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        })
    }

    /// Wait for requests; their numbers are used again.
    pub(super) fn wait(&mut self, requests: &[i64]) {
        self.call(Row::of(WAIT, 0), requests);
        self.free
            .extend(requests.iter().rev().map(|&request| request as i32));
    }

    /// The rank's last computing, and its end.
    pub(super) fn finish(&mut self) {
        if self.compute_ns > 0 {
            self.call(Row::of(COMPUTE, 0), &[]);
        }
        self.ends.push((self.rows.len() / ROW) as u64);
        self.free.clear();
        self.next = 0;
    }

    fn push(&mut self, row: Row, request: i32, list: &[i64]) {
        let mut out = [0; ROW];
        out[0..2].copy_from_slice(&row.call.to_le_bytes());
        out[8..12].copy_from_slice(&row.peer.to_le_bytes());
        out[12..16].copy_from_slice(&row.tag.to_le_bytes());
        out[16..20].copy_from_slice(&request.to_le_bytes());
        out[20..24].copy_from_slice(&(list.len() as u32).to_le_bytes());
        out[24..32].copy_from_slice(&row.bytes.to_le_bytes());
        out[32..40].copy_from_slice(&self.compute_ns.to_le_bytes());
        out[40..48].copy_from_slice(&(self.lists.len() as u64 / 8).to_le_bytes());
        self.rows.extend_from_slice(&out);
        for number in list {
            self.lists.extend_from_slice(&number.to_le_bytes());
        }
        self.compute_ns = 0;
    }
}

const COMPUTE: u16 = 0;
const WAIT: u16 = 9;
