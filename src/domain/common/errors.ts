/** Stable error codes for clients to branch on. @see docs/api-conventions.md#error-codes */
export type ErrorCode =
  | 'Unauthorized'
  | 'AuthenticationFailed'
  | 'AccountDisabled'
  | 'Forbidden'
  | 'NoAccount'
  | 'FeatureNotEnabled'
  | 'InvalidParameter'
  | 'InvalidParameterCombination'
  | 'InvalidQueryError'
  | 'InvalidJson'
  | 'PayloadTooLarge'
  | 'UnsupportedMediaType'
  | 'NotFound'
  | 'NoMessageBacklogSetting'
  | 'MethodNotAllowed'
  | 'UnknownComputer'
  | 'UnknownActivity'
  | 'UnknownAlert'
  | 'UnknownAccessGroup'
  | 'UnknownInvitation'
  | 'UnknownRole'
  | 'UnknownPerson'
  | 'UnknownSavedSearch'
  | 'DuplicateAccessGroup'
  | 'DuplicateRole'
  | 'DuplicateSavedSearch'
  | 'SavedSearchChanged'
  | 'LastGlobalAdmin'
  | 'RoleInUse'
  | 'RoleReadOnly'
  | 'ComputerArchived'
  | 'ActivityNotEligible'
  | 'ActivityInProgress'
  | 'FdeNotSupported'
  | 'KernelPackageNotEligible'
  | 'UnknownUsgProfile'
  | 'ProfileArchived'
  | 'IntervalTooShort'
  | 'PackageNotEligible'
  | 'UnknownScript'
  | 'UnknownScriptVersion'
  | 'UnknownScriptAttachment'
  | 'DuplicateScript'
  | 'ScriptArchived'
  | 'UnknownScriptProfile'
  | 'DuplicateScriptProfile'
  | 'ProfileLimitReached'
  | 'StandaloneAccountExists'
  | 'AccountExists'
  | 'SelfServiceDisabled'
  | 'UnknownAccount'
  | 'UnknownAccessKey'
  | 'DuplicateAccessKey'
  | 'AccessKeyLimitReached'
  | 'UnknownEmailChange'
  | 'DuplicateEmail'
  | 'MailQueueUnavailable'
  | 'TooManyRequests'
  | 'ServiceUnavailable'
  | 'InternalError';

/** One invalid part of a request: its place (`path`) or object (`id`), and the reason. */
export interface ErrorDetail {
  path?: string;
  id?: number;
  message: string;
}

/**
 * An error that the caller can act on, with an HTTP status from one table. Other exceptions are defects
 * (500).
 */
export class DomainError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetail[] | undefined;
  /** Seconds until a retry makes sense; sent as `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;
  /** An unknown object was named in the body: the status is 400, because the address itself exists. */
  readonly namedInBody: boolean;

  constructor(
    code: ErrorCode,
    message: string,
    extra: { details?: ErrorDetail[]; retryAfterSeconds?: number; namedInBody?: boolean } = {},
  ) {
    super(message);
    this.name = 'DomainError';
    this.code = code;
    this.details = extra.details;
    this.retryAfterSeconds = extra.retryAfterSeconds;
    this.namedInBody = extra.namedInBody ?? false;
  }
}

/**
 * A rate-limit error until the oldest counted event expires. @param oldest - null if unknown: wait for the whole window
 */
export function tooMany(what: string, oldest: Date | null, windowMs: number, now: Date): DomainError {
  const waitMs = (oldest ?? now).getTime() + windowMs - now.getTime();
  return new DomainError('TooManyRequests', `${what}; try again later`, {
    retryAfterSeconds: Math.max(1, waitMs / 1000),
  });
}

/** The error of a task that a limit of concurrency rejects. @param what - such as `Too many logins at once` */
export function serviceBusy(what: string): DomainError {
  return new DomainError('ServiceUnavailable', `${what}; try again shortly`, { retryAfterSeconds: 1 });
}

/** Missing or invalid token. */
export function unauthorized(): DomainError {
  return new DomainError('Unauthorized', 'A valid bearer token is needed');
}
