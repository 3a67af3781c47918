{{ config(materialized='view') }}
select id as order_id, customer_id, status, amount, ordered_at, date_trunc('day', ordered_at)::date as day
from {{ ref('orders') }}
