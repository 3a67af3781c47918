-- Found by the fuzzer: hang: no answer within 2527 ms at a time-out of 500 ms.
CREATE TABLE l (i int, t text);
SELECT count(*) FROM l GROUP BY CUBE ((i + 0), (i + 1), (i + 2), (i + 3), (i + 4), (i + 5), (i + 6), (i + 7), (i + 8), (i + 9), (i + 10), (i + 11), (i + 12), (i + 13), (i + 14), (i + 15), (i + 16), (i + 17), (i + 18), (i + 19), (i + 20), (i + 21), (i + 22), (i + 23), (i + 999));
