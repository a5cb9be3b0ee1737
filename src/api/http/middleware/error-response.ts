import { DomainError, ERROR_STATUS, type ErrorCode, type ErrorDetail } from '../../../domain/common/errors.ts';

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
