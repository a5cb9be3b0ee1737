import pg from 'pg';

const INT8 = 20;
const TIMESTAMPTZ = 1184;

/** Type parsers for `Sql`: `int` and `bigint` (far below 2^53) as number, `timestamptz` as Date, `jsonb` parsed. */
export const NATIVE_TYPES = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') => {
    const parse = pg.types.getTypeParser(oid, format as 'text');
    if (format === 'binary') return parse;
    if (oid === INT8) return Number;
    return oid === TIMESTAMPTZ ? toDate : parse;
  },
} as pg.CustomTypesConfig;

const parseTimestamp = pg.types.getTypeParser(TIMESTAMPTZ) as (text: string) => Date;

/** A page has thousands of times, nearly all in this form: V8 parses it in a third of the driver's time. */
function toDate(text: string): Date {
  const isPlain = text[10] === ' ' && text.endsWith('+00');
  return isPlain ? new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`) : parseTimestamp(text);
}
