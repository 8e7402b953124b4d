//! Loops whose chunks the caller runs, on as many threads as it likes.
//!
//! ```text
//! static inline int32_t spmv_chunk(                       the body, as a function
//!     int64_t n, const double *restrict A_vals, …, int64_t i_chunk) { … }
//!
//! struct spmv_chunk_captured { int64_t n; const double *A_vals; … };
//!
//! static int32_t spmv_chunk_run(                          what the caller calls
//!     sparsec_context *context, const void *captured, void *own, int64_t chunk) {
//!   const struct spmv_chunk_captured *with = captured;
//!   return spmv_chunk(with->n, with->A_vals, …, chunk);
//! }
//!
//! struct spmv_chunk_captured captured = {n, A_vals, …};   in the place of the loop
//! int32_t status = context->chunks(context, spmv_chunk_run, &captured, 0, i_chunks);
//! if (status) return status;
//! ```
//!
//! The body takes what it uses as parameters, since compilers honour `restrict`
//! there. Results that chunks grow in their turn are handed as `sparsec_array`, since
//! they move. What each unit has of its own stands in one structure for the whole
//! kernel, so that one loop finds what another allocated.

use std::collections::HashSet;

use sparsec_loop::{Access, Block, Buffer, Captured, Expr, Failure, Function, Stmt, Var, captured};

use crate::function::{call, signature};
use crate::name::function_name;
use crate::precedence::Piece;
use crate::stmt::{WIDTH, Writer};
use crate::uses::Uses;

/// Something that a body takes from around it.
struct Handed {
    parameter: String,
    field: String,
    name: String,
}

/// The buffers that a chunk stores to when it has its turn.
fn stored_in_turn(body: &Block) -> HashSet<Buffer> {
    let mut stored = HashSet::new();
    let behind = body.iter().skip_while(|stmt| **stmt != Stmt::Turn);
    for stmt in behind {
        stmt.for_each(&mut |stmt| stored.extend(stmt.stored_buffers()));
    }
    stored
}

impl Writer<'_> {
    /// The structure with what each unit has of its own; empty if there is nothing.
    pub(crate) fn own_structure(&mut self) -> String {
        let function: &Function = self.function;
        let own = |buffer: &Buffer| {
            let is_own = function.buffers[*buffer].access == Access::Own;
            is_own && function.local_len(*buffer).is_none()
        };
        let buffers = function.buffers.iter().map(|(buffer, _)| buffer);
        let own: Vec<Buffer> = buffers.filter(own).collect();
        if own.is_empty() {
            return String::new();
        }
        let mut text = format!(
            "/* What each unit has of its own. */\n{} {{\n",
            self.own_type()
        );
        for buffer in own {
            let ty = self.c_type(self.function.buffers[buffer].storage);
            let name = self.buffer_name(buffer).to_owned();
            text.push_str(&format!("  {ty} *{name};\n"));
            if let Some(capacity) = self.capacity_of(buffer) {
                text.push_str(&format!("  int64_t {capacity};\n"));
            }
        }
        text + "};\n\n"
    }

    fn own_type(&self) -> String {
        format!("struct {}_own", function_name(&self.function.name))
    }

    /// `own w: f64[len]`: chunks allocate it, once for each unit.
    pub(crate) fn alloc_own(&mut self, buffer: Buffer, len: &Piece) {
        let name = self.len_name(buffer);
        self.line(&format!("int64_t {name} = {};", len.text));
    }

    fn len_name(&self, buffer: Buffer) -> String {
        self.buffer_names(buffer).len
    }

    /// `for var in 0..n chunks { body }`
    pub(crate) fn hand_out(&mut self, var: Var, n: &Expr, body: &Block) {
        let n = self.expr(n);
        let mut captured = captured(self.function, var, body);
        let is_local = |buffer: &Buffer| self.function.local_len(*buffer).is_some();
        let (locals, own): (Vec<Buffer>, Vec<Buffer>) =
            captured.own.into_iter().partition(is_local);
        captured.own = own;
        let own = &captured.own;
        let handed = self.handed(&captured, body);
        let number = match self.chunks.len() {
            0 => String::new(),
            before => format!("_{}", before + 1),
        };
        let name = format!("{}_chunk{number}", function_name(&self.function.name));
        let text = self.body_function(&name, &handed, (var, body), &captured, &locals);
        self.chunks.push(text);

        let structure = format!("struct {name}_captured");
        let with = self.names.fresh("captured");
        let given = if handed.is_empty() {
            "0".to_owned()
        } else {
            let values: Vec<&str> = handed.iter().map(|it| it.name.as_str()).collect();
            self.wrapped(&format!("{structure} {with} = {{"), &values, "};");
            format!("&{with}")
        };
        let size = match own.is_empty() {
            true => "0".to_owned(),
            false => format!("sizeof({})", self.own_type()),
        };
        let status = self.names.fresh("status");
        let run = format!("{name}_run");
        let arguments = ["context", &run, &given, &size, &n.text];
        let head = format!("int32_t {status} = context->chunks(");
        self.wrapped(&head, &arguments, ");");
        self.line(&format!("if ({status}) return {status};"));
        self.take_grown(&captured.grown, "");
    }

    /// `turn`
    pub(crate) fn turn(&mut self) {
        let status = self.names.fresh("status");
        self.line(&format!("int32_t {status} = context->turn(context);"));
        self.line(&format!("if ({status}) return {status};"));
        let grown = std::mem::take(&mut self.grown_in_turn);
        self.take_grown(&grown, "int64_t ");
    }

    /// Where results are that may have been grown, and how much room they have;
    /// variables are declared where that is what they begin with.
    fn take_grown(&mut self, grown: &[Buffer], declare: &str) {
        for group in self.growth.clone() {
            if !grown.contains(&group.buffers[0]) {
                continue;
            }
            for &buffer in &group.buffers {
                let ty = match declare.is_empty() {
                    true => String::new(),
                    false => format!("{} *", self.c_type(self.function.buffers[buffer].storage)),
                };
                let names = self.buffer_names(buffer);
                self.line(&format!("{ty}{} = {}->data;", names.data, names.array));
            }
            self.set_capacity(&group, declare);
        }
    }

    /// A list between two ends, on one line or on more.
    pub(crate) fn wrapped(&mut self, head: &str, list: &[&str], end: &str) {
        let line = format!("{head}{}{end}", list.join(", "));
        if line.len() <= WIDTH {
            return self.line(&line);
        }
        self.line(head);
        let mut line = String::new();
        for (number, item) in list.iter().enumerate() {
            if line.len() + item.len() > WIDTH - 8 {
                self.line(&format!("    {}", line.trim_end()));
                line.clear();
            }
            let comma = if number + 1 < list.len() { ", " } else { end };
            line.push_str(&format!("{item}{comma}"));
        }
        self.line(&format!("    {line}"));
    }

    /// How what a body takes is handed to it.
    fn handed(&mut self, captured: &Captured, body: &Block) -> Vec<Handed> {
        let function: &Function = self.function;
        let shared = stored_in_turn(body);
        let number = |name: String, ty: &str| Handed {
            parameter: format!("{ty} {name}"),
            field: format!("{ty} {name}"),
            name,
        };
        let mut handed = Vec::new();
        for &var in &captured.vars {
            let ty = self.c_type(function.vars[var].element);
            handed.push(number(self.var_name(var).to_owned(), ty));
        }
        for &buffer in &captured.own {
            handed.push(number(self.len_name(buffer), "int64_t"));
        }
        for &buffer in &captured.grown {
            let name = self.buffer_names(buffer).array;
            let declaration = format!("sparsec_array *{name}");
            handed.push(Handed {
                parameter: declaration.clone(),
                field: declaration,
                name,
            });
        }
        for &buffer in &captured.buffers {
            let data = &function.buffers[buffer];
            let ty = self.c_type(data.storage);
            let constant = match data.access {
                Access::Read => "const ",
                _ => "",
            };
            let name = self.buffer_name(buffer).to_owned();
            // Others change it while this chunk waits for its turn.
            let restrict = match shared.contains(&buffer) {
                true => "",
                false => "restrict ",
            };
            handed.push(Handed {
                parameter: format!("{constant}{ty} *{restrict}{name}"),
                field: format!("{constant}{ty} *{name}"),
                name,
            });
        }
        handed
    }

    /// The function of a chunk, and what the caller calls.
    fn body_function(
        &mut self,
        name: &str,
        handed: &[Handed],
        (var, body): (Var, &Block),
        captured: &Captured,
        locals: &[Buffer],
    ) -> String {
        let own = &captured.own;
        let calls = Uses::of(self.function, body).context;
        let rows = std::mem::take(&mut self.rows);
        self.grown_in_turn = captured.grown.clone();
        let text = self.apart(|w| {
            for &buffer in own {
                w.take_own(buffer);
            }
            for &buffer in locals {
                let len = w.function.local_len(buffer);
                w.local(buffer, len.expect("a local workspace has a length"));
            }
            w.block(body);
            w.line("return SPARSEC_OK;");
        });
        self.rows = rows;

        let (own_type, variable) = (self.own_type(), self.var_name(var).to_owned());
        let with = |it: &Handed| format!("with->{}", it.name);
        let mut parameters = Vec::new();
        let mut values = Vec::new();
        let is_asked = calls || !own.is_empty();
        if is_asked {
            parameters.push("sparsec_context *context".to_owned());
            values.push("context".to_owned());
        }
        if !own.is_empty() {
            parameters.push(format!("{own_type} *own"));
            values.push("own".to_owned());
        }
        parameters.extend(handed.iter().map(|it| it.parameter.clone()));
        values.extend(handed.iter().map(with));
        parameters.push(format!("int64_t {variable}"));
        values.push("chunk".to_owned());

        let head = signature(&format!("static inline int32_t {name}"), &parameters);
        let mut text = format!("{head} {{\n{text}}}\n\n");
        let mut unused = String::new();
        if handed.is_empty() {
            unused.push_str("  (void)captured;\n");
        } else {
            let fields: String = handed
                .iter()
                .map(|it| format!("  {};\n", it.field))
                .collect();
            text.push_str(&format!("struct {name}_captured {{\n{fields}}};\n\n"));
        }
        if !is_asked {
            unused.push_str("  (void)context;\n");
        }
        if own.is_empty() {
            unused.push_str("  (void)own;\n");
        }
        let head = signature(
            &format!("static int32_t {name}_run"),
            &[
                "sparsec_context *context",
                "const void *captured",
                "void *own",
                "int64_t chunk",
            ],
        );
        text.push_str(&format!("{head} {{\n{unused}"));
        if !handed.is_empty() {
            text.push_str(&format!(
                "  const struct {name}_captured *with = captured;\n"
            ));
        }
        let run = call(&format!("  return {name}"), &values);
        text + &format!("{run};\n}}\n\n")
    }

    /// The unit's own array, which its first chunk allocates.
    fn take_own(&mut self, buffer: Buffer) {
        let name = self.buffer_name(buffer).to_owned();
        let (len, capacity) = (self.len_name(buffer), self.capacity_of(buffer));
        let ty = self.c_type(self.function.buffers[buffer].storage);
        self.line(&format!("if (!own->{name}) {{"));
        self.indented(|w| {
            w.line(&format!(
                "own->{name} = context->workspace(context, {len}, sizeof({ty}));"
            ));
            w.leave_if(&format!("!own->{name}"), Failure::OutOfMemory);
            if let Some(capacity) = &capacity {
                w.line(&format!("own->{capacity} = {len};"));
            }
        });
        self.line("}");
        self.line(&format!("{ty} *{name} = own->{name};"));
        if !self.uses.accessed.contains(&buffer) {
            self.line(&format!("(void){name};"));
        }
        if let Some(capacity) = capacity {
            self.line(&format!("int64_t {capacity} = own->{capacity};"));
        }
    }
}
