//! All variables of an agent at one moment: sorted by name, each already encoded as a variable binding.

use crate::ber::{self, Prepender, Reader};
use crate::value::Value;

#[derive(Debug, Clone, Copy)]
struct Row {
    name_start: u32,
    name_len: u16,
    object_len: u16,
    byte_start: u32,
    byte_len: u32,
}

impl Row {
    fn name<'a>(&self, parts: &'a [u32]) -> &'a [u32] {
        &parts[self.name_start as usize..][..usize::from(self.name_len)]
    }

    fn bytes<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.byte_start as usize..][..self.byte_len as usize]
    }
}

/// Sorted, encoded variables. Made by [`TableBuilder`], never changed.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Row>,
    parts: Vec<u32>,
    bytes: Vec<u8>,
}

impl Table {
    /// Number of variables.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The name of variable `at`.
    pub fn name(&self, at: usize) -> &[u32] {
        self.rows[at].name(&self.parts)
    }

    /// Variable `at` as an encoded variable binding.
    pub fn binding(&self, at: usize) -> &[u8] {
        self.rows[at].bytes(&self.bytes)
    }

    /// Index of the variable with exactly this name.
    pub fn find(&self, name: &[u32]) -> Option<usize> {
        self.rows
            .binary_search_by(|row| row.name(&self.parts).cmp(name))
            .ok()
    }

    /// Index of the first variable after this name; [`Table::len`] if it is the last.
    pub fn after(&self, name: &[u32]) -> usize {
        self.rows
            .partition_point(|row| row.name(&self.parts) <= name)
    }

    /// Whether the table has an instance of the object that `name` refers to.
    pub fn has_object(&self, name: &[u32]) -> bool {
        let at = self.after(name);
        let near = [at.checked_sub(1), (at < self.len()).then_some(at)];
        near.into_iter().flatten().any(|near| {
            let object = &self.name(near)[..usize::from(self.rows[near].object_len)];
            name.starts_with(object)
        })
    }

    /// The tag of variable `at`'s value.
    pub fn value_tag(&self, at: usize) -> u8 {
        let tag = || {
            let mut binding = Reader::new(self.binding(at)).inside(ber::SEQUENCE)?;
            binding.expect(ber::OID)?;
            binding.element()
        };
        tag().map_or(ber::NULL, |(tag, _)| tag)
    }
}

/// Collects variables in any order. A later variable replaces an earlier one of the same name.
#[derive(Debug, Default)]
pub struct TableBuilder {
    rows: Vec<Row>,
    parts: Vec<u32>,
    bytes: Vec<u8>,
    scratch: Prepender,
}

impl TableBuilder {
    /// A builder with room for as many variables as a table like `last` had.
    pub fn like(last: &Table) -> Self {
        Self {
            rows: Vec::with_capacity(last.rows.len() + 16),
            parts: Vec::with_capacity(last.parts.len() + 256),
            bytes: Vec::with_capacity(last.bytes.len() + 512),
            scratch: Prepender::default(),
        }
    }

    /// Adds the instance `index` of `object`.
    pub fn put(&mut self, object: &[u32], index: &[u32], value: &Value) {
        let name_start = self.parts.len();
        self.parts.extend_from_slice(object);
        self.parts.extend_from_slice(index);
        let byte_start = self.bytes.len();
        self.scratch.clear();
        value.prepend(&mut self.scratch);
        self.scratch.oid(&self.parts[name_start..]);
        self.scratch.wrap(ber::SEQUENCE, 0);
        self.bytes.extend_from_slice(self.scratch.written());
        self.rows.push(Row {
            name_start: name_start as u32,
            name_len: (object.len() + index.len()) as u16,
            object_len: object.len() as u16,
            byte_start: byte_start as u32,
            byte_len: (self.bytes.len() - byte_start) as u32,
        });
    }

    /// Adds a whole variable whose instance is its last sub-identifier.
    pub fn put_plain(&mut self, name: &[u32], value: &Value) {
        let (object, index) = name.split_at(name.len().saturating_sub(1));
        self.put(object, index, value);
    }

    /// Sorts and closes.
    pub fn build(mut self) -> Table {
        let parts = &self.parts;
        self.rows.sort_by(|a, b| a.name(parts).cmp(b.name(parts)));
        self.rows.reverse();
        self.rows.dedup_by(|a, b| a.name(parts) == b.name(parts));
        self.rows.reverse();
        let mut bytes = Vec::with_capacity(self.bytes.len());
        for row in &mut self.rows {
            let start = bytes.len() as u32;
            bytes.extend_from_slice(row.bytes(&self.bytes));
            row.byte_start = start;
        }
        Table {
            rows: self.rows,
            parts: self.parts,
            bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn the_later_of_two_wins() {
        let mut builder = TableBuilder::default();
        builder.put(&[1, 3, 5], &[0], &Value::Integer(1));
        builder.put(&[1, 3, 4], &[0], &Value::Integer(7));
        builder.put(&[1, 3, 5], &[0], &Value::Integer(2));
        let table = builder.build();
        assert_eq!(table.len(), 2);
        assert_eq!(
            table.binding(1),
            b"\x30\x08\x06\x03\x2b\x05\x00\x02\x01\x02"
        );
    }

    #[test]
    fn an_object_without_the_instance_is_known() {
        let mut builder = TableBuilder::default();
        builder.put(&[1, 3, 6, 1, 2], &[1], &Value::Null);
        builder.put(&[1, 3, 6, 1, 2], &[4, 4], &Value::Null);
        let table = builder.build();
        assert!(table.has_object(&[1, 3, 6, 1, 2, 9]));
        assert!(table.has_object(&[1, 3, 6, 1, 2, 3]));
        assert!(!table.has_object(&[1, 3, 6, 1, 3, 0]));
        assert!(!table.has_object(&[1, 3, 6, 1]));
    }

    proptest! {
        #[test]
        fn a_table_is_an_ordered_map(rows in prop::collection::vec((prop::collection::vec(0u32..300, 2..5), any::<i32>()), 0..60), probe in prop::collection::vec(0u32..300, 0..5)) {
            let mut builder = TableBuilder::default();
            let mut map = BTreeMap::new();
            for (name, value) in rows {
                builder.put_plain(&name, &Value::Integer(value));
                map.insert(name, value);
            }
            let table = builder.build();
            prop_assert_eq!(table.len(), map.len());
            let next = map.range::<Vec<u32>, _>((std::ops::Bound::Excluded(&probe), std::ops::Bound::Unbounded)).next();
            let at = table.after(&probe);
            prop_assert_eq!(next.map(|(name, _)| &name[..]), (at < table.len()).then(|| table.name(at)));
            prop_assert_eq!(table.find(&probe).is_some(), map.contains_key(&probe));
        }
    }
}
