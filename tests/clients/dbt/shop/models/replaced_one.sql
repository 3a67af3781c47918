{{ config(materialized='incremental', incremental_strategy='delete+insert', unique_key='id', incremental_predicates=['n >= 0'], indexes=[{'columns': ['id']}]) }}
{{ events() }}
