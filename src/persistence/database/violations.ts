/** Tells whether a statement failed because somebody else has an email address. */
export function isAddressTaken(error: unknown): boolean {
  return isUniqueViolation(error, 'person_email') || isUniqueViolation(error, 'person_address_taken');
}

/** Tells whether a statement failed because a unique index already holds such a row. @param index - its name */
export function isUniqueViolation(error: unknown, index: string): boolean {
  const { code, constraint } = (error ?? {}) as { code?: unknown; constraint?: unknown };
  return code === '23505' && constraint === index;
}
