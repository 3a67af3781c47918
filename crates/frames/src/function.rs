//! Window functions over frames that the engine does not have, and with arguments that differ from row to row.
//!
//! The engine sorts the rows and hands out a partition at a time, with these columns: the arguments, FILTER, the keys of
//! ORDER BY, the key of RANGE, and the offsets of the frame.

use crate::bounds::{Columns, Frame, Frames};
use crate::values::{Call, Function, of_rows};
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::function::{PartitionEvaluatorArgs, WindowUDFFieldArgs};
use datafusion::logical_expr::{
    PartitionEvaluator, Signature, Volatility, WindowUDF, WindowUDFImpl,
};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// How many columns there are of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Layout {
    /// The arguments.
    pub arguments: usize,
    /// Whether there is FILTER.
    pub has_filter: bool,
    /// The keys of ORDER BY.
    pub keys: usize,
    /// Whether there is a key of RANGE.
    pub has_range_key: bool,
}

/// A window function of some rows over a frame, with the type of its values.
pub fn over_frame(
    name: &str,
    function: Function,
    frame: Frame,
    layout: Layout,
    data_type: DataType,
) -> WindowUDF {
    // Functions over different frames have different columns, which the engine finds by their names.
    let name = format!("{name} over {frame}");
    let signature = Signature::variadic_any(Volatility::Immutable);
    WindowUDF::new_from_impl(OverFrame { name, function, frame, layout, data_type, signature })
}

/// A window function.
#[derive(Debug, Clone)]
struct OverFrame {
    name: String,
    function: Function,
    frame: Frame,
    layout: Layout,
    data_type: DataType,
    signature: Signature,
}

impl PartialEq for OverFrame {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.function == other.function
            && self.frame == other.frame
            && self.layout == other.layout
            && self.data_type == other.data_type
    }
}

impl Eq for OverFrame {}

impl Hash for OverFrame {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.name, &self.function, self.frame, self.layout).hash(state);
    }
}

impl WindowUDFImpl for OverFrame {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn partition_evaluator(
        &self,
        args: PartitionEvaluatorArgs,
    ) -> Result<Box<dyn PartitionEvaluator>> {
        let count = self.layout.arguments;
        let (Some(exprs), Some(fields)) =
            (args.input_exprs().get(..count), args.input_fields().get(..count))
        else {
            return internal_err!("a window function lacks arguments");
        };
        let call = Call {
            function: self.function.clone(),
            data_type: self.data_type.clone(),
            exprs: exprs.to_vec(),
            fields: fields.to_vec(),
        };
        Ok(Box::new(Partition { frame: self.frame, layout: self.layout, call }))
    }

    fn field(&self, args: WindowUDFFieldArgs) -> Result<FieldRef> {
        Ok(Arc::new(Field::new(args.name(), self.data_type.clone(), true)))
    }
}

/// The function over a partition.
#[derive(Debug)]
struct Partition {
    frame: Frame,
    layout: Layout,
    call: Call,
}

impl PartitionEvaluator for Partition {
    fn evaluate_all(&mut self, values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
        let Self { layout, frame, call } = self;
        let (arguments, others) = values.split_at(layout.arguments);
        let (filter, others) = others.split_at(usize::from(layout.has_filter));
        let (keys, others) = others.split_at(layout.keys);
        let mut others = others.iter();
        let mut next = |is_there: bool| if is_there { others.next() } else { None };
        let columns = Columns {
            keys,
            range_key: next(layout.has_range_key),
            start: next(frame.start.has_offset()),
            end: next(frame.end.has_offset()),
        };
        let frames = Frames::of(frame, &columns, rows).map_err(::values::translate::external)?;
        of_rows(call, arguments, filter.first(), &frames)
    }
}
