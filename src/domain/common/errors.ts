/** The catalogue of stable error codes; clients branch on them. @see docs/api-conventions.md#error-codes */
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

/** One refused point of a request: where (`path`) or which object (`id`), and why. */
export interface ErrorDetail {
  path?: string;
  id?: number;
  message: string;
}

/**
 * A refusal the caller can act on. Thrown by domain and services, mapped to a status in one table of the API.
 * Everything else that is thrown is a defect and answers 500.
 */
export class DomainError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetail[] | undefined;
  /** Seconds after which trying again makes sense; becomes `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;
  /** True when something unknown was named in the body: the address exists, so the status is 400 and not 404. */
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
 * The refusal of something that may be done only so often within a time: until the oldest time stops counting.
 * @param what - beginning of the message
 * @param oldest - null: it is not known, and the whole time is waited for
 */
export function tooMany(what: string, oldest: Date | null, windowMs: number, now: Date): DomainError {
  const waitMs = (oldest ?? now).getTime() + windowMs - now.getTime();
  return new DomainError('TooManyRequests', `${what}; try again later`, {
    retryAfterSeconds: Math.max(1, waitMs / 1000),
  });
}

/** The refusal of whoever brings no token, or none that holds. */
export function unauthorized(): DomainError {
  return new DomainError('Unauthorized', 'A valid bearer token is needed');
}
