//! Numbers of a line within bounds; errors are sentences that go on after file and line.

/// Bytes of a message or block; `simulation/replay/checks.py` has the same bounds.
const MOST_BYTES: i64 = 1 << 42;
/// Between two calls, in ns: 104 days.
const MOST_NS: f64 = (1_u64 << 53) as f64;
/// More digits than these are read as floating point.
const MOST_DIGITS: usize = 18;
/// Characters of a word that are shown.
const SHOWN: usize = 40;

/// What is said of messages of older versions.
pub(super) const WITHOUT_TAG: &str =
    "has a message without a tag, as up to SimGrid 3.19 (simgrid_convert_TI_traces adds tags)";

/// A word in quotes, with what cannot be printed escaped.
pub(super) fn shown(word: &[u8]) -> String {
    let word = &word[..word.len().min(SHOWN)];
    let quote = if word.contains(&b'\'') && !word.contains(&b'"') {
        '"'
    } else {
        '\''
    };
    let mut out = String::from(quote);
    for &byte in word {
        match byte {
            b'\\' => out.push_str("\\\\"),
            0x20..=0x7e if char::from(byte) != quote => out.push(byte.into()),
            0x20..=0x7e => out.extend(['\\', byte.into()]),
            _ => out.push_str(&format!("\\x{byte:02x}")),
        }
    }
    out.push(quote);
    out
}

/// Digits alone, with a minus or not.
fn plain(word: &[u8]) -> Option<i64> {
    let digits = word.strip_prefix(b"-").unwrap_or(word);
    if digits.is_empty() || digits.len() > MOST_DIGITS {
        return None;
    }
    let mut number = 0_i64;
    for byte in digits {
        if !byte.is_ascii_digit() {
            return None;
        }
        number = 10 * number + i64::from(byte - b'0');
    }
    Some(if digits.len() < word.len() {
        -number
    } else {
        number
    })
}

fn floating(word: &[u8]) -> Option<f64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// A number, also one like 1e6.
pub(super) fn whole_number(word: &[u8], least: i64, most: i64, what: &str) -> Result<i64, String> {
    let number = plain(word).or_else(|| {
        floating(word)
            .filter(|number| number.is_finite())
            .map(|number| number as i64)
    });
    match number {
        Some(number) if (least..=most).contains(&number) => Ok(number),
        Some(_) => Err(format!(
            "has {} for {what}, which is not from {least} to {most}",
            shown(word)
        )),
        None => Err(format!(
            "has {} for {what}, which is no number",
            shown(word)
        )),
    }
}

/// Bytes: a number of elements, and the bytes of each.
pub(super) fn size(word: &[u8], of_element: i64) -> Result<i64, String> {
    Ok(whole_number(word, 0, MOST_BYTES / of_element.max(1), "a size")? * of_element)
}

/// A time in units of so many ns, rounded to one.
pub(super) fn duration_ns(word: &[u8], ns: f64) -> Result<u64, String> {
    let Some(found) = floating(word) else {
        return Err(format!(
            "has {} for a time, which is no number",
            shown(word)
        ));
    };
    let found = found * ns;
    if !(0.0..=MOST_NS).contains(&found) {
        return Err(format!(
            "has {} for a time, which is not from 0 to 104 days",
            shown(word)
        ));
    }
    Ok(found.round_ties_even() as u64)
}

/// The words behind a verb, if they are as many as it needs.
pub(super) fn need(words: &[&[u8]], least: usize, most: usize) -> Result<(), String> {
    if (least..=most).contains(&words.len()) {
        return Ok(());
    }
    let wanted = if least == most {
        format!("{least}")
    } else if most == usize::MAX {
        format!("at least {least}")
    } else {
        format!("{least} to {most}")
    };
    Err(format!(
        "has {} words after its verb, not {wanted}",
        words.len()
    ))
}
