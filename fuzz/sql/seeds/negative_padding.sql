-- Found by the fuzzer: internal: the statement ended early; the log says why.
SELECT string_to_array(repeat(rpad('a',t17.typlen),1000000),'a')FROM pg_type t17;
