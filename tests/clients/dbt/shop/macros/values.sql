{% macro dbt_utils_values(relation, column) %}
  {%- set rows = run_query('select distinct ' ~ column ~ ' from ' ~ relation ~ ' order by 1') if execute else [] -%}
  {{ return(rows.columns[0].values() if execute else ['none']) }}
{% endmacro %}

{% macro columns_of(model) %}
  {%- set relation = adapter.get_relation(target.database, target.schema, model) -%}
  {%- for column in adapter.get_columns_in_relation(relation) %}
    {{ log(column.name ~ ' ' ~ column.data_type, info=true) }}
  {%- endfor %}
{% endmacro %}
