//! Statements of the parse tree as commands.

use crate::alter_table::Altered;
use crate::locking::LockTables;
use crate::rename::AnyRename;
use crate::{
    AlterSequence, AlterSystem, AlterType, Call, Command, Comment, Copy, CreateIndex, CreateSchema,
    CreateSequence, CreateTable, CreateTableAs, CreateType, CreateView, Declaration, Definition,
    Discard, Do, Drop, Error, Execute, Explain, Fetch, Maintenance, Prepare, Refresh, Reindex,
    RelationName, Result, RoleStatement, RoutineDefinition, SetConstraints, SetSchema,
    SettingStatement, Transaction, TriggerDefinition, Truncate, kinds, names,
};
use grammar::tree::{AlterTableStmt, Node, NodeEnum, ObjectType, VacuumStmt};

/// The command that a statement is. `None` for queries and for changes of rows.
///
/// # Errors
/// 0A000 for what PostgreSQL has and Pando has not; 42601 and others for what the grammar takes and PostgreSQL refuses.
pub fn read(statement: &NodeEnum) -> Result<Option<Command>> {
    let definition = |definition| Command::Definition(Box::new(definition));
    if let Some(code) = of_code(statement)? {
        return Ok(Some(definition(code)));
    }
    Ok(Some(match statement {
        NodeEnum::SelectStmt(_)
        | NodeEnum::InsertStmt(_)
        | NodeEnum::UpdateStmt(_)
        | NodeEnum::DeleteStmt(_)
        | NodeEnum::MergeStmt(_) => return Ok(None),
        NodeEnum::TransactionStmt(statement) => Command::Transaction(Transaction::of(statement)?),
        NodeEnum::VariableSetStmt(statement) => Command::Setting(SettingStatement::of(statement)?),
        NodeEnum::VariableShowStmt(statement) => {
            Command::Setting(SettingStatement::Show(statement.name.to_lowercase()))
        }
        NodeEnum::AlterSystemStmt(statement) => Command::AlterSystem(AlterSystem::of(statement)?),
        NodeEnum::CreateStmt(_)
        | NodeEnum::CreateTableAsStmt(_)
        | NodeEnum::ViewStmt(_)
        | NodeEnum::CreateSchemaStmt(_)
        | NodeEnum::IndexStmt(_)
        | NodeEnum::CreateSeqStmt(_) => definition(created(statement)?),
        NodeEnum::AlterSeqStmt(statement) => {
            definition(Definition::AlterSequence(AlterSequence::of(statement)?))
        }
        NodeEnum::AlterTableStmt(statement) => altered(statement)?,
        NodeEnum::RenameStmt(statement) => match AlterType::of_rename(statement)? {
            Some(alter) => definition(Definition::AlterType(alter)),
            None => match AnyRename::of(statement)? {
                AnyRename::Relation(rename) => definition(Definition::Rename(rename)),
                AnyRename::Role(rename) => Command::Role(rename),
            },
        },
        NodeEnum::AlterObjectSchemaStmt(statement) => {
            definition(match AlterType::of_set_schema(statement)? {
                Some(alter) => Definition::AlterType(alter),
                None => Definition::SetSchema(SetSchema::of(statement)?),
            })
        }
        NodeEnum::CreateEnumStmt(_)
        | NodeEnum::CompositeTypeStmt(_)
        | NodeEnum::CreateDomainStmt(_)
        | NodeEnum::AlterEnumStmt(_)
        | NodeEnum::AlterDomainStmt(_) => definition(of_type(statement)?),
        NodeEnum::DropStmt(statement) => definition(Definition::Drop(Drop::of(statement)?)),
        NodeEnum::TruncateStmt(statement) => {
            definition(Definition::Truncate(Truncate::of(statement)?))
        }
        NodeEnum::LockStmt(statement) => definition(Definition::Lock(LockTables::of(statement)?)),
        NodeEnum::CommentStmt(statement) => {
            definition(Definition::Comment(Comment::of(statement)?))
        }
        NodeEnum::RefreshMatViewStmt(statement) => {
            definition(Definition::Refresh(Refresh::of(statement)?))
        }
        NodeEnum::ReindexStmt(statement) => {
            definition(Definition::Reindex(Reindex::of(statement)?))
        }
        NodeEnum::ConstraintsSetStmt(statement) => {
            definition(Definition::SetConstraints(SetConstraints::of(statement)?))
        }
        NodeEnum::VacuumStmt(statement) => {
            definition(Definition::Maintenance(maintenance(statement)?))
        }
        NodeEnum::CopyStmt(statement) => Command::Copy(Copy::of(statement)?),
        NodeEnum::ExplainStmt(statement) => Command::Explain(Explain::of(statement)?),
        other => return of_session(other).map(Some),
    }))
}

/// ALTER TABLE, also of what is no table.
fn altered(statement: &AlterTableStmt) -> Result<Command> {
    let definition = |definition| Command::Definition(Box::new(definition));
    if statement.objtype() == ObjectType::ObjectType {
        return Ok(definition(Definition::AlterType(AlterType::of_composite(statement)?)));
    }
    Ok(match Altered::of(statement)? {
        Altered::Table(alter) => definition(Definition::AlterTable(alter)),
        Altered::Owner(owner) => Command::Role(owner),
    })
}

/// The definition of a routine, a trigger, or the language of routines.
fn of_code(statement: &NodeEnum) -> Result<Option<Definition>> {
    if let NodeEnum::CreateExtensionStmt(create) = statement
        && create.extname == "plpgsql"
    {
        let if_not_exists = create.if_not_exists;
        return Ok(Some(Definition::CreatePlpgsql { if_not_exists }));
    }
    if let Some(routine) = RoutineDefinition::of(statement)? {
        return Ok(Some(Definition::Routine(routine)));
    }
    Ok(TriggerDefinition::of(statement)?.map(Definition::Trigger))
}

/// The definition of a statement that creates a relation or a schema.
fn created(statement: &NodeEnum) -> Result<Definition> {
    Ok(match statement {
        NodeEnum::CreateStmt(create) => Definition::CreateTable(CreateTable::of(create)?),
        NodeEnum::CreateTableAsStmt(create) => {
            Definition::CreateTableAs(CreateTableAs::of(create)?)
        }
        NodeEnum::ViewStmt(create) => Definition::CreateView(CreateView::of(create)?),
        NodeEnum::CreateSchemaStmt(create) => Definition::CreateSchema(CreateSchema::of(create)?),
        NodeEnum::IndexStmt(create) => Definition::CreateIndex(CreateIndex::of(create)?),
        NodeEnum::CreateSeqStmt(create) => Definition::CreateSequence(CreateSequence::of(create)?),
        other => return Err(kinds::missing(other)),
    })
}

/// The command of a statement about types of users.
fn of_type(statement: &NodeEnum) -> Result<Definition> {
    Ok(match statement {
        NodeEnum::CreateEnumStmt(create) => Definition::CreateType(CreateType::of_enum(create)?),
        NodeEnum::CompositeTypeStmt(create) => {
            Definition::CreateType(CreateType::of_composite(create)?)
        }
        NodeEnum::CreateDomainStmt(create) => {
            Definition::CreateType(CreateType::of_domain(create)?)
        }
        NodeEnum::AlterEnumStmt(alter) => Definition::AlterType(AlterType::of_enum(alter)?),
        NodeEnum::AlterDomainStmt(alter) => Definition::AlterType(AlterType::of_domain(alter)?),
        other => return Err(kinds::missing(other)),
    })
}

/// The command of a statement about cursors, prepared statements or roles, and CHECKPOINT.
fn of_session(statement: &NodeEnum) -> Result<Command> {
    Ok(match statement {
        NodeEnum::DeclareCursorStmt(statement) => Command::Declare(Declaration::of(statement)?),
        NodeEnum::FetchStmt(statement) => Command::Fetch(Fetch::of(statement)),
        NodeEnum::ClosePortalStmt(statement) => Command::Close(names::some(&statement.portalname)),
        NodeEnum::PrepareStmt(statement) => Command::Prepare(Prepare::of(statement)?),
        NodeEnum::ExecuteStmt(statement) => Command::Execute(Execute::of(statement)?),
        NodeEnum::DeallocateStmt(statement) => Command::Deallocate(names::some(&statement.name)),
        NodeEnum::DiscardStmt(statement) => Command::Discard(Discard::of(statement)),
        NodeEnum::ListenStmt(statement) => Command::Listen(statement.conditionname.clone()),
        NodeEnum::NotifyStmt(statement) => {
            Command::Notify(statement.conditionname.clone(), statement.payload.clone())
        }
        NodeEnum::UnlistenStmt(statement) => {
            Command::Unlisten(names::some(&statement.conditionname))
        }
        NodeEnum::CheckPointStmt(_) => Command::Definition(Box::new(Definition::Checkpoint)),
        NodeEnum::DoStmt(statement) => Command::Do(Do::of(statement)?),
        NodeEnum::CallStmt(statement) => Command::Call(Call::of(statement)?),
        NodeEnum::CreateRoleStmt(statement) => Command::Role(RoleStatement::create(statement)?),
        NodeEnum::AlterRoleStmt(statement) => Command::Role(RoleStatement::alter(statement)?),
        NodeEnum::DropRoleStmt(statement) => Command::Role(RoleStatement::drop_roles(statement)?),
        NodeEnum::GrantStmt(statement) => Command::Role(RoleStatement::privileges(statement)?),
        NodeEnum::GrantRoleStmt(statement) => Command::Role(RoleStatement::membership(statement)?),
        NodeEnum::AlterOwnerStmt(statement) => Command::Role(RoleStatement::owner(statement)?),
        NodeEnum::ReassignOwnedStmt(statement) => {
            Command::Role(RoleStatement::reassign(statement)?)
        }
        NodeEnum::DropOwnedStmt(statement) => Command::Role(RoleStatement::drop_owned(statement)),
        other => return Err(kinds::missing(other)),
    })
}

/// The options of VACUUM.
const OF_VACUUM: &[&str] = &[
    "analyze",
    "buffer_usage_limit",
    "disable_page_skipping",
    "freeze",
    "full",
    "index_cleanup",
    "only_database_stats",
    "parallel",
    "process_main",
    "process_toast",
    "skip_database_stats",
    "skip_locked",
    "truncate",
    "verbose",
];

/// The options of ANALYZE.
const OF_ANALYZE: &[&str] = &["buffer_usage_limit", "skip_locked", "verbose"];

/// VACUUM and ANALYZE. Their options say how to do what need not be done.
fn maintenance(statement: &VacuumStmt) -> Result<Maintenance> {
    let (what, known) = match statement.is_vacuumcmd {
        true => ("VACUUM", OF_VACUUM),
        false => ("ANALYZE", OF_ANALYZE),
    };
    for option in &statement.options {
        if let Some(NodeEnum::DefElem(option)) = &option.node
            && !known.contains(&option.defname.as_str())
        {
            let message = format!("unrecognized {what} option \"{}\"", option.defname);
            return Err(Error::new("42601", message).at(option.location));
        }
    }
    let relation = |node: &Node| match &node.node {
        Some(NodeEnum::VacuumRelation(vacuumed)) => {
            let name = RelationName::of(vacuumed.relation.as_ref())?;
            Ok((name, names::texts(&vacuumed.va_cols)))
        }
        _ => Err(names::incomplete()),
    };
    let relations: Vec<(RelationName, Vec<String>)> =
        statement.rels.iter().map(relation).collect::<Result<_>>()?;
    let is_analyze = |node: &Node| matches!(&node.node, Some(NodeEnum::DefElem(option)) if option.defname == "analyze");
    let analyzes = !statement.is_vacuumcmd || statement.options.iter().any(is_analyze);
    if !analyzes && relations.iter().any(|(_, columns)| !columns.is_empty()) {
        let message = "ANALYZE option must be specified when a column list is provided";
        return Err(Error::new("0A000", message));
    }
    Ok(Maintenance { is_vacuum: statement.is_vacuumcmd, relations })
}
