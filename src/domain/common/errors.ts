/** Stable error codes for clients to branch on, with their HTTP statuses. @see docs/api-conventions.md#error-codes */
export const ERROR_STATUS = {
  Unauthorized: 401,
  AuthenticationFailed: 401,
  AccountDisabled: 403,
  Forbidden: 403,
  CrossSiteRequest: 403,
  NoAccount: 403,
  FeatureNotEnabled: 403,
  InvalidParameter: 400,
  InvalidParameterCombination: 400,
  InvalidQueryError: 400,
  InvalidJson: 400,
  PayloadTooLarge: 413,
  UnsupportedMediaType: 415,
  NotFound: 404,
  NoMessageBacklogSetting: 404,
  MethodNotAllowed: 405,
  UnknownComputer: 404,
  UnknownActivity: 404,
  UnknownAlert: 404,
  UnknownAccessGroup: 404,
  UnknownInvitation: 404,
  UnknownRole: 404,
  UnknownPerson: 404,
  UnknownSavedSearch: 404,
  DuplicateAccessGroup: 409,
  DuplicateRole: 409,
  DuplicateSavedSearch: 409,
  SavedSearchChanged: 409,
  EventsExpired: 410,
  UnknownWebhook: 404,
  UnknownDelivery: 404,
  WebhookLimitReached: 400,
  LastGlobalAdmin: 409,
  RoleInUse: 409,
  RoleReadOnly: 400,
  ComputerArchived: 400,
  ActivityNotEligible: 400,
  ActivityInProgress: 409,
  FdeNotSupported: 400,
  KernelPackageNotEligible: 400,
  UnknownUsgProfile: 404,
  ProfileArchived: 400,
  IntervalTooShort: 400,
  PackageNotEligible: 400,
  UnknownScript: 404,
  UnknownScriptVersion: 404,
  UnknownScriptAttachment: 404,
  DuplicateScript: 409,
  ScriptArchived: 400,
  UnknownScriptProfile: 404,
  DuplicateScriptProfile: 409,
  ProfileLimitReached: 400,
  StandaloneAccountExists: 400,
  AccountExists: 409,
  SelfServiceDisabled: 403,
  UnknownAccount: 404,
  UnknownAccessKey: 404,
  DuplicateAccessKey: 409,
  AccessKeyLimitReached: 400,
  UnknownEmailChange: 404,
  DuplicateEmail: 409,
  MailQueueUnavailable: 502,
  TooManyRequests: 429,
  ServiceUnavailable: 503,
  InternalError: 500,
} as const satisfies Readonly<Record<string, number>>;

export type ErrorCode = keyof typeof ERROR_STATUS;

export interface ErrorDetail {
  path?: string;
  id?: number;
  /** Of a fault in a text, in characters from 1. */
  position?: number;
  message: string;
}

/** An error that the caller can act on. Other exceptions are defects (500). */
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

/** A rate-limit error until the oldest counted event expires; with null after the whole window. */
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

/** Creates the error, without throwing it. */
export function unauthorized(): DomainError {
  return new DomainError('Unauthorized', 'A valid bearer token is needed');
}
