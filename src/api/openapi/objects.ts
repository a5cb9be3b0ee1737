import type { Config } from '../../process/config.ts';
import type { ErrorCode } from '../../domain/common/errors.ts';
import type { SelectorLanguage } from './selector-hints.ts';

export type JsonSchema = Record<string, unknown>;

export interface ParameterObject {
  name: string;
  in: 'query' | 'path' | 'header' | 'cookie';
  required?: boolean;
  allowReserved?: boolean;
  /** A key that is only looked up: text that cannot be stored is not found, 404, instead of refused. */
  'x-opaque'?: boolean;
  /** A text of selectors: over what it selects. */
  'x-selectors'?: SelectorLanguage;
  schema: JsonSchema;
}

export interface OperationObject {
  operationId: string;
  tags: string[];
  summary: string;
  parameters?: Array<ParameterObject | Reference>;
  requestBody?: { required?: boolean; content: Record<string, { schema: JsonSchema }> };
  responses: Record<string, unknown>;
  security?: unknown[];
  /** A permission, several that must all hold, `account` (any administrator), `token` or `none`. */
  'x-permission': string | string[];
  /** It needs the token of somebody who logged in with a password; 403 for one from an access key. */
  'x-login'?: boolean;
  /** Error codes by status, beside those that follow from all the rest. See `refusals.ts`. */
  'x-errors'?: Record<string, ErrorCode[]>;
  /** It looks at nothing that is stored. */
  'x-stateless'?: boolean;
  /** Key of the feature that the operation is part of; 403 where the deployment has it not. */
  'x-feature'?: string;
  /** A GET that makes something. */
  'x-acts'?: boolean;
  /** Its answer is a list of ids of activities. */
  'x-activity-ids'?: boolean;
  /** Fields that the call shows and cannot change, with the call that changes them. */
  'x-changed-by'?: Record<string, string>;
  /** Only deployments of this kind have the operation; 404 on others. */
  'x-deployment'?: Config['deployment'];
  /** Largest body in bytes where it is not the usual 2 MiB. */
  'x-body-limit'?: number;
  /** The body may also be `key=value` pairs, and no media type is asked for. */
  'x-body-pairs'?: boolean;
}

export interface Reference {
  $ref: string;
}

export type PathItem = Partial<Record<HttpMethod, OperationObject>>;

export interface OpenApiDocument {
  openapi: string;
  info: Record<string, unknown>;
  servers: Array<{ url: string }>;
  paths: Record<string, PathItem>;
  components: Record<string, Record<string, unknown>> & { schemas: Record<string, JsonSchema> };
  [key: string]: unknown;
}

export const HTTP_METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
export type HttpMethod = (typeof HTTP_METHODS)[number];
