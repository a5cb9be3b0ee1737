import { STATUS_CODES } from 'node:http';
import type { ErrorCode } from '../../domain/common/errors.ts';
import type { HttpMethod, OpenApiDocument, OperationObject, ParameterObject } from './objects.ts';

/** Error codes that an operation can answer with, by status. */
export type Refusals = ReadonlyMap<number, ReadonlySet<ErrorCode>>;

/**
 * Every refusal of an operation: what follows from its permission, feature, parameters and body, and what its
 * `x-errors` add.
 *
 * @param parameters - of the operation, references followed
 * @see docs/api-conventions.md#error-codes
 */
export function refusalsOf(
  operation: OperationObject,
  method: HttpMethod,
  parameters: readonly ParameterObject[],
): Refusals {
  const refusals = new Map<number, Set<ErrorCode>>();
  const add = (status: number, codes: Iterable<ErrorCode>): void => {
    refusals.set(status, new Set([...(refusals.get(status) ?? []), ...codes].sort()));
  };
  add(408, ['InvalidParameter']);
  add(429, ['TooManyRequests']);
  add(431, ['PayloadTooLarge']);
  // Nothing stored is looked at: neither can the database be away nor can what it holds be broken.
  if (!operation['x-stateless']) {
    add(500, ['InternalError']);
    add(503, ['ServiceUnavailable']);
  }
  if (operation['x-permission'] !== 'none') {
    add(401, ['Unauthorized']);
    add(403, forbidden(operation));
  }
  for (const parameter of parameters) if (parameter.in === 'path') add(404, ['NotFound', ...unknown(parameter)]);
  // Parameters and fields that are not known are refused everywhere.
  add(400, ['InvalidParameter']);
  if (method !== 'get') {
    add(400, ['InvalidJson']);
    add(413, ['PayloadTooLarge']);
    add(415, ['UnsupportedMediaType']);
  }
  for (const [status, codes] of Object.entries(operation['x-errors'] ?? {})) add(Number(status), codes);
  return new Map([...refusals].sort(([a], [b]) => a - b));
}

/**
 * Writes the refusals of an operation into its responses. Those of one status with the same codes are one component of
 * the document.
 */
export function describeRefusals(document: OpenApiDocument, operation: OperationObject, refusals: Refusals): void {
  const components = document.components['responses'] as Record<string, unknown>;
  for (const [status, codes] of refusals) {
    const name = `${status}.${[...codes].join('.')}`;
    components[name] ??= describe(status, [...codes]);
    operation.responses[String(status)] = { $ref: `#/components/responses/${name}` };
  }
}

function forbidden(operation: OperationObject): ErrorCode[] {
  const permission = operation['x-permission'];
  return [
    'AccountDisabled',
    ...(permission === 'token' ? [] : (['NoAccount'] as const)),
    ...((permission === 'token' || permission === 'account') && !operation['x-login'] ? [] : (['Forbidden'] as const)),
    ...(operation['x-feature'] ? (['FeatureNotEnabled'] as const) : []),
  ];
}

/** What is named otherwise has its code in `x-errors`. */
function unknown({ name }: ParameterObject): ErrorCode[] {
  return name.endsWith('_id') && name !== 'secure_id' ? [unknownCodeOf(name) as ErrorCode] : [];
}

/** `computer_id` -> UnknownComputer. */
export function unknownCodeOf(parameter: string): string {
  const words = parameter.replace(/_id$/, '').split('_');
  return `Unknown${words.map((w) => w.charAt(0).toUpperCase() + w.slice(1)).join('')}`;
}

const REQUEST_ID = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } };

/** Headers that a status has beside the id of the request. */
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
