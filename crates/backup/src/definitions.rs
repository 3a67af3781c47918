//! Definitions of the catalog in the form of the manifest, and back.

use crate::Error;
use crate::foreign_keys;
use crate::freeze::Frozen;
use crate::manifest::{
    CheckForm, CheckOptionForm, ColumnForm, ColumnName, FunctionForm, GrantForm, IdentityForm,
    Manifest, Name, ObjectForm, RoleForm, SchemaForm, SequenceForm, TableForm, ViewForm,
};
use crate::{indexes, sql_types, triggers, type_ids, user_types};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::catalog::{
    Catalog, Check, CheckOption, Column, ColumnId, Function, FunctionId, Identity, Index, Object,
    OnCommit, Privileges, Relation, RelationId, Role, Sequence, Table, TableExtension, TableId,
    TypeId, View, ViewOptions,
};

/// The names of privileges. The last one stands for all others, and for ownership.
const PRIVILEGES: [(&str, Privileges); 12] = [
    ("SELECT", Privileges::SELECT),
    ("INSERT", Privileges::INSERT),
    ("UPDATE", Privileges::UPDATE),
    ("DELETE", Privileges::DELETE),
    ("TRUNCATE", Privileges::TRUNCATE),
    ("USAGE", Privileges::USAGE),
    ("CREATE", Privileges::CREATE),
    ("OWNER", Privileges::OWNER),
    ("REFERENCES", Privileges::REFERENCES),
    ("TRIGGER", Privileges::TRIGGER),
    ("EXECUTE", Privileges::EXECUTE),
    ("ALL", Privileges::ALL),
];

fn name_of(relation: &Relation) -> Name {
    Name { schema: relation.schema().to_owned(), name: relation.name().to_owned() }
}

/// Puts the definitions of a frozen database into a manifest. Its tables have no rows yet.
pub(crate) fn put(frozen: &Frozen, manifest: &mut Manifest) -> Result<(), Error> {
    let catalog = &frozen.catalog;
    let schema = |s: &store::catalog::Schema| SchemaForm {
        name: s.name.clone(),
        comment: s.comment.clone(),
    };
    manifest.schemas = catalog.schemas().map(|s| schema(s)).collect();
    manifest.types = user_types::forms(catalog)?;
    for relation in catalog.relations() {
        match relation {
            Relation::Table(table) => manifest.tables.push(table_form(catalog, table)?),
            Relation::View(view) => manifest.views.push(view_form(view)),
            Relation::Sequence(sequence) => {
                let state = frozen.sequences.get(&sequence.id).copied();
                manifest.sequences.push(sequence_form(catalog, sequence, state));
            }
            // With its table.
            Relation::Index(_) => {}
        }
    }
    manifest.functions = catalog.functions().map(|of| function_form(catalog, of)).collect();
    manifest.triggers = triggers::forms(catalog);
    manifest.type_ids = type_ids::forms(catalog);
    manifest.roles = catalog.roles().map(|role| role_form(catalog, role)).collect();
    manifest.public = grants(catalog, catalog.public());
    Ok(())
}

fn table_form(catalog: &Catalog, table: &Table) -> Result<TableForm, Error> {
    let shown = table.columns.iter().filter(|column| !column.hidden);
    let key = table.key.iter().filter_map(|id| table.position(*id));
    let key = key.map(|position| table.columns[position].name.clone()).collect();
    let check = |check: &Check| CheckForm {
        name: check.name.clone(),
        expression: check.expression.clone(),
        is_unchecked: !check.is_valid,
    };
    let other = catalog.colocated(table);
    let of_type = table.extension.of_type.and_then(|of| catalog.user_type_by_id(of));
    let column = |column| column_form(catalog, table, column);
    let index = |index: &Arc<Index>| indexes::form(catalog, table, index);
    Ok(TableForm {
        name: Name { schema: table.schema.clone(), name: table.name.clone() },
        columns: shown.map(column).collect::<Result<_, _>>()?,
        key: (!table.has_hidden_key()).then_some(key),
        key_constraint: table.key_constraint.clone(),
        is_unlogged: table.is_unlogged,
        of_type: of_type.map(|of| Name { schema: of.schema.clone(), name: of.name.clone() }),
        constraint_comments: table.extension.comments.clone(),
        checks: table.checks.iter().map(check).collect(),
        indexes: catalog.indexes_of(table.id).iter().map(index).collect::<Result<_, _>>()?,
        foreign_keys: foreign_keys::forms(catalog, table),
        bucket_size: table.bucket_size,
        colocate_with: other
            .map(|other| Name { schema: other.schema.clone(), name: other.name.clone() }),
        materialized: table.materialized.clone(),
        comment: table.comment.clone(),
        rows: 0,
        files: Vec::new(),
    })
}

fn column_form(catalog: &Catalog, table: &Table, column: &Column) -> Result<ColumnForm, Error> {
    let sql_type = sql_types::text(&column.sql_type, catalog).ok_or_else(|| {
        let (table, name, of) = (&table.name, &column.name, &column.sql_type);
        Error::Unsupported(format!(
            "column \"{name}\" of table \"{table}\" has a type that backups cannot hold: {of}"
        ))
    })?;
    Ok(ColumnForm {
        name: column.name.clone(),
        sql_type,
        nullable: column.nullable,
        default: column.default.clone(),
        identity: column.identity.map(|identity| match identity {
            Identity::Always => IdentityForm::Always,
            Identity::ByDefault => IdentityForm::ByDefault,
        }),
        generated: column.generated.clone(),
        comment: column.comment.clone(),
    })
}

fn function_form(catalog: &Catalog, function: &Function) -> FunctionForm {
    let relation = function.result_relation.and_then(|id| catalog.relation_by_id(id));
    FunctionForm { definition: function.clone(), relation: relation.map(name_of) }
}

/// Returns a function with an id of its own, by the ids of functions and types of before.
pub(crate) fn function(
    form: &FunctionForm,
    ids: &BTreeMap<RelationId, RelationId>,
    types: &BTreeMap<u32, u32>,
    catalog: &Catalog,
) -> Function {
    let relation = form.relation.as_ref();
    let relation = relation.and_then(|of| catalog.relation(&of.schema, &of.name));
    let new = |id: RelationId| ids.get(&id).copied().unwrap_or(id);
    let mut function = form.definition.clone();
    type_ids::renumber(&mut function, types);
    for step in function.extension.steps_mut() {
        if let FunctionId::User(id) = step {
            *id = new(*id);
        }
    }
    Function { id: new(function.id), result_relation: relation.map(Relation::id), ..function }
}

fn view_form(view: &View) -> ViewForm {
    ViewForm {
        name: Name { schema: view.schema.clone(), name: view.name.clone() },
        sql: view.sql.clone(),
        columns: view.columns.clone(),
        search_path: view.search_path.clone(),
        comment: view.comment.clone(),
        check_option: view.options.check.map(|check| match check {
            CheckOption::Local => CheckOptionForm::Local,
            CheckOption::Cascaded => CheckOptionForm::Cascaded,
        }),
        security_invoker: view.options.security_invoker,
        defaults: view.options.defaults.clone(),
        comments: view.options.comments.clone(),
    }
}

fn sequence_form(
    catalog: &Catalog,
    sequence: &Sequence,
    state: Option<(i64, bool)>,
) -> SequenceForm {
    let owner = |(table, column): (TableId, ColumnId)| {
        let table = catalog.table_by_id(table)?;
        let column = &table.columns[table.position(column)?];
        let name = Name { schema: table.schema.clone(), name: table.name.clone() };
        Some(ColumnName { table: name, column: column.name.clone() })
    };
    let (last, called) = state.unwrap_or((sequence.start, false));
    SequenceForm {
        name: Name { schema: sequence.schema.clone(), name: sequence.name.clone() },
        start: sequence.start,
        increment: sequence.increment,
        min: sequence.min,
        max: sequence.max,
        cycle: sequence.cycle,
        owned_by: sequence.owned_by.and_then(owner),
        comment: sequence.comment.clone(),
        last,
        called,
    }
}

fn role_form(catalog: &Catalog, role: &Role) -> RoleForm {
    RoleForm {
        name: role.name.clone(),
        superuser: role.superuser,
        login: role.login,
        create_role: role.create_role,
        create_database: role.create_database,
        inherit: role.inherit,
        connection_limit: role.connection_limit,
        valid_until: role.valid_until,
        verifier: role.verifier.clone(),
        member_of: role.member_of.clone(),
        grants: grants(catalog, role),
    }
}

fn grants(catalog: &Catalog, role: &Role) -> Vec<GrantForm> {
    let database = (!role.database.is_empty()).then_some((ObjectForm::Database, role.database));
    let schemas = role.schemas.iter().map(|(name, of)| (ObjectForm::Schema(name.clone()), *of));
    let relations = role.relations.iter().filter_map(|(id, of)| {
        let function = || {
            let function = catalog.function_by_id(*id)?;
            let (schema, name) = (function.schema.clone(), function.name.clone());
            let types = function.inputs().map(|input| input.type_id).collect();
            Some(ObjectForm::Function(Name { schema, name }, types))
        };
        let user_type = || {
            let user = catalog.user_type_by_id(TypeId(id.0))?;
            let (schema, name) = (user.schema.clone(), user.name.clone());
            Some(ObjectForm::Type(Name { schema, name }))
        };
        let relation = catalog.relation_by_id(*id).map(|of| ObjectForm::Relation(name_of(of)));
        Some((relation.or_else(function).or_else(user_type)?, *of))
    });
    let grant = |(on, of): (ObjectForm, Privileges)| GrantForm {
        on,
        privileges: privilege_names(of),
        grantable: privilege_names(of.grantable()),
    };
    database.into_iter().chain(schemas).chain(relations).map(grant).collect()
}

fn privilege_names(of: Privileges) -> Vec<String> {
    if of.contains(Privileges::ALL) {
        return vec!["ALL".to_owned()];
    }
    let held = PRIVILEGES.iter().filter(|(_, one)| of.contains(*one));
    held.map(|(name, _)| (*name).to_owned()).collect()
}

/// Returns the privileges of a grant. Names of later versions are left out.
pub(crate) fn privileges(grant: &GrantForm) -> Privileges {
    let all = |names: &[String]| {
        let known = PRIVILEGES.iter().filter(|(name, _)| names.iter().any(|other| other == name));
        known.fold(Privileges::default(), |all, (_, one)| all.union(*one))
    };
    all(&grant.privileges).union(all(&grant.grantable).grant_option())
}

/// Returns the object of a grant, by the ids of types of before; `None` if it is not there.
pub(crate) fn object(
    catalog: &Catalog,
    form: &ObjectForm,
    ids: &BTreeMap<u32, u32>,
) -> Option<Object> {
    match form {
        ObjectForm::Database => Some(Object::Database),
        ObjectForm::Schema(name) => catalog.schema(name).map(|s| Object::Schema(s.name.clone())),
        ObjectForm::Relation(Name { schema, name }) => {
            catalog.relation(schema, name).map(|relation| Object::Relation(relation.id()))
        }
        ObjectForm::Function(Name { schema, name }, types) => {
            let types = types.iter().map(|id| ids.get(id).copied().unwrap_or(*id));
            let types: Vec<u32> = types.collect();
            let mut named = catalog.functions_named(schema, name).iter();
            let found = named.find(|of| of.inputs().map(|input| &input.type_id).eq(&types));
            found.map(|function| Object::Relation(function.id))
        }
        ObjectForm::Type(Name { schema, name }) => {
            catalog.user_type(schema, name).map(|user| Object::Relation(user.id.object()))
        }
    }
}

/// Returns a role without privileges.
pub(crate) fn role(form: &RoleForm) -> Role {
    Role {
        superuser: form.superuser,
        login: form.login,
        create_role: form.create_role,
        create_database: form.create_database,
        inherit: form.inherit,
        connection_limit: form.connection_limit,
        valid_until: form.valid_until,
        verifier: form.verifier.clone(),
        member_of: form.member_of.clone(),
        ..Role::new(&form.name)
    }
}

/// Returns a table without rows. The catalog has the types of its columns. `flaw` makes an error of a reason why the
/// manifest is damaged.
pub(crate) fn table(
    form: &TableForm,
    id: TableId,
    home: sdds::GroupId,
    catalog: &Catalog,
    flaw: impl Fn(String) -> Error,
) -> Result<Table, Error> {
    let mut columns = Vec::with_capacity(form.columns.len() + 1);
    for (number, column) in form.columns.iter().enumerate() {
        columns.push(self::column(column, number as u32, catalog, &flaw)?);
    }
    let key = match &form.key {
        Some(names) if !names.is_empty() => {
            let id = |name: &String| {
                let found = columns.iter().find(|column| column.name == *name);
                let missing = || flaw(format!("the key column \"{name}\" is missing"));
                found.map(|column| column.id).ok_or_else(missing)
            };
            names.iter().map(id).collect::<Result<_, _>>()?
        }
        _ => {
            columns.push(Column::row_id(ColumnId(columns.len() as u32)));
            vec![ColumnId(columns.len() as u32 - 1)]
        }
    };
    let check = |check: &CheckForm| Check {
        name: check.name.clone(),
        expression: check.expression.clone(),
        is_valid: !check.is_unchecked,
    };
    let of_type = form.of_type.as_ref().and_then(|of| catalog.user_type(&of.schema, &of.name));
    let extension = TableExtension {
        of_type: of_type.map(|user| user.id),
        comments: form.constraint_comments.clone(),
        reads: Vec::new(),
    };
    Ok(Table {
        id,
        schema: form.name.schema.clone(),
        name: form.name.name.clone(),
        next_column: columns.len() as u32,
        columns,
        key,
        key_constraint: form.key_constraint.clone(),
        is_unlogged: form.is_unlogged,
        extension,
        checks: form.checks.iter().map(check).collect(),
        foreign_keys: Vec::new(),
        bucket_size: form.bucket_size,
        colocate_with: None,
        on_commit: OnCommit::default(),
        home,
        version: 1,
        materialized: form.materialized.clone(),
        comment: form.comment.clone(),
    })
}

fn column(
    form: &ColumnForm,
    number: u32,
    catalog: &Catalog,
    flaw: &impl Fn(String) -> Error,
) -> Result<Column, Error> {
    let sql_type = sql_types::parse(&form.sql_type, catalog)
        .ok_or_else(|| flaw(format!("the type \"{}\" is unknown", form.sql_type)))?;
    Ok(Column {
        id: ColumnId(number),
        name: form.name.clone(),
        sql_type,
        nullable: form.nullable,
        default: form.default.clone(),
        identity: form.identity.map(|identity| match identity {
            IdentityForm::Always => Identity::Always,
            IdentityForm::ByDefault => Identity::ByDefault,
        }),
        generated: form.generated.clone(),
        hidden: false,
        missing: None,
        comment: form.comment.clone(),
    })
}

/// Returns a view.
pub(crate) fn view(form: &ViewForm, id: RelationId) -> View {
    View {
        id,
        schema: form.name.schema.clone(),
        name: form.name.name.clone(),
        sql: form.sql.clone(),
        columns: form.columns.clone(),
        search_path: form.search_path.clone(),
        comment: form.comment.clone(),
        options: ViewOptions {
            check: form.check_option.map(|check| match check {
                CheckOptionForm::Local => CheckOption::Local,
                CheckOptionForm::Cascaded => CheckOption::Cascaded,
            }),
            security_invoker: form.security_invoker,
            defaults: form.defaults.clone(),
            comments: form.comments.clone(),
            // Relations have other ids now.
            reads: Vec::new(),
        },
    }
}

/// Returns a sequence. The catalog has the table that it belongs to.
pub(crate) fn sequence(form: &SequenceForm, id: RelationId, catalog: &Catalog) -> Sequence {
    let owner = |of: &ColumnName| {
        let relation = catalog.relation(&of.table.schema, &of.table.name)?;
        let table = catalog.table_by_id(TableId(relation.id().0))?;
        table.column(&of.column).map(|(_, column)| (table.id, column.id))
    };
    Sequence {
        id,
        schema: form.name.schema.clone(),
        name: form.name.name.clone(),
        start: form.start,
        increment: form.increment,
        min: form.min,
        max: form.max,
        cycle: form.cycle,
        owned_by: form.owned_by.as_ref().and_then(owner),
        comment: form.comment.clone(),
    }
}
