//! What code is made of: vectors along rows and nowhere else, and no calls
//! where the processor has an instruction.

use sparsec_base::{Source, code};
use sparsec_codegen_cranelift::{assembly, compile, text};
use sparsec_loop::{Function, verify};

/// A kernel over dense vectors `y` and `x` with this body.
fn kernel(body: &str) -> Function {
    let text = format!(
        "fn kernel(
          out y \"(i) -> (i : dense)\" {{ extent y.n0, write y.vals: f64 }},
          in x \"(i) -> (i : dense)\" {{ extent x.n0, read x.vals: f64 }}) {{ {body} }}"
    );
    let function = Function::parse(&Source::new("kernel", text)).unwrap_or_else(|e| panic!("{e}"));
    verify(&function).unwrap_or_else(|error| panic!("{error}"));
    function
}

fn ir(body: &str) -> String {
    text(&kernel(body)).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn rows_become_vectors_where_no_entry_can_tell() {
    for along in [
        "for i in 0..y.n0 { y.vals[i] = 2.0 * x.vals[i] }",
        "for i in 0..y.n0 { y.vals[i] += x.vals[3 * y.n0 + i] }",
        "for i in 0..y.n0 { y.vals[i] = y.vals[i] / x.vals[7] }",
    ] {
        assert!(ir(along).contains("f64x2"), "{along}");
    }
    for apart in [
        // The entry before is stored by the turn before.
        "for i in 1..y.n0 { y.vals[i] = y.vals[i - 1] + x.vals[i] }",
        "for i in 0..y.n0 { y.vals[1 + i] = y.vals[0 + i] }",
        // What every turn reads is stored by one of them.
        "for i in 0..y.n0 { y.vals[i] = x.vals[i] + y.vals[0] }",
        "for i in 0..y.n0 { y.vals[2 * i] = x.vals[i] }",
        // Sums keep their order.
        "var t: f64 = 0.0
         for i in 0..y.n0 { t += x.vals[i] }
         for j in 0..y.n0 { y.vals[2 * j] = t }",
    ] {
        assert!(!ir(apart).contains("f64x2"), "{apart}");
    }
}

/// Sums in lanes of the products along two rows, `next` after each index.
fn lanes(next: &str) -> String {
    let declared: String = (0..8)
        .map(|n| format!("var t{n}: f64 = x.vals[{n}]\n"))
        .collect();
    let turn: String = (0..8)
        .map(|n| {
            let k = match n {
                0 => format!("k{next}"),
                _ => format!("(k{next} + {n})"),
            };
            format!("t{n} += x.vals[3 * y.n0 + {k}] * x.vals[{k}]\n")
        })
        .collect();
    let stored: String = (0..8)
        .map(|n| format!("y.vals[{}] = t{n}\n", 2 * n))
        .collect();
    format!("{declared} for b in 0..y.n0 {{ let k: i64 = b * 8 {turn} }} {stored}")
}

#[test]
fn lanes_of_sums_along_rows_become_vectors() {
    let text = ir(&lanes(""));
    assert_eq!(text.matches("fadd").count(), 4, "{text}");
    assert!(text.contains("f64x2"), "{text}");
    // Every second entry is no row.
    let apart = ir(&lanes(" * 2"));
    assert!(!apart.contains("f64x2"), "{apart}");
}

#[test]
fn cases_ask_for_what_they_changed() {
    let text = ir("var p: i64 = 0
         var q: i64 = 0
         while p < y.n0 and q < x.n0 {
           if x.vals[p] == x.vals[q] { p += 1 q += 1 }
           else if x.vals[p] < x.vals[q] { p += 1 }
           else { q += 1 }
         }");
    // Two before the first turn, two where both positions moved, and one where one did.
    assert_eq!(text.matches(" slt ").count(), 6, "{text}");
    // Where a case changes nothing, all of it.
    let text = ir("var p: i64 = 0
         while p < y.n0 and p < x.n0 { if x.vals[p] > 0.0 { p += 1 } else { } }");
    assert_eq!(text.matches(" slt ").count(), 6, "{text}");
}

#[test]
fn what_is_lazy_is_behind_a_jump() {
    let guarded = "for i in 0..y.n0 {
        if i < x.n0 and x.vals[i] > 0.0 { y.vals[i] = 1.0 } else { y.vals[i] = 0.0 }
      }";
    let plain = "for i in 0..y.n0 {
        if i < x.n0 and i > 3 { y.vals[i] = 1.0 } else { y.vals[i] = 0.0 }
      }";
    let jumps = |body: &str| ir(body).matches("brif").count();
    assert_eq!(jumps(guarded), jumps(plain) + 1);
}

#[test]
fn the_processor_rounds_and_takes_roots() {
    let own = "for i in 0..y.n0 { y.vals[i] = sqrt(floor(rint(trunc(ceil(x.vals[i]))))) }";
    assert!(!ir(own).contains("call_indirect"));
    let library = "for i in 0..y.n0 { y.vals[i] = exp(x.vals[i]) }";
    assert!(ir(library).contains("call_indirect"));
}

#[test]
fn code_has_a_text_form() {
    let function = kernel("for i in 0..y.n0 { y.vals[i] = x.vals[i] }");
    let text = assembly(&function).unwrap_or_else(|error| panic!("{error}"));
    assert!(text.contains("ret"), "{text}");
    let code = compile(&function).unwrap_or_else(|error| panic!("{error}"));
    assert!(code.size() > 16);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn sums_read_memory_as_they_multiply() {
    let of = |unroll: &str| {
        let body = format!(
            "for i in 0..y.n0 {{
               var t: f64 = 0.0
               for j in 0..x.n0{unroll} {{ t += x.vals[j] * x.vals[3 * j] }}
               y.vals[i] = t
             }}"
        );
        assembly(&kernel(&body)).unwrap_or_else(|error| panic!("{error}"))
    };
    for (unroll, turns) in [("", 1), (" unroll 4", 5)] {
        let code = of(unroll);
        let products = code.lines().filter(|line| line.contains("mulsd"));
        let from_memory = products.filter(|line| line.contains("(%"));
        assert_eq!(from_memory.count(), turns, "{code}");
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn rows_are_fetched_early_and_single_entries_are_not() {
    let fetches = |bounds: &str| {
        let body = format!("for i in 0..y.n0 {{ prefetch x.vals[{bounds}] y.vals[2 * i] = 1.0 }}");
        ir(&body).contains("preserve_all")
    };
    assert!(fetches("4 * i..4 * i + 4"));
    assert!(!fetches("i + 8..i + 9"));
}

/// The IR of [`walking`].
fn walks(n: usize) -> String {
    text_of(&walking(n, 0))
}

/// A kernel that walks this many rows, each in a loop of its own in a loop over all,
/// and leaves `idle` further arrays alone.
fn walking(n: usize, idle: usize) -> Function {
    let numbers = || 0..n;
    let arguments = (0..n + idle).map(|it| {
        format!(", in x{it} \"(i) -> (i : dense)\" {{ extent n{it}, read x{it}.vals: f64 }}")
    });
    let loops =
        numbers().map(|it| format!("for j_{it} in 0..n{it} {{ t += x{it}.vals[2 * j_{it}] }} "));
    let text = format!(
        "fn kernel(out y \"(i) -> (i : dense)\" {{ extent m, write y.vals: f64 }}{}) {{
           for i in 0..m {{ var t: f64 = 0.0 {} y.vals[i] = t }}
         }}",
        arguments.collect::<String>(),
        loops.collect::<String>(),
    );
    let function = Function::parse(&Source::new("kernel", text)).unwrap_or_else(|e| panic!("{e}"));
    verify(&function).unwrap_or_else(|error| panic!("{error}"));
    function
}

/// A frame has a word for each array: one of a few hundred arrays is larger than a page,
/// and touches each of its pages before it uses any.
#[test]
#[cfg(target_arch = "x86_64")]
fn large_frames_meet_the_guard_page() {
    let probes = |idle: usize| {
        let code = assembly(&walking(40, idle)).unwrap_or_else(|error| panic!("{error}"));
        code.matches("movl $0x0, (%rsp)").count()
    };
    assert_eq!(probes(0), 0);
    assert_eq!(probes(600), 1);
    assert_eq!(probes(1600), 3);
}

#[test]
fn frames_that_no_stack_may_hold_are_refused() {
    let error = compile(&walking(40, 9000)).expect_err("refused");
    assert_eq!(error.code(), code::NO_MACHINE_CODE);
    assert!(error.render(false).contains("bytes of stack"), "{error}");
    assert!(compile(&walking(40, 2000)).is_ok());
}

/// The address and the capacity of a growing result change while the kernel runs: the
/// back end must not move or merge their loads as loads of constants.
#[test]
fn addresses_of_growing_arrays_are_not_read_only() {
    let text = "
        fn kernel(
          out C \"(i) -> (i : compressed)\" {
            extent C.n0, write C.pos: i64, grow C.crd: i64 as i32, grow C.vals: f64 },
          in x \"(i) -> (i : dense)\" { extent x.n0, read x.vals: f64 }) {
          var p: i64 = 0
          C.pos[0] = 0
          for i in 0..x.n0 {
            grow C.crd, p + 1
            grow C.vals, p + 1
            C.crd[p] = i
            C.vals[p] = x.vals[i]
            p += 1
          }
          C.pos[1] = p
          resize C.crd, p
          resize C.vals, p
        }";
    let function = Function::parse(&Source::new("kernel", text)).unwrap_or_else(|e| panic!("{e}"));
    verify(&function).unwrap_or_else(|error| panic!("{error}"));
    let text = text_of(&function);
    let of_arguments = |line: &&str| line.contains("readonly") && !line.contains(" v0+");
    let readonly = text.lines().filter(of_arguments).count();
    // Two tensors, their extents, an extent of each, their arrays, and where the entries
    // of `C.pos` and `x.vals` are.
    assert_eq!(readonly, 5 * 2, "{text}");
}

fn text_of(function: &Function) -> String {
    text(function).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn addresses_that_registers_cannot_hold_are_read_near_their_loops() {
    assert!(!walks(2).contains("stack_addr"));
    // Each is kept once, and read by the loop that uses it; one more keeps loads apart.
    assert_eq!(walks(40).matches("stack_addr").count(), 41 + 41 + 1);
}

#[test]
fn loops_are_written_out_as_often_as_asked() {
    let sum = |mark: &str| {
        ir(&format!(
            "var t: f64 = 0.0
             for i in 0..x.n0 {mark} {{ t += x.vals[i] }}
             y.vals[0] = t"
        ))
    };
    let n_adds = |mark: &str| sum(mark).matches("fadd").count();
    // Four in a turn, and one where fewer are left.
    assert_eq!((n_adds(""), n_adds("unroll 4")), (1, 5));
    assert!(sum("unroll 4").contains("+24"), "offsets of entries");
}

#[test]
fn tiles_are_variables() {
    let product = |last: &str| {
        ir(&format!(
            "alloc w: f64[5]
             for p in 0..x.n0 {{
               for k in 0..5 {{ w[k] += x.vals[p] * x.vals[p * 5 + k] }}
             }}
             for k_2 in 0..5 {{ y.vals[k_2] = w[k_2] }}
             {last}"
        ))
    };
    // Memory for workspaces is asked for by a call.
    assert!(!product("").contains("call_indirect"));
    assert!(product("").contains("f64x2"));
    // An entry that is used alone, or in a loop over others, is in memory.
    assert!(product("y.vals[7] = w[0]").contains("call_indirect"));
    let shifted = "for k_3 in 0..5 { y.vals[k_3] = w[0 + k_3] }";
    assert!(product(shifted).contains("call_indirect"));
    let fewer = "for k_3 in 0..4 { y.vals[k_3] = w[k_3] }";
    assert!(product(fewer).contains("call_indirect"));
}

/// Sums in lanes would not fit into registers if all entries were loaded first.
#[test]
fn loads_stand_where_they_are_needed() {
    let text = |index: &str| {
        ir(&format!(
            "for i in 0..x.n0 {{
               let j: i64 = {index}
               y.vals[0] = x.vals[j]
             }}"
        ))
    };
    let moves = |index: &str| text(index).matches("can_move").count();
    assert_eq!(moves("i"), 1);
    assert_eq!(moves("i * 8 + 3"), 1);
    // A loop may have no iteration, and the array no such entry.
    assert_eq!(moves("i * 0"), 0);
    assert_eq!(moves("3"), 0);
    // What is stored to stays in order.
    let stored = ir("for i in 0..x.n0 { y.vals[i] = y.vals[i] + 1.0 }");
    assert_eq!(stored.matches("can_move").count(), 0);
}

#[test]
fn what_is_equal_is_not_kept_for_behind_the_loops_inside() {
    let merge = |element: &str, zero: &str| {
        ir(&format!(
            "var p: i64 = 0
             while p < x.n0 {{
               let a: {element} = {zero}
               let b: {element} = {zero}
               if a == b {{ for i in 0..p {{ y.vals[i] = 1.0 }} }}
               p += i64(a <= b)
             }}"
        ))
    };
    // Behind the loop once more, where it is known.
    assert_eq!(merge("i64", "p * p").matches(" sle ").count(), 2);
    // Zeros of either sign are equal.
    assert_eq!(merge("f64", "x.vals[p]").matches(" le ").count(), 1);
}

#[test]
fn cases_ask_for_nothing_twice() {
    let merge = ir("for i in 0..x.n0 {
           let j: i64 = i % 5
           let a: i64 = i % 3
           let b: i64 = i % 4
           if a == j and b == j { y.vals[i] = 3.0 }
           else if a == j { y.vals[i] = 1.0 }
           else if b == j { y.vals[i] = 2.0 }
         }");
    // `a == j` once, `b == j` where it holds and where it does not.
    assert_eq!(merge.matches(" eq ").count(), 3, "{merge}");
}

#[test]
fn segments_that_follow_one_another_load_one_position_each() {
    let rows = |before: &str, lo: &str, hi: &str| {
        let text = format!(
            "fn kernel(
              out y \"(i) -> (i : dense)\" {{ extent m, write y.vals: f64 }},
              in a \"(i, j) -> (i : dense, j : compressed)\" {{
                extent n0, extent n1, read a.pos: i64 as i32, read a.crd: i64 as i32,
                read a.vals: f64 }}) {{
              for i in 0..m {{
                {before}
                for p in a.pos[{lo}]..a.pos[{hi}] {{ y.vals[i] += a.vals[p] }}
              }}
            }}"
        );
        let function = Function::parse(&Source::new("kernel", text));
        text_of(&function.unwrap_or_else(|error| panic!("{error}")))
    };
    // How many positions the block loads that begins an iteration.
    let loads = |before: &str, lo: &str, hi: &str| {
        let text = rows(before, lo, hi);
        let blocks = text.split("\nblock");
        let loads = blocks.map(|block| block.matches("sload32").count());
        loads.max().unwrap_or(0)
    };
    assert_eq!(loads("", "i", "i + 1"), 1);
    assert_eq!(loads("y.vals[i] = 0.0", "i", "i + 1"), 1);
    assert_eq!(loads("", "i", "i + 2"), 2);
    assert_eq!(loads("", "2 * i", "2 * i + 1"), 2);
    // The last row may be one that nobody reads.
    assert_eq!(
        loads("if i == 7 { fail division_by_zero }", "i", "i + 1"),
        2
    );
}
