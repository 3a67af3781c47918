{{ config(materialized='table') }}
select id, email::text as email, joined from {{ ref('customers') }}
