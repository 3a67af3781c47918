{{ config(materialized='incremental', incremental_strategy='delete+insert', unique_key=['id', 'kind'], on_schema_change='append_new_columns') }}
{{ events() }}
