//! An independent evaluator over coordinate maps.
