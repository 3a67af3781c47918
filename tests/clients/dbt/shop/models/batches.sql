{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='at', batch_size='day', begin='2024-01-01', unique_key='id', lookback=1) }}
select id, at, id * 2 as twice from {{ ref('moments') }}
