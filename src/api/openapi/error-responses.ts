import { STATUS_CODES } from 'node:http';
import type { ErrorCode } from '../../domain/common/errors.ts';
import type { HttpMethod, OpenApiDocument, OperationObject, ParameterObject } from './objects.ts';

type ErrorCodes = ReadonlyMap<number, ReadonlySet<ErrorCode>>;

/** Those of its permission, feature, parameters and body, and `x-errors`. @see docs/api-conventions.md#error-codes */
export function errorCodesOf(
  operation: OperationObject,
  method: HttpMethod,
  parameters: readonly ParameterObject[],
): ErrorCodes {
  const errorCodes = new Map<number, Set<ErrorCode>>();
  const add = (status: number, codes: Iterable<ErrorCode>): void => {
    errorCodes.set(status, new Set([...(errorCodes.get(status) ?? []), ...codes].sort()));
  };
  add(408, ['InvalidParameter']);
  add(429, ['TooManyRequests']);
  add(431, ['PayloadTooLarge']);
  // Without database access neither can occur.
  if (!operation['x-stateless']) {
    add(500, ['InternalError']);
    add(503, ['ServiceUnavailable']);
  }
  if (operation['x-permission'] !== 'none') {
    add(401, ['Unauthorized']);
    add(403, forbidden(operation));
  }
  for (const parameter of parameters) if (parameter.in === 'path') add(404, ['NotFound', ...unknown(parameter)]);
  add(400, ['InvalidParameter']);
  if (method !== 'get') {
    add(400, ['InvalidJson']);
    add(413, ['PayloadTooLarge']);
    add(415, ['UnsupportedMediaType']);
  }
  for (const [status, codes] of Object.entries(operation['x-errors'] ?? {})) add(Number(status), codes);
  return new Map([...errorCodes].sort(([a], [b]) => a - b));
}

/** Adds the error responses of an operation to the document. Equal ones share a component. */
export function describeErrorResponses(document: OpenApiDocument, operation: OperationObject, errorCodes: ErrorCodes) {
  const components = document.components['responses'] as Record<string, unknown>;
  for (const [status, codes] of errorCodes) {
    const name = `${status}.${[...codes].join('.')}`;
    components[name] ??= describe(status, [...codes]);
    operation.responses[String(status)] = { $ref: `#/components/responses/${name}` };
  }
}

function forbidden(operation: OperationObject): ErrorCode[] {
  const permission = operation['x-permission'];
  return [
    'AccountDisabled',
    'CrossSiteRequest',
    ...(permission === 'token' ? [] : (['NoAccount'] as const)),
    ...((permission === 'token' || permission === 'account') && !operation['x-login'] ? [] : (['Forbidden'] as const)),
    ...(operation['x-feature'] ? (['FeatureNotEnabled'] as const) : []),
  ];
}

function unknown({ name }: ParameterObject): ErrorCode[] {
  return name.endsWith('_id') && name !== 'secure_id' ? [unknownCodeOf(name) as ErrorCode] : [];
}

/** `computer_id` -> UnknownComputer. */
export function unknownCodeOf(parameter: string): string {
  const words = parameter.replace(/_id$/, '').split('_');
  return `Unknown${words.map((w) => w.charAt(0).toUpperCase() + w.slice(1)).join('')}`;
}

const REQUEST_ID = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } };

const HEADERS: Readonly<Record<number, Record<string, unknown>>> = {
  401: { 'WWW-Authenticate': { $ref: '#/components/headers/Authenticate' } },
  429: { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } },
  503: { 'Retry-After': { $ref: '#/components/headers/RetryAfterIfKnown' } },
};

function describe(status: number, codes: readonly ErrorCode[]): unknown {
  const schema = {
    allOf: [
      { $ref: '#/components/schemas/Error' },
      {
        type: 'object',
        properties: { error: { type: 'string', enum: codes }, code: { type: 'integer', enum: [status] } },
      },
    ],
  };
  return {
    description: `${STATUS_CODES[status]}: ${codes.join(', ')}. Nothing was changed.`,
    headers: { ...REQUEST_ID, ...HEADERS[status] },
    content: { 'application/json': { schema } },
  };
}
