//! Sparse matrices as `scipy.sparse.save_npz` writes them.
//!
//! | `format`  | other members              | read as                                    |
//! |-----------|----------------------------|--------------------------------------------|
//! | `csr csc` | `data indices indptr`      | `csr`, `csc`, of order 1 `csf`; else entries |
//! | `coo`     | `data`, `row col` or `coords` | `scoo`; else entries                    |
//! | `bsr`     | `data indices indptr`      | entries                                    |
//! | `dia`     | `data offsets`             | entries                                    |
//!
//! and `shape` in all of them. SciPy lets coordinates stand in any order and
//! more than once; what a format of ours does not allow is read as entries,
//! which packing sorts and adds up. Index arrays in order are used as they are.
//!
//! Every value of a block or, within the matrix, of a diagonal is a stored
//! entry, zeros too; what a diagonal has beyond the matrix is nothing.
//!
//! Source: <https://docs.scipy.org/doc/scipy/reference/generated/scipy.sparse.save_npz.html>,
//! as of SciPy 1.17, which also states coordinate lists of any order.

mod write;

use std::ops::Range;

use sparsec_base::{Diagnostic, ElementType, IndexWidth, Result, code};
use sparsec_format::{Format, Level, LevelKind};
use sparsec_parallel::{map, ranges};
use sparsec_tensor::{Array, Entries, Index, Tensor, with_element};

use super::archive::Archive;
use crate::cast::cast;
use crate::content::{Content, FileTensor, Structure};
use crate::npy::header::shape_text;
use crate::npy::ndarray::NdArray;
use crate::options::ReadOptions;
pub(super) use write::{format_of, write};

/// The member that says which format a matrix is in.
pub(super) const MARK: &str = "format";
/// Entries whose order one thread looks at.
const GRAIN: usize = 1 << 16;

pub(super) fn read(archive: &Archive<'_>, options: &ReadOptions) -> Result<FileTensor> {
    let file = File {
        archive,
        element: options.element,
    };
    let format = archive.text(MARK)?;
    let shape = file.shape()?;
    let content = match format.as_str() {
        "csr" | "csc" => file.compressed(&shape, format == "csc")?,
        "coo" => file.coordinates(&shape)?,
        "bsr" => Content::Entries(file.blocks(&shape)?),
        "dia" => Content::Entries(file.diagonals(&shape)?),
        other => {
            return Err(file
                .fault(format!("has a matrix in format `{other}`"))
                .note("`csr`, `csc`, `coo`, `bsr` and `dia` are read")
                .help("save `matrix.tocsr()`"));
        }
    };
    let n_stored = match &content {
        Content::Entries(entries) => entries.len(),
        Content::Tensor(tensor) => tensor.n_stored(),
        Content::Relation(tensor) => tensor.values().len(),
    };
    Ok(FileTensor {
        content,
        states_extents: true,
        states_fill: false,
        structure: Structure::General,
        n_stored: n_stored as u64,
    })
}

/// How to mend a file of SciPy.
const MEND: &str = "save the matrix again with `scipy.sparse.save_npz`; `check_format()` of a `csr`, `csc` or `bsr` matrix shows what is wrong";

/// An archive that holds a sparse matrix.
struct File<'a> {
    archive: &'a Archive<'a>,
    element: Option<ElementType>,
}

impl File<'_> {
    fn fault(&self, what: String) -> Diagnostic {
        let message = format!("`{}` {what}", self.archive.name());
        Diagnostic::new(code::BAD_SCIPY_FILE, message).help(MEND)
    }

    /// A fault of the checks that every tensor goes through, in SciPy's terms.
    fn checked(&self, tensor: Result<Tensor>, names: &str) -> Result<Tensor> {
        tensor.map_err(|error| error.note(format!("in `{}`: {names}", self.archive.name())))
    }

    fn shape(&self) -> Result<Vec<u64>> {
        let shape = self.index_list("shape", self.archive.array("shape")?)?;
        let extents = shape.as_index().iter().map(u64::try_from);
        let extents: std::result::Result<Vec<u64>, _> = extents.collect();
        extents.map_err(|_| self.fault("has a shape with a negative extent".to_owned()))
    }

    /// Index arrays as they are where a width of ours is theirs: SciPy writes
    /// `int32` and `int64`.
    fn index(&self, name: &str, array: Array) -> Result<Array> {
        let width = match array.element() {
            ElementType::U32 | ElementType::U64 => IndexWidth::W64,
            element if !element.is_integer() => {
                return Err(self.fault(format!(
                    "has an array `{name}` of {element}, not of integers"
                )));
            }
            element if element.size() < 4 => IndexWidth::W32,
            _ => return Ok(array),
        };
        cast(array, width.element(), name)
    }

    fn index_list(&self, name: &str, array: NdArray) -> Result<Array> {
        self.index(name, self.list(name, array)?)
    }

    fn list(&self, name: &str, array: NdArray) -> Result<Array> {
        let list = array.into_list();
        list.map_err(|shape| {
            self.fault(format!(
                "has an array `{name}` of shape {shape}, not of one mode"
            ))
        })
    }

    fn values(&self, array: Array) -> Result<Array> {
        match self.element {
            Some(element) => cast(array, element, "data"),
            None => Ok(array),
        }
    }

    /// The extents of a matrix.
    fn matrix(&self, shape: &[u64], format: &str) -> Result<[u64; 2]> {
        shape.try_into().map_err(|_| {
            let shape = shape_text(shape);
            self.fault(format!("has shape {shape}, but {format} stores matrices"))
        })
    }

    /// Rows or columns; of order 1 a single one.
    fn compressed(&self, shape: &[u64], by_columns: bool) -> Result<Content> {
        let levels = match (shape.len(), by_columns) {
            (1, false) => vec![Level::new(0, LevelKind::Compressed)],
            (_, false) => Format::csr().levels().to_vec(),
            (_, true) => Format::csc().levels().to_vec(),
        };
        if shape.len() != levels.len() {
            self.matrix(shape, if by_columns { "`csc`" } else { "`csr`" })?;
        }
        let [data, indices, indptr] = self.archive.arrays(["data", "indices", "indptr"])?;
        let vals = self.values(self.list("data", data)?)?;
        let crd = self.index_list("indices", indices)?;
        let pos = self.index_list("indptr", indptr)?;
        self.segments(shape, levels, [pos, crd, vals])
    }

    /// The tensor of these levels, of which only the last has arrays.
    fn segments(
        &self,
        shape: &[u64],
        mut levels: Vec<Level>,
        [pos, mut crd, mut vals]: [Array; 3],
    ) -> Result<Content> {
        // SciPy allows room for more entries after the last.
        let n = pos.len().checked_sub(1).map_or(0, |last| pos.index(last));
        let n = usize::try_from(n).unwrap_or(usize::MAX);
        if crd.len() == vals.len() && n < crd.len() {
            crd = truncated(crd, n);
            vals = truncated(vals, n);
        }
        let sorted = ascend(pos.as_index(), crd.as_index());
        if !sorted {
            let last = levels.len() - 1;
            levels[last] = levels[last].clone().nonunique().nonordered();
        }
        let element = vals.element();
        let tensor = Tensor::new(
            Format::from_levels(levels)?,
            shape.to_vec(),
            element,
            element.zero(),
            vec![pos, crd, vals],
        );
        let number = shape.len() - 1;
        let names =
            format!("`{number}.pos` is `indptr`, `{number}.crd` is `indices`, `vals` is `data`");
        let tensor = self.checked(tensor, &names)?;
        Ok(match sorted {
            true => Content::Tensor(tensor),
            false => Content::Entries(tensor.entries()),
        })
    }

    /// A list of coordinates, of any order.
    fn coordinates(&self, shape: &[u64]) -> Result<Content> {
        let (data, lists) = if self.archive.has("coords") {
            let [data, coords] = self.archive.arrays(["data", "coords"])?;
            let n = match coords.shape[..] {
                [order, n] if order == shape.len() as u64 => n as usize,
                _ => {
                    let found = shape_text(&coords.shape);
                    let wanted = shape.len();
                    return Err(
                        self.fault(format!("has `coords` of shape {found}, not ({wanted}, …)"))
                    );
                }
            };
            let coords = row_major(coords)?;
            let rows = (0..shape.len()).map(|mode| part(&coords, mode * n..(mode + 1) * n));
            (data, rows.collect::<Result<Vec<Array>>>()?)
        } else {
            self.matrix(shape, "`coo` without `coords`")?;
            let [data, row, col] = self.archive.arrays(["data", "row", "col"])?;
            (data, vec![self.list("row", row)?, self.list("col", col)?])
        };
        let vals = self.values(self.list("data", data)?)?;
        let mut crds = Vec::with_capacity(lists.len());
        for (mode, list) in lists.into_iter().enumerate() {
            let name = match (shape.len(), mode) {
                (2, 0) => "row",
                (2, 1) => "col",
                _ => "coords",
            };
            if list.len() != vals.len() {
                let (n, wanted) = (list.len(), vals.len());
                return Err(self.fault(format!(
                    "has {n} entries in `{name}`, but {wanted} in `data`"
                )));
            }
            crds.push(self.index(name, list)?);
        }
        // Levels of one tensor have coordinates of one width.
        if crds.iter().any(|crd| crd.element() == ElementType::I64) {
            let wide = crds
                .into_iter()
                .map(|crd| cast(crd, ElementType::I64, "coords"));
            crds = wide.collect::<Result<_>>()?;
        }
        let indices: Vec<Index<'_>> = crds.iter().map(Array::as_index).collect();
        if !tuples_ascend(&indices) {
            return Ok(Content::Entries(self.entries(shape, &indices, vals)?));
        }
        let element = vals.element();
        let end = vals.len();
        let pos = cast(
            Array::from_vec(vec![0, end as i64]),
            IndexWidth::holding(end as u64).element(),
            "pos",
        )?;
        let mut arrays = vec![pos];
        arrays.extend(crds);
        arrays.push(vals);
        let format = Format::scoo(shape.len());
        let tensor = Tensor::new(format, shape.to_vec(), element, element.zero(), arrays);
        let names = "`0.crd` is `row`, `1.crd` is `col`, `vals` is `data`";
        Ok(Content::Tensor(self.checked(tensor, names)?))
    }

    /// Coordinates, one list a mode, and values, in the order given.
    fn entries(&self, shape: &[u64], lists: &[Index<'_>], values: Array) -> Result<Entries> {
        let order = shape.len();
        let mut coords = room(values.len().checked_mul(order))?;
        for e in 0..values.len() {
            for (mode, list) in lists.iter().enumerate() {
                let coord = list.get(e) as u64;
                if coord >= shape[mode] {
                    return Err(self.outside(e, mode, list.get(e), shape[mode]));
                }
                coords.push(coord);
            }
        }
        Ok(Entries {
            extents: shape.to_vec(),
            coords: coords.into(),
            values,
        })
    }

    fn outside(&self, entry: usize, mode: usize, coord: i64, extent: u64) -> Diagnostic {
        let message =
            format!("entry {entry} has coordinate {coord} in mode {mode} of extent {extent}");
        Diagnostic::new(code::OUT_OF_BOUNDS, message)
            .note(format!("in `{}`", self.archive.name()))
            .help(MEND)
    }

    /// Dense blocks in rows of blocks.
    fn blocks(&self, shape: &[u64]) -> Result<Entries> {
        let extents = self.matrix(shape, "`bsr`")?;
        let [data, indices, indptr] = self.archive.arrays(["data", "indices", "indptr"])?;
        let &[n, rows, columns] = &data.shape[..] else {
            let found = shape_text(&data.shape);
            return Err(self.fault(format!("has blocks of shape {found}, not of three modes")));
        };
        let fits = |extent: u64, block: u64| block > 0 && extent.is_multiple_of(block);
        if !fits(extents[0], rows) || !fits(extents[1], columns) {
            let shape = shape_text(shape);
            return Err(self.fault(format!(
                "has blocks of {rows} x {columns}, which do not fill {shape}"
            )));
        }
        let values = self.values(row_major(data)?)?;
        // The blocks are a matrix of their own, of which only the place counts.
        let grid = [extents[0] / rows, extents[1] / columns];
        let places = self.segments(
            &grid,
            Format::csr().levels().to_vec(),
            [
                self.index_list("indptr", indptr)?,
                self.index_list("indices", indices)?,
                Array::zeroed(ElementType::U8, n as usize)?,
            ],
        )?;
        let places = match places {
            Content::Entries(entries) => entries,
            Content::Tensor(tensor) => tensor.entries(),
            Content::Relation(tensor) => tensor.entries()?,
        };
        // Of no blocks, the size may be beyond what can be counted.
        let size = rows.saturating_mul(columns) as usize;
        let values = truncated(values, places.len().saturating_mul(size));
        let mut coords = room(values.len().checked_mul(2))?;
        for block in 0..places.len() {
            let [i, j] = [0, 1].map(|mode| places.coords(block).at(mode));
            for row in 0..rows {
                for column in 0..columns {
                    coords.extend([i * rows + row, j * columns + column]);
                }
            }
        }
        Ok(Entries {
            extents: shape.to_vec(),
            coords: coords.into(),
            values,
        })
    }

    /// Diagonals, of which `offsets` says how far right of the main one they
    /// are, each with its values by column.
    fn diagonals(&self, shape: &[u64]) -> Result<Entries> {
        let [rows, columns] = self.matrix(shape, "`dia`")?;
        let [data, offsets] = self.archive.arrays(["data", "offsets"])?;
        let offsets = self.index_list("offsets", offsets)?;
        let width = match data.shape[..] {
            [n, width] if n == offsets.len() as u64 => width,
            _ => {
                let (found, wanted) = (shape_text(&data.shape), offsets.len());
                return Err(self.fault(format!(
                    "has `data` of shape {found} for {wanted} diagonals"
                )));
            }
        };
        let all = self.values(row_major(data)?)?;
        // The columns of each diagonal that lie in the matrix: those whose row,
        // `column - offset`, does.
        let within = |offset: i64| {
            let end = (i128::from(rows) + i128::from(offset)).clamp(0, width.min(columns).into());
            let start = i128::from(offset).clamp(0, end);
            start as u64..end as u64
        };
        let offsets = offsets.as_index();
        let length = |range: Range<u64>| (range.end - range.start) as usize;
        let n = offsets
            .iter()
            .map(|offset| length(within(offset)))
            .sum::<usize>();
        let mut coords = room(n.checked_mul(2))?;
        let mut values = Array::zeroed(all.element(), n)?;
        let mut at = 0;
        for (diagonal, offset) in offsets.iter().enumerate() {
            let range = within(offset);
            let start = diagonal * width as usize + range.start as usize;
            let length = length(range.clone());
            with_element!(all.element(), T => {
                values.slice_mut::<T>()[at..at + length]
                    .copy_from_slice(&all.slice::<T>()[start..start + length]);
            });
            at += length;
            coords.extend(range.flat_map(|column| [column.wrapping_sub(offset as u64), column]));
        }
        Ok(Entries {
            extents: shape.to_vec(),
            coords: coords.into(),
            values,
        })
    }
}

/// Room for so many coordinates.
fn room(n: Option<usize>) -> Result<Vec<u64>> {
    let mut coords = Vec::new();
    match n.map(|n| coords.try_reserve_exact(n)) {
        Some(Ok(())) => Ok(coords),
        _ => Err(Diagnostic::new(
            code::TENSOR_TOO_LARGE,
            "the coordinates of the entries do not fit in memory",
        )),
    }
}

fn truncated(array: Array, len: usize) -> Array {
    let element = array.element();
    let mut memory = array.into_memory();
    memory.set_len(memory.len().min(len * element.size()));
    Array::new(element, memory)
}

/// A copy of some of the numbers.
fn part(array: &Array, range: Range<usize>) -> Result<Array> {
    let mut out = Array::zeroed(array.element(), range.len())?;
    with_element!(array.element(), T => {
        out.slice_mut::<T>().copy_from_slice(&array.slice::<T>()[range]);
    });
    Ok(out)
}

/// The numbers with the last mode varying fastest.
fn row_major(array: NdArray) -> Result<Array> {
    if !array.column_major || array.shape.len() < 2 {
        return Ok(array.values);
    }
    let dense = Format::dense(array.shape.len());
    let (_, _, _, mut arrays) = crate::npy::tensor(array)?.convert(&dense)?.into_parts();
    Ok(arrays.pop().expect("a dense tensor has values"))
}

/// Whether coordinates ascend within every segment. Segments that are none do
/// not count: they are refused elsewhere.
fn ascend(pos: Index<'_>, crd: Index<'_>) -> bool {
    let segments = pos.len().saturating_sub(1);
    let ascend = |parents: Range<usize>| {
        parents.into_iter().all(|parent| {
            let end = usize::try_from(pos.get(parent + 1)).map_or(0, |end| end.min(crd.len()));
            let start = usize::try_from(pos.get(parent)).unwrap_or(end).min(end);
            match crd {
                Index::W8(crd) => crd[start..end].is_sorted_by(|a, b| a < b),
                Index::W16(crd) => crd[start..end].is_sorted_by(|a, b| a < b),
                Index::W32(crd) => crd[start..end].is_sorted_by(|a, b| a < b),
                Index::W64(crd) => crd[start..end].is_sorted_by(|a, b| a < b),
            }
        })
    };
    map(ranges(segments, GRAIN / 16), ascend)
        .into_iter()
        .all(|part| part)
}

/// Whether the tuples that lists of one length make ascend.
fn tuples_ascend(lists: &[Index<'_>]) -> bool {
    let n = lists.first().map_or(0, |list| list.len());
    let ascend = |range: Range<usize>| {
        range.into_iter().all(|e| {
            let tuples = lists.iter().map(|list| (list.get(e), list.get(e + 1)));
            tuples
                .map(|(a, b)| a.cmp(&b))
                .find(|order| order.is_ne())
                .is_some_and(|order| order.is_lt())
        })
    };
    map(ranges(n.saturating_sub(1), GRAIN), ascend)
        .into_iter()
        .all(|part| part)
}
