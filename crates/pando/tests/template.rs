//! What `pando function new` writes is compiled with the Arrow of this workspace.

#[expect(unreachable_pub, reason = "it is part of a library")]
#[path = "../template/border.rs.in"]
mod border;

#[test]
fn memory_for_arguments_is_zeroed() {
    let address = border::pando_alloc(3);
    // SAFETY: so many bytes have just been reserved.
    assert_eq!(unsafe { std::slice::from_raw_parts(address, 3) }, [0; 3]);
}

#[test]
fn results_are_behind_an_address() {
    use arrow_array::{ArrayRef, Int64Array, RecordBatch};
    use std::sync::Arc;
    let column: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let arguments = RecordBatch::try_from_iter([("a", column)]).expect("a batch");
    let mut stream = Vec::new();
    let mut writer =
        arrow_ipc::writer::StreamWriter::try_new(&mut stream, &arguments.schema()).expect("begun");
    writer.write(&arguments).expect("written");
    writer.finish().expect("ended");
    drop(writer);
    let packed = border::answer(stream.as_ptr(), stream.len(), |arguments| {
        assert_eq!(arguments.num_rows(), 2);
        arguments.columns().to_vec()
    });
    // Addresses here are longer than those of a module; the length is below them.
    assert!(packed as u32 > 0, "the stream has bytes");
}
