import { DomainError, type ErrorCode, type ErrorDetail } from '../../../domain/common/errors.ts';

/** The status of every error code. @see docs/api-conventions.md#error-codes */
export const ERROR_STATUS: Readonly<Record<ErrorCode, number>> = {
  Unauthorized: 401,
  AuthenticationFailed: 401,
  AccountDisabled: 403,
  Forbidden: 403,
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
};

/** Body of every error response. @see docs/api-conventions.md#error-body */
export interface ErrorBody {
  error: ErrorCode;
  message: string;
  code: number;
  details?: ErrorDetail[];
}

export interface ErrorResponse {
  status: number;
  body: ErrorBody;
  headers: Record<string, string>;
}

export function formatError(error: DomainError): ErrorResponse {
  const status = error.namedInBody ? 400 : ERROR_STATUS[error.code];
  const headers: Record<string, string> = {};
  if (status === 401) headers['WWW-Authenticate'] = 'Bearer';
  if (error.retryAfterSeconds !== undefined)
    headers['Retry-After'] = String(Math.max(1, Math.ceil(error.retryAfterSeconds)));
  const body: ErrorBody = { error: error.code, message: error.message, code: status };
  if (error.details) body.details = error.details;
  return { status, body, headers };
}

/** The path is known, the method is not one of `allow`. */
export class MethodNotAllowed extends DomainError {
  readonly allow: string;

  constructor(methods: readonly string[]) {
    const allow = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
    super('MethodNotAllowed', `Only ${allow.join(', ')} can be used here`);
    this.allow = allow.join(', ');
  }
}
