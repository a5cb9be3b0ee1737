/** SQLSTATEs of temporary failures: connection, resources, timeouts, operator intervention, serialization. */
const UNAVAILABLE = /^(08|53|55P03|57014|57P|58|25006|25P03|40001|40P01)/;
const NETWORK_ERRORS = new Set([
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

/** Empty for an error without one. */
function sqlStateOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

/** A deadlock or serialization failure: the transaction can be retried. */
export function isSerializationFailure(error: unknown): boolean {
  const code = sqlStateOf(error);
  return code === '40P01' || code === '40001';
}

const INVALID_DATA = /^(21|22|23|54)\w{3}$/;

/** Whether PostgreSQL rejected the values themselves: a retry cannot succeed. */
export function isInvalidData(error: unknown): boolean {
  return INVALID_DATA.test(sqlStateOf(error));
}

/** SQLSTATEs of bad data and of statements with errors, but not of what a migration may not have created yet. */
const DEFECTS = /^(21\w{3}|22\w{3}|42601|42702|42803|42804|42846|42P18)$/;

/** Whether a statement can succeed only with other code or data; concurrent changes are not the cause. */
export function isStatementDefect(error: unknown): boolean {
  return DEFECTS.test(sqlStateOf(error));
}

/** Whether PostgreSQL is temporarily unavailable, as opposed to a defect in a statement. */
export function isDatabaseUnavailable(error: unknown): boolean {
  for (let current: unknown = error, depth = 0; current instanceof Error && depth < 5; depth++) {
    const { code, cause, previous, errors } = current as Error & {
      code?: unknown;
      previous?: unknown;
      errors?: unknown[];
    };
    if (typeof code === 'string' && (NETWORK_ERRORS.has(code) || UNAVAILABLE.test(code))) return true;
    if (MESSAGES.test(current.message)) return true;
    current = cause ?? previous ?? (Array.isArray(errors) ? errors[0] : undefined);
  }
  return false;
}

/** Whether a statement failed because another person has the email address. */
export function isAddressTaken(error: unknown): boolean {
  return isUniqueViolation(error, 'person_email') || isUniqueViolation(error, 'person_address_taken');
}

/** @param index - name of the unique index */
export function isUniqueViolation(error: unknown, index: string): boolean {
  const { code, constraint } = (error ?? {}) as { code?: unknown; constraint?: unknown };
  return code === '23505' && constraint === index;
}
