{%- set statuses = dbt_utils_values(ref('orders'), 'status') -%}
{{ config(materialized='table') }}
select day
{%- for status in statuses %}, sum(case when status = '{{ status }}' then amount else 0 end) as {{ status }}{% endfor %}
from {{ ref('stg_orders') }} group by day
