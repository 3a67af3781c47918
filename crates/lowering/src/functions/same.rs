//! Functions that are registered under the name that they have.

/// Their signatures, between blanks.
pub(super) const SAME: &[&str] = &[
    // Numbers.
    "abs(int2) abs(int4) abs(int8) abs(float4) abs(float8) exp(float8) ln(float8) floor(float8) \
     round(float8) trunc(float8) sin(float8) cos(float8) tan(float8) cot(float8) asin(float8) \
     acos(float8) atan(float8) atan2(float8,float8) sinh(float8) cosh(float8) tanh(float8) \
     degrees(float8) radians(float8) pi() random() gcd(int8,int8) gcd(int4,int4) lcm(int8,int8) \
     lcm(int4,int4) asinh(float8) acosh(float8) atanh(float8) sind(float8) cosd(float8) \
     tand(float8) cotd(float8) asind(float8) acosd(float8) atand(float8) atan2d(float8,float8) \
     width_bucket(float8,float8,float8,int4)",
    // Arrays.
    "cardinality(anyarray) array_ndims(anyarray) array_dims(anyarray) trim_array(anyarray,int4) \
     string_to_array(text,text) string_to_array(text,text,text)",
    // Bytes.
    "octet_length(bytea) overlay(bytea,bytea,int4) overlay(bytea,bytea,int4,int4) \
     btrim(bytea,bytea) ltrim(bytea,bytea) rtrim(bytea,bytea) get_byte(bytea,int4) \
     set_byte(bytea,int4,int4) get_bit(bytea,int8) set_bit(bytea,int8,int4) bit_count(bytea) \
     convert_to(text,name) convert_from(bytea,name) convert(bytea,name,name) encode(bytea,text) decode(text,text) \
     md5(bytea) sha224(bytea) sha256(bytea) sha384(bytea) sha512(bytea)",
    // Formats.
    "to_char(int4,text) to_char(int8,text) to_char(float4,text) to_char(float8,text) \
     to_char(numeric,text) to_char(timestamp,text) to_char(interval,text) to_date(text,text) \
     to_timestamp(float8) to_number(text,text)",
    // JSON.
    "json_typeof(json) jsonb_typeof(jsonb) json_array_length(json) jsonb_array_length(jsonb) \
     jsonb_pretty(jsonb) json_strip_nulls(json) jsonb_strip_nulls(jsonb) \
     jsonb_set_lax(jsonb,_text,jsonb,bool,text) jsonb_set(jsonb,_text,jsonb,bool) jsonb_insert(jsonb,_text,jsonb,bool) \
     array_to_json(anyarray) array_to_json(anyarray,bool) json_object(_text) \
     json_object(_text,_text) jsonb_object(_text) jsonb_object(_text,_text) row_to_json(record) \
     row_to_json(record,bool)",
    // Dates and times.
    "date_trunc(text,timestamp) date_trunc(text,interval) date_trunc(text,timestamptz,text) \
     timezone(text,timestamp) timezone(text,timestamptz) timezone(interval,timestamp) \
     timezone(interval,timestamptz) make_date(int4,int4,int4) \
     make_interval(int4,int4,int4,int4,int4,int4,float8) justify_days(interval) \
     justify_hours(interval) justify_interval(interval) make_time(int4,int4,float8) \
     make_timestamp(int4,int4,int4,int4,int4,float8) \
     make_timestamptz(int4,int4,int4,int4,int4,float8,text) \
     date_bin(interval,timestamp,timestamp) date_bin(interval,timestamptz,timestamptz) \
     isfinite(date) isfinite(timestamp) isfinite(timestamptz) isfinite(interval) \
     clock_timestamp() pg_sleep(float8)",
    // Patterns.
    "similar_to_escape(text) similar_to_escape(text,text) regexp_like(text,text) \
     regexp_like(text,text,text) regexp_match(text,text) regexp_match(text,text,text) \
     regexp_split_to_array(text,text) regexp_split_to_array(text,text,text) \
     regexp_count(text,text) regexp_count(text,text,int4) regexp_count(text,text,int4,text) \
     regexp_instr(text,text) regexp_instr(text,text,int4) regexp_instr(text,text,int4,int4) \
     regexp_instr(text,text,int4,int4,int4) regexp_instr(text,text,int4,int4,int4,text) \
     regexp_instr(text,text,int4,int4,int4,text,int4) regexp_substr(text,text) \
     regexp_substr(text,text,int4) regexp_substr(text,text,int4,int4) \
     regexp_substr(text,text,int4,int4,text) regexp_substr(text,text,int4,int4,text,int4) \
     regexp_replace(text,text,text) regexp_replace(text,text,text,text) \
     regexp_replace(text,text,text,int4) regexp_replace(text,text,text,int4,int4) \
     regexp_replace(text,text,text,int4,int4,text)",
    // The server.
    "age(xid) mxid_age(xid) pg_size_pretty(int8) pg_size_pretty(numeric) pg_size_bytes(text)",
    // Texts.
    "lower(text) upper(text) initcap(text) reverse(text) octet_length(text) bit_length(text) \
     overlay(text,text,int4) overlay(text,text,int4,int4) replace(text,text,text) \
     translate(text,text,text) btrim(text) btrim(text,text) ltrim(text) ltrim(text,text) \
     rtrim(text) rtrim(text,text) lpad(text,int4) lpad(text,int4,text) rpad(text,int4) \
     rpad(text,int4,text) left(text,int4) right(text,int4) repeat(text,int4) \
     split_part(text,text,int4) ascii(text) chr(int4) md5(text) hashtext(text) \
     hashtextextended(text,int8) to_hex(int4) to_hex(int8) quote_ident(text) \
     hashint8(int8) hashint8extended(int8,int8) uuid_hash(uuid) uuid_hash_extended(uuid,int8) \
     normalize(text,text) is_normalized(text,text) unistr(text) parse_ident(text,bool) num_nulls(any) num_nonnulls(any) \
     gen_random_uuid()",
];
