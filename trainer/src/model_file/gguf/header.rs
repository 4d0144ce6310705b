//! The whole header, checked against the file before a tensor is read.

use super::GgufError;
use super::cursor::Cursor;
use super::element::Element;
use super::metadata::{Metadata, Value};
use crate::model_file::ModelError;
use crate::model_file::source_file::SourceFile;
use std::collections::HashSet;

/// ggml's limits.
const MOST_DIMENSIONS: u32 = 4;
const LONGEST_NAME: u64 = 64;
/// Name length, one character, dimension count, one dimension, type, offset.
const SMALLEST_TENSOR: u64 = 8 + 1 + 4 + 8 + 4 + 8;
const LARGEST_ALIGNMENT: u64 = 65_536;

/// Where a tensor lies and how it is stored.
#[derive(Clone, Debug)]
pub(super) struct TensorInfo {
    /// Name in the file.
    pub(super) name: String,
    /// Extents, outermost first.
    pub(super) shape: Vec<usize>,
    pub(super) element: Element,
    /// Absolute position of the first byte.
    pub(super) start: u64,
    pub(super) bytes: usize,
}

/// Metadata and tensor directory of a file.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) metadata: Metadata,
    pub(super) tensors: Vec<TensorInfo>,
}

impl Header {
    pub(super) fn read(file: &SourceFile) -> Result<Header, ModelError> {
        let mut cursor = Cursor::new(file);
        if file.len() < 4 || &cursor.array::<4>("the magic")? != b"GGUF" {
            return Err(ModelError::Unrecognised { path: file.path().into() });
        }
        let version = cursor.u32("the version")?;
        if !matches!(version, 2 | 3) {
            let hint = match version.swap_bytes() {
                1..=3 => "; this one is big-endian",
                _ => "",
            };
            return Err(cursor.fail(GgufError::Version { found: version, hint }));
        }
        let tensor_count = cursor.count(SMALLEST_TENSOR, "the tensor count")?;
        let key_count = cursor.count(Metadata::SMALLEST_ENTRY, "the metadata count")?;
        let metadata = Metadata::read(&mut cursor, key_count)?;
        let alignment = alignment(&metadata).map_err(|error| cursor.fail(error))?;

        let mut entries = Vec::new();
        let mut names = HashSet::new();
        for _ in 0..tensor_count {
            let entry = read_entry(&mut cursor)?;
            if !names.insert(entry.name.clone()) {
                return Err(cursor.fail(GgufError::Duplicate { kind: "tensor", name: entry.name }));
            }
            entries.push(entry);
        }
        // The header ends inside the file, so rounding up by at most 64 KiB cannot wrap.
        let data_start = cursor.position().next_multiple_of(alignment);
        let tensors = place(entries, data_start, alignment, file.len()).map_err(|error| cursor.fail(error))?;
        Ok(Header { metadata, tensors })
    }
}

fn alignment(metadata: &Metadata) -> Result<u64, GgufError> {
    match metadata.get("general.alignment") {
        None => Ok(32),
        Some(&Value::Unsigned(value)) if value.is_power_of_two() && value <= LARGEST_ALIGNMENT => Ok(value),
        Some(Value::Unsigned(value)) => Err(GgufError::Alignment { found: value.to_string() }),
        Some(other) => Err(GgufError::Alignment { found: format!("{other:?}, not an unsigned number") }),
    }
}

struct Entry {
    name: String,
    shape: Vec<usize>,
    element: Element,
    bytes: usize,
    offset: u64,
}

fn read_entry(cursor: &mut Cursor<'_>) -> Result<Entry, ModelError> {
    let name = cursor.name(LONGEST_NAME, "a tensor name")?;
    let rank = cursor.u32(&name)?;
    if rank == 0 || rank > MOST_DIMENSIONS {
        let problem = format!("{rank} dimensions, 1 to {MOST_DIMENSIONS} are allowed");
        return Err(cursor.fail(GgufError::Dimensions { name, problem }));
    }
    let mut extents = Vec::new();
    for _ in 0..rank {
        extents.push(cursor.u64(&name)?);
    }
    let element = match Element::from_id(cursor.u32(&name)?) {
        Ok(element) => element,
        Err(found) => {
            return Err(cursor.fail(GgufError::ElementType { name, found, supported: Element::SUPPORTED }));
        }
    };
    let offset = cursor.u64(&name)?;
    match size(&extents, element) {
        Ok((shape, bytes)) => Ok(Entry { name, shape, element, bytes, offset }),
        Err(problem) => Err(cursor.fail(GgufError::Dimensions { name, problem })),
    }
}

/// Shape, outermost first, and size in bytes.
fn size(extents: &[u64], element: Element) -> Result<(Vec<usize>, usize), String> {
    if let Some(axis) = extents.iter().position(|&extent| extent == 0) {
        return Err(format!("dimension {axis} is 0 in {extents:?}"));
    }
    let row = extents[0];
    if !row.is_multiple_of(element.block_values() as u64) {
        return Err(format!(
            "rows of {row} values are not whole {} blocks of {}",
            element.name(),
            element.block_values()
        ));
    }
    let too_large = || format!("the size of {extents:?} does not fit 64 bits");
    let values = extents.iter().try_fold(1u64, |product, &extent| product.checked_mul(extent)).ok_or_else(too_large)?;
    // f32 copies are made later: 4 bytes a value must be addressable too.
    values.checked_mul(4).and_then(|bytes| isize::try_from(bytes).ok()).ok_or_else(too_large)?;
    let bytes = (values / element.block_values() as u64)
        .checked_mul(element.block_bytes() as u64)
        .and_then(|bytes| usize::try_from(bytes).ok())
        .ok_or_else(too_large)?;
    let mut shape = Vec::new();
    for &extent in extents.iter().rev() {
        shape.push(usize::try_from(extent).map_err(|_| too_large())?);
    }
    Ok((shape, bytes))
}

/// Holds every tensor's place against the file and the other tensors.
fn place(entries: Vec<Entry>, data_start: u64, alignment: u64, file_len: u64) -> Result<Vec<TensorInfo>, GgufError> {
    let mut tensors = Vec::new();
    for entry in entries {
        let broken = |problem| GgufError::Placement { name: entry.name.clone(), problem };
        if !entry.offset.is_multiple_of(alignment) {
            return Err(broken(format!("offset {} is not a multiple of the alignment {alignment}", entry.offset)));
        }
        let start = data_start.checked_add(entry.offset);
        let end = start.and_then(|start| start.checked_add(entry.bytes as u64));
        match (start, end) {
            (Some(start), Some(end)) if end <= file_len => tensors.push(TensorInfo {
                name: entry.name,
                shape: entry.shape,
                element: entry.element,
                start,
                bytes: entry.bytes,
            }),
            _ => {
                return Err(broken(format!(
                    "its {} bytes at offset {} of the data end past the file's {file_len} bytes",
                    entry.bytes, entry.offset
                )));
            }
        }
    }
    let mut order: Vec<&TensorInfo> = tensors.iter().collect();
    order.sort_by_key(|tensor| tensor.start);
    for pair in order.windows(2) {
        if pair[0].start + pair[0].bytes as u64 > pair[1].start {
            return Err(GgufError::Placement {
                name: pair[1].name.clone(),
                problem: format!("it overlaps tensor `{}`", pair[0].name),
            });
        }
    }
    Ok(tensors)
}
