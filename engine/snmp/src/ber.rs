//! The part of the Basic Encoding Rules that SNMP uses: definite lengths, small tags (RFC 3417 §8).

/// Tag of INTEGER.
pub const INTEGER: u8 = 0x02;
/// Tag of OCTET STRING.
pub const OCTETS: u8 = 0x04;
/// Tag of NULL.
pub const NULL: u8 = 0x05;
/// Tag of OBJECT IDENTIFIER.
pub const OID: u8 = 0x06;
/// Tag of SEQUENCE.
pub const SEQUENCE: u8 = 0x30;
/// Tag of IpAddress.
pub const IP: u8 = 0x40;
/// Tag of Counter32.
pub const COUNTER32: u8 = 0x41;
/// Tag of Gauge32 and Unsigned32.
pub const UNSIGNED32: u8 = 0x42;
/// Tag of TimeTicks.
pub const TICKS: u8 = 0x43;
/// Tag of Counter64.
pub const COUNTER64: u8 = 0x46;
/// Longest object identifier, in sub-identifiers (RFC 2578 §3.5).
pub const OID_MAX: usize = 128;

/// Malformed encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BerError {
    /// The bytes end inside an element.
    #[error("the encoding ends inside an element")]
    Truncated,
    /// A length is indefinite or has more than four octets.
    #[error("a length of the encoding is indefinite or too long")]
    Length,
    /// Unexpected type.
    #[error("expected tag {expected:#04x}, found {found:#04x}")]
    Tag {
        /// Expected tag.
        expected: u8,
        /// Tag found.
        found: u8,
    },
    /// An integer has no octets or does not fit its type.
    #[error("an integer of the encoding does not fit its type")]
    Integer,
    /// An object identifier is empty, unfinished, too long or has a sub-identifier beyond 32 bits.
    #[error("an object identifier of the encoding is malformed")]
    Oid,
}

/// Reads elements one after another from a slice.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A reader at the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next element: tag and content.
    pub fn element(&mut self) -> Result<(u8, &'a [u8]), BerError> {
        let [tag, first, after @ ..] = self.rest else {
            return Err(BerError::Truncated);
        };
        let (length, after) = match *first {
            short @ 0..=0x7f => (usize::from(short), after),
            long @ 0x81..=0x84 => {
                let octets = usize::from(long & 0x7f);
                let (head, after) = after.split_at_checked(octets).ok_or(BerError::Truncated)?;
                (
                    head.iter()
                        .fold(0, |sum, &octet| sum << 8 | usize::from(octet)),
                    after,
                )
            }
            _ => return Err(BerError::Length),
        };
        let (content, rest) = after.split_at_checked(length).ok_or(BerError::Truncated)?;
        self.rest = rest;
        Ok((*tag, content))
    }

    /// The content of the next element, which must have this tag.
    pub fn expect(&mut self, expected: u8) -> Result<&'a [u8], BerError> {
        let (found, content) = self.element()?;
        if found == expected {
            Ok(content)
        } else {
            Err(BerError::Tag { expected, found })
        }
    }

    /// A reader of the next element's content, which must have this tag.
    pub fn inside(&mut self, expected: u8) -> Result<Reader<'a>, BerError> {
        self.expect(expected).map(Reader::new)
    }

    /// The next element as an INTEGER of 32 bits.
    pub fn integer(&mut self) -> Result<i32, BerError> {
        signed(self.expect(INTEGER)?)
    }
}

/// The content of an INTEGER as 32 bits.
pub fn signed(content: &[u8]) -> Result<i32, BerError> {
    let (&first, _) = content.split_first().ok_or(BerError::Integer)?;
    if content.len() > 8 {
        return Err(BerError::Integer);
    }
    let start = if first & 0x80 != 0 { -1 } else { 0 };
    let wide = content
        .iter()
        .fold(start, |sum: i64, &octet| sum << 8 | i64::from(octet));
    i32::try_from(wide).map_err(|_| BerError::Integer)
}

/// The content of an unsigned type (Counter, Gauge, TimeTicks) as 64 bits.
pub fn unsigned(content: &[u8]) -> Result<u64, BerError> {
    let digits = match content {
        [] => return Err(BerError::Integer),
        [0, rest @ ..] => rest,
        all => all,
    };
    if digits.len() > 8 {
        return Err(BerError::Integer);
    }
    Ok(digits
        .iter()
        .fold(0, |sum, &octet| sum << 8 | u64::from(octet)))
}

/// Appends the sub-identifiers of an OBJECT IDENTIFIER's content to `out`.
pub fn oid(content: &[u8], out: &mut Vec<u32>) -> Result<(), BerError> {
    if content.last().is_none_or(|last| last & 0x80 != 0) {
        return Err(BerError::Oid);
    }
    let start = out.len();
    let mut part: u32 = 0;
    for &octet in content {
        if part > u32::MAX >> 7 {
            return Err(BerError::Oid);
        }
        part = part << 7 | u32::from(octet & 0x7f);
        if octet & 0x80 != 0 {
            continue;
        }
        if out.len() == start {
            let arc = (part / 40).min(2);
            out.extend([arc, part - 40 * arc]);
        } else {
            out.push(part);
        }
        part = 0;
        if out.len() - start > OID_MAX {
            return Err(BerError::Oid);
        }
    }
    Ok(())
}

/// Writes elements from the last to the first, so every length is known when it is written.
#[derive(Debug)]
pub struct Prepender {
    buffer: Vec<u8>,
    start: usize,
}

impl Default for Prepender {
    fn default() -> Self {
        Self::with_capacity(256)
    }
}

impl Prepender {
    /// A writer that grows only beyond `capacity_byte`.
    pub fn with_capacity(capacity_byte: usize) -> Self {
        Self {
            buffer: vec![0; capacity_byte],
            start: capacity_byte,
        }
    }

    /// Clears the output and keeps the memory.
    pub fn clear(&mut self) {
        self.start = self.buffer.len();
    }

    /// What was written so far.
    pub fn written(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// What was written so far, for encryption and digests in place.
    pub fn written_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[self.start..]
    }

    /// How many bytes were written so far.
    pub fn size_byte(&self) -> usize {
        self.buffer.len() - self.start
    }

    /// Puts raw bytes before what was written.
    pub fn raw(&mut self, bytes: &[u8]) {
        if bytes.len() > self.start {
            let more = (bytes.len() - self.start).max(self.buffer.len());
            self.buffer.splice(0..0, std::iter::repeat_n(0, more));
            self.start += more;
        }
        self.start -= bytes.len();
        self.buffer[self.start..self.start + bytes.len()].copy_from_slice(bytes);
    }

    /// Puts tag and length before a content of `length` bytes that was just written.
    pub fn header(&mut self, tag: u8, length: usize) {
        match length {
            0..=0x7f => self.raw(&[tag, length as u8]),
            0x80..=0xff => self.raw(&[tag, 0x81, length as u8]),
            0x100..=0xffff => self.raw(&[tag, 0x82, (length >> 8) as u8, length as u8]),
            _ => self.raw(&[
                tag,
                0x84,
                (length >> 24) as u8,
                (length >> 16) as u8,
                (length >> 8) as u8,
                length as u8,
            ]),
        }
    }

    /// Wraps everything written since [`Prepender::size_byte`] was `mark` into one element.
    pub fn wrap(&mut self, tag: u8, mark: usize) {
        self.header(tag, self.size_byte() - mark);
    }

    /// One element with these content bytes.
    pub fn element(&mut self, tag: u8, content: &[u8]) {
        self.raw(content);
        self.header(tag, content.len());
    }

    /// One signed element in the fewest octets.
    pub fn integer(&mut self, value: i32) {
        let octets = value.to_be_bytes();
        let sign = if value < 0 { 0xff } else { 0 };
        let mut skip = 0;
        while skip < 3 && octets[skip] == sign && (octets[skip + 1] ^ sign) & 0x80 == 0 {
            skip += 1;
        }
        self.element(INTEGER, &octets[skip..]);
    }

    /// One unsigned element in the fewest octets.
    pub fn unsigned(&mut self, tag: u8, value: u64) {
        let mut octets = [0; 9];
        octets[1..].copy_from_slice(&value.to_be_bytes());
        let mut skip = 0;
        while skip < 8 && octets[skip] == 0 && octets[skip + 1] & 0x80 == 0 {
            skip += 1;
        }
        self.element(tag, &octets[skip..]);
    }

    /// One OBJECT IDENTIFIER; fewer than two sub-identifiers are filled up with zeros.
    pub fn oid(&mut self, name: &[u32]) {
        let mark = self.size_byte();
        let (first, rest) = match name {
            [] => (0, &[][..]),
            [one] => (one.saturating_mul(40), &[][..]),
            [one, two, rest @ ..] => (one.saturating_mul(40).saturating_add(*two), rest),
        };
        for &part in rest.iter().rev() {
            self.base128(part);
        }
        self.base128(first);
        self.wrap(OID, mark);
    }

    fn base128(&mut self, part: u32) {
        if part < 0x80 {
            return self.raw(&[part as u8]);
        }
        let mut octets = [0u8; 5];
        let mut at = 5;
        let mut left = part;
        loop {
            at -= 1;
            octets[at] = (left & 0x7f) as u8 | if at == 4 { 0 } else { 0x80 };
            left >>= 7;
            if left == 0 {
                break;
            }
        }
        self.raw(&octets[at..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_writer_matches_x690_examples() {
        let mut writer = Prepender::with_capacity(1);
        writer.oid(&[1, 3, 6, 1, 4, 1, 2680, 1, 2, 7, 3, 2, 0]);
        assert_eq!(
            writer.written(),
            b"\x06\x0d\x2b\x06\x01\x04\x01\x94\x78\x01\x02\x07\x03\x02\x00"
        );
        writer.clear();
        writer.integer(-129);
        assert_eq!(writer.written(), b"\x02\x02\xff\x7f");
        writer.clear();
        writer.unsigned(COUNTER32, 0xffff_ffff);
        assert_eq!(writer.written(), b"\x41\x05\x00\xff\xff\xff\xff");
    }

    #[test]
    fn malformed_lengths_and_names_are_refused() {
        assert_eq!(
            Reader::new(b"\x30\x80\x00\x00").element(),
            Err(BerError::Length)
        );
        assert_eq!(
            Reader::new(b"\x30\x05\x00").element(),
            Err(BerError::Truncated)
        );
        assert_eq!(oid(b"", &mut Vec::new()), Err(BerError::Oid));
        assert_eq!(oid(b"\x2b\x86", &mut Vec::new()), Err(BerError::Oid));
        assert_eq!(
            oid(b"\x2b\x9f\xff\xff\xff\x7f", &mut Vec::new()),
            Err(BerError::Oid)
        );
        assert_eq!(oid(&[1; 200], &mut Vec::new()), Err(BerError::Oid));
    }

    proptest! {
        #[test]
        fn integers_come_back(value: i32) {
            let mut writer = Prepender::default();
            writer.integer(value);
            prop_assert_eq!(Reader::new(writer.written()).integer(), Ok(value));
        }

        #[test]
        fn unsigned_numbers_come_back(value: u64) {
            let mut writer = Prepender::default();
            writer.unsigned(COUNTER64, value);
            prop_assert_eq!(unsigned(Reader::new(writer.written()).expect(COUNTER64)?), Ok(value));
        }

        #[test]
        fn names_come_back(arc in 0u32..2, second in 0u32..40, rest in prop::collection::vec(any::<u32>(), 0..100)) {
            let mut name = vec![arc, second];
            name.extend(rest);
            let mut writer = Prepender::default();
            writer.oid(&name);
            let mut back = Vec::new();
            oid(Reader::new(writer.written()).expect(OID)?, &mut back)?;
            prop_assert_eq!(back, name);
        }

        #[test]
        fn contents_come_back(content in prop::collection::vec(any::<u8>(), 0..70_000)) {
            let mut writer = Prepender::default();
            writer.element(OCTETS, &content);
            prop_assert_eq!(Reader::new(writer.written()).element(), Ok((OCTETS, &content[..])));
        }

        #[test]
        fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let mut reader = Reader::new(&bytes);
            while let Ok((_, content)) = reader.element() {
                let _ = (signed(content), unsigned(content), oid(content, &mut Vec::new()));
            }
        }
    }
}
