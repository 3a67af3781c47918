{{ config(materialized='table', event_time='at') }}
select n as id, timestamp '2024-01-01' + n * interval '6 hours' as at from generate_series(0, 15) as s(n)
where n < {{ var('until') }} * 4
