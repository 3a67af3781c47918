{{ config(materialized='materialized_view', indexes=[{'columns': ['customer_id']}], on_configuration_change='apply') }}
select customer_id, max(ordered_at) as at from {{ ref('orders') }} group by customer_id
