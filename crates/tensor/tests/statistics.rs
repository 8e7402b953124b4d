//! Statistics against counts made one entry at a time, and how they are kept.

mod support;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use sparsec_base::{ElementType, Scalar};
use sparsec_format::{Format, MatrixStatistics};
use sparsec_parallel::with_threads;
use sparsec_tensor::{Array, Complex, Entries, PackOptions, Tensor};
use support::{Meaning, cases, many, meaning, packed, without_zeros};

/// The entries that count: without padding, which here is zeros.
fn counted(tensor: &Tensor, entries: &Entries) -> Meaning {
    let all = meaning(entries);
    if tensor.has_padding() {
        without_zeros(all)
    } else {
        all
    }
}

/// What is found by looking at every pair of places.
fn looked_at(map: &Meaning, n: u64) -> MatrixStatistics {
    let place = |coords: &Vec<u64>| (coords[0], coords[1]);
    let places: BTreeSet<(u64, u64)> = map.keys().map(place).collect();
    let mut all = MatrixStatistics::empty(true);
    let mut diagonals = BTreeSet::new();
    for &(i, j) in &places {
        all.lower_bandwidth = all.lower_bandwidth.max(i.saturating_sub(j));
        all.upper_bandwidth = all.upper_bandwidth.max(j.saturating_sub(i));
        all.n_on_diagonal += u64::from(i == j);
        all.symmetry.n_mirrored += u64::from(i != j && places.contains(&(j, i)));
        diagonals.insert(i as i64 - j as i64);
        let (a, mirror) = (map.get(&vec![i, j]), map.get(&vec![j, i]));
        all.symmetry.pattern &= mirror.is_some();
        all.symmetry.symmetric &= mirror == a;
        all.symmetry.skew &= mirror.map(|v| -v) == a.copied();
    }
    all.symmetry.hermitian = all.symmetry.symmetric;
    all.n_diagonals = diagonals.len() as u64;
    for k in 0..n {
        let first = |inside: &dyn Fn(&(u64, u64)) -> Option<u64>| {
            places.iter().filter_map(inside).min().unwrap_or(k)
        };
        all.lower_profile += k.saturating_sub(first(&|&(i, j)| (i == k).then_some(j)));
        all.upper_profile += k.saturating_sub(first(&|&(i, j)| (j == k).then_some(i)));
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn counts_are_those_of_the_entries((entries, format, other) in cases()) {
        let tensor = packed(&format, &entries);
        let map = counted(&tensor, &entries);
        let statistics = tensor.statistics().unwrap();
        prop_assert_eq!(statistics.n_entries, map.len() as u64);
        for (mode, spread) in statistics.modes.iter().enumerate() {
            let mut bins: BTreeMap<u64, u64> =
                (0..tensor.extents()[mode]).map(|c| (c, 0)).collect();
            map.keys().for_each(|coords| *bins.entry(coords[mode]).or_default() += 1);
            prop_assert_eq!((spread.n, spread.total), (bins.len() as u64, map.len() as u64));
            prop_assert_eq!(spread.min, bins.values().copied().min().unwrap_or(0));
            prop_assert_eq!(spread.max, bins.values().copied().max().unwrap_or(0));
            let buckets = spread.buckets().all(|(least, most, n)| {
                n == bins.values().filter(|&&v| least <= v && v <= most).count() as u64
            });
            prop_assert!(buckets);
        }
        let positions: Vec<u64> =
            (0..tensor.order()).map(|level| tensor.n_positions(level) as u64).collect();
        let levels: Vec<u64> = statistics.levels.iter().map(|level| level.total).collect();
        prop_assert_eq!(levels, positions);
        // Few entries: every estimate is exact.
        let direct = tensor.convert(&other).unwrap();
        prop_assert_eq!(
            statistics.bytes_in(&other, ElementType::I64),
            Some(direct.footprint())
        );
        prop_assert_eq!(direct.footprint().total(), direct.bytes() as u64);
    }

    #[test]
    fn matrices_are_what_they_look_like(
        n in 1..9u64,
        list in prop::collection::vec((0..9u64, 0..9u64, -2..3i64), 0..30),
        mirror in 0..3u8,
    ) {
        let mut map = Meaning::new();
        for &(i, j, value) in &list {
            let (i, j) = (i % n, j % n);
            map.insert(vec![i, j], value);
            match mirror {
                1 => drop(map.insert(vec![j, i], value)),
                2 => drop(map.insert(vec![j, i], -value)),
                _ => {}
            }
        }
        let entries = Entries {
            extents: vec![n, n],
            coords: map.keys().flatten().copied().collect(),
            values: Array::from_vec(map.values().copied().collect()),
        };
        let tensor = packed(&Format::csr(), &entries);
        let matrix = tensor.statistics().unwrap().matrix.clone().unwrap();
        for block in &matrix.blocks {
            let occupied: BTreeSet<(u64, u64)> = map
                .keys()
                .map(|coords| (coords[0] / block.rows, coords[1] / block.columns))
                .collect();
            prop_assert_eq!(block.n_blocks, occupied.len() as u64);
        }
        let mut expected = looked_at(&map, n);
        expected.blocks = matrix.blocks.clone();
        prop_assert_eq!(matrix, expected);
    }
}

#[test]
fn threads_make_no_difference_to_statistics() {
    for extents in [
        vec![3000, 2000],
        vec![1 << 40, 1 << 50],
        vec![300, 40, 500, 7],
    ] {
        let format = match extents.len() {
            2 => Format::scoo(2),
            order => Format::csf(order),
        };
        let entries = many(&extents, 100_000);
        let tensor = Tensor::pack_entries(&format, entries, PackOptions::default()).unwrap();
        let count = |threads| {
            let fresh = tensor.clone();
            with_threads(threads, || fresh.statistics().unwrap().clone())
        };
        let one = count(1);
        assert_eq!(one, count(3), "{extents:?}");
        // Distinct pairs of modes, counted and estimated.
        for group in &one.groups {
            let tuples: BTreeSet<Vec<u64>> = tensor
                .iter()
                .map(|(coords, _)| group.modes.iter().map(|&mode| coords[mode]).collect())
                .collect();
            let (exact, about) = (tuples.len() as f64, group.n_distinct as f64);
            assert!((about - exact).abs() <= 0.05 * exact, "{group:?}: {exact}");
        }
    }
}

/// Of more rows than there are bands of them, with most images there.
#[test]
fn images_are_found_in_all_bands_of_rows() {
    let n = 3000;
    let half = Tensor::pack_entries(
        &Format::csr(),
        many(&[n, n], 40_000),
        PackOptions::default(),
    );
    let half = half.expect("a matrix");
    let images = half.permute(&[1, 0]).expect("a square");
    let mut places: BTreeSet<(u64, u64)> = [&half, &images]
        .iter()
        .flat_map(|of| of.iter().map(|(at, _)| (at[0], at[1])))
        .collect();
    let check = |places: &BTreeSet<(u64, u64)>| {
        let entries = Entries {
            extents: vec![n, n],
            coords: places.iter().flat_map(|&(i, j)| [i, j]).collect(),
            values: Array::from_vec(vec![1.0; places.len()]),
        };
        let tensor = Tensor::pack_entries(&Format::csr(), entries, PackOptions::default());
        let tensor = tensor.expect("a matrix");
        let found = tensor.statistics().expect("counts").matrix.clone();
        let symmetry = found.expect("of order 2").symmetry;
        let mirrored = places
            .iter()
            .filter(|&&(i, j)| i != j && places.contains(&(j, i)));
        assert_eq!(symmetry.n_mirrored, mirrored.count() as u64);
        symmetry.symmetric
    };
    assert!(check(&places));
    places.retain(|&(i, j)| i >= j || (i + j) % 7 != 0);
    assert!(!check(&places));
}

#[test]
fn statistics_are_kept_until_values_change() {
    let coords = [0, 1, 1, 0];
    let mut a = Tensor::pack(&Format::csr(), &[2, 2], &coords, &[1.0, 1.0]).unwrap();
    let symmetric = |a: &Tensor| a.statistics().unwrap().matrix.as_ref().unwrap().symmetry;
    assert!(symmetric(&a).symmetric && !symmetric(&a).skew);
    let kept: *const _ = a.statistics().unwrap();
    assert!(std::ptr::eq(kept, a.statistics().unwrap()));
    assert!(std::ptr::eq(kept, a.clone().statistics().unwrap()));
    a.values_mut::<f64>().unwrap()[0] = -1.0;
    assert!(symmetric(&a).skew && symmetric(&a).pattern && !symmetric(&a).symmetric);
    assert_eq!(symmetric(&a).n_mirrored, 2);
}

#[test]
fn hermitian_is_symmetric_up_to_the_conjugate() {
    let values = vec![
        Complex::new(1.0, 0.0),
        Complex::new(2.0, 3.0),
        Complex::new(2.0, -3.0),
    ];
    let entries = Entries {
        extents: vec![2, 2],
        coords: vec![0, 0, 0, 1, 1, 0].into(),
        values: Array::from_vec(values),
    };
    let a = Tensor::pack_entries(&Format::csr(), entries, PackOptions::default()).unwrap();
    let symmetry = a.statistics().unwrap().matrix.as_ref().unwrap().symmetry;
    assert!(symmetry.hermitian && symmetry.pattern && !symmetry.symmetric && !symmetry.skew);
    assert_eq!(a.fill(), Scalar::C128(Complex::new(0.0, 0.0)));
}
