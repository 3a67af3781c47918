//! Messages of the server, written directly into the connection's output.

use super::oid;
use bytes::{BufMut, BytesMut};
use frontend::Format;
use query::{Error, Field, Notice, Notification, TransactionStatus};

/// The output that the next flush sends.
#[derive(Debug, Default)]
pub(crate) struct Output(pub(crate) BytesMut);

/// Output of this size is sent without waiting for a flush.
const OUTPUT_BYTES: usize = 64 << 10;

impl Output {
    /// Whether it is so large that it is sent.
    pub(crate) fn is_full(&self) -> bool {
        self.0.len() >= OUTPUT_BYTES
    }

    /// A message with a body.
    pub(crate) fn message(&mut self, kind: u8, body: impl FnOnce(&mut BytesMut)) {
        self.0.put_u8(kind);
        let place = self.0.len();
        self.0.put_u32(0);
        body(&mut self.0);
        self.close(place);
    }

    /// Fills in the length at an offset.
    pub(crate) fn close(&mut self, place: usize) {
        let length = u32::try_from(self.0.len() - place).unwrap_or(u32::MAX);
        self.0[place..place + 4].copy_from_slice(&length.to_be_bytes());
    }

    fn empty(&mut self, kind: u8) {
        self.message(kind, |_| {});
    }

    pub(crate) fn parse_complete(&mut self) {
        self.empty(b'1');
    }

    pub(crate) fn bind_complete(&mut self) {
        self.empty(b'2');
    }

    pub(crate) fn close_complete(&mut self) {
        self.empty(b'3');
    }

    pub(crate) fn no_data(&mut self) {
        self.empty(b'n');
    }

    pub(crate) fn portal_suspended(&mut self) {
        self.empty(b's');
    }

    pub(crate) fn empty_query(&mut self) {
        self.empty(b'I');
    }

    pub(crate) fn command_complete(&mut self, tag: &str) {
        self.message(b'C', |body| text(body, tag));
    }

    pub(crate) fn ready(&mut self, status: TransactionStatus) {
        let status = match status {
            TransactionStatus::Idle => b'I',
            TransactionStatus::Open => b'T',
            TransactionStatus::Failed => b'E',
        };
        self.message(b'Z', |body| body.put_u8(status));
    }

    pub(crate) fn parameter_status(&mut self, name: &str, value: &str) {
        self.message(b'S', |body| {
            text(body, name);
            text(body, value);
        });
    }

    pub(crate) fn key_data(&mut self, process: u32, secret: &[u8]) {
        self.message(b'K', |body| {
            body.put_u32(process);
            body.put_slice(secret);
        });
    }

    /// An authentication request or answer.
    pub(crate) fn authentication(&mut self, code: u32, data: &[u8]) {
        self.message(b'R', |body| {
            body.put_u32(code);
            body.put_slice(data);
        });
    }

    /// The newest supported minor version, and the unsupported protocol options.
    pub(crate) fn negotiate(&mut self, minor: u32, unknown: &[String]) {
        self.message(b'v', |body| {
            body.put_u32(minor);
            body.put_u32(u32::try_from(unknown.len()).unwrap_or(0));
            unknown.iter().for_each(|name| text(body, name));
        });
    }

    pub(crate) fn parameter_description(&mut self, types: impl ExactSizeIterator<Item = u32>) {
        self.message(b't', |body| {
            body.put_u16(u16::try_from(types.len()).unwrap_or(u16::MAX));
            types.for_each(|oid| body.put_u32(oid));
        });
    }

    /// The columns of rows. A single format applies to all columns; none means text.
    pub(crate) fn row_description(&mut self, fields: &[Field], formats: &[Format]) {
        self.message(b'T', |body| {
            body.put_u16(u16::try_from(fields.len()).unwrap_or(u16::MAX));
            for (index, field) in fields.iter().enumerate() {
                let info = oid::info(&field.sql_type);
                text(body, &field.name);
                body.put_u32(field.origin.map_or(0, |origin| origin.table));
                body.put_i16(field.origin.map_or(0, |origin| origin.column));
                body.put_u32(info.oid);
                body.put_i16(info.size);
                body.put_i32(if field.declared { info.modifier } else { oid::NO_MODIFIER });
                body.put_u16(u16::from(format_of(formats, index) == Format::Binary));
            }
        });
    }

    /// An error that ends a statement (`ERROR`) or the connection (`FATAL`).
    pub(crate) fn error(&mut self, severity: &str, error: &Error, offset: usize) {
        self.message(b'E', |body| report(body, severity, error, offset));
    }

    pub(crate) fn notice(&mut self, notice: &Notice) {
        self.message(b'N', |body| report(body, notice.severity, &notice.error, 0));
    }

    pub(crate) fn notification(&mut self, notification: &Notification) {
        self.message(b'A', |body| {
            body.put_u32(notification.process);
            text(body, &notification.channel);
            text(body, &notification.payload);
        });
    }

    /// COPY begins, in (`G`) or out (`H`): the overall format and that of each column.
    pub(crate) fn copy_response(&mut self, kind: u8, format: Format, columns: usize) {
        let format = u8::from(format == Format::Binary);
        self.message(kind, |body| {
            body.put_u8(format);
            body.put_u16(u16::try_from(columns).unwrap_or(u16::MAX));
            (0..columns).for_each(|_| body.put_u16(format.into()));
        });
    }

    pub(crate) fn copy_done(&mut self) {
        self.empty(b'c');
    }
}

/// The format of a column: formats are given for each column, for all, or not at all.
pub(crate) fn format_of(formats: &[Format], index: usize) -> Format {
    match formats {
        [] => Format::Text,
        [all] => *all,
        each => each.get(index).copied().unwrap_or(Format::Text),
    }
}

fn text(body: &mut BytesMut, value: &str) {
    // A zero byte would terminate the text early.
    match value.as_bytes().iter().position(|byte| *byte == 0) {
        Some(end) => body.put_slice(&value.as_bytes()[..end]),
        None => body.put_slice(value.as_bytes()),
    }
    body.put_u8(0);
}

fn report(body: &mut BytesMut, severity: &str, error: &Error, offset: usize) {
    let mut field = |kind: u8, value: &str| {
        body.put_u8(kind);
        text(body, value);
    };
    field(b'S', severity);
    field(b'V', severity);
    field(b'C', error.state().code());
    field(b'M', error.message());
    if let Some(detail) = error.detail() {
        field(b'D', detail);
    }
    if let Some(hint) = error.hint() {
        field(b'H', hint);
    }
    if let Some(position) = error.position() {
        field(b'P', &(position + offset).to_string());
    }
    let subject = error.subject();
    let named = [
        (b'W', error.context()),
        (b's', subject.schema.as_deref()),
        (b't', subject.table.as_deref()),
        (b'c', subject.column.as_deref()),
        (b'd', subject.data_type.as_deref()),
        (b'n', subject.constraint.as_deref()),
        (b'R', error.routine()),
    ];
    for (kind, value) in named {
        if let Some(value) = value {
            field(kind, value);
        }
    }
    body.put_u8(0);
}
