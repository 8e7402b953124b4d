//! The regions of `sparse_tensor`: user-defined operators and loops.
//!
//! ```text
//! binary    overlap (x, y)    left (x)    right (y)      each yields the output
//! unary     present (x)       absent ()
//! reduce    (x, y)            select (x), yields i1
//! foreach   (coordinates of all modes, value, carried values)
//! iterate   (iterator, used coordinates, carried values)
//! ```

use sparsec_base::{Result, code};

use crate::attribute::Attribute;
use crate::module::{Operation, Origin, Region};
use crate::parse::counted;
use crate::types::Type;

use super::Check;

/// The most spaces that one loop goes through: a set of 64 bits marks those in use.
const MOST_SPACES: usize = 64;

impl Check<'_> {
    /// Checks the regions of an operation.
    pub(super) fn bodies(&self, op: Operation<'_>, word: &str) -> Result<()> {
        let region = |n: usize| op.data().regions[n];
        match word {
            "binary" => self.binary(op),
            "unary" => {
                let (x, output) = (
                    op.operand_type("x").clone(),
                    op.result_type("output").clone(),
                );
                self.body(op, region(0), &[x], &output, "`present`")?;
                self.body(op, region(1), &[], &output, "`absent`")?;
                self.absent(op, region(1))
            }
            "reduce" => {
                let x = op.operand_type("x").clone();
                self.body(op, region(0), &[x.clone(), x.clone()], &x, "the region")
            }
            "select" => {
                let x = op.operand_type("x").clone();
                self.body(op, region(0), &[x], &Type::BOOL, "the region")
            }
            "foreach" => self.foreach(op),
            "iterate" => self.iterate(op),
            _ => self.coiterate(op),
        }
    }

    fn body(
        &self,
        op: Operation<'_>,
        region: Region,
        takes: &[Type],
        yields: &Type,
        what: &str,
    ) -> Result<()> {
        self.arguments_are(op, region, takes, what)?;
        self.yields_are(op, region, std::slice::from_ref(yields), what)
    }

    fn binary(&self, op: Operation<'_>) -> Result<()> {
        let (x, y) = (op.operand_type("x").clone(), op.operand_type("y").clone());
        let output = op.result_type("output").clone();
        let region = |n: usize| op.data().regions[n];
        self.body(op, region(0), &[x.clone(), y.clone()], &output, "`overlap`")?;
        let sides = [
            ("left_identity", 1, &x, "`left`"),
            ("right_identity", 2, &y, "`right`"),
        ];
        for (identity, n, ty, what) in sides {
            self.body(op, region(n), std::slice::from_ref(ty), &output, what)?;
            if op.attribute(identity).is_none() {
                continue;
            }
            if self.module.region(region(n)).block.is_some() {
                let message = format!("{what} is the identity and has a region");
                return Err(self
                    .of_op(op, code::BAD_REGION, message)
                    .help("leave one of them out"));
            }
            if *ty != output {
                let message = format!(
                    "{what} is the identity of `{}`, and the output `{}`",
                    self.text(ty),
                    self.text(&output)
                );
                return Err(self
                    .of_op(op, code::TYPES_DIFFER, message)
                    .help("write a region that converts the value"));
            }
        }
        Ok(())
    }

    /// `absent` yields a value that is the same for all places: not an argument of the body around
    /// it, which exists only for stored entries. From release 18 on, it is no computed value but a constant.
    fn absent(&self, op: Operation<'_>, region: Region) -> Result<()> {
        let Some(block) = self.module.region(region).block else {
            return Ok(());
        };
        let Some(last) = self.module.block(block).ops.last() else {
            return Ok(());
        };
        let last = self.module.op(*last).data();
        let Some(given) = last.operands.first() else {
            return Ok(());
        };
        let outer = op.data().block;
        let (message, label, help) = match self.module.value(*given).origin {
            Origin::Argument(block, _) if Some(block) == outer && !self.is_before(18) => (
                "`absent` gives an entry of an operand, which is not there",
                "an entry of an operand",
                "give a constant or a value from outside",
            ),
            Origin::Result(by, _) => {
                let by = self.module.op(by);
                let is_inside = by.data().block == Some(block) || by.data().block == outer;
                let is_constant = by.meaning() == "arith.constant";
                if !is_inside || is_constant || !self.is_since(18) {
                    return Ok(());
                }
                (
                    "`absent` gives a value that the body computes",
                    "computed in the body",
                    "give a constant, compute it before the operation, or read the text as `--dialect sparsec`",
                )
            }
            Origin::Argument(..) => return Ok(()),
        };
        Err(self
            .fault(code::BAD_REGION, message, last.operand_spans[0], label)
            .help(help))
    }

    fn foreach(&self, op: Operation<'_>) -> Result<()> {
        let ty = op.operand_type("tensor");
        let Some(shape) = ty.shape() else {
            return Err(self
                .of_op(
                    op,
                    code::OPERAND_TYPE,
                    "a loop over a tensor of unknown order",
                )
                .help("cast it to a known order first"));
        };
        let carried = op.operand_types("initArgs");
        self.same_results(op, &carried)?;
        let mut arguments = vec![Type::Index; shape.len()];
        arguments.push(ty.element().clone());
        arguments.extend(carried.iter().cloned());
        if op.attribute("order").is_some() && self.is_before(17) {
            return Err(self
                .of_op(
                    op,
                    code::BAD_ATTRIBUTE,
                    "a loop of release 16 with an order",
                )
                .help("leave `order` out: releases from 17 on have it"));
        }
        if let Some(Attribute::Map(order)) = op.attribute("order")
            && order.permutation().is_none_or(|order| {
                order.len() != ty.encoding().map_or(shape.len(), |it| it.n_levels())
            })
        {
            return Err(self
                .of_op(
                    op,
                    code::BAD_ATTRIBUTE,
                    "an order of modes that is no permutation of them",
                )
                .help("write each mode once: `affine_map<(i, j) -> (j, i)>`"));
        }
        let region = op.data().regions[0];
        self.arguments_are(op, region, &arguments, "the body")?;
        self.yields_are(op, region, &carried, "the body")
    }

    fn iterate(&self, op: Operation<'_>) -> Result<()> {
        let Type::Space(space) = op.operand_type("iterSpace") else {
            return Ok(());
        };
        self.uses_levels(op, op.operand_type("iterSpace"))?;
        let carried = op.operand_types("initArgs");
        self.same_results(op, &carried)?;
        let mut arguments = vec![Type::Iterator(space.clone())];
        arguments.extend(vec![Type::Index; self.used(op)]);
        arguments.extend(carried.iter().cloned());
        let region = op.data().regions[0];
        self.arguments_are(op, region, &arguments, "the body")?;
        self.yields_are(op, region, &carried, "the body")
    }

    /// Checks that a loop uses coordinates of levels that its space has.
    fn uses_levels(&self, op: Operation<'_>, space: &Type) -> Result<()> {
        let Type::Space(space) = space else {
            return Ok(());
        };
        let bits = match op.attribute("crdUsedLvls") {
            Some(Attribute::Integer(bits, _)) => *bits as u64,
            _ => 0,
        };
        let n_levels = space.to.saturating_sub(space.from);
        let n_used = u64::from(64 - bits.leading_zeros());
        if n_used <= n_levels {
            return Ok(());
        }
        let message = format!(
            "the coordinate of level {} of {}",
            n_used - 1,
            counted(n_levels as usize, "level")
        );
        Err(self
            .of_op(op, code::LEVEL_OUT_OF_RANGE, message)
            .help("name one coordinate for each level of the space"))
    }

    /// The number of coordinates that a loop uses.
    fn used(&self, op: Operation<'_>) -> usize {
        match op.attribute("crdUsedLvls") {
            Some(Attribute::Integer(bits, _)) => (*bits as u64).count_ones() as usize,
            _ => 0,
        }
    }

    fn coiterate(&self, op: Operation<'_>) -> Result<()> {
        let carried = op.operand_types("initArgs");
        self.same_results(op, &carried)?;
        let spaces = op.operand_types("iterSpaces");
        for space in &spaces {
            self.uses_levels(op, space)?;
        }
        let cases = op
            .attribute("cases")
            .and_then(Attribute::integers)
            .unwrap_or_default();
        let regions = &op.data().regions;
        if cases.len() != regions.len() || regions.is_empty() {
            let message = format!("{} cases and {} regions", cases.len(), regions.len());
            return Err(self
                .of_op(op, code::BAD_REGION, message)
                .help("write `case %it1, %it2 { … }` once or more"));
        }
        if spaces.len() > MOST_SPACES {
            let message = format!("{} spaces", spaces.len());
            let help = format!("go through at most {MOST_SPACES} spaces at once");
            return Err(self.of_op(op, code::BAD_REGION, message).help(help));
        }
        for (n, case) in cases.iter().enumerate() {
            if *case < 0 || case >> spaces.len() != 0 {
                let message = format!("the case {case} of {} spaces", spaces.len());
                return Err(self
                    .of_op(op, code::BAD_REGION, message)
                    .help("write a bit for each iterator that the case has"));
            }
            if cases[..n].contains(case) {
                return Err(self
                    .of_op(op, code::BAD_REGION, "two cases of the same iterators")
                    .help("write each case once"));
            }
        }
        for (region, case) in regions.iter().zip(&cases) {
            let mut arguments = vec![Type::Index; self.used(op)];
            arguments.extend(carried.iter().cloned());
            for (n, space) in spaces.iter().enumerate() {
                if let Type::Space(space) = space
                    && case >> n & 1 == 1
                {
                    arguments.push(Type::Iterator(space.clone()));
                }
            }
            self.arguments_are(op, *region, &arguments, "a case")?;
            self.yields_are(op, *region, &carried, "a case")?;
        }
        Ok(())
    }
}
