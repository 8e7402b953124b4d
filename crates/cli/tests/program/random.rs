//! Random programs, answered in JSON as the library answers them.

use serde_json::{Value, json};
use sparsec_testing::random::{Random, reads_as};

use super::place::Place;

/// As many calls are made.
const CALLS: usize = 40;

#[test]
fn json_is_the_answer_of_the_library() {
    let random = Random::new();
    let place = Place::new();
    let (mut n_answered, mut n_scalars, mut n_values) = (0, 0, 0);
    let calls = (0..).filter_map(|seed| Some((seed, random.call(seed)?)));
    for (seed, call) in calls.take(CALLS) {
        let words: Vec<&str> = call.words.iter().map(String::as_str).collect();
        let done = place.call(&words);
        let why = format!("seed {seed}: {words:?}\n{}{}", done.stdout, done.stderr);
        let text = if call.answer.is_ok() {
            &done.stdout
        } else {
            &done.stderr
        };
        let lines = text.lines().map(serde_json::from_str::<Value>);
        let lines: Vec<Value> = lines.collect::<Result<_, _>>().expect(&why);
        match call.answer {
            Err(code) => {
                assert_eq!(done.code, Some(1), "{why}");
                let is_code = |line: &Value| line["code"] == code.as_str();
                assert!(lines.iter().any(is_code), "{code}, {why}");
            }
            Ok(results) => {
                assert_eq!(done.code, Some(0), "{why}");
                n_answered += 1;
                for (name, tensor) in results {
                    let value = &lines[0]["results"][name.as_str()];
                    assert_eq!(value["element"], tensor.element().name(), "{name}, {why}");
                    assert_eq!(value["extents"], json!(tensor.extents()), "{name}, {why}");
                    assert_eq!(value["n_stored"], tensor.n_filled(), "{name}, {why}");
                    if tensor.order() == 0 {
                        n_scalars += 1;
                        let scalar = tensor.vals().get(0);
                        let read = text_of(&value["value"]);
                        assert!(reads_as(&read, scalar), "{scalar}, not {read}, {why}");
                        continue;
                    }
                    let values = flat(&value["values"]);
                    let entries = tensor.entries();
                    assert_eq!(values.len(), entries.len(), "{name}, {why}");
                    for (e, (coords, scalar)) in entries.iter().enumerate() {
                        let at = match value.get("coordinates") {
                            Some(all) => {
                                assert_eq!(all[e], json!(coords.to_vec()), "{name}, {why}");
                                e
                            }
                            None => {
                                let modes = coords.iter().zip(tensor.extents());
                                modes.fold(0, |at, (coord, extent)| at * extent + coord) as usize
                            }
                        };
                        n_values += 1;
                        let read = text_of(values[at]);
                        assert!(reads_as(&read, scalar), "{scalar}, not {read}, {why}");
                    }
                }
            }
        }
    }
    assert!(
        n_answered > CALLS / 3 && n_scalars > 5 && n_values > 20,
        "{n_answered} answered, {n_scalars} scalars, {n_values} other values"
    );
}

/// A scalar as people read it.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The values in nested arrays, the last mode fastest.
fn flat(values: &Value) -> Vec<&Value> {
    match values {
        Value::Array(inner) => inner.iter().flat_map(flat).collect(),
        one => vec![one],
    }
}
