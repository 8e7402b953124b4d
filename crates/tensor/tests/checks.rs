//! Checked construction names the first of several faults, whatever the number
//! of threads; index arrays of every width hold what they can and no more.

use sparsec_base::{ElementType, IndexWidth, Scalar, code};
use sparsec_format::{Format, Role, Widths};
use sparsec_parallel::with_threads;
use sparsec_tensor::{Array, Bool8, Entries, PackOptions, Tensor};

/// A tensor large enough for several threads: `n` entries a row, or a fiber.
fn large(format: &Format, rows: u64, n: u64) -> Tensor {
    let order = format.order() as u64;
    let extents: Vec<u64> = (0..order)
        .map(|mode| if mode == 0 { rows } else { 2 * n })
        .collect();
    let coords = (0..rows * n).flat_map(|e| {
        (0..order).map(move |mode| match mode {
            0 => e / n,
            1 => 2 * (e % n) + e / n % 2,
            _ => (e * 7 + mode) % (2 * n),
        })
    });
    let entries = Entries {
        extents,
        coords: coords.collect(),
        values: Array::from_vec((0..rows * n).map(|e| e as f64).collect::<Vec<_>>()),
    };
    Tensor::pack_entries(format, entries, PackOptions::default()).unwrap()
}

/// The diagnostic of a tensor whose array was changed at some places, which is
/// the same at every number of threads.
fn fault(tensor: &Tensor, role: Role, changes: &[(usize, i64)]) -> String {
    let specs = tensor.format().arrays();
    let at = specs.iter().position(|spec| spec.role == role).unwrap();
    let mut arrays = tensor.arrays().to_vec();
    let element = arrays[at].element();
    for &(entry, number) in changes {
        arrays[at].set(entry, Scalar::from_i64(element, number));
    }
    let check = |threads| {
        let (format, extents) = (tensor.format().clone(), tensor.extents().to_vec());
        let arrays = arrays.clone();
        with_threads(threads, || {
            let checked = Tensor::new(format, extents, tensor.element(), tensor.fill(), arrays);
            checked.map(drop).map_err(|fault| fault.to_string())
        })
    };
    let one = check(1).expect_err("a fault");
    assert_eq!(check(4), Err(one.clone()));
    one
}

#[test]
fn the_first_of_several_faults_is_named() {
    for width in IndexWidth::ALL {
        let widths = Widths {
            pos: None,
            crd: Some(width),
        };
        let format = Format::csr().with_widths(widths);
        let csr = large(&format, 3000, 100);
        let crd = |changes: &[(usize, i64)]| fault(&csr, Role::Crd(1), changes);
        // In bounds, but not ascending: within a row, at the end of a block, and
        // in the last row.
        for first in [5, 1_023, 1_024, 1_025, 65_535, 65_537, 150_050, 299_990] {
            let text = crd(&[(299_999, 0), (first, 1)]);
            let wanted = if first % 100 == 0 { first + 1 } else { first };
            assert!(text.contains(&format!("`1.crd[{wanted}]`")), "{text}");
            assert!(text.contains("E0405"), "{text}");
        }
        // Bounds of all come before the order of any.
        let text = crd(&[(3, 0), (250_000, 200), (270_000, 201)]);
        assert!(text.contains("`1.crd[250000]` is 200"), "{text}");
        let value = csr.level(1).crd().get(70_000);
        let text = crd(&[(70_001, value)]);
        assert!(
            text.contains("`1.crd[70001]`: coordinate 0 stands twice"),
            "{text}"
        );
    }
    let csr = large(&Format::csr(), 100_000, 3);
    let text = fault(&csr, Role::Pos(1), &[(90_000, 1), (80_000, 2)]);
    assert!(
        text.contains("`1.pos[80000]` is 2, smaller than 239997"),
        "{text}"
    );
    let text = fault(&csr, Role::Pos(1), &[(100_000, 300_001)]);
    assert!(
        text.contains("`1.crd` has 300000 entries, not 300001"),
        "{text}"
    );
    let text = fault(&csr, Role::Crd(1), &[(200_000, -1)]);
    assert!(text.contains("`1.crd[200000]` is -1"), "{text}");
}

#[test]
fn tuples_of_lists_are_compared_as_tuples() {
    for order in [2, 3] {
        let list = large(&Format::scoo(order), 3000, 100);
        let text = fault(&list, Role::Crd(0), &[(200_000, 7), (299_999, 1)]);
        assert!(text.contains("`0.crd[200000]`: coordinate (7, "), "{text}");
        let unordered = list.convert(&Format::coo(order)).unwrap();
        let mut changes: Vec<(usize, i64)> = Vec::new();
        for level in 1..order {
            changes.push((level, unordered.level(level).crd().get(250_000)));
        }
        let row = unordered.level(0).crd().get(250_000);
        // Entry 130000 becomes a copy of entry 250000, which is the later one.
        let mut arrays = unordered.arrays().to_vec();
        for (array, coord) in [(1, row)]
            .into_iter()
            .chain(changes.iter().map(|&(l, c)| (l + 1, c)))
        {
            let element = arrays[array].element();
            arrays[array].set(130_000, Scalar::from_i64(element, coord));
        }
        let checked = Tensor::new(
            unordered.format().clone(),
            unordered.extents().to_vec(),
            ElementType::F64,
            unordered.fill(),
            arrays,
        );
        let text = checked.expect_err("a repetition").to_string();
        assert!(text.contains("crd[250000]`: coordinate (2500, "), "{text}");
        assert!(text.contains("stands twice"), "{text}");
    }
}

fn pack(format: &str, extents: &[u64], coords: &[u64]) -> sparsec_base::Result<Tensor> {
    let format: Format = format.parse()?;
    let n = coords.len() / extents.len();
    Tensor::pack(&format, extents, coords, &vec![1.0; n])
}

#[test]
fn narrow_widths_hold_what_they_can_and_no_more() {
    let all = |n: u64| (0..n).collect::<Vec<u64>>();
    for (bits, holds) in [(8, 256), (16, 65_536)] {
        let crd = format!("(i) -> (i : compressed), crd = {bits}");
        let tensor = pack(&crd, &[holds], &all(holds)).unwrap();
        assert_eq!(tensor.level(0).crd().width().bits(), bits);
        assert_eq!(
            tensor.level(0).crd().get(holds as usize - 1),
            holds as i64 - 1
        );
        let fault = pack(&crd, &[holds + 1], &[0]).unwrap_err();
        assert_eq!(fault.code(), code::INDEX_WIDTH_OVERFLOW);
        assert!(
            fault.to_string().contains(&format!("has to hold {holds}")),
            "{fault}"
        );
        // Positions count up to the number of entries.
        let pos = format!("(i) -> (i : compressed), pos = {bits}");
        let tensor = pack(&pos, &[holds], &all(holds - 1)).unwrap();
        assert_eq!(tensor.level(0).pos(), [0, holds as i64 - 1]);
        let fault = pack(&pos, &[holds], &all(holds)).unwrap_err();
        assert_eq!(fault.code(), code::INDEX_WIDTH_OVERFLOW);
    }
    let wide = pack(
        "(i) -> (i : compressed), crd = 32",
        &[1 << 31],
        &[(1 << 31) - 1],
    )
    .unwrap();
    assert_eq!(wide.level(0).crd(), [(1 << 31) - 1]);
    let fault = pack("(i) -> (i : compressed), crd = 32", &[(1 << 31) + 1], &[0]).unwrap_err();
    assert_eq!(fault.code(), code::INDEX_WIDTH_OVERFLOW);
}

#[test]
fn extents_far_beyond_memory_are_stored_by_their_entries() {
    let huge = i64::MAX as u64;
    let coords = [huge - 1, 0, 3, huge - 1, huge - 1, huge - 1];
    for format in [Format::csf(2), Format::coo(2), Format::scoo(2)] {
        let tensor = Tensor::pack(&format, &[huge, huge], &coords, &[1.0, 2.0, 3.0]).unwrap();
        assert_eq!(tensor.get(&[huge - 1, huge - 1]), Scalar::F64(3.0));
        let statistics = tensor.statistics().unwrap();
        assert_eq!(statistics.modes[0].n_empty, huge - 2);
        let matrix = statistics.matrix.as_ref().unwrap();
        assert_eq!((matrix.n_diagonals, matrix.lower_bandwidth), (3, huge - 1));
        assert_eq!(
            statistics.bytes_in(&Format::dense(2), ElementType::F64),
            None
        );
        let sliced = tensor
            .slice(&[(huge - 2..huge).into(), (0..huge).into()])
            .unwrap();
        assert_eq!(
            (sliced.n_stored(), sliced.get(&[1, 0])),
            (2, Scalar::F64(1.0))
        );
    }
    let fault = Tensor::pack(&Format::csf(1), &[huge + 1], &[], &[]).unwrap_err();
    assert_eq!(fault.code(), code::INDEX_WIDTH_OVERFLOW);
}

/// Takes 5 GB: `cargo test --release -p sparsec-tensor -- --ignored`.
#[test]
#[ignore = "takes 5 GB"]
fn more_than_2_to_the_31_entries() {
    let (rows, each) = (1u64 << 24, 129u64);
    let n = (rows * each) as usize;
    assert!(n > 1 << 31);
    let mut crd = Array::zeroed(ElementType::U8, n).unwrap();
    for (e, crd) in crd.slice_mut::<u8>().iter_mut().enumerate() {
        *crd = (e as u64 % each) as u8;
    }
    let pos = |narrow: bool| {
        let starts = (0..=rows).map(|row| row * each);
        match narrow {
            true => Array::from_vec(starts.map(|start| start as i32).collect::<Vec<_>>()),
            false => Array::from_vec(starts.map(|start| start as i64).collect::<Vec<_>>()),
        }
    };
    let vals = Array::filled(Scalar::Bool(true), n).unwrap();
    let extents = vec![rows, 256];
    let new = |pos, crd, vals| {
        let (element, fill) = (ElementType::Bool, Scalar::Bool(false));
        Tensor::new(
            Format::csr(),
            extents.clone(),
            element,
            fill,
            vec![pos, crd, vals],
        )
    };
    let tensor = new(pos(false), crd, vals).unwrap();
    assert_eq!(tensor.n_stored(), n);
    assert_eq!(tensor.get(&[rows - 1, 128]), Scalar::Bool(true));
    assert_eq!(tensor.get(&[rows - 1, 129]), Scalar::Bool(false));
    let last = tensor.level(1).crd().get(n - 1);
    assert_eq!(last, 128);
    let (_, _, _, mut arrays) = tensor.into_parts();
    let (vals, mut crd) = (arrays.remove(2), arrays.remove(1));
    crd.set(n - 2, Scalar::U8(200));
    let fault = new(pos(false), crd, vals).unwrap_err().to_string();
    assert!(fault.contains(&format!("`1.crd[{}]`", n - 1)), "{fault}");
    // 32 bits wrap, which shows as a position that descends.
    let empty = || Array::from_vec(Vec::<u8>::new());
    let fault = new(pos(true), empty(), Array::from_vec(Vec::<Bool8>::new())).unwrap_err();
    assert_eq!(fault.code(), code::BAD_SEGMENTS);
}
