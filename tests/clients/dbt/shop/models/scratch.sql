{{ config(materialized='table', unlogged=true) }}
select n, 'row ' || n as label, {{ dbt.current_timestamp() }} as made,
       {{ dbt.dateadd('day', 'n', "cast('2024-01-01' as date)") }} as day,
       {{ dbt.datediff("cast('2024-01-01' as timestamp)", "cast('2024-03-01' as timestamp)", 'day') }} as days,
       {{ dbt.hash("'x'") }} as hashed, {{ dbt.split_part("'a-b-c'", "'-'", 2) }} as part,
       {{ dbt.last_day("cast('2024-02-10' as date)", 'month') }} as last_day,
       {{ dbt.safe_cast("'7'", api.Column.translate_type('integer')) }} as seven
from generate_series(1, 5) as s(n)
