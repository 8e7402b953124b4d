//! `info`, `convert`, and what is made from the definition of the options.

use serde_json::Value;

use crate::place::{MATRIX, Place, with_matrix};

const SYMMETRIC: &str = "\
%%MatrixMarket matrix coordinate real symmetric
3 3 4
1 1 4
2 2 5
3 3 6
3 1 -1
";

#[test]
fn info_says_what_a_file_holds() {
    let place = with_matrix();
    let answer = place.call(&["info", "a.mtx"]).answer();
    for line in [
        "tensor     f64[3, 4], 4 entries, 33 % of all",
        "structure  not square",
        "rows       0 to 2 entries, 1.3 on average, 1 empty",
        "columns    1 to 1 entries, 1.0 on average, none empty",
        "diagonals  3 of 6 have entries, the main one 2 of 3",
        "bandwidth  1 below the diagonal, 3 above",
        "none        1 ██████",
        "64 bytes     1.00 µs <",
        " formats tried, the smallest first; times are estimates",
        "│⠡⠌│",
    ] {
        assert!(answer.contains(line), "`{line}` is not in\n{answer}");
    }
    assert!(answer.contains("suits      "), "{answer}");
    place.write("s.mtx", SYMMETRIC);
    let answer = place.call(&["info", "s.mtx"]).answer();
    let stated = "structure  symmetric; the file states 4 entries and says so";
    assert!(answer.contains(stated), "{answer}");
    assert!(answer.contains("csr, symmetric(i, j)"), "{answer}");
}

/// `info` tries every preset, so its smallest format is the smallest of all.
#[test]
fn info_ranks_every_preset() {
    let place = Place::new();
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/poisson2d.mtx");
    let answer = place.call(&["info", sample, "--json"]).answer();
    let value: Value = serde_json::from_str(&answer).expect("JSON");
    let bytes = |name: &str| value["bytes"][name].as_u64().expect(name);
    assert!(bytes("dia") < bytes("csr") && bytes("csr, symmetric(i, j)") < bytes("csr"));
    assert_eq!(value["smallest"]["name"], "dia, symmetric(i, j)");
    assert_eq!(value["choice"]["name"], "csr");
    let formats = value["formats"].as_array().expect("formats");
    assert_eq!(value["n_formats_tried"], formats.len());
    let left_out = value["formats_left_out"].as_array().expect("names").len();
    let mirrored = formats.iter().filter(|it| {
        it["name"]
            .as_str()
            .is_some_and(|name| name.contains("symmetric"))
    });
    // Twenty presets, of which `csf` is `dcsr` here.
    assert_eq!(formats.len() - mirrored.count() + left_out, 19);
    let ranked = formats
        .iter()
        .map(|it| it["bytes"].as_u64().expect("bytes"));
    assert!(ranked.is_sorted(), "{value}");
    assert!(
        formats
            .iter()
            .all(|it| it["seconds"].as_f64().is_some_and(|s| s > 0.0))
    );
}

#[test]
fn info_takes_tensors_of_every_order() {
    let place = Place::new();
    place.write("t.tns", "1 2 3 1.5\n2 1 1 1\n2 1 2 1\n");
    let answer = place.call(&["info", "t.tns"]).answer();
    for line in [
        "f64[2, 2, 3], 3 entries",
        "the file states none",
        "mode 2    1 to 1 entries",
        "suits     scoo",
        "┌─┐",
    ] {
        assert!(answer.contains(line), "`{line}` is not in\n{answer}");
    }
    place.write("v.tns", "1 7\n3 2\n");
    let answer = place.call(&["info", "v.tns"]).answer();
    assert!(answer.contains("f64[3], 2 entries") && !answer.contains("┌"));
    place
        .call(&["info", "v.tns", "--plot", "v.svg"])
        .refused(2, &["error[E0005]", "nothing to plot"]);
    assert_eq!(place.files(), ["t.tns", "v.tns"]);
}

#[test]
fn info_answers_in_json() {
    let place = with_matrix();
    let answer = place.call(&["info", "a.mtx", "--json"]).answer();
    let value: Value = serde_json::from_str(&answer).expect("JSON");
    assert_eq!(value["extents"], serde_json::json!([3, 4]));
    assert_eq!(value["n_entries"], 4);
    assert_eq!(value["modes"][0]["n_empty"], 1);
    assert_eq!(value["matrix"]["upper_bandwidth"], 3);
    assert_eq!(value["bytes"]["csr"], 64);
    let chosen = value["choice"]["name"].as_str().expect("a name");
    assert_eq!(value["bytes"][chosen], value["choice"]["bytes"]);
}

#[test]
fn plots_are_files() {
    let place = with_matrix();
    place.call(&["info", "a.mtx", "--plot", "a.svg"]).answer();
    let svg = place.read("a.svg");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert!(svg.contains("M0 0h1v1h-1z") && svg.contains("<title>a.mtx: f64[3, 4]"));
    place.call(&["info", "a.mtx", "--plot", "a.PNG"]).answer();
    let png = std::fs::read(place.path().join("a.PNG")).expect("a picture");
    assert!(png.starts_with(b"\x89PNG"));
    place
        .call(&["info", "a.mtx", "--plot", "a.gif"])
        .refused(2, &["error[E0004]", "`.svg` or `.png`"]);
    place
        .call(&["info", "a.mtx", "--plot", "no/a.png"])
        .refused(1, &["error[E0427]", "no folder"]);
    assert_eq!(place.files(), ["a.PNG", "a.mtx", "a.svg"]);
}

#[test]
fn convert_keeps_every_entry() {
    let place = with_matrix();
    for file in ["b.tns", "c.npz", "d.mtx.gz", "e.bsp.h5", "f.mtx"] {
        let from = if file == "b.tns" { "a.mtx" } else { "b.tns" };
        // `.tns` states no extents, but the entry in the last row and column does.
        assert_eq!(place.call(&["convert", from, file]).answer(), "");
        let back = place.call(&["convert", file, "back.tns"]).answer();
        assert_eq!(back, "");
        assert_eq!(
            place.read("back.tns"),
            "1 1 2.0\n1 4 1.0\n3 2 3.0\n3 3 -1.0\n",
            "{file}"
        );
    }
}

#[test]
fn extents_cost_nothing() {
    let place = Place::new();
    let huge =
        "%%MatrixMarket matrix coordinate real general\n1000000000000 2000000000000 1\n5 7 2\n";
    place.write("huge.mtx", huge);
    let answer = place.call(&["info", "huge.mtx"]).answer();
    for line in ["csr        4.0 TB", "suits      scoo", "999999999999 empty"] {
        assert!(answer.contains(line), "`{line}` is not in\n{answer}");
    }
    let note = "`huge.tns` states no extents";
    place.call(&["convert", "huge.mtx", "huge.tns"]).noted(note);
    assert_eq!(place.read("huge.tns"), "5 7 2.0\n");
}

#[test]
fn convert_states_extents_where_asked() {
    let place = Place::new();
    place.write("wide.mtx", &MATRIX.replace("3 4 4", "9 8 4"));
    let extents = || {
        let answer = place.call(&["info", "wide.tns", "--json"]).answer();
        let value: Value = serde_json::from_str(&answer).expect("JSON");
        value["extents"].clone()
    };
    let convert = ["convert", "wide.mtx", "wide.tns", "--extents"];
    place.call(&convert[..3]).noted("`--extents` states them");
    assert_eq!(extents(), serde_json::json!([3, 4]));
    place.call(&convert).answer();
    assert_eq!(extents(), serde_json::json!([9, 8]));
}

#[test]
fn convert_changes_types_only_without_loss() {
    let place = with_matrix();
    let narrow = ["convert", "a.mtx", "b.mtx", "-t", "i8", "--json"];
    let value: Value = serde_json::from_str(&place.call(&narrow).answer()).expect("JSON");
    assert_eq!(value["element"], "i8");
    assert!(place.read("b.mtx").contains("integer"));
    place.write("half.mtx", &MATRIX.replace("3 2 3", "3 2 0.1"));
    place
        .call(&["convert", "half.mtx", "c.mtx", "-t", "i8"])
        .refused(1, &["half.mtx:5:5"]);
    place
        .call(&["convert", "half.mtx", "c.mtx", "-t", "int8"])
        .refused(
            2,
            &[
                "error[E0004]",
                "there is no type `int8`",
                "did you mean `i8`?",
            ],
        );
    assert!(!place.files().contains(&"c.mtx".to_owned()));
}

#[test]
fn convert_expands_or_keeps_structure() {
    let place = Place::new();
    place.write("s.mtx", SYMMETRIC);
    place.call(&["convert", "s.mtx", "all.mtx"]).answer();
    assert!(place.read("all.mtx").contains("real general\n3 3 5\n"));
    let keep = ["convert", "s.mtx", "half.mtx", "--structure", "keep"];
    place.call(&keep).answer();
    assert!(place.read("half.mtx").contains("real symmetric\n3 3 4\n"));
    place
        .call(&["convert", "s.mtx", "x.mtx", "--structure", "kepe"])
        .refused(2, &["error[E0004]", "did you mean `keep`?"]);
}

#[test]
fn files_are_checked_before_they_are_read() {
    let place = with_matrix();
    std::fs::create_dir(place.path().join("d.mtx")).expect("a folder");
    place.write("empty.mtx", "");
    let check = |words: &[&str], code, texts: &[&str]| place.call(words).refused(code, texts);
    check(&["info", "none.mtx"], 1, &["error[E0420]", "named here"]);
    check(&["info", "d.mtx"], 1, &["error[E0420]", "directory"]);
    check(&["info", "empty.mtx"], 1, &["empty.mtx"]);
    check(
        &["info", "a.mtxx"],
        2,
        &["error[E0421]", "did you mean `.mtx`?"],
    );
    check(
        &["convert", "a.mtx"],
        2,
        &["error[E0001]", "OUT (the file to write)"],
    );
    check(&["convert", "a.mtx", "a.mt"], 2, &["error[E0421]"]);
    check(&["convert", "a.mtx", "./a.mtx"], 2, &["error[E0009]"]);
    check(&["convert", "a.mtx", "no/b.mtx"], 1, &["error[E0427]"]);
    check(
        &["convert", "a.mtx", "d.mtx"],
        1,
        &["error[E0427]", "directory"],
    );
    check(&["completions", "bsh"], 2, &["did you mean `bash`?"]);
    assert_eq!(place.read("a.mtx"), MATRIX);
}

#[test]
fn completions_and_the_manual_page_print() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = place.call(&["completions", shell]).answer();
        assert!(text.contains("sparsec"), "{shell}");
    }
    let page = place.call(&["man"]).answer();
    assert!(page.contains(".TH sparsec 1"), "{page}");
    let value: Value =
        serde_json::from_str(&place.call(&["man", "--json"]).answer()).expect("JSON");
    assert_eq!(value["man"], page);
}

/// A result is text behind what was there, and what is printed follows it.
#[test]
fn results_are_written_to_the_standard_output() {
    let place = Place::new();
    place.write("log", "before\n");
    let log = std::fs::OpenOptions::new()
        .append(true)
        .open(place.path().join("log"));
    let words = ["run", "y(i) = 2 * x(i)", "-g", "x=dense:iota", "-d", "i=3"];
    let more = ["-o", "y=/dev/stdout", "--check", "--backend", "interp"];
    let status = place
        .command(&[&words[..], &more].concat())
        .stdout(log.expect("a file"))
        .status();
    assert!(status.expect("the program").success());
    let written = std::fs::read_to_string(place.path().join("log"));
    assert_eq!(
        written.expect("text"),
        "before\n1 0.0\n2 2.0\n3 4.0\nthe reference evaluator agrees\n"
    );
}

/// A pipe without bytes comes from a command that failed, most often.
#[test]
fn empty_input_is_called_empty() {
    let done = Place::new().shell("\"$0\" info - < /dev/null");
    done.refused(
        1,
        &["error[E0422]: `/dev/stdin` is empty", "whether that failed"],
    );
}

#[test]
fn programs_of_mlir_come_from_standard_input() {
    let place = Place::new();
    place.write("a.mlir", "func.func @main() {\n  return\n}\n");
    let answer = place.shell("\"$0\" mlir - < a.mlir").answer();
    assert!(answer.contains("func.func @main()"), "{answer}");
    let done = place.call(&["mlir", "a.mtx"]);
    done.refused(
        2,
        &[
            "`a.mtx` is a file of a tensor, and no program",
            "TENSOR0=a.mtx",
        ],
    );
    let done = place.call(&["mlir", "a.mlir", "--threads", "2"]);
    done.refused(2, &["error[E0001]: `--run <FUNCTION>` is missing"]);
}

/// The sum without its factor is infinite, and with it 5e200.
#[test]
fn strict_programs_of_mlir_keep_factors_in_sums() {
    let place = Place::new();
    let maps = "affine_map<(i, k) -> (i)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>";
    let text = format!(
        "#SV = #sparse_tensor.encoding<{{ map = (i) -> (i : compressed) }}>
func.func @main() {{
  %s = arith.constant sparse<[[0]], [1.0e-200]> : tensor<1xf64>
  %u = arith.constant dense<[1.0e200, 2.0e200]> : tensor<2xf64>
  %S = sparse_tensor.convert %s : tensor<1xf64> to tensor<1xf64, #SV>
  %o = tensor.empty() : tensor<1xf64, #SV>
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [\"parallel\", \"reduction\"]}}
      ins(%S, %u : tensor<1xf64, #SV>, tensor<2xf64>) outs(%o : tensor<1xf64, #SV>) {{
  ^bb0(%a: f64, %b: f64, %x: f64):
    %0 = arith.mulf %a, %b : f64
    %1 = arith.mulf %0, %b : f64
    %2 = arith.addf %x, %1 : f64
    linalg.yield %2 : f64
  }} -> tensor<1xf64, #SV>
  sparse_tensor.print %r : tensor<1xf64, #SV>
  return
}}
"
    );
    place.write("a.mlir", &text);
    let run = |words: &[&str]| {
        let call = [&["mlir", "a.mlir", "--run", "main"], words].concat();
        place.call(&call).answer()
    };
    assert!(run(&[]).contains("( inf )") && run(&["--strict"]).contains("( 5e+200 )"));
}

/// Matrix Market text is known by its first line, from pipes and from redirected files.
#[test]
fn what_standard_input_holds_says_its_type() {
    let place = Place::new();
    let matrix = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 3.0\n2 2 4.0\n";
    place.write("a.mtx", matrix);
    place.write("a.tns", "1 1 3.0\n2 2 4.0\n");
    let run = "\"$0\" run 'y(i) = A(i,j) * x(j)' -f A=csr -i A=/dev/stdin -g x=dense:ones";
    let info = "\"$0\" info /dev/stdin";
    for (command, shown) in [
        (format!("cat a.mtx | {run}"), "y: f64[2], dense, 2 stored"),
        (format!("{run} < a.mtx"), "y: f64[2], dense, 2 stored"),
        (format!("cat a.tns | {run}"), "y: f64[2], dense, 2 stored"),
        (format!("cat a.mtx | {info}"), "Matrix Market"),
    ] {
        let answer = place.shell(&command).answer();
        assert!(answer.contains(shown), "{command}: {answer}");
    }
}

#[test]
fn conversions_keep_the_fill() {
    let place = Place::new();
    place.write("a.tns", "1 1 2\n1 3 3\n2 2 5\n");
    place
        .call(&["convert", "a.tns", "a.npz", "--to", "csr"])
        .answer();
    for file in ["a.tns", "a.npz"] {
        let done = place.call(&["convert", file, "b.npz", "--to", "csr, fill 1"]);
        done.refused(
            1,
            &["error[E0218]: the format declares fill 1, but the tensor has fill 0.0"],
        );
    }
    // A list is read with the fill that its format declares.
    let filled = [
        "convert",
        "a.tns",
        "b.npz",
        "--from",
        "csr, fill 1",
        "--to",
        "csc",
    ];
    place.call(&filled).answer();
    let sum = place.call(&["run", "s = sum{i,j}(A(i,j))", "-i", "A=b.npz"]);
    assert_eq!(sum.answer(), "s = 13.0\n");
    place
        .call(&["convert", "b.npz", "c.npz", "--to", "dcsr, fill 1"])
        .answer();
}
