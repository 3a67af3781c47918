{{ config(
    materialized='table',
    indexes=[{'columns': ['customer_id'], 'unique': true}, {'columns': ['total', 'email'], 'type': 'btree'}],
    post_hook="analyze {{ this }}",
    grants={'select': ['public']}
) }}
select c.id as customer_id, c.email, c.vip, count(p.order_id) as orders, coalesce(sum(p.amount), 0) as total,
       max(p.day) as latest
from {{ ref('customers') }} as c
left join {{ ref('paid') }} as p on p.customer_id = c.id
group by c.id, c.email, c.vip
