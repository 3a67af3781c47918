//! CREATE FUNCTION and CREATE PROCEDURE.

use super::{FunctionOptions, FunctionType};
use crate::kinds;
use crate::names::{RelationName, incomplete, node, texts};
use crate::{Error, Result};
use grammar::tree::{
    CreateFunctionStmt, FunctionParameter as Parameter, FunctionParameterMode as Mode, List, Node,
    NodeEnum,
};
use grammar::{expression_text, statement_text};

/// How a value is passed through a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// IN.
    In,
    /// OUT.
    Out,
    /// INOUT.
    InOut,
    /// VARIADIC.
    Variadic,
    /// A column of RETURNS TABLE.
    Table,
}

/// A parameter of a function.
#[derive(Debug, Clone)]
pub struct FunctionParameter {
    /// The name; empty if it has none.
    pub name: String,
    /// The mode.
    pub kind: ParameterKind,
    /// The type.
    pub data_type: FunctionType,
    /// The default, as text.
    pub default: Option<String>,
    /// The byte of the statement at which it begins, or -1.
    pub location: i32,
}

/// CREATE FUNCTION or CREATE PROCEDURE.
#[derive(Debug, Clone)]
pub struct CreateFunction {
    /// The name.
    pub name: RelationName,
    /// OR REPLACE.
    pub replaces: bool,
    /// Whether it is a procedure.
    pub is_procedure: bool,
    /// The parameters.
    pub parameters: Vec<FunctionParameter>,
    /// RETURNS.
    pub result: Option<FunctionType>,
    /// The options.
    pub options: FunctionOptions,
    /// The text of RETURN as a query, or of BEGIN ATOMIC, with semicolons.
    pub sql_body: Option<String>,
}

impl CreateFunction {
    pub(crate) fn of(statement: &CreateFunctionStmt) -> Result<Self> {
        let parameter = |of: &Node| match node(Some(of))? {
            NodeEnum::FunctionParameter(parameter) => FunctionParameter::of(parameter),
            _ => Err(incomplete()),
        };
        let sql_body = statement.sql_body.as_deref().map(|body| sql_body(node(Some(body))?));
        Ok(Self {
            name: RelationName::of_parts(&texts(&statement.funcname))?,
            replaces: statement.replace,
            is_procedure: statement.is_procedure,
            parameters: statement.parameters.iter().map(parameter).collect::<Result<_>>()?,
            result: statement.return_type.as_ref().map(FunctionType::of).transpose()?,
            options: FunctionOptions::of(&statement.options, statement.is_procedure)?,
            sql_body: sql_body.transpose()?,
        })
    }
}

impl FunctionParameter {
    pub(super) fn of(parameter: &Parameter) -> Result<Self> {
        let kind = match parameter.mode() {
            Mode::FuncParamOut => ParameterKind::Out,
            Mode::FuncParamInout => ParameterKind::InOut,
            Mode::FuncParamVariadic => ParameterKind::Variadic,
            Mode::FuncParamTable => ParameterKind::Table,
            Mode::FuncParamIn | Mode::FuncParamDefault | Mode::Undefined => ParameterKind::In,
        };
        let data_type = parameter.arg_type.as_ref().ok_or_else(incomplete)?;
        let data_type = FunctionType::of(data_type)?;
        if data_type.is_set {
            let message = "functions cannot accept set arguments";
            return Err(Error::new("42P13", message).at(data_type.location));
        }
        let default = parameter.defexpr.as_deref();
        Ok(Self {
            name: parameter.name.clone(),
            kind,
            data_type,
            default: default
                .map(|text| expression_text(text).ok_or_else(incomplete))
                .transpose()?,
            location: parameter.location,
        })
    }
}

/// The text of a body that is written as SQL.
fn sql_body(body: &NodeEnum) -> Result<String> {
    match body {
        NodeEnum::ReturnStmt(returned) => {
            let value = returned.returnval.as_deref().ok_or_else(incomplete)?;
            let value = expression_text(value).ok_or_else(incomplete)?;
            Ok(format!("SELECT {value}"))
        }
        // BEGIN ATOMIC has a list of lists.
        NodeEnum::List(list) => Ok(statements(list)?.join(";\n ") + ";"),
        _ => Err(incomplete()),
    }
}

fn statements(list: &List) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    for item in &list.items {
        match node(Some(item))? {
            NodeEnum::List(inner) => texts.extend(statements(inner)?),
            statement if !is_query(statement) => {
                let what = kinds::tag(statement);
                let message = format!("{what} is not yet supported in unquoted SQL function body");
                return Err(Error::new("0A000", message));
            }
            statement => texts.push(statement_text(statement).ok_or_else(incomplete)?),
        }
    }
    Ok(texts)
}

/// Whether a statement of a body reads or changes rows.
fn is_query(statement: &NodeEnum) -> bool {
    matches!(
        statement,
        NodeEnum::SelectStmt(_)
            | NodeEnum::InsertStmt(_)
            | NodeEnum::UpdateStmt(_)
            | NodeEnum::DeleteStmt(_)
            | NodeEnum::MergeStmt(_)
            | NodeEnum::ReturnStmt(_)
    )
}
