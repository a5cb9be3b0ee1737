/** SQLSTATE classes and codes that say "not now": connection, resources, operator intervention, time limits, lost races. */
const AWAY = /^(08|53|57P|57014|58|25006|40001|40P01)/;
const SYSTEM = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'ETIMEDOUT',
  'EPIPE',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
const MESSAGES =
  /connection terminated|timeout exceeded when trying to connect|timeout expired|client has encountered a connection error|pool after calling end/i;

/** Tells whether an error means that PostgreSQL cannot serve just now, as opposed to a defect in a statement. */
export function isDatabaseAway(error: unknown): boolean {
  for (let current: unknown = error, depth = 0; current instanceof Error && depth < 5; depth++) {
    const { code, cause, previous, errors } = current as Error & {
      code?: unknown;
      previous?: unknown;
      errors?: unknown[];
    };
    if (typeof code === 'string' && (SYSTEM.has(code) || AWAY.test(code))) return true;
    if (MESSAGES.test(current.message)) return true;
    current = cause ?? previous ?? (Array.isArray(errors) ? errors[0] : undefined);
  }
  return false;
}

/** Tells whether PostgreSQL ended this one of several transactions that were in each other's way: it can be tried again. */
export function isLostRace(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return code === '40P01' || code === '40001';
}
