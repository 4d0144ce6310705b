//! The key/value part of a GGUF header.

use super::GgufError;
use super::cursor::Cursor;
use crate::model_file::ModelError;
use std::collections::HashMap;

/// A metadata value. Arrays nobody asks for are walked and checked but not kept.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Bool(bool),
    String(String),
    Strings(Vec<String>),
    Integers(Vec<i32>),
    Skipped { element: &'static str, len: u64 },
}

/// Arrays the trainer uses; all others can be long and are dropped.
const KEPT_ARRAYS: [&str; 3] = ["tokenizer.ggml.tokens", "tokenizer.ggml.merges", "tokenizer.ggml.token_type"];

/// Longest key, by the format.
const LONGEST_KEY: u64 = 65_535;
/// Key length, one character, type, one byte of value.
const SMALLEST_ENTRY: u64 = 8 + 1 + 4 + 1;

/// Name and size in bytes of a scalar type.
fn scalar(id: u32) -> Option<(&'static str, u64)> {
    Some(match id {
        0 => ("u8", 1),
        1 => ("i8", 1),
        2 => ("u16", 2),
        3 => ("i16", 2),
        4 => ("u32", 4),
        5 => ("i32", 4),
        6 => ("f32", 4),
        7 => ("bool", 1),
        10 => ("u64", 8),
        11 => ("i64", 8),
        12 => ("f64", 8),
        _ => return None,
    })
}
const STRING: u32 = 8;
const ARRAY: u32 = 9;

/// All keys of a file.
#[derive(Debug, Default)]
pub(super) struct Metadata(HashMap<String, Value>);

impl Metadata {
    /// Reads `count` entries; `count` was held against the file's length.
    pub(super) fn read(cursor: &mut Cursor<'_>, count: u64) -> Result<Metadata, ModelError> {
        let mut entries = HashMap::new();
        for _ in 0..count {
            let key = cursor.name(LONGEST_KEY, "a metadata key")?;
            let kind = cursor.u32(&key)?;
            let value = match kind {
                STRING => Value::String(cursor.string(&key)?),
                ARRAY => read_array(cursor, &key)?,
                _ => read_scalar(cursor, &key, kind)?,
            };
            if entries.contains_key(&key) {
                return Err(cursor.fail(GgufError::Duplicate { kind: "key", name: key }));
            }
            entries.insert(key, value);
        }
        Ok(Metadata(entries))
    }

    /// How many entries a count may claim is checked with this size.
    pub(super) const SMALLEST_ENTRY: u64 = SMALLEST_ENTRY;

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// A whole number that is not negative.
    pub(super) fn unsigned(&self, key: &str) -> Result<Option<u64>, GgufError> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Unsigned(value)) => Ok(Some(*value)),
            Some(Value::Signed(value)) if *value >= 0 => Ok(Some(*value as u64)),
            Some(other) => Err(wrong(key, "a whole number, 0 or more", other)),
        }
    }

    /// A floating-point number.
    pub(super) fn float(&self, key: &str) -> Result<Option<f64>, GgufError> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Float(value)) => Ok(Some(*value)),
            Some(other) => Err(wrong(key, "a floating-point number", other)),
        }
    }

    pub(super) fn bool(&self, key: &str) -> Result<Option<bool>, GgufError> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Bool(value)) => Ok(Some(*value)),
            Some(other) => Err(wrong(key, "true or false", other)),
        }
    }

    pub(super) fn string(&self, key: &str) -> Result<Option<&str>, GgufError> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(value)) => Ok(Some(value)),
            Some(other) => Err(wrong(key, "a string", other)),
        }
    }

    pub(super) fn strings(&self, key: &str) -> Result<Option<&[String]>, GgufError> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Strings(values)) => Ok(Some(values)),
            Some(other) => Err(wrong(key, "an array of strings", other)),
        }
    }

    pub(super) fn integers(&self, key: &str) -> Result<Option<&[i32]>, GgufError> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Integers(values)) => Ok(Some(values)),
            Some(other) => Err(wrong(key, "an array of i32", other)),
        }
    }
}

/// The error for a key that is needed and not there.
pub(super) fn missing(key: &str) -> GgufError {
    GgufError::KeyMissing { key: key.into() }
}

fn wrong(key: &str, expected: &'static str, found: &Value) -> GgufError {
    let found = match found {
        Value::Unsigned(value) => format!("the unsigned number {value}"),
        Value::Signed(value) => format!("the signed number {value}"),
        Value::Float(value) => format!("the floating-point number {value}"),
        Value::Bool(value) => format!("{value}"),
        Value::String(_) => "a string".into(),
        Value::Strings(values) => format!("an array of {} strings", values.len()),
        Value::Integers(values) => format!("an array of {} i32", values.len()),
        Value::Skipped { element, len } => format!("an array of {len} {element}"),
    };
    GgufError::WrongType { key: key.into(), expected, found }
}

fn read_scalar(cursor: &mut Cursor<'_>, key: &str, kind: u32) -> Result<Value, ModelError> {
    Ok(match kind {
        0 => Value::Unsigned(u64::from(cursor.array::<1>(key)?[0])),
        1 => Value::Signed(i64::from(i8::from_le_bytes(cursor.array(key)?))),
        2 => Value::Unsigned(u64::from(u16::from_le_bytes(cursor.array(key)?))),
        3 => Value::Signed(i64::from(i16::from_le_bytes(cursor.array(key)?))),
        4 => Value::Unsigned(u64::from(cursor.u32(key)?)),
        5 => Value::Signed(i64::from(i32::from_le_bytes(cursor.array(key)?))),
        6 => Value::Float(f64::from(f32::from_le_bytes(cursor.array(key)?))),
        7 => match cursor.array::<1>(key)?[0] {
            0 => Value::Bool(false),
            1 => Value::Bool(true),
            other => {
                return Err(cursor
                    .fail(GgufError::ValueType { key: key.into(), problem: format!("type bool that is {other}") }));
            }
        },
        10 => Value::Unsigned(cursor.u64(key)?),
        11 => Value::Signed(i64::from_le_bytes(cursor.array(key)?)),
        12 => Value::Float(f64::from_le_bytes(cursor.array(key)?)),
        other => {
            return Err(cursor.fail(GgufError::ValueType { key: key.into(), problem: format!("unknown type {other}") }));
        }
    })
}

fn read_array(cursor: &mut Cursor<'_>, key: &str) -> Result<Value, ModelError> {
    let kind = cursor.u32(key)?;
    let kept = KEPT_ARRAYS.contains(&key);
    if kind == STRING {
        // A string is at least its length field.
        let len = cursor.count(8, key)?;
        let mut strings = Vec::new();
        for _ in 0..len {
            if kept {
                strings.push(cursor.string(key)?);
            } else {
                let bytes = cursor.u64(key)?;
                cursor.skip(bytes, key)?;
            }
        }
        return Ok(if kept { Value::Strings(strings) } else { Value::Skipped { element: "strings", len } });
    }
    let Some((element, size)) = scalar(kind) else {
        let problem = match kind {
            ARRAY => "an array of arrays, which no known key uses".to_string(),
            other => format!("an array of unknown type {other}"),
        };
        return Err(cursor.fail(GgufError::ValueType { key: key.into(), problem }));
    };
    let len = cursor.count(size, key)?;
    if kept && element == "i32" {
        let mut bytes = vec![0; len as usize * 4];
        cursor.bytes(&mut bytes, key)?;
        let integers = bytes.chunks_exact(4).map(|value| i32::from_le_bytes([value[0], value[1], value[2], value[3]]));
        return Ok(Value::Integers(integers.collect()));
    }
    cursor.skip(len * size, key)?;
    Ok(Value::Skipped { element, len })
}
