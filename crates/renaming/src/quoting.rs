//! Names as they are written.

use catalog_views::pg_catalog::quote_ident;

/// PostgreSQL's words that are no names everywhere, but are not reserved; sorted.
const KEYWORDS: [&str; 74] = [
    "authorization",
    "between",
    "bigint",
    "binary",
    "bit",
    "boolean",
    "char",
    "character",
    "coalesce",
    "collation",
    "concurrently",
    "cross",
    "current_schema",
    "dec",
    "decimal",
    "exists",
    "extract",
    "float",
    "freeze",
    "full",
    "greatest",
    "grouping",
    "ilike",
    "inner",
    "inout",
    "int",
    "integer",
    "interval",
    "is",
    "isnull",
    "join",
    "least",
    "left",
    "like",
    "national",
    "natural",
    "nchar",
    "none",
    "normalize",
    "notnull",
    "nullif",
    "numeric",
    "out",
    "outer",
    "overlaps",
    "overlay",
    "position",
    "precision",
    "real",
    "right",
    "row",
    "setof",
    "similar",
    "smallint",
    "substring",
    "tablesample",
    "time",
    "timestamp",
    "treat",
    "trim",
    "values",
    "varchar",
    "verbose",
    "xmlattributes",
    "xmlconcat",
    "xmlelement",
    "xmlexists",
    "xmlforest",
    "xmlnamespaces",
    "xmlparse",
    "xmlpi",
    "xmlroot",
    "xmlserialize",
    "xmltable",
];

/// A name, quoted if it is no name everywhere.
pub(crate) fn quoted(name: &str) -> String {
    match KEYWORDS.binary_search(&name) {
        Ok(_) => format!("\"{name}\""),
        Err(_) => quote_ident(name),
    }
}

/// A name in parts.
pub(crate) fn joined(parts: &[String]) -> String {
    parts.iter().map(|part| quoted(part)).collect::<Vec<_>>().join(".")
}

/// A name in parts in quotes, as defaults of serial columns have it.
pub(crate) fn always_quoted(parts: &[String]) -> String {
    let quoted = parts.iter().map(|part| format!("\"{}\"", part.replace('"', "\"\"")));
    quoted.collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_grammar_are_quoted() {
        assert!(KEYWORDS.is_sorted());
        let parts = ["public", "left", "A", "user", "plain"].map(str::to_owned);
        assert_eq!(joined(&parts), "public.\"left\".\"A\".\"user\".plain");
    }
}
