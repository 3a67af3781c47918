//! Removes passwords from the text of statements.

use crate::roles::RoleStatement;
use crate::statement::Body;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

/// The text of a statement without the password in it. `tokens` are the tokens of the statement.
///
/// The position of the password in the text is unknown, so the whole text is replaced.
pub(super) fn without_password(text: String, body: &Body, tokens: &[TokenWithSpan]) -> String {
    match body {
        Body::Role(statement) if statement.password().is_some() => match statement {
            RoleStatement::Create { name, .. } => format!("CREATE ROLE {name} PASSWORD <hidden>"),
            _ => "ALTER ROLE PASSWORD <hidden>".to_owned(),
        },
        Body::Role(_) => text,
        _ if has_password(tokens) => "<hidden>".to_owned(),
        _ => text,
    }
}

/// Whether the word PASSWORD is followed by a string, for example in a PREPARE of ALTER USER.
fn has_password(tokens: &[TokenWithSpan]) -> bool {
    let is_solid = |token: &&TokenWithSpan| !matches!(token.token, Token::Whitespace(_));
    let solid = || tokens.iter().filter(is_solid);
    solid().zip(solid().skip(1)).any(|(first, second)| {
        let is_keyword =
            matches!(&first.token, Token::Word(word) if word.keyword == Keyword::PASSWORD);
        let is_string = !matches!(
            &second.token,
            Token::Word(_) | Token::Number(..) | Token::Comma | Token::Period | Token::RParen
        ) && second.token.to_string().contains('\'');
        is_keyword && is_string
    })
}
