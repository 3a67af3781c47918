{% macro events() %}
select id, kind, n, at {% if var('more') %}, 'm' || n as {{ var('more') }} {% endif %}
from (values
  (1, 'in', 10, timestamp '2024-01-01 00:00'), (2, 'in', 20, timestamp '2024-01-02 00:00'), (3, 'out', 5, timestamp '2024-01-03 00:00'),
  (3, 'out', 6, timestamp '2024-01-04 00:00'), (4, 'in', 40, timestamp '2024-01-05 00:00')
) as e (id, kind, n, at)
where at <= timestamp '2024-01-01' + ({{ var('until') }} - 1) * interval '1 day'
{% if is_incremental() %}
  and at > (select coalesce(max(at), '1900-01-01') from {{ this }})
{% endif %}
{% endmacro %}
