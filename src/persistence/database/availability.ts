/** SQLSTATE classes and codes that say "not now": connection, resources, time limits, operator intervention, lost races. */
const AWAY = /^(08|53|55P03|57014|57P|58|25006|25P03|40001|40P01)/;
const SYSTEM = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTDOWN',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'ETIMEDOUT',
  'EPIPE',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
const MESSAGES =
  /connection terminated|timeout exceeded when trying to connect|timeout expired|client has encountered a connection error|pool after calling end/i;

/** PostgreSQL ended one of two transactions that stood in each other's way; run again, it finds its way free. */
export function isLostRace(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return code === '40P01' || code === '40001';
}

/** SQLSTATE classes that say "these values cannot be stored", whoever tries again. */
const REFUSED = /^(21|22|23|54)\w{3}$/;

/** Tells whether PostgreSQL can never store what it was given, as opposed to just now. */
export function isRefusedValue(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && REFUSED.test(code);
}

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
