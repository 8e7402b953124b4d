//! `serde`: tensors and formats as text, bit for bit.

use sparsec_base::{Bool8, Complex, ElementType, Scalar, bf16, f16};
use sparsec_tensor::{Element, Format, Tensor, with_element};

use super::matrix;

fn round_trip(tensor: &Tensor) -> Tensor {
    let text = serde_json::to_string(tensor).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn tensors_are_formats_extents_and_named_arrays() {
    let text = serde_json::to_string(&matrix("csr")).unwrap();
    assert_eq!(
        text,
        "{\"format\":\"(i, j) -> (i : dense, j : compressed)\",\"extents\":[2,3],\
         \"fill\":{\"f64\":0.0},\"arrays\":{\"1.pos\":{\"i32\":[0,2,3]},\
         \"1.crd\":{\"i32\":[0,2,0]},\"vals\":{\"f64\":[1.0,2.0,3.0]}}}"
    );
    assert_eq!(round_trip(&matrix("csr")), matrix("csr"));
}

#[test]
fn formats_are_text() {
    let format = Format::parse("(i, j) -> (j : compressed(nonunique), i : singleton), crd = 64");
    let format = format.unwrap();
    let text = serde_json::to_string(&format).unwrap();
    assert_eq!(text, format!("\"{format}\""));
    assert_eq!(serde_json::from_str::<Format>(&text).unwrap(), format);
    let error = serde_json::from_str::<Format>("\"(i) -> (i : dens)\"").unwrap_err();
    assert!(error.to_string().contains("dense"), "{error}");
}

#[test]
fn every_type_and_width_goes_there_and_back() {
    for element in ElementType::ALL {
        let one = element.one();
        with_element!(element, T => {
            let builder = Tensor::builder("csf, pos = 8, crd = 16", &[2, 2, 2]).unwrap();
            let value = T::from_scalar(one).unwrap();
            let tensor = builder.push([1, 0, 1], value).fill(value).build().unwrap();
            assert_eq!(round_trip(&tensor), tensor, "{element}");
        });
    }
}

#[test]
fn values_are_the_same_bit_for_bit() {
    fn check<T: Element>(values: Vec<T>) {
        let tensor = Tensor::dense(&[values.len() as u64], values).unwrap();
        let back = round_trip(&tensor);
        for i in 0..tensor.n_stored() {
            // Scalars are told apart by their bits.
            assert_eq!(back.vals().get(i), tensor.vals().get(i));
        }
    }
    check(vec![
        0.1,
        -0.0,
        f64::MAX,
        f64::MIN_POSITIVE / 3.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ]);
    check(vec![
        0.1f32,
        f32::MIN_POSITIVE / 3.0,
        16_777_217.0,
        f32::INFINITY,
        f32::MAX,
    ]);
    check(
        (0..=u16::MAX)
            .map(f16::from_bits)
            .filter(|value| !value.is_nan())
            .collect(),
    );
    check(
        (0..=u16::MAX)
            .map(bf16::from_bits)
            .filter(|value| !value.is_nan())
            .collect(),
    );
    check(vec![i64::MIN, i64::MAX]);
    check(vec![u64::MAX]);
    check(vec![Bool8::TRUE, Bool8::FALSE]);
    check(vec![
        Complex::new(1.5f32, f32::NEG_INFINITY),
        Complex::new(-0.0, 2.0),
    ]);
    let nan = round_trip(&Tensor::dense(&[1], [f64::NAN]).unwrap());
    assert!(matches!(nan.vals().get(0), Scalar::F64(value) if value.is_nan()));
}

#[test]
fn what_is_read_is_checked() {
    let good = serde_json::to_string(&matrix("csr")).unwrap();
    for (from, to, says) in [
        ("[0,2,3]", "[0,3,2]", "E0404"),
        ("[0,2,0]", "[0,9,0]", "E0401"),
        ("\"1.crd\"", "\"2.crd\"", "`1.crd` is missing"),
        (
            "\"vals\"",
            "\"extra\":{\"f64\":[]},\"vals\"",
            "no array `extra`",
        ),
        ("\"vals\":{\"f64\"", "\"vals\":{\"f32\"", "E0403"),
        ("\"vals\":{\"f64\"", "\"vals\":{\"f65\"", "f65"),
        ("[1.0,", "[\"one\",", "\"nan\""),
        ("compressed", "compresed", "compressed"),
        ("\"extents\":[2,3]", "\"extents\":[2]", "E0402"),
        ("\"fill\"", "\"fil\"", "fil"),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good);
        let error = serde_json::from_str::<Tensor>(&bad)
            .unwrap_err()
            .to_string();
        assert!(error.contains(says), "{to}: {error}");
    }
}
