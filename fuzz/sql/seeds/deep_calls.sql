-- Found by the fuzzer: hang: no answer within 10094 ms at a time-out of 2000 ms, and nobody else gets an answer.
SELECT upper(upper(upper(upper(upper(upper(upper(upper(upper(upper(upper(upper(upper(upper(upper(upper(upper(upper(upper(upper(upper(upper(upper(upper(t)))))))))))))))))))))))) FROM l;
