//! Sorting a part of an array: a stable merge sort over runs of sixteen, which insertion sorts.
//!
//! ```text
//! runs of 16      5 2 9 …  │ 7 1 …       sorted in place
//! merges          16 + 16, 32 + 32, …    to a second array and back
//! ```
//!
//! Time O(n log n), and memory for n entries if n is more than sixteen.

use crate::helper::Helper;
use crate::types::Type;
use crate::writer::{Value, Writer};

impl Writer<'_> {
    /// Writes the call that sorts the entries of `data` from `lo` up to but without `hi`.
    pub(crate) fn sort(&mut self, data: &Value, along: Option<&Value>, lo: &Value, hi: &Value) {
        let (Type::Array(element) | Type::Fixed(element, _)) = data.ty else {
            unreachable!("only arrays are sorted");
        };
        let helper = match along {
            None => Helper::Sort,
            Some(_) => Helper::SortPairs,
        };
        let name = self.helpers.helper(helper, element);
        let operands = [Some(data), along, Some(lo), Some(hi)];
        let operands: Vec<Value> = operands.into_iter().flatten().cloned().collect();
        let types: Vec<String> = operands.iter().map(|value| value.ty.to_string()).collect();
        self.line(&format!(
            "func.call @{name}({}) : ({}) -> ()",
            crate::function::names(&operands),
            types.join(", ")
        ));
    }
}

/// The function, with or without entries of a second array that move along.
pub(crate) fn text(has_along: bool) -> String {
    let lines = TEXT
        .lines()
        .filter_map(|line| match line.strip_prefix("ALONG") {
            Some(line) => has_along.then_some(line),
            None => Some(line),
        });
    let lines: Vec<&str> = lines.collect();
    let parameter = match has_along {
        true => "%along: memref<?xTYPE>, ",
        false => "",
    };
    lines.join("\n").replace("PARAMETER", parameter)
}

/// Lines that begin with `ALONG` are about the second array.
const TEXT: &str = "func.func private @NAME(%data: memref<?xTYPE>, PARAMETER%lo: index, %hi: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %false = arith.constant false
  scf.for %run = %lo to %hi step %c16 {
    %full = arith.addi %run, %c16 : index
    %end = arith.minsi %full, %hi : index
    %second = arith.addi %run, %c1 : index
    scf.for %i = %second to %end step %c1 {
      %key = memref.load %data[%i] : memref<?xTYPE>
ALONG      %other = memref.load %along[%i] : memref<?xTYPE>
      %place = scf.while (%p = %i) : (index) -> index {
        %is_inside = arith.cmpi sgt, %p, %run : index
        %moves = scf.if %is_inside -> (i1) {
          %q = arith.subi %p, %c1 : index
          %before = memref.load %data[%q] : memref<?xTYPE>
          %is_larger = arith.cmpi sgt, %before, %key : TYPE
          scf.yield %is_larger : i1
        } else {
          scf.yield %false : i1
        }
        scf.condition(%moves) %p : index
      } do {
      ^bb0(%p: index):
        %q = arith.subi %p, %c1 : index
        %before = memref.load %data[%q] : memref<?xTYPE>
        memref.store %before, %data[%p] : memref<?xTYPE>
ALONG        %before_along = memref.load %along[%q] : memref<?xTYPE>
ALONG        memref.store %before_along, %along[%p] : memref<?xTYPE>
        scf.yield %q : index
      }
      memref.store %key, %data[%place] : memref<?xTYPE>
ALONG      memref.store %other, %along[%place] : memref<?xTYPE>
    }
  }
  %n = arith.subi %hi, %lo : index
  %is_long = arith.cmpi sgt, %n, %c16 : index
  scf.if %is_long {
    %merged = memref.alloc(%n) : memref<?xTYPE>
ALONG    %merged_along = memref.alloc(%n) : memref<?xTYPE>
    %sorted = scf.while (%width = %c16) : (index) -> index {
      %goes_on = arith.cmpi slt, %width, %n : index
      scf.condition(%goes_on) %width : index
    } do {
    ^bb0(%width: index):
      %double = arith.addi %width, %width : index
      scf.for %left = %lo to %hi step %double {
        %left_full = arith.addi %left, %width : index
        %middle = arith.minsi %left_full, %hi : index
        %right_full = arith.addi %left, %double : index
        %end = arith.minsi %right_full, %hi : index
        %rest:2 = scf.for %to = %left to %end step %c1 iter_args(%p = %left, %q = %middle) -> (index, index) {
          %has_left = arith.cmpi slt, %p, %middle : index
          %has_right = arith.cmpi slt, %q, %end : index
          %takes_left = scf.if %has_left -> (i1) {
            %takes = scf.if %has_right -> (i1) {
              %a = memref.load %data[%p] : memref<?xTYPE>
              %b = memref.load %data[%q] : memref<?xTYPE>
              %is_first = arith.cmpi sle, %a, %b : TYPE
              scf.yield %is_first : i1
            } else {
              scf.yield %has_left : i1
            }
            scf.yield %takes : i1
          } else {
            scf.yield %false : i1
          }
          %from = arith.select %takes_left, %p, %q : index
          %value = memref.load %data[%from] : memref<?xTYPE>
          %at = arith.subi %to, %lo : index
          memref.store %value, %merged[%at] : memref<?xTYPE>
ALONG          %value_along = memref.load %along[%from] : memref<?xTYPE>
ALONG          memref.store %value_along, %merged_along[%at] : memref<?xTYPE>
          %p_next = arith.addi %p, %c1 : index
          %q_next = arith.addi %q, %c1 : index
          %p_new = arith.select %takes_left, %p_next, %p : index
          %q_new = arith.select %takes_left, %q, %q_next : index
          scf.yield %p_new, %q_new : index, index
        }
      }
      scf.for %at = %c0 to %n step %c1 {
        %to = arith.addi %lo, %at : index
        %value = memref.load %merged[%at] : memref<?xTYPE>
        memref.store %value, %data[%to] : memref<?xTYPE>
ALONG        %value_along = memref.load %merged_along[%at] : memref<?xTYPE>
ALONG        memref.store %value_along, %along[%to] : memref<?xTYPE>
      }
      scf.yield %double : index
    }
    memref.dealloc %merged : memref<?xTYPE>
ALONG    memref.dealloc %merged_along : memref<?xTYPE>
  }
  return
}";
