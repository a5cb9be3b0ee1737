/**
 * SQL of the share of passes, as `passRate` in domain/usg/pass-rate.ts computes it.
 *
 * @param passing - SQL of a count, never null; `failing` likewise
 */
export const passRateOf = (passing: string, failing: string) => `case when ${passing} + ${failing} = 0 then null
      when ${passing} = 0 or ${failing} = 0 then round(100.0 * ${passing} / (${passing} + ${failing}))
      else least(99, greatest(1, round(100.0 * ${passing} / (${passing} + ${failing})))) end`;
