{{ config(materialized='table') }}
{{ dbt.date_spine('day', "cast('2024-01-01' as date)", "cast('2024-01-11' as date)") }}
