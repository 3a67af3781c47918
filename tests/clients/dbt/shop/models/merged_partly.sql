{{ config(materialized='incremental', incremental_strategy='merge', unique_key=['id', 'kind'], merge_exclude_columns=['at']) }}
{{ events() }}
